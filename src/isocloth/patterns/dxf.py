"""A pattern as DXF (R2010) in millimetres, for cutters and pattern programs; written by ezdxf."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from isocloth.base.errors import InputError, MissingLibraryError
from isocloth.base.files import as_path, atomic_path, check_place
from isocloth.patterns.drawing import LAYERS, Drawing

#: layer -> colour of AutoCAD's index: 7 black or white, 5 blue, 8 grey
COLOURS = {"cut": 7, "seam": 8, "notches": 7, "grain": 5, "labels": 5, "scale": 8}
#: code of mm in a file's header, and of metric units
MILLIMETRES, METRIC = 4, 1


def write_dxf(path: str | os.PathLike[str], drawing: Drawing, *, title: str = "Pattern") -> None:
    """Write a sheet; layers are called as those of the drawing, y is upwards."""
    if as_path(path, "pattern").suffix.lower() != ".dxf":
        raise InputError(f"a drawing ends in .dxf, but {str(path)!r} was given; rename it")
    check_place(path)
    ezdxf = library()
    document = ezdxf.new("R2010", setup=["linetypes"], units=MILLIMETRES)
    document.header["$MEASUREMENT"] = METRIC
    document.header["$EXTMIN"], document.header["$EXTMAX"] = (0.0, 0.0, 0.0), (*drawing.size.tolist(), 0.0)
    document.header.custom_vars.append("Title", "".join(c for c in title if c.isprintable()))
    for layer in LAYERS:
        document.layers.add(layer, color=COLOURS[layer], linetype="DASHED" if layer == "seam" else "CONTINUOUS")
    sheet = document.modelspace()
    for stroke in drawing.strokes:
        sheet.add_lwpolyline(stroke.points.tolist(), close=stroke.closed, dxfattribs={"layer": stroke.layer})
    middle = ezdxf.enums.TextEntityAlignment.MIDDLE_CENTER
    for label in drawing.labels:
        text = sheet.add_text(
            "".join(c for c in label.text if c.isprintable()),
            height=0.72 * label.size, rotation=float(np.degrees(label.angle)), dxfattribs={"layer": label.layer},
        )  # fmt: skip
        text.set_placement(tuple(label.at.tolist()), align=middle)
    with atomic_path(path) as temporary:
        document.saveas(temporary)


def library() -> Any:
    """The module ezdxf."""
    try:
        import ezdxf
        import ezdxf.enums
    except ImportError as error:
        raise MissingLibraryError(
            "writing .dxf needs ezdxf, which is not installed: install it by pip install 'isocloth[dxf]', or write .svg"
        ) from error
    return ezdxf
