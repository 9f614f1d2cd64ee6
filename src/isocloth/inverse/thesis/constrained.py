"""Developability as a constraint: a rest shape that is exactly developable, and as near to the target as it can be.

    min J + a_s C_smooth    so that    c(X) = 0

by augmented Lagrangians: J + y . c + m |c|^2 / 2 is made least, then y <- y + m c, and m grows where c does not fall to
a quarter (the thesis, 6.1.1; interior points, it says, do not descend). c are the curvatures of C_DGC, or the
differences of angles of C_DOG of a net of quads. The thesis compares both so, and proposes it as the end of its way to
patterns, with lambda = 0 and from the best rest shape of the continuation, which it did not run.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from isocloth.base.errors import ConvergenceError, InputError, MeshError
from isocloth.base.numeric import as_float, check_count, check_flag, is_one_of, shown
from isocloth.base.typing import FloatArray
from isocloth.fabric import Fabric
from isocloth.inverse.progress import Meter
from isocloth.inverse.thesis.bfgs import Stop, minimise
from isocloth.inverse.thesis.continuation import BEGIN, METHODS, curvature_of
from isocloth.inverse.thesis.developability import geodesic_penalty
from isocloth.inverse.thesis.sought import Sought
from isocloth.meshes import Mesh
from isocloth.models import Model

#: part of the constraint that must be left after a round, or its weight grows by a factor
FALLS, MORE = 0.25, 10.0


class Round(NamedTuple):
    """One minimisation: J m^2, the largest |c| (rad, or 1), m (m^2), and iterations."""

    distance: float
    violation: float
    weight: float
    iterations: int


@dataclass(frozen=True)
class ConstrainedRest:
    """points: (n, 3) m, the rest shape; positions: (n, 3) m, its draped cloth; rounds: one after the other."""

    target: Mesh
    points: FloatArray
    positions: FloatArray
    rounds: tuple[Round, ...]

    @property
    def rest(self) -> Mesh:
        """The rest shape."""
        return self.target.with_vertices(self.points)

    @property
    def distance(self) -> float:
        """J, m^2."""
        return self.rounds[-1].distance

    @property
    def violation(self) -> float:
        """The largest |c|: rad of curvatures, 1 of cosines."""
        return self.rounds[-1].violation


def constrained_rest(
    target: Mesh,
    fabric: Fabric,
    *,
    net: Mesh | None = None,
    model: str | Model | None = None,
    held: Any = None,
    obstacles: Any = (),
    contacts: Any = None,
    smoothness: float = 0.0,
    attraction: float = 0.0,
    method: str = "bfgs",
    weight: float = 1e-4,
    rounds: int = 10,
    iterations: int = 200,
    satisfied: float = 1e-10,
    smallest: float = 1e-10,
    plate: bool = False,
    start: Mesh | FloatArray | None = None,
    gravity: float | None = None,
    progress: bool = True,
) -> ConstrainedRest:
    """The rest shape of known density that is developable, of which the cloth hangs nearest to a target.

    Args:
        target, model, held, obstacles, contacts, smoothness, attraction, smallest, plate, start, gravity, progress:
            as of `mass_continuation`.
        fabric: its density weighs.
        net: a mesh of quads over the same nodes, which must be one of orthogonal geodesics; None: Gaussian curvature is
            to vanish.
        method: as of `mass_continuation`; the thesis has BFGS here.
        weight: m, m^2, of the first round; rounds: at most, each of so many `iterations`; satisfied: the largest |c| at
            which it ends.
    """
    for name, value in (("weight", weight), ("satisfied", satisfied), ("smallest", smallest)):
        number = as_float(value)
        if number is None or not 0.0 < number < np.inf:
            raise InputError(f"{name} = {shown(value)}: expected a number above zero")
    if not is_one_of(method, METHODS):
        raise InputError(f"method = {shown(method)}: expected one of {', '.join(map(repr, METHODS))}")
    check_count(rounds, "rounds", 1)
    check_count(iterations, "iterations", 1)
    check_flag(progress, "progress")
    sought = Sought.of(target, fabric, model, held, obstacles, contacts, gravity, attraction, plate)
    if net is not None:
        if net.element != "quad" or net.n_vertices != target.n_vertices:
            raise MeshError(f"net is {net!r}: expected quads over the {target.n_vertices} nodes of the target")
        sought = replace(sought, penalty=geodesic_penalty(net.faces))
    objective = sought.objective(fabric.density, sought.started(start))
    objective.smoothness, objective.weight = smoothness, weight
    flat = objective.start[objective.moving].ravel()
    multipliers = np.zeros(len(sought.penalty(objective.start).value))
    made, before, positions = list[Round](), np.inf, objective.start
    with closing(Meter(progress)) as meter:
        for number in range(rounds):
            objective.multipliers = multipliers

            def told(iteration: int, value: float, number: int = number) -> None:
                meter.say(f"round {number + 1}, {iteration} iterations, {value:.2e} m^2")

            stop, first = Stop(smallest, smallest, iterations), BEGIN * objective.draping.size
            found = minimise(objective, flat, stop, first, told, curvature_of(objective, method))
            flat, parts = found.point, objective.parts(found.point)
            if parts is None:
                raise ConvergenceError(
                    "the cloth of the first rest shape does not come to rest near the target: give another start, a "
                    "larger attraction, or a stiffer model"
                )
            positions = parts.draped.positions
            left = float(np.abs(parts.penalty.value).max(initial=0.0))
            made.append(Round(parts.distance, left, objective.weight, found.iterations))
            if left <= satisfied:
                break
            multipliers = multipliers + objective.weight * parts.penalty.value
            if left > FALLS * before:
                objective.weight *= MORE
            before = left
    return ConstrainedRest(sought.mesh, objective.points(flat), positions, tuple(made))
