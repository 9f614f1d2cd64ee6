"""The nearest shape that a cloth can take, where it cannot take its target.

    min J(X) = |x(X) - target|^2 / 2

over rest shapes X, where x(X) is what a cloth of that rest shape does: its stable equilibrium with contact and friction
(`statics`), followed from the last one. With A the second derivative of its energy there, contacts included as the
springs they are, and B = dF/dX the derivative of its forces in the rest shape, the shape follows by dx = -A^-1 B dX,
and the gradient of J is -B^T A^-1 (x - target): one adjoint solve. Steps are those of Levenberg and Marquardt, with
r = target - x:

    min |r - dx|^2 + mu |dX|^2:    (B B^T + mu A^2) w = A r,    dX = -B^T w.

The system has a row for every coordinate of a free node, and is as sparse as the square of A. Where A is nearly
singular, the shape follows a soft mode far for a small change at rest; mu keeps that short. A step is taken if the
equilibrium that it leads to is stable and nearer.

The certificate is |dJ/dX| / |x - target|: by how many metres the distance would fall for a metre of change at rest. It
vanishes where J is smooth at its minimum. It need not where the shape is about to snap, to slide or to touch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from isocloth.base.errors import IsoclothError
from isocloth.base.typing import FloatArray
from isocloth.contact.history import NO_HISTORY
from isocloth.inverse.force_first import LEAST_AREA, Progress
from isocloth.inverse.rest_forces import RestForces
from isocloth.sparse.inertia import symmetric_factor
from isocloth.statics.find import Found, find
from isocloth.statics.polish import Polisher
from isocloth.statics.problem import Problem, Scene
from isocloth.statics.stability import lasts
from isocloth.statics.touching import Touching

#: steps, and how often one may become shorter
STEPS, SHORTER = 60, 12
#: mu at first, what it is multiplied with after a good step and after a bad one
FIRST, LESS, MORE = 1.0, 0.2, 6.0
#: part of the cloth that a point of the rest shape moves at most in a step
LONGEST = 0.1
#: gradient at which a shape is the nearest; the fall of J, of J, below which a step is slow; how many in a row end it
OPTIMAL, SLOW, PATIENCE = 1e-3, 1e-2, 4
#: part of the cloth by which an equilibrium may be from where it was expected
REACH = 0.2


class Nearest(NamedTuple):
    """A shape that a cloth can take.

    points: (n, 3) m, its rest shape.
    found: the equilibrium, stable.
    slope: (n, 3) m, dJ/dX.
    gradient: |dJ/dX| over the distance from the target, m/m.
    steps: that were taken.
    """

    points: FloatArray
    found: Found
    slope: FloatArray
    gradient: float
    steps: int


class NearestSearch:
    """From a rest shape to one with which a cloth comes nearer to its target (n, 3) m."""

    def __init__(self, problem: Problem, forces: RestForces, target: FloatArray, progress: Progress) -> None:
        self.problem, self.forces, self.target, self.progress = problem, forces, target, progress
        self.size = float(np.ptp(target, axis=0).max())
        self.areas = forces.shape(target).areas

    def run(self, starts: Sequence[FloatArray]) -> Nearest | None:
        """The best that steps from several rest shapes (n, 3) m lead to; None where a cloth comes to rest with none."""
        best: Nearest | None = None
        for points in starts:
            found = self.first(points)
            if found is None:
                continue
            now = self.approach(points, found)
            if best is None or self.distance(now.found) < self.distance(best.found):
                best = now
        return best

    def approach(self, points: FloatArray, found: Found) -> Nearest:
        """Steps from one rest shape (n, 3) m and its equilibrium."""
        mu, gradient, steps, slow = FIRST, 0.0, 0, 0
        slope = np.zeros_like(points)
        while self.distance(found) > 0.0:
            before = self.distance(found)
            step = _Step(self, points, found)
            slope, gradient = step.slope, float(np.linalg.norm(step.slope)) / np.sqrt(2.0 * before)
            if gradient < OPTIMAL or steps == STEPS:
                break
            for _ in range(SHORTER):
                change, ahead = step.solve(mu)
                tried = None
                if np.abs(change).max() <= LONGEST * self.size and not self.folded(points + change):
                    tried = self.follow(points + change, found.positions + ahead, found)
                if tried is not None and self.distance(tried) < before:
                    break
                mu *= MORE
            else:
                break
            steps += 1
            points, found, mu = points + change, tried, LESS * mu
            now = self.distance(found)
            self.progress(f"nearest shape: step {steps}, distance {np.sqrt(2.0 * now):.3e} m, gradient {gradient:.1e}")
            slow = slow + 1 if now > (1.0 - SLOW) * before else 0
            if slow == PATIENCE:
                break
        return Nearest(points, found, slope, gradient, steps)

    def distance(self, found: Found) -> float:
        """J, m^2."""
        return float(0.5 * np.sum((found.positions - self.target) ** 2))

    def folded(self, points: FloatArray) -> bool:
        """Whether a face of a rest shape has all but vanished."""
        return bool((self.forces.shape(points).areas < LEAST_AREA * self.areas).any())

    def at(self, points: FloatArray) -> Problem:
        """The question where a cloth of this rest shape comes to rest."""
        return replace(self.problem, rest=self.problem.mesh.with_vertices(points))

    def first(self, points: FloatArray) -> Found | None:
        """Where a cloth with a rest shape comes to rest, however far that is."""
        try:
            found = find(self.at(points), self.target, stable=True)
        except IsoclothError:
            return None
        return found if found.converged else None

    def follow(self, points: FloatArray, start: FloatArray, near: Found) -> Found | None:
        """The stable equilibrium of a rest shape by Newton's method, from a start near one that is known."""
        try:
            scene = Scene(self.at(points), near.positions)
        except IsoclothError:
            return None
        solver, touching = Polisher(scene.cloth, scene.held), None
        world = scene.sim.world
        if world is not None and not world.empty:
            history = NO_HISTORY if near.touching is None else near.touching.history()
            touching = Touching(world, scene.held, near.positions, history, scene.cloth.mass)
        solved = solver.solve(
            start, near.tension, touching, most=15, patience=4, indefinite=True, reach=REACH * self.size
        )  # fmt: skip
        if not solved.converged or not (solved.definite or lasts(solver, solved.tension, touching)):
            return None
        return Found(solved.positions, solved.tension, touching, solved.residual, True, "", solved.iterations)


class _Step:
    """The linear systems of a step."""

    def __init__(self, search: NearestSearch, points: FloatArray, found: Found) -> None:
        scene = Scene(search.at(points), found.positions)
        solver = Polisher(scene.cloth, scene.held)
        solver.potential.move(found.positions)
        hessian = solver.hessian(found.tension, found.touching)
        self.free, self.n = hessian.free, scene.cloth.n
        self.stiffness = hessian.matrix()[self.free][:, self.free].tocsr()
        self.mixed = search.forces.at(found.positions).derivative(points)[self.free].tocsr()
        self.short = (search.target - found.positions).ravel()[self.free]
        factor = symmetric_factor(self.stiffness.tocsc())
        adjoint = factor.solve(self.short) if factor is not None else np.full(len(self.free), np.inf)
        self.slope = (self.mixed.T @ adjoint).reshape(-1, 3)
        self._own, self._square = self.mixed @ self.mixed.T, self.stiffness @ self.stiffness.T

    def solve(self, mu: float) -> tuple[FloatArray, FloatArray]:
        """Changes of the rest shape and of the shape, (n, 3) m."""
        factor = symmetric_factor((self._own + mu * self._square).tocsc())
        if factor is None:
            return np.full((self.n, 3), np.inf), np.zeros((self.n, 3))
        w = factor.solve(self.stiffness @ self.short)
        change = -self.mixed.T @ w
        ahead = np.zeros(3 * self.n)
        ahead[self.free] = self.short - mu * (self.stiffness.T @ w)
        return change.reshape(-1, 3), ahead.reshape(-1, 3)
