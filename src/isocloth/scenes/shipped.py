"""Scenes that come with the package, found by their name."""

from __future__ import annotations

import os
from pathlib import Path

from isocloth.base.errors import MissingFileError
from isocloth.scenes.problems import nearest

_FOLDER = Path(__file__).parent


def shipped_scenes() -> dict[str, Path]:
    """Name -> file of every scene of the package."""
    return {path.stem: path for path in sorted(_FOLDER.glob("*.toml"))}


def find_scene(name: str | os.PathLike[str]) -> Path:
    """The file of a scene: a path, or the name of a shipped scene. A file of that name comes first."""
    path, shipped = Path(name), shipped_scenes()
    if path.is_file():
        return path
    if str(name) in shipped:
        return shipped[str(name)]
    if path.suffix or len(path.parts) > 1:
        return path  # reading it says that it does not exist
    raise MissingFileError(f"no scene file and no shipped scene {str(name)!r}; {nearest(str(name), shipped)}")
