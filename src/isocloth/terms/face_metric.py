"""Membranes: energies of the metric of every triangle, of which a file each gives the density.

With d1 and d2 the sides from the first corner of a triangle, its metric is A = (a, b, c) = (d1.d1, d1.d2, d2.d2), Abar
at rest. A membrane's energy is a function psi of A for every face. Its derivatives in the positions follow from those
in A, by the same kernels for all membranes:

    dE/dd1 = 2 psi_a d1 + psi_b d2,    dE/dd2 = psi_b d1 + 2 psi_c d2
    Hess E = (dA/dx)^T psi_AA (dA/dx) + [[2 psi_a, psi_b], [psi_b, 2 psi_c]] (x) 1

The last part is the tension. For Newton's method only what pulls is kept of it (its positive part, in an orthonormal
frame at rest), beside a psi_AA without what is negative: what is pressed must not make the matrix indefinite.

Derivatives in the rest shape and in parameters are not needed in a step. They are derivatives of psi_A, a formula
without branches, along the imaginary axis: d f / d p = Im f(p + i s) / s with s = 1e-30, which is exact to rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from isocloth.base.compiled import kernel
from isocloth.base.typing import FloatArray, IntArray
from isocloth.terms.rest_shape import RestShape, metric_jacobian

#: how far along the imaginary axis: its square vanishes beside any real number
TINY = 1e-30


@dataclass(frozen=True, eq=False)
class MetricTerm:
    """What all membranes share: a stencil per face, a rest shape, parameters by name."""

    rest: RestShape
    parameters: Mapping[str, float]
    name: ClassVar[str] = "membrane"

    @property
    def stencils(self) -> IntArray:
        """(f, 3) nodes of the faces."""
        return self.rest.faces

    @property
    def rest_stencils(self) -> IntArray:
        """(f, 3) points of the rest shape."""
        return self.rest.corners

    def energy(self, x: FloatArray, out: FloatArray) -> None:
        """Write the energy of every face, (f,) J."""
        self.density(self.metric(x), out)

    def gradient(self, x: FloatArray, out: FloatArray) -> None:
        """Write dE/dx, (f, 3, 3) N."""
        first = np.empty((len(out), 3))
        self.first(self.metric(x), first)
        metric_gradients(self.stencils, x, first, out)

    def hessian(self, x: FloatArray, out: FloatArray, psd: bool) -> None:
        """Write d^2E/dx^2, (f, 9, 9) N/m, or with `psd` what of it is not negative, in two parts; see above."""
        metric, first, second = self.metric(x), np.empty((len(out), 3)), np.empty((len(out), 3, 3))
        self.first(metric, first)
        self.second(metric, second, psd)
        if psd:
            keep_tension(self.rest.metric, first)
        metric_hessians(self.stencils, x, first, second, out)

    def metric(self, x: FloatArray) -> FloatArray:
        """A (f, 3) m^2 at positions x (n, 3)."""
        out = np.empty((len(self.stencils), 3))
        metrics(self.stencils, x, out)
        return out

    def rest_gradient(self, x: FloatArray) -> FloatArray:
        """Derivative of the gradient in the rest points of the same face, (f, 9, 9) N/m."""
        metric = self.metric(x)
        cross = along_imaginary(lambda rest: self.stress(metric, rest, self.parameters), self.rest.metric)
        now, then = metric_jacobian(x[self.stencils]), metric_jacobian(self.rest.points[self.rest.corners])
        return np.einsum("fai,fab,fbj->fij", now, cross, then)

    def parameter_gradient(self, x: FloatArray) -> Mapping[str, FloatArray]:
        """Derivatives (f, 3, 3) of the gradient in every parameter."""
        metric, jacobian = self.metric(x), metric_jacobian(x[self.stencils])
        found = {}
        for name, value in self.parameters.items():
            moved: dict[str, Any] = {**self.parameters, name: value + TINY * 1j}
            slope = self.stress(metric, self.rest.metric, moved).imag / TINY
            found[name] = np.einsum("fai,fa->fi", jacobian, slope).reshape(-1, 3, 3)
        return found

    def stress(self, metric: FloatArray, rest: Any, parameters: Mapping[str, Any]) -> Any:
        """psi_A (f, 3) N/m as an analytic function, of metrics A and Abar (f, 3) and of the parameters."""
        raise NotImplementedError

    def density(self, metric: FloatArray, out: FloatArray) -> None:
        """Write psi of every face, (f,) J, at metrics A (f, 3)."""
        raise NotImplementedError

    def first(self, metric: FloatArray, out: FloatArray) -> None:
        """Write psi_A, (f, 3)."""
        raise NotImplementedError

    def second(self, metric: FloatArray, out: FloatArray, psd: bool) -> None:
        """Write psi_AA, (f, 3, 3); with `psd` without what is negative."""
        raise NotImplementedError


def along_imaginary(function: Callable[[Any], Any], at: FloatArray) -> FloatArray:
    """Derivative (f, m, k) of an analytic function of rows (f, k) with values (f, m)."""
    columns = []
    for k in range(at.shape[1]):
        moved = at.astype(np.complex128)
        moved[:, k] += TINY * 1j
        columns.append(function(moved).imag / TINY)
    return np.stack(columns, axis=2)


@kernel
def metrics(stencils: IntArray, x: FloatArray, out: FloatArray) -> None:
    """A (f, 3) of triangles at positions x (n, 3)."""
    for f in range(len(stencils)):
        i, j, k = stencils[f, 0], stencils[f, 1], stencils[f, 2]
        a = b = c = 0.0
        for d in range(3):
            one, two = x[j, d] - x[i, d], x[k, d] - x[i, d]
            a += one * one
            b += one * two
            c += two * two
        out[f, 0], out[f, 1], out[f, 2] = a, b, c


@kernel
def metric_gradients(stencils: IntArray, x: FloatArray, first: FloatArray, out: FloatArray) -> None:
    """dE/dx (f, 3, 3) from psi_A (f, 3)."""
    for f in range(len(stencils)):
        i, j, k = stencils[f, 0], stencils[f, 1], stencils[f, 2]
        a, b, c = 2.0 * first[f, 0], first[f, 1], 2.0 * first[f, 2]
        for d in range(3):
            one, two = x[j, d] - x[i, d], x[k, d] - x[i, d]
            out[f, 1, d], out[f, 2, d] = a * one + b * two, b * one + c * two
            out[f, 0, d] = -out[f, 1, d] - out[f, 2, d]


@kernel
def keep_tension(rest: FloatArray, first: FloatArray) -> None:
    """Of psi_A (f, 3) only what pulls: its positive part as a symmetric matrix, in a frame that is orthonormal at rest.

    With Abar = L L^T the coordinates of d1, d2 in such a frame are those of L^T, in which the matrix is L^T S L.
    """
    for f in range(len(first)):
        p = np.sqrt(rest[f, 0])
        q = rest[f, 1] / p
        r = np.sqrt(max(rest[f, 2] - q * q, 1e-300))
        s, t, w = first[f, 0], 0.5 * first[f, 1], first[f, 2]
        # L = [[p, 0], [q, r]]
        e = p * p * s + 2.0 * p * q * t + q * q * w
        g = r * (p * t + q * w)
        h = r * r * w
        middle, half = 0.5 * (e + h), np.sqrt(0.25 * (e - h) ** 2 + g * g)
        if middle - half >= 0.0:
            continue
        high = max(middle + half, 0.0)
        if half == 0.0 or high == 0.0:
            e = g = h = 0.0
        else:  # the projector on the direction that pulls, times what it pulls
            scale = high / (2.0 * half)
            e, g, h = scale * (e - middle + half), scale * g, scale * (h - middle + half)
        w = h / (r * r)
        t = (g / r - q * w) / p
        first[f, 0], first[f, 1], first[f, 2] = (e - 2.0 * p * q * t - q * q * w) / (p * p), 2.0 * t, w


@kernel
def metric_hessians(stencils: IntArray, x: FloatArray, first: FloatArray, second: FloatArray, out: FloatArray) -> None:
    """d^2E/dx^2 (f, 9, 9) from the tension psi_A (f, 3) and from psi_AA (f, 3, 3)."""
    g = np.zeros((3, 9))  # derivatives of a, b, c
    w = np.empty((3, 9))
    for f in range(len(stencils)):
        i, j, k = stencils[f, 0], stencils[f, 1], stencils[f, 2]
        for d in range(3):
            one, two = x[j, d] - x[i, d], x[k, d] - x[i, d]
            g[0, d], g[0, 3 + d], g[0, 6 + d] = -2.0 * one, 2.0 * one, 0.0
            g[1, d], g[1, 3 + d], g[1, 6 + d] = -one - two, two, one
            g[2, d], g[2, 3 + d], g[2, 6 + d] = -2.0 * two, 0.0, 2.0 * two
        for p in range(3):
            for q in range(9):
                w[p, q] = second[f, p, 0] * g[0, q] + second[f, p, 1] * g[1, q] + second[f, p, 2] * g[2, q]
        block = out[f]
        for p in range(9):
            for q in range(9):
                block[p, q] = g[0, p] * w[0, q] + g[1, p] * w[1, q] + g[2, p] * w[2, q]
        a, b, c = 2.0 * first[f, 0], first[f, 1], 2.0 * first[f, 2]
        for d in range(3):
            block[3 + d, 3 + d] += a
            block[3 + d, 6 + d] += b
            block[6 + d, 3 + d] += b
            block[6 + d, 6 + d] += c
            block[d, 3 + d] -= a + b
            block[3 + d, d] -= a + b
            block[d, 6 + d] -= b + c
            block[6 + d, d] -= b + c
            block[d, d] += a + 2.0 * b + c
