"""Where the particles of the nonconforming model start: near the recorded shape, with all their distances.

Its constraints are exact to a micrometre, and a step that cannot meet them is not taken. A recorded shape brought to a
stretch of 0.1 % is off by more, and nearly flat, where distances can hardly be mended along their own directions.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from isocloth.base.typing import FloatArray, IntArray
from isocloth.meshes import Mesh
from isocloth.terms.midpoints import midpoints

#: rounds at most, and the error in m at which they end
ROUNDS, EXACT = 60, 1e-8


def particles_at(mesh: Mesh, shape: FloatArray, held: IntArray, corners: FloatArray) -> FloatArray:
    """Particles (m, 3) m that keep the distances of a flat triangle mesh, near the middles of the edges of `shape`.

    Levenberg's and Marquardt's method on the errors of distances, with held nodes (h,) at `corners` (h, 3). Where
    there is no such place, the nearest to it that was found.
    """
    mid = midpoints(mesh)
    a, b = mid.pairs.T
    holding = sp.csr_array(mid.to_nodes[held])
    fixed = sp.csr_array(sp.kron(holding, sp.eye_array(3)))
    x: FloatArray = np.asarray(mid.to_particles @ shape)
    rows = np.repeat(np.arange(len(a)), 6)
    places = np.stack([3 * a, 3 * a + 1, 3 * a + 2, 3 * b, 3 * b + 1, 3 * b + 2], axis=1).ravel()

    def off(x: FloatArray) -> FloatArray:
        d = x[a] - x[b]
        lengths = 0.5 * ((d * d).sum(axis=1) / mid.lengths - mid.lengths)
        return np.concatenate([lengths, (holding @ x - corners).ravel()])

    r, damping = off(x), 1e-3
    for _ in range(ROUNDS):
        if np.abs(r).max() < EXACT:
            break
        d = (x[a] - x[b]) / mid.lengths[:, None]
        along = sp.csr_array((np.concatenate([d, -d], axis=1).ravel(), (rows, places)), shape=(len(a), x.size))
        J = sp.vstack([along, fixed]).tocsr()
        square, slope = (J.T @ J).tocsc(), J.T @ r
        while damping < 1e3:
            step = splu(sp.csc_matrix(square + damping * sp.eye_array(x.size))).solve(-slope)
            trial = x + step.reshape(-1, 3)
            left = off(trial)
            if left @ left < r @ r:
                x, r, damping = trial, left, max(damping / 5.0, 1e-12)
                break
            damping *= 4.0
        else:
            break
    return x
