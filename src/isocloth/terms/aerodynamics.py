"""Aerodynamics by virtual mass (section 6.1): the air carries part of the weight but none of the inertia.

The force of gravity acts on a density delta of its own, f = -delta M g, while the inertia keeps rho. In free fall
without damping the centre of mass then accelerates by g delta / rho.
"""

from __future__ import annotations

import numpy as np

from isocloth.base.typing import FloatArray


def weight(area: FloatArray, gravity_density: float | FloatArray, gravity: float) -> FloatArray:
    """Force (n, 3) in N on nodes that carry `area` (n,) m^2 of one density or (n,) of them, with z up."""
    force = np.zeros((len(area), 3))
    force[:, 2] = -gravity_density * gravity * area
    return force
