"""The second step: a rest shape that asks for forces which friction can give, in a shape that is fixed.

    min over all of X:  G(F(x, X)),    F = dE_p/dx + lambda (x - target)

x is the cloth of the first step and does not move; the whole rest shape does, where what touches is too (the thesis,
section 5.5). Cones are those of 0.975 of the friction, so that a small push finds forces inside the real ones. A rest
shape for which G is not zero is no equilibrium.
"""

from __future__ import annotations

from typing import NamedTuple

from isocloth.base.typing import FloatArray
from isocloth.inverse.thesis.cone_errors import Cones
from isocloth.inverse.thesis.draping import Draping


class Corrected(NamedTuple):
    """G, N^2, and its derivative (p, 3) N^2/m in the rest shape."""

    value: float
    slope: FloatArray


def correction(
    draping: Draping, cones: Cones, positions: FloatArray, attraction: float, points: FloatArray
) -> Corrected:  # fmt: skip
    """G of a rest shape (p, 3) m in a shape (n, 3) m."""
    potential = draping.potential(points)
    force = potential.gradient(positions) + attraction * (positions - draping.target)
    error = cones.error(force)
    slope = potential.rest_product(positions, error.slope_free + error.slope_contacts)
    return Corrected(error.free + error.contacts, slope)
