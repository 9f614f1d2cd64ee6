"""What a simulation is given, checked."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from isocloth.base.errors import InputError, InputTypeError
from isocloth.base.numeric import as_float, shown
from isocloth.base.typing import FloatArray
from isocloth.fabric import Fabric
from isocloth.meshes import Mesh, together
from isocloth.meshes.units import check_same_unit, check_size
from isocloth.obstacles import Obstacle
from isocloth.terms.rest_shape import RestShape

LONGEST_TIMESTEP = 0.1

#: s: in shorter steps the cloth moves by less than positions are rounded, and no solver converges
SHORTEST_TIMESTEP = 1e-6


def as_fabric(fabric: Any) -> Fabric:
    """A fabric; the default one for None."""
    if fabric is None:
        return Fabric()
    if not isinstance(fabric, Fabric):
        raise InputTypeError(
            f'fabric is {type(fabric).__name__}: expected an isocloth.Fabric, e.g. ic.fabrics["denim"]'
        )
    return fabric


def as_fabrics(mesh: Any, fabric: Any) -> tuple[Fabric, ...]:
    """One fabric for all that there is, or one for every piece of the mesh or of the meshes that were given."""
    if not isinstance(fabric, (list, tuple)):
        return (as_fabric(fabric),)
    given = list(mesh) if isinstance(mesh, (list, tuple)) else [mesh]
    sizes = [int(part.piece.max()) + 1 for part in given]
    if not isinstance(mesh, (list, tuple)):
        sizes = [1] * sizes[0]
    if len(fabric) != len(sizes):
        raise InputError(
            f"{len(fabric)} fabrics are given for {len(sizes)} pieces of cloth: expected one for each, in their order, "
            "or a single one that is not in a list"
        )
    fabrics = tuple(as_fabric(one) for one, size in zip(fabric, sizes, strict=True) for _ in range(size))
    if all(one == fabrics[0] for one in fabrics):
        return fabrics[:1]
    unlike = [one.thickness for one in fabrics if one.thickness != fabrics[0].thickness]
    if unlike:
        raise InputError(
            f"pieces of cloth are {fabrics[0].thickness:g} m and {unlike[0]:g} m thick: expected one thickness for "
            "all; dataclasses.replace(fabric, thickness=...) gives a fabric another one"
        )
    return fabrics


def as_timestep(value: float) -> float:
    """A length of a step, s."""
    number = finite("timestep", value, "s")
    if not 0.0 < number <= LONGEST_TIMESTEP:
        raise InputError(
            f"timestep = {value!r} s: expected more than 0 and at most {LONGEST_TIMESTEP} s; 0.01 is a good choice (in "
            "seconds, not milliseconds)"
        )
    if number < SHORTEST_TIMESTEP:
        raise InputError(
            f"timestep = {value!r} s: expected at least {SHORTEST_TIMESTEP:g} s, shorter steps drown in rounding; 0.01 "
            "is a good choice, use a longer one"
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


def as_obstacles(obstacles: Any) -> tuple[Obstacle, ...]:
    """Obstacles of a list; what they are is checked where they meet the cloth."""
    if isinstance(obstacles, Obstacle):
        raise InputTypeError(
            f"obstacles is a {type(obstacles).__name__}: expected a list of obstacles; write obstacles=[...] around it"
        )
    try:
        if not isinstance(obstacles, str | Mapping):
            return tuple(obstacles)
    except TypeError:
        pass
    raise InputTypeError(f"obstacles is {shown(obstacles)}: expected a list of obstacles, obstacles=[ic.Floor()] say")


def as_mesh(mesh: Any) -> Mesh:
    """A mesh, of several pieces if a list of meshes is given."""
    if isinstance(mesh, (list, tuple)) and all(isinstance(part, Mesh) for part in mesh):
        return together(mesh)
    if not isinstance(mesh, Mesh):
        raise InputTypeError(f"mesh is {type(mesh).__name__}: expected an isocloth.Mesh, e.g. ic.meshes.rectangle(...)")
    return mesh


def as_rest(mesh: Mesh, rest: Mesh | ArrayLike | None, units: Any = None) -> Mesh:
    """The rest shape of a cloth that starts as `mesh`, both in m; `units` "m" says that it may be larger than any."""
    if rest is None:
        rest = mesh
    elif isinstance(rest, Mesh):
        if rest.faces.shape != mesh.faces.shape or not np.array_equal(rest.faces, mesh.faces):
            raise InputError("rest has other faces than mesh: expected the same connectivity in another shape")
    else:
        rest = mesh.with_vertices(rest)
    rest.check_rest_shape()
    check_size(rest.vertices, units)
    if rest is not mesh:
        start = mesh.vertices[rest.edges]
        check_same_unit(np.linalg.norm(start[:, 1] - start[:, 0], axis=1), rest.edge_lengths)
    return rest


def as_corners(mesh: Any, rest: Any, units: Any = None) -> RestShape | None:
    """The rest shape of a shell if `rest` has corners (faces, 3, 3) in m for each face; None of all else."""
    if rest is None or isinstance(rest, Mesh) or not isinstance(mesh, Mesh):
        return None
    try:
        if np.ndim(rest) != 3:
            return None
    except ValueError:  # lists of unlike lengths, which `as_rest` refuses
        return None
    shape = RestShape.of(mesh, rest)
    check_size(shape.points, units)
    start, corners = mesh.vertices[mesh.faces], shape.points[shape.corners]
    sides = [np.linalg.norm(p - p[:, [1, 2, 0]], axis=2).ravel() for p in (start, corners)]
    check_same_unit(*sides)
    return shape


def nodal(name: str, value: ArrayLike, n: int) -> FloatArray:
    """A copy of finite numbers (n, 3)."""
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputTypeError(f"{name} are {type(value).__name__}: expected numbers of shape ({n}, 3)") from None
    if array.shape != (n, 3):
        raise InputError(f"{name} have shape {array.shape}, {type(value).__name__}: expected ({n}, 3)")
    if not np.isfinite(array).all():
        node = int(np.argwhere(~np.isfinite(array))[0, 0])
        raise InputError(f"{name} of node {node} are not finite, {array[node].tolist()}: expected finite numbers")
    return array


def read_only(array: FloatArray) -> FloatArray:
    """A view that cannot be written into: that would leave the integrator's history behind without a word."""
    view = array.view()
    view.flags.writeable = False
    return view


def finite(name: str, value: float, unit: str) -> float:
    """A finite number."""
    number = as_float(value)
    if number is None:
        raise InputTypeError(f"{name} = {shown(value)}: expected a number in {unit}")
    if not math.isfinite(number):
        raise InputError(f"{name} = {value!r}: expected a finite number in {unit}")
    return number
