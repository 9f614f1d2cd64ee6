"""Where a panel begins in the plane: conformal where that turns no face over, else as an embedding in a disc.

The conformal map (Lévy et al. 2002) minimises sum of A |grad u - R grad v|^2, and is the isometry itself, but for a
scale, of what can be unrolled. Tutte's map puts the longest border on a circle and every other point at the mean of
its neighbours; holes are filled by a point each. No face turns over in it, however bad its lengths are.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from isocloth.base.typing import FloatArray, IntArray
from isocloth.meshes.polygons import closed_reach
from isocloth.meshes.topology import edge_table

#: area of a face of a conformal map, of that at the target, below which it is as good as turned over
LEAST_AREA = 1e-3


def local_frames(points: FloatArray, faces: IntArray) -> FloatArray:
    """(f, 2, 2) m, edges 0-1 and 0-2 of every face as columns, in axes of its own plane."""
    u, v = points[faces[:, 1]] - points[faces[:, 0]], points[faces[:, 2]] - points[faces[:, 0]]
    length = np.linalg.norm(u, axis=1)
    along = (u * v).sum(axis=1) / length
    height = np.linalg.norm(v - (along / length)[:, None] * u, axis=1)
    frames = np.zeros((len(faces), 2, 2))
    frames[:, 0, 0], frames[:, 0, 1], frames[:, 1, 1] = length, along, height
    return frames


def planar_frames(flat: FloatArray, faces: IntArray) -> FloatArray:
    """(f, 2, 2) m, edges 0-1 and 0-2 of every face as columns, in the plane."""
    p = flat[faces]
    return np.stack([p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]], axis=2)


def planar_start(points: FloatArray, faces: IntArray, loops: list[IntArray]) -> FloatArray:
    """(p, 2) m of a panel with these points (p, 3), as large as it is there. loops: around it, the outermost first."""
    area = 0.5 * np.linalg.det(local_frames(points, faces))
    flat = conformal(points, faces, loops[0])
    if flat is not None:
        flat = scaled(flat, faces, float(area.sum()))
        if (0.5 * np.linalg.det(planar_frames(flat, faces)) > LEAST_AREA * area).all():
            return flat
    return scaled(embedding(points, faces, loops), faces, float(area.sum()))


def scaled(flat: FloatArray, faces: IntArray, area: float) -> FloatArray:
    """The same as large as an area in m^2."""
    now = 0.5 * float(np.linalg.det(planar_frames(flat, faces)).sum())
    return flat * np.sqrt(area / now) if now > 0.0 else flat


def conformal(points: FloatArray, faces: IntArray, border: IntArray) -> FloatArray | None:
    """(p, 2) of least conformal energy, with two points of the border held; None where the matrix is singular."""
    p = len(points)
    frames = local_frames(points, faces)
    area = 0.5 * np.linalg.det(frames)
    inverse = np.linalg.inv(frames)
    # gradient of a function on a face: its values times these (f, 3, 2)
    slope = np.concatenate([-inverse.sum(axis=1, keepdims=True), inverse], axis=1)
    stiff = area[:, None, None] * slope @ slope.transpose(0, 2, 1)
    i, j = np.repeat(faces, 3, axis=1).ravel(), np.tile(faces, (1, 3)).ravel()
    laplacian = sp.csr_matrix((stiff.ravel(), (i, j)), shape=(p, p))
    a, b = faces.ravel(), np.roll(faces, -1, axis=1).ravel()
    half = np.full(len(a), 0.5)
    turn = sp.csr_matrix((half, (a, b)), shape=(p, p))
    turn = turn - turn.T  # u^T turn v is twice half the signed area
    whole = sp.block_array([[laplacian, -turn], [-turn.T, laplacian]]).tocsc()
    first = int(border[0])
    far = int(border[np.argmax(np.linalg.norm(points[border] - points[first], axis=1))])
    held = np.array([first, far, p + first, p + far])
    value = np.array([0.0, float(np.linalg.norm(points[far] - points[first])), 0.0, 0.0])
    free = np.setdiff1d(np.arange(2 * p), held)
    found = np.zeros(2 * p)
    found[held] = value
    try:
        factor = splu(whole[free][:, free].tocsc(), permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True})
    except RuntimeError:
        return None
    found[free] = factor.solve(-(whole[free][:, held] @ value))
    return found.reshape(2, p).T.copy() if np.isfinite(found).all() else None


def embedding(points: FloatArray, faces: IntArray, loops: list[IntArray]) -> FloatArray:
    """(p, 2) with the first loop on a circle around the panel, counter-clockwise; no face is turned over."""
    fans = []
    for k, hole in enumerate(loops[1:]):
        # a hole has the panel to its left, as its fan has it to the right
        centre = np.full(len(hole), len(points) + k)
        fans.append(np.stack([np.roll(hole, -1), hole, centre], axis=1))
    every = np.concatenate([faces, *fans])
    count = len(points) + len(fans)
    edges = edge_table(every).edges
    i, j = np.concatenate([edges, edges[:, ::-1]]).T
    near = sp.csr_matrix((np.ones(len(i)), (i, j)), shape=(count, count))
    laplacian = sp.csr_matrix(sp.diags_array(np.asarray(near.sum(axis=1)).ravel()) - near)
    border = loops[0]
    reach = closed_reach(points[border])
    angle = 2.0 * np.pi * reach[:-1] / reach[-1]
    flat = np.zeros((count, 2))
    flat[border] = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    inner = np.setdiff1d(np.arange(count), border)
    if len(inner):
        flat[inner] = splu(laplacian[inner][:, inner].tocsc()).solve(-(laplacian[inner][:, border] @ flat[border]))
    return flat[: len(points)]
