"""The field `rotation` of a cloth or an obstacle."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from isocloth.scenes.model import Vector
from isocloth.scenes.table import Table, as_number, as_vector


def read_rotation(table: Table) -> Vector:
    """Rotation vector in degrees from [x, y, z] angles about fixed axes, or { axis, angle }."""
    value = table.take("rotation")
    if value is None:
        return (0.0, 0.0, 0.0)
    angles = as_vector(value)
    if angles is not None:
        x, y, z = Rotation.from_euler("xyz", angles, degrees=True).as_rotvec(degrees=True)
        return (float(x), float(y), float(z))
    if isinstance(value, dict) and set(value) == {"axis", "angle"}:
        axis, angle = as_vector(value["axis"]), as_number(value["angle"])
        if axis is not None and angle is not None and 0.0 < (length := float(np.linalg.norm(axis))) < 1e100:
            return (angle * axis[0] / length, angle * axis[1] / length, angle * axis[2] / length)
    table.complain(
        "rotation",
        "expected degrees, either [x, y, z] about the fixed axes x, y, z in turn, or "
        "{ axis = [1, 0, 0], angle = 90 } with an axis that is not zero",
    )
    return (0.0, 0.0, 0.0)
