"""isocloth: simulation of cloth that does not stretch."""

from typing import TYPE_CHECKING

from isocloth import measure, meshes, models
from isocloth.base.errors import (
    BusyError,
    ConvergenceError,
    FabricError,
    IsoclothError,
    MeshError,
    RecordingError,
    SamplingError,
    SceneError,
)
from isocloth.contact.options import ContactOptions
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
from isocloth.simulation import ConvergenceWarning, Forces, Grasp, Gripper, Report, Simulation, State, Wrench
from isocloth.solvers import TIGHT, NewtonOptions, ProjectionOptions, ProjectiveOptions
from isocloth.terms.drag import AirDrag
from isocloth.trajectory import Trajectory

if TYPE_CHECKING:  # what `_LAZY` loads when it is first used: type checkers and editors see it here
    from isocloth import (
        calibration,
        developable,
        folding,
        inverse,
        patterns,
        pictures,
        protocols,
        reconstruction,
        recordings,
        scenes,
        states,
    )
    from isocloth.calibration.calibrate import calibrate
    from isocloth.calibration.compare import compare_models
    from isocloth.calibration.forecast import forecast
    from isocloth.calibration.sensitivity import sensitivity
    from isocloth.developable import developables
    from isocloth.inverse import Inversion, Pose, PosesInversion, invert
    from isocloth.patterns import Pattern, UnrolledPattern, pattern
    from isocloth.reconstruction import Reconstruction, reconstruct
    from isocloth.recordings import Recording
    from isocloth.statics import Branch, Equilibrium, Gradient, equilibrium

__version__ = "0.1.0"

__all__ = [
    "TIGHT", "AirDrag", "Box", "Branch", "BusyError", "Capsule", "ContactOptions", "ConvergenceError",
    "ConvergenceWarning", "Cylinder", "Equilibrium", "Fabric", "FabricError", "Floor", "Forces", "Gradient",
    "Grasp", "Gripper", "Implicit", "Inversion", "IsoclothError", "Mesh", "MeshError", "NewtonOptions", "Obstacle",
    "Pattern", "Plane", "Points", "Pose", "PosesInversion", "ProjectionOptions", "ProjectiveOptions",
    "Reconstruction", "Recording", "RecordingError", "Report", "SamplingError", "SceneError", "Simulation",
    "Sphere", "State", "Stick", "Trajectory", "TriangleMesh", "UnrolledPattern", "Wrench", "calibrate",
    "calibration", "compare_models", "developable", "developables", "equilibrium", "fabrics", "folding", "forecast",
    "inverse", "invert", "measure", "meshes", "models", "pattern", "patterns", "pictures", "protocols", "reconstruct",
    "reconstruction", "recordings", "scenes", "sensitivity", "states",
]  # fmt: skip

#: names that a simulation does not need, and the module that has each; they are loaded when they are first used
_LAZY = {
    **dict.fromkeys(
        (
            "calibration",
            "developable",
            "folding",
            "inverse",
            "patterns",
            "pictures",
            "protocols",
            "reconstruction",
            "recordings",
            "scenes",
            "states",
        ),
        "isocloth",
    ),
    "calibrate": "isocloth.calibration.calibrate",
    "compare_models": "isocloth.calibration.compare",
    "forecast": "isocloth.calibration.forecast",
    "sensitivity": "isocloth.calibration.sensitivity",
    "developables": "isocloth.developable",
    "Reconstruction": "isocloth.reconstruction",
    "reconstruct": "isocloth.reconstruction",
    "Recording": "isocloth.recordings",
    **dict.fromkeys(("Branch", "Equilibrium", "Gradient", "equilibrium"), "isocloth.statics"),
    **dict.fromkeys(("Pattern", "UnrolledPattern", "pattern"), "isocloth.patterns"),
    **dict.fromkeys(("Inversion", "Pose", "PosesInversion", "invert"), "isocloth.inverse"),
}


if not TYPE_CHECKING:  # for type checkers a misspelt name would be anything

    def __getattr__(name: str) -> object:
        """Load what `_LAZY` names; from then on it is an ordinary attribute."""
        import importlib

        module = _LAZY.get(name)
        if module is None:
            raise AttributeError(f"module 'isocloth' has no attribute {name!r}")
        if module == "isocloth":
            return importlib.import_module(f"isocloth.{name}")
        found = globals()[name] = getattr(importlib.import_module(module), name)
        return found


def __dir__() -> list[str]:
    """The public names; rooms that are loaded on the way are not among them."""
    return sorted({*__all__, *(name for name in globals() if name.startswith("__") and name.endswith("__"))})
