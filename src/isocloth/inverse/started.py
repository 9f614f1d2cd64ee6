"""A simulation that begins in a target: what it touches is found from there."""

from __future__ import annotations

from isocloth.base.errors import InputError
from isocloth.contact.starts import REMEDY
from isocloth.simulation import Simulation
from isocloth.statics.problem import Problem

#: m/s^2, unless it is given
GRAVITY = 9.81


def started(problem: Problem, contacts: object) -> Simulation:
    """A simulation that begins in the target; what is said to touch may be inside as well, until it is laid on."""
    try:
        return problem.simulation(problem.mesh.vertices.copy(), resolve_start=contacts is not None)
    except InputError as error:  # far inside a body, or through itself
        if REMEDY not in str(error):
            raise
        told = str(error).replace(REMEDY, "move the target out of it")
        raise InputError(f"target: {told}") from None
