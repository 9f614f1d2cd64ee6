"""A page with shapes side by side that are turned together: meshes, still or moving, with colours and arrows."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Sequence
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np

from isocloth.base.typing import FloatArray, IntArray
from isocloth.pictures import colour as colours
from isocloth.pictures.camera import axes, pleasant_angles
from isocloth.pictures.edges import unique_edges
from isocloth.pictures.page import encode, quantise

#: of the size of the first panel: what is farther away is not waited for by the camera
FARTHEST = 1.5
#: rad, from where it is looked at at least
LOWEST = 0.3
#: colours of levels, sRGB: from none over some to all, and beyond
LEVELS = np.array([[0.20, 0.55, 0.45], [0.95, 0.75, 0.20], [0.80, 0.15, 0.15]])


class Arrows(NamedTuple):
    """places: (m, 3) m of their tails. vectors: (m, 3) m, as long as they are drawn. colours: (m, 3) sRGB, 0 to 1."""

    places: FloatArray
    vectors: FloatArray
    colours: FloatArray


class Panel(NamedTuple):
    """A shape. positions: (k, n, 3) m of k frames. faces: (f, 3). colours: (n, 3) sRGB, 0 to 1, or None: two sides.

    bodies: whether what is around it is drawn.
    """

    name: str
    positions: FloatArray
    faces: IntArray
    colours: FloatArray | None = None
    arrows: Arrows | None = None
    bodies: bool = True


def panels_page(
    title: str, above: str, below: str, panels: Sequence[Panel], times: FloatArray,
    bodies: Sequence[tuple[FloatArray, IntArray]] = (),
) -> str:  # fmt: skip
    """The text of a page; above and below the panels stands HTML. times: (k,) s of the frames of those that move."""
    data = panels_data(panels, times, bodies)
    # Inside a script element "</script" ends it, and "<!--<script>" hides the end: no "<" is left as it is.
    embedded = json.dumps(data, allow_nan=False).replace("<", "\\u003c")
    template = files("isocloth.pictures").joinpath("panels.html").read_text(encoding="utf-8")
    parts = {"@TITLE@": html.escape(title), "@ABOVE@": above, "@BELOW@": below, "@DATA@": embedded}
    return re.sub("|".join(parts), lambda found: parts[found[0]], template)  # in one pass: a title may be "@DATA@"


def panels_data(
    panels: Sequence[Panel], times: FloatArray, bodies: Sequence[tuple[FloatArray, IntArray]]
) -> dict[str, Any]:
    """What the page draws, ready for JSON; arrays are little-endian and in base64."""
    first = panels[0]
    azimuth, elevation = pleasant_angles(first.positions, first.faces)
    elevation = float(max(elevation, LOWEST))
    right, down, _ = axes(azimuth, elevation)
    middle = _middle(first)
    farthest = max(_reach(panel, middle if panel.bodies else _middle(panel)) for panel in panels)
    shared = in_sight(first._replace(arrows=None), right, down)
    own = [panel.arrows is not None or not panel.bodies for panel in panels]
    centres = [in_sight(p, right, down) if alone else shared for p, alone in zip(panels, own, strict=True)]
    around = [(points, _triangles(faces)) for points, faces in bodies]
    starts = np.cumsum([0, *(len(points) for points, _ in around)])
    triangles = [faces + start for (_, faces), start in zip(around, starts[:-1], strict=True)]
    return {
        "panels": [_panel_data(panel, centre) for panel, centre in zip(panels, centres, strict=True)],
        "times": times.tolist(),
        "radius": min(max(farthest, 1e-9), FARTHEST * _reach(first, middle)),
        "azimuth": azimuth,
        "elevation": elevation,
        "front": colours.FRONT,
        "back": colours.BACK,
        "body": colours.OBSTACLE,
        "bodyVertices": encode(np.concatenate([np.empty((0, 3)), *(p for p, _ in around)]).astype("<f4")),
        "bodyTriangles": encode(np.concatenate([np.empty((0, 3), dtype=np.int64), *triangles]).astype("<u4")),
    }


def _panel_data(panel: Panel, centre: FloatArray) -> dict[str, Any]:
    low, high = panel.positions.min(axis=(0, 1)), panel.positions.max(axis=(0, 1))
    edges, counts = unique_edges(panel.faces)
    found: dict[str, Any] = {
        "name": panel.name, "frames": len(panel.positions), "vertices": panel.positions.shape[1],
        "low": low.tolist(), "high": high.tolist(), "centre": centre.tolist(), "bodies": panel.bodies,
        "positions": encode(quantise(panel.positions, low, high)), "triangles": encode(panel.faces.astype("<u4")),
        "inner": encode(edges[counts > 1].astype("<u4")), "border": encode(edges[counts == 1].astype("<u4")),
    }  # fmt: skip
    if panel.colours is not None:
        found["colours"] = encode(_bytes(panel.colours))
    if panel.arrows is not None and len(panel.arrows.places):
        vertices, triangles = arrow_mesh(panel.arrows.places, panel.arrows.vectors)
        each = np.repeat(panel.arrows.colours, len(vertices) // len(panel.arrows.places), axis=0)
        found["arrowVertices"], found["arrowColours"] = encode(vertices.astype("<f4")), encode(_bytes(each))
        found["arrowTriangles"] = encode(triangles.astype("<u4"))
    return found


def arrow_mesh(places: FloatArray, vectors: FloatArray) -> tuple[FloatArray, IntArray]:
    """Arrows of m vectors as (13 m, 3) points, m at a time, and triangles (18 m, 3): a shaft and a pyramid each.

    All are equally thick, after the longest; of short ones the head is all there is.
    """
    m, length = len(places), np.linalg.norm(vectors, axis=1)
    longest = float(length.max(initial=0.0)) or 1.0
    along = np.where(length[:, None] > 0.0, vectors, [0.0, 0.0, 1e-9]) / np.maximum(length, 1e-9)[:, None]
    least = np.eye(3)[np.argmin(np.abs(along), axis=1)]
    across = np.cross(along, least)
    across /= np.linalg.norm(across, axis=1)[:, None]
    other = np.cross(along, across)
    ring = np.stack([across, other, -across, -other], axis=1)  # (m, 4, 3)
    head = np.minimum(0.16 * longest, length)[:, None]
    neck, tip = places + along * (length[:, None] - head), places + vectors
    shaft, wide = 0.012 * longest * ring, (0.28 * head)[:, :, None] * ring
    points = np.concatenate(
        [places[:, None] + shaft, neck[:, None] + shaft, neck[:, None] + wide, tip[:, None]], axis=1
    )  # fmt: skip
    faces = [(0, 2, 1), (0, 3, 2), (4, 5, 6), (4, 6, 7), (8, 10, 9), (8, 11, 10)]
    for i in range(4):
        j = (i + 1) % 4
        faces += [(i, j, 4 + j), (i, 4 + j, 4 + i), (8 + i, 8 + j, 12)]
    triangles = np.array(faces)[None] + 13 * np.arange(m)[:, None, None]
    return points.reshape(-1, 3), triangles.reshape(-1, 3)


def level_colours(level: FloatArray) -> FloatArray:
    """(m,) levels, 0 to 1 and beyond -> (m, 3) sRGB: green, yellow, red."""
    at = np.linspace(0.0, 1.0, len(LEVELS))
    return np.stack([np.interp(np.clip(level, 0.0, 1.0), at, channel) for channel in LEVELS.T], axis=-1)


def strain_shades(strain: FloatArray, limit: float) -> FloatArray:
    """(n,) strains -> (n, 3) sRGB, 0 to 1."""
    return colours.to_srgb(colours.strain_colours(strain, limit))


def bar(stops: FloatArray, labels: Sequence[str], name: str) -> str:
    """A legend in HTML: colours (s, 3) sRGB from left to right, labels spread below."""
    shades = ", ".join(f"rgb({r} {g} {b})" for r, g, b in _bytes(stops).tolist())
    below = "".join(f"<span>{html.escape(label)}</span>" for label in labels)
    return (
        f'<div class="bar"><div>{html.escape(name)}</div><div class="shades" style="background: linear-gradient(to '
        f'right, {shades})"></div><div class="labels">{below}</div></div>'
    )


def _bytes(shades: FloatArray) -> np.ndarray:
    return np.round(255.0 * np.clip(shades, 0.0, 1.0)).astype(np.uint8)


def _middle(panel: Panel) -> FloatArray:
    return np.asarray(0.5 * (panel.positions.min(axis=(0, 1)) + panel.positions.max(axis=(0, 1))))


def in_sight(panel: Panel, right: FloatArray, down: FloatArray) -> FloatArray:
    """(3,) m, the point that has as much of a panel and its arrows to the left as to the right, and below as above."""
    points, middle = panel.positions.reshape(-1, 3), _middle(panel)
    if panel.arrows is not None:
        points = np.concatenate([points, panel.arrows.places + panel.arrows.vectors])
    for axis in (right, down):
        along = (points - middle) @ axis
        middle = middle + 0.5 * (along.min() + along.max()) * axis
    return middle


def _reach(panel: Panel, centre: FloatArray) -> float:
    return float(np.linalg.norm(panel.positions - centre, axis=2).max())


def _triangles(faces: IntArray) -> IntArray:
    return faces if faces.shape[1] == 3 else np.concatenate([faces[:, [0, 1, 2]], faces[:, [0, 2, 3]]])
