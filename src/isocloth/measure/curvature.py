"""Discrete Gaussian curvature: what is missing of a full turn around a node.

    C_i = 2 pi - sum over the faces at i of their angle at i,    kappa_i = C_i / A_i

at interior nodes i, with A_i a third of the triangles at i (M. Ly, Static inverse modelling of cloth, 2021, 4.1, 6.2).
C_i is the integral of the Gaussian curvature over what belongs to the node: over a closed surface it sums up to 2 pi
times Euler's characteristic, whatever the mesh (Gauss and Bonnet). It is zero everywhere just where faces can be laid
flat around every interior node without a stretch: where the mesh is developable.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from isocloth.base.typing import FloatArray, IntArray
from isocloth.measure.frames import frames_of
from isocloth.meshes import Mesh


def gauss_curvature(mesh: Mesh, positions: ArrayLike | None = None, *, per_area: bool = False) -> FloatArray:
    """C (..., n), rad, at positions (..., n, 3), the vertices of the mesh if None; 0 at borders.

    per_area: kappa = C / A, 1/m^2, instead, with A of the same positions. Corners of quads are those of their sides.
    """
    at: ArrayLike = mesh.vertices if positions is None else positions
    frames, inside = frames_of(mesh, at), mesh.interior_nodes
    found = np.zeros((len(frames), mesh.n_vertices))
    for frame, out in zip(frames, found, strict=True):
        angle, _ = corner_angles(frame, mesh.faces)
        turn = np.bincount(mesh.faces.ravel(), angle.ravel(), minlength=mesh.n_vertices)
        out[inside] = 2.0 * np.pi - turn[inside]
        if per_area:
            out[inside] /= _shares(frame, mesh)[inside]
    return found[0] if np.ndim(at) == 2 else found


def corner_angles(x: FloatArray, faces: IntArray) -> tuple[FloatArray, FloatArray]:
    """Angle (f, m) rad of every corner of faces (f, m) at positions x (n, 3), and its derivative (f, m, 3, 3), 1/m, in
    the corner, the one after it and the one before it.

    With arms u, v to these two and N the unit normal of their plane, it changes by -(N x u) / |u|^2 and (N x v) / |v|^2
    as their ends do: an end that moves across its arm turns it.
    """
    here = x[faces]
    u, v = np.roll(here, -1, axis=1) - here, np.roll(here, 1, axis=1) - here
    normal = np.cross(u, v)
    sine, cosine = np.linalg.norm(normal, axis=2), np.sum(u * v, axis=2)
    normal /= np.maximum(sine, 1e-300)[:, :, None]
    after = -np.cross(normal, u) / np.maximum(np.sum(u * u, axis=2), 1e-300)[:, :, None]
    before = np.cross(normal, v) / np.maximum(np.sum(v * v, axis=2), 1e-300)[:, :, None]
    return np.arctan2(sine, cosine), np.stack([-after - before, after, before], axis=2)


def _shares(x: FloatArray, mesh: Mesh) -> FloatArray:
    """A (n,) m^2: of every face its part, a third of a triangle or a quarter of a quad, at each of its corners."""
    here = x[mesh.faces]
    m = here.shape[1]
    middle = here.mean(axis=1, keepdims=True)
    parts = np.cross(here - middle, np.roll(here, -1, axis=1) - middle)  # triangles around the centre
    area = np.linalg.norm(parts, axis=2).sum(axis=1) / 2.0
    return np.asarray(np.bincount(mesh.faces.ravel(), np.repeat(area / m, m), minlength=mesh.n_vertices))
