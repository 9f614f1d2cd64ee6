"""The softest modes of a cloth at rest as functions of its rest shape, and a barrier that keeps them from vanishing.

    A v_i = lambda_i M v_i,    v_i^T M v_j = delta_ij,    lambda_1 <= lambda_2 <= ...

with A the second derivative of the energy in the shape x, contacts included as springs, and M the masses, both of a
rest shape X. Where X changes, x follows by dx = -A^-1 B dX with B = d^2E/dx dX, and the matrix L = V^T A V of some
modes changes by

    dL_ij = g_ij . dX,    g_ij = q_X - B^T A^-1 q_x - (lambda_i + lambda_j)/2 v_i^T (dM/dX) v_j,
    q_x = D_x(v_i^T A v_j) = D^3 E [v_i, v_j, .],    q_X = D_x(v_i^T B)[v_j].

Third derivatives are differences of second ones along the modes; they are those of the cloth's energies alone. Modes
may be alike, as those of symmetric garments are: only sums over all of them are used, with their off-diagonals.

The barrier of an eigenvalue lambda = epsilon + c u is C^2, and zero for u >= 1:

    phi = -log u + (u - 1) - (u - 1)^2/2,    phi' = -(1 - u)^2/(u c),    phi'' = (1/u^2 - 1)/c^2,

infinite where lambda falls to epsilon. Of all modes together it is tr phi(L), with the gradient sum phi'(lambda_i) g_ii
and, of L linearised, the second derivative sum_ij phi'[lambda_i, lambda_j] g_ij g_ij^T, divided differences of phi'.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from isocloth.base.typing import FloatArray, IntArray
from isocloth.inverse.rest_forces import RestForces
from isocloth.statics.hessian import Hessian
from isocloth.terms.rest_shape import RestTerm

#: relative accuracy of eigenvalues
ACCURACY = 1e-10
#: part of the cloth by which the largest component of a mode moves a node in a difference
STEP = 1e-5
#: relative difference of two eigenvalues below which the divided difference is the derivative
ALIKE = 1e-6


class Modes(NamedTuple):
    """The softest modes, mass-normalised: `values` (k,) 1/s^2, `vectors` (3n, k) kg^-1/2, zero at held nodes."""

    values: FloatArray
    vectors: FloatArray


def softest_modes(hessian: Hessian, count: int) -> Modes | None:
    """The softest modes of a Hessian that was factorised without a shift and found positive definite."""
    free, size = hessian.free, 3 * hessian.cloth.n
    count = min(count, len(free) - 1)
    root = np.sqrt(np.repeat(hessian.mass, 3)[free])

    def inverse(x: FloatArray) -> FloatArray:
        force = np.zeros(size)
        force[free] = root * x
        return np.asarray(root * hessian.solve(force.reshape(-1, 3)).ravel()[free])

    start = np.cos(1.0 + np.arange(len(free)))  # any vector that no symmetry makes orthogonal to a mode
    operator = LinearOperator((len(free), len(free)), matvec=inverse, dtype=np.float64)
    try:
        inverted, found = eigsh(operator, k=count, which="LA", v0=start, tol=ACCURACY, ncv=min(len(free), 3 * count))
    except ArpackNoConvergence:
        return None
    vectors = np.zeros((size, count))
    vectors[free] = found[:, ::-1] / root[:, None]
    return Modes(1.0 / inverted[::-1], vectors)


class Barrier(NamedTuple):
    """phi of the eigenvalues: infinite at `least`, zero from `least + range` on, both 1/s^2."""

    least: float
    range: float

    def close(self, values: FloatArray) -> int:
        """How many of the eigenvalues, in increasing order, feel it."""
        return int(np.searchsorted(values, self.least + self.range))

    def part(self, values: FloatArray) -> FloatArray:
        """u, 1 at most."""
        return np.asarray(np.minimum((values - self.least) / self.range, 1.0))

    def value(self, values: FloatArray) -> float:
        """tr phi."""
        u = self.part(values)
        if u.min(initial=1.0) <= 0.0:
            return np.inf
        return float(np.sum(-np.log(u) + (u - 1.0) - 0.5 * (u - 1.0) ** 2))

    def slope(self, values: FloatArray) -> FloatArray:
        """phi', s^2, of each."""
        u = self.part(values)
        return np.asarray(-((1.0 - u) ** 2) / (u * self.range))

    def curvature(self, one: float, other: float) -> float:
        """phi'[one, other], s^4: the divided difference of phi'."""
        if abs(one - other) > ALIKE * self.range:
            first, second = self.slope(np.array([one, other]))
            return float((first - second) / (one - other))
        u = min((0.5 * (one + other) - self.least) / self.range, 1.0)
        return float((1.0 / u**2 - 1.0) / self.range**2)


class Areas:
    """The areas of faces at rest, of those in the target, and a barrier below which none may fall."""

    def __init__(self, faces: IntArray, target: FloatArray, barrier: Barrier) -> None:
        self.faces, self.barrier = faces, barrier
        self._unit = np.linalg.norm(_normals(target[faces]), axis=1)

    def ratios(self, points: FloatArray) -> FloatArray:
        """(f,) of points (n, 3) m."""
        return np.asarray(np.linalg.norm(_normals(points[self.faces]), axis=1) / self._unit)

    def slope(self, points: FloatArray) -> FloatArray:
        """(3n,) of the barrier."""
        weights = self.barrier.slope(self.ratios(points))
        return self._spread(weights[:, None, None] * self._slopes(points)).ravel()

    def curvature(self, points: FloatArray) -> FloatArray:
        """(n, 3, 3) blocks on the diagonal that bound the barrier's second derivative with ratios linearised."""
        u = self.barrier.part(self.ratios(points))
        weights = (1.0 / u**2 - 1.0) / self.barrier.range**2
        slopes = self._slopes(points)
        # (a + b + c)^2 is at most 3 (a^2 + b^2 + c^2)
        blocks = 3.0 * weights[:, None, None, None] * slopes[:, :, :, None] * slopes[:, :, None, :]
        out = np.zeros((len(points), 3, 3))
        np.add.at(out, self.faces, blocks)
        return out

    def _slopes(self, points: FloatArray) -> FloatArray:
        """(f, 3, 3) 1/m of the ratios in the corners: half the opposite side, turned by a right angle in the plane."""
        p = points[self.faces]
        normals = _normals(p)
        normals /= np.linalg.norm(normals, axis=1)[:, None]
        return np.asarray(np.cross(normals[:, None, :], p[:, [2, 0, 1]] - p[:, [1, 2, 0]]) / self._unit[:, None, None])

    def _spread(self, values: FloatArray) -> FloatArray:
        n = int(self.faces.max()) + 1
        return np.stack(
            [np.bincount(self.faces.ravel(), values[:, :, d].ravel(), minlength=n) for d in range(3)], axis=1
        )  # fmt: skip


def _normals(corners: FloatArray) -> FloatArray:
    return np.asarray(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]))


class ModeSlopes:
    """A and B of a cloth in one shape and rest shape, and how they change along modes; of its energies alone."""

    def __init__(self, forces: RestForces, points: FloatArray, density: float) -> None:
        """forces: at the shape (n, 3); points: (n, 3) m, the rest shape; density: kg/m^2, of the masses."""
        self.forces, self.points, self.density = forces, points, density
        self.n, self.positions = forces.n, forces.positions
        self.size = float(np.ptp(forces.positions, axis=0).max())
        self._rest = forces.shape(points)
        self._terms: list[RestTerm] = list(forces.model.energies(self._rest))
        self._areas = self._rest.node_area_gradient()  # (n, 3n) m
        self.mass = np.repeat(density * self._rest.node_areas, 3)  # (3n,) kg

    def at(self, positions: FloatArray, points: FloatArray) -> ModeSlopes:
        """The same in another shape (n, 3) m and rest shape (n, 3) m."""
        return ModeSlopes(self.forces.at(positions), points, self.density)

    def force(self) -> FloatArray:
        """F (3n,) N, of the cloth's energies and weight."""
        return self.forces(self.points).ravel()

    def products(self, vectors: FloatArray, positions: FloatArray | None = None) -> tuple[FloatArray, FloatArray]:
        """A v and B^T v (3n, k) of vectors v (3n, k), in the shape, or in another one (n, 3) m."""
        x = self.positions if positions is None else positions
        load = self.forces.gravity * self.forces.density
        one, two = np.zeros_like(vectors), load * (self._areas.T @ vectors[2::3])
        for term in self._terms:
            e, m = term.stencils.shape
            blocks = np.empty((e, 3 * m, 3 * m))
            term.hessian(x, blocks, False)
            places = (3 * term.stencils[:, :, None] + np.arange(3)).reshape(e, -1)
            local = vectors[places]
            one += self._gather(places, blocks @ local)
            rest = (3 * term.rest_stencils[:, :, None] + np.arange(3)).reshape(e, -1)
            two += self._gather(rest, term.rest_gradient(x).transpose(0, 2, 1) @ local)
        return one, two

    def along(self, modes: Modes, j: int, others: IntArray) -> tuple[FloatArray, FloatArray]:
        """q_x, and dL_ij in X at a fixed shape, (3n, i) each, of mode j with some modes i (k,)."""
        way = modes.vectors[:, j].reshape(-1, 3)
        h = STEP * self.size / float(np.abs(way).max())
        vectors = np.ascontiguousarray(modes.vectors[:, others])
        plus, minus = (self.products(vectors, self.positions + t * way) for t in (h, -h))
        inner, outer = ((one - other) / (2.0 * h) for one, other in zip(plus, minus, strict=True))
        both = np.einsum("nd,ndi->ni", way, vectors.reshape(-1, 3, len(others)))
        mean = 0.5 * (modes.values[others] + modes.values[j])
        return inner, outer - mean * (self.density * (self._areas.T @ both))

    def pairs(self, modes: Modes) -> tuple[IntArray, FloatArray, FloatArray]:
        """Pairs (p, 2) of modes i <= j, with their q_x and dL_ij in X at a fixed shape, (3n, p) each."""
        count = len(modes.values)
        pairs = np.array([(i, j) for j in range(count) for i in range(j + 1)], dtype=np.int64).reshape(-1, 2)
        inner, outer = np.zeros((3 * self.n, len(pairs))), np.zeros((3 * self.n, len(pairs)))
        for j in range(count):
            own = pairs[:, 1] == j
            inner[:, own], outer[:, own] = self.along(modes, j, np.arange(j + 1))
        return pairs, inner, outer

    def _gather(self, places: IntArray, local: FloatArray) -> FloatArray:
        """Sum (3n, k) of what stencils (e, q, k) have at their places (e, q)."""
        out = np.empty((3 * self.n, local.shape[2]))
        for k in range(local.shape[2]):
            out[:, k] = np.bincount(places.ravel(), local[:, :, k].ravel(), minlength=3 * self.n)
        return out
