"""From the plan of an obstacle to the obstacle."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from isocloth import obstacles
from isocloth.base.errors import InputError
from isocloth.base.typing import FloatArray
from isocloth.meshes import Mesh
from isocloth.meshes.units import LARGEST
from isocloth.obstacles import Obstacle
from isocloth.obstacles.motion import SAME_PLACE
from isocloth.scenes.model import ObstaclePlan
from isocloth.scenes.motions import Follow
from isocloth.scenes.problems import Problems, as_keys

KINDS: dict[str, Callable[..., Obstacle]] = {
    "floor": obstacles.Floor,
    "plane": obstacles.Plane,
    "sphere": obstacles.Sphere,
    "cylinder": obstacles.Cylinder,
    "capsule": obstacles.Capsule,
    "box": obstacles.Box,
    "points": obstacles.Points,
    "stick": obstacles.Stick,
    "mesh": obstacles.TriangleMesh,
}


def build_obstacles(plans: Sequence[ObstaclePlan], problems: Problems) -> list[Obstacle]:
    """The obstacles of plans; `SceneError` says what is wrong with any of them."""
    found = []
    for i, plan in enumerate(plans):
        try:
            found.append(build_obstacle(plan))
        except (ValueError, TypeError, OSError) as error:
            problems.add(f"obstacle[{i}]", as_keys(str(error)))
    problems.raise_if_any()
    return found


def build_obstacle(plan: ObstaclePlan) -> Obstacle:
    """The obstacle of a plan; ValueError, TypeError or OSError says what is wrong with it."""
    options: dict[str, Any] = {"friction": plan.friction, "name": plan.name or None}
    sizes = dict(plan.sizes)
    if plan.kind == "mesh":
        sizes["vertices"] = _load(plan)
    turn = Rotation.from_rotvec(plan.rotation, degrees=True).as_matrix()
    if plan.kind == "stick":  # its path moves both ends and leaves nothing to a rotation
        middle = 0.5 * (np.array(sizes["a"]) + np.array(sizes["b"]))
        sizes["a"], sizes["b"] = (turn @ (np.array(sizes[end]) - middle) + middle for end in "ab")
    elif any(plan.rotation):
        options["rotation"] = turn
    if plan.velocity is not None:
        options["velocity"] = plan.velocity
    if plan.spin is not None:
        options["spin"] = np.radians(plan.spin)
    path = _path(plan, np.array([sizes["a"], sizes["b"]]) if plan.kind == "stick" else _centre(sizes)[None])
    if path is not None:
        options["path"] = path if plan.kind == "stick" else partial(_only, path)
    return KINDS[plan.kind](**sizes, **options)


def _centre(sizes: dict[str, Any]) -> FloatArray:
    """(3,) m: what the path of an obstacle moves."""
    if "a" in sizes:
        return 0.5 * (np.array(sizes["a"]) + np.array(sizes["b"]))
    if "height" in sizes:
        return np.array([0.0, 0.0, sizes["height"]])
    return np.array(sizes.get("centre", sizes.get("point", (0.0, 0.0, 0.0))), dtype=np.float64)


def _only(path: Callable[[float], FloatArray], t: float) -> FloatArray:
    """(3,) m: where the one point of a path is at a time in s."""
    return np.asarray(path(t)[0])


def _path(plan: ObstaclePlan, start: FloatArray) -> Callable[[float], FloatArray] | None:
    """A path for the centre (1, 3), or for both ends of a stick (2, 3), from where they start."""
    motion = plan.motion
    if isinstance(motion, Follow):
        count = motion.positions.shape[1]
        if count not in (1, len(start)):
            what = "one (the middle) or two (the ends)" if len(start) == 2 else "one, the centre"
            raise InputError(f"the path has {count} points per time; give {what}")
        first = motion.points(start)[0]
        if np.abs(first - start).max() > SAME_PLACE:
            raise InputError(
                f"the path starts at {first.mean(axis=0).tolist()}, but the obstacle is at "
                f"{start.mean(axis=0).tolist()}; start it there, or write relative = true"
            )
    return motion.path(start)


def _load(plan: ObstaclePlan) -> Mesh:
    if plan.file is None:
        raise InputError("path is missing; give the path of a mesh file")
    mesh = Mesh.load(plan.file, scale=plan.scale)
    size = float(np.ptp(mesh.vertices, axis=0).max())
    if size > LARGEST:
        raise InputError(f"the mesh is {size:g} m large; is its unit mm or cm? Then write scale = 0.001 or 0.01")
    return mesh
