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
        shapes = [term.stencils.shape for term in terms]
        self._energy = [np.zeros(count) for count, _ in shapes]
        self._gradient = [np.zeros((count, m, 3)) for count, m in shapes]
        # not as views of `work.hessian`, which a copy of the solver would lose
        self._begins = np.cumsum([0] + [9 * m * m * count for count, m in shapes]).tolist()

    def evaluate(self, terms: Sequence[Term], y: FloatArray) -> float:
        """Energy in J at positions y (n, 3); the gradient is added to `work.force`, second derivatives are kept.

        terms: those the cloth has, as they act in the step.
        """
        total, blocks = 0.0, self._work.hessian
        for term, energy, slope, begin in zip(terms, self._energy, self._gradient, self._begins[:-1], strict=True):
            count, m = term.stencils.shape
            hessian = blocks[begin : begin + 9 * m * m * count].reshape(count, 3 * m, 3 * m)
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
