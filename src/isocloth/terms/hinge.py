"""Bending of triangles about their edges: hinges with rest angles and a moment that grows without bound in a fold.

    E = 1/2 sum over interior edges of w (B (k - k0)^2 + r (k - k_past)^2),    k(theta) = 2 tan(theta / 2)

theta is the dihedral angle: 0 where the two triangles lie flat, positive where they bend away from their normals (a
ridge seen from the side of the normals), in (-180, 180) degrees. w = L^2 / (A1 + A2) at rest, without unit; B is the
bending stiffness in N m, k0 the angle measure k at rest. The second part is the viscous potential of a step, see
`HingeBending.damped`.

Stiffness. For small angles the energy per area of a cylinder of radius R is D / (2 R^2). D = B where the cylinder's
axis runs along any family of edges of squares cut in two, and on equilateral triangles for every axis; across the
diagonals of the squares D = 3 B. A twist costs more than on a plate without Poisson's effect: equilateral hinges are
a plate with the Poisson ratio -1/3. Cloth that does not stretch has cylinders only, or nearly.

The measure k. Two sides of length l that turn by theta touch a circle of curvature k / l in their middles. k grows
without bound as a fold closes: a sharp crease costs more than the same turn spread over several hinges, so that folds
open into loops. Beyond |theta| = 150 degrees k goes on as its own Taylor polynomial of second order, a parabola from
7.5 at 150 degrees to 22.9 at 180: at 180 degrees the tangent is infinite, and Newton's method finds no way out.
It is k that is continued and not the energy: E is then twice continuously differentiable for every k0 and k_past,
it increases towards the closed fold, and energy and dissipation keep to the same measure. At +-180 degrees, where the
triangles lie on each other, theta jumps by 360 degrees: E has a kink there (its top) if k0 = k_past = 0, and a jump
otherwise. Contact keeps cloth from passing.

Derivatives (R. Tamstorf and E. Grinspun, Discrete bending forces and their Jacobians, 2013, in a frame of our own).
Triangle q = 1, 2 with the edge from x_i along the unit vector u and the apex a has the foot t = (a - x_i).u / L, the
height h, the unit vector m across the edge to the apex, and the unit normal n. With the factors of the nodes i, j, apex

    c = (t - 1, -t, 1),    s = (-1, 1, 0) / L,

and c (x) n the vector of all coordinates whose part at node p is c_p n, both derivatives are sums over two triangles:

    grad theta = - sum_q (c (x) n) / h
    Hess theta =   sum_q (U V^T + V U^T),    U = [c (x) n, s (x) n],    V = [c (x) m / h^2, c (x) u / h + s (x) m / 2].

(The skew parts of the two triangles, s_p s_q (n m^T - m n^T) / 2, cancel.) Then, with f = dE/dk,

    grad E = f k' grad theta,    Hess E = (w (B + r) k'^2 + f k'') grad theta grad theta^T + f k' Hess theta.

Positive semidefinite. Newton's method gets (w (B + r) k'^2 + max(f k'', 0)) grad theta grad theta^T: the energy as a
function of theta alone, without Hess theta, and without what would make it concave in theta. Hess theta couples
motion along the normals (U) with motion in the planes of the triangles (V), where the membrane is far stiffer; it has
as many negative as positive eigenvalues, so that a hinge with a moment is never convex. Mean number of linear systems
to solve one and the same step with Newton's method and a line search, a folded sheet of 150 to 300 nodes with springs
for a membrane, in five settings (stiffnesses, 5 or 10 ms, sharpest hinge 115 to 163 degrees), with the springs' own
second derivative / with what of it is positive semidefinite:

    this matrix                        17 23  8 11  6 / 31 50 10 14 7
    w (B + r) k'^2 alone               19 37 10 11 10 / 28 54  9 13 8
    eigenvalues clamped at zero        18 26 14 13  7 / 32 47 16 17 8
    this + positive part of the rest   19 33 14 14  7 / 32 49 17 17 8
    second derivative, if a descent    18 28  7 10  4 / 31 51 10 14 6

Clamping stiffens motion along the normals, which the membrane leaves free. Eigenvalues take 9 microseconds a hinge,
this matrix 0.12, the second derivative 0.32, the gradient 0.05.

Degenerate triangles. Heights and edges count as at least `FLATTEST` times the size of the hinge. In a triangle that is
flatter, m and n are shorter than 1 and vanish with it: energy and derivatives stay finite, but are no longer each
other's derivatives, and a hinge whose triangle has no area at all has the angle 0 and no force.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from isocloth.base.compiled import inlined, kernel
from isocloth.base.errors import FabricError, InputError, MeshError
from isocloth.base.typing import FloatArray, IntArray
from isocloth.meshes import Mesh
from isocloth.terms.dihedral import HingeArrays, Vector, dot, factors, frame, hinge_stencils, spread

#: angle in rad beyond which k = 2 tan(theta / 2) goes on as a polynomial
SHARPEST = float(np.deg2rad(150.0))

_COS_SHARPEST = float(np.cos(SHARPEST))
_K = float(2.0 * np.tan(SHARPEST / 2))
_SLOPE = 1.0 + _K * _K / 4
_CURVATURE = _K * _SLOPE / 2


def angle_measure(angle: ArrayLike) -> Any:
    """k = 2 tan(angle / 2) of dihedral angles in rad, continued beyond 150 degrees; without unit."""
    size = np.abs(np.asarray(angle, dtype=np.float64))
    beyond = np.maximum(size - SHARPEST, 0.0)
    inside = 2.0 * np.tan(np.minimum(size, SHARPEST) / 2)
    return np.sign(angle) * (inside + beyond * (_SLOPE + beyond * _CURVATURE / 2))


@dataclass(frozen=True, eq=False)
class HingeBending:
    """Bending of a triangle mesh by hinges; one stencil per interior edge. Made by `HingeBending.of`."""

    stencils: IntArray  # (e, 4) ends i, j of the edge, apex of the triangle that runs from i to j, the other apex
    weight: FloatArray  # (e,) w
    stiffness: FloatArray  # (e,) B, N m
    target: FloatArray  # (e,) k0
    rate: FloatArray  # (e,) r, N m; 0 without damping
    past: FloatArray  # (e,) k_past
    weight_gradient: FloatArray  # (e, 4, 3) dw/dX, 1/m
    target_gradient: FloatArray | None  # (e, 4, 3) dk0/dX, 1/m; None where the rest angles were given by hand
    name: str = "hinges"

    @classmethod
    def of(cls, rest: Mesh, bending: ArrayLike, *, angles: ArrayLike | None = None) -> HingeBending:
        """Hinges at all interior edges of a triangle mesh, in the order of `rest.edges`.

        Args:
            rest: the rest shape; its own dihedral angles are the rest angles.
            bending: B in N m, one number or one per hinge (e,).
            angles: rad, rest angles in place of the rest shape's own, one number or one per hinge (e,).
        """
        if rest.element != "triangle":
            raise MeshError(f"hinges bend about the edges of triangles, got {rest!r}; give them `mesh.triangulated()`")
        stencils = hinge_stencils(rest)
        count = len(stencils)
        stiffness = _per_hinge("bending", bending, count)
        if (stiffness < 0.0).any():
            raise FabricError(f"bending = {stiffness.min()!r}: expected a stiffness in N m, zero or positive")
        weight, weight_gradient = np.empty(count), np.empty((count, 4, 3))
        _weights(stencils, rest.vertices, weight, weight_gradient)
        none = np.zeros(count)
        if angles is not None:
            given = _per_hinge("angles", angles, count)
            if (np.abs(given) > np.pi).any():
                raise InputError(f"angles reach {np.abs(given).max():.3g} rad, expected rest angles between -pi and pi")
            return cls(stencils, weight, stiffness, angle_measure(given), none, none, weight_gradient, None)
        target, target_gradient = np.empty(count), np.empty((count, 4, 3))
        _strains(stencils, rest.vertices.copy(), target, target_gradient)  # read-only arrays would compile anew
        return cls(stencils, weight, stiffness, target, none, none, weight_gradient, target_gradient)

    def damped(self, rate: ArrayLike, past: FloatArray) -> HingeBending:
        """The same hinges with the viscous potential of a step, (r / 2) sum w (k - k_past)^2, in place of any before.

        Its derivative is the moment w c dk/dt of the viscosity c (N m s) in a step of h seconds from k_past: r = c / h.

        Args:
            rate: r in N m, one number or one per hinge (e,).
            past: (e,) k at the beginning of the step, as `strain` gives it.
        """
        count = len(self.stencils)
        return replace(self, rate=_per_hinge("rate", rate, count), past=_per_hinge("past", past, count))

    def strain(self, x: FloatArray) -> FloatArray:
        """k (e,) at positions x (n, 3)."""
        return self._strain(x)[0]

    def strain_gradient(self, x: FloatArray) -> FloatArray:
        """dk/dx (e, 4, 3) in 1/m; through it a step depends on the positions that `past` was taken from."""
        return self._strain(x)[1]

    def energy(self, x: FloatArray, out: FloatArray) -> None:
        """Write the energy of every hinge, (e,) J."""
        _energies(self._arrays, x, out)

    def gradient(self, x: FloatArray, out: FloatArray) -> None:
        """Write dE/dx, (e, 4, 3) N."""
        _gradients(self._arrays, x, out)

    def hessian(self, x: FloatArray, out: FloatArray, psd: bool) -> None:
        """Write d^2E/dx^2, (e, 12, 12) N/m, or with `psd` what of it acts by the angle alone and is not negative."""
        if psd:
            _squares(self._arrays, x, out)
        else:
            _hessians(self._arrays, x, out)

    def rest_gradient(self, x: FloatArray) -> FloatArray:
        """Derivative of the gradient in the rest shape (e, 12, 12) N/m: through w, and k0 unless given by hand.

        d(grad E)/dX = k' grad theta (B (k - k0) + r (k - k_past)) (dw/dX)^T - w B k' grad theta (dk0/dX)^T
        """
        k, slope = self._strain(x)
        moment = self.stiffness * (k - self.target) + self.rate * (k - self.past)
        columns = moment[:, None, None] * self.weight_gradient
        if self.target_gradient is not None:
            columns = columns - (self.weight * self.stiffness)[:, None, None] * self.target_gradient
        count = len(k)
        return slope.reshape(count, 12, 1) * columns.reshape(count, 1, 12)

    def parameter_gradient(self, x: FloatArray) -> Mapping[str, FloatArray]:
        """Derivatives (e, 4, 3) of the gradient in "bending", B, and in "rate", r, both 1/m: E is linear in both."""
        k, slope = self._strain(x)
        return {
            "bending": (self.weight * (k - self.target))[:, None, None] * slope,
            "rate": (self.weight * (k - self.past))[:, None, None] * slope,
        }

    def _strain(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        k, slope = np.empty(len(self.stencils)), np.empty((len(self.stencils), 4, 3))
        _strains(self.stencils, x, k, slope)
        return k, slope

    @property
    def _arrays(self) -> HingeArrays:
        return HingeArrays(self.stencils, self.weight, self.stiffness, self.target, self.rate, self.past)


def _per_hinge(name: str, value: ArrayLike, count: int) -> FloatArray:
    array = np.asarray(value, dtype=np.float64)
    if array.shape not in ((), (count,)):
        raise InputError(f"{name} has shape {array.shape}, expected one number or one for each of {count} hinges")
    if not np.isfinite(array).all():
        raise InputError(f"{name} is not finite; give finite numbers")
    return np.ascontiguousarray(np.broadcast_to(array, (count,)))


@inlined
def _measure(m1: Vector, n1: Vector, n2: Vector) -> tuple[float, float, float]:
    """k, k' and k'' from cos(theta) = n1.n2 and sin(theta) = (n1 x n2).u = -m1.n2."""
    cos, sin = dot(n1, n2), -dot(m1, n2)
    if cos >= _COS_SHARPEST:
        k = 2.0 * sin / (1.0 + cos)
        slope = 1.0 + 0.25 * k * k
        return k, slope, 0.5 * k * slope
    beyond = abs(np.arctan2(sin, cos)) - SHARPEST
    side = 1.0 if sin >= 0.0 else -1.0
    k = _K + beyond * (_SLOPE + beyond * _CURVATURE / 2)
    return side * k, _SLOPE + beyond * _CURVATURE, side * _CURVATURE


@kernel
def _strains(stencils: IntArray, x: FloatArray, k: FloatArray, gradient: FloatArray) -> None:
    """k (e,) and dk/dx (e, 4, 3)."""
    for e in range(len(stencils)):
        _, _, t1, h1, m1, n1, t2, h2, _, n2 = frame(x, stencils[e])
        k[e], slope, _ = _measure(m1, n1, n2)
        spread(slope, t1, h1, n1, t2, h2, n2, gradient[e])


@kernel
def _energies(hinge: HingeArrays, x: FloatArray, out: FloatArray) -> None:
    for e in range(len(hinge.stencils)):
        _, _, _, _, m1, n1, _, _, _, n2 = frame(x, hinge.stencils[e])
        k, _, _ = _measure(m1, n1, n2)
        elastic, viscous = k - hinge.target[e], k - hinge.past[e]
        out[e] = 0.5 * hinge.weight[e] * (hinge.stiffness[e] * elastic**2 + hinge.rate[e] * viscous**2)


@inlined
def _moment(hinge: HingeArrays, e: int, k: float) -> float:
    """f = dE/dk, N m."""
    elastic, viscous = k - hinge.target[e], k - hinge.past[e]
    return hinge.weight[e] * (hinge.stiffness[e] * elastic + hinge.rate[e] * viscous)


@kernel
def _gradients(hinge: HingeArrays, x: FloatArray, out: FloatArray) -> None:
    for e in range(len(hinge.stencils)):
        _, _, t1, h1, m1, n1, t2, h2, _, n2 = frame(x, hinge.stencils[e])
        k, slope, _ = _measure(m1, n1, n2)
        spread(_moment(hinge, e, k) * slope, t1, h1, n1, t2, h2, n2, out[e])


@kernel
def _hessians(hinge: HingeArrays, x: FloatArray, out: FloatArray) -> None:
    """d^2E/dx^2 (e, 12, 12)."""
    z = np.empty((9, 12))  # grad theta, and U and f k' V of either triangle
    g = z[8].reshape(4, 3)
    for e in range(len(hinge.stencils)):
        length, u, t1, h1, m1, n1, t2, h2, m2, n2 = frame(x, hinge.stencils[e])
        k, slope, curvature = _measure(m1, n1, n2)
        f = _moment(hinge, e, k)
        factors(2, f * slope, length, u, t1, h1, m1, n1, z[:4])
        factors(3, f * slope, length, u, t2, h2, m2, n2, z[4:8])
        spread(1.0, t1, h1, n1, t2, h2, n2, g)
        second = hinge.weight[e] * (hinge.stiffness[e] + hinge.rate[e]) * slope**2 + f * curvature
        block = out[e]
        for i in range(12):  # the whole block and not half of it: the inner loop is then one of vectors
            a0, a1, a2, a3 = z[0, i], z[1, i], z[2, i], z[3, i]
            b0, b1, b2, b3 = z[4, i], z[5, i], z[6, i], z[7, i]
            c = second * z[8, i]
            for j in range(12):
                first = a0 * z[2, j] + a2 * z[0, j] + a1 * z[3, j] + a3 * z[1, j]
                other = b0 * z[6, j] + b2 * z[4, j] + b1 * z[7, j] + b3 * z[5, j]
                block[i, j] = first + other + c * z[8, j]


@kernel
def _squares(hinge: HingeArrays, x: FloatArray, out: FloatArray) -> None:
    """(w (B + r) k'^2 + max(f k'', 0)) grad theta grad theta^T (e, 12, 12)."""
    g = np.empty((4, 3))
    flat = g.reshape(12)
    for e in range(len(hinge.stencils)):
        _, _, t1, h1, m1, n1, t2, h2, _, n2 = frame(x, hinge.stencils[e])
        k, slope, curvature = _measure(m1, n1, n2)
        second = hinge.weight[e] * (hinge.stiffness[e] + hinge.rate[e]) * slope**2
        second += max(_moment(hinge, e, k) * curvature, 0.0)
        spread(np.sqrt(second), t1, h1, n1, t2, h2, n2, g)
        block = out[e]
        for i in range(12):
            for j in range(12):
                block[i, j] = flat[i] * flat[j]


def _weights(stencils: IntArray, X: FloatArray, weight: FloatArray, gradient: FloatArray) -> None:
    """w = L^2 / (A1 + A2) (e,) of the rest positions X (n, 3), and dw/dX (e, 4, 3) in 1/m."""
    p = X[stencils]
    e = p[:, 1] - p[:, 0]
    square = np.sum(e * e, axis=1)
    area = np.zeros(len(p))
    slope = np.zeros_like(gradient)  # of A1 + A2
    for apex in (2, 3):
        a = p[:, apex] - p[:, 0]
        normal = np.cross(e, a)
        double = np.linalg.norm(normal, axis=1)
        area += double / 2
        normal /= double[:, None]
        # a corner moves the area by half the opposite side, turned by a right angle in the plane
        for corner, side in ((0, a - e), (1, -a), (apex, e)):
            slope[:, corner] += np.cross(normal, side) / 2
    weight[:] = square / area
    gradient[:] = -(weight / area)[:, None, None] * slope
    gradient[:, 0] -= 2.0 * e / area[:, None]
    gradient[:, 1] += 2.0 * e / area[:, None]
