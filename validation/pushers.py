"""What pushes a cloth at random: a ball and a stick that come from outside, thrust into it and withdraw."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from isocloth.base.typing import FloatArray
from isocloth.obstacles import Sphere, Stick
from isocloth.simulation import Simulation

BALL, STICK, HALF = 0.04, 0.0075, 0.2  # m: radius of the ball, radius and half the length of the stick
CLEAR = 0.08  # m between the cloth and where a thrust begins
WITHDRAW = 3.0  # m/s
SLOWEST, FASTEST = 0.5, 3.0  # m/s
FRICTION = 0.3


class Thrust(NamedTuple):
    """One push: through `aim` along a unit vector (3,), `depth` m further, at a speed in m/s."""

    aim: FloatArray
    along: FloatArray
    depth: float
    speed: float


class Pusher:
    """A body that moves through corners of a path, whose middle may be anywhere; it waits far away.

    `lengthwise`: it comes and leaves along its axis, as a stick is drawn out of a loop that has caught it; else from
    and to behind. It does so within a step. In a first version all came from one side, and a strip that had swung
    towards the withdrawn stick was hit by it.
    """

    def __init__(self, radius: float, aside: FloatArray, lengthwise: bool) -> None:
        self.radius, self.aside, self.lengthwise = radius, aside, lengthwise
        self.times, self.corners, self.axes = [0.0], [aside], [np.array([1.0, 0.0, 0.0])]

    def at(self, t: float) -> tuple[FloatArray, FloatArray]:
        """Its middle (3,) m, and the direction (3,) of its axis."""
        k = bisect_left(self.times, t)
        if k == 0 or k == len(self.times):
            return self.corners[max(k - 1, 0)], self.axes[max(k - 1, 0)]
        share = (t - self.times[k - 1]) / (self.times[k] - self.times[k - 1])
        middle = self.corners[k - 1] + share * (self.corners[k] - self.corners[k - 1])
        return middle, self.axes[k - 1] + share * (self.axes[k] - self.axes[k - 1])

    def ends(self, t: float) -> FloatArray:
        """(2, 3) m: the ends of a stick."""
        middle, axis = self.at(t)
        return np.stack([middle - HALF * axis, middle + HALF * axis])

    def thrust(
        self, sim: Simulation, push: Thrust, axis: FloatArray, allowed: Callable[[FloatArray], bool]
    ) -> tuple[int, int]:
        """Plan a push from now on; returns the steps until it is deepest, and those of its way back.

        It begins outside: in front of it there is all of the cloth. It ends early where the foremost point would come
        to a place that is not `allowed`.
        """
        front = float((sim.positions @ push.along).min()) - self.radius - CLEAR
        begin = push.aim + (front - push.aim @ push.along) * push.along
        way = float((push.aim - begin) @ push.along) + push.depth
        end = begin
        for share in np.linspace(1.0, 0.0, 101):
            end = begin + share * way * push.along
            if allowed(end + self.radius * push.along):
                break
        far, step = float(np.linalg.norm(end - begin)), sim.timestep
        there, back = (max(int(np.ceil(far / v / step)), 1) for v in (push.speed, WITHDRAW))
        turns = [0, 1, 2, 2 + there, 2 + there + back, 3 + there + back, 4 + there + back]
        far_away = begin + float(np.linalg.norm(self.aside)) * (axis if self.lengthwise else -push.along)
        self.times += [sim.time + step * k for k in turns]
        self.corners += [self.corners[-1], far_away, begin, end, begin, far_away, self.aside]
        self.axes += [self.axes[-1]] + [axis if axis @ self.axes[-1] >= 0.0 else -axis] * 6
        return 2 + there, back + 2


def ball(aside: FloatArray) -> tuple[Sphere, Pusher]:
    """A ball that waits at a place (3,) m, and who moves it."""
    pusher = Pusher(BALL, aside, lengthwise=False)
    return Sphere(aside, BALL, path=lambda t: pusher.at(t)[0], friction=FRICTION, name="ball"), pusher


def stick(aside: FloatArray) -> tuple[Stick, Pusher]:
    """A stick that waits at a place (3,) m, and who moves it."""
    pusher = Pusher(STICK, aside, lengthwise=True)
    a, b = pusher.ends(0.0)
    return Stick(a, b, STICK, path=pusher.ends, friction=FRICTION, name="stick"), pusher
