"""Newton's method for a step with contact: isometry, contact and friction in one linear system per iteration.

Each linearisation finds the contacts at the iterate and takes the thresholds of friction from their last forces; what
remains is a convex problem (coulomb.py, semismooth.py), which is solved the further the closer the iterate is. The
contacts of the last step, with their forces, are the first guess: a cloth at rest needs one factorisation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from isocloth.base.compiled import kernel
from isocloth.base.errors import InputError
from isocloth.base.kernel_args import KernelArgs, kernel_args
from isocloth.base.typing import FloatArray, IntArray
from isocloth.cloth.cloth import Cloth
from isocloth.cloth.step import Step, StepArrays
from isocloth.cloth.system import BOUND, TENSION
from isocloth.cloth.tangent import (
    ClothArrays,
    Workspace,
    accelerations,
    add_membrane,
    gradient,
    linearise,
    strain_gap,
)
from isocloth.contact.contact_set import ContactSet
from isocloth.contact.detector import ContactDetector
from isocloth.contact.history import OPEN, ContactHistory, ContactState, warm_start
from isocloth.contact.options import ContactNumbers, ContactOptions
from isocloth.friction.contact_qp import ContactQP
from isocloth.friction.coulomb import law_residual, prepare, subtract_forces
from isocloth.friction.fallback import fall_back, unsolved
from isocloth.friction.linearised import Linearised, along_surface, contact_problem
from isocloth.friction.semismooth import semismooth_newton
from isocloth.solvers.coupling import NO_COUPLING, UNKNOWN_COUPLING, CouplingPattern, each_once, pairs_of
from isocloth.solvers.newton import Newton, NewtonOptions
from isocloth.solvers.outcome import Outcome
from isocloth.sparse.dissection import Order
from isocloth.sparse.symbolic import precompile

#: factorisations that a convex problem solved by a library counts as in the work of a step
LIBRARY = 20


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
    force: float  # ... and of f


class ContactNewton:
    """Newton with contacts, on the system of a `Newton`."""

    name = "newton"

    def __init__(
        self, cloth: Cloth, options: NewtonOptions | None = None, timestep: float = np.inf,
        contact: ContactOptions | None = None,
    ) -> None:  # fmt: skip
        self.newton = Newton(cloth, options, timestep)
        self.options = self.newton.options
        self.contact = contact_options(self.options, contact)
        self.system = self.newton.system
        self.thickness = cloth.fabric.thickness
        self.deepest = self.contact.penetration * self.thickness
        self.yielding = self.contact.yielding * self.deepest
        self.longest = 4.0 * float(np.sqrt(cloth.area.mean()))
        self.coupling = NO_COUPLING
        self.rebuilt = 0  # how often the pattern had to follow the contacts
        self._args: KernelArgs | None = None  # what kernels read, from the first solve on
        self.fallbacks = 0  # convex problems that a library solved
        self.work = 0  # factorisations of this step so far, a library's answer counted as `LIBRARY` of them
        self.most_work = self.contact.most_work(0.0)  # ... and how many it may take
        self.on_problem: Callable[[ContactQP], None] | None = None  # is given the contact problem of each linearisation
        self._cloth = cloth

    @property
    def exhausted(self) -> bool:
        """Whether a step has taken all the work that it may."""
        return self.work >= self.most_work

    @cached_property
    def linearised(self) -> Linearised:
        """The linearisation as sparse matrices, for those who ask."""
        return Linearised(self._cloth)

    @property
    def args(self) -> KernelArgs:
        """What kernels read, with the factor as it is laid out now."""
        if self._args is None:
            newton, factor = self.newton, self.system.factor
            cloth = newton.arrays._replace(assembly=self.system.assembly)
            self._args = kernel_args((cloth, factor.fronts, factor.symbolic.block_index, newton.work))
        return self._args

    def lay_out(self, pairs: IntArray, positions: FloatArray) -> None:
        """Lay the factor out for contacts between pairs (p, 2) of nodes, and no other; the cloth is at positions."""
        self.rebuilt += 1
        self._args = None
        flops, self.coupling = self.coupling.flops, UNKNOWN_COUPLING
        if len(pairs) == 0:
            self.system.free()
            self.coupling = NO_COUPLING
            return
        if flops > 0:
            self.system.fill(pairs, self.system.order)
        if not flops / self.contact.reordered < self.system.factor.flops < flops * self.contact.reordered:
            self.system.couple(pairs, positions)
            flops = self.system.factor.flops
        self.coupling = CouplingPattern(pairs, *self.system.order, flops)

    def restore(self, coupling: CouplingPattern) -> None:
        """The factor as it was when it had this pattern."""
        if all(np.array_equal(getattr(self.coupling, name), getattr(coupling, name)) for name in coupling._fields):
            return
        unknowns = len(self.system.order.variables) if len(coupling.pairs) else 0
        if len(coupling.order) != unknowns:
            raise InputError(
                f"the state orders {len(coupling.order)} unknowns: expected {unknowns}; it belongs to a simulation "
                "with another mesh, model or discretisation"
            )
        self._args = None
        self.coupling = UNKNOWN_COUPLING
        if len(coupling.pairs) == 0:
            self.system.free()
        else:
            self.system.fill(coupling.pairs, Order(coupling.order, coupling.groups))
        self.coupling = coupling

    def solve(
        self, step: Step, multipliers: FloatArray, history: ContactHistory, detector: ContactDetector, *,
        first: bool = False, careful: bool = False,
    ) -> ContactOutcome:  # fmt: skip
        """Find the end of a step.

        first: there are no multipliers worth keeping yet.
        careful: the stiffness of angles is in all linearisations; without it the first may go astray.
        """
        work, y, lam = self.newton.work, step.start.copy(), multipliers.copy()
        iterations = linearisations = stuck = 0
        converged = hit = False
        gradient_at(self.args, step.arrays, y)
        self.newton.stencils.evaluate(step.stencils, y)
        while True:
            contacts = detector.find(y)
            law: ContactState = warm_start(contacts.key, history)
            if first:
                self._precompile(contacts, law, detector.pairwise)
            if linearisations == 0:
                self._shrink(contacts, y)
                hit = bool(contacts.gap.min(initial=0.0) < -self.thickness)  # what it hits at speed, it enters
            now = Residuals(*residuals(
                self.args, step.arrays, lam, contacts, law, self.contact.numbers, self.yielding,
                self._softening(linearisations, hit), linearisations == 0,
            ))  # fmt: skip
            if linearisations > 0:
                if converged := self._accepted(now, linearisations):
                    break
                if not np.isfinite(now.residual) or linearisations >= self.options.max_iterations or self.exhausted:
                    break
            curvature = TENSION if not careful and linearisations < self.contact.without_angles else BOUND
            self._tell(step, work, lam, contacts, law, curvature)
            thoroughness = self.contact.thoroughness[min(linearisations, len(self.contact.thoroughness) - 1)]
            spent, wasted = self._solve_linearised(step, lam, contacts, law, curvature, thoroughness, y)
            iterations += spent + wasted
            self.work += spent + wasted
            exhausted = spent == thoroughness[1] and thoroughness == self.contact.thoroughness[-1]
            if exhausted and unsolved(contacts, law, work.solution) > thoroughness[0]:
                stuck += 1
                if stuck > self.contact.patience:
                    zero = self.contact.library_zero
                    answered = fall_back(self.linearised, step, work, lam, contacts, law, curvature, zero)
                    self.fallbacks += answered
                    self.work += LIBRARY * answered
            linearisations += 1
            # no tension is known yet in the first: learn it before moving, or the first step would swing freely
            move_to_solution(self.args, step.arrays, lam, 0.0 if first else self.longest, y)
            self.newton.stencils.evaluate(step.stencils, y)
            first = False
            history = ContactHistory(contacts.key, law)
        closest = float(contacts.gap[contacts.press == 0.0].min(initial=np.inf))
        outcome = Outcome(
            y, lam, work.residual.copy(), iterations, converged, now.error, now.gap, now.residual,
            int((law.status != OPEN).sum()), closest, now.friction,
        )  # fmt: skip
        return ContactOutcome(outcome, contacts, law)

    def _accepted(self, now: Residuals, linearisations: int) -> bool:
        """Whether an iterate is good enough; the distance from Coulomb's law that is, grows with the linearisations."""
        o, c = self.options, self.contact
        obeys = now.friction < c.friction_tolerance(linearisations)
        obeys = obeys or (now.friction < c.sliding and now.excess < c.friction)
        obeys = obeys or (now.friction < c.loaded and now.plastic < c.friction)
        balanced = now.residual < o.force * now.force + o.force_floor
        return obeys and balanced and now.depth < self.deepest and now.gap < o.strain_gap

    def _softening(self, linearisations: int, hit: bool) -> float:
        softening = self.contact.impact_softening
        return softening[linearisations] if hit and linearisations < len(softening) else 1.0

    def _tell(
        self, step: Step, work: Workspace, lam: FloatArray, contacts: ContactSet, law: ContactState, curvature: int
    ) -> None:
        """Hand the contact problem of a linearisation to who asked for it."""
        if self.on_problem is not None and len(contacts.gap) and not contacts.press.any():
            friction = along_surface(contacts, law.force)
            self.on_problem(contact_problem(self.linearised, step, work, lam, contacts, friction, curvature))

    def _solve_linearised(
        self, step: Step, lam: FloatArray, contacts: ContactSet, law: ContactState, curvature: int,
        thoroughness: tuple[float, int], y: FloatArray,
    ) -> tuple[int, int]:  # fmt: skip
        """Solve the convex problem of a linearisation; returns the factorisations spent, and those spent in vain.

        Where the factor has no room for a coupling of the contacts, it is laid out again.
        """
        wasted = 0
        for _ in range(2):
            spent: int = semismooth_from(
                self.args, step.arrays, lam, contacts, law, self.contact.numbers, curvature, *thoroughness,
                0.5 * self.contact.friction,
            )  # fmt: skip
            if spent >= 0:
                return spent, wasted
            wasted -= spent + 1
            self.lay_out(self._with_old(pairs_of(contacts)), y)
        raise AssertionError("a coupling of contacts is missing from the pattern made for them")

    def _precompile(self, contacts: ContactSet, law: ContactState, pairwise: bool) -> None:
        """Load, or compile, what contacts will ask for later: a robot must not wait for it then."""
        unsolved(contacts, law, self.newton.work.solution)
        if pairwise:
            precompile()
            each_once(pairs_of(contacts))

    def _with_old(self, pairs: IntArray) -> IntArray:
        """Pairs together with those of the pattern, unless these have become too many: layers that slide on each
        other would otherwise ask for the same pattern again and again."""
        together = each_once(np.concatenate([pairs, self.coupling.pairs]))
        return pairs if len(together) > self.contact.pattern_kept * len(pairs) else together

    def _shrink(self, contacts: ContactSet, positions: FloatArray) -> None:
        """Keep no more of the pattern than contacts need: it costs time in every factorisation."""
        if len(self.coupling.pairs) > 0:
            pairs = pairs_of(contacts)
            if len(self.coupling.pairs) > self.contact.pattern_kept * len(pairs):
                self.lay_out(pairs, positions)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_args": None}  # a copy has arrays of its own


def contact_options(newton: NewtonOptions, contact: ContactOptions | None) -> ContactOptions:
    """Options of contact, with what version 0.1 kept among those of Newton, if it was given."""
    contact = contact or ContactOptions()
    given = {n: getattr(newton, n) for n in ("penetration", "friction") if getattr(newton, n) is not None}
    return replace(contact, **given) if given else contact


@kernel
def gradient_at(args: KernelArgs, step: StepArrays, y: FloatArray) -> None:
    """C, J and A y - b at y."""
    cloth, _, _, work = args.content
    gradient(cloth, step, work, y)


@kernel
def residuals(
    args: KernelArgs, step: StepArrays, lam: FloatArray, contacts: ContactSet, law: ContactState, o: ContactNumbers,
    yielding: float, softening: float, begin: bool,
) -> tuple[float, float, float, float, float, float, float, float]:  # fmt: skip
    """Prepare the contacts for the next linearisation, and say how good the iterate is: see `Residuals`."""
    cloth, _, _, work = args.content
    prepare(contacts, step.inertia, step.held, o, yielding, softening, begin, law)
    depth, error, largest, excess, plastic = law_residual(contacts, law, o.forgiven)
    largest = max(largest, 1e-300)
    residual, force = contact_residual(cloth, step, work, lam, contacts, law)
    gap, isometry = strain_gap(cloth, work, lam)
    return depth, error / largest, excess / largest, plastic / largest, gap, isometry, residual, force


@kernel
def semismooth_from(
    args: KernelArgs, step: StepArrays, lam: FloatArray, contacts: ContactSet, law: ContactState, o: ContactNumbers,
    curvature: int, tolerance: float, most: int, lawful: float,
) -> int:  # fmt: skip
    """`semismooth_newton`, as Python calls it."""
    cloth, f, places, work = args.content
    spent: int = semismooth_newton(
        cloth, step, f, places, work, contacts, law, lam, o, curvature, tolerance, most, lawful
    )  # fmt: skip
    return spent


@kernel
def move_to_solution(args: KernelArgs, step: StepArrays, lam: FloatArray, longest: float, y: FloatArray) -> None:
    """Take the multipliers of the linearised problem, and move y to its solution, by at most `longest` m."""
    cloth, _, _, work = args.content
    linearise(cloth, work)
    lam[:] = work.linearised
    x, far = work.solution, 0.0
    for i in range(y.size):
        far = max(far, abs(x[i]))
    share = 1.0 if far <= longest else longest / far
    for i in range(len(y)):
        for d in range(3):
            y[i, d] += share * x[3 * i + d]
    gradient(cloth, step, work, y)


@kernel
def contact_residual(
    cloth: ClothArrays, step: StepArrays, work: Workspace, lam: FloatArray, contacts: ContactSet, law: ContactState
) -> tuple[float, float]:
    """rms over the free mass of the residual f + J^T lambda - B^T r and of f, m/s^2."""
    add_membrane(cloth, work, lam)
    subtract_forces(contacts, law, work.residual)
    found: tuple[float, float] = accelerations(cloth, step, work)
    return found
