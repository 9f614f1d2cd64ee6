"""One rest shape, and stiffnesses, for several poses: the nearest equilibria that one cloth can have.

At positions x_a the forces of pose a depend on the rest shape X and on the logarithms q of stiffnesses. Sought are

    min  sum_a |x_a - p_a|^2 / 2 + m |X - X_0|^2 / 2 + c(r)    so that    F_a(x_a, X, q) = B_a r_a

with p_a the poses as given, x_a = p_a where a body or a hand touches, and r_a the forces of bodies (hands bear any). c
is half the squared distance of r from the cones of friction, in units of a stiffness. For poses that are exact the
minimum is zero: all of them are equilibria of one X. Two poses have twice as many equations as X has unknowns, so that
stiffnesses are determined too; only their ratios to the density are, as all forces may be scaled.

A step linearises the forces (dF/dx = K, dF/d(X, q) = J) and solves for the change of all unknowns and for the
multipliers of the equations, in one sparse symmetric system:

    [ 1   0   K^T ] [ dx ]   [ p - x          ]
    [ 0   m   J^T ] [ dz ] = [ m (X_0 - X)    ]
    [ K   J   0   ] [ y  ]   [ -F + B r       ]

which is the method of Gauss and Newton with constraints (Bock). Lengths of seams are equations of the rest shape alone
(`rest_coordinates.py`), and unevenness of strain costs (`strain_smoothness.py`): rows and a block more. The density may
be among q. Steps are shortened until the next one, by the same matrix, is shorter: forces themselves are no measure, as
a membrane is so much stiffer than its bends. What is measured where poses do not fit each other is positions too,
because forces magnify their errors. Then m is not small: a rest shape that may go anywhere follows errors, and not the
cloth.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from isocloth.base.typing import BoolArray, FloatArray
from isocloth.inverse.balance import Cones, outside, project
from isocloth.inverse.rest_coordinates import RestCoordinates
from isocloth.inverse.rest_forces import RestForces
from isocloth.inverse.strain_smoothness import StrainSmoothness
from isocloth.inverse.supports import HAND, Supports
from isocloth.meshes import Mesh
from isocloth.models import Shell
from isocloth.sparse.inertia import negative_pivots, symmetric_factor
from isocloth.statics.touching import CONE

#: weight m of a step of the rest shape, for poses that fit: which of many rest shapes, where there are many
LOOSE = 1e-12
#: part of the size of the cloth that a logarithm of a stiffness counts as, where the rest shape is kept near its start
COUNTS = 0.1
#: steps, the longest one, of the size of the cloth, and of a logarithm, and the shortest part of one that is tried
STEPS, LONGEST, FARTHEST, SHORTEST = 60, 0.05, 1.0, 0.005
#: of the size of the cloth: the length of a last step, and of one where poses do not fit each other
LAST, LAST_KEPT = 1e-12, 1e-6
#: steps in a row which do not become shorter, and then it ends; and where errors make steps shorter only slowly
IDLE, IDLE_KEPT = 6, 15
#: of the weight, and of the largest stiffness times the size of the cloth: a force that counts as balanced. The second
#: is what rounding of positions leaves, 2^-52 of it, with room for sums; most cloths are so soft that it is the smaller
BALANCED, ROUNDED = 1e-9, 1e-14


#: steps of Newton's method after which forces balance, or never
SETTLING = 12


class View(NamedTuple):
    """A pose, turned so that gravity is along -z. mesh: as given; gravity: m/s^2; supports: what carries it.

    loose: whether hands are only near where the mesh has them, as all else is.
    seen: (n,) which nodes were given, the others only follow; None: all.
    """

    mesh: Mesh
    gravity: float
    supports: Supports
    loose: bool = False
    seen: BoolArray | None = None


class Fit(NamedTuple):
    """What is sought: points (p, 3) m of the rest shape, logs (q,) of stiffnesses over those of the model, positions
    (n, 3) m of every pose, and forces (k, 3) N of its bodies."""

    points: FloatArray
    logs: FloatArray
    positions: tuple[FloatArray, ...]
    pushes: tuple[FloatArray, ...]


class Loop(NamedTuple):
    """Where a search is: after some steps, with friction minded or not; best: m, shortest step so far; idle: steps in a
    row that were hardly shorter; begin: where it began, if that was elsewhere."""

    fit: Fit
    coned: bool = False
    best: float = np.inf
    idle: int = 0
    steps: int = 0
    begin: Fit | None = None


Keep = Callable[[Loop], None]


class Search:
    """The search for one set of poses, with some stiffnesses unknown."""

    def __init__(
        self, views: Sequence[View], model: Shell, density: float, names: Sequence[str], rest: RestCoordinates,
        kept: float, smooth: float = 0.0, last: float | None = None,
    ) -> None:  # fmt: skip
        """names: of the model's stiffnesses that are sought, and "density"; kept: m, 0 of poses that should fit;
        smooth: m^2, weight of the unevenness of strain, of flat panels; last: length of a last step, of the size of the
        cloth; None: as poses that fit, or do not, ask for."""
        self.views, self.model, self.density, self.names = tuple(views), model, density, tuple(names)
        self.rest, self.kept, self.iterations = rest, kept, 0
        exact = kept == 0.0 and smooth == 0.0
        self.last = (LAST if exact else LAST_KEPT) if last is None else last
        self.idle = IDLE if smooth == 0.0 else IDLE_KEPT
        self.coned, self.smooth = False, smooth
        self.unevenness = StrainSmoothness(views[0].mesh, rest.corners) if smooth > 0.0 else None
        mesh, start = views[0].mesh, rest.start
        n = self.n = mesh.n_vertices
        self.size = float(np.ptp(start, axis=0).max())
        self.rows, self.free, self.seen, self.moving, self.bodies, self.spread = [], [], [], [], [], []
        for view in views:
            s = view.supports
            hand = s.body == HAND
            every = np.ones(3 * n, dtype=np.bool_)
            every[(3 * s.nodes[hand, :1] + np.arange(3)).ravel()] = False
            touched: BoolArray = np.zeros(3 * n, dtype=np.bool_)
            touched[np.unique(s.spread(n).nonzero()[0])] = True
            self.moving.append(np.flatnonzero(~touched))
            touched &= every | (not view.loose)
            own = Supports(s.nodes[~hand], s.weights[~hand], Cones(*(c[~hand] for c in s.cones)), s.body[~hand],
                           s.gap[~hand])  # fmt: skip
            self.rows.append(np.flatnonzero(every))
            self.free.append(np.flatnonzero(~touched))
            seen = np.ones(n, dtype=np.bool_) if view.seen is None else view.seen
            self.seen.append(np.repeat(seen, 3)[self.free[-1]].astype(np.float64))
            self.bodies.append(own)
            self.spread.append(own.spread(n))
        weights = [self._forces(a, v.mesh.vertices, np.zeros(len(self.names))).weight(start).sum()
                   for a, v in enumerate(views)]  # fmt: skip
        self.total = float(max(weights))

    # ------------------------------------------------------------------- forces

    def model_at(self, logs: FloatArray) -> Shell:
        """The model with stiffnesses exp(logs) times its own."""
        own = {name: getattr(self.model, name) * float(np.exp(q))
               for name, q in zip(self.names, logs, strict=True) if name != "density"}  # fmt: skip
        return replace(self.model, **own) if own else self.model

    def density_at(self, logs: FloatArray) -> float:
        """kg/m^2, exp(log) times the one it began with, or the one that is known."""
        known = "density" not in self.names
        return self.density if known else self.density * float(np.exp(logs[self.names.index("density")]))

    def _forces(self, a: int, x: FloatArray, logs: FloatArray) -> RestForces:
        view = self.views[a]
        return RestForces(
            view.mesh.with_vertices(x), self.model_at(logs), self.density_at(logs), view.gravity, self.rest.corners
        )  # fmt: skip

    def forces(self, fit: Fit, a: int) -> FloatArray:
        """(n, 3) N of pose a, with which its supports push."""
        return self._forces(a, fit.positions[a], fit.logs)(fit.points)

    def unbalanced(self, fit: Fit, a: int) -> FloatArray:
        """(3n,) N of pose a: what neither hands nor the forces of bodies bear."""
        left = np.zeros(3 * self.n)
        every = self.forces(fit, a).ravel() - self.spread[a] @ fit.pushes[a].ravel()
        left[self.rows[a]] = every[self.rows[a]]
        return left

    def stiffness(self, fit: Fit, a: int) -> sp.csc_matrix:
        """dF/dx of pose a over the coordinates that nothing touches, N/m."""
        whole = self._forces(a, fit.positions[a], fit.logs).stiffness(fit.points)
        return whole[self.moving[a]][:, self.moving[a]].tocsc()

    def stable(self, fit: Fit, a: int) -> bool:
        """Whether pose a comes back after a small push."""
        return negative_pivots(symmetric_factor(self.stiffness(fit, a))) == 0

    def balanced(self, fit: Fit, a: int) -> bool:
        """Whether the positions of pose a are an equilibrium, with forces in the cones of friction."""
        stiffness, left = float(abs(self.stiffness(fit, a)).max()), float(np.abs(self.unbalanced(fit, a)).max())
        return left <= max(BALANCED * self.total, ROUNDED * stiffness * self.size) and not self.slips(fit, a)

    def slips(self, fit: Fit, a: int) -> bool:
        """Whether a force of a body is out of its cone by more than `ic.equilibrium` lets it be."""
        pushes = fit.pushes[a]
        out = outside(self.bodies[a].cones, pushes).max(initial=0.0)
        return bool(out > CONE * np.linalg.norm(pushes, axis=1).max(initial=0.0))

    def _beyond(self, fit: Fit, a: int) -> tuple[FloatArray, FloatArray]:
        """Forces of bodies (k, 3) N less the nearest ones in their cones, and slopes; 0 if not `coned`."""
        r, slope = fit.pushes[a], np.empty((len(fit.pushes[a]), 3, 3))
        if not self.coned:
            return np.zeros_like(r), np.zeros_like(slope)
        near = np.empty_like(r)
        project(self.bodies[a].cones, np.ascontiguousarray(r), near, slope)
        return r - near, np.eye(3) - slope

    # ------------------------------------------------------------------- steps

    def linearised(self, fit: Fit) -> Linearised:
        """The system of a step, factorised."""
        stiff, slopes, cones = [], [], []
        for a, x in enumerate(fit.positions):
            forces = self._forces(a, x, fit.logs)
            own = [forces.density if name == "density" else getattr(forces.model, name) for name in self.names]
            rows = self.rows[a]
            stiff.append(forces.stiffness(fit.points)[rows][:, self.free[a]])
            stiffening = forces.parameter_derivative(fit.points, self.names) * np.array(own)
            slopes.append(sp.hstack([
                forces.derivative(fit.points)[rows] @ self.rest.basis, sp.csr_matrix(stiffening[rows])
            ]))  # fmt: skip
            off = self._beyond(fit, a)[1]
            cones.append(off @ off.transpose(0, 2, 1))
        scale = float(max(abs(k).max() for k in stiff))
        loads = sp.block_diag([b[rows] for b, rows in zip(self.spread, self.rows, strict=True)])
        coordinates = len(self.rest.columns)
        kept = np.full(coordinates + len(self.names), max(self.kept, LOOSE))
        kept[coordinates:] *= (COUNTS * self.size) ** 2
        blocks = np.concatenate(cones)
        curved = sp.block_diag(list(blocks)) if len(blocks) else sp.csr_matrix((0, 0))
        k, j = sp.block_diag(stiff) / scale, sp.vstack(slopes) / scale
        lone = sp.diags(np.concatenate([*self.seen, kept, np.full(loads.shape[1], LOOSE)]))
        places = k.shape[1] + coordinates + len(self.names)
        even = self._even_slope(fit)
        corner = sp.block_diag(
            [self.smooth * (even.T @ even) if even is not None else sp.csr_matrix((places, places)), curved]
        )
        before = sp.csr_matrix((len(self.rest.pairs), k.shape[1]))
        after = sp.csr_matrix((len(self.rest.pairs), len(self.names) + loads.shape[1]))
        seams = sp.hstack([before, self.rest.slope(fit.points), after])
        equations = sp.vstack([sp.hstack([k, j, -loads]), seams])
        whole: list[list[Any]] = [[lone + corner, equations.T], [equations, None]]
        matrix = sp.csc_matrix(sp.bmat(whole, format="csc"))
        self.iterations += 1
        return Linearised(matrix, splu(matrix), scale, k.shape[1], coordinates, len(self.names))

    def right(self, fit: Fit, system: Linearised) -> FloatArray:
        """The right-hand side of a step."""
        away = [seen * (v.mesh.vertices - x).ravel()[free]
                for v, x, free, seen in zip(self.views, fit.positions, self.free, self.seen, strict=True)]  # fmt: skip
        back = np.zeros(system.coordinates + system.logs)
        rest = self.rest
        back[: system.coordinates] = self.kept * (rest.start - fit.points).ravel()[rest.columns]
        even = self._even_slope(fit)
        beyond = []
        for a in range(len(self.views)):
            off, slope = self._beyond(fit, a)
            beyond.append(-(slope @ off[:, :, None]).ravel() / system.scale)
        left = [-self.unbalanced(fit, a)[rows] / system.scale for a, rows in enumerate(self.rows)]
        lone = np.concatenate([*away, back])
        if even is not None:
            lone -= self.smooth * (even.T @ self._uneven(fit))
        return np.concatenate([lone, *beyond, *left, -rest.gaps(fit.points)])

    def _uneven(self, fit: Fit) -> FloatArray:
        """Jumps of strain in all poses."""
        assert self.unevenness is not None
        return np.concatenate([self.unevenness(x, fit.points) for x in fit.positions])

    def _even_slope(self, fit: Fit) -> sp.csr_matrix | None:
        """Derivative of the jumps of strain in free positions, coordinates at rest and logarithms."""
        if self.unevenness is None:
            return None
        by_x, by_points = [], []
        for x, free in zip(fit.positions, self.free, strict=True):
            one, other = self.unevenness.derivatives(x, fit.points)
            by_x.append(one[:, free])
            by_points.append(other @ self.rest.basis)
        points = sp.vstack(by_points)
        return sp.csr_matrix(
            sp.hstack([sp.block_diag(by_x), points, sp.csr_matrix((points.shape[0], len(self.names)))])
        )

    def moved(self, fit: Fit, system: Linearised, step: FloatArray, share: float) -> Fit:
        """After a part of a step."""
        at = system.places
        points = fit.points + share * (self.rest.basis @ step[at : at + system.coordinates]).reshape(-1, 3)
        at += system.coordinates
        logs = fit.logs + share * step[at : at + system.logs]
        at += system.logs
        positions, pushes, place = [], [], 0
        for x, free, r in zip(fit.positions, self.free, fit.pushes, strict=True):
            x = x.copy()
            x.ravel()[free] += share * step[place : place + len(free)]
            place += len(free)
            pushes.append(r + share * system.scale * step[at : at + r.size].reshape(-1, 3))
            at += r.size
            positions.append(x)
        return Fit(points, logs, tuple(positions), tuple(pushes))

    def begin(self, points: FloatArray, logs: FloatArray | None = None) -> Fit:
        """The poses as given, and the forces of bodies that a rest shape (n, 3) asks for there."""
        chosen = np.zeros(len(self.names)) if logs is None else logs
        positions = tuple(view.mesh.vertices.copy() for view in self.views)
        return self.pushed(Fit(points, chosen, positions, ()))

    def pushed(self, fit: Fit) -> Fit:
        """The same with the forces of bodies that the rest shape asks for there, in the cones or not."""
        pushes = []
        for a, b in enumerate(self.spread):
            matrix = (b.T @ b + LOOSE * sp.identity(b.shape[1])).tocsc()
            force = self.forces(fit, a).ravel()
            pushes.append(splu(matrix).solve(b.T @ force).reshape(-1, 3) if b.shape[1] else np.zeros((0, 3)))
        return fit._replace(pushes=tuple(pushes))

    def settled(self, fit: Fit) -> Fit:
        """With rest shape and logarithms as they are, the equilibria nearby, by Newton's method alone."""
        positions = []
        for a, (x, moving) in enumerate(zip(fit.positions, self.moving, strict=True)):
            x = x.copy()
            for _ in range(SETTLING):
                here = fit._replace(positions=(*fit.positions[:a], x, *fit.positions[a + 1 :]))
                left = self.forces(here, a).ravel()[moving]
                if np.abs(left).max(initial=0.0) <= 0.1 * BALANCED * self.total:
                    break
                x.ravel()[moving] -= splu(self.stiffness(here, a)).solve(left)
            positions.append(x)
        return self.pushed(fit._replace(positions=tuple(positions)))

    def followed(self, fit: Fit) -> Fit:
        """After whole steps, as long as what poses see of them, positions and logarithms, becomes shorter.

        Points of the rest shape that nothing tells wander on slowly meanwhile, so that steps as such do not.
        """
        system = self.linearised(fit)
        step = system.solve(self.right(fit, system))
        for _ in range(SETTLING):
            tried = self.moved(fit, system, step, 1.0)
            if self.rest.folded(tried.points):
                break
            after = self.linearised(tried)
            ahead = after.solve(self.right(tried, after))
            if not after.seen(ahead) < 0.5 * system.seen(step):
                break
            fit, system, step = tried, after, ahead
        return fit

    def run(self, fit: Fit, progress: Callable[[str], None], keep: Keep | None = None) -> tuple[Fit, bool]:
        """The nearest equilibria from a start, and whether steps have come to an end.

        First bodies bear any force, as hands do; only where that takes some out of their cones, these are minded.
        """
        return self.go_on(Loop(fit), progress, keep)

    def go_on(self, loop: Loop, progress: Callable[[str], None], keep: Keep | None = None) -> tuple[Fit, bool]:
        """`run` from any step of it, with the same end; keep: is given the loop after every step."""
        first, ended = loop.begin or loop.fit, False
        if not loop.coned:
            self.coned = False
            found, ended = self._steps(loop, progress, keep)
            if not any(self.slips(found, a) for a in range(len(self.views))):
                return found, ended
            progress("forces are out of the cones of friction")
            loop = Loop(found if ended else first, coned=True)
        self.coned = True
        return self._steps(loop, progress, keep)

    def _steps(self, loop: Loop, progress: Callable[[str], None], keep: Keep | None) -> tuple[Fit, bool]:
        last = self.last * self.size
        fit, best, idle = loop.fit, loop.best, loop.idle
        for number in range(loop.steps, STEPS):
            try:
                system = self.linearised(fit)
            except RuntimeError:  # singular
                return fit, False
            step = system.solve(self.right(fit, system))
            length = system.length(step)
            if not np.isfinite(length):
                return fit, False
            largest, turn = system.largest(step)
            share = min(1.0, LONGEST * self.size / max(largest, 1e-300), FARTHEST / max(turn, 1e-300))
            while share >= SHORTEST:
                tried = self.moved(fit, system, step, share)
                if not self.rest.folded(tried.points):
                    ahead = system.solve(self.right(tried, system))
                    then = system.length(ahead)
                    if then <= last or then < (1.0 - 0.25 * share) * length:
                        break
                share *= 0.5
            else:
                progress(f"step {length:.1e} m could not be shortened")
                return fit, length <= (1e3 if self.smooth == 0.0 else 2.0) * last
            fit = tried
            known = f", {', '.join(self.names)} x {np.exp(fit.logs)}" if self.names else ""
            progress(f"step {length:.1e} m, {share:.3g} of it taken{known}")
            if then <= last:  # the last step is known and taken: a membrane makes forces of a tiny one
                return self.moved(fit, system, ahead, 1.0), True
            idle = idle + 1 if then > 0.7 * best else 0
            best = min(best, then)
            if keep is not None:
                keep(Loop(fit, loop.coned, best, idle, number + 1, loop.begin or loop.fit))
            if idle > self.idle:
                return fit, False
        return fit, False


class Linearised(NamedTuple):
    """A step's matrix and factor. scale: N/m, by which equations are divided; places, coordinates, logs: numbers of
    unknown positions, coordinates of the rest shape and stiffnesses, in this order; forces and multipliers follow."""

    matrix: sp.csc_matrix
    factor: Any
    scale: float
    places: int
    coordinates: int
    logs: int

    def solve(self, right: FloatArray) -> FloatArray:
        """A solution, refined once."""
        found = self.factor.solve(right)
        return np.asarray(found + self.factor.solve(right - self.matrix @ found))

    def length(self, step: FloatArray) -> float:
        """m: of positions and rest shape; a logarithm counts as its change of a metre, which is strict."""
        return float(np.linalg.norm(step[: self.places + self.coordinates + self.logs]))

    def seen(self, step: FloatArray) -> float:
        """m: of positions and logarithms alone."""
        end = self.places + self.coordinates
        return float(np.hypot(np.linalg.norm(step[: self.places]), np.linalg.norm(step[end : end + self.logs])))

    def largest(self, step: FloatArray) -> tuple[float, float]:
        """The largest change of a coordinate at rest, m, and of a logarithm."""
        rest = step[self.places : self.places + self.coordinates]
        logs = step[self.places + self.coordinates : self.places + self.coordinates + self.logs]
        return float(np.abs(rest).max(initial=0.0)), float(np.abs(logs).max(initial=0.0))
