"""The barrier problem of the nearest shape about one equilibrium: its gradient, and steps that follow its valley.

    Phi(X) = |x - target|^2 / 2 + tau (tr phi(L) + sum_f phi(a_f))    at the equilibrium x(X)

with L the matrix of the softest modes (`softest_modes.py`) and a_f the area of a face at rest over that in the target.
With S = -A^-1 B, by which the shape follows, the gradient in X is

    S^T (x - target) + tau (sum_i phi'(lambda_i) g_ii + sum_f phi'(a_f) da_f/dX),

one adjoint solve for the first term and for every pair of modes. Steps d are those of Gauss and Newton, damped:

    (S^T S + W + tau sum_ij phi'[lambda_i, lambda_j] g_ij g_ij^T) d = -Phi',    W = mu + tau phi''(a_f) (da_f/dX)^2,

W bounded by blocks of nodes. That matrix is the inverse of a sparse one, plus one of low rank:

    (S^T S + W)^-1 v = W^-1 v - W^-1 B^T (B W^-1 B^T + A^2)^-1 B W^-1 v.

A membrane is stiff: a step that turns faces at rest stretches them by the square of its length, and the softest
eigenvalue feels that. So steps are bent (geodesic acceleration): with the second derivatives of x and L along d,

    x'' = -A^-1 F''[d, d],    d -> d - (...)^-1 (S^T x'' + tau sum_ij phi'[lambda_i, lambda_j] L''_ij g_ij) / 2,

by second differences of forces, and of L, at x + t S d + t^2 x''/2, with its modes turned to first order: by the known
ones explicitly, and by all others by some steps of the fixed point z = A^-1 (lambda M z - r), which contracts by lambda
over the first eigenvalue that is not known.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import SuperLU

from isocloth.base.typing import FloatArray
from isocloth.inverse.rest_forces import RestForces
from isocloth.inverse.softest_modes import Areas, Barrier, Modes, ModeSlopes
from isocloth.sparse.inertia import symmetric_factor
from isocloth.statics.hessian import Hessian

#: part of the cloth by which second differences go
BEND = 1e-4
#: how often the fixed point for the turn of modes is iterated
TURNS = 6


class BarrierProblem:
    """Phi about one equilibrium; everything in X is (3n,)."""

    def __init__(
        self, forces: RestForces, points: FloatArray, density: float, hessian: Hessian, modes: Modes,
        barrier: Barrier, areas: Areas, target: FloatArray,
    ) -> None:  # fmt: skip
        """forces: at the equilibrium; points: (n, 3) m, its rest shape; hessian: there, factorised without a shift."""
        self.hessian, self.barrier, self.free, self.n = hessian, barrier, hessian.free, len(points)
        self.points, self.known, self.areas = points, modes, areas
        self.short = (target - forces.positions).ravel()
        self.mixed: sp.csr_matrix = forces.derivative(points)[self.free].tocsr()
        self.slopes = ModeSlopes(forces, points, density)
        self.count = barrier.close(modes.values)
        self.close = Modes(modes.values[: self.count], np.ascontiguousarray(modes.vectors[:, : self.count]))
        self.pairs, inner, outer = self.slopes.pairs(self.close)
        diagonal = self.pairs[:, 0] == self.pairs[:, 1]
        weights = barrier.slope(self.close.values)
        self.pair_slopes = outer + self.back(inner)
        self.distance_slope = self.back(-self.short[:, None])[:, 0]
        self.barrier_slope = self.pair_slopes[:, diagonal] @ weights + areas.slope(points)
        #: phi'[lambda_i, lambda_j] of the pairs, twice off the diagonal
        self.pair_weights = np.array(
            [barrier.curvature(*self.close.values[pair]) * (1.0 if pair[0] == pair[1] else 2.0) for pair in self.pairs]
        )
        self._square: sp.csr_matrix | None = None
        self._whole: sp.csr_matrix | None = None

    def slope(self, tau: float) -> FloatArray:
        """(3n,) dPhi/dX."""
        return np.asarray(self.distance_slope + tau * self.barrier_slope)

    def back(self, vectors: FloatArray) -> FloatArray:
        """S^T v (3n, k) of vectors (3n, k)."""
        out = np.zeros_like(vectors)
        for k, vector in enumerate(vectors.T):
            out[:, k] = -(self.mixed.T @ self.solve(vector)[self.free])
        return out

    def ahead(self, change: FloatArray) -> FloatArray:
        """S d (3n,): how the shape follows a change of the rest shape (3n,)."""
        force = np.zeros(3 * self.n)
        force[self.free] = self.mixed @ change
        return -self.solve(force)

    def solve(self, force: FloatArray) -> FloatArray:
        """A^-1 f (3n,)."""
        return self.hessian.solve(force.reshape(-1, 3)).ravel()

    # ------------------------------------------------------------------- along a step

    def bend(self, change: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Second derivatives along a change (3n,) of the rest shape: of the shape, (3n,), and of L, (k, k)."""
        follows, slopes = self.ahead(change), self.slopes
        h = BEND * slopes.size / max(float(np.abs(change).max()), float(np.abs(follows).max()), 1e-300)

        def at(t: float, bent: FloatArray | float) -> ModeSlopes:
            x = slopes.positions.ravel() + t * follows + 0.5 * t * t * bent
            return slopes.at(x.reshape(-1, 3), self.points + t * change.reshape(-1, 3))

        force = at(h, 0.0).force() + at(-h, 0.0).force() - 2.0 * slopes.force()
        bent = -self.solve(force / h**2)
        if self.count == 0:
            return bent, np.zeros((0, 0))
        both = self.small(at(h, bent)) + self.small(at(-h, bent))
        return bent, (both - 2.0 * np.diag(self.close.values)) / h**2

    def small(self, there: ModeSlopes) -> FloatArray:
        """L (k, k) of a shape nearby, with the same contacts, in the basis of the modes here."""
        values, vectors, k = self.close.values, self.close.vectors, self.count
        mass, every = self.slopes.mass, self.known.vectors
        stiffer = there.products(vectors)[0] - self.slopes.products(vectors)[0]
        force = np.zeros_like(vectors)
        force[self.free] = (stiffer - values * ((there.mass - mass)[:, None] * vectors))[self.free]
        amount = every.T @ force  # (all, k)
        rest = force - mass[:, None] * (every @ amount)
        turn = np.zeros_like(vectors)
        for i in range(k):
            z = np.zeros(3 * self.n)
            for _ in range(TURNS):
                z = self.solve(values[i] * mass * z - rest[:, i])
                z -= every @ (every.T @ (mass * z))
            turn[:, i] = z
        turn -= every[:, k:] @ (amount[k:] / (self.known.values[k:, None] - values))
        moved = vectors + turn
        cloth = there.products(moved)[0] - self.slopes.products(moved)[0]
        matrix = moved.T @ (self.whole() @ moved + cloth)
        weight, axes = np.linalg.eigh(moved.T @ (there.mass[:, None] * moved))
        inverse = (axes / np.sqrt(weight)) @ axes.T
        return np.asarray(inverse @ (0.5 * (matrix + matrix.T)) @ inverse)

    def acceleration(self, change: FloatArray, model: Model, tau: float) -> FloatArray:
        """By how much a step (3n,) is bent, (3n,) m."""
        bent, small = self.bend(change)
        right = self.back(0.5 * bent[:, None])[:, 0]
        curved = np.array([small[i, j] for i, j in self.pairs])
        right += 0.5 * tau * self.pair_slopes @ (self.pair_weights * curved)
        return -model.inverse(right)

    def model(self, tau: float, mu: float) -> Model | None:
        """The matrix of Gauss and Newton with mu, ready to be inverted; None where that fails."""
        if self._square is None:
            stiffness = self.whole()[self.free][:, self.free].tocsr()
            self._square = (stiffness @ stiffness.T).tocsr()
        blocks = np.linalg.inv(mu * np.eye(3) + tau * self.areas.curvature(self.points))
        nodes = np.arange(self.n + 1)
        soft = sp.bsr_matrix((blocks, nodes[:-1], nodes), shape=(3 * self.n, 3 * self.n)).tocsr()
        factor = symmetric_factor((self.mixed @ soft @ self.mixed.T + self._square).tocsc())
        return None if factor is None else Model(self, tau, soft, factor)

    def whole(self) -> sp.csr_matrix:
        """A (3n, 3n), contacts included."""
        if self._whole is None:
            self._whole = self.hessian.matrix()
        return self._whole


class Model:
    """S^T S + W + tau sum phi'[lambda_i, lambda_j] g_ij g_ij^T, inverted."""

    def __init__(self, problem: BarrierProblem, tau: float, soft: sp.csr_matrix, factor: SuperLU) -> None:
        self._mixed, self._factor, self._soft = problem.mixed, factor, soft
        self._low = problem.pair_slopes * np.sqrt(tau * problem.pair_weights)
        self._solved = np.stack([self._sparse(u) for u in self._low.T], axis=1) if self._low.size else self._low
        self._small = np.eye(self._low.shape[1]) + self._low.T @ self._solved

    def _sparse(self, vector: FloatArray) -> FloatArray:
        yielding = self._soft @ vector
        return np.asarray(yielding - self._soft @ (self._mixed.T @ self._factor.solve(self._mixed @ yielding)))

    def inverse(self, vector: FloatArray) -> FloatArray:
        """Of a vector (3n,)."""
        first = self._sparse(vector)
        if self._small.size == 0:
            return first
        return np.asarray(first - self._solved @ np.linalg.solve(self._small, self._low.T @ first))
