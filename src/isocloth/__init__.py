"""isocloth: simulation of cloth that does not stretch."""

from typing import Any

from isocloth import measure, meshes
from isocloth.errors import ConvergenceError, FabricError, MeshError, SceneError
from isocloth.fabric import Fabric, fabrics
from isocloth.meshes import Mesh
from isocloth.simulation import ConvergenceWarning, Grasp, Report, Simulation, State
from isocloth.solver import TIGHT, NewtonOptions, ProjectionOptions
from isocloth.trajectory import Trajectory

__version__ = "0.1.0"

__all__ = [
    "TIGHT", "ConvergenceError", "ConvergenceWarning", "Fabric", "FabricError", "Grasp", "Mesh", "MeshError",
    "NewtonOptions", "ProjectionOptions", "Report", "SceneError", "Simulation", "State", "Trajectory", "fabrics",
    "measure", "meshes",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """`ic.pictures` and `ic.scenes` are loaded when they are first used."""
    if name in ("pictures", "scenes"):
        import importlib

        return importlib.import_module(f"isocloth.{name}")
    raise AttributeError(f"module 'isocloth' has no attribute {name!r}")
