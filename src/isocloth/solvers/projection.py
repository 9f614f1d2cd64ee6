"""Fast projection, the papers' solver (section 7.1): an unconstrained step, then projections onto the constraints.

Each projection minimises 1/2 d.M d subject to C + J d = 0, which takes one factorisation of J M^-1 J^T; they are
repeated until the relative metric error is below tolerance. The number of projections grows with resolution and some
states (a perfectly flat sheet) stall it: the tables of the papers are made with it, and Newton is the default.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from isocloth.base.compiled import kernel
from isocloth.base.errors import InputError, InputTypeError
from isocloth.base.memo import memoised
from isocloth.base.numeric import as_float, shown
from isocloth.base.typing import BoolArray, FloatArray, IntArray
from isocloth.cloth.cloth import Cloth
from isocloth.cloth.step import Step
from isocloth.solvers.newton import ONE_STEP, Newton
from isocloth.solvers.outcome import Outcome
from isocloth.sparse.cholesky import back_substitute, factorise
from isocloth.sparse.factor import Factor
from isocloth.sparse.fronts import Fronts
from isocloth.sparse.ordering import dissect
from isocloth.sparse.symbolic import Symbolic, analyse
from isocloth.terms.rows import RowArrays, evaluate, select


@dataclass(frozen=True, kw_only=True)
class ProjectionOptions:
    """tolerance: largest relative metric error accepted; max_iterations: projections before giving up;
    regularisation: added to J M^-1 J^T relative to its mean diagonal, for states in which rows are dependent."""

    tolerance: float = 1e-3
    max_iterations: int = 50
    regularisation: float = 1e-9

    def __post_init__(self) -> None:
        for name in ("tolerance", "max_iterations", "regularisation"):
            if as_float(getattr(self, name)) is None:
                raise InputTypeError(f"{name} = {shown(getattr(self, name))}: expected a number")
        if not (self.tolerance > 0 and self.max_iterations >= 1 and self.regularisation >= 0):
            raise InputError(f"{self}: expected a positive tolerance and at least 1 iteration")


class Products(NamedTuple):
    """Which products of entries of J make which entry of J M^-1 J^T."""

    first: IntArray  # slots of J
    second: IntArray
    place: IntArray
    diagonal: IntArray  # (r,) places of the diagonal


class Projection:
    """Fast projection bound to one cloth."""

    name = "projection"

    def __init__(self, cloth: Cloth, options: ProjectionOptions | None = None) -> None:
        self.options = options or ProjectionOptions()
        self._mask = cloth.rows.enforced
        self._rows = select(cloth.rows, self._mask)
        self._mass = cloth.mass
        soft = replace(cloth, rows=select(cloth.rows, ~self._mask))
        # what is not a constraint is linearised once, which is one Newton step on the rest of the potential
        self._free = None
        if len(soft.rows) or cloth.stiffness.nnz or cloth.stencils:
            self._free = Newton(soft, ONE_STEP)
        symbolic, products = _analyse(self._rows.arrays, cloth.mesh.vertices)
        self.factor = Factor(symbolic)
        # copied: a read-only array is another type for Numba, which would compile the kernel anew
        self._products = Products(*(part.copy() for part in products))
        self._values = np.zeros(len(self._rows))
        self._jacobian = np.zeros((len(self._rows.nodes), 3))

    def solve(self, step: Step, multipliers: FloatArray, *, first: bool = False) -> Outcome:
        """Project the unconstrained step; see `Outcome` for the certificate."""
        lam = multipliers.copy()
        if self._free is None:
            y = np.where(step.held[:, None], step.start, step.load / step.inertia[:, None])
            reactions = step.inertia[:, None] * y - step.load
        else:
            soft = self._free.solve(step.of_rows(~self._mask), np.zeros(int((~self._mask).sum())), first=False)
            y, lam[~self._mask] = soft.positions.copy(), soft.multipliers
            reactions = soft.reactions
        tension = np.zeros(len(self._rows))
        o, enforced = self.options, step.of_rows(self._mask).arrays
        iterations, error, residual = _project(
            self._rows.arrays, enforced.targets, enforced.free, self._products, self.factor.fronts, self._values,
            self._jacobian, self._mass, step.inertia, step.held, o.tolerance, o.max_iterations, o.regularisation, y,
            tension, reactions,
        )  # fmt: skip
        lam[self._mask] = tension
        return Outcome(y, lam, reactions, iterations, error < o.tolerance, error, error, residual)


@memoised
def _analyse(rows: RowArrays, rest: FloatArray) -> tuple[Symbolic, Products]:
    """Pattern of J M^-1 J^T: two rows are coupled if they share a node."""
    count = len(rows.ptr) - 1
    sizes = np.diff(rows.ptr)
    row_of = np.repeat(np.arange(count), sizes)
    order = np.argsort(rows.nodes, kind="stable")
    bounds = np.searchsorted(rows.nodes[order], np.arange(len(rest) + 1))
    first, second = [], []
    for node in range(len(rest)):
        slots = order[bounds[node] : bounds[node + 1]]
        upper = np.triu_indices(len(slots))
        first.append(slots[upper[0]])
        second.append(slots[upper[1]])
    a, b = np.concatenate(first), np.concatenate(second)
    i, j = row_of[a], row_of[b]
    graph = sp.csr_matrix((np.ones(2 * len(i)), (np.r_[i, j], np.r_[j, i])), shape=(count, count))
    centres = sp.csr_matrix((np.ones(len(row_of)), (row_of, rows.nodes)), shape=(count, len(rest)))
    points = (centres @ rest) / sizes[:, None]
    single = np.ones(count, dtype=np.int64)
    symbolic = analyse(graph, dissect(graph, points, single).order, single)
    swap = symbolic.rank[i] > symbolic.rank[j]
    place, _ = symbolic.find(np.where(swap, j, i), np.where(swap, i, j))
    diagonal, _ = symbolic.find(np.arange(count), np.arange(count))
    return symbolic, Products(a, b, place, diagonal)


@kernel
def _project(
    rows: RowArrays, targets: FloatArray, free: BoolArray, products: Products, f: Fronts, values: FloatArray,
    jacobian: FloatArray, mass: FloatArray, inertia: FloatArray, held: BoolArray, tolerance: float, max_iterations: int,
    regularisation: float, y: FloatArray, tension: FloatArray, reactions: FloatArray,
) -> tuple[int, float, float]:  # fmt: skip
    """Overwrite y by its projection; returns (projections, metric error, force residual).

    Each projection adds its own force J^T mu and what it takes to move the mass to the reactions: near a flat state the
    multipliers are huge and cancel only with the jacobian they were found with.
    """
    iterations = 0
    r = len(values)
    mu = np.zeros(r)
    while True:
        evaluate(rows, targets, free, y, values, jacobian)
        error = np.abs(values).max()
        if not error > tolerance or iterations >= max_iterations:
            break
        f.panel[:] = 0.0
        for q in range(len(products.place)):
            a, b = products.first[q], products.second[q]
            node = rows.nodes[a]
            if not held[node]:
                f.panel[products.place[q]] += (
                    jacobian[a, 0] * jacobian[b, 0] + jacobian[a, 1] * jacobian[b, 1] + jacobian[a, 2] * jacobian[b, 2]
                ) / inertia[node]
        mean = 0.0
        for k in range(r):
            mean += f.panel[products.diagonal[k]] / r
        for k in range(r):
            f.panel[products.diagonal[k]] += regularisation * mean
        mu[:] = values
        factorise(f, mu)
        back_substitute(f, mu)
        tension += mu
        for k in range(r):
            for a in range(rows.ptr[k], rows.ptr[k + 1]):
                node = rows.nodes[a]
                for d in range(3):
                    force = mu[k] * jacobian[a, d]
                    if held[node]:
                        reactions[node, d] += force
                    else:
                        # the force and the inertia of the displacement it causes cancel
                        y[node, d] -= force / inertia[node]
        iterations += 1
    total, residual = 0.0, 0.0
    for i in range(len(mass)):
        if not held[i]:
            m = mass[i]
            total += m
            for d in range(3):
                residual += reactions[i, d] ** 2 / m
    return iterations, error, np.sqrt(residual / max(total, 1e-300))
