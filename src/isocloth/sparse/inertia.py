"""How many negative eigenvalues a symmetric matrix has: as many as negative pivots, if these stay on the diagonal."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import SuperLU, splu


def symmetric_factor(matrix: sp.csc_matrix) -> SuperLU | None:
    """The factor of a symmetric matrix with its pivots on the diagonal; None where one of them is zero."""
    try:
        return splu(matrix, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    except RuntimeError:
        return None


def negative_pivots(factor: SuperLU | None) -> int | None:
    """Of a `symmetric_factor`; None where it is not known: the matrix is singular, or rows were exchanged after all."""
    if factor is None or not np.array_equal(factor.perm_r, factor.perm_c):
        return None
    return int((factor.U.diagonal() <= 0.0).sum())
