"""How far the forces that a rest shape asks for are from those that hands and bodies can give.

    G = sum |y_i|^2 / 2,    y_i = F_i at a free node,
    y_i = g(f_N) + g(mu' f_N - |f_T|)  at a contact,  g(t) = max(-t, 0)

with f_N, f_T along the normal and across it (the thesis, section 5.5.1). A support may be the centre of a face: then
forces r of supports are those that come nearest to the nodal ones, F = B r + what is left, and what is left counts as
force of free nodes. Of contacts at nodes alone that is the above. Hands bear any force.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from isocloth.base.typing import FloatArray
from isocloth.inverse.supports import HAND, Supports

#: of B^T B: so that supports that share a node have a solution
LOOSE = 1e-12


class ConeError(NamedTuple):
    """free: N^2, G of free nodes; contacts: N^2, G of contacts; slope_free, slope_contacts: (n, 3) N, the derivatives
    of these in the nodal forces; forces: (k, 3) N, of the supports."""

    free: float
    contacts: float
    slope_free: FloatArray
    slope_contacts: FloatArray
    forces: FloatArray


class Cones:
    """What can be borne, with `part` of the friction."""

    def __init__(self, supports: Supports, n: int, part: float) -> None:
        self.supports = supports
        self._spread = supports.spread(n)
        size = self._spread.shape[1]
        matrix = sp.csc_matrix(self._spread.T @ self._spread + LOOSE * sp.identity(size))
        self._factor = splu(matrix) if size else None
        self._hand = supports.body == HAND
        self._friction = part * np.where(self._hand, 0.0, supports.cones.friction)

    def error(self, force: FloatArray) -> ConeError:
        """Of nodal forces (n, 3) N."""
        pushes = self._shared(force.ravel())
        left = force - (self._spread @ pushes).reshape(-1, 3)
        r, normal, mu = pushes.reshape(-1, 3), self.supports.cones.normal, self._friction
        push = np.einsum("kd,kd->k", r, normal)
        across = r - push[:, None] * normal
        pull = np.linalg.norm(across, axis=1)
        pulled, slips = (push < 0.0) & ~self._hand, (pull > mu * push) & ~self._hand
        off = np.where(pulled, -push, 0.0) + np.where(slips, pull - mu * push, 0.0)
        way = across / np.maximum(pull, 1e-300)[:, None] - mu[:, None] * normal
        slope = off[:, None] * (np.where(slips[:, None], way, 0.0) - np.where(pulled[:, None], normal, 0.0))
        if self._factor is None:
            back = np.zeros_like(force)
        else:
            back = np.asarray(self._spread @ self._factor.solve(slope.ravel())).reshape(-1, 3)
        return ConeError(0.5 * float(np.sum(left * left)), 0.5 * float(off @ off), left, back, r)

    def _shared(self, force: FloatArray) -> FloatArray:
        """(3k,) N of supports that come nearest to nodal forces (3n,)."""
        if self._factor is None:
            return np.zeros(0)
        return np.asarray(self._factor.solve(self._spread.T @ force))
