"""The border of triangles: its own rows, which make the forces of an even stretch those of linear elements.

E, F and G of a node are means over its elements, weighted with its hat function N_k. With the integral m_k of N_k as
weight of its rows, all nodes together integrate the metric over the whole sheet, because the hats add up to one:

    sum_k m_k C_k = integral of C,        so of an even stretch   sum_k w m_k C_k dC_k/dx = w C d/dx integral of C,

which is what linear elements resist with: nothing inside, and the traction at the border. Without the hats of border
nodes a part of it is missing: next to the border, lines of nodes are less stiff than the weight they carry, the sheet
is sheared there, and squeezed across.

All of E, F and G at border nodes would leave no freedom. But a border that is free bears tension along itself only, and
of such a stretch nothing but the metric along the border is needed: one row per node, as many as there are edges. At a
corner it is the metric along both of its sides.
"""

from __future__ import annotations

import numpy as np

from isocloth.base.typing import FloatArray, IntArray
from isocloth.meshes import Mesh
from isocloth.terms.elements import gauss
from isocloth.terms.frames import node_directions
from isocloth.terms.metric import at_nodes, element_metric
from isocloth.terms.rows import Rows, pack, stack


def border_metric(mesh: Mesh) -> tuple[Rows, IntArray]:
    """The metric along the border at its nodes, those of corners along both sides; and the node (r,) of every row."""
    loops = mesh.boundary_loops
    edges = np.concatenate([np.stack([loop, np.roll(loop, -1)], axis=1) for loop in loops] or [mesh.boundary_edges])
    unit = mesh.vertices[edges[:, 1]] - mesh.vertices[edges[:, 0]]
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    along = np.zeros((2, mesh.n_vertices, 3))  # of the edges that begin and end at a node
    np.add.at(along[0], edges[:, 0], unit)
    np.add.at(along[1], edges[:, 1], unit)
    on_border = np.unique(edges)
    corners = np.intersect1d(on_border, mesh.corners)
    smooth = np.setdiff1d(on_border, corners)
    parts = [(_metric_along(mesh, along.sum(axis=0), smooth), smooth)]
    parts += [(_metric_along(mesh, side, corners), corners) for side in along]
    return stack(*[rows for rows, _ in parts]), np.concatenate([nodes for _, nodes in parts])


def _metric_along(mesh: Mesh, direction: FloatArray, nodes: IntArray) -> Rows:
    """The metric at some nodes in directions (n, 3)."""
    c, s = (np.einsum("nx,nx->n", direction, axis) for axis in node_directions(mesh.vertices, mesh.faces))
    length = np.hypot(c, s)
    length[length == 0.0] = 1.0
    c, s = ((part / length)[mesh.faces][:, :, None, None] for part in (c, s))
    e, f, g = (element_metric(mesh, name, gauss(mesh.faces.shape[1])) for name in "EFG")
    return pack(*at_nodes(mesh, c * c * e + 2.0 * c * s * f + s * s * g, nodes), mesh.vertices, len(nodes))
