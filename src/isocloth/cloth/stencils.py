"""Terms over stencils during a solve: their energy, gradient and second derivatives, in memory that is used again."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from isocloth.base.compiled import kernel
from isocloth.base.typing import FloatArray, IntArray
from isocloth.cloth.tangent import Workspace
from isocloth.terms.term import Term


class Stencils:
    """Evaluates the terms over stencils of one cloth at an iterate.

    The list of terms is a loop in Python: each brings compiled kernels of its own, and one further kernel adds what
    they write to the force of the cloth. Their second derivatives stay in `work.hessian`, from where the assembly of
    Newton's matrix takes them.
    """

    def __init__(self, terms: Sequence[Term], work: Workspace) -> None:
        self._work = work
        self._energy, self._gradient, self._hessian = [], [], []
        begin = 0
        for term in terms:
            count, m = term.stencils.shape
            self._energy.append(np.zeros(count))
            self._gradient.append(np.zeros((count, m, 3)))
            size = 9 * m * m * count
            self._hessian.append(work.hessian[begin : begin + size].reshape(count, 3 * m, 3 * m))
            begin += size

    def evaluate(self, terms: Sequence[Term], y: FloatArray) -> float:
        """Energy in J at positions y (n, 3); the gradient is added to `work.force`, second derivatives are kept.

        terms: those the cloth has, as they act in the step.
        """
        total = 0.0
        for term, energy, slope, hessian in zip(terms, self._energy, self._gradient, self._hessian, strict=True):
            term.energy(y, energy)
            term.gradient(y, slope)
            term.hessian(y, hessian, psd=True)
            _add(term.stencils, slope, self._work.force)
            total += float(energy.sum())
        return total


@kernel
def _add(stencils: IntArray, gradient: FloatArray, force: FloatArray) -> None:
    """force (n, 3) += gradient (e, m, 3) of every stencil (e, m)."""
    for e in range(len(stencils)):
        for a in range(stencils.shape[1]):
            for d in range(3):
                force[stencils[e, a], d] += gradient[e, a, d]
