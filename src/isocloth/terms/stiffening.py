"""Bending that stiffens as a fold closes: what is added to the constant matrix of `terms/bending.py`.

The matrix measures the turn theta of the cloth at a node by u = (2 sin(theta / 2))^2, which saturates: near 180 degrees
it resists no further turn, and a sharp crease along one line of nodes is an equilibrium, however thick the cloth. So

    E = sum over nodes of  s/2 psi(u),    psi(u) = u + u^2 / (12 (1 - a u / 4)),    s = kappa a_k / l^2,
    u = |W y|^2,    W = (l_x D_xx, sqrt(2 l_x l_y) D_xy, l_y D_yy),    l^2 = l_x l_y,

with the second derivatives D and areas a_k of the matrix and the lengths l of the edges around the node along both of
its axes. The matrix is psi = u; this term is the rest, s/2 (psi(u) - u). psi is theta^2 up to terms in theta^6, and
steeper near 180 degrees: 17 there, where theta^2 is 10 and u is 4. Beyond `CLOSED` of the pole it goes on as a
parabola.

psi is convex and increasing and u a convex function of y, so E is convex in the positions: its second derivative

    s [(psi' - 1) W^T W (x) 1 + 2 psi'' g g^T],    g = W^T W y,

is positive semidefinite as it is, and Newton's method needs no projection. In smooth cloth u = O(l^2), and the term is
of the order of what the differences D leave out.

How it was chosen: by the height of a strip folded on itself, beside that of the heavy elastica (check `fold_height`).
With the matrix alone a strip that is folded sharply may stay so. The pole alone, psi = u / (1 - a u / 4), makes folds
too high, theta^2 alone too low, and sharp where elements are longer than c; this one is between them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from isocloth.base.compiled import inlined, kernel
from isocloth.base.memo import memoised
from isocloth.base.typing import FloatArray, IntArray
from isocloth.meshes import Mesh
from isocloth.terms.bending import curvatures, tangent_frames

#: how steep psi is: its pole, in u / 4, is at 1 / STEEP
STEEP = 0.9
#: part of the way to the pole beyond which psi goes on as a parabola
CLOSED = 0.9


class Bends(NamedTuple):
    """Where a cloth bends, node by node; s counts the nodes around all of them."""

    node: IntArray  # (b,)
    ptr: IntArray  # (b + 1,) its slice of the ring
    ring: IntArray  # (s,) the nodes around it
    weight: FloatArray  # (s, 3) W, 1/m; what it has at the node itself is minus the sum
    scale: FloatArray  # (b,) s, J


class Bent(NamedTuple):
    """How a cloth is bent at an iterate."""

    curvature: FloatArray  # (b, 3, 3) W y
    slope: FloatArray  # (b,) s (psi' - 1), J
    second: FloatArray  # (b,) 2 s psi'', J
    pull: FloatArray  # (largest ring + 1, 3) room for g


def no_bends() -> Bends:
    """Of a cloth whose bending does not stiffen."""
    none = np.zeros(0, dtype=np.int64)
    return Bends(none, np.zeros(1, dtype=np.int64), none.copy(), np.zeros((0, 3)), np.zeros(0))


def bends(mesh: Mesh, bending: float) -> Bends:
    """All nodes of a rest shape with bending stiffness kappa, N m."""
    found = _unscaled(mesh)
    # copies: Numba takes a read-only array for another type, and would compile every kernel anew
    return Bends(
        found.node.copy(), found.ptr.copy(), found.ring.copy(), found.weight.copy(), found.scale * bending
    )  # fmt: skip


def at_nodes(found: Bends, nodes: IntArray) -> Bends:
    """The same of a piece whose nodes are some (n,) of a larger mesh."""
    return found._replace(node=nodes[found.node], ring=nodes[found.ring])


def joined(parts: list[Bends]) -> Bends:
    """Those of several pieces."""
    starts = np.cumsum([0] + [len(part.ring) for part in parts])
    ptr = np.concatenate([[0], *(part.ptr[1:] + start for part, start in zip(parts, starts, strict=False))])
    node, ring, weight, scale = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("node", "ring", "weight", "scale")
    )
    return Bends(node, ptr.astype(np.int64), ring, weight, scale)


def room(found: Bends) -> Bent:
    """Room for how a cloth is bent."""
    count = len(found.node)
    largest = int(np.diff(found.ptr).max(initial=0))
    return Bent(np.zeros((count, 3, 3)), np.zeros(count), np.zeros(count), np.zeros((largest + 1, 3)))


def bends_along(mesh: Mesh, x: FloatArray, way: FloatArray) -> FloatArray:
    """(n,) J per N m: how the energy of every node of a rest shape, over kappa, changes along a way (n, 3) m."""
    b = _unscaled(mesh)
    curved = np.zeros((2, len(b.node), 3, 3))
    owner = np.repeat(np.arange(len(b.node)), np.diff(b.ptr))
    for found, y in zip(curved, (x, way), strict=True):
        np.add.at(found, owner, b.weight[:, :, None] * (y[b.ring] - y[b.node[owner]])[:, None])
    known = np.empty((3, len(b.node)))
    measures(np.einsum("ekd,ekd->e", curved[0], curved[0]), known)
    return np.asarray(b.scale * known[1] * np.einsum("ekd,ekd->e", curved[0], curved[1]))


@memoised
def _unscaled(mesh: Mesh) -> Bends:
    """Of a cloth with kappa = 1 N m."""
    area, parts = curvatures(mesh, "hessian")
    lengths = _lengths(mesh)
    l2 = lengths[:, 0] * lengths[:, 1]
    by = np.stack([lengths[:, 0], np.sqrt(2.0 * l2), lengths[:, 1]])
    (_, xx), (_, xy), (_, yy) = parts
    both = sp.csr_matrix(abs(xx) + abs(xy) + abs(yy))
    row, column = (part.astype(np.int64) for part in both.nonzero())
    other = row != column
    row, column = row[other], column[other]
    weight = np.stack([
        factor[row] * np.asarray(matrix[row, column]).ravel() for factor, (_, matrix) in zip(by, parts, strict=True)
    ], axis=1)  # fmt: skip
    ptr = np.searchsorted(row, np.arange(mesh.n_vertices + 1)).astype(np.int64)
    return Bends(np.arange(mesh.n_vertices), ptr, column, weight, area / l2)


def _lengths(mesh: Mesh) -> FloatArray:
    """(n, 2) m, lengths of the edges around every node along the axes of its frame, the long parts counting most."""
    first, second, _ = tangent_frames(mesh)
    edge = mesh.vertices[mesh.edges[:, 1]] - mesh.vertices[mesh.edges[:, 0]]
    out = np.empty((mesh.n_vertices, 2))
    for axis, frame in enumerate((first, second)):
        fourth, square = np.zeros(mesh.n_vertices), np.zeros(mesh.n_vertices)
        for end in mesh.edges.T:
            along = np.einsum("ed,ed->e", edge, frame[end]) ** 2
            fourth += np.bincount(end, along**2, minlength=mesh.n_vertices)
            square += np.bincount(end, along, minlength=mesh.n_vertices)
        out[:, axis] = np.sqrt(fourth / square)
    return out


@inlined
def _psi(u: float) -> tuple[float, float, float]:
    """psi - u, psi' - 1 and psi''."""
    pole = 0.25 * STEEP
    w = min(u, CLOSED / pole)
    r = 1.0 / (1.0 - pole * w)
    value, slope, second = w * w * r / 12.0, (2.0 * w * r + pole * w * w * r * r) / 12.0, r * r * r / 6.0
    beyond = u - w
    return value + beyond * (slope + 0.5 * second * beyond), slope + second * beyond, second


@kernel
def stiffen(b: Bends, bent: Bent, y: FloatArray, force: FloatArray) -> float:
    """Energy (J) at positions y (n, 3), relative to none; its gradient is added to force (n, 3), `bent` is written."""
    total = 0.0
    for e in range(len(b.node)):
        u = curve(b, e, y, bent.curvature)
        value, slope, second = _psi(u)
        bent.slope[e], bent.second[e] = b.scale[e] * slope, 2.0 * b.scale[e] * second
        total += 0.5 * b.scale[e] * value
        c, f, i = bent.curvature[e], bent.slope[e], b.node[e]
        for q in range(b.ptr[e], b.ptr[e + 1]):
            j = b.ring[q]
            w0, w1, w2 = f * b.weight[q, 0], f * b.weight[q, 1], f * b.weight[q, 2]
            for d in range(3):
                pull = w0 * c[0, d] + w1 * c[1, d] + w2 * c[2, d]
                force[j, d] += pull
                force[i, d] -= pull
    return total


@inlined
def curve(b: Bends, e: int, y: FloatArray, curvature: FloatArray) -> float:
    """u, and W y in curvature[e]."""
    i, c = b.node[e], curvature[e]
    for k in range(3):
        for d in range(3):
            c[k, d] = 0.0
    for q in range(b.ptr[e], b.ptr[e + 1]):
        j = b.ring[q]
        for d in range(3):
            off = y[j, d] - y[i, d]
            c[0, d] += b.weight[q, 0] * off
            c[1, d] += b.weight[q, 1] * off
            c[2, d] += b.weight[q, 2] * off
    u = 0.0
    for k in range(3):
        for d in range(3):
            u += c[k, d] * c[k, d]
    return u


@inlined
def pulls(b: Bends, bent: Bent, e: int) -> int:
    """g of a node in `bent.pull`, its ring first and itself last; returns how many these are."""
    c, begin, m = bent.curvature[e], b.ptr[e], b.ptr[e + 1] - b.ptr[e]
    for d in range(3):
        bent.pull[m, d] = 0.0
    for a in range(m):
        w = b.weight[begin + a]
        for d in range(3):
            bent.pull[a, d] = w[0] * c[0, d] + w[1] * c[1, d] + w[2] * c[2, d]
            bent.pull[m, d] -= bent.pull[a, d]
    return m + 1


@dataclass(frozen=True, eq=False)
class Stiffening:
    """The same as a term over stencils, for what asks for second derivatives node by node: statics and adjoints."""

    bends: Bends
    name: str = "stiffening"

    @cached_property
    def stencils(self) -> IntArray:
        """(b, m): the ring, as often the node itself as there is room, and the node."""
        sizes = np.diff(self.bends.ptr)
        m = int(sizes.max(initial=0)) + 1
        out = np.repeat(self.bends.node[:, None], m, axis=1)
        place = np.arange(len(self.bends.ring)) - np.repeat(self.bends.ptr[:-1], sizes)
        out[np.repeat(np.arange(len(sizes)), sizes), place] = self.bends.ring
        return out

    @cached_property
    def _weights(self) -> FloatArray:
        """(b, m, 3) W of the stencils."""
        sizes = np.diff(self.bends.ptr)
        out = np.zeros((*self.stencils.shape, 3))
        place = np.arange(len(self.bends.ring)) - np.repeat(self.bends.ptr[:-1], sizes)
        out[np.repeat(np.arange(len(sizes)), sizes), place] = self.bends.weight
        out[:, -1] = -out.sum(axis=1)
        return out

    def _bent(self, x: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """W y (b, 3, 3), psi - u, psi' - 1 and psi'' (b,)."""
        curvature = np.einsum("emk,emd->ekd", self._weights, x[self.stencils] - x[self.bends.node][:, None])
        found = np.empty((3, len(curvature)))
        measures(np.einsum("ekd,ekd->e", curvature, curvature), found)
        return curvature, *found

    def energy(self, x: FloatArray, out: FloatArray) -> None:
        """Write the energy of every node, (b,) J."""
        out[:] = 0.5 * self.bends.scale * self._bent(x)[1]

    def gradient(self, x: FloatArray, out: FloatArray) -> None:
        """Write dE/dx, (b, m, 3) N."""
        curvature, _, slope, _ = self._bent(x)
        out[:] = np.einsum("e,emk,ekd->emd", self.bends.scale * slope, self._weights, curvature)

    def hessian(self, x: FloatArray, out: FloatArray, psd: bool) -> None:
        """Write d^2E/dx^2, (b, 3m, 3m) N/m, which is positive semidefinite."""
        curvature, _, slope, second = self._bent(x)
        scale = self.bends.scale
        out[:] = self.blocks(Bent(curvature, scale * slope, 2.0 * scale * second, np.empty((0, 3))))

    def blocks(self, bent: Bent) -> FloatArray:
        """The same, (b, 3m, 3m) N/m, where the cloth is bent like that."""
        pull = np.einsum("emk,ekd->emd", self._weights, bent.curvature)
        g = pull.reshape(len(pull), pull.shape[1] * 3)
        out = bent.second[:, None, None] * g[:, :, None] * g[:, None, :]
        w = np.einsum("e,eik,ejk->eij", bent.slope, self._weights, self._weights)
        for d in range(3):
            out[:, d::3, d::3] += w
        return np.asarray(out)

    def rest_gradient(self, x: FloatArray) -> FloatArray:
        """Rest shapes are varied as a whole: see `adjoint/nets.py`."""
        raise NotImplementedError

    def parameter_gradient(self, x: FloatArray) -> Mapping[str, FloatArray]:
        """Derivative (b, m, 3) of the gradient in a factor of kappa, N."""
        out = np.empty((*self.stencils.shape, 3))
        self.gradient(x, out)
        return {"bending": out}


@kernel
def measures(u: FloatArray, out: FloatArray) -> None:
    """psi - u, psi' - 1 and psi'' (3, b) of u (b,)."""
    for e in range(len(u)):
        out[0, e], out[1, e], out[2, e] = _psi(u[e])
