"""The checks by name, and how one is run."""

from __future__ import annotations

import importlib
import time
from pathlib import Path

from isocloth.base.errors import UnknownNameError
from validation.plot import write_csv, write_svg
from validation.result import Result, Say, silent

#: in the order in which `all` runs them
CHECKS = (
    "rigid", "roll", "catenary", "hanging_strip", "cantilever", "hinges", "shell_energies", "equilibrium", "terms",
    "infeasible", "order", "swing", "projections", "remeshing", "rest", "locking", "folds", "fold_height",
    "tank_top", "cusick", "tilted_plane", "area", "capstan", "edges", "table", "forces", "impacts", "pinch", "cylinder",
    "turning_sphere", "needles", "tablecloth", "stick_hits", "collision_tables",
    "napkin", "shorts", "pushes", "lagged_friction", "contact_problems", "exact_friction", "projective", "dress",
    "inverse", "thesis_inverse", "two_poses", "adjoint", "patterns", "thesis_patterns", "cantilever_protocol",
    "lateral_buckling", "stick_slip", "models", "nonconforming", "states", "developables", "reconstruction", "gluing",
    "followed_clouds",
    "identifiability", "cross_model", "robot_runs", "calibration_speed",
)  # fmt: skip


def title(name: str) -> str:
    """What a check does, in a line."""
    text: str = importlib.import_module(f"validation.{name}").TITLE
    return text


def check(name: str, *, quick: bool = False, out: Path | None = None, say: Say = silent) -> Result:
    """Run one check by name and write its series and pictures to the folder `out`."""
    key = name.replace("-", "_")
    if key not in CHECKS:
        raise UnknownNameError(f"check {name!r} is unknown; choose one of {', '.join(CHECKS)}")
    module = importlib.import_module(f"validation.{key}")
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
    before = _pictures(out)
    begin = time.monotonic()
    result: Result = module.run(quick, out=out, say=say)
    result.seconds = time.monotonic() - begin
    result.pictures = sorted(name for name, written in _pictures(out).items() if before.get(name) != written)
    if out is not None:
        for series in result.series:
            stem = f"{key}-{series.name}".replace(" ", "-")
            write_csv(series, out / f"{stem}.csv")
            write_svg(series, out / f"{stem}.svg")
    return result


def _pictures(folder: Path | None) -> dict[str, int]:
    """Name -> when it was written, of the pictures in a folder."""
    files = [] if folder is None else [*folder.glob("*.png"), *folder.glob("*.svg")]
    return {file.name: file.stat().st_mtime_ns for file in files}
