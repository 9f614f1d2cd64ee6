"""Who is coupled to whom in a symmetric matrix: variables by rows, in any order and more than once if need be."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from isocloth.base.compiled import kernel
from isocloth.base.typing import IntArray


class Pattern(NamedTuple):
    """The graph of a matrix."""

    indptr: IntArray  # (n + 1,) variable -> its slice of `indices`
    indices: IntArray


def pattern_of(graph: sp.csr_matrix) -> Pattern:
    """The pattern of a sparse matrix (n, n)."""
    return Pattern(graph.indptr.astype(np.int64), graph.indices.astype(np.int64))


@kernel
def with_pairs(pattern: Pattern, pairs: IntArray) -> Pattern:
    """A pattern in which further pairs (p, 2) of variables are coupled."""
    n = len(pattern.indptr) - 1
    indptr = np.zeros(n + 1, dtype=np.int64)
    for i in range(n):
        indptr[i + 1] = pattern.indptr[i + 1] - pattern.indptr[i]
    for q in range(len(pairs)):
        indptr[pairs[q, 0] + 1] += 1
        indptr[pairs[q, 1] + 1] += 1
    for i in range(n):
        indptr[i + 1] += indptr[i]
    indices, at = np.empty(indptr[n], dtype=np.int64), indptr[:-1].copy()
    for i in range(n):
        for a in range(pattern.indptr[i], pattern.indptr[i + 1]):
            indices[at[i]] = pattern.indices[a]
            at[i] += 1
    for q in range(len(pairs)):
        for side in range(2):
            i = pairs[q, side]
            indices[at[i]] = pairs[q, 1 - side]
            at[i] += 1
    return Pattern(indptr, indices)
