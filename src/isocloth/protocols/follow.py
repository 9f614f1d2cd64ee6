"""Equilibria of strips by statics: each is continued from the one before, and known to be stable or not.

The first one grows from nothing: a strip without weight rests as it was cut, wherever its clamp is, and gravity rises
from there. The next ones follow what changed: stiffness, gravity, or where the clamp is.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from isocloth.base.errors import ConvergenceError
from isocloth.models import Model, StiffnessWarning
from isocloth.protocols.strip import Problem, Settled, Solver, kind_of, settle
from isocloth.statics import Equilibrium, equilibrium

#: parts of gravity through which the first equilibrium goes
RISE = (1e-4, 1e-3, 1e-2, 0.1, 0.3, 1.0)


class Follower:
    """A solver of equilibria that remembers the last one; for models whose steps are Newton's.

    stable: leave a branch that has become unstable for what the strip does then; False stays on it.
    """

    def __init__(self, *, stable: bool = True) -> None:
        self.stable = stable
        self.memory: tuple[Problem, Equilibrium] | None = None

    @property
    def last(self) -> Equilibrium | None:
        """The equilibrium found last."""
        return None if self.memory is None else self.memory[1]

    def __call__(self, problem: Problem) -> Settled:
        """The equilibrium of a problem, continued from the last one if that was of the same strip."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", StiffnessWarning)  # master curves begin where no cloth is that stiff
            try:
                found = self._follow(problem)
            except ConvergenceError:
                return Settled(problem.mesh.vertices.copy(), False, np.inf, 0, False)
            self.memory = problem, found
            stable = found.converged and found.stable
        return Settled(found.positions.copy(), found.converged, found.residual, found.iterations, stable)

    def _follow(self, problem: Problem) -> Equilibrium:
        if self.memory is not None and self.memory[1].converged and _same(self.memory[0], problem):
            before, last = self.memory
            return last.continued(_way(before, problem), [0.0, 1.0], stable=self.stable)[-1]
        light = equilibrium(
            problem.mesh, problem.fabric, model=problem.model, rest=problem.rest, held=problem.held, gravity=0.0
        )  # fmt: skip
        if not light.converged or problem.gravity == 0.0:
            return equilibrium(
                problem.mesh, problem.fabric, model=problem.model, rest=problem.rest, held=problem.held,
                gravity=problem.gravity,
            )  # fmt: skip
        return light.continued("gravity", [part * problem.gravity for part in RISE], stable=self.stable)[-1]


def solver_of(model: str | Model, *, stable: bool = True, other: Solver = settle) -> Solver:
    """Who finds the equilibria of a model when nobody chooses: statics, or `other` where it has no energy."""
    return Follower(stable=stable) if kind_of(model).stepper == "newton" else other


def _same(before: Problem, problem: Problem) -> bool:
    """Whether two problems are of the same strip, held at the same nodes."""
    return (
        before.rest is problem.rest and type(before.model) is type(problem.model)
        and np.array_equal(before.held, problem.held)
    )  # fmt: skip


def _way(before: Problem, problem: Problem) -> Callable[[float], Mapping[str, Any]]:
    """From 0 to 1 all that differs goes from one problem to the other, stiffnesses by the same factor everywhere."""
    ends: dict[str, tuple[float, float]] = {}
    own = {field.name for field in fields(problem.model)} if not isinstance(problem.model.bending, str) else {
        field.name for field in fields(problem.model) if field.name != "bending"
    }  # fmt: skip
    for one, other in ((before.fabric, problem.fabric), (before.model, problem.model)):
        for field in fields(one):
            a, b = getattr(one, field.name), getattr(other, field.name)
            if a != b and not (one is before.fabric and field.name in own):
                ends[field.name] = (float(a), float(b))
    if before.gravity != problem.gravity:
        ends["gravity"] = (before.gravity, problem.gravity)
    places = before.mesh.vertices[before.held], problem.mesh.vertices[problem.held]

    def at(t: float) -> Mapping[str, Any]:
        changed: dict[str, Any] = {}
        for name, (a, b) in ends.items():
            changed[name] = float(a * (b / a) ** t) if a > 0.0 and b > 0.0 else float(a + t * (b - a))
        return {**changed, "held": (1.0 - t) * places[0] + t * places[1]}

    return at
