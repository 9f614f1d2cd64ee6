"""A flat ring (annulus)."""

from __future__ import annotations

import numpy as np

from isocloth.base.errors import InputError
from isocloth.meshes import arguments
from isocloth.meshes.grid import grid_quads, split_alternately
from isocloth.meshes.mesh import Element, Mesh


def ring(inner_radius: float, outer_radius: float, shape: tuple[int, int] = (5, 40), element: Element = "quad") -> Mesh:
    """Ring between two circles around the origin in the plane z = 0, its normal towards +z.

    Parameters
    ----------
    inner_radius, outer_radius : radii in m; the nodes of the two boundaries lie on these circles.
    shape : numbers of nodes (radially, around), at least (2, 3); the ring closes without doubled nodes.
    element : "quad", or "triangle" for cells cut along alternating diagonals.

    Node i * shape[1] + j has the i-th radius and the angle 2 pi j / shape[1].
    """
    inner = arguments.length("inner_radius", inner_radius)
    outer = arguments.length("outer_radius", outer_radius)
    if outer <= inner:
        raise InputError(f"outer_radius is {outer} m, expected more than inner_radius = {inner} m")
    radial, around = arguments.grid_shape(shape, ("radially", "around"), (2, 3))
    element_name = arguments.element(element)
    radius, angle = np.meshgrid(
        np.linspace(inner, outer, radial), 2.0 * np.pi * np.arange(around) / around, indexing="ij"
    )
    vertices = np.stack([radius * np.cos(angle), radius * np.sin(angle), np.zeros_like(radius)], axis=2)
    cells = grid_quads(radial, around, closed=True)
    faces = cells if element_name == "quad" else split_alternately(cells, radial - 1, around)
    # A circle has no corners, even when it is drawn with so few nodes that it turns sharply at each.
    return Mesh(vertices.reshape(-1, 3), faces, corners=[], name="ring")
