"""How far the faces at a node are from those of one fold: developability of triangle meshes (Stein, Grinspun and
Crane, Developability of triangle meshes, 2018), and the variant of the thesis of Ly (4.4, 4.5, 6.1).

A node is a hinge where its faces lie in two planes: then a ruling goes through it. With unit normals n_f around it,

    "partition"   min over two runs F_1, F_2 of faces of  sum_p sum_{f in F_p} |n_f - mean_p|^2 / |F_p|
    "direction"   min over unit vectors u of  sum_f alpha_f (u . n_f)^2,      alpha_f the angle of the face at the node
    "pairs"       sum over faces f, f + 1 that are neighbours, and all others g, of (u . n_g)^2,
                  u = n_f x n_{f+1} / |n_f x n_{f+1}|, nothing of faces that are parallel

All vanish at a hinge, and more than what is developable does: a cone is, and its apex is none; a mesh of a smooth
developable surface bends at every edge, and is none either until edges follow the rulings.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from isocloth.base.errors import InputError, MeshError
from isocloth.base.numeric import is_one_of, shown
from isocloth.base.typing import FloatArray, IntArray
from isocloth.measure.curvature import corner_angles
from isocloth.measure.frames import frames_of
from isocloth.meshes import Mesh

WAYS = ("partition", "direction", "pairs")
#: sine of the angle of two normals below which faces are parallel
PARALLEL = 1e-9


def normal_spread(mesh: Mesh, positions: ArrayLike | None = None, *, by: str = "direction") -> FloatArray:
    """(..., n) of every interior node of a triangle mesh at positions (..., n, 3), its vertices if None; 0 at borders.

    by: "partition" (1), "direction" (rad) or "pairs" (1).
    """
    if mesh.element != "triangle":
        raise MeshError(f"faces need one normal each, got {mesh!r}: give `mesh.triangulated()`")
    if not is_one_of(by, WAYS):
        raise InputError(f"by = {shown(by)}: expected one of {', '.join(map(repr, WAYS))}")
    at: ArrayLike = mesh.vertices if positions is None else positions
    frames, fans = frames_of(mesh, at), fans_of(mesh)
    found = np.zeros((len(frames), mesh.n_vertices))
    for frame, out in zip(frames, found, strict=True):
        p = frame[mesh.faces]
        normals = np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0])
        normals /= np.maximum(np.linalg.norm(normals, axis=1), 1e-300)[:, None]
        angles = corner_angles(frame, mesh.faces)[0]
        for node, fan in fans.items():
            if by == "partition":
                out[node] = _of_partition(normals[fan])
            elif by == "direction":
                weight = angles[fan][mesh.faces[fan] == node]
                out[node] = max(float(np.linalg.eigvalsh((normals[fan].T * weight) @ normals[fan])[0]), 0.0)
            else:
                out[node] = _of_pairs(normals[fan])
    return found[0] if np.ndim(at) == 2 else found


def fans_of(mesh: Mesh) -> dict[int, IntArray]:
    """Interior node -> its faces, in turn."""
    inside = set(mesh.interior_nodes.tolist())
    after: dict[int, dict[int, tuple[int, int]]] = {node: {} for node in inside}
    for face, corners in enumerate(mesh.faces.tolist()):
        for k, node in enumerate(corners):
            if node in inside:
                after[node][corners[(k + 1) % 3]] = (face, corners[k - 1])
    fans = {}
    for node, turn in after.items():
        fan, at = [], next(iter(turn))
        for _ in range(len(turn)):
            face, at = turn[at]
            fan.append(face)
        fans[node] = np.array(fan, dtype=np.int64)
    return fans


def _of_partition(n: FloatArray) -> float:
    """Of normals (m, 3) in turn: every cut of the turn into two runs, one face at least in each."""
    m, best = len(n), np.inf
    for begin in range(m):
        around = np.roll(n, -begin, axis=0)
        for count in range(1, m):
            best = min(best, _unevenness(around[:count]) + _unevenness(around[count:]))
    return best


def _unevenness(n: FloatArray) -> float:
    return float(np.mean(np.sum((n - n.mean(axis=0)) ** 2, axis=1)))


def _of_pairs(n: FloatArray) -> float:
    """Of normals (m, 3) in turn."""
    axis = np.cross(n, np.roll(n, -1, axis=0))
    size = np.linalg.norm(axis, axis=1)
    axis = np.where(size[:, None] > PARALLEL, axis / np.maximum(size, PARALLEL)[:, None], 0.0)
    return float(np.sum((axis @ n.T) ** 2))  # those of the pair itself are zero
