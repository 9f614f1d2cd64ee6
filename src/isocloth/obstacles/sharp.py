"""Sharp convex edges of bodies, over which the cloth bends: straight ones, and rims of cylinders.

A body that is known by its distance from points has its edges hidden in it: from one side of an edge to the other the
normal turns within the thickness of the cloth, which points of a mesh a hundred times as coarse step over. So bodies
name their edges, and the cloth is held off them as a smooth surface (`contact.bends`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from isocloth.base.typing import FloatArray, IntArray

#: rad: faces of a mesh that meet at less than this angle are one smooth surface, which single points of the cloth see
SHARP = np.deg2rad(15.0)


class SharpEdges(NamedTuple):
    """Edges of a body; a rim is the circle with a radius about `start`, in the plane across `first`."""

    start: FloatArray  #: (e, 3) m
    end: FloatArray  #: (e, 3) m
    first: FloatArray  #: (e, 3) normals of the two faces that meet there, out of the body
    second: FloatArray  #: (e, 3); of a rim any vector: it is the direction away from the axis
    radius: FloatArray  #: (e,) m, of a rim; 0 of a straight edge
    depth: FloatArray  #: (e,) m: how deep the body is behind an edge; what is further in is nearer to another side

    def placed(self, turn: FloatArray, centre: FloatArray) -> SharpEdges:
        """The same edges of a body that was turned by (3, 3) and moved by (3,) m."""
        return SharpEdges(
            self.start @ turn.T + centre, self.end @ turn.T + centre, self.first @ turn.T, self.second @ turn.T,
            self.radius, self.depth,
        )  # fmt: skip


NO_EDGES = SharpEdges(
    np.zeros((0, 3)), np.zeros((0, 3)), np.zeros((0, 3)), np.zeros((0, 3)), np.zeros(0), np.zeros(0)
)  # fmt: skip


def box_edges(size: FloatArray) -> SharpEdges:
    """The twelve edges of a cuboid with edge lengths size (3,), m."""
    ends, normals = [], []
    for axis in range(3):
        for a in (-1.0, 1.0):
            for b in (-1.0, 1.0):
                faces = np.zeros((2, 3))
                faces[0, (axis + 1) % 3], faces[1, (axis + 2) % 3] = a, b
                along = np.eye(3)[axis]
                ends.append([0.5 * size * (faces.sum(axis=0) - along), 0.5 * size * (faces.sum(axis=0) + along)])
                normals.append(faces)
    place, across = np.array(ends), np.array(normals)
    depth = np.array([0.5 * size[np.abs(f).sum(axis=0) > 0].min() for f in across])
    return SharpEdges(place[:, 0], place[:, 1], across[:, 0], across[:, 1], np.zeros(12), depth)


def rims(axis: FloatArray, length: float, radius: float) -> SharpEdges:
    """The two rims of a cylinder along the unit vector `axis` (3,) about the origin."""
    first = np.stack([-axis, axis])
    return SharpEdges(
        0.5 * length * first, 0.5 * length * first, first, np.roll(first, 1, axis=1), np.full(2, radius),
        np.full(2, min(0.5 * length, radius)),
    )  # fmt: skip


def mesh_edges(vertices: FloatArray, faces: IntArray) -> SharpEdges:
    """Convex edges of a closed surface of triangles (f, 3) that look outwards, where it turns by more than `SHARP`."""
    sides = faces[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
    opposite = vertices[faces[:, [2, 0, 1]].reshape(-1)]
    ordered = np.lexsort((*np.sort(sides, axis=1).T,))
    one, two = ordered[0::2], ordered[1::2]  # a closed surface has every edge twice
    corners = vertices[faces]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normal /= np.maximum(np.linalg.norm(normal, axis=1), 1e-300)[:, None]
    first, second = normal[one // 3], normal[two // 3]
    place = vertices[sides[one]]
    bent = np.einsum("ed,ed->e", first, opposite[two] - place[:, 0]) < 0.0
    chosen = bent & (np.einsum("ed,ed->e", first, second) < np.cos(SHARP))
    place, first, second = place[chosen], first[chosen], second[chosen]
    along = place[:, 1] - place[:, 0]
    along /= np.linalg.norm(along, axis=1)[:, None]
    depth = np.full(len(place), np.inf)
    for corner in (opposite[one][chosen], opposite[two][chosen]):
        out = corner - place[:, 0]
        depth = np.minimum(depth, np.linalg.norm(out - np.einsum("ed,ed->e", out, along)[:, None] * along, axis=1))
    return SharpEdges(place[:, 0], place[:, 1], first, second, np.zeros(len(place)), 0.5 * depth)
