"""Stretch of every edge, the membrane of discrete shells (Grinspun et al., Discrete shells, 2003).

    E_l = (k_l / 2) sum_e (L_e - Lbar_e)^2 / Lbar_e

with k_l in N: a thread of length Lbar that is stretched by the strain e has the energy k_l Lbar e^2 / 2. The stiffness
of the sheet depends on the mesh: equilateral triangles of side l have Young's modulus times thickness
2 k_l / (sqrt(3) l) and Poisson's ratio 1/3.

Where a rest shape has corners for each face, the two faces of an edge may want it of different lengths: each then has
half of the edge's energy with its own length.

Simulations use the same energy as rows (`rows`), whose multipliers make Newton's method indifferent to its stiffness.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from isocloth.base.compiled import kernel
from isocloth.base.typing import FloatArray, IntArray
from isocloth.terms.rest_shape import RestShape
from isocloth.terms.rows import Rows, lengths, pack


@dataclass(frozen=True, eq=False)
class EdgeStretch:
    """The term. Made by `EdgeStretch.of`."""

    rest: RestShape
    stencils: IntArray  # (s, 2) ends of the edges, once for every length they have at rest
    rest_stencils: IntArray  # (s, 2) the same in the rest shape
    length: FloatArray  # (s,) Lbar, m
    stiffness: FloatArray  # (s,) k_l, N; half of it where an edge is named twice
    share: FloatArray  # (s,) 1, or 1/2 where an edge is named twice
    name: str = "edges"

    @classmethod
    def of(cls, rest: RestShape, stretch: float) -> EdgeStretch:
        """All edges of a rest shape; stretch: k_l in N."""
        edges = rest.mesh.edges
        if rest.torn:
            sides = [[1, 2], [2, 0], [0, 1]]
            which = rest.face_edges.ravel()
            ends, places = rest.mesh.faces[:, sides].reshape(-1, 2), rest.corners[:, sides].reshape(-1, 2)
            share = 1.0 / np.bincount(which)[which]
        else:
            ends, places, share = edges, edges, np.ones(len(edges))
        length = np.linalg.norm(rest.points[places[:, 1]] - rest.points[places[:, 0]], axis=1)
        nodes, points = (np.array(part, dtype=np.int64) for part in (ends, places))
        return cls(rest, nodes, points, length, stretch * share, share)

    def energy(self, x: FloatArray, out: FloatArray) -> None:
        """Write the energy of every edge, (s,) J."""
        _energies(self.stencils, self.length, self.stiffness, x, out)

    def gradient(self, x: FloatArray, out: FloatArray) -> None:
        """Write dE/dx, (s, 2, 3) N."""
        _gradients(self.stencils, self.length, self.stiffness, x, out)

    def hessian(self, x: FloatArray, out: FloatArray, psd: bool) -> None:
        """Write d^2E/dx^2, (s, 6, 6) N/m; with `psd` an edge that is too short resists along itself only."""
        _hessians(self.stencils, self.length, self.stiffness, x, psd, out)

    def rest_gradient(self, x: FloatArray) -> FloatArray:
        """Derivative of the gradient in the ends of the edge at rest, (s, 6, 6) N/m: -k_l L / Lbar^2 u ubar^T."""
        now, length = _directions(x, self.stencils)
        then, _ = _directions(self.rest.points, self.rest_stencils)
        factor = -self.stiffness * length / self.length**2
        count = len(now)
        return factor[:, None, None] * now.reshape(count, 6, 1) * then.reshape(count, 1, 6)

    def parameter_gradient(self, x: FloatArray) -> Mapping[str, FloatArray]:
        """Derivative (s, 2, 3) of the gradient in "stretch"."""
        now, length = _directions(x, self.stencils)
        return {"stretch": (self.share * (length / self.length - 1.0))[:, None, None] * now}

    def rows(self) -> Rows:
        """The same energy as rows C = 2 (L / Lbar - 1), of weights k_l Lbar / 4."""
        count = len(self.stencils)
        row = np.repeat(np.arange(count), 4)
        i, j = self.stencils[:, [0, 0, 1, 1]].ravel(), self.stencils[:, [0, 1, 0, 1]].ravel()
        value = (np.array([1.0, -1.0, -1.0, 1.0]) / self.length[:, None] ** 2).ravel()
        rows = lengths(pack(row, i, j, value, self.rest.mesh.vertices, count))
        return replace(rows, weight=self.stiffness * self.length / 4.0)


def _directions(x: FloatArray, ends: IntArray) -> tuple[FloatArray, FloatArray]:
    """Derivative (s, 2, 3) of the length of edges, and the lengths (s,) m."""
    d = x[ends[:, 1]] - x[ends[:, 0]]
    length = np.linalg.norm(d, axis=1)
    u = d / np.maximum(length, 1e-300)[:, None]
    return np.stack([-u, u], axis=1), length


@kernel
def _energies(stencils: IntArray, rest: FloatArray, stiffness: FloatArray, x: FloatArray, out: FloatArray) -> None:
    for e in range(len(stencils)):
        i, j = stencils[e, 0], stencils[e, 1]
        length = np.sqrt((x[j, 0] - x[i, 0]) ** 2 + (x[j, 1] - x[i, 1]) ** 2 + (x[j, 2] - x[i, 2]) ** 2)
        out[e] = 0.5 * stiffness[e] * (length - rest[e]) ** 2 / rest[e]


@kernel
def _gradients(stencils: IntArray, rest: FloatArray, stiffness: FloatArray, x: FloatArray, out: FloatArray) -> None:
    for e in range(len(stencils)):
        i, j = stencils[e, 0], stencils[e, 1]
        length = np.sqrt((x[j, 0] - x[i, 0]) ** 2 + (x[j, 1] - x[i, 1]) ** 2 + (x[j, 2] - x[i, 2]) ** 2)
        factor = stiffness[e] * (length / rest[e] - 1.0) / max(length, 1e-6 * rest[e])
        for d in range(3):
            out[e, 1, d] = factor * (x[j, d] - x[i, d])
            out[e, 0, d] = -out[e, 1, d]


@kernel
def _hessians(
    stencils: IntArray, rest: FloatArray, stiffness: FloatArray, x: FloatArray, psd: bool, out: FloatArray
) -> None:
    u = np.empty(3)
    for e in range(len(stencils)):
        i, j = stencils[e, 0], stencils[e, 1]
        length = 0.0
        for d in range(3):
            u[d] = x[j, d] - x[i, d]
            length += u[d] * u[d]
        length = max(np.sqrt(length), 1e-6 * rest[e])
        across = 1.0 - rest[e] / length
        if psd:
            across = max(across, 0.0)
        stiff = stiffness[e] / rest[e]
        for p in range(3):
            for q in range(3):
                value = stiff * (1.0 - across) * u[p] * u[q] / (length * length)
                if p == q:
                    value += stiff * across
                out[e, p, q] = out[e, 3 + p, 3 + q] = value
                out[e, p, 3 + q] = out[e, 3 + p, q] = -value
