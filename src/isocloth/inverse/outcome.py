"""What a method of inverse design found, in the words that are common to all of them."""

from __future__ import annotations

from typing import NamedTuple

from isocloth.base.typing import FloatArray
from isocloth.inverse.force_first import Found
from isocloth.inverse.thesis.two_step import Pass


class Outcome(NamedTuple):
    """A rest shape, and whether the target is reached with it.

    points: (n, 3) m, the rest shape.
    load: part of gravity that acts where its forces are looked at; up_to: part up to which the target is reached.
    forces: (k, 3) N, of the supports.
    iterations: linear systems solved, or iterations of BFGS.
    reached, stable: whether the target is a stable equilibrium, with forces in the cones; and whether it comes back.
    problem: in words what is wrong, or empty.
    passes: of the thesis' method.
    """

    points: FloatArray
    load: float
    up_to: float
    forces: FloatArray
    iterations: int
    reached: bool
    stable: bool
    problem: str
    passes: tuple[Pass, ...] = ()


def of_force_first(found: Found, density: float) -> Outcome:
    """Of the search that chooses forces first; density: kg/m^2, that weighs."""
    reached = found.load == 1.0 and found.carried
    said = "" if reached else _problem(found, density)
    return Outcome(found.points, found.load, found.load, found.forces, found.iterations, reached, reached, said)


def _problem(found: Found, density: float) -> str:
    load = found.load
    if not found.carried:
        return (
            "no forces of these supports, within the cones of friction, carry the weight in force and torque, "
            "whatever the rest shape is: the target needs more friction, further contacts, or held nodes"
        )
    if load == 0.0:
        return (
            "no rest shape was found at any load: the cloth is far too soft for this target; use a stiffer model, "
            "or a lighter fabric"
        )
    return (
        f"the target is stable up to {load:.3g} of its weight: the cloth is too soft for it; a density of "
        f"{load * density:.3g} kg/m^2 would hang like this, or stiffnesses {1.0 / load:.3g} times as large"
    )
