"""A flat rectangle with unstructured triangles."""

from __future__ import annotations

import numpy as np

from isocloth.base.typing import FloatArray
from isocloth.meshes import arguments
from isocloth.meshes.mesh import Mesh
from isocloth.meshes.mesher import mesh_polygon, spacing_for_nodes
from isocloth.meshes.polygons import resample


def irregular_rectangle(width: float, height: float, nodes: int = 472, seed: int = 0) -> Mesh:
    """Rectangle 0 <= x <= width, 0 <= y <= height in the plane z = 0 with irregular triangles.

    Parameters
    ----------
    width, height : sides along x and y, in m.
    nodes : number of nodes, at least 4; met exactly.
    seed : chooses one of many such meshes; the same seed gives the same mesh.

    The four corners are nodes, boundary nodes are evenly spaced, triangles are close to equilateral and
    their normal points towards +z.
    """
    width = arguments.length("width", width)
    height = arguments.length("height", height)
    nodes = arguments.count("nodes", nodes, least=4)
    seed = arguments.count("seed", seed, least=0, most=None)
    boundary = _boundary(width, height, nodes)
    points, triangles = mesh_polygon(boundary, nodes - len(boundary), seed=seed)
    vertices = np.column_stack([points, np.zeros(len(points))])
    return Mesh(vertices, triangles, name="irregular rectangle")


def _boundary(width: float, height: float, nodes: int) -> FloatArray:
    """Evenly spaced nodes around the rectangle, counter-clockwise from the origin, at most `nodes`."""
    spacing = spacing_for_nodes(2.0 * (width + height), width * height, nodes)
    across, along = max(1, round(width / spacing)), max(1, round(height / spacing))
    while 2 * (across + along) > nodes:
        # Rounding can ask for more than there are, in long strips or with very few nodes.
        across, along = (across - 1, along) if across > along else (across, along - 1)
    low, right = np.array([0.0, 0.0]), np.array([width, 0.0])
    top, left = np.array([width, height]), np.array([0.0, height])
    sides = [(low, right, across), (right, top, along), (top, left, across), (left, low, along)]
    return np.concatenate([resample(np.stack([a, b]), count)[:-1] for a, b, count in sides])
