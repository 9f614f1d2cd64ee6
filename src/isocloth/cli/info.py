"""`isocloth info`: the installation, or what a file holds."""

from __future__ import annotations

import argparse
import importlib.util
import os
import platform
from importlib.metadata import version
from pathlib import Path

import numpy as np

import isocloth
from isocloth.base.errors import InputError
from isocloth.base.typing import IntArray
from isocloth.cli.columns import columns
from isocloth.cli.summary import certificate
from isocloth.meshes import Mesh
from isocloth.meshes.files import EXTENSIONS
from isocloth.scenes import build, cloth_mesh, find_scene, load_scene, shipped_scenes
from isocloth.scenes.model import GraspPlan, PinchPlan
from isocloth.scenes.motions import Hold
from isocloth.trajectory import FORMAT, SUFFIXES, Trajectory


def info(options: argparse.Namespace) -> int:
    """Print what there is to know."""
    print(installation() if options.file is None else contents(options.file))
    return 0


def installation() -> str:
    """Versions, cores, folders and what is at hand."""
    libraries = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "numba", "h5py"))
    extras = {"video": "imageio_ffmpeg", "bench": "mujoco", "dask": "distributed"}
    found = [f"{name} {'yes' if importlib.util.find_spec(module) else 'no'}" for name, module in extras.items()]
    rows = [
        ("isocloth", isocloth.__version__),
        ("python", f"{platform.python_version()} on {platform.system()} {platform.machine()}"),
        ("libraries", libraries),
        ("extras", ", ".join(found)),
        ("cores", str(os.cpu_count())),
        ("compiled kernels", str(cache_folder())),
        ("fabrics", ", ".join(isocloth.fabrics)),
        ("scenes", ", ".join(shipped_scenes())),
    ]
    return columns(rows)


def cache_folder() -> Path:
    """Where numba keeps compiled kernels: its own setting, or beside the sources."""
    return Path(os.environ.get("NUMBA_CACHE_DIR") or Path(isocloth.__file__).parent)


def contents(name: str) -> str:
    """What a scene, mesh or trajectory file holds."""
    suffix = Path(name).suffix.lower()
    if suffix in (".csv", ".tsv") or (suffix in SUFFIXES and not _is_trajectory(name)):
        return _recording(name)
    if suffix in SUFFIXES:
        return _trajectory(name)
    if suffix in EXTENSIONS:
        return columns(_mesh_rows(Mesh.load(name)), Path(name).name)
    if suffix in ("", ".toml"):
        return _scene(find_scene(name))
    known = ", ".join((".toml", *EXTENSIONS, *SUFFIXES, ".csv"))
    raise InputError(f"{name!r} is no scene, mesh, trajectory or recording file; expected one of {known}")


def _is_trajectory(name: str) -> bool:
    """Whether to read a file as a trajectory; what is no recording either is left to its error messages."""
    from isocloth.base.errors import RecordingError
    from isocloth.recordings.arrays import POSITIONS, TIMES, read_arrays, text_of

    if not Path(name).is_file():
        return True
    try:
        arrays = read_arrays(Path(name))
    except RecordingError:
        return True
    if text_of(arrays, "format") == FORMAT:
        return True
    return not (any(n in arrays for n in TIMES) and any(n in arrays for n in POSITIONS))


def _recording(name: str) -> str:
    from isocloth.recordings import Recording

    found = Recording.load(name)
    size = "" if found.size is None else f"{found.size[0]:.3f} x {found.size[1]:.3f} m"
    times = f"{found.times[0]:g} to {found.times[-1]:g} s, {found.rate:.4g} per second"
    rows = [
        ("recording", f"{len(found)} frames, {times}"),
        ("markers", f"{len(found.labels)} on the cloth, {len(found.others)} beside it"),
        ("missing", f"{100 * found.missing_share:.2f} %"),
        ("cloth", size),
        ("held", ", ".join(found.held_labels)),
        ("fabric", "" if found.fabric is None else f"{found.fabric.density:g} kg/m^2"),
        ("file", f"{found.units}, {found.up} up"),
        *(("note", note) for note in found.notes),
    ]
    return columns(rows, Path(name).name)


def _trajectory(name: str) -> str:
    trajectory = Trajectory.load(name)
    kept = [(key, str(value)) for key, value in trajectory.metadata.items() if key not in ("fabric", "fabrics")]
    fabric = trajectory.metadata.get("fabric") or {}
    made = ", ".join(f"{key} {value:g}" for key, value in fabric.items() if isinstance(value, float))
    cloth = f"{len(trajectory.rest)} nodes, {len(trajectory.faces)} elements"
    rows = [("cloth", cloth), *certificate(trajectory), *kept, ("fabric", made)]
    return columns(rows, Path(name).name)


def _mesh_rows(mesh: Mesh) -> list[tuple[str, str]]:
    low, high = mesh.bounds
    size = " x ".join(f"{length:.4g}" for length in np.round(high - low, 6))
    lengths = mesh.edge_lengths
    return [
        ("nodes", str(mesh.n_vertices)),
        ("elements", f"{mesh.n_faces} {mesh.element}s"),
        ("size", f"{size} m"),
        ("area", f"{mesh.area:.6g} m^2"),
        ("edges", f"{lengths.min():.4g} to {lengths.max():.4g} m"),
        ("boundary loops", ", ".join(str(len(loop)) for loop in mesh.boundary_loops) + " nodes"),
        ("corners", ", ".join(map(str, mesh.corners)) or "none"),
    ]


def _held(plan: GraspPlan | PinchPlan, nodes: IntArray) -> str:
    until = "" if plan.release is None else f", released at {plan.release:g} s"
    some = ", ".join(map(str, nodes[:8])) + (", ..." if len(nodes) > 8 else "")
    return f"{type(plan.motion).__name__.lower()} of nodes {some}{until}"


def _scene(file: Path) -> str:
    scene = load_scene(file)
    mesh, sim, settings = cloth_mesh(scene), build(scene), scene.settings
    weight = -float(sim.cloth.weight[:, 2].sum())
    rows = [
        *_mesh_rows(mesh),
        ("weight", f"{weight:.3g} N"),
        ("duration", f"{settings.duration:g} s in steps of {settings.timestep:g} s"),
        ("method", f"{sim.model.name.replace('_', ' ')} model, {sim.integrator}, {sim.solver.name}"),
    ]
    for i, (plan, grasp) in enumerate(zip(scene.grasps, sim.grasps, strict=True)):
        rows.append((f"grasp[{i}]", _held(plan, grasp.nodes)))
    for i, (pinch, gripper) in enumerate(zip(scene.pinches, sim.grippers, strict=True)):
        strength = 2.0 * pinch.friction * pinch.force
        rows.append((f"pinch[{i}]", f"{_held(pinch, gripper.nodes)}; its friction bears {strength:.3g} N"))
    for i, body in enumerate(scene.obstacles):
        how = "" if isinstance(body.motion, Hold) else f", {type(body.motion).__name__.lower()}"
        rows.append((f"obstacle[{i}]", f"{body.name or body.kind}, friction {body.friction:g}{how}"))
    return columns(rows, scene.title or file.name)
