"""From a scene to a simulation that is ready to run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from isocloth import meshes
from isocloth.base.errors import InputError
from isocloth.base.typing import FloatArray, IntArray
from isocloth.meshes import Mesh
from isocloth.meshes.units import LARGEST
from isocloth.scenes.build_obstacle import build_obstacles
from isocloth.scenes.model import Cloth, GraspPlan, PinchPlan, Scene
from isocloth.scenes.motions import Follow
from isocloth.scenes.places import find_place
from isocloth.scenes.problems import Problems, as_keys
from isocloth.scenes.scheduled import ScheduledSimulation
from isocloth.simulation import Simulation

GENERATORS: dict[str, Callable[..., Mesh]] = {
    "rectangle": meshes.rectangle,
    "irregular_rectangle": meshes.irregular_rectangle,
    "ring": meshes.ring,
    "tank_top": meshes.tank_top,
    "dress": meshes.dress,
    "shorts": meshes.shorts,
}
SEEDED = ("irregular_rectangle", "tank_top", "dress", "shorts")

#: a path may start this far from where its nodes are, relative to the size of the cloth
FARTHEST_START = 0.05


def build(scene: Scene) -> Simulation:
    """The simulation of a scene, with its grasps and grippers in place and their releases planned."""
    settings = scene.settings
    problems = Problems(scene.source)
    contact: dict[str, Any] = {}
    pieces = piece_meshes(scene)
    mesh = _joined(scene, pieces)
    if settings.bending_model == "hinge" and mesh.element != "triangle":
        problems.add(
            "simulation.bending_model",
            ' = "hinge": hinges bend about the edges of triangles; set cloth.element = "triangle"',
        )
        problems.raise_if_any()
    rest = rest_shape(scene, pieces)
    started = [_noisy(piece, cloth) for piece, cloth in zip(pieces, scene.cloths, strict=True)]
    if scene.obstacles:
        contact["obstacles"] = build_obstacles(scene.obstacles, problems)
    if settings.self_collision:
        contact["self_collision"] = True
    if settings.contact != "coulomb":
        contact["contact"] = settings.contact
    if settings.resolve_start:
        contact["resolve_start"] = True
    try:
        sim = ScheduledSimulation(
            started if len(started) > 1 else started[0],
            [cloth.fabric for cloth in scene.cloths],
            rest=mesh if rest is None else rest,
            units="m",  # its size was checked with the scene
            timestep=settings.timestep,
            gravity=settings.gravity,
            integrator=settings.integrator,
            model=settings.model,
            solver=settings.solver,
            discretisation=settings.discretisation,
            bending_model=None if settings.bending_model == "hessian" else settings.bending_model,
            **contact,
        )
    except ValueError as error:
        problems.add("simulation", as_keys(str(error)))
        problems.raise_if_any()
        raise
    for i, plan in enumerate(scene.grasps):
        try:
            _hold(sim, plan, scene, pieces)
        except ValueError as error:
            problems.add(f"grasp[{i}]", as_keys(str(error)))
    for i, pinch in enumerate(scene.pinches):
        try:
            _pinch(sim, pinch)
        except ValueError as error:
            problems.add(f"pinch[{i}]", as_keys(str(error)))
    problems.raise_if_any()
    return sim


def cloth_mesh(scene: Scene) -> Mesh:
    """The rest shape of the cloth of a scene, where the scene places it; of several pieces all as one mesh."""
    return _joined(scene, piece_meshes(scene))


def piece_meshes(scene: Scene) -> list[Mesh]:
    """The rest shape of every piece of cloth, where the scene places it."""
    return [_piece(scene, cloth, scene.called(k)) for k, cloth in enumerate(scene.cloths)]


def _joined(scene: Scene, pieces: list[Mesh]) -> Mesh:
    if len(pieces) == 1:
        return pieces[0]
    problems = Problems(scene.source)
    try:
        return meshes.together(pieces)
    except ValueError as error:
        problems.add("cloth", str(error))
        problems.raise_if_any()
        raise


def _piece(scene: Scene, cloth: Cloth, called: str) -> Mesh:
    problems = Problems(scene.source)
    try:
        mesh = _load(cloth) if cloth.shape == "file" else _generate(cloth)
    except (ValueError, TypeError, OSError) as error:
        problems.add(f"{called}.path" if cloth.shape == "file" else called, str(error))
        problems.raise_if_any()
        raise
    size = float(np.ptp(mesh.vertices, axis=0).max())
    if size > LARGEST:
        problems.add(
            f"{called}.scale",
            f"the mesh is {size:g} m large; is its unit mm or cm? Then write scale = 0.001 or 0.01",
        )
        problems.raise_if_any()
    rotation = Rotation.from_rotvec(cloth.rotation, degrees=True).as_matrix()
    return mesh.transformed(rotation, cloth.position)


def rest_shape(scene: Scene, pieces: list[Mesh]) -> Mesh | FloatArray | None:
    """The rest shape that a scene names beside its meshes: a mesh, or corners (faces, 3, 3) from arrays; else None."""
    found = [
        _rest(scene, cloth, mesh, scene.called(k))
        for k, (cloth, mesh) in enumerate(zip(scene.cloths, pieces, strict=True))
    ]
    if all(rest is None for rest in found):
        return None
    if len(found) == 1:
        return found[0]
    shapes = [mesh if rest is None else rest for rest, mesh in zip(found, pieces, strict=True)]
    if all(isinstance(rest, Mesh) for rest in shapes):
        return meshes.together([rest for rest in shapes if isinstance(rest, Mesh)])
    return np.concatenate([rest.vertices[rest.faces] if isinstance(rest, Mesh) else rest for rest in shapes])


def _rest(scene: Scene, cloth: Cloth, mesh: Mesh, called: str) -> Mesh | FloatArray | None:
    path, problems = cloth.rest, Problems(scene.source)
    if path is None:
        return None
    try:
        if path.suffix == ".npy":
            corners: FloatArray = cloth.scale * np.load(path, allow_pickle=False).astype(np.float64)
            return corners
        rest = Mesh.load(path, scale=cloth.scale)
        if not np.array_equal(rest.faces, mesh.faces):
            raise InputError(f"{path.name} has other faces than the cloth: expected the same mesh in another shape")
        return rest
    except (ValueError, TypeError, OSError) as error:
        problems.add(f"{called}.rest", f": {error}")
        problems.raise_if_any()
        raise


def _generate(cloth: Cloth) -> Mesh:
    options: dict[str, Any] = dict(cloth.sizes)
    if cloth.shape in SEEDED:
        options["seed"] = cloth.seed
    return GENERATORS[cloth.shape](**options)


def _load(cloth: Cloth) -> Mesh:
    if cloth.file is None:
        raise InputError("is missing; give the path of a mesh file")
    return Mesh.load(cloth.file, scale=cloth.scale)


def _noisy(mesh: Mesh, cloth: Cloth) -> Mesh:
    """The cloth where it starts: its rest shape, shaken along the normals."""
    if cloth.noise == 0.0:
        return mesh
    heights = cloth.noise * np.random.default_rng(cloth.seed).standard_normal(mesh.n_vertices)
    return mesh.with_vertices(mesh.vertices + heights[:, None] * mesh.vertex_normals)


def _hold(sim: ScheduledSimulation, plan: GraspPlan, scene: Scene, pieces: list[Mesh]) -> None:
    mesh, first = sim.mesh if len(pieces) > 1 else pieces[0], 0
    if plan.piece:
        number = [cloth.name for cloth in scene.cloths].index(plan.piece)
        mesh, first = pieces[number], sum(piece.n_vertices for piece in pieces[:number])
    nodes = first + held_nodes(plan, mesh)
    start: FloatArray = sim.positions[nodes].copy()
    if isinstance(plan.motion, Follow):
        _check_follow(plan.motion, start, float(np.linalg.norm(np.ptp(mesh.vertices, axis=0))))
    grasp = sim.grasp(nodes, plan.motion.path(start), max_force=plan.max_force)
    if plan.release is not None:
        sim.release_at(plan.release, grasp)


def _pinch(sim: ScheduledSimulation, plan: PinchPlan) -> None:
    if isinstance(plan.motion, Follow) and plan.motion.positions.shape[1] != 1:
        raise InputError(f"the path has {plan.motion.positions.shape[1]} points per time; give one, the centre")
    path = plan.motion.path(np.array([plan.centre]))
    gripper = sim.pinch(
        plan.centre, plan.size, normal=plan.normal, force=plan.force, friction=plan.friction,
        path=None if path is None else lambda t: path(t)[0],
        rotation=Rotation.from_rotvec(plan.rotation, degrees=True).as_matrix(),
    )  # fmt: skip
    if plan.release is not None:
        sim.release_at(plan.release, gripper)


def held_nodes(plan: GraspPlan, mesh: Mesh) -> IntArray:
    """Nodes that a grasp holds, each once, in the order in which the scene names them."""
    if plan.nodes:
        if max(plan.nodes) >= mesh.n_vertices:
            raise InputError(f"node {max(plan.nodes)} does not exist: expected indices from 0 to {mesh.n_vertices - 1}")
        return np.array(plan.nodes, dtype=np.int64)
    if plan.where:
        found = [find_place(name, mesh) for name in plan.where]
    elif plan.radius > 0.0:
        found = [_around(np.array(point), plan.radius, mesh) for point in plan.at]
    else:
        found = [np.array([mesh.nearest(point)]) for point in plan.at]
    nodes = np.concatenate(found)
    _, first = np.unique(nodes, return_index=True)
    return nodes[np.sort(first)]


def _around(point: FloatArray, radius: float, mesh: Mesh) -> IntArray:
    near = np.flatnonzero(np.linalg.norm(mesh.vertices - point, axis=1) <= radius)
    if len(near) == 0:
        gap = float(np.linalg.norm(mesh.vertices - point, axis=1).min())
        raise InputError(
            f"no node lies within radius = {radius:g} m of {point.tolist()}; the nearest is {gap:.3g} m away"
        )
    return near


def _check_follow(motion: Follow, start: FloatArray, size: float) -> None:
    count = motion.positions.shape[1]
    if count not in (1, len(start)):
        raise InputError(
            f"the path has {count} points per time, but {len(start)} nodes are held; give one (their centre) or "
            f"{len(start)}"
        )
    gap = float(np.linalg.norm(motion.points(start)[0] - start, axis=1).max())
    if gap > FARTHEST_START * size:
        raise InputError(
            f"the path starts {gap:.3g} m away from where the held nodes are, and they would jump; start it at "
            f"{np.round(start.mean(axis=0), 4).tolist()}, or write relative = true"
        )
