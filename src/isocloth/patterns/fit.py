"""Flat panels, and a density or stiffnesses, whose equilibrium is nearest to a shape that was given.

Panels are flat because their points have two coordinates. A shape that is an equilibrium of some panels is fitted
exactly: positions and panels are sought at once (`inverse/joint.py`), and what is left of the way to the target goes to
zero quadratically.

A shape that was captured has errors, and no panels fit it exactly. Then

    min  |x - target|^2 / 2 + (s / t)^2 S(x, X)    so that x is in equilibrium

is sought, with S the unevenness of strain (`inverse/strain_smoothness.py`), s the error of a coordinate and t the jump
of strain from face to face that is let be. How large t is, is chosen by generalised cross-validation:

    V(t) = m |x - target|^2 / (m - tr A)^2

of m coordinates, where A is how far the fit follows errors, dx / dtarget, and its trace is found with random signs.
That the equilibrium balances forces is by far the stronger filter: V is flat where t is large. The principle of
discrepancy, |x - target|^2 = m s^2, smooths far too much, because panels have two coordinates for three that were
captured: the fit follows two thirds of the errors, and has to.

Errors of what was found are those of its linearisation. Smoothness pulls the density as well, down, as it evens out
what the weight does at places where the cloth is held. So density and stiffnesses are those of a last search, with
`RELEASED` times the chosen t.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from isocloth.base.typing import FloatArray
from isocloth.inverse.joint import Fit, Keep, Linearised, Loop, Search, View
from isocloth.inverse.rest_coordinates import RestCoordinates
from isocloth.models import Shell

Progress = Callable[[str], None]

#: jumps of strain from face to face that are tried, from even to uneven
JUMPS = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
#: of the size of the cloth: what errors of a coordinate are taken for until they are known
SUPPOSED = 1e-3
#: of the size of the cloth: root mean square by which positions may be off a target that counts as fitted exactly
WITHIN = 1e-6
#: m, weight of a step of panels in the plane: points that nothing determines stay where they are
KEPT = 1e-9
#: random signs with which the trace of A, and the errors of panels, are estimated
PROBES, SEED = 24, 20261119


class Trial(NamedTuple):
    """A smoothness that was tried. jump: t; error: m, root mean square off the target; followed: tr A / m, the part of
    errors that the fit follows; score: m^2, V."""

    jump: float
    error: float
    followed: float
    score: float
    logs: FloatArray


class FlatFit(NamedTuple):
    """What was found.

    exact: whether the target is an equilibrium. ended: whether steps came to an end. jump: t of the smoothness; 0: none.
    noise: m, error of a coordinate: given, or as the fit says. residual: m, as the fit says. trials: in order.
    relative: standard deviations of what was unknown, as parts of it; points: (p, 2) m, those of the panels.
    """

    search: Search
    fit: Fit
    ended: bool
    exact: bool
    jump: float
    noise: float
    residual: float
    trials: tuple[Trial, ...]
    relative: FloatArray
    points: FloatArray
    iterations: int


class Stage(NamedTuple):
    """Which search is going on: the jump t it allows, 0 in the exact one; what was tried before; steps until now."""

    jump: float
    loop: Loop
    trials: tuple[Trial, ...]
    best: Fit | None
    iterations: int


class FlatSearch:
    """The searches for one target, in their order."""

    def __init__(
        self, view: View, model: Shell, density: float, names: Sequence[str], rest: RestCoordinates, noise: float | None
    ) -> None:
        """noise: m, of a coordinate; None: the target is exact, or its errors are not known."""
        self.view, self.model, self.density, self.names = view, model, density, tuple(names)
        self.rest, self.noise, self.iterations = rest, noise, 0
        self.size = float(np.ptp(view.mesh.vertices, axis=0).max())

    def searching(self, jump: float) -> Search:
        """The search with jumps of strain of this size; 0: exact."""
        if jump == 0.0:
            return Search([self.view], self.model, self.density, self.names, self.rest, 0.0)
        error = SUPPOSED * self.size if self.noise is None else self.noise
        return Search([self.view], self.model, self.density, self.names, self.rest, KEPT, (error / jump) ** 2)
