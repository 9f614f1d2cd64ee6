"""A pattern written as what its file's name asks for: a sheet as SVG or DXF, or the panels as a flat mesh."""

from __future__ import annotations

import os
from typing import Protocol

import numpy as np

from isocloth.base.errors import InputError
from isocloth.base.files import as_path, check_place
from isocloth.base.numeric import shown
from isocloth.base.typing import FloatArray
from isocloth.meshes import files
from isocloth.patterns.cut import Cut
from isocloth.patterns.drawing import as_allowance, draw
from isocloth.patterns.dxf import library, write_dxf
from isocloth.patterns.svg import write_svg

#: a sheet in mm, and panels in m
SHEETS, MESHES = (".svg", ".dxf"), (".obj", ".ply")


def check_pattern_file(path: str | os.PathLike[str]) -> None:
    """Find out that a pattern cannot be written before it is computed."""
    suffix = as_path(path, "pattern").suffix.lower()
    if suffix not in SHEETS + MESHES:
        raise InputError(
            f"a pattern is written as {', '.join(SHEETS)} (a sheet in mm) or {', '.join(MESHES)} (flat panels in m), "
            f"but {str(path)!r} was given; rename it"
        )
    check_place(path)
    if suffix == ".dxf":
        library()


class Sewn(Protocol):
    """What is written. flat: (p, 2) m, points of the panels in the plane."""

    cut: Cut
    flat: FloatArray


def write(panels: Sewn, path: str | os.PathLike[str], *, allowance: float = 0.0, title: str = "Pattern") -> None:
    """Write panels; allowance: mm around every panel of a sheet. title: of the sheet."""
    check_pattern_file(path)
    width = as_allowance(allowance)
    suffix = as_path(path, "pattern").suffix.lower()
    if suffix in MESHES:
        if width:
            raise InputError(
                f"allowance = {width:g} mm: {str(path)!r} holds the panels as a mesh, which has none; leave it out, or "
                "write .svg"
            )
        flat = panels.flat
        files.write(path, np.concatenate([flat, np.zeros((len(flat), 1))], axis=1), panels.cut.corners)
        return
    if not isinstance(title, str):
        raise InputError(f"title = {shown(title)}: expected a text")
    chosen = write_svg if suffix == ".svg" else write_dxf
    chosen(path, draw(panels.cut, panels.flat, allowance=width), title=title)
