"""Sweeps and steps of Newton's method in turn, until the law is met or the work is done; the certificate says which."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from isocloth.base.errors import InputError
from isocloth.base.typing import FloatArray
from isocloth.friction.exact.all_at_once import newton
from isocloth.friction.exact.contact_space import CoulombProblem
from isocloth.friction.exact.error import law_error
from isocloth.friction.exact.sweep import displacements, sweeps


@dataclass(frozen=True, kw_only=True)
class GaussSeidelOptions:
    """When to stop.

    tolerance: largest error of Alart and Curnier of a contact, relative to the largest force.
    max_sweeps: over all contacts.
    burst: sweeps before Newton's method on all contacts is tried, twice as many each time; 0: it is never tried.
    newton_steps: of it each time.
    """

    tolerance: float = 1e-10
    max_sweeps: int = 2000
    burst: int = 10
    newton_steps: int = 12

    def __post_init__(self) -> None:
        if not (self.tolerance > 0 and self.max_sweeps >= 1 and self.burst >= 0 and self.newton_steps >= 0):
            raise InputError(
                f"{self}: expected a positive tolerance, at least one sweep, and a burst and steps of zero or more"
            )


class GaussSeidelAnswer(NamedTuple):
    """Forces and their certificate."""

    force: FloatArray  # (3c,) N, in the frames of contacts
    displacement: FloatArray  # (3c,) m, u = W r + b
    error: float  # largest error of Alart and Curnier of a contact, relative to the largest force ...
    mean_error: float  # ... and the mean
    sweeps: int
    newton_steps: int
    converged: bool


def gauss_seidel(
    p: CoulombProblem, start: FloatArray | None = None, options: GaussSeidelOptions | None = None
) -> GaussSeidelAnswer:
    """Forces that meet the law of Signorini and Coulomb, from a first guess (3c,) N if there is one."""
    o = options or GaussSeidelOptions()
    r = np.zeros(len(p.b)) if start is None else start.astype(np.float64)
    u = np.empty_like(r)
    done = steps = 0
    burst = o.burst if o.burst > 0 else o.max_sweeps
    while True:
        done += sweeps(p, r, u, min(burst, o.max_sweeps - done), o.tolerance)
        if o.burst > 0:
            steps += newton(p, r, u, o.newton_steps, o.tolerance)
        displacements(p, r, u)
        mean, worst, largest = law_error(p, u, r)
        if worst <= o.tolerance * largest:
            break
        if done >= o.max_sweeps or not np.isfinite(worst):
            break
        burst *= 2
    relative = worst / largest if largest > 0.0 else 0.0
    average = mean / largest if largest > 0.0 else 0.0
    return GaussSeidelAnswer(r, u, relative, average, done, steps, bool(worst <= o.tolerance * largest))
