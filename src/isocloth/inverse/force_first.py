"""Force first: choose the forces of hands and obstacles, then find the rest shape that asks for just these.

At the target x the forces F(X) of a cloth depend on its rest shape alone (`rest_forces.py`). Nodes that nothing touches
need F = 0; at the others F is what their supports push with. Rest shapes have 3n - 6 degrees of freedom, up to rigid
motions, and so has F beside the six balances of force and torque: once admissible forces that carry the weight are
chosen (`balance.py`), F(X) = B r is a square system, and Newton's method solves it in a few steps. The weight depends
on X through the masses; six multipliers of rigid modes absorb that, and forces are chosen again.

The target is a stable equilibrium if dF/dx is positive definite over the nodes that nothing touches. Where Newton's
method fails, or the target is unstable, gravity grows in smaller steps; where it cannot grow any further, the material
is too soft for this target.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.sparse.linalg import splu

from isocloth.base.typing import FloatArray
from isocloth.inverse.balance import Cones, balanced, outside
from isocloth.inverse.carried import Carried
from isocloth.inverse.rest_forces import RestForces
from isocloth.inverse.square_system import rigid_modes, square_system
from isocloth.inverse.supports import Supports

#: part of the friction that forces may use in the end, where less is aimed at
USABLE = 0.975
#: imbalance, of the weight, of forces that carry it
CARRIED = 1e-9
#: N per newton of weight: the residual to which the rest shape is found, and on the way to it; never below so many
#: times the rounding of forces
SOLVED, ROUGHLY, ROUNDING = 1e-11, 1e-4, 1.0
#: steps of Newton's method, its longest one, of the size of the cloth, and the shortest part of one that is tried
STEPS, LONGEST, SHORTEST = 25, 0.05, 0.02
#: how often forces are chosen at one load, and the smallest step of the load
CHOICES, SMALLEST = 8, 0.01
#: area of a face at rest, of that in the target, below which a step is not taken: the face would fold over
LEAST_AREA = 0.05

Progress = Callable[[str], None]


class Found(NamedTuple):
    """What came of it; the target is stable at every load that was reached.

    points: (n, 3) m, the rest shape at the load that was reached.
    load: in 0 .. 1, of gravity.
    forces: (k, 3) N, of the supports.
    iterations: linear systems solved.
    carried: whether there are forces in the cones that carry the weight.
    residual: N, of the free nodes and of what supports push with.
    """

    points: FloatArray
    load: float
    forces: FloatArray
    iterations: int
    carried: bool
    residual: float


class Stage(NamedTuple):
    """pinned: forces are first chosen as if contacts were pinned at rest. whole: all of gravity is tried at once."""

    pinned: bool
    whole: bool


#: one after the other, until one reaches all of gravity
STAGES = (Stage(True, True), Stage(False, True), Stage(True, False), Stage(False, False))


class Loop(NamedTuple):
    """Where the growth of gravity is: all that its next step depends on.

    stage: of `STAGES`.
    found, before: of this stage, at the last load that was reached, and at the one before it.
    step: of the load, that is tried next; easy: whether the last one was taken.
    best: of the stages before.
    iterations: linear systems solved so far.
    over: whether there is no next step.
    """

    stage: int
    found: Found
    before: Found
    step: float
    easy: bool
    best: Found
    iterations: int
    over: bool


def forgotten(loop: Loop) -> None:
    """What is done with a `Loop` that nobody keeps."""


class ForceFirst(Carried):
    """The search for one target."""

    def __init__(self, forces: RestForces, supports: Supports, margin: float) -> None:
        """margin: part of the friction inside which forces are aimed."""
        super().__init__(forces, supports)
        self.margin, n = margin, self.n
        self.rigid = rigid_modes(forces.positions, forces.target.piece)
        self.balance = np.asarray((self.spread.T @ self.rigid).T)  # (6p, 3k)
        self.square = square_system(self.rigid, self.spread, supports, forces.target.piece)
        self.total = float(forces.weight(forces.positions).sum()) or 1.0
        size = float(np.ptp(forces.positions, axis=0).max())
        self.longest = LONGEST * size
        self.areas = forces.shape(forces.positions).areas
        #: N, of all forces together, each a sum of stiffnesses times lengths
        stiffest = float(abs(forces.derivative(forces.positions)).max())
        self.rounding = ROUNDING * np.finfo(np.float64).eps * stiffest * size * float(np.sqrt(3 * n))
        self.iterations = 0

    # ------------------------------------------------------------------- forces

    def wish(self, pinned: bool) -> FloatArray:
        """(k, 3) N that supports would like to push with: as if rest contacts were pinned, or each its own weight."""
        x = self.forces.positions
        if pinned:
            force, slope = self.forces(x).ravel(), self.forces.derivative(x)
            change = np.zeros(3 * self.n)
            try:
                change[self.free] = splu(slope[self.free][:, self.free].tocsc()).solve(-force[self.free])
            except RuntimeError:  # singular: the pinned nodes do not hold the rest shape
                return self.wish(False)
            nodal = force + slope @ change
        else:
            nodal = np.zeros(3 * self.n)
            nodal[2::3] = self.forces.weight(x)
        return self.at_supports(nodal)

    def choose(self, wanted: FloatArray, points: FloatArray, load: float) -> tuple[FloatArray, bool]:
        """Forces (k, 3) in the cones that carry the weight of a rest shape; whether there are any."""
        weight = np.zeros(3 * self.n)
        weight[2::3] = self.forces.weight(points, load)
        right, cones = self.rigid.T @ weight, self.supports.cones
        for part in (self.margin, 0.5 * (self.margin + USABLE), USABLE):
            aimed = Cones(cones.normal, part * cones.friction, load * cones.least)
            found, off = balanced(wanted, aimed, self.balance, right)
            if off < CARRIED:
                return found, True
        return found, False

    # ------------------------------------------------------------------- rest shape

    def newton(self, points: FloatArray, wanted: FloatArray, load: float, tolerance: float) -> tuple[FloatArray, float]:
        """The rest shape whose forces are the wanted ones, up to what absorbs the change of the weight; residual, N."""
        aim = self.spread @ wanted.ravel()
        points, absorbed, square = points.copy(), np.zeros(self.square.absorb.shape[1]), self.square

        def residual_at(points: FloatArray, absorbed: FloatArray) -> FloatArray:
            off = np.asarray(self.forces(points, load).ravel() - aim - square.absorb @ absorbed)
            off[square.borne] = 0.0
            return off

        residual = residual_at(points, absorbed)
        size = float(np.linalg.norm(residual))
        for _ in range(STEPS):
            if size <= tolerance:
                break
            factor = square.factorised(self.forces.derivative(points, load))
            if factor is None:
                break
            self.iterations += 1
            change, more = factor.step(residual)
            length = float(np.linalg.norm(change))
            if not np.isfinite(length):
                break
            share = min(1.0, self.longest / float(np.abs(change).max(initial=1e-300)))
            while share >= SHORTEST:
                tried = points + share * change.reshape(-1, 3)
                if not self.folded(tried):
                    found = residual_at(tried, absorbed + share * more)
                    now = float(np.linalg.norm(found))
                    # not the residual but the next step must become shorter: a membrane is so stiff that forces grow
                    # where a plate turns by a small angle, and yet come closer
                    if now <= tolerance or float(np.linalg.norm(factor.step(found)[0])) < (1.0 - 0.25 * share) * length:
                        break
                share *= 0.5
            else:
                break
            points, absorbed, residual, size = tried, absorbed + share * more, found, now
        return points, size

    def folded(self, points: FloatArray) -> bool:
        """Whether a face of a rest shape has all but vanished."""
        return bool((self.forces.shape(points).areas < LEAST_AREA * self.areas).any())

    # ------------------------------------------------------------------- load

    def start(self) -> Loop:
        """Where nothing has been tried."""
        return self._entered(0, None)

    def run(self, progress: Progress, loop: Loop, keep: Callable[[Loop], None] = forgotten) -> Found:
        """All of gravity at once, with either wish; where neither leads to a rest shape, gravity grows in steps.

        It goes on from a loop that was begun, and hands every step of it, taken or not, to `keep`.
        """
        self.iterations = loop.iterations
        while not loop.over:
            loop = self._stepped(progress, loop)
            keep(loop)
        found = loop.best if loop.found.carried else loop.found
        return found._replace(iterations=self.iterations)

    def _entered(self, stage: int, best: Found | None) -> Loop:
        """The begin of a stage, at no load with forces that carry all of the weight; over if there are none."""
        pinned, whole = STAGES[stage]
        points = self.forces.positions.copy()
        forces, carried = self.choose(self.wish(pinned), points, 1.0)
        begin = Found(points, 0.0, forces, 0, carried, np.inf)
        return Loop(stage, begin, begin, 1.0 if whole else 0.5, False, best or begin, self.iterations, not carried)

    def _stepped(self, progress: Progress, loop: Loop) -> Loop:
        """One step of the load; one that was refused is tried longer only after two that were not."""
        load = min(1.0, loop.found.load + loop.step)
        tried = self._at(loop.found, loop.before, load)
        progress(f"load {load:.3f}: {'reached' if tried else 'not reached'}, {self.iterations} linear systems")
        if tried is None:
            now = loop._replace(step=0.5 * loop.step, easy=False)
        else:
            longer = 2.0 * loop.step if loop.easy else loop.step
            now = loop._replace(found=tried, before=loop.found, step=longer, easy=True)
        now = now._replace(iterations=self.iterations)
        reached = now.found.load == 1.0
        if not reached and not STAGES[loop.stage].whole and now.step >= SMALLEST:
            return now
        best = now.found if now.found.load > loop.best.load else loop.best
        if reached or loop.stage == len(STAGES) - 1:
            return now._replace(best=best, over=True)
        return self._entered(loop.stage + 1, best)

    def _at(self, found: Found, before: Found, load: float) -> Found | None:
        """The rest shape at a larger load in which the target is stable, or None."""
        points = found.points
        if found.load > before.load:
            ahead = found.points + (found.points - before.points) * (load - found.load) / (found.load - before.load)
            points = found.points if self.folded(ahead) else ahead
        forces = found.forces * (load / found.load if found.load > 0.0 else load)
        tried = self.balanced(points, forces, load)
        return tried if tried is not None and self.stable(tried.points) else None

    def balanced(self, points: FloatArray, forces: FloatArray, load: float) -> Found | None:
        """From a rest shape nearby and wanted forces (k, 3) to one that asks for admissible forces, stable or not."""
        last = load == 1.0
        tolerance = max((SOLVED if last else ROUGHLY) * self.total, self.rounding)
        for _ in range(CHOICES):
            points, residual = self.newton(points, forces, load, tolerance)
            if residual > tolerance:
                return None
            now = self.at_supports(self.forces(points, load).ravel(), forces)
            out = outside(self.supports.cones, now, USABLE).max(initial=0.0) if last else 0.0
            if out <= 1e-12 * self.total:
                return Found(points, load, now, self.iterations, True, residual)
            forces, carried = self.choose(now, points, load)
            if not carried:
                return None
        return None
