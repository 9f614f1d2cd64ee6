"""Sweeps and Newton's method in turn, until the law is met or the work is done; the certificate says which.

Contacts that others can replace, as those of a node and of the edges beside it, make W almost singular: forces are not
unique, sweeps take for ever, and Newton's matrix has no inverse. The method of proximal points solves

    u = (W + e D) r + b - e D r'

instead, with D how far each contact yields to itself and r' the forces before, again and again with a smaller e. Each
of these has unique forces, and what they tend to solves the problem itself: then r = r'.
"""

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

#: e of the first proximal point, what it becomes after one that was found, and after one that was not
_FIRST, _SMALLER, _LARGER = 1e-4, 0.5, 8.0


@dataclass(frozen=True, kw_only=True)
class GaussSeidelOptions:
    """When to stop.

    tolerance: largest error of Alart and Curnier of a contact, relative to the largest force.
    max_sweeps: over all contacts.
    burst: sweeps before Newton's method on all contacts is tried; 0: there are only sweeps.
    newton_steps: of it each time.
    tries: of both at one proximal point.
    """

    tolerance: float = 1e-10
    max_sweeps: int = 2000
    burst: int = 10
    newton_steps: int = 30
    tries: int = 5

    def __post_init__(self) -> None:
        if not (self.tolerance > 0 and self.max_sweeps >= 1 and self.tries >= 1):
            raise InputError(f"{self}: expected a positive tolerance, and at least one sweep and one try")
        if not (self.burst >= 0 and self.newton_steps >= 0):
            raise InputError(f"{self}: expected a burst and steps of zero or more")


class GaussSeidelAnswer(NamedTuple):
    """Forces and their certificate."""

    force: FloatArray  # (3c,) N, in the frames of contacts
    displacement: FloatArray  # (3c,) m, u = W r + b
    error: float  # largest error of Alart and Curnier of a contact, relative to the largest force ...
    mean_error: float  # ... and the mean
    sweeps: int
    newton_steps: int
    converged: bool


class _Count:
    """Sweeps and steps so far."""

    def __init__(self, options: GaussSeidelOptions) -> None:
        self.options, self.sweeps, self.steps = options, 0, 0

    @property
    def left(self) -> int:
        return self.options.max_sweeps - self.sweeps


def gauss_seidel(
    p: CoulombProblem, start: FloatArray | None = None, options: GaussSeidelOptions | None = None
) -> GaussSeidelAnswer:
    """Forces that meet the law of Signorini and Coulomb, from a first guess (3c,) N if there is one."""
    o = options or GaussSeidelOptions()
    r = np.zeros(len(p.b)) if start is None else start.astype(np.float64)
    count = _Count(o)
    if o.burst == 0:
        count.sweeps += sweeps(p, r, np.empty_like(r), o.max_sweeps, o.tolerance)
        best = r
    elif _attempt(p, r, o.tolerance, count):
        best = r
    else:
        best = _proximal_points(p, r, count)
    u = np.empty_like(best)
    displacements(p, best, u)
    mean, worst, largest = law_error(p, u, best)
    unit = largest if largest > 0.0 else 1.0
    converged = bool(worst <= o.tolerance * largest)
    return GaussSeidelAnswer(best, u, worst / unit, mean / unit, count.sweeps, count.steps, converged)


def _attempt(p: CoulombProblem, r: FloatArray, tolerance: float, count: _Count) -> bool:
    """Some sweeps over r (3c,), and Newton's method; whether the law is met then."""
    o, u = count.options, np.empty_like(r)
    count.sweeps += sweeps(p, r, u, min(o.burst, count.left), tolerance)
    count.steps += newton(p, r, u, o.newton_steps, tolerance)
    displacements(p, r, u)
    _, worst, largest = law_error(p, u, r)
    return bool(worst <= tolerance * largest)


def _proximal_points(p: CoulombProblem, r: FloatArray, count: _Count) -> FloatArray:
    """The best forces (3c,) that proximal points from r lead to."""
    o = count.options
    yields = np.repeat(np.diag(p.W).reshape(-1, 3).mean(axis=1), 3)
    best, least, share, u = r.copy(), np.inf, _FIRST, np.empty_like(r)
    diagonal = np.diag_indices_from(p.W)
    while count.left > 0:
        W = p.W.copy()
        W[diagonal] += share * yields
        near = CoulombProblem(W, p.b - share * yields * r, p.friction, p.bears)
        trial = r.copy()
        found = False
        for _ in range(o.tries):
            if found := _attempt(near, trial, 0.1 * o.tolerance, count):
                break
        displacements(p, trial, u)
        _, worst, largest = law_error(p, u, trial)
        if not np.isfinite(worst):
            break
        if worst < least * largest:
            best, least = trial.copy(), worst / largest
        if least <= o.tolerance:
            break
        if found:
            r, share = trial, _SMALLER * share
        else:
            share = _LARGER * share
    return best
