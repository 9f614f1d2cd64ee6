"""A pose: one shape that a garment takes, with the gravity and the obstacles that it takes it under.

Internal energies do not change under rotations, so a pose in which gravity is not along -z is turned until it is, its
cloth and its obstacles alike, and all that follows knows gravity along -z only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from isocloth.base.errors import InputError, InputTypeError, MeshError
from isocloth.base.numeric import as_float, shown
from isocloth.base.typing import FloatArray
from isocloth.meshes import Mesh
from isocloth.obstacles import Obstacle
from isocloth.obstacles.motion import Motion, turned_about


@dataclass(frozen=True, eq=False)
class Pose:
    """A shape of a garment at rest.

    mesh: triangles, as the cloth lies or hangs.
    gravity: (3,) m/s^2, or a number, along -z.
    obstacles: that carry it, in this pose; they stand still.
    held: nodes that hands hold where the mesh has them.
    contacts: nodes that touch; None: those whose distance from bodies is the one that is kept, to a twentieth of the
        thickness.
    """

    mesh: Mesh
    gravity: ArrayLike = 9.81
    obstacles: Sequence[Obstacle] = ()
    held: Any = None
    contacts: Any = None


def downwards(pose: Pose, which: str) -> tuple[FloatArray, float]:
    """The rotation (3, 3) that turns the gravity of a pose to -z, and its magnitude, m/s^2."""
    number = as_float(pose.gravity)
    if number is not None:
        g = np.array([0.0, 0.0, -number])
        if number < 0.0:
            raise InputError(
                f"{which}: gravity = {shown(pose.gravity)} m/s^2: expected a magnitude along -z, or a vector (3,)"
            )
    else:
        try:
            g = np.array(pose.gravity, dtype=np.float64)
        except (TypeError, ValueError):
            g = np.zeros(0)
        if g.shape != (3,):
            raise InputTypeError(f"{which}: gravity = {shown(pose.gravity)}: expected a number or a vector (3,), m/s^2")
    size = float(np.linalg.norm(g))
    if not np.isfinite(size) or size == 0.0:
        raise InputError(
            f"{which}: gravity = {shown(pose.gravity)} m/s^2: expected one that is finite and not zero; without a "
            "weight a shape says nothing of stiffness"
        )
    axis = np.cross(g / size, [0.0, 0.0, -1.0])
    sine = float(np.linalg.norm(axis))
    if sine > 0.0:
        return turned_about(axis / sine * float(np.arctan2(sine, -g[2] / size))), size
    return (np.eye(3) if g[2] < 0.0 else np.diag([1.0, -1.0, -1.0])), size


def turned_obstacle(body: Any, turn: FloatArray) -> Any:
    """The same body turned about the origin; what is no obstacle, or moves, is left for others to refuse."""
    if not isinstance(body, Obstacle) or not body.still or np.array_equal(turn, np.eye(3)):
        return body
    own, centre = body.pose()
    return body.placed(Motion(turn @ centre, rotation=turn @ own))


def as_poses(target: Sequence[Any]) -> list[Pose]:
    """Poses of one garment, checked against each other."""
    poses = list(target)
    if not poses:
        raise InputError("target is an empty list: expected poses of one garment, [ic.Pose(mesh, held=...), ...]")
    for k, pose in enumerate(poses):
        if not isinstance(pose, Pose):
            raise InputTypeError(
                f"target[{k}] is {type(pose).__name__}: expected an isocloth.Pose, ic.Pose(mesh, gravity, held=...) say"
            )
        if not isinstance(pose.mesh, Mesh):
            raise InputTypeError(f"target[{k}]: mesh is {type(pose.mesh).__name__}: expected an isocloth.Mesh")
        if pose.mesh.element != "triangle":
            raise MeshError(f"target[{k}] is {pose.mesh!r}: expected triangles; give it `mesh.triangulated()`")
        if not np.array_equal(pose.mesh.faces, poses[0].mesh.faces):
            raise MeshError(
                f"target[{k}] has other faces than target[0]: expected poses of one garment, meshes that differ in "
                "their vertices only"
            )
        if isinstance(pose.held, Mapping):
            raise InputTypeError(
                f"target[{k}]: held is a mapping: expected indices of nodes, which are held where the mesh has them"
            )
    return poses


def aligned(points: FloatArray, to: FloatArray) -> FloatArray:
    """Points (n, 3) moved rigidly as near as can be to others (n, 3), in the sum of squared distances (Kabsch)."""
    middle = points.mean(axis=0)
    u, _, v = np.linalg.svd((points - middle).T @ (to - to.mean(axis=0)))
    u[:, 2] *= np.sign(np.linalg.det(u @ v))
    return np.asarray((points - middle) @ (u @ v) + to.mean(axis=0))
