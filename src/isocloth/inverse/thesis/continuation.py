"""Continuation in the mass, by which the thesis finds a developable rest shape and the density (its algorithm 7).

    X = target
    for densities rho_1, rho_2, ...:  X = argmin J^lambda + a C_DGC + a_s C_smooth + a_mu G_contact, from X

A cloth without weight has the target as its rest shape; each weight begins where the one before ended, with as few as
50 to 200 iterations. The density is the one at which J and C_DGC both fall before and rise after: there one
developable rest shape explains the target. Only ratios are told, of stiffness to density: who knows the density finds
Young's modulus so.

The weight a is fixed, or grows (`Adaptive`): at the start and every ten iterations to where the sum's slope is one of
C_DGC too,

    a <- max(a, -(grad J . grad C) / |grad C|^2)    over the rest places that are sought,

until J is larger than at the last update; then it is halved, and stays for the rest of the density.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from isocloth.base.errors import ConvergenceError, InputError
from isocloth.base.numeric import as_float, check_count, check_flag, is_one_of, shown
from isocloth.base.typing import FloatArray
from isocloth.fabric import Fabric
from isocloth.inverse.progress import Meter
from isocloth.inverse.thesis.bfgs import Stop, minimise
from isocloth.inverse.thesis.curvatures import ByMatrix, Curvature, FullBFGS, LimitedBFGS
from isocloth.inverse.thesis.objective import Objective
from isocloth.inverse.thesis.sought import Sought
from isocloth.meshes import Mesh
from isocloth.models import Model

METHODS = ("bfgs", "l-bfgs", "gauss-newton", "newton")
#: of the size of the cloth: the first step of the rest shape, before anything is known of the curvature
BEGIN = 1e-3
#: times the product of J and C_DGC at the best density: others that are about as good
ZONE = 10.0


@dataclass(frozen=True)
class Adaptive:
    """A weight of developability that grows.

    first: m^2, before the first update; every: iterations from one update to the next; 0: there is none.
    for_good: whether a weight that was halved stays for all later densities too; the thesis' words may mean either.
    """

    first: float = 0.0
    every: int = 10
    for_good: bool = False


class Stage(NamedTuple):
    """One density, kg/m^2: what came of it.

    distance, developability, smoothness, friction: J m^2, C_DGC rad^2, C_smooth rad^2 (nan if it has no weight),
    G_contact N^2. weight: a, m^2, at the end; halved: whether J grew. reason: why it ended, as of `bfgs.Minimum`.
    points, positions: (n, 3) m, rest shape and draped cloth.
    """

    density: float
    distance: float
    developability: float
    smoothness: float
    friction: float
    weight: float
    halved: bool
    iterations: int
    evaluations: int
    reason: str
    seconds: float
    points: FloatArray
    positions: FloatArray


@dataclass(frozen=True)
class MassContinuation:
    """All densities that were tried, in their order; problem: why it ended before the last, else empty."""

    target: Mesh
    stages: tuple[Stage, ...]
    problem: str

    @property
    def best(self) -> Stage:
        """The density at which J and C_DGC are least together: of those where their product falls before and rises
        after, the one with the least; of all, where there is none.

        A cloth that weighs next to nothing is at its target with any rest shape near it, and a small J says nothing.
        """
        return self.stages[self._place]

    @property
    def _place(self) -> int:
        product = np.array([_product(stage) for stage in self.stages])
        inside = [k for k in range(1, len(product) - 1) if product[k - 1] > product[k] < product[k + 1]]
        return min(inside or range(len(product)), key=lambda k: float(product[k]))

    @property
    def clear(self) -> bool:
        """Whether J and C_DGC are each less there than at the densities before and after."""
        k = self._place
        if not 0 < k < len(self.stages) - 1:
            return False
        before, at, after = self.stages[k - 1 : k + 2]
        return all(at.distance < near.distance and at.developability < near.developability for near in (before, after))

    @property
    def zone(self) -> tuple[float, float]:
        """kg/m^2: the densities around the best, in a row, whose product is less than ten times that of the best."""
        k = self._place
        low = high = k
        while low > 0 and _product(self.stages[low - 1]) < ZONE * _product(self.best):
            low -= 1
        while high < len(self.stages) - 1 and _product(self.stages[high + 1]) < ZONE * _product(self.best):
            high += 1
        return self.stages[low].density, self.stages[high].density

    @property
    def density(self) -> float:
        """kg/m^2 of the best."""
        return self.best.density

    @property
    def rest(self) -> Mesh:
        """The rest shape of the best density."""
        return self.target.with_vertices(self.best.points)

    def __str__(self) -> str:
        head = f"{'kg/m^2':>9} {'J, m^2':>9} {'C_DGC':>9} {'a':>9} {'steps':>6}  ended"
        lines = [f"{s.density:9.4g} {s.distance:9.2e} {s.developability:9.2e} {s.weight:9.2e} {s.iterations:6d}  "
                 f"{s.reason}{' *' if k == self._place else ''}" for k, s in enumerate(self.stages)]  # fmt: skip
        return "\n".join([head, *lines, *([self.problem] if self.problem else [])])


def _product(stage: Stage) -> float:
    return stage.distance * stage.developability


def mass_continuation(
    target: Mesh,
    fabric: Fabric | None = None,
    *,
    densities: Sequence[float],
    model: str | Model | None = None,
    held: Any = None,
    obstacles: Any = (),
    contacts: Any = None,
    developability: float | Adaptive = Adaptive(),
    smoothness: float = 0.0,
    friction: float = 0.0,
    attraction: float = 1.0,
    method: str = "bfgs",
    iterations: int = 100,
    smallest: float = 1e-10,
    everywhere: bool | None = None,
    plate: bool = False,
    start: Mesh | FloatArray | None = None,
    gravity: float | None = None,
    progress: bool = True,
) -> MassContinuation:
    """A table over densities of how well one developable rest shape explains a target, the thesis' own way.

    `ic.pattern` answers the same question directly, and for panels with seams. This is kept to compare with.

    Args:
        target: triangles; how the cloth hangs.
        fabric: friction and the thickness that contacts keep; its density is not used.
        densities: kg/m^2, in the order in which they are tried; steps of a tenth of what is expected, say.
        model: a shell, `ic.models.DiscreteShell(...)` by default.
        held, obstacles, contacts: as of `ic.invert`.
        developability: a, m^2, of C_DGC; or `Adaptive()`.
        smoothness: a_s, m^2, of C_smooth. friction: a_mu, m^2/N^2, of G_contact, with 0.975 of the friction.
        attraction: lambda, N/m, of the draped cloth to the target; the thesis has 1 to 50.
        method: "bfgs", "l-bfgs" (15 steps), "gauss-newton" or "newton".
        iterations: of every density, at most.
        smallest: largest component of a step, m, or of a gradient, m, at which a density ends.
        everywhere: whether nodes that are held or touch have rest places that are sought too; else these stay as they
            are in the target. None: only where friction counts. J hardly knows of them.
        plate: whether bends count from flat, whatever the rest shape is: isometric ones are then the same.
        start: the rest shape with which the first density begins; None: the target.
        gravity: m/s^2, along -z; None: 9.81.
        progress: say what happens, on standard error if that is a terminal.

    Raises:
        ConvergenceError: already the first density finds no cloth at rest.
    """
    rule = _checked(developability, smoothness, friction, iterations, smallest)
    if not is_one_of(method, METHODS):
        raise InputError(f"method = {shown(method)}: expected one of {', '.join(map(repr, METHODS))}")
    check_flag(progress, "progress")
    if everywhere is not None:
        check_flag(everywhere, "everywhere")
    sought = Sought.of(target, fabric, model, held, obstacles, contacts, gravity, attraction, plate)
    points = sought.started(start)
    stages, weight, frozen, problem = list[Stage](), rule.first, rule.every == 0, ""
    with closing(Meter(progress)) as meter:
        for density in _densities(densities):
            begin = time.monotonic()
            objective = sought.objective(density, points, friction > 0.0 if everywhere is None else everywhere)
            objective.smoothness, objective.friction, objective.weight = smoothness, friction, weight
            search = _Search(objective, method, rule, frozen, smallest, iterations)
            reason = search.run(lambda said, rho=density: meter.say(f"{rho:.4g} kg/m^2, {said}"))  # type: ignore[misc]
            parts = objective.parts(search.flat)
            if parts is None:
                problem = (
                    f"at {density:.4g} kg/m^2 the cloth of the rest shape before does not come to rest near the "
                    "target: take smaller steps of the density, a larger attraction, or a stiffer model"
                )
                break
            points, weight = objective.points(search.flat), objective.weight
            frozen = frozen or (search.halved and rule.for_good)
            smooth = np.nan if parts.smooth is None else parts.smooth.penalty
            stages.append(Stage(
                density, parts.distance, parts.penalty.penalty, smooth, parts.friction, weight, search.halved,
                search.iterations, objective.evaluations, reason, time.monotonic() - begin, points,
                parts.draped.positions,
            ))  # fmt: skip
    if not stages:
        raise ConvergenceError(problem)
    return MassContinuation(sought.mesh, tuple(stages), problem)


class _Search:
    """The minimisation at one density, with updates of the weight between."""

    def __init__(
        self, objective: Objective, method: str, rule: Adaptive, frozen: bool, smallest: float, most: int
    ) -> None:
        self.objective, self.rule, self.frozen, self.smallest, self.most = objective, rule, frozen, smallest, most
        self.flat = objective.start[objective.moving].ravel()
        self.iterations, self.halved = 0, False
        self._last = np.inf
        self._curvature = curvature_of(objective, method)

    def run(self, tell: Callable[[str], None]) -> str:
        """Until it ends; says why."""
        size = BEGIN * self.objective.draping.size
        while True:
            left = self.most - self.iterations
            count = left if self.frozen else min(self.rule.every, left)
            if not self.frozen:
                self._update()

            def told(iteration: int, value: float, done: int = self.iterations) -> None:
                tell(f"{done + iteration} iterations, {value:.2e} m^2")

            stop = Stop(self.smallest, self.smallest, count)
            found = minimise(self.objective, self.flat, stop, size, told, self._curvature)
            self.flat = found.point
            self.iterations += found.iterations
            if found.reason != "iterations" or self.iterations >= self.most:
                return found.reason

    def _update(self) -> None:
        """The weight of developability, by the rule of `Adaptive`."""
        objective = self.objective
        parts = objective.parts(self.flat)
        if parts is None:
            return
        if parts.distance > self._last:
            objective.weight *= 0.5
            self.frozen = self.halved = True
            return
        self._last = parts.distance
        one, other = parts.distance_slope[objective.moving], parts.penalty.gradient[objective.moving]
        square = float(np.sum(other * other))
        if square > 0.0:
            objective.weight = max(objective.weight, -float(np.sum(one * other)) / square)


def curvature_of(objective: Objective, method: str) -> Curvature:
    """What a method of `METHODS` knows of the second derivative, at its start."""
    if method == "bfgs":
        return FullBFGS()
    if method == "l-bfgs":
        return LimitedBFGS()
    return ByMatrix(lambda flat: objective.matrix(flat, method == "newton"))


def _checked(
    developability: float | Adaptive, smoothness: float, friction: float, iterations: int, smallest: float
) -> Adaptive:
    """The rule of the weight; one that is fixed is never updated."""
    rule = developability if isinstance(developability, Adaptive) else Adaptive(first=developability, every=0)
    for name, value in (("developability", rule.first), ("smoothness", smoothness), ("friction", friction)):
        number = as_float(value)
        if number is None or not 0.0 <= number < np.inf:
            raise InputError(f"{name} = {shown(value)}: expected a weight, zero or more")
    check_count(iterations, "iterations", 1)
    check_count(rule.every, "developability: every")
    number = as_float(smallest)
    if number is None or not number > 0.0:
        raise InputError(f"smallest = {shown(smallest)}: expected a number above zero, 1e-10 say")
    return rule


def _densities(given: Sequence[float]) -> list[float]:
    try:
        numbers = [as_float(one) for one in given]
    except TypeError:
        numbers = []
    if not numbers or any(n is None or not 0.0 < n < np.inf for n in numbers):
        raise InputError(f"densities = {shown(given)}: expected numbers above zero, kg/m^2, [0.1, 0.2, 0.3] say")
    return [float(n) for n in numbers if n is not None]
