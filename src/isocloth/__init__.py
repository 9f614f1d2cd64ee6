"""isocloth: simulation of cloth that does not stretch."""

from typing import Any

from isocloth import measure, meshes, models
from isocloth.base.errors import ConvergenceError, FabricError, MeshError, RecordingError, SamplingError, SceneError
from isocloth.fabric import Fabric, fabrics
from isocloth.meshes import Mesh
from isocloth.obstacles import (
    Box,
    Capsule,
    Cylinder,
    Floor,
    Implicit,
    Obstacle,
    Plane,
    Points,
    Sphere,
    Stick,
    TriangleMesh,
)
from isocloth.simulation import ConvergenceWarning, Grasp, Gripper, Report, Simulation, State
from isocloth.solvers import TIGHT, NewtonOptions, ProjectionOptions
from isocloth.terms.drag import AirDrag
from isocloth.trajectory import Trajectory

__version__ = "0.1.0"

__all__ = [
    "TIGHT", "AirDrag", "Box", "Capsule", "ConvergenceError", "ConvergenceWarning", "Cylinder", "Fabric", "FabricError",
    "Floor", "Grasp", "Gripper", "Implicit", "Mesh", "MeshError", "NewtonOptions", "Obstacle", "Plane", "Points",
    "ProjectionOptions", "RecordingError", "Report", "SamplingError", "SceneError", "Simulation", "Sphere", "State",
    "Stick", "Trajectory", "TriangleMesh",
    "fabrics", "measure", "meshes", "models",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """What a simulation does not need is loaded when it is first used."""
    import importlib

    rooms = ("calibration", "developable", "folding", "pictures", "reconstruction", "recordings", "scenes", "states")
    if name in rooms:
        return importlib.import_module(f"isocloth.{name}")
    if name == "developables":
        return importlib.import_module("isocloth.developable").developables
    if name in ("reconstruct", "Reconstruction"):
        return getattr(importlib.import_module("isocloth.reconstruction"), name)
    if name in ("calibrate", "compare_models", "forecast", "sensitivity"):
        return getattr(importlib.import_module("isocloth.calibration"), name)
    if name == "Recording":
        return importlib.import_module("isocloth.recordings").Recording
    raise AttributeError(f"module 'isocloth' has no attribute {name!r}")
