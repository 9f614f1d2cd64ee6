"""Lateral buckling: a strip clamped along its width, which is upright, gives way sideways if it is too soft.

Two ways to the threshold. By stability: the flat strip is an equilibrium at every Gamma, and buckles where the smallest
eigenvalue of the second derivative of its energy passes zero; the root is found by bisection and secants. By the
thesis' procedure: an equilibrium at a Gamma far beyond the threshold with a clamp that is tilted a little, the clamp
set upright, Gamma decreased until the strip is flat again, and the threshold narrowed down by halving. The first is
exact and fast, the second needs no second derivative, and how flat flat is has to be chosen.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from isocloth.base.errors import InputError
from isocloth.base.numeric import check_count
from isocloth.models import Model
from isocloth.protocols.arguments import FEWEST, as_values
from isocloth.protocols.follow import Follower, solver_of
from isocloth.protocols.master_curves import buckling_threshold
from isocloth.protocols.strip import Solver, element_of, kind_of, make_strip
from isocloth.protocols.upright import POISSON, Upright, settle_closely
from isocloth.protocols.verdict import Verdict, name_of

WIDTHS = (0.1, 0.25, 0.5, 0.75, 1.0)
LENGTH = 0.1
THICKNESS = 6e-4  # lengths, of the computations to which the master curve was fitted
METHODS = ("stability", "procedure")
#: sideways displacement of the tip, in lengths, below which a strip is flat
FLAT = 1e-3
NARROWEST = 0.01  # lengths
TILT = 0.05  # rad, of the clamp at the begin
HIGHEST, LOWEST, STEP = 40.0, 5.0, 3.0
HALVINGS = 4
#: factor between the Gammas at which stability is asked for, up to the last, and relative accuracy of the threshold
FACTOR, LAST, ACCURACY = 1.25, 200.0, 1e-4


def lateral_buckling(
    model: str | Model = "isometric", *, widths: ArrayLike = WIDTHS, elements: int = 24, element: str | None = None,
    thickness: float = THICKNESS, poisson: float = POISSON, length: float = LENGTH, method: str | None = None,
    solver: Solver | None = None, tolerance: float = 0.05, name: str | None = None,
) -> Verdict:  # fmt: skip
    """Run a model through the protocol.

    Args:
        widths: of the strip, in lengths, at most 1.
        elements: along the strip; across they are about as long as wide, and at least three.
        element: "quad", "triangle" (cut crosswise) or "alike" (triangles all cut alike); None = what the model takes.
        thickness: in lengths; it and poisson are used by shells. length: m.
        method: "stability" or "procedure"; None = stability where the model has an energy and no solver is given.
        solver: who finds equilibria of the procedure; name: what the verdict calls it, if it is not the model.
        tolerance: largest relative error of the threshold of an OK.
    """
    values = as_values("widths", widths, NARROWEST, 1.0, ", in lengths of the strip")
    check_count(elements, "elements", FEWEST)
    smooth = kind_of(model).stepper == "newton" and solver is None
    way = method or ("stability" if smooth else "procedure")
    if way not in METHODS or (way == "stability" and not smooth):
        raise InputError(
            f"method = {method!r}: expected one of {', '.join(METHODS)}, stability for models with an energy and "
            "without a solver of one's own"
        )
    kind = element_of(model, element)
    found, nu, unsolved = [], 0.0, 0
    for width in values:
        across = max(3, round(width * elements))
        strip = make_strip(length, width * length, elements, across, element=kind)
        solve = solver or (Follower(stable=False) if way == "stability" else solver_of(model, other=settle_closely))
        upright = Upright(strip, model, thickness * length, solve, poisson)
        nu = upright.poisson
        found.append(by_stability(upright) if way == "stability" else threshold(upright))
        unsolved += upright.unsolved
    fine = np.linspace(values[0], values[-1], 20)
    return Verdict(
        "lateral_buckling", name or name_of(model), "width / length", "Gamma at threshold", values, np.array(found),
        np.array([buckling_threshold(float(width), nu) for width in values]), tolerance,
        int(np.isnan(found).sum()),
        (
            f"Poisson's ratio {nu:g}, {elements} elements along the strip, by {way}",
            f"{unsolved} equilibria were not found to the last digit",
        ),
        False, (fine, np.array([buckling_threshold(float(width), nu) for width in fine])),
    )  # fmt: skip


def by_stability(upright: Upright) -> float:
    """Gamma at which the flat strip becomes unstable; nan if it never is, or is all the way."""

    def softest(gamma: float) -> float:
        """The smallest eigenvalue at Gamma, over g / L."""
        upright.at(float(gamma), 0.0)
        follower = upright.solver
        assert isinstance(follower, Follower)
        if follower.last is None or not follower.last.converged:
            return float("nan")
        return follower.last.smallest_eigenvalue * upright.strip.free

    low = LOWEST
    if not softest(low) > 0.0:
        return float("nan")
    while low < LAST:
        high = FACTOR * low
        value = softest(high)
        if np.isnan(value):
            return float("nan")
        if value < 0.0:
            return float(brentq(softest, low, high, rtol=ACCURACY))
        low = high
    return float("nan")


def threshold(upright: Upright) -> float:
    """Gamma below which a strip is flat, by the procedure; nan if it is flat, or buckled, all the way."""
    upright.at(HIGHEST, TILT)
    gamma = HIGHEST
    last = gamma
    while abs(upright.at(gamma, 0.0)) > FLAT:
        buckled, last = upright.memory, gamma
        gamma -= STEP
        if gamma < LOWEST:
            return float("nan")
    if gamma == HIGHEST:
        return float("nan")
    low, high = gamma, last
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        upright.memory = buckled
        if abs(upright.at(middle, 0.0)) > FLAT:
            high, buckled = middle, upright.memory
        else:
            low = middle
    return 0.5 * (low + high)
