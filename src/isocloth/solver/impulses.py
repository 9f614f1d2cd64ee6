"""Impulses that keep particles at their distances (Bender, Diziol and Bayer, locking-free triangle meshes, 2011).

A step from t to t + h, with J the gradients of all constraints at time t and A = J M^-1 J^T, factored once:

1. preview: v' = v + h F/m and x' = x + h (v + v')/2, bending and damping implicit;
2. position impulses: while a distance is off by C(x'), A p = C/h, v' -= M^-1 J^T p, x' -= h M^-1 J^T p. Directions are
   those of time t (d'Alembert), so that the factor serves for every repetition;
3. what touches is pushed out (by the caller), and A is factored at the new positions, for the next step too;
4. velocity impulses: A p = J v', after which no distance changes.

A node of the mesh that is held is a constraint like the others, linear in the particles: B x = target. Its impulses,
divided by h, are the force that holds it.

Where a state leaves constraints dependent, as a flat sheet does, A is singular, and near such a state impulses are far
too long for the directions of its small singular values. The diagonal of A is raised by a tiny part. What does not
converge is tried again with the gradients at the last repetition, and then with a larger part, which takes shorter
steps.
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from isocloth.compiled import kernel
from isocloth.fabric import Fabric
from isocloth.solver.cholesky import factorise, solve
from isocloth.solver.fronts import Fronts, SparseCholesky
from isocloth.terms.aerodynamics import weight
from isocloth.terms.midpoints import Midpoints
from isocloth.typing import FloatArray, IntArray

#: part by which the diagonal of A is raised: mostly, and if that does not converge
REGULARISATION = (1e-8, 1e-4)


class Links(NamedTuple):
    """Constraints, their gradients, and where products of these go in the factor."""

    pairs: IntArray  # (c, 2) particles at a fixed distance
    lengths: FloatArray  # (c,) m
    ptr: IntArray  # (r + 1,) row of J -> its slice of the following: c distances, then x, y, z of every held node
    particles: IntArray
    gradient: FloatArray  # (ptr[-1], 3)
    first: IntArray  # entries of J whose product ...
    second: IntArray
    place: IntArray  # ... is added here
    diagonal: IntArray  # (r,) places of the diagonal
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

    `seconds` sums up the processor time of the phases; `free_solves` is how often positions were solved in the last
    step, contact not counted.
    """

    name = "impulses"

    def __init__(self, midpoints: Midpoints, fabric: Fabric, gravity: float, tolerance: float, max_solves: int) -> None:
        self.midpoints, self.fabric = midpoints, fabric
        self.tolerance, self.max_solves = tolerance, max_solves
        self.mass = fabric.density * midpoints.area
        self.weight = weight(midpoints.area, fabric.weight_density, gravity)
        self.seconds = {"preview": 0.0, "factorisation": 0.0, "positions": 0.0, "velocities": 0.0}
        self.free_solves = 0
        self.held: IntArray = np.empty(0, dtype=np.int64)
        self._at: FloatArray | None = None  # where the factor was made, if it was with the first regularisation
        self._previews: dict[float, Any] = {}
        self.hold(self.held)

    def hold(self, nodes: IntArray) -> None:
        """Hold these nodes of the mesh from now on."""
        mid = self.midpoints
        self.held, self._at = nodes, None
        held = sp.csr_matrix(mid.to_nodes[nodes])
        ptr = np.concatenate([2 * np.arange(len(mid.pairs) + 1), np.repeat(np.diff(held.indptr), 3)])
        ptr[len(mid.pairs) :] = np.cumsum(ptr[len(mid.pairs) :])
        particles: list[IntArray] = [mid.pairs.ravel()]
        gradient = [np.zeros((mid.pairs.size, 3))]
        for k in range(len(nodes)):
            of_node = slice(held.indptr[k], held.indptr[k + 1])
            for axis in np.eye(3):
                particles.append(held.indices[of_node].astype(np.int64))
                gradient.append(held.data[of_node, None] * axis)
        self.rows = len(ptr) - 1
        members = np.concatenate(particles).astype(np.int64)
        row = np.repeat(np.arange(self.rows), np.diff(ptr))
        first, second = _shared(members, len(mid.area))
        i, j = row[first], row[second]
        graph = sp.csr_matrix((np.ones(2 * len(i)), (np.r_[i, j], np.r_[j, i])), shape=(self.rows,) * 2)
        sums = [np.bincount(row, mid.points[members, d], minlength=self.rows) for d in range(3)]
        places = np.stack(sums, axis=1) / np.diff(ptr)[:, None]
        self.factor = SparseCholesky(graph, places, np.ones(self.rows, dtype=np.int64), quick=True)
        swap = self.factor.rank[i] > self.factor.rank[j]
        place, _ = self.factor.find(np.where(swap, j, i), np.where(swap, i, j))
        everyone = np.arange(self.rows)
        order = np.argsort(place, kind="stable")
        self._links = Links(
            mid.pairs, mid.lengths, ptr.astype(np.int64), members, np.concatenate(gradient), first[order],
            second[order], place[order], self.factor.find(everyone, everyone)[0], self.mass,
        )  # fmt: skip

    def begin(
        self, x: FloatArray, v: FloatArray, h: float, target: FloatArray, push: FloatArray | None = None
    ) -> Impulsive:
        """Preview and position impulses; target (k, 3) m, of the held nodes at the end of the step; push (m, 3) N, of
        anything but weight, bending and damping."""
        start = time.thread_time()
        after = self._preview(x, v, h, push)
        preview = Impulsive(x + (h / 2) * (v + after), after, np.zeros(self.rows), 0, np.inf)
        self.seconds["preview"] += time.thread_time() - start
        self._factorise(x)
        found = self.restore(preview, h, target)
        self.free_solves = found.solves
        return found

    def restore(self, found: Impulsive, h: float, target: FloatArray) -> Impulsive:
        """Position impulses until the constraints hold: with the gradients of the last factorisation, else with new
        ones.

        `error` says how far they are off at the end, `solves` counts all repetitions.
        """
        best = self._repeat(found, h, target, 0)
        for regularisation in (None, *REGULARISATION):
            if regularisation is not None:
                self._factorise(best.positions, regularisation)
            new = self._repeat(best, h, target, self.max_solves)
            best = new if new.error < best.error else best._replace(solves=new.solves)
            if best.error <= self.tolerance:
                break
        return best

    def _repeat(self, found: Impulsive, h: float, target: FloatArray, most: int) -> Impulsive:
        start = time.thread_time()
        x, v, impulses = found.positions.copy(), found.velocities.copy(), found.impulses.copy()
        solves, error = _keep_distances(
            self._links, self.factor.fronts, np.ascontiguousarray(target).ravel(), h, self.tolerance, most, x, v,
            impulses,
        )  # fmt: skip
        self.seconds["positions"] += time.thread_time() - start
        return Impulsive(x, v, impulses, found.solves + solves, error)

    def finish(self, found: Impulsive, h: float, speed: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Velocities after the velocity impulses; speed (k, 3) m/s, of the held nodes; and the forces on these, N."""
        self._factorise(found.positions)
        start = time.thread_time()
        after, impulses = found.velocities.copy(), found.impulses.copy()
        _keep_still(self._links, self.factor.fronts, np.ascontiguousarray(speed).ravel(), after, impulses)
        self.seconds["velocities"] += time.thread_time() - start
        # impulses act on velocities that were damped already: a force had to be larger by what the damping takes
        force = (1.0 / h + self.fabric.damping / self.fabric.density) * impulses[len(self._links.pairs) :]
        return after, force.reshape(-1, 3)

    def _factorise(self, x: FloatArray, regularisation: float = REGULARISATION[0]) -> None:
        usual = regularisation == REGULARISATION[0]
        if usual and self._at is not None and np.array_equal(self._at, x):
            return
        start = time.thread_time()
        fronts = self.factor.fronts
        _assemble(self._links, x, regularisation, fronts.panel)
        factorise(fronts, np.zeros(self.rows))
        self._at = x.copy() if usual else None
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
        panel[s.diagonal[k]] *= 1.0 + regularisation


@kernel
def _keep_distances(
    s: Links, f: Fronts, target: FloatArray, h: float, tolerance: float, most: int, x: FloatArray, v: FloatArray,
    impulses: FloatArray,
) -> tuple[int, float]:  # fmt: skip
    """Overwrite x and v until no constraint is off by more than the tolerance; returns (solves, largest error in m)."""
    count, rows = len(s.pairs), len(s.diagonal)
    p = np.empty(rows)
    solves, before = 0, np.inf
    while True:
        error = 0.0
        for k in range(count):
            i, j = s.pairs[k, 0], s.pairs[k, 1]
            dx, dy, dz = x[i, 0] - x[j, 0], x[i, 1] - x[j, 1], x[i, 2] - x[j, 2]
            p[k] = np.sqrt(dx * dx + dy * dy + dz * dz) - s.lengths[k]
            if not abs(p[k]) <= error:
                error = abs(p[k])
        for k in range(count, rows):
            axis, at = (k - count) % 3, 0.0
            for a in range(s.ptr[k], s.ptr[k + 1]):
                at += s.gradient[a, axis] * x[s.particles[a], axis]
            p[k] = at - target[k - count]
            if not abs(p[k]) <= error:
                error = abs(p[k])
        # beyond repair when it grows after some repetitions: a shorter step will do
        lost = solves > 3 and error > before
        if error <= tolerance or solves >= most or lost or not np.isfinite(error):
            return solves, error
        before = error
        for k in range(rows):
            p[k] /= h
        solve(f, p)
        for k in range(rows):
            impulses[k] -= p[k]
            for a in range(s.ptr[k], s.ptr[k + 1]):
                i = s.particles[a]
                for d in range(3):
                    change = -p[k] * s.gradient[a, d] / s.mass[i]
                    v[i, d] += change
                    x[i, d] += h * change
        solves += 1


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
