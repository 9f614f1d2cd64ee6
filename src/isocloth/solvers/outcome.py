"""What every solver returns: the answer and its certificate."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, Protocol

from isocloth.base.typing import FloatArray
from isocloth.cloth.step import Step


class Outcome(NamedTuple):
    """Answer and certificate of one (sub)step.

    positions: (n, 3) m.
    multipliers: (r,) J, one per row.
    reactions: (n, 3) N, force that holds each node where it is prescribed; on free nodes the residual.
    iterations: linear systems factorised.
    converged: whether the solver's own stopping test was met.
    isometry_error: largest |C| of the enforced rows.
    strain_gap: largest |C - lambda/w|: how far the multipliers are from the strain they stand for.
    force_residual: rms over mass of the residual of the equation of motion, m/s^2.
    contacts: contacts that carry force.
    min_gap: smallest distance less the one to be kept, m; infinite if nothing is near.
    friction_residual: largest distance of a contact force from Coulomb's law, relative to the largest contact force.
    problem: empty, or why the answer is not what was asked for, where that is known.
    sweeps: of Gauss-Seidel over all contacts, with contact="gauss_seidel".
    """

    positions: FloatArray
    multipliers: FloatArray
    reactions: FloatArray
    iterations: int
    converged: bool
    isometry_error: float
    strain_gap: float
    force_residual: float
    contacts: int = 0
    min_gap: float = math.inf
    friction_residual: float = 0.0
    problem: str = ""
    sweeps: int = 0


def worst_of(parts: Sequence[Outcome]) -> Outcome:
    """The last of some parts of a step, with the worst of their certificates."""
    return parts[-1]._replace(
        converged=all(part.converged for part in parts),
        isometry_error=max(part.isometry_error for part in parts),
        strain_gap=max(part.strain_gap for part in parts),
        force_residual=max(part.force_residual for part in parts),
        min_gap=min(part.min_gap for part in parts),
        friction_residual=max(part.friction_residual for part in parts),
        problem=next((part.problem for part in parts if part.problem), ""),
        sweeps=sum(part.sweeps for part in parts),
    )


class Solver(Protocol):
    """Solves a step problem from a start and last step's multipliers."""

    name: str

    def solve(self, step: Step, multipliers: FloatArray, *, first: bool) -> Outcome:
        """`first`: there are no multipliers worth keeping yet."""
        ...
