"""Symmetric matrices over the free nodes of a cloth: where blocks of stencils go, and their Cholesky factors.

The pattern depends on the mesh and on who is free, not on a rest shape: it is laid out once for all drapes. A factor
exists just where the matrix is positive definite, so that factorising says whether an equilibrium is stable.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from isocloth.base.typing import FloatArray, IntArray
from isocloth.sparse.cholesky import factorise, solve
from isocloth.sparse.dissection import LEAF, dissect_quickly
from isocloth.sparse.factor import Factor
from isocloth.sparse.pattern import pattern_of
from isocloth.sparse.symbolic import analyse


class FreeFactor:
    """A Cholesky factor, with memory of its own."""

    def __init__(self, factor: Factor) -> None:
        self._factor = factor

    def solve(self, right: FloatArray) -> FloatArray:
        """(c,) or, for many right-hand sides, (c, k)."""
        if right.ndim == 2:
            return np.stack([self.solve(column) for column in right.T], axis=1) if right.shape[1] else right.copy()
        x = np.array(right, dtype=np.float64)
        solve(self._factor.fronts, x)
        return x


class FreeMatrix:
    """The layout of matrices (c, c) over the coordinates of free nodes."""

    def __init__(self, stencils: Sequence[IntArray], free: IntArray, places: FloatArray) -> None:
        """stencils: (e, m) nodes of every term; free: (k,) nodes, increasing; places: (n, 3) m, to order by."""
        self.free, count = free, len(free)
        number = np.full(len(places), -1, dtype=np.int64)
        number[free] = np.arange(count)
        parts = [number[s] for s in stencils]
        keys = [np.arange(count) * (count + 1)]
        for part in parts:
            both = part[:, :, None] * count + part[:, None, :]
            keys.append(both[(part[:, :, None] >= 0) & (part[:, None, :] >= 0)])
        pairs = np.unique(np.concatenate(keys))
        first, second = pairs // count, pairs % count
        graph = sp.csr_matrix((np.ones(len(pairs)), (first, second)), shape=(count, count))
        pattern, sizes = pattern_of(graph), np.full(count, 3, dtype=np.int64)
        order = dissect_quickly(pattern, np.ascontiguousarray(places[free]), sizes, LEAF)
        self._symbolic = analyse(pattern, order, sizes)
        rank = self._symbolic.rank
        #: of every pair of nodes its block, 9 numbers of `data` by rows
        self._upper = np.flatnonzero(rank[first] <= rank[second])
        place, stride = self._symbolic.find(first[self._upper], second[self._upper])
        k = np.arange(3)
        self._panel = (place[:, None, None] + stride[:, None, None] * k[:, None] + k).reshape(-1)
        self._diagonal = (9 * np.searchsorted(pairs, np.arange(count) * (count + 1))[:, None] + 4 * k).ravel()
        self._size = 9 * len(pairs)
        self._kept, self._target = [], []
        for part in parts:
            within = (part[:, :, None] >= 0) & (part[:, None, :] >= 0)
            e, m = part.shape
            block = np.searchsorted(pairs, np.where(within, part[:, :, None] * count + part[:, None, :], 0))
            # a stencil's block (3m, 3m) has rows node by node, x y z of each
            at = (9 * block)[:, :, None, :, None] + 3 * k[:, None, None] + k
            kept = np.broadcast_to(within[:, :, None, :, None], (e, m, 3, m, 3)).ravel()
            self._kept.append(np.flatnonzero(kept))
            self._target.append(at.ravel()[kept])
        self._rows = (3 * np.repeat(first, 9).reshape(-1, 9) + np.repeat(k, 3)).ravel()
        self._columns = (3 * np.repeat(second, 9).reshape(-1, 9) + np.tile(k, 3)).ravel()

    @property
    def size(self) -> int:
        """c, free coordinates."""
        return 3 * len(self.free)

    def assembled(self, blocks: Sequence[FloatArray]) -> FloatArray:
        """Numbers of the matrix, from blocks (e, 3m, 3m) of every term."""
        total = np.zeros(self._size)
        for block, kept, target in zip(blocks, self._kept, self._target, strict=True):
            total += np.bincount(target, block.ravel()[kept], minlength=self._size)
        return total

    def shifted(self, data: FloatArray, shift: float) -> FloatArray:
        """The matrix plus a multiple of the identity."""
        out = data.copy()
        out[self._diagonal] += shift
        return out

    def largest(self, data: FloatArray) -> float:
        """The largest number on the diagonal."""
        return float(np.abs(data[self._diagonal]).max(initial=0.0))

    def factorised(self, data: FloatArray) -> FreeFactor | None:
        """The factor; None where the matrix is not positive definite."""
        factor = Factor(self._symbolic)
        panel = factor.fronts.panel
        panel[:] = 0.0
        panel[self._panel] = data.reshape(-1, 9)[self._upper].ravel()
        return FreeFactor(factor) if factorise(factor.fronts, np.zeros(self.size)) else None

    def matrix(self, data: FloatArray) -> sp.csc_matrix:
        """The same as a sparse matrix (c, c)."""
        return sp.csc_matrix((data, (self._rows, self._columns)), shape=(self.size, self.size))
