"""F of a net of quads: the angle between its lines at a node, in step with the lengths of its edges.

Quadrature at the elements' corners gives F as central differences, (x+ - x-).(y+ - y-) / 4 h^2 over the four neighbours
of a node. On a surface with second fundamental form (L, M, N) that is wrong by -h^2 M (L + N) / 6, while edges, which
are chords, are wrong by -h^2 L^2 / 12 and -h^2 N^2 / 12. Taken together, a fold oblique to the net seems to stretch
along its crease, at 45 degrees by h^2 / 32 times its squared curvature; where the curvature changes, a cloth that does
not stretch would have to. Such a mesh folds too wide: it locks. The apparent stretch along the crease vanishes for
folds of every direction if F errs by -h^2 M (L + N) / 24, as differences over half the distance would. So

    F = [(x+ - x-).(y+ - y-) + (x+ + x- + y+ + y- - 4 p).(d++ - d+- - d-+ + d--) / 8] / 4 h^2

with the node p and the far corners d of its elements: the second factor is the twist, 4 h^2 M, the first h^2 (L + N).
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np

from isocloth.base.typing import FloatArray, IntArray
from isocloth.meshes import Mesh
from isocloth.terms.elements import corners
from isocloth.terms.metric import Triplets, at_nodes, element_metric
from isocloth.terms.rows import Rows, pack

TWIST = np.array([1.0, -1.0, 1.0, -1.0])


def net_angles(mesh: Mesh, nodes: IntArray) -> Rows:
    """F at the given nodes of a quad mesh; at borders and irregular nodes without the twist.

    The multiplier of such a row is kept as an unknown: only then does the matrix couple nothing beyond one element
    around a node, which halves the width of the cuts through the cloth. Its geometric stiffness is bounded by that of
    the edges of the node, S = (+-T + D) / 2 with D diagonally dominant over them: equal to T's positive part for smooth
    displacements, and it couples only nodes of one element. What D - T leaves over also bounds the product with the
    twist, once a little stiffness against twisting is added.
    """
    local = element_metric(mesh, "F", corners())
    product, resistance = _twists(mesh, local, nodes)
    plain, twisted, resisting = _same_places(mesh, len(nodes), at_nodes(mesh, local, nodes), product, resistance)
    plus, minus = np.empty_like(plain.T), np.empty_like(plain.T)
    for m in np.unique(plain.sizes):
        members = np.flatnonzero(plain.sizes == m)
        slots = plain.square[members][:, None] + np.arange(m * m)
        t = plain.T[slots].reshape(-1, m, m)
        centre = np.argmax(plain.nodes[plain.ptr[members][:, None] + np.arange(m)] == nodes[members][:, None], axis=1)
        pick = np.arange(len(members))
        bound = np.abs(t)
        bound[pick, centre, :] = bound[pick, :, centre] = 0.0
        pull = bound.sum(axis=2)  # (rows, m) stiffness of the edge from the centre to each neighbour
        d = np.zeros_like(t)
        d[:, np.arange(m), np.arange(m)] = pull
        d[pick, centre, :] -= pull
        d[pick, :, centre] -= pull
        d[pick, centre, centre] += pull.sum(axis=1)
        plus[slots] = 0.5 * (t + d).reshape(-1, m * m) + resisting.T[slots]
        minus[slots] = 0.5 * (-t + d).reshape(-1, m * m) + resisting.T[slots]
    return replace(
        plain, T=plain.T + twisted.T, rest=plain.rest + twisted.rest, plus=plus, minus=minus,
        kept=np.ones(len(plain), dtype=bool),
    )  # fmt: skip


def _same_places(mesh: Mesh, count: int, *parts: Triplets) -> list[Rows]:
    """Rows of each part alone, all with the places of all parts together."""
    row, i, j, value = (np.concatenate(column) for column in zip(*parts, strict=True))
    ends = np.cumsum([0] + [len(part[3]) for part in parts])
    place = np.arange(len(value))
    return [
        pack(row, i, j, np.where((place >= begin) & (place < end), value, 0.0), mesh.vertices, count)
        for begin, end in pairwise(ends)
    ]


def _twists(mesh: Mesh, local: FloatArray, nodes: IntArray) -> tuple[Triplets, Triplets]:
    """Second differences times twist, over 8, at nodes with four elements; and resistance to twisting, as its bound.

    An element with corners p, q, r, s adds its twist t = p - q + r - s times c, the factor of (q - p).(s - p) in F.
    With l the differences to the neighbours, |c (sum l).(sum t)| / 8 <= |c| (sum l)^2 / 8 + |c| (sum t^2) / 8, and
    D - T covers the first part.
    """
    faces = mesh.faces
    number = np.full(mesh.n_vertices, -1)
    number[nodes] = np.arange(len(nodes))
    number[mesh.boundary_nodes] = -1
    number[np.bincount(faces.ravel(), minlength=mesh.n_vertices) != 4] = -1
    where = np.argwhere(number[faces] >= 0)
    owner = number[faces[where[:, 0], where[:, 1]]]
    order = np.argsort(owner, kind="stable")
    element, corner = where[order, 0].reshape(-1, 4), where[order, 1].reshape(-1, 4)
    row = owner[order][::4]
    around = faces[element[..., None], (corner[..., None] + np.arange(4)) % 4]  # (rows, 4 elements, p q r s)
    factor = 2.0 * local[element, corner, (corner + 1) % 4, (corner + 3) % 4]
    second = np.tile([-1.0, 0.5, 0.0, 0.5], 4)  # every neighbour is in two elements
    twist = (factor[..., None] * TWIST).reshape(-1, 16)
    product = 0.125 * second[:, None] * twist[:, None, :]
    product = 0.5 * (product + product.transpose(0, 2, 1))
    size = factor**2 / (8.0 * np.abs(factor).mean(axis=1, keepdims=True))
    resistance = size[..., None, None] * np.outer(TWIST, TWIST)
    return _spread(row, around.reshape(-1, 16), product), _spread(np.repeat(row, 4), around.reshape(-1, 4),
                                                                   resistance.reshape(-1, 4, 4))  # fmt: skip


def _spread(row: IntArray, nodes: IntArray, blocks: FloatArray) -> Triplets:
    """Triplets of dense blocks (r, m, m) over nodes (r, m), without zeros."""
    i = np.broadcast_to(nodes[:, :, None], blocks.shape)
    used = blocks != 0.0
    return np.broadcast_to(row[:, None, None], blocks.shape)[used], i[used], i.transpose(0, 2, 1)[used], blocks[used]
