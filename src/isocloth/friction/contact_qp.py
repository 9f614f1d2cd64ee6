"""The contact problem of one linearisation, and the certificate of an answer to it.

    minimise  1/2 d^T A d + g^T d   subject to   H + J d >= 0

A (s, s) is the symmetric positive definite matrix of Newton's step in the s = 3n displacements d, with the stiff
isometry in it; row i of J is the normal of contact i, H_i its gap now. The multipliers gamma >= 0 are the contact
forces: at the optimum A d + g = J^T gamma and gamma_i (H + J d)_i = 0.

The solvers of active_set.py and library_qp.py answer the same question in the same form, so that they can be compared
on problems recorded from scenes.
"""

from __future__ import annotations

import os
from typing import IO, NamedTuple

import numpy as np
import scipy.sparse as sp

from isocloth.base.archives import read_archive
from isocloth.base.errors import InputError
from isocloth.base.files import atomic_path
from isocloth.base.typing import FloatArray


class ContactQP(NamedTuple):
    """The data: A (s, s), g (s,) N, J (m, s), H (m,) m."""

    A: sp.csc_matrix
    g: FloatArray
    J: sp.csr_matrix
    H: FloatArray

    def checked(self) -> ContactQP:
        """The same in the expected formats; raises where shapes do not fit or numbers are not finite."""
        matrix, rows = sp.csc_matrix(self.A, dtype=np.float64), sp.csr_matrix(self.J, dtype=np.float64)
        g, gap = np.asarray(self.g, dtype=np.float64), np.asarray(self.H, dtype=np.float64)
        s, m = len(g), len(gap)
        if matrix.shape != (s, s) or rows.shape != (m, s):
            raise InputError(
                f"A is {matrix.shape}, g ({s},), J {rows.shape}, H ({m},): expected A (s, s), g (s,), J (m, s), H (m,)"
            )
        if not all(np.isfinite(x).all() for x in (matrix.data, g, rows.data, gap)):
            raise InputError("the contact problem has entries that are not finite")
        matrix.sum_duplicates()
        rows.sum_duplicates()
        return ContactQP(matrix, g, rows, gap)

    def objective(self, d: FloatArray) -> float:
        """1/2 d^T A d + g^T d."""
        return float(d @ (0.5 * (self.A @ d) + self.g))

    def save(self, file: str | os.PathLike[str] | IO[bytes]) -> None:
        """Write everything to one .npz, a file by name whole or not at all."""
        arrays: dict[str, np.ndarray] = {"g": self.g, "H": self.H}
        for name, matrix in (("A", sp.csc_matrix(self.A)), ("J", sp.csr_matrix(self.J))):
            arrays[f"{name}_data"], arrays[f"{name}_indices"] = matrix.data, matrix.indices
            arrays[f"{name}_indptr"], arrays[f"{name}_shape"] = matrix.indptr, np.array(matrix.shape)
        if not isinstance(file, (str, os.PathLike)):
            np.savez_compressed(file, allow_pickle=False, **arrays)
            return
        with atomic_path(file) as temporary, open(temporary, "wb") as stream:
            np.savez_compressed(stream, allow_pickle=False, **arrays)

    @classmethod
    def load(cls, file: str | os.PathLike[str] | IO[bytes]) -> ContactQP:
        """Read what `save` wrote."""
        data = read_archive(file, "contact problem")

        def parts(name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
            return data[f"{name}_data"], data[f"{name}_indices"], data[f"{name}_indptr"]

        try:
            matrix = sp.csc_matrix(parts("A"), shape=tuple(data["A_shape"]))
            rows = sp.csr_matrix(parts("J"), shape=tuple(data["J_shape"]))
            matrix.check_format()
            rows.check_format()
            return cls(matrix, data["g"], rows, data["H"]).checked()
        except (KeyError, ValueError, TypeError, IndexError) as error:
            raise InputError(
                f"contact problem {str(file)!r} lacks a part, or its parts do not fit ({error}): expected what "
                "ContactQP.save wrote, A, g, J and H; record it again"
            ) from error


class Residuals(NamedTuple):
    """How far an answer is from the optimum; all zero at it.

    primal: largest penetration left, max(0, -(H + J d)), m.
    dual: largest |A d + g - J^T gamma|, or pull -gamma where that is larger, N.
    complementarity: |gamma^T (H + J d)|, J; with a vanishing dual residual it is the duality gap.
    """

    primal: float
    dual: float
    complementarity: float


class QPSolution(NamedTuple):
    """An answer and its certificate.

    displacement: d (s,), m.
    multipliers: gamma (m,), N.
    iterations: the solver's own; for the active set, how often the working set was changed (0: the start was right).
    converged: whether the solver's stopping test was met. Never for a problem without a feasible point.
    residuals: computed from the problem and the answer, whatever the solver said.
    seconds: wall time of the solve.
    conflict: (m,) if rows contradict each other, else None: forces gamma >= 0 with J^T gamma = 0 and H^T gamma < 0
        (Farkas), so that no displacement opens all gaps. There may be other such sets of rows. The active set shares
        the violation among them and answers with bounded forces; solvers of libraries answer with d = 0.
    """

    displacement: FloatArray
    multipliers: FloatArray
    iterations: int
    converged: bool
    residuals: Residuals
    seconds: float
    conflict: FloatArray | None = None


def certify(problem: ContactQP, d: FloatArray, gamma: FloatArray) -> Residuals:
    """Residuals of d (s,) and gamma (m,)."""
    gaps = problem.H + problem.J @ d
    force = problem.A @ d + problem.g - problem.J.T @ gamma
    return Residuals(
        primal=float(-np.min(gaps, initial=0.0)) + 0.0,
        dual=float(max(np.max(np.abs(force), initial=0.0), np.max(-gamma, initial=0.0))),
        complementarity=float(abs(gamma @ gaps)),
    )
