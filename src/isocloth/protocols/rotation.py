"""Rotation: the clamp of a strip is turned from level to upright; a short strip ends flat, a long one buckles.

Both strips are cut from one sheet: only Gamma, which grows with the cube of the length, tells them apart. With the
thesis' sheet, 0.1 m wide, the short one has Gamma = 10.5 and the long one 42.1; the thresholds of lateral buckling lie
between.
"""

from __future__ import annotations

import numpy as np

from isocloth.base.numeric import check_count
from isocloth.models import Model
from isocloth.protocols.arguments import FEWEST
from isocloth.protocols.follow import solver_of
from isocloth.protocols.strip import Solver, element_of, make_strip
from isocloth.protocols.upright import Upright, settle_closely
from isocloth.protocols.verdict import Verdict, name_of

#: Gamma and width / length of the two strips, of 0.17 and 0.27 m
SHORT, LONG = (10.5172, 0.1 / 0.17), (42.1353, 0.1 / 0.27)
LENGTH, THICKNESS = 0.1, 6e-5
FLAT, BUCKLED = 1e-3, 0.1  # lengths
ANGLES = 9


def rotation(
    model: str | Model = "isometric", *, elements: int = 20, element: str | None = None,
    solver: Solver | None = None, name: str | None = None,
) -> Verdict:  # fmt: skip
    """Turn both strips by steps from level (pi/2) to upright (0); OK if the short one is flat then and the long is not.

    Args:
        elements, element: of the strips.
        solver: who finds equilibria, None = statics where the model has an energy.
        name: what the verdict calls it, if it is not the model.
    """
    check_count(elements, "elements", FEWEST)
    kind = element_of(model, element)
    tips, unsolved, unstable = [], 0, 0
    for gamma, width in (SHORT, LONG):
        strip = make_strip(LENGTH, width * LENGTH, elements, max(3, round(width * elements)), element=kind)
        upright = Upright(strip, model, THICKNESS, solver or solver_of(model, other=settle_closely))
        for angle in np.linspace(0.5 * np.pi, 0.0, ANGLES):
            tip = abs(upright.at(gamma, float(angle)))
        tips.append(tip)
        unsolved += upright.unsolved
        unstable += upright.unstable
    return Verdict(
        "rotation", name or name_of(model), "Gamma", "1 flat, 2 buckled", np.array([SHORT[0], LONG[0]]),
        np.array([1.0 if tips[0] < FLAT else 2.0, 2.0 if tips[1] > BUCKLED else 1.0]), np.array([1.0, 2.0]), 0.0,
        0,
        (
            *[
                f"{which} strip: its tip is {tip:.2g} lengths aside with the clamp upright"
                for which, tip in zip(("short", "long"), tips, strict=True)
            ],
            f"{unsolved} equilibria on the way were not found to the last digit",
        ),
        unstable=unstable,
    )  # fmt: skip
