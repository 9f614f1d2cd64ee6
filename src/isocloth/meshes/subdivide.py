"""Quads from triangles."""

from __future__ import annotations

import numpy as np

from isocloth.base.typing import FloatArray, IntArray
from isocloth.meshes.topology import edge_table


def triangles_to_quads(vertices: FloatArray, triangles: IntArray) -> tuple[FloatArray, IntArray]:
    """Cut each triangle into three flat quads that meet at its centroid.

    Vertices (n, 3) in m and triangles (m, 3) give the old nodes, the ne edge midpoints and the m centroids,
    (n + ne + m, 3), and quads (3 m, 4).
    """
    table = edge_table(triangles)
    middles = vertices[table.edges].mean(axis=1)
    centres = vertices[triangles].mean(axis=1)
    after = len(vertices) + table.side_edge.reshape(-1, 3)
    before = np.roll(after, 1, axis=1)
    centre = len(vertices) + len(middles) + np.arange(len(triangles))[:, None].repeat(3, axis=1)
    quads = np.stack([triangles, after, centre, before], axis=2).reshape(-1, 4)
    return np.concatenate([vertices, middles, centres]), quads
