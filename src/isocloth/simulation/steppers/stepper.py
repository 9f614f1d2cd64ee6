"""What a stepper is: it takes a state to the end of a step, or of a part of one, or says that it cannot."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from isocloth.base.typing import BoolArray, FloatArray, IntArray
from isocloth.cloth.cloth import Cloth
from isocloth.simulation.gripper import Gripper
from isocloth.simulation.memory import Memory
from isocloth.simulation.state import State
from isocloth.solvers.outcome import Outcome

#: time (s), positions (n, 3) m, velocities (n, 3) m/s -> forces (n, 3) N
ExtraForce = Callable[[float, FloatArray, FloatArray], FloatArray]


#: part of the thickness to which a hand is as good as where it is sent
ARRIVED = 0.1

#: weights of the cloth, on earth, that a grasp without a limit presses with at most ...
PRESS = 100.0
EARTH = 9.81
#: ... and which part of it a press must reach at least: nobody asked for just that force
ENOUGH = 0.5

NOBODY = np.zeros(0, dtype=np.int64)


def largest_press(cloth: Cloth) -> float:
    """N, with which a grasp without a limit presses at most."""
    return sum(PRESS * EARTH * fabric.density * float(cloth.area[nodes].sum()) for fabric, nodes in cloth.parts)


class Limit(NamedTuple):
    """What a grasp may bear: its nodes (k,), and the largest force of all of them together, N."""

    nodes: IntArray
    force: float


class Springs(NamedTuple):
    """How hands that give way pull: stiffness (n,) N/m, zero at other nodes, and places (n, 3) m to which they pull."""

    stiffness: FloatArray
    to: FloatArray


class Targets(NamedTuple):
    """What is asked of a (sub)step beside its length.

    start: (n, 3) m, the first guess, with held nodes where they are sent.
    held: (n,) which nodes are prescribed.
    grippers: those that are closed, and poses: (g, 4, 3) where they end.
    placed: (o, 4, 3) where obstacles end that were moved at run time; NaN for the others.
    force: of positions (n, 3) m that are expected at the end; returns what else acts on them, (n, 3) N. None: nothing.
    before: the state at the begin of the whole step.
    parts: into how many of its kind the step is cut.
    last: it will not be cut any further: something has to come of it.
    limits: of grasps with a largest force; see `give_way.py`.
    late: held nodes that are not where they were sent in the step before, or, without a path, bore the force of a
        press: where they were sent is not known then.
    springs: with which nodes are pulled that are not held in this part, because their hands give way.
    """

    start: FloatArray
    held: BoolArray
    grippers: Sequence[Gripper]
    poses: FloatArray
    placed: FloatArray
    force: Callable[[FloatArray], FloatArray] | None
    before: State
    parts: int
    last: bool
    limits: tuple[Limit, ...] = ()
    late: IntArray = NOBODY
    springs: Springs | None = None

    def extra(self) -> FloatArray | None:
        """What else acts on the nodes, where they are expected now."""
        return None if self.force is None else self.force(self.start)


class Part(NamedTuple):
    """What came of a (sub)step. No state: it did not converge, and may be cut in two."""

    outcome: Outcome
    state: State | None


class Stepper(Protocol):
    """Advances one cloth. New physics that needs another kind of step is another stepper."""

    #: name of the solver, and of the integrator, as reports and files call them
    @property
    def name(self) -> str: ...

    integrator: str

    def remember(self, positions: FloatArray, velocities: FloatArray) -> Memory:
        """What it knows at the start, or after a user has set positions and velocities (n, 3)."""
        ...

    @property
    def fallbacks(self) -> int:
        """Convex problems that a library solved so far."""
        ...

    def suits(self, timestep: float) -> bool:
        """Whether it can take steps of up to `timestep` s; if not, another one takes its place."""
        ...

    def moved(self, memory: Memory, positions: FloatArray | None, velocities: FloatArray) -> Memory:
        """The memory after a user has set positions and velocities (n, 3), or with None only velocities."""
        ...

    def restore(self, memory: Memory) -> None:
        """Be as it was when a state had this memory."""
        ...

    def advance(self, state: State, targets: Targets, h: float) -> Part:
        """From a state to the end of a (sub)step of h seconds."""
        ...

    def energy(self, state: State) -> Mapping[str, float]:
        """Kinetic and potential energy, J."""
        ...


def body_wrenches(obstacles: int, grippers: int, rows: FloatArray | None = None) -> tuple[FloatArray, FloatArray]:
    """Wrenches of obstacles (o, 6) and grippers (g, 6) from those of all bodies (1 + o + g, 6), the cloth first."""
    if rows is None:
        return np.zeros((obstacles, 6)), np.zeros((grippers, 6))
    return rows[1 : 1 + obstacles], rows[1 + obstacles :]
