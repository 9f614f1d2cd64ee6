"""Springs between nodes, as rows: along the threads, across the cells, and over every second node.

A spring of stiffness c (N/m) and length l_0 has the energy c (l - l_0)^2 / 2. As a row C = 2 (l / l_0 - 1) its weight
is w = c l_0^2 / 4. Stiffnesses are given per width of cloth, so that a finer net of the same cloth is as stiff: a
spring that stands for the area a has w = s a / 4, and stretched by the strain e the energy s e^2 / 2 per area.

- structural springs: all edges. On quads the two directions are apart, and s is Young's modulus times thickness along
  the threads. On triangles edges run in all directions, and a spring stands for the whole area of its triangles: s is
  Young's modulus times thickness of a net of equilateral triangles, with Poisson's ratio 1/3 (Van Gelder, Approximate
  simulation of elastic membranes by triangulated spring meshes, 1998), and about that of others.
- shear springs: both diagonals of every quad. Of a cell with area a and diagonals l the weight w = k_s l^4 / (8 a)
  makes a shear by the small angle g cost k_s g^2 / 2 per area.
- flexion springs: between opposite neighbours of a node on quads, between the far corners of two triangles with a
  common edge. A fold shortens them: by the square of the angle, so that their energy is of the fourth order in
  curvature, and depends on the mesh. A flat cloth they make stiffer by s.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from isocloth.base.memo import memoised
from isocloth.base.typing import FloatArray, IntArray
from isocloth.meshes import Mesh
from isocloth.terms.isometry import edges
from isocloth.terms.mass import lumped_areas
from isocloth.terms.rows import Rows, lengths, weighted


def springs(mesh: Mesh, pairs: IntArray, weight: FloatArray, *, enforced: bool) -> Rows:
    """C = 2 (l / l_0 - 1) of pairs of nodes (s, 2), with weights (s,) J; `enforced` counts them as stretch."""
    return weighted(_unweighted(mesh, pairs, enforced), weight)


@memoised
def _unweighted(mesh: Mesh, pairs: IntArray, enforced: bool) -> Rows:
    rows = lengths(edges(mesh, pairs))
    return replace(rows, enforced=np.full(len(rows), enforced))


def structural_springs(mesh: Mesh, stiffness: float) -> Rows:
    """Springs along all edges; stiffness s in N/m."""
    # the second face of an edge of the border is -1 and has no area
    around = np.append(mesh.face_areas, 0.0)[mesh.edge_faces].sum(axis=1)
    share = around / 2 if mesh.element == "quad" else around
    return springs(mesh, mesh.edges, stiffness * share / 4, enforced=True)


def shear_springs(mesh: Mesh, stiffness: float) -> Rows:
    """Springs along both diagonals of every quad; stiffness k_s in N/m."""
    pairs = np.concatenate([mesh.faces[:, [0, 2]], mesh.faces[:, [1, 3]]])
    square = np.sum((mesh.vertices[pairs[:, 0]] - mesh.vertices[pairs[:, 1]]) ** 2, axis=1)
    return springs(mesh, pairs, stiffness * square**2 / (8.0 * np.tile(mesh.face_areas, 2)), enforced=False)


def flexion_springs(mesh: Mesh, stiffness: float) -> Rows:
    """Springs over every second node; stiffness s in N/m."""
    pairs, share = _second_neighbours(mesh)
    return springs(mesh, pairs, stiffness * share / 4, enforced=False)


@memoised
def _second_neighbours(mesh: Mesh) -> tuple[IntArray, FloatArray]:
    """Pairs of nodes (s, 2) that flexion springs join, and the area (s,) of cloth for each."""
    return _across_nodes(mesh) if mesh.element == "quad" else _across_edges(mesh)


def _across_nodes(mesh: Mesh) -> tuple[IntArray, FloatArray]:
    """Opposite neighbours of nodes of a quad mesh, which share no quad, and the area of cloth for each pair."""
    beside = {
        (int(face[k]), frozenset((int(face[k - 1]), int(face[(k + 1) % 4])))) for face in mesh.faces for k in range(4)
    }
    around: list[list[int]] = [[] for _ in range(mesh.n_vertices)]
    for a, b in mesh.edges.tolist():
        around[a].append(b)
        around[b].append(a)
    area = lumped_areas(mesh.vertices, mesh.faces)
    pairs, share = [], []
    for node, near in enumerate(around):
        found = [(a, b) for k, a in enumerate(near) for b in near[k + 1 :] if (node, frozenset((a, b))) not in beside]
        pairs += found
        share += [area[node] * min(1.0, 2.0 / max(len(found), 1))] * len(found)
    return np.array(pairs, dtype=np.int64).reshape(-1, 2), np.array(share)


def _across_edges(mesh: Mesh) -> tuple[IntArray, FloatArray]:
    """Far corners of two triangles with a common edge, and the area of both."""
    within = mesh.edge_faces[:, 1] >= 0
    faces, ends = mesh.edge_faces[within], mesh.edges[within]
    far = [mesh.faces[faces[:, k]].sum(axis=1) - ends.sum(axis=1) for k in range(2)]
    return np.stack(far, axis=1).astype(np.int64), mesh.face_areas[faces].sum(axis=1)
