"""Newton's method for a step with contact: isometry, contact and friction in one linear system per iteration.

Each linearisation finds the contacts at the iterate and takes the thresholds of friction from their last forces; what
remains is a convex problem (coulomb.py, descent.py), which is solved the further the closer the iterate is. The
contacts of the last step, with their forces, are the first guess: a cloth at rest needs one factorisation.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np

from isocloth.base.compiled import kernel
from isocloth.base.hashing import slot, table_size
from isocloth.base.kernel_args import KernelArgs, kernel_args
from isocloth.base.typing import FloatArray, IntArray
from isocloth.cloth.problem import Problem, StepProblem
from isocloth.cloth.system import BOUND, TENSION
from isocloth.cloth.tangent import Cloth, Workspace, linearise, refresh_cloth
from isocloth.contact.contact_set import ContactSet
from isocloth.contact.history import OPEN, ContactHistory, ContactState, warm_start
from isocloth.friction.contact_qp import ContactQP
from isocloth.friction.coulomb import law_residual, prepare, subtract_forces
from isocloth.friction.fallback import fall_back, unsolved
from isocloth.friction.linearised import Linearised, along_surface, contact_problem
from isocloth.friction.semismooth import semismooth_newton
from isocloth.solvers.newton import Newton, NewtonOptions
from isocloth.solvers.outcome import Outcome
from isocloth.sparse.dissection import Order
from isocloth.sparse.fronts import precompile
from isocloth.terms.rows import add_forces


class ContactDetector(Protocol):
    """Where a step's contacts come from."""

    pairwise: bool  # whether there are any that couple nodes

    def find(self, y: FloatArray) -> ContactSet:
        """Contacts at the iterate y (n, 3)."""
        ...


#: how far the convex problem of the first, second, ... linearisation is solved: contact forces to this part of the
#: largest, within so many factorisations. While the contacts still move it is not worth more
THOROUGHNESS = ((1e-1, 3), (1e-1, 3), (1e-2, 4), (1e-3, 12))

#: springs of the first linearisations where the cloth hits something, relative to those of the others
SOFT = (0.03, 0.3)

#: under the force it bore a contact gives way by at most this part of the accepted penetration
YIELDING = 0.2

#: linearisations of a step that may be left unsolved before a library is asked: mostly the next one mends it
PATIENCE = 2

#: linearisations of a step that go without the stiffness of angles (system.py): should it not converge so, they return
BOLD = 5

#: room in the factor is kept for at most so many times the pairs of nodes that contacts couple ...
ROOM = 1.5

#: ... and it is ordered anew where new pairs make it so many times as much work as when it was ordered, or as little
OUTGROWN = 1.3

#: linearisations after which these distances from Coulomb's law will do, instead of `NewtonOptions.friction`: what
#: sticks near its limit must be met closely, or it creeps, but in an impact the last digits would cost too much
ENOUGH = ((3, 1e-3), (5, 1e-2))

#: the same of a cloth that slides, if what its slip does not forgive is below `NewtonOptions.friction`
MOVING = 1e-2

#: the same of a cloth whose load changes, if all that springs do not give way is below it: another iteration would
#: find the same
LOADED = 1e-3


class CouplingPattern(NamedTuple):
    """What the factor has room for, and in which order it eliminates: rounding depends on that."""

    pairs: IntArray  # (p, 2) nodes that contacts couple
    order: IntArray  # (v,) variables of the system in the order of their elimination; none: as without contacts ...
    groups: IntArray  # (g + 1,) ... and where those begin that are eliminated together
    flops: int  # of a factorisation when this order was found


NO_COUPLING = CouplingPattern(
    np.zeros((0, 2), dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), 0
)
#: while the factor is laid out anew; if that is interrupted, it stays
UNKNOWN_COUPLING = NO_COUPLING._replace(flops=-1)


class ContactOutcome(NamedTuple):
    """Outcome of a step with contacts."""

    outcome: Outcome
    contacts: ContactSet
    law: ContactState


class Residuals(NamedTuple):
    """How good an iterate is."""

    depth: float  # m, deepest penetration
    friction: float  # largest distance of a contact force from the law, relative to the largest force ...
    excess: float  # ... less what the slip forgives ...
    plastic: float  # ... and less what springs give way
    gap: float  # largest |C - lambda/w| of an enforced row
    error: float  # largest |C| of an enforced row
    residual: float  # m/s^2, rms over the free mass of the residual ...
    force: float  # ... and of A y - b


NOTHING_KNOWN = Residuals(*[np.inf] * 8)


class ContactNewton:
    """Newton with contacts, on the system of a `Newton`."""

    name = "newton"

    def __init__(self, problem: Problem, options: NewtonOptions | None = None, timestep: float = np.inf) -> None:
        self.newton = Newton(problem, options, timestep)
        self.options = self.newton.options
        self.system = self.newton.system
        self.thickness = problem.fabric.thickness
        self.deepest = self.options.penetration * self.thickness
        self.yielding = YIELDING * self.deepest
        self.longest = 4.0 * float(np.sqrt(problem.area.mean()))
        self.room = NO_COUPLING
        self.rebuilt = 0  # how often the pattern had to follow the contacts
        self._arrays: KernelArgs | None = None  # what kernels read, from the first solve on
        self.fallbacks = 0  # convex problems that a library solved
        self.on_problem: Callable[[ContactQP], None] | None = None  # is given the contact problem of each linearisation
        self._problem = problem

    @cached_property
    def linearised(self) -> Linearised:
        """The linearisation as sparse matrices, for those who ask."""
        return Linearised(self._problem)

    @property
    def arrays(self) -> KernelArgs:
        """What kernels read, with the factor as it is laid out now."""
        if self._arrays is None:
            newton, factor = self.newton, self.system.factor
            cloth = newton._cloth._replace(assembly=self.system.assembly)
            self._arrays = kernel_args((cloth, factor.fronts, factor.places, newton._work))
        return self._arrays

    def lay_out(self, pairs: IntArray, positions: FloatArray) -> None:
        """CouplingPattern in the factor for contacts between pairs (p, 2) of nodes, and no other; the cloth is at positions."""
        self.rebuilt += 1
        self._arrays = None
        flops, self.room = self.room.flops, UNKNOWN_COUPLING
        if len(pairs) == 0:
            self.system.free()
            self.room = NO_COUPLING
            return
        if flops > 0:
            self.system.fill(pairs, self.system.order)
        if not flops / OUTGROWN < self.system.factor.flops < flops * OUTGROWN:
            self.system.couple(pairs, positions)
            flops = self.system.factor.flops
        self.room = CouplingPattern(pairs, *self.system.order, flops)

    def restore(self, room: CouplingPattern) -> None:
        """The factor as it was when it had this room."""
        if all(np.array_equal(getattr(self.room, name), getattr(room, name)) for name in CouplingPattern._fields):
            return
        unknowns = len(self.system.order.variables) if len(room.pairs) else 0
        if len(room.order) != unknowns:
            raise ValueError(
                f"the state orders {len(room.order)} unknowns: expected {unknowns}; it belongs to a simulation with "
                "another mesh, model or discretisation"
            )
        self._arrays = None
        self.room = UNKNOWN_COUPLING
        if len(room.pairs) == 0:
            self.system.free()
        else:
            self.system.fill(room.pairs, Order(room.order, room.groups))
        self.room = room

    def solve(
        self, step: StepProblem, inertia: FloatArray, multipliers: FloatArray, touch: ContactHistory, encounter: ContactDetector,
        *, first: bool = False, bold: bool = True,
    ) -> ContactOutcome:  # fmt: skip
        """Find the end of a step; inertia (n,) N/m is the factor of the positions, m/h^2 and damping together.

        bold: the first linearisations go without the stiffness of angles, which may go astray.
        """
        o, work = self.options, self.newton._work
        y, lam = step.start.copy(), multipliers.copy()
        iterations = linearisations = stuck = 0
        converged = hit = False
        judged = NOTHING_KNOWN
        refresh(self.arrays, step, inertia, y)
        while True:
            contacts = encounter.find(y)
            law: ContactState = warm_start(contacts.key, touch)
            if first:
                self.precompile(contacts, law, encounter.pairwise)
            if linearisations == 0:
                self._give_up_room(contacts, y)
                hit = bool(contacts.gap.min(initial=0.0) < -self.thickness)  # what it hits at speed, it enters
            softly = SOFT[linearisations] if hit and linearisations < len(SOFT) else 1.0
            judged = Residuals(
                *judge(self.arrays, step, inertia, lam, contacts, law, self.yielding, softly, linearisations == 0)
            )
            if linearisations > 0:
                enough = max([o.friction, *(e for after, e in ENOUGH if linearisations >= after)])
                lawful = judged.friction < enough or (judged.friction < MOVING and judged.excess < o.friction)
                lawful = lawful or (judged.friction < LOADED and judged.plastic < o.friction)
                balanced = judged.residual < o.force * judged.force + o.force_floor
                if lawful and balanced and judged.depth < self.deepest and judged.gap < o.strain_gap:
                    converged = True
                    break
                if not np.isfinite(judged.residual) or linearisations >= o.max_iterations:
                    break
            curvature = TENSION if bold and linearisations < BOLD else BOUND
            if self.on_problem is not None and len(contacts.gap) and not contacts.press.any():
                friction = along_surface(contacts, law.force)
                self.on_problem(
                    contact_problem(self.linearised, step, inertia, work, lam, contacts, friction, curvature)
                )
            thoroughness = THOROUGHNESS[min(linearisations, len(THOROUGHNESS) - 1)]
            spent = self._descend(step, inertia, lam, contacts, law, curvature, *thoroughness)
            if spent < 0:
                iterations -= spent + 1
                self.lay_out(self._with_old(pairs_of(contacts)), y)
                spent = self._descend(step, inertia, lam, contacts, law, curvature, *thoroughness)
                if spent < 0:
                    raise AssertionError("a coupling of contacts is missing from the pattern made for them")
            iterations += spent
            exhausted = spent == thoroughness[1] and thoroughness == THOROUGHNESS[-1]
            if exhausted and unsolved(contacts, law, work.solution) > thoroughness[0]:
                stuck += 1
                if stuck > PATIENCE:
                    self.fallbacks += fall_back(self.linearised, step, inertia, work, lam, contacts, law, curvature)
            linearisations += 1
            # no tension is known yet in the first: learn it before moving, or the first step would swing freely
            move(self.arrays, step, inertia, lam, 0.0 if first else self.longest, y)
            first = False
            touch = ContactHistory(contacts.key, law)
        closest = float(contacts.gap[contacts.press == 0.0].min(initial=np.inf))
        outcome = Outcome(
            y, lam, work.residual.copy(), iterations, converged, judged.error, judged.gap, judged.residual,
            int((law.status != OPEN).sum()), closest, judged.friction,
        )  # fmt: skip
        return ContactOutcome(outcome, contacts, law)

    def _descend(
        self, step: StepProblem, inertia: FloatArray, lam: FloatArray, contacts: ContactSet, law: ContactState, curvature: int,
        tolerance: float, most: int,
    ) -> int:  # fmt: skip
        lawful = 0.5 * self.options.friction
        spent: int = solve_linearised(
            self.arrays, step, inertia, lam, contacts, law, curvature, tolerance, most, lawful
        )
        return spent

    def precompile(self, contacts: ContactSet, law: ContactState, pairwise: bool) -> None:
        """Load, or compile, what contacts will ask for later: a robot must not wait for it then."""
        unsolved(contacts, law, self.newton._work.solution)
        if pairwise:
            precompile()
            each_once(pairs_of(contacts))

    def _with_old(self, pairs: IntArray) -> IntArray:
        """Pairs together with those there was room for, unless these have become too many: layers that slide on each
        other would otherwise ask for the same room again and again."""
        together = each_once(np.concatenate([pairs, self.room.pairs]))
        return pairs if len(together) > ROOM * len(pairs) else together

    def _give_up_room(self, contacts: ContactSet, positions: FloatArray) -> None:
        """Leave no more room in the factor than contacts need: it costs time in every factorisation."""
        if len(self.room.pairs) > 0:
            pairs = pairs_of(contacts)
            if len(self.room.pairs) > ROOM * len(pairs):
                self.lay_out(pairs, positions)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_arrays": None}  # a copy has arrays of its own


@kernel
def each_once(pairs: IntArray) -> IntArray:
    """Pairs of nodes (p, 2), each once and in order."""
    size = table_size(len(pairs))
    table = np.full(size, -1, dtype=np.int64)  # a pair as one number
    different = np.empty(len(pairs), dtype=np.int64)
    count = 0
    for q in range(len(pairs)):
        together = (pairs[q, 0] << 32) | pairs[q, 1]
        at = slot(together, size)
        while table[at] >= 0 and table[at] != together:
            at = (at + 1) & (size - 1)
        if table[at] < 0:
            table[at] = different[count] = together
            count += 1
    out = np.empty((count, 2), dtype=np.int64)
    ordered = np.sort(different[:count])
    for q in range(count):
        out[q, 0], out[q, 1] = ordered[q] >> 32, ordered[q] & 0xFFFFFFFF
    return out


@kernel
def pairs_of(c: ContactSet) -> IntArray:
    """Pairs of different nodes (p, 2) of each contact, smaller first, each once."""
    pairs = np.empty((6 * len(c.gap), 2), dtype=np.int64)
    count = 0
    for k in range(len(c.gap)):
        for a in range(4):
            for b in range(a):
                if c.weights[k, a] != 0.0 and c.weights[k, b] != 0.0:
                    i, j = c.nodes[k, a], c.nodes[k, b]
                    pairs[count, 0], pairs[count, 1] = min(i, j), max(i, j)
                    count += 1
    return each_once(pairs[:count])


@kernel
def refresh(arrays: KernelArgs, step: StepProblem, inertia: FloatArray, y: FloatArray) -> None:
    """C, J and A y - b at y."""
    cloth, _, _, work = arrays.content
    refresh_cloth(cloth, step, inertia, work, y)


@kernel
def judge(
    arrays: KernelArgs, step: StepProblem, inertia: FloatArray, lam: FloatArray, contacts: ContactSet, law: ContactState,
    yielding: float, softly: float, begin: bool,
) -> tuple[float, float, float, float, float, float, float, float]:  # fmt: skip
    """Prepare the contacts for the next linearisation, and say how good the iterate is: see `Residuals`."""
    cloth, _, _, work = arrays.content
    prepare(contacts, inertia, step.held, yielding, softly, begin, law)
    depth, error, largest, excess, plastic = law_residual(contacts, law)
    largest = max(largest, 1e-300)
    off, force = contact_residual(cloth, step, inertia, work, lam, contacts, law)
    gap = isometry = 0.0
    for k in range(len(lam)):
        if cloth.enforced[k]:
            gap = max(gap, abs(work.values[k] - lam[k] / cloth.assembly.weight[k]))
            isometry = max(isometry, abs(work.values[k]))
    return depth, error / largest, excess / largest, plastic / largest, gap, isometry, off, force


@kernel
def solve_linearised(
    arrays: KernelArgs, step: StepProblem, inertia: FloatArray, lam: FloatArray, contacts: ContactSet, law: ContactState,
    curvature: int, tolerance: float, most: int, lawful: float,
) -> int:  # fmt: skip
    """`descend`, as Python calls it."""
    cloth, f, places, work = arrays.content
    spent: int = semismooth_newton(
        cloth, step, inertia, f, places, work, contacts, law, lam, curvature, tolerance, most, lawful
    )
    return spent


@kernel
def move(
    arrays: KernelArgs, step: StepProblem, inertia: FloatArray, lam: FloatArray, longest: float, y: FloatArray
) -> None:
    """Take the multipliers of the linearised problem, and move y to its solution, by at most `longest` m."""
    cloth, _, _, work = arrays.content
    linearise(cloth, work)
    lam[:] = work.linearised
    x, far = work.solution, 0.0
    for i in range(y.size):
        far = max(far, abs(x[i]))
    share = 1.0 if far <= longest else longest / far
    for i in range(len(y)):
        for d in range(3):
            y[i, d] += share * x[3 * i + d]
    refresh_cloth(cloth, step, inertia, work, y)


@kernel
def contact_residual(
    cloth: Cloth, step: StepProblem, inertia: FloatArray, work: Workspace, lam: FloatArray, contacts: ContactSet,
    law: ContactState,
) -> tuple[float, float]:  # fmt: skip
    """rms over the free mass of the residual A y - b + J^T lambda - B^T r and of A y - b, m/s^2."""
    work.residual[:] = work.force
    add_forces(cloth.rows, work.jacobian, lam, work.residual)
    subtract_forces(contacts, law, work.residual)
    total = ra = am = 0.0
    for i in range(len(inertia)):
        if not step.held[i]:
            m = cloth.density * cloth.area[i]
            total += m
            for d in range(3):
                ra += work.residual[i, d] ** 2 / m
                am += work.force[i, d] ** 2 / m
    total = max(total, 1e-300)
    return np.sqrt(ra / total), np.sqrt(am / total)
