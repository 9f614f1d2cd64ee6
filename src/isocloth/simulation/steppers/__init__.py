"""Steppers, a file per kind: free, contact, particles. The model of a cloth names its own."""

from __future__ import annotations

from typing import Any, NamedTuple

from isocloth.base.errors import InputError, InputTypeError
from isocloth.base.numeric import is_one_of
from isocloth.cloth.cloth import Cloth
from isocloth.contact.options import ContactOptions
from isocloth.contact.world import CollisionWorld
from isocloth.models import Model
from isocloth.simulation.integrators import INTEGRATORS
from isocloth.simulation.steppers.contact import ContactStepper
from isocloth.simulation.steppers.free import FreeStepper
from isocloth.simulation.steppers.particles import ParticleStepper
from isocloth.simulation.steppers.projective import ProjectiveStepper
from isocloth.simulation.steppers.stepper import Part, Stepper, Targets
from isocloth.solvers import SOLVERS, Projective, check_options, make_solver
from isocloth.solvers.contact_methods import check_contact, make_contact_solver

__all__ = ["ContactStepper", "FreeStepper", "Method", "Part", "ParticleStepper", "ProjectiveStepper", "Stepper",
           "Targets", "check_method",
           "make_stepper"]  # fmt: skip


class Method(NamedTuple):
    """How steps are taken, as a user asked for it; None: what the model uses."""

    integrator: str
    solver: str | None
    contact: str
    contact_solver: str | None
    options: Any
    contact_options: ContactOptions | None


def check_method(model: Model, method: Method) -> None:
    """Raise if there is no such method, or none for the model."""
    if not is_one_of(method.integrator, INTEGRATORS):
        raise InputError(f"integrator {method.integrator!r} is unknown; choose one of {', '.join(INTEGRATORS)}")
    check_contact(method.contact, method.contact_solver)
    if model.stepper == "particles":
        if method.solver is not None or method.options is not None:
            raise InputError(
                "the nonconforming model is solved by its own impulses: leave solver and solver_options out; "
                "ic.models.Nonconforming(tolerance=..., max_solves=...) says how far"
            )
        if method.contact != "coulomb":
            raise InputError(
                f"contact = {method.contact!r}: the nonconforming model has a contact of its own; leave it out"
            )
    if method.solver is not None and not is_one_of(method.solver, SOLVERS):
        raise InputError(f"solver {method.solver!r} is unknown; choose one of {', '.join(SOLVERS)}")
    if method.solver == "projective" and method.contact != "coulomb":
        raise InputError(
            f"contact = {method.contact!r}: solver='projective' has a contact of its own; leave one of the two out"
        )
    check_options(method.solver or "newton", method.options)
    if method.contact_options is not None and not isinstance(method.contact_options, ContactOptions):
        raise InputTypeError(
            f"contact_options is {type(method.contact_options).__name__}: expected an isocloth.ContactOptions"
        )


def make_stepper(
    cloth: Cloth, method: Method, timestep: float, gravity: float, world: CollisionWorld | None
) -> FreeStepper | ParticleStepper:
    """The stepper of a cloth, among what is in the world or, with None, where there is nothing to touch."""
    if cloth.model.stepper == "particles":
        return ParticleStepper(cloth, gravity, world, method.contact_options)
    solver = method.solver or ("newton" if world is not None else cloth.model.solver)
    if solver == "projective":
        return ProjectiveStepper(cloth, Projective(cloth, method.options), world)
    if world is None:
        return FreeStepper(cloth, make_solver(solver, cloth, method.options, timestep), method.integrator)
    if solver != "newton":
        raise InputError(f"solver {solver!r} knows no contact; use solver='newton' with obstacles and grippers")
    contact = make_contact_solver(
        method.contact, method.contact_solver, cloth, method.options, timestep, method.contact_options
    )
    return ContactStepper(cloth, contact, method.integrator, world)
