"""The general kind of term: an energy that is a sum over stencils, small groups of nodes.

    E(x) = sum over stencils s of E_s(x_{s_1}, ..., x_{s_m})

A term of this kind need not be quadratic, unlike `Rows` and the matrices of `bending`. It writes its derivatives
stencil by stencil into arrays of the caller, so that a solver allocates them once and scatters the blocks itself.
Terms meet in a loop in Python; the kernels are each term's own, and none is called through a pointer.

Positions x are (n, 3) in m. A block (3m, 3m) of stencil s has rows and columns node by node, x y z of each.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, runtime_checkable

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from isocloth.base.typing import FloatArray, IntArray


@runtime_checkable
class Term(Protocol):
    """An energy over stencils. A term is a value: nothing in it changes, a step makes a new one."""

    @property
    def name(self) -> str:
        """What reports call the term."""
        ...

    @property
    def stencils(self) -> IntArray:
        """(e, m) nodes of every stencil."""
        ...

    def energy(self, x: FloatArray, out: FloatArray) -> None:
        """Write the energy of every stencil, (e,) J."""
        ...

    def gradient(self, x: FloatArray, out: FloatArray) -> None:
        """Write dE/dx, (e, m, 3) N; the force is its negative."""
        ...

    def hessian(self, x: FloatArray, out: FloatArray, psd: bool) -> None:
        """Write d^2E/dx^2, (e, 3m, 3m) N/m, or with `psd` a positive semidefinite matrix in its place.

        The second derivative itself serves adjoints and stability; the other one makes Newton's direction a descent.
        """
        ...

    def rest_gradient(self, x: FloatArray) -> FloatArray:
        """Derivative of the gradient (rows) in the rest positions X of the same nodes (columns), (e, 3m, 3m) N/m."""
        ...

    def parameter_gradient(self, x: FloatArray) -> Mapping[str, FloatArray]:
        """Derivative of the gradient in every physical parameter by name, (e, m, 3) N per unit of the parameter."""
        ...


@runtime_checkable
class DampedTerm(Term, Protocol):
    """A term whose stencils each have one measure of strain, which viscosity can slow down; optional too."""

    def strain(self, x: FloatArray) -> FloatArray:
        """Measure of strain of every stencil, (e,)."""
        ...

    def damped(self, rate: ArrayLike, past: FloatArray) -> DampedTerm:
        """The term with the viscous potential of a step: `rate` is the viscosity over the step's length, one number or
        one per stencil (e,)."""
        ...


def total_energy(term: Term, x: FloatArray) -> float:
    """E in J at positions x (n, 3)."""
    each = np.empty(len(term.stencils))
    term.energy(x, each)
    return float(each.sum())


def assembled_gradient(term: Term, x: FloatArray, n: int) -> FloatArray:
    """dE/dx (n, 3) N over all n nodes; for tests, statics and adjoints."""
    blocks = np.empty((*term.stencils.shape, 3))
    term.gradient(x, blocks)
    total = np.zeros((n, 3))
    np.add.at(total, term.stencils, blocks)
    return total


def assembled_hessian(term: Term, x: FloatArray, n: int, psd: bool) -> sp.csr_matrix:
    """d^2E/dx^2 (3n, 3n) N/m, or the sum of its positive semidefinite stand-ins; for tests, statics and adjoints."""
    e, m = term.stencils.shape
    blocks = np.empty((e, 3 * m, 3 * m))
    term.hessian(x, blocks, psd)
    return assembled_blocks(term, blocks, n)


def assembled_blocks(term: Term, blocks: FloatArray, n: int) -> sp.csr_matrix:
    """Sum (3n, 3n) of one block (3m, 3m) per stencil, such as those of `hessian` and `rest_gradient`."""
    places = (3 * term.stencils[:, :, None] + np.arange(3)).reshape(blocks.shape[:2])
    rows = np.broadcast_to(places[:, :, None], blocks.shape)
    columns = np.broadcast_to(places[:, None, :], blocks.shape)
    return sp.csr_matrix((blocks.ravel(), (rows.ravel(), columns.ravel())), shape=(3 * n, 3 * n))
