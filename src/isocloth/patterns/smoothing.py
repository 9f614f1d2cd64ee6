"""A captured surface with less of its errors: the smoothest one near it, as near as cross-validation says.

    min  |x - p|^2 + b sum |grad x_f - grad x_g|^2    over pairs of faces with a common edge in a panel

where gradients are taken in flat panels. Their jumps are bends and changes of stretch, the sum is the square of second
derivatives, and does not depend on how fine the mesh is. A plane has none, so that nothing shrinks at borders. The
problem is linear; b is chosen as small errors in points left out would choose it (generalised cross-validation).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from isocloth.base.typing import FloatArray
from isocloth.inverse.strain_smoothness import neighbours
from isocloth.meshes import Mesh
from isocloth.patterns.cut import Cut
from isocloth.patterns.planar_start import planar_frames

#: of the square of the mean edge: values of b that are tried
TRIED = np.logspace(-4.0, 4.0, 33)
#: random signs with which the freedom of the fit is estimated
PROBES, SEED = 24, 20261119


class Smoothed(NamedTuple):
    """points: (n, 3) m. noise: m, error of a coordinate that was taken away, as the fit says. followed: part of errors
    that the fit follows. weight: m^2, b."""

    points: FloatArray
    noise: float
    followed: float
    weight: float


def smoothed(mesh: Mesh, cut: Cut, flat: FloatArray) -> Smoothed:
    """The surface with less of its errors; flat: (p, 2) m, its panels in the plane."""
    bends = gradient_jumps(mesh, cut, flat)
    n = mesh.n_vertices
    penalty, edge = sp.csc_matrix(bends.T @ bends), float(np.mean(mesh.edge_lengths))
    signs = np.random.default_rng(SEED).choice([-1.0, 1.0], (n, PROBES))
    best: tuple[float, Smoothed] | None = None
    for weight in TRIED * edge**2:
        solve = splu(sp.csc_matrix(sp.identity(n) + weight * penalty), permc_spec="MMD_AT_PLUS_A").solve
        points = solve(mesh.vertices)
        followed = float(np.sum(signs * solve(signs))) / signs.size
        error = float(np.mean((points - mesh.vertices) ** 2))
        score = error / (1.0 - followed) ** 2
        if best is None or score < best[0]:
            best = score, Smoothed(points, float(np.sqrt(error / (1.0 - followed))), followed, float(weight))
    assert best is not None
    return best[1]


def gradient_jumps(mesh: Mesh, cut: Cut, flat: FloatArray) -> sp.csr_matrix:
    """(2k, n) 1/m: values at the nodes -> jumps of their gradient between neighbours in a panel."""
    inverse = np.linalg.inv(planar_frames(flat, cut.corners))  # of columns that are edges: rows are those of hats
    hat = np.concatenate([-inverse.sum(axis=1, keepdims=True), inverse], axis=1).transpose(0, 2, 1)  # (f, 2, corner)
    f = len(cut.corners)
    rows = np.broadcast_to(2 * np.arange(f)[:, None, None] + np.arange(2)[:, None], hat.shape)
    columns = np.broadcast_to(mesh.faces[:, None, :], hat.shape)
    gradient = sp.csr_matrix((hat.ravel(), (rows.ravel(), columns.ravel())), shape=(2 * f, mesh.n_vertices))
    pairs = neighbours(mesh, cut.corners)
    sign = np.tile([1.0, -1.0], len(pairs))
    jump = sp.csr_matrix((sign, (np.repeat(np.arange(len(pairs)), 2), pairs.ravel())), shape=(len(pairs), f))
    return sp.csr_matrix(sp.kron(jump, sp.identity(2)) @ gradient)
