"""A pattern written as what its file's name asks for: a sheet as SVG or DXF, or the panels as a flat mesh."""

from __future__ import annotations

import os

import numpy as np

from isocloth.base.errors import InputError
from isocloth.base.files import as_path, check_place
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


def save_pattern(
    path: str | os.PathLike[str], cut: Cut, flat: FloatArray, *, allowance: float = 0.0, title: str = "Pattern"
) -> None:
    """Write panels (p, 2) in m; allowance: mm around every panel of a sheet."""
    check_pattern_file(path)
    width = as_allowance(allowance)
    suffix = as_path(path, "pattern").suffix.lower()
    if suffix in MESHES:
        if width:
            raise InputError(
                f"allowance = {width:g} mm: {str(path)!r} holds the panels as a mesh, which has none; leave it out, or "
                "write .svg"
            )
        files.write(path, np.concatenate([flat, np.zeros((len(flat), 1))], axis=1), cut.corners)
        return
    write = write_svg if suffix == ".svg" else write_dxf
    write(path, draw(cut, flat, allowance=width), title=title)
