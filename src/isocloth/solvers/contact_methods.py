"""The ways through a step with contact, by name; all but the default are loaded when somebody asks for them."""

from __future__ import annotations

from isocloth.base.errors import InputError, InputTypeError
from isocloth.base.numeric import is_one_of
from isocloth.cloth.cloth import Cloth
from isocloth.contact.options import ContactOptions
from isocloth.solvers.contact_newton import ContactNewton
from isocloth.solvers.newton import NewtonOptions

CONTACTS = ("coulomb", "lagged", "gauss_seidel")


def check_contact(contact: str, contact_solver: str | None) -> None:
    """Raise if there is no such way, or if the library that it needs is missing."""
    if not is_one_of(contact, CONTACTS):
        raise InputError(f"contact {contact!r} is unknown; choose one of {', '.join(CONTACTS)}")
    if contact_solver is not None:
        from isocloth.friction.library_qp import require

        if not isinstance(contact_solver, str):
            raise InputTypeError(f"contact_solver is {contact_solver!r}: expected the name of a solver, or None")
        require(contact_solver)
        if contact != "lagged":
            raise InputError(
                f"contact_solver = {contact_solver!r} goes with contact='lagged': contact {contact!r} has no quadratic "
                "problem with inequalities to solve"
            )


def make_contact_solver(
    contact: str,
    contact_solver: str | None,
    cloth: Cloth,
    options: NewtonOptions | None,
    timestep: float,
    contact_options: ContactOptions | None = None,
) -> ContactNewton:
    """The solver of steps with contact, of at most timestep, s."""
    if contact == "lagged":
        from isocloth.solvers.lagged_newton import LaggedNewton

        return LaggedNewton(cloth, options, contact_solver or "active_set", contact_options)
    if contact == "gauss_seidel":
        from isocloth.solvers.gauss_seidel_newton import GaussSeidelNewton

        return GaussSeidelNewton(cloth, options, timestep, contact_options)
    return ContactNewton(cloth, options, timestep, contact_options)
