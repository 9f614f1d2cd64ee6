"""The linearisation of a step as sparse matrices: for solvers from libraries, and to record contact problems.

With the multipliers of all rows eliminated, Newton's system (system.py) in the displacements d alone is

    A = diag(inertia) + a_K K + H + S_f + sum over rows of (w J^T J + 2 |lambda| S),    g = f + sum w C J^T,

and the contacts enter as rows of H + J d >= 0 (contact_qp.py). Newton itself never forms A: it assembles into its
factor.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from isocloth.base.typing import BoolArray, FloatArray, IntArray
from isocloth.cloth.cloth import Cloth
from isocloth.cloth.step import Step
from isocloth.cloth.system import TENSION
from isocloth.cloth.tangent import Workspace
from isocloth.contact.contact_set import ContactSet
from isocloth.friction.contact_qp import ContactQP


class Linearised:
    """Makes A and g of one cloth at any iterate; the pattern of A is always the same."""

    def __init__(self, cloth: Cloth) -> None:
        rows, size = cloth.rows, 3 * cloth.n
        m = rows.sizes
        self._rows, self._size = rows, size
        self._row = np.repeat(np.arange(len(rows)), m**2)
        within = np.arange(len(self._row)) - rows.square[self._row]
        width, begin = m[self._row], rows.ptr[self._row]
        self._a, self._b = begin + within // width, begin + within % width
        axes = np.arange(3)
        i = (3 * rows.nodes[self._a, None] + axes)[:, :, None] + 0 * axes
        j = (3 * rows.nodes[self._b, None] + axes)[:, None, :] + 0 * axes[:, None]
        self._definite = rows.definite[self._row]
        bending = sp.coo_matrix(sp.kron(cloth.stiffness, sp.eye_array(3)))
        self._bending, self._bent = bending.data, bending.row // 3
        self._folds = cloth.folds
        first, second = _scalars([term.stencils for term in cloth.energies])
        # entries of the membrane, bending, stencils, folds and inertia, in this order, each with its place in A
        self._i = np.concatenate([i.ravel(), bending.row, first, np.arange(size)])
        self._j = np.concatenate([j.ravel(), bending.col, second, np.arange(size)])
        places, self._place = np.unique(self._j * size + self._i, return_inverse=True)
        self._indices = places % size
        self._indptr = np.searchsorted(places // size, np.arange(size + 1))

    def at(
        self, step: Step, work: Workspace, multipliers: FloatArray, curvature: int
    ) -> tuple[sp.csc_matrix, FloatArray]:
        """A (3n, 3n) and g (3n,) N where C, J, f and H are those of `work`; held nodes become identity.

        curvature: BOUND or TENSION, see system.py.
        """
        rows, size = self._rows, self._size
        lam = multipliers[self._row]
        geometric = 2.0 * np.abs(lam) * np.where(lam > 0.0, rows.plus, rows.minus)
        if curvature == TENSION:
            geometric[~self._definite] = 0.0
        membrane = (rows.weight[self._row, None] * work.jacobian[self._a])[:, :, None] * work.jacobian[self._b][:, None]
        membrane[:, np.arange(3), np.arange(3)] += geometric[:, None]
        bending = step.arrays.bending[self._bent] * self._bending
        folds = self._folds.blocks(work.bent)
        values = np.concatenate([membrane.ravel(), bending, work.hessian, folds.ravel(), np.repeat(step.inertia, 3)])
        held = np.repeat(step.held, 3)
        values[held[self._i] | held[self._j]] = 0.0
        values[len(values) - size :][held] = 1.0
        data = np.bincount(self._place, weights=values, minlength=len(self._indices))
        gradient = work.force.copy()
        pull = np.repeat(rows.weight * work.values, rows.sizes)[:, None] * work.jacobian
        np.add.at(gradient, rows.nodes, pull)
        gradient[step.held] = 0.0
        return sp.csc_matrix((data, self._indices, self._indptr), shape=(size, size)), gradient.ravel()


def _scalars(stencils: Sequence[IntArray]) -> tuple[IntArray, IntArray]:
    """Row and column in A of every entry of the blocks of stencils, in the order of `Workspace.hessian`."""
    parts = [np.empty((2, 0), dtype=np.int64)]
    for nodes in stencils:
        scalars = (3 * nodes[:, :, None] + np.arange(3)).reshape(len(nodes), -1)
        size = (*scalars.shape, scalars.shape[1])
        rows, columns = np.broadcast_to(scalars[:, :, None], size), np.broadcast_to(scalars[:, None, :], size)
        parts.append(np.stack([rows.ravel(), columns.ravel()]))
    first, second = np.concatenate(parts, axis=1)
    return first, second


def normal_rows(c: ContactSet, held: BoolArray) -> sp.csr_matrix:
    """J (c, 3n): how the gap of each contact changes with the displacements of the nodes that are free."""
    return directed_rows(c, held, c.normal)


def directed_rows(c: ContactSet, held: BoolArray, direction: FloatArray) -> sp.csr_matrix:
    """How the relative displacement of each contact along a direction (c, 3) changes with the displacements."""
    used = (c.weights != 0.0) & ~held[c.nodes]
    data = (c.weights[:, :, None] * direction[:, None, :])[used].ravel()
    columns = (3 * c.nodes[used][:, None] + np.arange(3)).ravel()
    ends = np.concatenate([[0], np.cumsum(3 * used.sum(axis=1))])
    return sp.csr_matrix((data, columns, ends), shape=(len(c.gap), 3 * len(held)))


def nodal_forces(c: ContactSet, held: BoolArray, force: FloatArray) -> FloatArray:
    """B^T force (n, 3) N of forces (c, 3) at contacts, on the nodes that are free."""
    total = np.zeros((len(held), 3))
    np.add.at(total, c.nodes, c.weights[:, :, None] * force[:, None, :])
    total[held] = 0.0
    return total


def along_surface(c: ContactSet, vector: FloatArray) -> FloatArray:
    """What is left of a vector (c, 3) at every contact without its part along the normal."""
    return vector - np.einsum("cd,cd->c", vector, c.normal)[:, None] * c.normal


def contact_problem(
    linearised: Linearised, step: Step, work: Workspace, multipliers: FloatArray,
    c: ContactSet, friction: FloatArray, curvature: int,
) -> ContactQP:  # fmt: skip
    """The contact problem of a linearisation, its friction (c, 3) N a force that is known."""
    matrix, g = linearised.at(step, work, multipliers, curvature)
    load = nodal_forces(c, step.held, friction)
    return ContactQP(matrix, g - load.ravel(), normal_rows(c, step.held), c.gap.copy())
