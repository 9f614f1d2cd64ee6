"""Projective dynamics, and projective friction: a step by many cheap iterations with one constant matrix.

Springs between two nodes resist with k_j (l - l_0)^2 / 2, which is the minimum over |p| = l_0 of k_j |A_j y - p|^2 / 2.
With the projections p_j = l_0 A_j y / |A_j y| held, the potential of a step (`cloth/step.py`) is quadratic, with the
matrix P = A + sum k_j A_j^T A_j that no iterate changes, alike for x, y and z (Bouaziz et al., Projective dynamics:
fusing constraint projections for fast simulation, 2014). Its gradient where the projections were taken is that of the
potential itself, so an iteration is

    y <- y + P^-1 (H^T r - g(y)),        g the gradient of the potential, H^T r the forces of contacts.

Contacts are decided before each solve, as if inertia alone was to be moved (Ly et al., Projective dynamics with dry
frictional contact, 2020): with P = M + C and what C does taken from the iterate before, M y = M y_k - g(y_k) + H^T r,
and every contact takes the force that Signorini's and Coulomb's laws ask for there (`friction/gauss_seidel.py`), in
turn, outwards from the obstacles (`friction/layers.py`). What the iteration leaves unchanged solves the exact problem;
how far it got is in the certificate. The stiffer the springs beside inertia, the more iterations friction takes.

"penalty" is the older way, to compare with: stiff springs to the surface of obstacles, which have the matrix factorised
in every step, and friction afterwards, as far as the push bears it.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from isocloth.base.errors import InputError, InputTypeError
from isocloth.base.numeric import as_float, check_flag, is_one_of, shown
from isocloth.base.typing import BoolArray, FloatArray
from isocloth.cloth.cloth import Cloth
from isocloth.cloth.step import Step
from isocloth.contact.contact_set import ContactSet, chosen_contacts, empty_contacts
from isocloth.friction.layers import outwards
from isocloth.solvers.outcome import Outcome
from isocloth.solvers.projective_iteration import Potential, Solve, Springs, iterate
from isocloth.sparse.cholesky import factorise
from isocloth.sparse.factor import Factor
from isocloth.sparse.multi_rhs import LANES
from isocloth.sparse.ordering import dissect
from isocloth.sparse.symbolic import analyse

CONTACTS = ("friction", "penalty")


@dataclass(frozen=True, kw_only=True)
class ProjectiveOptions:
    """How far projective dynamics goes.

    iterations: at most, of a step; each is a solve with the constant matrix.
    force: it has converged when the residual is below this part of the acceleration that springs and contacts impose,
        or of the floor, and contact forces are as near to their law, relative to the largest.
    force_floor: m/s^2.
    ordered: contacts are visited outwards from the obstacles; False changes all of them together, which lets stacks
        of layers go, to compare with.
    drag: N s/m, of the air on every node that touches nothing.
    contact: "friction" is projective friction; "penalty" puts springs in place of the law, to compare with, knows
        obstacles only, and points on them.
    penalty: stiffness of these springs relative to that of a node's inertia and springs.
    """

    iterations: int = 20
    force: float = 0.02
    force_floor: float = 0.1
    ordered: bool = True
    drag: float = 0.0
    contact: str = "friction"
    penalty: float = 100.0

    def __post_init__(self) -> None:
        for name in ("iterations", "force", "force_floor", "drag", "penalty"):
            value = getattr(self, name)
            number = as_float(value)
            if number is None:
                raise InputTypeError(f"{name} = {shown(value)}: expected a number")
            if not (np.isfinite(number) and number >= 0.0):
                raise InputError(f"{name} = {shown(value)}: expected a finite number, zero or positive")
        if self.iterations != int(self.iterations) or self.iterations < 1:
            raise InputError(f"iterations = {shown(self.iterations)}: expected a whole number, at least 1")
        check_flag(self.ordered, "ordered")
        if not is_one_of(self.contact, CONTACTS):
            raise InputError(f"contact {shown(self.contact)} is unknown; choose one of {', '.join(CONTACTS)}")


class Solved(NamedTuple):
    """A step with its contacts and where it ended, to look at."""

    potential: Potential
    contacts: ContactSet  # in the order in which they were visited
    start: FloatArray  # (n, 3) m, where they were found
    positions: FloatArray  # (n, 3) m
    force: FloatArray  # (c, 3) N, of the contacts


class Projective:
    """Projective dynamics of one cloth of springs."""

    name = "projective"

    def __init__(self, cloth: Cloth, options: ProjectiveOptions | None = None) -> None:
        self.options = options or ProjectiveOptions()
        rows, n = cloth.rows, cloth.n
        if len(cloth.bends.node):
            raise InputError(
                'bending = "stiffening" with solver="projective", whose matrix is constant: expected "hessian", or '
                'another solver, "newton" say'
            )
        if not rows.root.all() or (rows.sizes != 2).any() or cloth.stencils:
            raise InputError(
                f"solver 'projective' projects springs, and the model {cloth.model.name!r} is made of other terms; "
                "use model='mass_spring', or ic.models.MassSpring(stretch=..., flexion=0)"
            )
        self.cloth = cloth
        ends, length = rows.nodes.reshape(-1, 2).copy(), 1.0 / np.sqrt(rows.T[rows.square[:-1]])
        stiffness = 4.0 * rows.weight / length**2
        self.springs = Springs(ends, length, stiffness)
        (i, j), k = ends.T, stiffness
        self._elastic = sp.csr_matrix((np.r_[k, k, -k, -k], (np.r_[i, j, i, j], np.r_[i, j, j, i])), shape=(n, n))
        graph = sp.csr_matrix(abs(self._elastic) + abs(cloth.stiffness) + sp.identity(n))
        single = np.ones(n, dtype=np.int64)
        symbolic = analyse(graph, dissect(graph, cloth.mesh.vertices, single).order, single)
        upper = sp.triu(graph, format="coo")
        a, b = upper.row.astype(np.int64), upper.col.astype(np.int64)
        swap = symbolic.rank[a] > symbolic.rank[b]
        self._place, _ = symbolic.find(np.where(swap, b, a), np.where(swap, a, b))
        self._entries = a, b
        self.factor = Factor(symbolic)
        fronts = self.factor.fronts
        self.matrix = Solve(
            fronts, np.zeros((n, LANES)), np.zeros((int(fronts.size.max()) + LANES, LANES)),
            np.ones(len(fronts.size), dtype=bool),
        )  # fmt: skip
        self._factorised: tuple[FloatArray, FloatArray, BoolArray] | None = None
        #: matrices factorised so far
        self.factorisations = 0
        #: of the last step: seconds by phase, and what was solved
        self.seconds: dict[str, float] = {}
        self.last: Solved | None = None

    def solve(self, step: Step, multipliers: FloatArray, *, first: bool = False) -> Outcome:
        """A step without contacts; see `Outcome` for the certificate."""
        return self.solve_among(step, empty_contacts(0))[0]

    def solve_among(self, step: Step, contacts: ContactSet) -> tuple[Outcome, ContactSet, FloatArray]:
        """A step with the contacts that were found at its start; these in their order, and their forces (c, 3), N."""
        o, cloth, n = self.options, self.cloth, self.cloth.n
        penalty, inertia, load = np.zeros(0), step.inertia, step.load
        times = [perf_counter()]
        if o.drag > 0.0:
            rate = np.full(n, o.drag) / np.broadcast_to(np.ravel(step.h), n)
            rate[contacts.nodes[contacts.weights != 0.0]] = 0.0
            inertia, load = inertia + rate, load + rate[:, None] * step.base
        matrix = inertia
        if o.contact == "penalty":
            contacts = chosen_contacts(contacts, (contacts.body > 0) & (contacts.weights == 1.0).any(axis=1))
            penalty = o.penalty * (inertia + self._elastic.diagonal())[contacts.nodes[:, 0]]
            matrix = inertia.copy()
            np.add.at(matrix, contacts.nodes[:, 0], penalty)
        elif o.ordered:
            contacts = outwards(contacts, n)
        times.append(perf_counter())
        self._factorise(matrix, step.arrays.bending, step.held)
        times.append(perf_counter())
        y, force = step.start.copy(), np.zeros((len(contacts.gap), 3))
        gradient, nodal = np.empty((n, 3)), np.empty((n, 3))
        p = Potential(
            self.springs, cloth.bending, step.arrays.bending, inertia, load, step.held,
            cloth.mass,
        )  # fmt: skip
        found = iterate(
            p, self.matrix, contacts, o.ordered, penalty, o.iterations, o.force, o.force_floor, step.start, y, force,
            gradient, nodal,
        )  # fmt: skip
        times.append(perf_counter())
        self.seconds = dict(zip(("order", "factorisation", "iterations"), np.diff(times).tolist(), strict=True))
        self.last = Solved(p, contacts, step.start, y, force)
        if len(penalty):
            _rub(contacts, inertia, step.start, y, force)
        values = cloth.rows.values(y)
        outcome = Outcome(
            y, cloth.rows.weight * values, gradient - nodal, int(found.iterations), bool(found.converged),
            float(np.abs(values[cloth.rows.enforced]).max(initial=0.0)), 0.0, float(found.residual),
            int((np.abs(force) > 0.0).any(axis=1).sum()), np.inf, float(found.unmet),
        )  # fmt: skip
        return outcome, contacts, force

    def _factorise(self, inertia: FloatArray, bending: FloatArray, held: BoolArray) -> None:
        """P, unless it is that of the step before."""
        old = self._factorised
        now = inertia, bending, held
        if old is not None and all(np.array_equal(*pair) for pair in zip(old, now, strict=True)):
            return
        matrix = sp.csr_matrix(self._elastic + sp.diags(bending) @ self.cloth.stiffness + sp.diags(inertia))
        panel = self.factor.fronts.panel
        panel[:] = 0.0
        a, b = self._entries
        panel[self._place] = np.where(held[a] & (a == b), np.inf, np.asarray(matrix[a, b]).ravel())
        factorise(self.factor.fronts, np.zeros(self.cloth.n))
        self._factorised = inertia.copy(), bending.copy(), held.copy()
        self.factorisations += 1


def _rub(c: ContactSet, inertia: FloatArray, start: FloatArray, y: FloatArray, force: FloatArray) -> None:
    """Friction after a step: undo the slip of nodes as far as mu times the push bears it; y and force are changed."""
    i = c.nodes[:, 0]
    slip = c.slip + y[i] - start[i]
    slip -= np.einsum("cd,cd->c", slip, c.normal)[:, None] * c.normal
    most = c.friction * np.linalg.norm(force, axis=1)
    size = inertia[i] * np.linalg.norm(slip, axis=1)
    share = np.minimum(1.0, most / np.maximum(size, 1e-300))
    np.subtract.at(y, i, share[:, None] * slip)
    force -= (share * inertia[i])[:, None] * slip
