"""The nearest shape that a cloth can take with a margin, where it cannot take its target.

    min J(X) = |x(X) - target|^2 / 2    over rest shapes X with    lambda_min(A; M) >= epsilon

where x(X) is what a cloth of that rest shape does: its stable equilibrium with contact and friction (`statics`),
followed from the last one. Without the margin the nearest shape lies where the cloth snaps. Epsilon is a twentieth of
gravity over the size of the cloth, the squared frequency of a pendulum of that size. An interior-point method goes
there, from equilibria that are stable by far: J plus tau times a barrier of the softest eigenvalues and of the areas of
faces at rest (`barrier_problem.py`) is made smaller by damped and bent steps of Gauss and Newton, and tau falls. A step
is taken if the equilibrium that it leads to is stable, inside the barriers, and better. Of several starts the one goes
on that is the nearest after a few steps.

The certificate: `gradient`, |dPhi/dX| / |x - target|, by how many metres the distance would fall for a metre of change
at rest, of the barrier problem; `gap`, the part of J by which the barriers may keep it from its least; the smallest
eigenvalue; and how many contacts opened, closed, or began or ceased to slide in the last trial: where contacts change,
J has kinks, and depends on the way, so that the gradient need not vanish.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from isocloth.base.errors import IsoclothError
from isocloth.base.typing import FloatArray
from isocloth.contact.history import NO_HISTORY
from isocloth.inverse.barrier_problem import BarrierProblem
from isocloth.inverse.force_first import LEAST_AREA, Progress
from isocloth.inverse.rest_forces import RestForces
from isocloth.inverse.softest_modes import Areas, Barrier, Modes, softest_modes
from isocloth.statics.find import Found, find
from isocloth.statics.hessian import Hessian
from isocloth.statics.polish import Polisher
from isocloth.statics.problem import Problem, Scene
from isocloth.statics.stability import sliding_on, smallest_mode
from isocloth.statics.touching import Touching

#: of gravity over the size of the cloth: the least eigenvalue, and how far above it the barrier begins
MARGIN, RANGE = 0.05, 4.0
#: part of the area in the target over which the barrier of faces reaches
AREA_RANGE = 0.25
#: modes that are known; those in the reach of the barrier count
MODES = 8
#: steps in all, of each start before one is chosen, and how often one may become shorter
STEPS, TRIAL, SHORTER = 80, 6, 12
#: mu at first, what it is multiplied with after a good step and after a bad one, and the least
FIRST, LESS, MORE, LEAST = 1.0, 0.2, 6.0, 1e-9
#: tau at most, of J, and what it is multiplied with
WEIGHT, WEAKER = 0.3, 0.2
#: gradient below which tau falls, of the gap; and gradient and gap at which a shape is the nearest
LOOSE, OPTIMAL, CLOSED = 10.0, 1e-2, 1e-2
#: part of the cloth that a point, at rest or not, moves at most in a step; and the bend of a step, of its length
LONGEST, BENT = 0.1, 0.75
#: part of what the slope promises that a step must bring, and that makes the next one longer
SUFFICIENT, GOOD = 1e-4, 0.25
#: part of the distance from the barriers that a step must leave
INSIDE = 0.2
#: fall, of the objective, below which a step is slow, and how many in a row make tau fall or end it
SLOW, PATIENCE = 3e-3, 4
#: part of the cloth by which an equilibrium may be from where it was expected
REACH = 0.2


class Nearest(NamedTuple):
    """A shape that a cloth can take.

    points: (n, 3) m, its rest shape.
    found: the equilibrium, stable.
    gradient: |dPhi/dX| over the distance from the target, m/m.
    gap: tau times the number of modes and faces that the barriers act on, of J.
    smallest_eigenvalue, least: 1/s^2, of the equilibrium, and epsilon below which none may be.
    changed: contacts that opened, closed, or began or ceased to slide in the last trial.
    steps: that were taken.
    """

    points: FloatArray
    found: Found
    gradient: float
    gap: float
    smallest_eigenvalue: float
    least: float
    changed: int
    steps: int

    @property
    def optimal(self) -> bool:
        """Whether the certificate says that it is the nearest, of those near it."""
        return self.gradient < OPTIMAL and self.gap < CLOSED

    @property
    def smooth(self) -> bool:
        """Whether no contact changed in the last trial: if not, kinks may be why the gradient does not vanish."""
        return self.changed == 0


class State(NamedTuple):
    """A rest shape (n, 3) m, its stable equilibrium, A there, and the softest modes."""

    points: FloatArray
    found: Found
    hessian: Hessian
    modes: Modes


@dataclass
class Path:
    """The way from a start: where it is, and what the next step begins with."""

    state: State
    here: BarrierProblem
    tau: float
    mu: float = FIRST
    steps: int = 0
    slow: int = 0
    changed: int = 0
    ended: bool = False


class NearestSearch:
    """From a rest shape to one with which a cloth comes nearer to its target (n, 3) m."""

    def __init__(self, problem: Problem, forces: RestForces, target: FloatArray, progress: Progress) -> None:
        self.problem, self.forces, self.target, self.progress = problem, forces, target, progress
        self.size = float(np.ptp(target, axis=0).max())
        pendulum = problem.gravity / self.size
        self.barrier = Barrier(MARGIN * pendulum, RANGE * pendulum)
        self.areas = Areas(problem.mesh.faces.copy(), target, Barrier(LEAST_AREA, AREA_RANGE))

    def run(self, starts: Sequence[FloatArray]) -> Nearest | None:
        """What steps from the best of rest shapes (n, 3) m lead to; None where a cloth comes to rest with none."""
        states = [state for state in map(self.first, starts) if state is not None]
        paths = [self.path(state) for state in states]
        if not paths:
            return None
        if len(paths) > 1:
            for path in paths:
                self.approach(path, TRIAL)
        best = min(paths, key=lambda path: self.distance(path.state.found))
        self.approach(best, STEPS)
        return self.result(best)

    def path(self, state: State) -> Path:
        """A way that begins at a state."""
        return Path(state, self.problem_at(state), WEIGHT * self.distance(state.found))

    def result(self, path: Path) -> Nearest:
        """What is known where a way ended."""
        gradient, gap = self.certificate(path)
        smallest = float(path.state.modes.values[0])
        return Nearest(
            path.state.points, path.state.found, gradient, gap, smallest, self.barrier.least, path.changed, path.steps
        )  # fmt: skip

    def certificate(self, path: Path) -> tuple[float, float]:
        """Gradient and gap; zero where the target is met."""
        distance = self.distance(path.state.found)
        if distance == 0.0:
            return 0.0, 0.0
        faces = self.areas.barrier.part(self.areas.ratios(path.state.points)) < 1.0
        gap = path.tau * (path.here.count + int(faces.sum())) / distance
        return float(np.linalg.norm(path.here.slope(path.tau))) / np.sqrt(2.0 * distance), gap

    # ------------------------------------------------------------------- steps

    def approach(self, path: Path, most: int) -> None:
        """Steps along a way, until it has so many, or ends."""
        while path.steps < most and not path.ended:
            path.tau = min(path.tau, WEIGHT * self.distance(path.state.found))
            gradient, gap = self.certificate(path)
            closed = gap < CLOSED
            if closed and (gradient < OPTIMAL or path.slow >= PATIENCE):
                path.ended = True
            elif not closed and (gradient < max(OPTIMAL, LOOSE * gap) or path.slow >= PATIENCE):
                path.tau, path.slow = WEAKER * path.tau, 0
            elif not self.step(path):
                # a weaker barrier may free it, or nothing does
                path.ended, path.tau, path.mu = closed, path.tau if closed else WEAKER * path.tau, FIRST
            else:
                distance = np.sqrt(2.0 * self.distance(path.state.found))
                self.progress(f"nearest shape: step {path.steps}, distance {distance:.3e} m, gradient {gradient:.1e}")

    def step(self, path: Path) -> bool:
        """One step, shorter until it is one; False where there is none."""
        state, here, tau = path.state, path.here, path.tau
        slope, before = here.slope(tau), self.objective(state, tau)
        for trial in range(SHORTER):
            change = self.change(here, slope, tau, path.mu)
            if change is not None:
                follows = here.ahead(change)
                part = min(1.0, LONGEST * self.size / max(np.abs(change).max(), np.abs(follows).max()))
                promise = part * float(change @ slope)
                points = state.points + part * change.reshape(-1, 3)
                tried = None
                if promise < 0.0 and self.areas.barrier.value(self.areas.ratios(points)) < np.inf:
                    tried = self.follow(points, state.found.positions + part * follows.reshape(-1, 3), state.found)
                if tried is not None:
                    path.changed = changed_contacts(state.found.touching, tried.found.touching)
                    after = self.objective(tried, tau)
                    if after < before + SUFFICIENT * promise and self.leaves_room(tried, state):
                        if trial == 0 and after - before < GOOD * promise:
                            path.mu = max(LESS * path.mu, LEAST)
                        path.slow = path.slow + 1 if before - after < SLOW * before else 0
                        path.state, path.here, path.steps = tried, self.problem_at(tried), path.steps + 1
                        return True
            path.mu *= MORE
        return False

    def change(self, here: BarrierProblem, slope: FloatArray, tau: float, mu: float) -> FloatArray | None:
        """The bent step (3n,) m; None where it would bend too much."""
        model = here.model(tau, mu)
        if model is None:
            return None
        straight = -model.inverse(slope)
        bend = here.acceleration(straight, model, tau)
        if not np.isfinite(bend).all():
            return None
        # twice the bend is the second derivative of the way
        length = 2.0 * np.linalg.norm(bend) / max(float(np.linalg.norm(straight)), 1e-300)
        if length > 30.0 * BENT:
            return None
        return np.asarray(straight + bend if length <= BENT else straight)

    def leaves_room(self, tried: State, before: State) -> bool:
        """Whether a step does not go most of the way to where eigenvalues or areas may not go."""
        for barrier, now, old in (
            (self.barrier, tried.modes.values, before.modes.values),
            (self.areas.barrier, self.areas.ratios(tried.points), self.areas.ratios(before.points)),
        ):
            if barrier.part(now).min() < INSIDE * barrier.part(old).min():
                return False
        return True

    def objective(self, state: State, tau: float) -> float:
        """Phi, m^2."""
        walls = self.barrier.value(state.modes.values) + self.areas.barrier.value(self.areas.ratios(state.points))
        return self.distance(state.found) + tau * walls

    def distance(self, found: Found) -> float:
        """J, m^2."""
        return float(0.5 * np.sum((found.positions - self.target) ** 2))

    def problem_at(self, state: State) -> BarrierProblem:
        """The barrier problem about a state."""
        return BarrierProblem(
            self.forces.at(state.found.positions), state.points, self.problem.fabrics[0].density, state.hessian,
            state.modes, self.barrier, self.areas, self.target,
        )  # fmt: skip

    # ------------------------------------------------------------------- equilibria

    def at(self, points: FloatArray) -> Problem:
        """The question where a cloth of this rest shape comes to rest."""
        return replace(self.problem, rest=self.problem.mesh.with_vertices(points))

    def first(self, points: FloatArray) -> State | None:
        """Where a cloth with a rest shape comes to rest, however far that is; None if not inside the barriers."""
        try:
            found = find(self.at(points), self.target, stable=True)
        except IsoclothError:
            return None
        state = self.follow(points, found.positions, found) if found.converged else None
        return None if state is None or not np.isfinite(self.objective(state, 1.0)) else state

    def follow(self, points: FloatArray, start: FloatArray, near: Found) -> State | None:
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
        hessian = steady(solver, solved.tension, touching) if solved.converged else None
        modes = None if hessian is None else softest_modes(hessian, MODES)
        if hessian is None or modes is None:
            return None
        found = Found(solved.positions, solved.tension, touching, solved.residual, True, "", solved.iterations)
        return State(points, found, hessian, modes)


def steady(solver: Polisher, tension: FloatArray, touching: Touching | None) -> Hessian | None:
    """A where the potential is, factorised, if it is positive definite, with contacts that may slide on only.

    Contacts that the softest mode moves back stick, one after the other, as in `statics.stability.softest`.
    """
    hessian = solver.hessian(tension, touching)
    slides = None if touching is None else touching.sliding
    while not hessian.factorise():
        if touching is None or slides is None or not slides.any():
            return None
        slides = sliding_on(touching, slides, smallest_mode(hessian)[1])
        if slides is None:
            return None
        hessian = solver.hessian(tension, touching, slides)
    return hessian


def changed_contacts(before: Touching | None, after: Touching | None) -> int:
    """How many contacts press, or slide, in one of two equilibria only."""
    if before is None or after is None:
        return 0
    count = 0
    for kind in ("active", "sliding"):
        one, other = (t.contacts.key[getattr(t, kind)] for t in (before, after))
        count += len(np.setxor1d(one, other))
    return count
