"""Lateral buckling: a strip clamped along its width, which is upright, gives way sideways if it is too soft.

The thesis' procedure: an equilibrium at a Gamma far beyond the threshold with a clamp that is tilted a little, the
clamp set upright, Gamma decreased until the strip is flat again; the threshold is then narrowed down by halving.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from isocloth.base.errors import InputError
from isocloth.models import Model
from isocloth.protocols.master_curves import buckling_threshold
from isocloth.protocols.strip import Solver, element_of, make_strip
from isocloth.protocols.upright import Upright, settle_closely
from isocloth.protocols.verdict import Verdict

WIDTHS = (0.1, 0.25, 0.5, 0.75, 1.0)
LENGTH = 0.1
THICKNESS = 6e-5  # h/L of the computations to which the master curve was fitted
#: sideways displacement of the tip, in lengths, below which a strip is flat
FLAT = 1e-3
TILT = 0.05  # rad, of the clamp at the begin
HIGHEST, LOWEST, STEP = 40.0, 5.0, 3.0
HALVINGS = 4


def lateral_buckling(
    model: str | Model = "isometric", *, widths: ArrayLike = WIDTHS, elements: int = 24, element: str | None = None,
    solver: Solver = settle_closely, tolerance: float = 0.05, name: str | None = None,
) -> Verdict:  # fmt: skip
    """Run a model through the protocol.

    Args:
        widths: of the strip, in lengths, at most 1.
        elements: along the strip; across they are about as long as wide, and at least three.
        element: "quad" or "triangle"; None = what the model takes, quads if it does.
        solver: who finds equilibria; name: what the verdict calls it, if it is not the model.
        tolerance: largest relative error of the threshold of an OK.
    """
    values = np.sort(np.asarray(widths, dtype=np.float64).ravel())
    if len(values) == 0 or not (values[0] > 0.0 and values[-1] <= 1.0):
        raise InputError(f"widths = {widths!r}: expected numbers above 0 and at most 1, in lengths of the strip")
    kind = element_of(model, element)
    found, poisson, unsolved = [], 0.0, 0
    for width in values:
        across = max(3, round(width * elements))
        strip = make_strip(LENGTH, width * LENGTH, elements, across, element=kind)
        upright = Upright(strip, model, THICKNESS, solver)
        poisson = upright.poisson
        found.append(threshold(upright))
        unsolved += upright.unsolved
    called = name or (model if isinstance(model, str) else type(model).name)
    fine = np.linspace(values[0], values[-1], 20)
    return Verdict(
        "lateral_buckling", called, "width / length", "Gamma at threshold", values, np.array(found),
        np.array([buckling_threshold(float(width), poisson) for width in values]), tolerance,
        int(np.isnan(found).sum()),
        (
            f"Poisson's ratio {poisson:g}, {elements} elements along the strip",
            f"{unsolved} equilibria were not found to the last digit",
        ),
        False, (fine, np.array([buckling_threshold(float(width), poisson) for width in fine])),
    )  # fmt: skip


def threshold(upright: Upright) -> float:
    """Gamma below which a strip is flat; nan if it is flat, or buckled, all the way."""
    upright.at(HIGHEST, TILT)
    gamma = HIGHEST
    while abs(upright.at(gamma, 0.0)) > FLAT:
        buckled, last = upright.positions, gamma
        gamma -= STEP
        if gamma < LOWEST:
            return float("nan")
    if gamma == HIGHEST:
        return float("nan")
    low, high = gamma, last
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        upright.positions = buckled
        if abs(upright.at(middle, 0.0)) > FLAT:
            high, buckled = middle, upright.positions
        else:
            low = middle
    return 0.5 * (low + high)
