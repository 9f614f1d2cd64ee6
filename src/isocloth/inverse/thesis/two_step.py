"""The thesis' inversion in two steps (algorithm 3), pass by pass with less and less attraction to the target.

    X = target, lambda = 1000
    in every pass:  1. min over X of J = |Phi(X) - target|^2 / 2, rest contacts fixed         (`adjoint.py`)
                    2. min over all X of G(F(x, X)), the shape x of the first step fixed      (`correction.py`)
                    lambda = lambda / 2, or 0 where it is 0.1 or less; the pass with 0 is the last

Both by BFGS. Of the last pass G says whether x is an equilibrium with friction, J how far it is from the target; that
it is stable is not asked for in step 2, and is looked at in the end. A pass is ended by the number of iterations, by
the size of steps and gradients, by rounding, or by the time that is given; the result says by which. Where the cloth of
a rest shape does not come to rest, there is no J: the thesis then makes the cloth stiffer and begins anew.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from isocloth.base.errors import InputError
from isocloth.base.numeric import as_float, shown
from isocloth.base.typing import FloatArray
from isocloth.inverse.thesis.adjoint import distance
from isocloth.inverse.thesis.bfgs import Minimum, Stop, minimise
from isocloth.inverse.thesis.cone_errors import Cones
from isocloth.inverse.thesis.correction import correction
from isocloth.inverse.thesis.draping import Draped, Draping

#: N/m: the attraction at first, and the one that is none
FIRST, NONE = 1000.0, 0.1
#: what it is multiplied with after a pass
WEAKER = 0.5
#: of the size of the cloth: the first step of the rest shape, before anything is known of the curvature
BEGIN = 1e-3
#: of the area in the target: what a face at rest has at least
LEAST_AREA = 1e-3


@dataclass(frozen=True)
class TwoSteps:
    """How long the two steps may take: `ic.invert(..., method=TwoSteps(seconds=60))`.

    first, second: iterations of BFGS, of each step of a pass, at most.
    seconds: of wall-clock time in all, at most.
    smallest: the largest component of a step, m, and of a gradient, m (or N^2/m), at which a step of a pass ends.
    """

    first: int = 2000
    second: int = 5000
    seconds: float = np.inf
    smallest: float = 1e-15

    def __post_init__(self) -> None:
        for name in ("first", "second"):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < 0:
                raise InputError(f"{name} = {shown(value)}: expected a number of iterations, 2000 say")
        for name in ("seconds", "smallest"):
            number = as_float(getattr(self, name))
            if number is None or not number > 0.0:
                raise InputError(f"{name} = {shown(getattr(self, name))}: expected a number above zero")


class Pass(NamedTuple):
    """One pass: lambda, N/m, and what came of both steps."""

    attraction: float
    first: Minimum
    second: Minimum | None


class Reached(NamedTuple):
    """points: (n, 3) m, the rest shape; draped: the cloth of the last first step; passes: one after the other;
    ended: whether all of them were made, in time; seconds: of wall-clock time."""

    points: FloatArray
    draped: Draped
    passes: tuple[Pass, ...]
    ended: bool
    seconds: float

    @property
    def iterations(self) -> tuple[int, int]:
        """Of BFGS, in all first steps and in all second steps."""
        return (
            sum(one.first.iterations for one in self.passes),
            sum(one.second.iterations for one in self.passes if one.second is not None),
        )


def _teller(progress: Callable[[str], None], where: str, what: str) -> Callable[[int, float], None]:
    def tell(iteration: int, value: float) -> None:
        progress(f"{where}, {iteration} iterations, {what} {value:.1e}")

    return tell


class TwoStepSearch:
    """The search for one target."""

    def __init__(self, draping: Draping, cones: Cones, effort: TwoSteps) -> None:
        """cones: of a part of the friction."""
        self.draping, self.cones, self.effort = draping, cones, effort
        self.drapes = 0
        self._areas = draping.forces.shape(draping.target).areas

    def run(self, progress: Callable[[str], None]) -> Reached:
        """All passes, from the target."""
        begin = time.monotonic()
        deadline, points, passes = begin + self.effort.seconds, self.draping.target.copy(), list[Pass]()
        attraction, draped = FIRST, None
        while True:
            if attraction <= NONE:
                attraction = 0.0
            said = f"lambda {attraction:.3g} N/m, step"
            first = self.nearer(points, attraction, deadline, _teller(progress, f"{said} 1", "J"))
            points = self._whole(points, first.point)
            draped = self.draping(points, attraction)
            if first.reason in ("time", "no value"):
                passes.append(Pass(attraction, first, None))
                break
            teller = _teller(progress, f"{said} 2", "G")
            second = self.corrected(points, draped.positions, attraction, deadline, teller)
            points = second.point.reshape(-1, 3)
            passes.append(Pass(attraction, first, second))
            if second.reason == "time" or attraction == 0.0:
                break
            attraction *= WEAKER
        last = passes[-1]
        ended = last.attraction == 0.0 and last.second is not None and last.second.reason != "time"
        return Reached(points, draped, tuple(passes), ended, time.monotonic() - begin)

    def nearer(
        self, points: FloatArray, attraction: float, deadline: float, tell: Callable[[int, float], None] | None = None
    ) -> Minimum:  # fmt: skip
        """The first step: J over the rest places (k, 3) of free nodes."""
        free = self.draping.free

        def loss(flat: FloatArray) -> tuple[float, FloatArray]:
            whole = self._whole(points, flat)
            if self.folded(whole):
                return np.inf, np.zeros_like(flat)
            draped = self.draping(whole, attraction)
            self.drapes += 1
            if not draped.stable:
                return np.inf, np.zeros_like(flat)
            found = distance(self.draping, draped)
            return found.value, found.slope.rest[free].ravel()

        small = self.effort.smallest
        return minimise(
            loss, points[free].ravel(), Stop(small, small, self.effort.first, deadline), BEGIN * self.draping.size, tell
        )  # fmt: skip

    def corrected(
        self, points: FloatArray, positions: FloatArray, attraction: float, deadline: float,
        tell: Callable[[int, float], None] | None = None,
    ) -> Minimum:  # fmt: skip
        """The second step: G over the whole rest shape, in a shape (n, 3) m."""

        def loss(flat: FloatArray) -> tuple[float, FloatArray]:
            whole = flat.reshape(-1, 3)
            if self.folded(whole):
                return np.inf, np.zeros_like(flat)
            found = correction(self.draping, self.cones, positions, attraction, whole)
            return found.value, found.slope.ravel()

        small = self.effort.smallest
        return minimise(
            loss, points.ravel(), Stop(small, small, self.effort.second, deadline), BEGIN * self.draping.size, tell
        )  # fmt: skip

    def folded(self, points: FloatArray) -> bool:
        """Whether a face of a rest shape has all but vanished."""
        return bool((self.draping.forces.shape(points).areas < LEAST_AREA * self._areas).any())

    def _whole(self, points: FloatArray, flat: FloatArray) -> FloatArray:
        """A rest shape with other places of the nodes that are free."""
        whole = points.copy()
        whole[self.draping.free] = flat.reshape(-1, 3)
        return whole
