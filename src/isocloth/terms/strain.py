"""Stretch and shear of an elastic membrane, triangle by triangle (Baraff and Witkin, Large steps in cloth simulation).

In a triangle the positions are linear functions of the rest coordinates u (warp) and v (weft), with constant
derivatives w_u and w_v. Stretch is C = abs(w_u) - 1 and abs(w_v) - 1, shear is w_u . w_v; the energies per area are k
C^2 / 2 (their conditions carry a further factor of area, which makes the stiffness depend on the mesh). abs(w_u) is
the length of one combination of the nodes, so the stretch is a row with `root`, and the shear a quadratic one.

A quad counts as the four triangles at its corners, each with half its weight, so that no diagonal is preferred: on a
rectangular net stretch is that of the edges, and shear the angle at every corner of a cell.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from isocloth.base.memo import memoised, varied
from isocloth.base.typing import FloatArray, IntArray
from isocloth.meshes import Mesh
from isocloth.terms.frames import node_directions
from isocloth.terms.rows import Rows, lengths, pack, weighted


def stretch_rows(mesh: Mesh, warp: float, weft: float) -> Rows:
    """2 (abs(w_u) - 1) and 2 (abs(w_v) - 1), weighted by the stiffnesses (N/m) times areas; equal ones are merged."""
    rows, group, area = _stretch(mesh)
    weight = np.concatenate([warp * area, weft * area]) / 4.0
    return weighted(rows, np.bincount(group, weight).astype(np.float64))


@memoised
def _stretch(mesh: Mesh) -> tuple[Rows, IntArray, FloatArray]:
    """Rows of stretch, the row (2 t,) of every triangle's warp and then weft, and the areas (t,) of triangles."""
    nodes, gradients, area = derivatives(mesh)
    count = len(nodes)
    corner = np.concatenate([nodes, nodes])
    factor = np.concatenate([gradients[..., 0], gradients[..., 1]])
    kind = np.repeat([0, 1], count)
    # sorted by node and with a sign that does not depend on the triangle, the same edge of two cells is found equal
    size = np.abs(factor).max(axis=1, keepdims=True)
    if not varied():  # of variations the same rows are wanted, whether some happen to be equal or not
        factor = np.where(np.abs(factor) > 1e-9 * size, factor, 0.0)
    named = np.where(factor != 0.0, corner, mesh.n_vertices)
    order = np.argsort(named, axis=1, kind="stable")
    corner, factor, named = (np.take_along_axis(array, order, 1) for array in (corner, factor, named))
    factor = factor * np.sign(factor[:, :1])
    key = np.concatenate([named, np.round(factor / size * 1e6), kind[:, None]], axis=1)
    _, chosen, group = np.unique(key, axis=0, return_index=True, return_inverse=True)
    if varied():
        chosen = group = np.arange(len(key))
    corner, factor = corner[chosen], factor[chosen]
    row = np.broadcast_to(np.arange(len(chosen))[:, None, None], (len(chosen), 3, 3))
    i = np.broadcast_to(corner[:, :, None], row.shape)
    value = factor[:, :, None] * factor[:, None, :]
    used = value != 0.0
    rows = pack(row[used], i[used], i.transpose(0, 2, 1)[used], value[used], mesh.vertices, len(chosen))
    return lengths(rows), group.ravel(), area


def shear_rows(mesh: Mesh, stiffness: float) -> Rows:
    """w_u . w_v in every triangle, weighted by the stiffness (N/m) times its area."""
    rows, area = _shear(mesh)
    # a tiny weight keeps the row usable when the user asks for no resistance at all
    return weighted(rows, np.maximum(stiffness, 1e-9) * area)


@memoised
def _shear(mesh: Mesh) -> tuple[Rows, FloatArray]:
    """Rows of shear and the areas (t,) of their triangles."""
    nodes, gradients, area = derivatives(mesh)
    row = np.broadcast_to(np.arange(len(nodes))[:, None, None], (len(nodes), 3, 3))
    i = np.broadcast_to(nodes[:, :, None], row.shape)
    u, v = gradients[..., 0], gradients[..., 1]
    value = 0.5 * (u[:, :, None] * v[:, None, :] + v[:, :, None] * u[:, None, :])
    rows = pack(row.ravel(), i.ravel(), i.transpose(0, 2, 1).ravel(), value.ravel(), mesh.vertices, len(nodes))
    return replace(rows, enforced=np.zeros(len(rows), dtype=bool)), area


def derivatives(mesh: Mesh) -> tuple[IntArray, FloatArray, FloatArray]:
    """Triangles (t, 3), factors (t, 3, 2) that take their positions to w_u and w_v, 1/m, and their areas (t,) m^2."""
    faces = mesh.faces
    if mesh.element == "quad":
        nodes = np.concatenate([np.stack([faces[:, k], faces[:, (k + 1) % 4], faces[:, k - 1]], axis=1)
                                for k in range(4)])  # fmt: skip
    else:
        nodes = faces
    p = mesh.vertices[nodes]
    a, b = p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]
    normal = np.cross(a, b)
    double = np.linalg.norm(normal, axis=1, keepdims=True)
    normal = normal / double
    warp = _warp(mesh, nodes, a, b, normal)
    weft = np.cross(normal, warp)
    au, av = np.sum(a * warp, axis=1), np.sum(a * weft, axis=1)
    bu, bv = np.sum(b * warp, axis=1), np.sum(b * weft, axis=1)
    inverse = np.stack([np.stack([bv, -bu], axis=1), np.stack([-av, au], axis=1)], axis=1) / double[:, :, None]
    gradients = np.stack([-inverse.sum(axis=1), inverse[:, 0], inverse[:, 1]], axis=1)
    share = 0.25 if mesh.element == "quad" else 0.5
    return nodes, gradients, share * double[:, 0]


def _warp(mesh: Mesh, nodes: IntArray, a: FloatArray, b: FloatArray, normal: FloatArray) -> FloatArray:
    """Direction of the warp in every triangle (t, 3): on quads along the edge that is closest to it."""
    first, _ = node_directions(mesh.vertices, mesh.faces)
    warp = first[nodes].mean(axis=1)
    warp -= np.sum(warp * normal, axis=1, keepdims=True) * normal
    if mesh.element == "quad":
        unit_a, unit_b = (e / np.linalg.norm(e, axis=1, keepdims=True) for e in (a, b))
        along_a, along_b = np.sum(unit_a * warp, axis=1), np.sum(unit_b * warp, axis=1)
        nearer = (np.abs(along_a) >= np.abs(along_b))[:, None]
        warp = np.where(nearer, unit_a * np.sign(along_a)[:, None], unit_b * np.sign(along_b)[:, None])
    warp /= np.linalg.norm(warp, axis=1, keepdims=True)
    return warp
