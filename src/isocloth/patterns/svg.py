"""A pattern as SVG in millimetres: printed at 100 %, it is as large as the cloth is cut."""

from __future__ import annotations

import os
import re
from xml.sax.saxutils import escape

import numpy as np

from isocloth.base.errors import InputError
from isocloth.base.files import as_path, atomic_path
from isocloth.patterns.drawing import LAYERS, Drawing, Label, Stroke

#: layer -> how its lines look
STYLES = {
    "cut": "stroke:#000;stroke-width:0.6", "seam": "stroke:#555;stroke-width:0.4;stroke-dasharray:4 2",
    "notches": "stroke:#000;stroke-width:0.5", "grain": "stroke:#05a;stroke-width:0.5",
    "labels": "stroke:none", "scale": "stroke:#000;stroke-width:0.4",
}  # fmt: skip
#: layer -> colour of its texts
INKS = {"labels": "#05a"}
#: of the size of a text: how far its base line is below its middle
BASE = 0.36


def write_svg(path: str | os.PathLike[str], drawing: Drawing, *, title: str = "Pattern") -> None:
    """Write a sheet; the layers are groups, their ids the names of the layers."""
    if as_path(path, "pattern").suffix.lower() != ".svg":
        raise InputError(f"a drawing ends in .svg, but {str(path)!r} was given; rename it")
    text = svg(drawing, title)
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def svg(drawing: Drawing, title: str, *, inside: bool = False) -> str:
    """The text of the file; inside: of a page, as wide as that."""
    width, height = (_number(x) for x in drawing.size)
    whole = f'xmlns="http://www.w3.org/2000/svg" width="{width}mm" height="{height}mm"'
    style = 'style="width: 100%; max-height: 60em"'
    parts = [
        *(() if inside else ('<?xml version="1.0" encoding="UTF-8"?>',)),
        f'<svg {style if inside else whole} viewBox="0 0 {width} {height}">',
        f"<title>{_text(title)}</title>",
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
    ]
    high = float(drawing.size[1])
    for layer in LAYERS:
        parts.append(f'<g id="{layer}" fill="none" style="{STYLES[layer]};stroke-linejoin:round">')
        parts += [_path(stroke, high) for stroke in drawing.strokes if stroke.layer == layer]
        parts += [_words(label, high) for label in drawing.labels if label.layer == layer]
        parts.append("</g>")
    return "\n".join([*parts, "</svg>", ""])


def _path(stroke: Stroke, high: float) -> str:
    points = " L".join(f"{_number(x)} {_number(high - y)}" for x, y in stroke.points)
    return f'<path d="M{points}{" Z" if stroke.closed else ""}"/>'


def _words(label: Label, high: float) -> str:
    x, y = _number(label.at[0]), _number(high - label.at[1])
    turn = f' transform="rotate({_number(-np.degrees(label.angle))} {x} {y})"' if label.angle else ""
    size, ink = _number(label.size), INKS.get(label.layer, "#000")
    return (
        f'<text x="{x}" y="{y}" dy="{_number(BASE * label.size)}" font-size="{size}" text-anchor="middle" '
        f'font-family="Helvetica, Arial, sans-serif" stroke="none" fill="{ink}"{turn}>{_text(label.text)}</text>'
    )


def _text(text: str) -> str:
    """Escaped, without characters that XML does not allow."""
    allowed = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
    return escape(allowed.sub("�", text))


def _number(value: float) -> str:
    """Micrometres are exact enough."""
    return f"{round(float(value), 3) + 0.0:.3f}".rstrip("0").rstrip(".")
