"""Bending of discrete shells: quadratic in the dihedral angles (Grinspun et al., Discrete shells, 2003).

    E_b = (k_b / 2) sum over interior edges of (3 Lbar_e^2 / A_e) (theta_e - thetabar_e)^2,    A_e = A_1 + A_2 at rest

with k_b in N m. With w = Lbar^2 / A_e and D = 3 k_b that is (D / 2) sum w (theta - thetabar)^2, which for small angles
is `terms/hinge.py` with the stiffness D: equilateral triangles are a plate of the rigidity 3 k_b with Poisson's ratio
-1/3; on squares all cut alike the rigidity of a cylinder is 3 k_b (1 + q + q^2) with q = sin 2t of its direction t,
2.25 k_b to 9 k_b, on squares cut crosswise 3 k_b to 4.5 k_b. In sharp folds it differs: the moment grows with the angle
and stays finite at 180 degrees, so that a crease is cheap.

The second part of the energy, (r / 2) sum w (theta - theta_past)^2, is the viscous potential of a step, as of hinges:
r is the viscosity (N m s) of the plate over the step's length.

Newton's method gets w (D + r) grad theta grad theta^T, without the second derivative of theta; `terms/hinge.py` says
why, and by how much that is better than eigenvalues clamped at zero.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from isocloth.base.compiled import kernel
from isocloth.base.typing import FloatArray, IntArray
from isocloth.terms.dihedral import (
    HingeArrays,
    add_products,
    angle,
    angles,
    factors,
    frame,
    hinge_stencils,
    hinges_of,
    spread,
)
from isocloth.terms.rest_shape import RestShape, gathered

#: D / k_b of a cylinder on equilateral triangles
RIGIDITY = 3.0


@dataclass(frozen=True, eq=False)
class DihedralBending:
    """The term, one stencil per interior edge. Made by `DihedralBending.of`."""

    stencils: IntArray  # (e, 4) ends i, j of the edge, apex of the triangle that runs from i to j, the other apex
    corners: IntArray  # (e, 6) points of the rest shape: i, j, apex of the first triangle, then of the second
    torn: bool  # whether faces of the rest shape have corners of their own
    weight: FloatArray  # (e,) w
    stiffness: FloatArray  # (e,) D = 3 k_b, N m
    target: FloatArray  # (e,) thetabar, rad
    rate: FloatArray  # (e,) r, N m; 0 without damping
    past: FloatArray  # (e,) theta_past, rad
    weight_gradient: FloatArray  # (e, 18) dw/dX, 1/m
    target_gradient: FloatArray  # (e, 18) dthetabar/dX, 1/m
    name: str = "dihedral"

    @classmethod
    def of(cls, rest: RestShape, bending: float) -> DihedralBending:
        """All interior edges of a rest shape; bending: k_b in N m."""
        corners = rest.hinge_corners
        p = rest.points[corners]
        hinges = hinges_of(p[:, :3], p[:, 3:], rest.joined)
        weight, slope = _weights(p)
        count = len(corners)
        turn = np.concatenate([hinges.first, hinges.second], axis=1).reshape(count, 18)
        stiffness, none = np.full(count, RIGIDITY * bending), np.zeros(count)
        stencils = hinge_stencils(rest.mesh)
        return cls(stencils, corners, rest.torn, weight, stiffness, hinges.angle, none, none, slope, turn)

    @property
    def rest_stencils(self) -> IntArray:
        """(e, 4) nodes of a mesh, or (e, 6) corners of a rest shape whose faces have their own."""
        return self.corners if self.torn else self.stencils

    def damped(self, rate: ArrayLike, past: FloatArray) -> DihedralBending:
        """The same with the viscous potential of a step, in place of any before.

        rate: r in N m; past: (e,) rad, the angles that `strain` gave at the beginning of the step.
        """
        every = np.ascontiguousarray(np.broadcast_to(np.asarray(rate, dtype=np.float64), self.weight.shape))
        return replace(self, rate=every, past=past)

    def strain(self, x: FloatArray) -> FloatArray:
        """theta (e,) rad at positions x (n, 3)."""
        return self._angles(x)[0]

    def energy(self, x: FloatArray, out: FloatArray) -> None:
        """Write the energy of every edge, (e,) J."""
        _energies(self._arrays, x, out)

    def gradient(self, x: FloatArray, out: FloatArray) -> None:
        """Write dE/dx, (e, 4, 3) N."""
        _gradients(self._arrays, x, out)

    def hessian(self, x: FloatArray, out: FloatArray, psd: bool) -> None:
        """Write d^2E/dx^2, (e, 12, 12) N/m, or with `psd` what of it acts by the angle alone."""
        _hessians(self._arrays, x, psd, out)

    def rest_gradient(self, x: FloatArray) -> FloatArray:
        """Derivative of the gradient in the rest shape (e, 12, 3k) N/m, over `rest_stencils`."""
        theta, slope = self._angles(x)
        moment = self.stiffness * (theta - self.target) + self.rate * (theta - self.past)
        columns = moment[:, None] * self.weight_gradient
        columns = columns - (self.weight * self.stiffness)[:, None] * self.target_gradient
        blocks = slope.reshape(-1, 12, 1) * columns[:, None, :]
        return blocks if self.torn else gathered(blocks, self.corners, self.stencils)

    def parameter_gradient(self, x: FloatArray) -> Mapping[str, FloatArray]:
        """Derivatives (e, 4, 3) of the gradient in "bending", k_b, and in "rate", r."""
        theta, slope = self._angles(x)
        elastic, viscous = self.weight * (theta - self.target), self.weight * (theta - self.past)
        return {"bending": RIGIDITY * elastic[:, None, None] * slope, "rate": viscous[:, None, None] * slope}

    def _angles(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        theta, slope = np.empty(len(self.stencils)), np.empty((len(self.stencils), 4, 3))
        angles(self.stencils, x, theta, slope)
        return theta, slope

    @property
    def _arrays(self) -> HingeArrays:
        return HingeArrays(self.stencils, self.weight, self.stiffness, self.target, self.rate, self.past)


def _weights(p: FloatArray) -> tuple[FloatArray, FloatArray]:
    """w = Lbar^2 / (A_1 + A_2) of pairs of triangles (e, 6, 3), and its derivative (e, 18); Lbar^2 is the mean of the
    two squared lengths that an edge may have."""
    square, area = np.zeros(len(p)), np.zeros(len(p))
    of_square, of_area = np.zeros_like(p), np.zeros_like(p)
    for o in (0, 3):
        e, a = p[:, o + 1] - p[:, o], p[:, o + 2] - p[:, o]
        square += np.sum(e * e, axis=1) / 2
        of_square[:, o] -= e
        of_square[:, o + 1] += e
        normal = np.cross(e, a)
        double = np.linalg.norm(normal, axis=1)
        area += double / 2
        normal /= double[:, None]
        # a corner moves the area by half the opposite side, turned by a right angle in the plane
        for corner, side in ((0, a - e), (1, -a), (2, e)):
            of_area[:, o + corner] = np.cross(normal, side) / 2
    weight = square / area
    slope = of_square / area[:, None, None] - (weight / area)[:, None, None] * of_area
    return weight, slope.reshape(len(p), 18)


@kernel
def _energies(h: HingeArrays, x: FloatArray, out: FloatArray) -> None:
    for e in range(len(h.stencils)):
        _, _, _, _, m1, n1, _, _, _, n2 = frame(x, h.stencils[e])
        theta = angle(m1, n1, n2)
        elastic, viscous = theta - h.target[e], theta - h.past[e]
        out[e] = 0.5 * h.weight[e] * (h.stiffness[e] * elastic**2 + h.rate[e] * viscous**2)


@kernel
def _gradients(h: HingeArrays, x: FloatArray, out: FloatArray) -> None:
    for e in range(len(h.stencils)):
        _, _, t1, h1, m1, n1, t2, h2, _, n2 = frame(x, h.stencils[e])
        theta = angle(m1, n1, n2)
        moment = h.weight[e] * (h.stiffness[e] * (theta - h.target[e]) + h.rate[e] * (theta - h.past[e]))
        spread(moment, t1, h1, n1, t2, h2, n2, out[e])


@kernel
def _hessians(h: HingeArrays, x: FloatArray, psd: bool, out: FloatArray) -> None:
    z = np.empty((8, 12))
    slope = np.empty((4, 3))
    g = slope.reshape(12)
    for e in range(len(h.stencils)):
        length, u, t1, h1, m1, n1, t2, h2, m2, n2 = frame(x, h.stencils[e])
        spread(1.0, t1, h1, n1, t2, h2, n2, slope)
        second = h.weight[e] * (h.stiffness[e] + h.rate[e])
        block = out[e]
        if psd:
            block[:] = 0.0
        else:
            theta = angle(m1, n1, n2)
            moment = h.weight[e] * (h.stiffness[e] * (theta - h.target[e]) + h.rate[e] * (theta - h.past[e]))
            factors(2, moment, length, u, t1, h1, m1, n1, z[:4])
            factors(3, moment, length, u, t2, h2, m2, n2, z[4:8])
            add_products(z, block)
        for i in range(12):
            for j in range(12):
                block[i, j] += second * g[i] * g[j]
