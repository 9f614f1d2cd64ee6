"""A flat rectangle on a regular grid."""

from __future__ import annotations

import numpy as np

from isocloth.meshes import arguments
from isocloth.meshes.grid import grid_quads, split_alternately
from isocloth.meshes.mesh import Element, Mesh


def rectangle(width: float, height: float, shape: tuple[int, int] = (20, 20), element: Element = "quad") -> Mesh:
    """Rectangle 0 <= x <= width, 0 <= y <= height in the plane z = 0, its normal towards +z.

    Parameters
    ----------
    width, height : sides along x and y, in m.
    shape : numbers of nodes (along x, along y), each at least 2.
    element : "quad", or "triangle" for cells cut along alternating diagonals.

    Node i * shape[1] + j lies at x = i width / (shape[0] - 1), y = j height / (shape[1] - 1).
    """
    width = arguments.length("width", width)
    height = arguments.length("height", height)
    nx, ny = arguments.grid_shape(shape, ("along x", "along y"), (2, 2))
    element_name = arguments.element(element)
    x, y = np.meshgrid(np.linspace(0.0, width, nx), np.linspace(0.0, height, ny), indexing="ij")
    vertices = np.stack([x, y, np.zeros_like(x)], axis=2).reshape(-1, 3)
    cells = grid_quads(nx, ny)
    faces = cells if element_name == "quad" else split_alternately(cells, nx - 1, ny - 1)
    return Mesh(vertices, faces, name="rectangle")
