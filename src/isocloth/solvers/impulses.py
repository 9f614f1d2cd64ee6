"""Impulses that keep particles at their distances (Bender, Diziol and Bayer, locking-free triangle meshes, 2011).

A step from t to t + h, with J the gradients of all constraints and A = J M^-1 J^T:

1. preview: v' = v + h F/m and x' = x + h (v + v')/2, bending and damping implicit;
2. position impulses: while a distance is off by C(x'), A p = C/h and x' -= h M^-1 J^T p, with J in the middle between x
   and x'. The paper takes J at time t; in the middle it is a discrete gradient: the difference of a squared distance is
   exactly |r'|^2 - |r|^2 = (r' + r) . (r' - r), so what links turn by in the step is no error of the linearisation;
   then v' -= M^-1 J^T p with J at time t (d'Alembert), without which turning links would be braked;
3. what touches is pushed out (by the caller);
4. velocity impulses: A p = J v' with J at the end, after which no distance changes.

A node of the mesh that is held is a constraint like the others, linear in the particles: B x = target, along three
directions, of which some may be let loose. Its impulses, divided by h, are the force that holds it.

Where a state leaves constraints dependent, as a flat sheet does, A is singular, and near such a state A hardly resists
some directions across the sheet: a link of length d in a sheet of slope s gives way by C/s there, but stretches by
(C/s)^2/2d on the way, which is more than it should undo if s^2 < C/2d. So the diagonal of A, 1 in these units,
is raised by a part of C/d, as Levenberg and Marquardt do: it stops what is too far, and vanishes with the error, so
repetitions with new gradients still converge quadratically. Those with the gradients that are there come first.
"""

from __future__ import annotations

import itertools
import time
from collections import deque
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from isocloth.base.compiled import kernel
from isocloth.base.memo import memoised
from isocloth.base.typing import BoolArray, FloatArray, IntArray
from isocloth.fabric import Fabric
from isocloth.sparse.cholesky import factorise, solve
from isocloth.sparse.dissection import LEAF, dissect_quickly
from isocloth.sparse.factor import Factor
from isocloth.sparse.fronts import Fronts
from isocloth.sparse.pattern import pattern_of
from isocloth.sparse.symbolic import Symbolic, analyse
from isocloth.terms.aerodynamics import weight
from isocloth.terms.midpoints import Midpoints

#: part by which the diagonal of A is raised: for velocities, which are projected whatever A is; and for the first
#: position impulses, whose errors are not known before
LEAST, FIRST = 1e-8, 1e-4
#: of later position impulses it is this times their largest error, relative to the length of a link; ten times as much
#: after impulses that made the error larger
CAUTION = 0.3
#: factor of the diagonal of rows that hold nothing
LOOSE = 1e15
#: parts of the impulses that are tried, until one halves the error: across a flat sheet a long way stretches it
SHARES = (1.0, 0.5, 0.25)
#: solves go on down to this part of the tolerance as long as they gain: the weakest directions keep what is left of
#: their error, and the next step would begin at the brink
AIM = 0.3


class Links(NamedTuple):
    """Constraints, their gradients, and where products of these go in the factor."""

    pairs: IntArray  # (c, 2) particles at a fixed distance
    lengths: FloatArray  # (c,) m
    ptr: IntArray  # (r + 1,) row of J -> its slice of the following: c distances, then three rows of every held node
    particles: IntArray
    gradient: FloatArray  # (ptr[-1], 3)
    first: IntArray  # entries of J whose product ...
    second: IntArray
    place: IntArray  # ... is added here
    diagonal: IntArray  # (r,) places of the diagonal
    loose: BoolArray  # (r,) rows that hold nothing now
    mass: FloatArray  # (m,) kg


class Impulsive(NamedTuple):
    """End of a step before contact."""

    positions: FloatArray  # (m, 3) particles
    velocities: FloatArray
    impulses: FloatArray  # (r,) N s, position impulses so far
    solves: int
    error: float  # m, largest


class Impulses:
    """Steps of the particles of one cloth.

    `seconds` sums up the processor time of the phases; `free_solves` is how often positions were solved in each step or
    part of one, contact not counted.
    """

    name = "impulses"

    def __init__(self, midpoints: Midpoints, fabric: Fabric, gravity: float, tolerance: float, max_solves: int) -> None:
        self.midpoints, self.fabric = midpoints, fabric
        self.tolerance, self.max_solves = tolerance, max_solves
        self.mass = fabric.density * midpoints.area
        self.weight = weight(midpoints.area, fabric.weight_density, gravity)
        self.seconds = {"preview": 0.0, "factorisation": 0.0, "positions": 0.0, "velocities": 0.0}
        self.free_solves: deque[int] = deque(maxlen=10_000)
        self.held: IntArray = np.empty(0, dtype=np.int64)
        self._length = float(midpoints.lengths.mean())
        self._previews: dict[float, Any] = {}
        self.hold(self.held)

    def hold(self, nodes: IntArray) -> None:
        """Hold these nodes of the mesh from now on."""
        mid = self.midpoints
        self.held = nodes
        found = _analyse(mid.pairs, sp.csr_matrix(mid.to_nodes[nodes]), mid.points)
        self.factor = Factor(found.symbolic)
        self.rows = len(found.ptr) - 1
        self._errors = np.zeros(self.rows)
        # copied: a read-only array is another type for Numba, which would compile every kernel anew
        ptr, particles, first, second, place, diagonal = (part.copy() for part in found[:6])
        self._links = Links(
            mid.pairs, mid.lengths, ptr, particles, np.zeros((len(particles), 3)), first, second, place, diagonal,
            np.zeros(self.rows, dtype=bool), self.mass,
        )  # fmt: skip
        self._weights = found.weights
        self.turn(np.tile(np.eye(3), (len(nodes), 1, 1)), np.zeros((len(nodes), 3), dtype=bool))

    def turn(self, frames: FloatArray, loose: BoolArray) -> None:
        """Hold the nodes along the three rows of their frames (k, 3, 3), but for those that are loose (k, 3)."""
        self._frames, links = frames, self._links
        first = len(links.pairs)
        links.loose[first:] = loose.ravel()
        along = np.repeat(frames.reshape(-1, 3), np.diff(links.ptr[first:]), axis=0)
        links.gradient[2 * first :] = self._weights[:, None] * along

    def _along_frames(self, points: FloatArray) -> FloatArray:
        return np.einsum("kad,kd->ka", self._frames, points).ravel()

    def begin(
        self, x: FloatArray, v: FloatArray, h: float, target: FloatArray, push: FloatArray | None = None
    ) -> Impulsive:
        """Preview and position impulses; target (k, 3) m, of the held nodes at the end of the step; push (m, 3) N, of
        anything but weight, bending and damping."""
        start = time.thread_time()
        after = self._preview(x, v, h, push)
        preview = Impulsive(x + (h / 2) * (v + after), after, np.zeros(self.rows), 0, np.inf)
        self.seconds["preview"] += time.thread_time() - start
        self._factorise((x + preview.positions) / 2, FIRST)
        found = self.restore(preview, h, target)
        self.free_solves.append(found.solves)
        if found.solves == 0:
            return found
        return found._replace(velocities=after + _impelled_at(self._links, x, found.impulses))

    def restore(self, found: Impulsive, h: float, target: FloatArray, aim: float = 1.0) -> Impulsive:
        """Position impulses until the constraints hold: with the gradients of the last factorisation, else with new
        ones.

        `error` says how far they are off at the end, `solves` counts all repetitions. aim: part of the tolerance at
        which they end, or before if the tolerance is met and they gain little.
        """
        goal, wanted = self._along_frames(target), aim * self.tolerance
        best = found._replace(error=_off(self._links, goal, found.positions, self._errors))
        caution, solves = CAUTION, 0
        if not np.isfinite(best.error):
            return best
        while best.error > wanted and solves < self.max_solves:
            before = best.error
            new = self._repeat(best, h, goal)
            solves += 1
            better = new.error < before
            best = new if better else best
            if best.error <= wanted or (best.error <= self.tolerance and new.error > 0.7 * before):
                break
            # the same gradients gain the same factor once more; if that will not do, new ones
            if not better or 4.0 * best.error**2 > before * wanted:
                caution = caution if better else 10.0 * caution
                self._factorise(best.positions, caution * best.error / self._length)
            if not better:
                _off(self._links, goal, best.positions, self._errors)
        return best._replace(solves=found.solves + solves)

    def _repeat(self, found: Impulsive, h: float, goal: FloatArray) -> Impulsive:
        """One solve for the errors of the positions found, and as much of it as helps; leaves the new errors behind."""
        start = time.thread_time()
        change, p = _impelled(self._links, self.factor.fronts, h, self._errors)
        share, error, x = 0.0, np.inf, found.positions
        for tried in SHARES:
            there = found.positions + (tried * h) * change
            off = _off(self._links, goal, there, self._errors)
            if off >= error:
                _off(self._links, goal, x, self._errors)
                break
            share, error, x = tried, off, there
            if error <= 0.5 * found.error:
                break
        self.seconds["positions"] += time.thread_time() - start
        return Impulsive(x, found.velocities + share * change, found.impulses - share * p, found.solves, error)

    def finish(self, found: Impulsive, h: float, speed: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Velocities after the velocity impulses; speed (k, 3) m/s, of the held nodes; and the forces on these, N."""
        self._factorise(found.positions, LEAST)
        start = time.thread_time()
        after, impulses = found.velocities.copy(), found.impulses.copy()
        _keep_still(self._links, self.factor.fronts, self._along_frames(speed), after, impulses)
        self.seconds["velocities"] += time.thread_time() - start
        # impulses act on velocities that were damped already: a force had to be larger by what the damping takes
        force = (1.0 / h + self.fabric.damping / self.fabric.density) * impulses[len(self._links.pairs) :]
        return after, np.einsum("kad,ka->kd", self._frames, force.reshape(-1, 3))

    def _factorise(self, x: FloatArray, regularisation: float) -> None:
        start = time.thread_time()
        fronts = self.factor.fronts
        _assemble(self._links, x, regularisation, fronts.panel)
        factorise(fronts, np.zeros(self.rows))
        self.seconds["factorisation"] += time.thread_time() - start

    def _preview(self, x: FloatArray, v: FloatArray, h: float, extra: FloatArray | None = None) -> FloatArray:
        """Velocities of particles that nothing holds: (1 + h alpha/rho) m v' + h (h kappa + beta) K v' = m v + ..."""
        f, stiffness = self.fabric, self.midpoints.stiffness
        inert = self.mass * (1.0 + h * f.damping / f.density)
        push = self.mass[:, None] * v + h * (self.weight if extra is None else self.weight + extra)
        if f.bending > 0.0:
            push -= h * f.bending * (stiffness @ x)
        creep = h * (h * f.bending + f.bending_damping)
        if creep == 0.0:
            return np.asarray(push / inert[:, None])
        if h not in self._previews:
            from scipy.sparse.linalg import splu

            # a step that is cut has few lengths
            self._previews[h] = splu(
                sp.csc_matrix(sp.diags_array(inert) + creep * stiffness), permc_spec="MMD_AT_PLUS_A",
                diag_pivot_thresh=0.0, options={"SymmetricMode": True},
            )  # fmt: skip
        return np.ascontiguousarray(self._previews[h].solve(push))

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_previews": {}}  # the factors of a library cannot be copied


class _LinkPattern(NamedTuple):
    """What of `Links` depends on which nodes are held, and on nothing that moves."""

    ptr: IntArray
    particles: IntArray
    first: IntArray
    second: IntArray
    place: IntArray
    diagonal: IntArray
    weights: FloatArray  # of the particles of held nodes
    symbolic: Symbolic


@memoised
def _analyse(pairs: IntArray, held: sp.csr_matrix, points: FloatArray) -> _LinkPattern:
    """Pattern of J M^-1 J^T for links between pairs (c, 2) of particles at points (m, 3), and held nodes (k, m)."""
    ptr = np.concatenate([2 * np.arange(len(pairs) + 1), np.repeat(np.diff(held.indptr), 3)])
    ptr[len(pairs) :] = np.cumsum(ptr[len(pairs) :])
    particles: list[IntArray] = [pairs.ravel()]
    weights = [np.zeros(0)]
    for a, b in itertools.pairwise(held.indptr):  # three directions of every node, which `turn` chooses
        particles.append(np.tile(held.indices[a:b].astype(np.int64), 3))
        weights.append(np.tile(held.data[a:b], 3))
    rows = len(ptr) - 1
    members = np.concatenate(particles).astype(np.int64)
    row = np.repeat(np.arange(rows), np.diff(ptr))
    first, second = _shared(members, len(points))
    i, j = row[first], row[second]
    graph = sp.csr_matrix((np.ones(2 * len(i)), (np.r_[i, j], np.r_[j, i])), shape=(rows, rows))
    sums = [np.bincount(row, points[members, d], minlength=rows) for d in range(3)]
    places = np.stack(sums, axis=1) / np.diff(ptr)[:, None]
    pattern, single = pattern_of(graph), np.ones(rows, dtype=np.int64)
    symbolic = analyse(pattern, dissect_quickly(pattern, places, single, LEAF), single)
    swap = symbolic.rank[i] > symbolic.rank[j]
    place, _ = symbolic.find(np.where(swap, j, i), np.where(swap, i, j))
    diagonal, _ = symbolic.find(np.arange(rows), np.arange(rows))
    order = np.argsort(place, kind="stable")
    return _LinkPattern(
        ptr.astype(np.int64), members, first[order], second[order], place[order], diagonal, np.concatenate(weights),
        symbolic,
    )  # fmt: skip


def _shared(particles: IntArray, count: int) -> tuple[IntArray, IntArray]:
    """All pairs of entries of J that belong to the same particle, each entry with itself too."""
    order = np.argsort(particles, kind="stable")
    bounds = np.searchsorted(particles[order], np.arange(count + 1))
    sizes = np.diff(bounds)
    first, second = [], []
    for size in np.unique(sizes[sizes > 0]):
        a, b = np.triu_indices(size)
        slots = order[bounds[:-1][sizes == size][:, None] + np.arange(size)]
        first.append(slots[:, a].ravel())
        second.append(slots[:, b].ravel())
    return np.concatenate(first), np.concatenate(second)


@kernel
def _assemble(s: Links, x: FloatArray, regularisation: float, panel: FloatArray) -> None:
    """Gradients at x, and A into the panel."""
    g = s.gradient
    for k in range(len(s.pairs)):
        i, j = s.pairs[k, 0], s.pairs[k, 1]
        dx, dy, dz = x[i, 0] - x[j, 0], x[i, 1] - x[j, 1], x[i, 2] - x[j, 2]
        inverse = 1.0 / max(np.sqrt(dx * dx + dy * dy + dz * dz), 1e-12)
        a, b = 2 * k, 2 * k + 1
        g[a, 0], g[a, 1], g[a, 2] = dx * inverse, dy * inverse, dz * inverse
        g[b, 0], g[b, 1], g[b, 2] = -g[a, 0], -g[a, 1], -g[a, 2]
    panel[:] = 0.0
    for q in range(len(s.first)):
        a, b = s.first[q], s.second[q]
        panel[s.place[q]] += (g[a, 0] * g[b, 0] + g[a, 1] * g[b, 1] + g[a, 2] * g[b, 2]) / s.mass[s.particles[a]]
    for k in range(len(s.diagonal)):
        # a row that yields to any impulse takes none
        panel[s.diagonal[k]] *= LOOSE if s.loose[k] else 1.0 + regularisation


@kernel
def _off(s: Links, target: FloatArray, x: FloatArray, errors: FloatArray) -> float:
    """Errors (r,) of all constraints at x, m; returns the largest, which is not finite if one of them is not."""
    count, rows = len(s.pairs), len(s.diagonal)
    largest = 0.0
    for k in range(rows):
        if k < count:
            i, j = s.pairs[k, 0], s.pairs[k, 1]
            dx, dy, dz = x[i, 0] - x[j, 0], x[i, 1] - x[j, 1], x[i, 2] - x[j, 2]
            errors[k] = np.sqrt(dx * dx + dy * dy + dz * dz) - s.lengths[k]
        else:
            errors[k] = 0.0
            if not s.loose[k]:
                for a in range(s.ptr[k], s.ptr[k + 1]):
                    for d in range(3):
                        errors[k] += s.gradient[a, d] * x[s.particles[a], d]
                errors[k] -= target[k - count]
        if not np.isfinite(errors[k]):
            return np.inf
        largest = max(largest, abs(errors[k]))
    return largest


@kernel
def _impelled(s: Links, f: Fronts, h: float, errors: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Changes of velocities (m, 3) that undo errors (r,) in a time h, and the impulses (r,) to be subtracted."""
    p = errors / h
    solve(f, p)
    change = np.zeros((len(s.mass), 3))
    for k in range(len(s.diagonal)):
        for a in range(s.ptr[k], s.ptr[k + 1]):
            i = s.particles[a]
            for d in range(3):
                change[i, d] -= p[k] * s.gradient[a, d] / s.mass[i]
    return change, p


@kernel
def _impelled_at(s: Links, x: FloatArray, impulses: FloatArray) -> FloatArray:
    """Changes of velocities (m, 3) by impulses (r,) along the directions that links have at x."""
    change = np.zeros((len(s.mass), 3))
    for k in range(len(s.pairs)):
        i, j = s.pairs[k, 0], s.pairs[k, 1]
        dx, dy, dz = x[i, 0] - x[j, 0], x[i, 1] - x[j, 1], x[i, 2] - x[j, 2]
        p = impulses[k] / max(np.sqrt(dx * dx + dy * dy + dz * dz), 1e-12)
        for d, along in enumerate((dx, dy, dz)):
            change[i, d] += p * along / s.mass[i]
            change[j, d] -= p * along / s.mass[j]
    for k in range(len(s.pairs), len(s.diagonal)):
        for a in range(s.ptr[k], s.ptr[k + 1]):
            i = s.particles[a]
            for d in range(3):
                change[i, d] += impulses[k] * s.gradient[a, d] / s.mass[i]
    return change


@kernel
def _keep_still(s: Links, f: Fronts, speed: FloatArray, v: FloatArray, impulses: FloatArray) -> None:
    """Overwrite v so that no distance changes and held nodes have their speed."""
    count, rows = len(s.pairs), len(s.diagonal)
    p = np.zeros(rows)
    for k in range(rows):
        for a in range(s.ptr[k], s.ptr[k + 1]):
            for d in range(3):
                p[k] += s.gradient[a, d] * v[s.particles[a], d]
        if k >= count:
            p[k] -= speed[k - count]
    solve(f, p)
    for k in range(rows):
        impulses[k] -= p[k]
        for a in range(s.ptr[k], s.ptr[k + 1]):
            i = s.particles[a]
            for d in range(3):
                v[i, d] -= p[k] * s.gradient[a, d] / s.mass[i]
