"""Guards against lengths in other units than m, and the axes of files.

A mesh in mm is no worse a mesh, so it may be loaded and looked at; what would be wrong is its weight and how it falls.
The guard therefore stands where a mesh becomes a cloth: in `Simulation`, and in scene files.
"""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

import numpy as np

from isocloth.base.errors import InputError, InputTypeError, MeshError
from isocloth.base.numeric import is_one_of
from isocloth.base.typing import FloatArray

#: m: no cloth is this large, a larger one is in another unit
LARGEST = 20.0

#: a cloth starts at most this many times as large as its rest shape, or as small: no fabric stretches so far
OTHER_UNIT = 3.0

#: rows: x, y and z of isocloth from x, y and z of a file; proper rotations, y up maps (x, y, z) to (x, -z, y)
TURNS = {
    "z": np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
    "y": np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]]),
    "x": np.array([[0.0, 0.0, -1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]),
}


def check_axis(up: Any) -> FloatArray:
    """The rotation (3, 3) that a file with this axis up needs, so that z is up."""
    key = str(up).lower().lstrip("+")
    if key not in TURNS:
        raise InputError(f"up = {up!r}: expected 'x', 'y' or 'z', the axis of the file that points up")
    return TURNS[key]


def check_scale(scale: Any) -> float:
    """Metres per unit of a file, positive."""
    if isinstance(scale, bool) or not isinstance(scale, Real):
        raise InputTypeError(f"scale is {scale!r}: expected metres per unit of the file, e.g. 0.001 for mm")
    if not (math.isfinite(float(scale)) and float(scale) > 0.0):
        raise InputError(f"scale is {scale!r}: expected a positive number, metres per unit of the file, 0.001 for mm")
    return float(scale)


def check_size(vertices: FloatArray, units: Any) -> None:
    """Raise `MeshError` for positions (n, 3) that are most likely not in m, unless `units` says that they are."""
    if units is not None and not is_one_of(units, ("m",)):
        raise InputError(
            f"units = {units!r}: expected 'm', which says that a cloth larger than {LARGEST:g} m is meant, or None; "
            "of meshes in other units scale the vertices, e.g. Mesh.load(path, scale=0.001) for mm"
        )
    size = float(np.ptp(vertices, axis=0).max())
    if units is None and size > LARGEST:
        raise MeshError(
            f"by its vertices the cloth is {size:g} m large: expected at most {LARGEST:g} m, no cloth is larger; is "
            "it in mm or cm? Then load it with scale=0.001 or scale=0.01; if it is in m, say so with units='m'"
        )


def check_same_unit(lengths: FloatArray, rest: FloatArray) -> None:
    """Raise `MeshError` if edges at the start and at rest, (ne,) each, are most likely in different units."""
    ratio = float(np.median(lengths / rest))
    if not 1.0 / OTHER_UNIT <= ratio <= OTHER_UNIT:
        raise MeshError(
            f"the edges of the cloth at its start are {ratio:.3g} times as long as those of its rest shape (in the "
            "median): expected the same size; check that mesh and rest are in the same unit, m"
        )
