"""Flat panels, and a density or stiffnesses, whose equilibrium is nearest to a shape that was given.

Panels are flat because their points have two coordinates. A shape that is an equilibrium of some panels is fitted
exactly: positions and panels are sought at once (`inverse/joint.py`), and what is left of the way to the target goes to
zero quadratically.

A shape that was captured has errors, and no panels fit it exactly. Then

    min  |x - target|^2 / 2 + (s / t)^2 S(x, X)    so that x is in equilibrium

is sought, with S the unevenness of strain (`inverse/strain_smoothness.py`), s the error of a coordinate and t the jump
of strain from face to face that is let be. How large t is, is chosen by generalised cross-validation:

    V(t) = m |x - target|^2 / (m - tr A)^2

of m coordinates, where A is how far the fit follows errors, dx / dtarget, and its trace is found with random signs.
That forces balance is by far the stronger filter: V is flat where t is large. There errors alone decide which t has
the least V, and smoothness pulls the density down, because what is smoothed away are the strains with which the weight
hangs from where it is held. So the largest t is taken, unless a smaller one is better by a hundredth. The principle of
discrepancy, |x - target|^2 = m s^2, would smooth far too much: panels have two coordinates for three that were
captured, so the fit follows two thirds of the errors, and has to.

Standard deviations are those of the linearised fit: s, or what the fit says s is where that is more, times the root of
the inverse of the second derivative.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from isocloth.base.typing import FloatArray
from isocloth.inverse.joint import Fit, Linearised, Loop, Search, View
from isocloth.inverse.rest_coordinates import RestCoordinates
from isocloth.models import Shell

Progress = Callable[[str], None]

#: jumps of strain from face to face that are tried, from uneven to even
JUMPS = (1.0, 0.3, 0.1, 0.03, 0.01, 0.003)
#: times the best score: one that is as good, and one at which smoother panels are not tried any more
EQUAL, WORSE = 1.01, 1.02
#: of the size of the cloth: what errors of a coordinate are taken for until they are known
SUPPOSED = 1e-3
#: of the size of the cloth: root mean square by which positions may be off a target that counts as fitted exactly
WITHIN = 1e-6
#: and where steps came to no end
SURELY = 1e-7
#: of the errors of all coordinates: the length of a last step, where there are errors
PRECISE = 5e-3
#: m, weight of a step of panels in the plane: points that nothing determines stay where they are
KEPT = 1e-9
#: random signs with which the trace of A, and the errors of panels, are estimated
PROBES, SEED = 24, 20261119


class Trial(NamedTuple):
    """A smoothness that was tried. jump: t; error: m, root mean square off the target; followed: tr A / m, the part of
    errors that the fit follows; score: m^2, V. logs: of what was unknown. ended:
    whether steps came to an end."""

    jump: float
    error: float
    followed: float
    score: float
    logs: FloatArray
    ended: bool


class FlatFit(NamedTuple):
    """What was found.

    ended: whether any steps came to an end; else panels are those that the target unrolls to, and all else is as given.
    exact: whether the target is an equilibrium.
    trials: smoothnesses that were tried; jump: the chosen t, 0 if none was needed.
    noise: m, error of a coordinate as the fit says, 0 if exact.
    relative: standard deviations of what was unknown, as parts of it, and points: (p,) m, of a coordinate of panels,
    both for the larger one of this noise and the one that was given.
    """

    search: Search
    fit: Fit
    ended: bool
    exact: bool
    trials: tuple[Trial, ...]
    jump: float
    noise: float
    relative: FloatArray
    points: FloatArray
    iterations: int


class Stage(NamedTuple):
    """Where the searches are: the jump t of the one that goes on, 0 of the exact one, and where that is; what was tried
    before, the best of it, and steps until now."""

    jump: float
    loop: Loop
    trials: tuple[Trial, ...] = ()
    best: Loop | None = None
    iterations: int = 0


class FlatSearch:
    """The searches for one target, in their order."""

    def __init__(
        self, view: View, model: Shell, density: float, names: Sequence[str], rest: RestCoordinates, noise: float | None
    ) -> None:
        """noise: m, of a coordinate; None: the target is exact, or its errors are not known."""
        self.view, self.model, self.density, self.names = view, model, density, tuple(names)
        self.rest, self.noise = rest, noise
        self.size = float(np.ptp(view.mesh.vertices, axis=0).max())

    def start(self) -> Stage:
        """Panels as they were flattened, the target as it was given."""
        jump = 0.0 if self.noise is None else JUMPS[0]
        return Stage(jump, self._begin(jump))

    def run(self, stage: Stage, progress: Progress, keep: Callable[[Stage], None] = lambda stage: None) -> FlatFit:
        """All that is left to do; keep: is given the stage after every step."""
        if stage.jump == 0.0:
            search, fit, ended = self._step(stage, progress, keep)
            if not ended:  # faces between hands are told by nothing, and steps of them become no shorter
                fit = search.settled(search.followed(fit))
            if self._exact(search, fit, WITHIN if ended else SURELY):
                return self._result(search, fit, True, (), 0.0, stage.iterations + search.iterations)
            progress("no flat panels have the target as an equilibrium: the nearest ones are sought")
            stage = Stage(JUMPS[0], self._begin(JUMPS[0]), iterations=stage.iterations + search.iterations)
        while True:
            search, fit, ended = self._step(stage, progress, keep)
            trial = self._trial(search, fit, stage.jump, ended)
            trials, done = (*stage.trials, trial), stage.iterations + search.iterations
            chosen = _chosen(trials)
            best = Loop(fit, search.coned) if chosen is trial or stage.best is None else stage.best
            later = [jump for jump in JUMPS if jump < stage.jump]
            if not later or (ended and chosen is not None and trial.score > WORSE * chosen.score):
                break
            stage = Stage(later[0], Loop(fit) if ended else self._begin(later[0]), trials, best, done)
            keep(stage)
        if chosen is None:  # what is left is what the target unrolls to
            search, plain = self._search(0.0), self._begin(0.0).fit
            untold, far = np.full(len(self.names), np.inf), np.full(len(self.rest.start), np.inf)
            return FlatFit(search, plain, False, False, trials, 0.0, 0.0, untold, far, done)
        search = self._search(chosen.jump)
        search.coned = best.coned
        return self._result(search, best.fit, True, trials, chosen.jump, done)

    def _begin(self, jump: float) -> Loop:
        return Loop(self._search(jump).begin(self.rest.start))

    def _step(self, stage: Stage, progress: Progress, keep: Callable[[Stage], None]) -> tuple[Search, Fit, bool]:
        search = self._search(stage.jump)

        def kept(loop: Loop) -> None:
            keep(stage._replace(loop=loop, iterations=stage.iterations + search.iterations))

        what = f"jumps of {stage.jump:g}: " if stage.jump else ""
        fit, ended = search.go_on(stage.loop, lambda said: progress(what + said), kept)
        if stage.jump and ended:  # steps are short, but a membrane makes forces of them
            fit = search.settled(fit)
            ended = search.balanced(fit, 0)
        return search, fit, ended

    def _search(self, jump: float) -> Search:
        """The search with jumps of strain of this size; 0: exact."""
        if jump == 0.0:
            return Search([self.view], self.model, self.density, self.names, self.rest, 0.0)
        error = SUPPOSED * self.size if self.noise is None else self.noise
        last = PRECISE * error * float(np.sqrt(self.view.mesh.vertices.size)) / self.size
        return Search([self.view], self.model, self.density, self.names, self.rest, KEPT, (error / jump) ** 2, last)

    def _exact(self, search: Search, fit: Fit, within: float) -> bool:
        off = self._off(search, fit)
        return bool(np.sqrt(np.mean(off**2)) <= within * self.size and search.balanced(fit, 0))

    def _trial(self, search: Search, fit: Fit, jump: float, ended: bool) -> Trial:
        system, off = search.linearised(fit), self._off(search, fit)
        m, followed = len(off), 0.0
        for signs in self._signs(search):
            followed += float(signs @ system.solve(_padded(signs, system))[: len(signs)]) / PROBES / m
        error = float(off @ off) / m
        return Trial(jump, float(np.sqrt(error)), followed, error / (1.0 - followed) ** 2, fit.logs, ended)

    def _result(
        self, search: Search, fit: Fit, ended: bool, trials: tuple[Trial, ...], jump: float, iterations: int
    ) -> FlatFit:
        system = search.linearised(fit)
        m, at = system.places, system.places + system.coordinates
        chosen = next((t for t in trials if t.jump == jump), None)
        noise = 0.0 if chosen is None else chosen.error / float(np.sqrt(max(1.0 - chosen.followed, 1e-9)))
        error = max(noise, self.noise or 0.0)
        relative = []
        for k in range(system.logs):
            unit = np.zeros(system.matrix.shape[0])
            unit[at + k] = 1.0
            relative.append(error * float(np.sqrt(max(system.solve(unit)[at + k], 0.0))))
        spread = np.zeros(fit.points.size)
        for signs in self._signs(search) if error > 0.0 else ():
            spread += (self.rest.basis @ system.solve(_padded(signs, system))[m:at]) ** 2 / PROBES
        points = error * np.sqrt(spread.reshape(-1, 3)[:, :2].sum(axis=1) / 2.0)
        exact = not trials
        return FlatFit(search, fit, ended, exact, trials, jump, noise, np.array(relative), points, iterations)

    def _off(self, search: Search, fit: Fit) -> FloatArray:
        """(m,) m: coordinates that were given and are free, off the target."""
        off = (fit.positions[0] - self.view.mesh.vertices).ravel()[search.free[0]]
        return np.asarray(off[search.seen[0] > 0.0])

    def _signs(self, search: Search) -> FloatArray:
        """(PROBES, free) random signs of what was given."""
        signs = np.random.default_rng(SEED).choice([-1.0, 1.0], (PROBES, len(search.seen[0])))
        return np.asarray(signs * search.seen[0])


def _chosen(trials: Sequence[Trial]) -> Trial | None:
    """Of those that came to an end, from uneven to even: the first, and a later one only if it is clearly better."""
    best: Trial | None = None
    for trial in trials:
        if trial.ended and (best is None or EQUAL * trial.score < best.score):
            best = trial
    return best


def _padded(right: FloatArray, system: Linearised) -> FloatArray:
    """A right-hand side of positions alone."""
    return np.concatenate([right, np.zeros(system.matrix.shape[0] - len(right))])
