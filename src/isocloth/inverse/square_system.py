"""Newton's step of a rest shape: as many unknowns as equations.

A rest shape of n nodes has 3n coordinates, of which six say where it lies, and F has 3n components, which balance in
force and torque whatever X is. What is left out, and what is put in for it, depends on what carries a piece of cloth:

- hands at three nodes or more that are not in a line bear every force. Their nodes stay at rest where they are in the
  target, which says where the rest shape lies, and no force is asked of them;
- otherwise six coordinates that fix the piece are left out, and the forces of the supports may change by six
  multipliers of rigid modes, which absorb the change of the weight with X;
- supports in a line, two hands say, balance only five of six: the step of least length is taken, in which all forces
  that hands bear are free.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.linalg import qr
from scipy.sparse.linalg import splu

from isocloth.base.typing import FloatArray, IntArray
from isocloth.inverse.supports import HAND, Supports

#: singular values, of the largest, below which a rigid motion does not move any support
LOOSE = 1e-6
#: softness of the equations in a step of least length, relative to the stiffness: they may depend on each other
SOFT = 1e-13


class SquareSystem(NamedTuple):
    """Which coordinates and equations there are.

    columns: coordinates of X that are unknown; rows: equations that are solved for these.
    dropped: equations that say what absorbs; absorb: (3n, m) forces that do.
    borne: equations that are none, because hands bear these forces.
    shortest: whether the step of least length is taken.
    """

    columns: IntArray
    rows: IntArray
    dropped: IntArray
    absorb: FloatArray
    borne: IntArray
    shortest: bool

    def factorised(self, slope: sp.csr_matrix) -> Factorised | None:
        """The steps of Newton's method with this derivative (3n, 3n); None where it is singular."""
        try:
            return Factorised(self, slope)
        except (RuntimeError, np.linalg.LinAlgError):
            return None


class Factorised:
    """A square system with a derivative dF/dX, ready to be solved for any residual."""

    def __init__(self, system: SquareSystem, slope: sp.csr_matrix) -> None:
        self._system, self._n3 = system, slope.shape[1]
        self._matrix = slope[system.rows][:, system.columns].tocsc()
        if system.shortest:
            self._scale = float(abs(self._matrix).max())
            scaled, (rows, columns) = self._matrix / self._scale, self._matrix.shape
            self._whole = sp.bmat([[sp.identity(columns), scaled.T], [scaled, -SOFT * sp.identity(rows)]], format="csc")
            self._factor = splu(self._whole, permc_spec="MMD_AT_PLUS_A")
            return
        self._factor = splu(self._matrix)
        self._absorbed = self._solve(system.absorb[system.rows])
        # the equations that were left out say what absorbs
        self._left = slope[system.dropped][:, system.columns]
        self._small = self._left @ self._absorbed - system.absorb[system.dropped]

    def _solve(self, right: FloatArray) -> FloatArray:
        solved = self._factor.solve(right)
        return np.asarray(solved + self._factor.solve(right - self._matrix @ solved))

    def step(self, residual: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Newton's step of the rest shape (3n,) and of what absorbs (m,) for a residual (3n,)."""
        system, change = self._system, np.zeros(self._n3)
        if system.shortest:
            columns = self._matrix.shape[1]
            right = np.concatenate([np.zeros(columns), -residual[system.rows] / self._scale])
            found = self._factor.solve(right)
            found += self._factor.solve(right - self._whole @ found)
            change[:] = found[:columns]
            return change, np.zeros(system.absorb.shape[1])
        first = self._solve(-residual[system.rows])
        more = np.linalg.solve(self._small, -residual[system.dropped] - self._left @ first)
        change[system.columns] = first + self._absorbed @ more
        return change, more


def square_system(rigid: FloatArray, spread: sp.csr_matrix, supports: Supports, piece: IntArray) -> SquareSystem:
    """For rigid modes (3n, 6p), supports and their spread (3n, 3k) to the nodes."""
    n3 = len(rigid)
    hands = supports.nodes[supports.body == HAND, 0]
    every = (3 * hands[:, None] + np.arange(3)).ravel()
    fixed, gauge, absorb, balanced, shortest = [], [], [], [], False
    for p in range(rigid.shape[1] // 6):
        modes = rigid[:, 6 * p : 6 * p + 6]
        own = every[piece[every // 3] == p]
        carried = spread @ (spread.T @ modes)
        if len(own) and _rank(modes[own]) == 6:
            fixed.append(own)
            continue
        gauge.append(_pivots(modes.T))
        if _rank(carried) == 6:
            absorb.append(carried / np.linalg.norm(carried, axis=0))
            balanced.append(modes)
        else:
            shortest = True
    together = np.concatenate(absorb, axis=1) if absorb else np.zeros((n3, 0))
    if shortest:
        touched = np.unique(spread.nonzero()[0])
        borne = np.union1d(every, touched)
        free = np.setdiff1d(np.arange(n3), borne)
        return SquareSystem(np.arange(n3), free, np.zeros(0, dtype=np.int64), np.zeros((n3, 0)), borne, True)
    borne = np.concatenate([np.zeros(0, dtype=np.int64), *fixed])
    places = np.setdiff1d(np.unique(spread.nonzero()[0]), borne)
    # of every piece six equations say nothing new, as its forces balance: not those of what another piece pushes
    loose = np.concatenate(balanced, axis=1) if balanced else np.zeros((n3, 0))
    dropped = places[_pivots(loose[places].T)] if loose.shape[1] else np.zeros(0, dtype=np.int64)
    columns = np.setdiff1d(np.arange(n3), np.concatenate([borne, *gauge]))
    return SquareSystem(
        columns, np.setdiff1d(np.arange(n3), np.union1d(borne, dropped)), dropped, together, borne, False
    )


def rigid_modes(positions: FloatArray, piece: IntArray) -> FloatArray:
    """(3n, 6p): translations and turns about the middle of every piece, of size one each."""
    n, pieces = len(positions), int(piece.max()) + 1
    out = np.zeros((n, 3, 6 * pieces))
    for p in range(pieces):
        own = np.flatnonzero(piece == p)
        arm = positions[own] - positions[own].mean(axis=0)
        arm /= np.abs(arm).max()
        for d in range(3):
            out[own, d, 6 * p + d] = 1.0
            turn = np.zeros(3)
            turn[d] = 1.0
            out[own, :, 6 * p + 3 + d] = np.cross(turn, arm)
    return out.reshape(3 * n, -1)


def _rank(matrix: FloatArray) -> int:
    size = np.linalg.svd(matrix, compute_uv=False)
    return int((size > LOOSE * size[0]).sum()) if size[0] > 0.0 else 0


def _pivots(matrix: FloatArray) -> IntArray:
    """Columns of a matrix (m, n) of full rank that are linearly independent, (m,)."""
    return np.asarray(qr(matrix, pivoting=True, mode="economic")[2][: len(matrix)], dtype=np.int64)
