"""The checkpoint of a run: beside its output, and only ever resumed with the scene that it belongs to."""

from __future__ import annotations

import hashlib
import json
import zipfile
import zlib
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from isocloth import __version__
from isocloth.base.errors import InputError
from isocloth.base.files import atomic_path, existing_file
from isocloth.scenes import Scene

UNREADABLE = "(which cannot be read)"


class Checkpoint:
    """Two files beside the output: the state of the run, and a mark of the scene that it belongs to.

    path: `out.h5.checkpoint.npz`. mark: `out.h5.checkpoint.json`.
    """

    def __init__(self, output: Path, scene: Scene) -> None:
        self.path = output.with_name(output.name + ".checkpoint.npz")
        self.mark = output.with_name(output.name + ".checkpoint.json")
        self._scene = {"isocloth": __version__, "scene": fingerprint(scene)}

    def prepare(self, *, resume: bool, restart: bool) -> str:
        """Make ready to run; returns what the user should know. Never discards work without `restart`."""
        note = ""
        if self.path.exists() and restart:
            self.remove()
        elif self.path.exists() and not resume:
            raise InputError(
                f"{str(self.path)!r} is left from an interrupted run {self._progress()}; add --resume to continue it "
                "or --restart to discard it"
            )
        elif self.path.exists():
            self._check_mark()
            progress = self._progress()
            if progress == UNREADABLE:
                raise InputError(f"{str(self.path)!r} is damaged; add --restart to begin afresh")
            note = f"resuming {progress}"
        elif resume:
            note = f"no checkpoint {str(self.path)!r}; starting from the beginning"
        with atomic_path(self.mark) as temporary:
            temporary.write_text(json.dumps(self._scene))
        return note

    def after_interrupt(self, command: str) -> str:
        """What to tell the user after Ctrl-C."""
        if not self.path.exists():
            return "interrupted before there was anything to save"
        return f"interrupted {self._progress()}; continue with\n  {command}"

    def tidy(self) -> None:
        """Leave nothing behind of a run that has saved nothing."""
        if not self.path.exists():
            self.mark.unlink(missing_ok=True)

    def remove(self) -> None:
        """Forget the run."""
        self.path.unlink(missing_ok=True)
        self.mark.unlink(missing_ok=True)

    def _progress(self) -> str:
        try:
            with np.load(self.path) as data:
                done, total, timestep = int(data["done"]), int(data["total"]), float(data["timestep"])
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error):
            return UNREADABLE
        return f"at t = {done * timestep:.4g} s of {total * timestep:.4g} s"

    def _check_mark(self) -> None:
        try:
            found: Any = json.loads(self.mark.read_text())
        except (OSError, ValueError):
            found = None
        if found != self._scene:
            raise InputError(
                f"{str(self.path)!r} belongs to another scene or version of isocloth, or the scene has changed since; "
                "restore the scene, or add --restart to begin afresh"
            )


def _content(file: Path) -> str:
    return hashlib.sha256(existing_file(file, "mesh file").read_bytes()).hexdigest()


def fingerprint(scene: Scene) -> str:
    """The same for scenes that simulate the same; another folder or title does not matter."""
    data = asdict(scene)
    del data["source"], data["title"]
    for kept, cloth in zip(data["cloths"], scene.cloths, strict=True):
        if cloth.file is not None:
            kept["file"] = _content(cloth.file)
        if cloth.rest is not None:
            kept["rest"] = _content(cloth.rest)
    for kept, plan in zip(data["obstacles"], scene.obstacles, strict=True):
        if plan.file is not None:
            kept["file"] = _content(plan.file)
    moving = [plan.motion for plans in (scene.grasps, scene.pinches, scene.obstacles) for plan in plans]
    motions = [type(motion).__name__ for motion in moving]
    text = json.dumps([data, motions], sort_keys=True, default=lambda value: np.asarray(value).tolist())
    return hashlib.sha256(text.encode()).hexdigest()
