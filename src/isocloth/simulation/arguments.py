"""What a simulation is given, checked."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from isocloth.base.errors import InputError, InputTypeError
from isocloth.base.typing import FloatArray
from isocloth.fabric import Fabric
from isocloth.meshes import Mesh

LONGEST_TIMESTEP = 0.1


def as_fabric(fabric: Any) -> Fabric:
    """A fabric; the default one for None."""
    if fabric is None:
        return Fabric()
    if not isinstance(fabric, Fabric):
        raise InputTypeError(
            f'fabric is {type(fabric).__name__}: expected an isocloth.Fabric, e.g. ic.fabrics["denim"]'
        )
    return fabric


def as_timestep(value: float) -> float:
    """A length of a step, s."""
    number = finite("timestep", value, "s")
    if not 0.0 < number <= LONGEST_TIMESTEP:
        raise InputError(
            f"timestep = {value!r} s: expected more than 0 and at most {LONGEST_TIMESTEP} s; 0.01 is a good choice (in "
            "seconds, not milliseconds)"
        )
    return number


def as_gravity(value: float) -> float:
    """A magnitude, m/s^2."""
    gravity = finite("gravity", value, "m/s^2")
    if gravity < 0.0:
        raise InputError(
            f"gravity = {value!r} m/s^2: expected its magnitude, zero or positive; it acts along -z, z is up"
        )
    return gravity


def as_rest(mesh: Any, rest: Mesh | ArrayLike | None) -> Mesh:
    """The rest shape of a cloth that starts as `mesh`."""
    if not isinstance(mesh, Mesh):
        raise InputTypeError(f"mesh is {type(mesh).__name__}: expected an isocloth.Mesh, e.g. ic.meshes.rectangle(...)")
    if rest is None:
        rest = mesh
    elif isinstance(rest, Mesh):
        if rest.faces.shape != mesh.faces.shape or not np.array_equal(rest.faces, mesh.faces):
            raise InputError("rest has other faces than mesh: expected the same connectivity in another shape")
    else:
        rest = mesh.with_vertices(np.asarray(rest, dtype=np.float64))
    rest.check_rest_shape()
    return rest


def nodal(name: str, value: ArrayLike, n: int) -> FloatArray:
    """A copy of finite numbers (n, 3)."""
    array = np.array(value, dtype=np.float64)
    if array.shape != (n, 3):
        raise InputError(f"{name} have shape {array.shape}: expected ({n}, 3)")
    if not np.isfinite(array).all():
        raise InputError(f"{name} of node {int(np.argwhere(~np.isfinite(array))[0, 0])} are not finite")
    return array


def read_only(array: FloatArray) -> FloatArray:
    """A view that cannot be written into: that would leave the integrator's history behind without a word."""
    view = array.view()
    view.flags.writeable = False
    return view


def finite(name: str, value: float, unit: str) -> float:
    """A finite number."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise InputTypeError(f"{name} = {value!r}: expected a number in {unit}") from None
    if not math.isfinite(number):
        raise InputError(f"{name} = {value!r}: expected a finite number in {unit}")
    return number
