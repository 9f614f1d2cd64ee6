"""Solvers of a step, behind one interface."""

from __future__ import annotations

from typing import Any

from isocloth.base.errors import InputTypeError
from isocloth.cloth.cloth import Cloth
from isocloth.solvers.newton import TIGHT, Newton, NewtonOptions
from isocloth.solvers.outcome import Outcome, Solver
from isocloth.solvers.projection import Projection, ProjectionOptions
from isocloth.solvers.projective import Projective, ProjectiveOptions

__all__ = ["SOLVERS", "TIGHT", "Newton", "NewtonOptions", "Outcome", "Projection", "ProjectionOptions", "Projective",
           "ProjectiveOptions", "Solver", "check_options", "make_solver"]  # fmt: skip

_BY_NAME: dict[str, tuple[Any, Any]] = {
    "newton": (Newton, NewtonOptions),
    "projection": (Projection, ProjectionOptions),
    "projective": (Projective, ProjectiveOptions),
}
SOLVERS = tuple(_BY_NAME)


def check_options(name: str, options: Any) -> None:
    """Raise if options are not those of a solver."""
    _, expected = _BY_NAME[name]
    if options is not None and not isinstance(options, expected):
        raise InputTypeError(
            f"solver_options is {type(options).__name__}: the {name} solver has others, expected {expected.__name__}"
        )


def make_solver(name: str, cloth: Cloth, options: Any, timestep: float) -> Solver:
    """A solver by name, bound to a cloth; options are its own options class or None; timestep: the longest, s."""
    check_options(name, options)
    bound: Solver = Newton(cloth, options, timestep) if name == "newton" else Projection(cloth, options)
    return bound
