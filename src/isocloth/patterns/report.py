"""A page about a pattern: the target and its seams, the flat panels, and where the sewn cloth comes to rest."""

from __future__ import annotations

import html
import os
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from isocloth.base.errors import InputError
from isocloth.base.files import as_path, atomic_path, check_place
from isocloth.base.numeric import shown
from isocloth.base.typing import FloatArray, IntArray
from isocloth.meshes import Mesh
from isocloth.patterns.cut import Cut, edge_lengths
from isocloth.patterns.drawing import draw
from isocloth.patterns.outline import crossings, outlines
from isocloth.patterns.svg import svg
from isocloth.pictures.camera import axes, pleasant_angles
from isocloth.pictures.colour import strain_limit, strain_unit
from isocloth.pictures.panels import LOWEST, Panel, bar, level_colours, panels_page, strain_shades

#: colours, sRGB: of cloth, and of seams, one after the other
CLOTH = np.array([0.80, 0.82, 0.84])
SEAMS = np.array([[0.80, 0.15, 0.15], [0.10, 0.35, 0.75], [0.15, 0.55, 0.25], [0.65, 0.35, 0.05], [0.50, 0.20, 0.60]])
#: of the size of the target: half the width of a seam that is drawn
SEAM_WIDTH = 0.004
#: of the size of the target: width and height of the flat panels, at most
WIDE, HIGH = 1.0, 0.75
#: m: distances below which all are drawn as none
LEAST_DISTANCE = 1e-9


class Found(Protocol):
    """What a page is about. flat: (p, 2) m. positions: (n, 3) m at rest, distances (n,) m of these from the target."""

    @property
    def target(self) -> Mesh: ...
    @property
    def cut(self) -> Cut: ...
    @property
    def flat(self) -> FloatArray: ...
    @property
    def positions(self) -> FloatArray: ...
    @property
    def distances(self) -> FloatArray: ...
    @property
    def problem(self) -> str: ...
    def lines(self) -> Sequence[tuple[str, str]]:
        """Numbers as names and values."""


def save_report(found: Found, path: str | os.PathLike[str], title: str = "Pattern") -> None:
    """Write the page (.html), one file that needs no other. Obstacles, if `found` has them, are drawn."""
    if as_path(path, "report").suffix.lower() != ".html":
        raise InputError(f"a report ends in .html, but {str(path)!r} was given; rename it")
    check_place(path)
    if not isinstance(title, str):
        raise InputError(f"title = {shown(title)}: expected a text")
    text = page(found, title)
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def page(found: Found, title: str) -> str:
    """The text of the page."""
    target, cut = found.target, found.cut
    stretch = stretch_by_point(cut, found.flat, found.positions)
    limit = strain_limit(stretch)
    farthest = float(found.distances.max(initial=0.0))
    shades = level_colours(found.distances / max(farthest, LEAST_DISTANCE))
    seams = Panel("target, and its seams", *with_seams(target, cut))
    panels = [
        seams,
        Panel(f"flat panels ({cut.n_panels}), by stretch; not to scale", _facing(found, target), cut.corners,
              strain_shades(stretch, limit), bodies=False),
        Panel(f"sewn and at rest, by distance to the target: {1e3 * farthest:.3g} mm at most", found.positions[None],
              target.faces, shades),
    ]  # fmt: skip
    around: Any = getattr(found, "obstacles", ())
    bodies = [drawn for body in around if (drawn := body.surface(0.0)) is not None]
    return panels_page(title, _above(found), _below(found, title, limit, farthest), panels, np.zeros(1), bodies)


def stretch_by_point(cut: Cut, flat: FloatArray, positions: FloatArray) -> FloatArray:
    """(p,) the mean over the edges at every point of how much longer they are at rest than in the plane (p, 2)."""
    stretch = edge_lengths(positions[cut.node], cut.edges) / edge_lengths(flat, cut.edges) - 1.0
    total, count = np.zeros(len(flat)), np.zeros(len(flat))
    for end in cut.edges.T:
        np.add.at(total, end, stretch)
        np.add.at(count, end, 1.0)
    return total / np.maximum(count, 1.0)


def with_seams(mesh: Mesh, cut: Cut) -> tuple[FloatArray, IntArray, FloatArray]:
    """Positions (1, n, 3), faces and colours (n, 3) of a cloth with bars along its seams."""
    width = SEAM_WIDTH * float(np.linalg.norm(np.ptp(mesh.vertices, axis=0)))
    points, faces, shades = [mesh.vertices], [mesh.triangles], [np.tile(CLOTH, (mesh.n_vertices, 1))]
    names = list(dict.fromkeys(seam.name.split(".")[0] for seam in cut.seams))
    start = mesh.n_vertices
    for seam in cut.seams:
        tail, head = mesh.vertices[seam.nodes[:-1]], mesh.vertices[seam.nodes[1:]]
        bars, sides = _bars(tail, head, width)
        points.append(bars)
        faces.append(sides + start)
        shades.append(np.tile(SEAMS[names.index(seam.name.split(".")[0]) % len(SEAMS)], (len(bars), 1)))
        start += len(bars)
    return np.concatenate(points)[None], np.concatenate(faces), np.concatenate(shades)


def _bars(tail: FloatArray, head: FloatArray, width: float) -> tuple[FloatArray, IntArray]:
    """Bars of square section between points (k, 3): corners (8 k, 3) and triangles (8 k, 3)."""
    along = (head - tail) / np.linalg.norm(head - tail, axis=1)[:, None]
    across = np.cross(along, np.eye(3)[np.argmin(np.abs(along), axis=1)])
    across *= width / np.linalg.norm(across, axis=1)[:, None]
    other = np.cross(along, across)
    ring = np.stack([across, other, -across, -other], axis=1)
    points = np.concatenate([tail[:, None] + ring, head[:, None] + ring], axis=1)
    sides = [side for i in range(4) for side in ((i, (i + 1) % 4, 4 + (i + 1) % 4), (i, 4 + (i + 1) % 4, 4 + i))]
    return points.reshape(-1, 3), (np.array(sides)[None] + 8 * np.arange(len(tail))[:, None, None]).reshape(-1, 3)


def _facing(found: Found, target: Mesh) -> FloatArray:
    """(1, p, 3) m, the flat panels, no larger than the target, where the camera looks straight at them at first."""
    azimuth, elevation = pleasant_angles(target.vertices[None], target.faces)
    right, down, _ = axes(azimuth, float(max(elevation, LOWEST)))
    room, (wide, high) = float(np.linalg.norm(np.ptp(target.vertices, axis=0))), np.ptp(found.flat, axis=0)
    scale = min(1.0, WIDE * room / wide, HIGH * room / high)
    return np.asarray(scale * found.flat @ np.stack([right, -down]))[None]


def _above(found: Found) -> str:
    rows = "".join(f"<tr><th>{html.escape(n)}</th><td>{html.escape(v)}</td></tr>" for n, v in found.lines())
    problem = f'<p class="doubt">{html.escape(found.problem)}</p>' if found.problem else ""
    return f"{problem}<table>{rows}</table>"


def _below(found: Found, title: str, limit: float, farthest: float) -> str:
    factor, unit = strain_unit(limit)
    marks = [f"{x * limit * factor:+.3g} {unit}" if x else "0" for x in (-1.0, -0.5, 0.0, 0.5, 1.0)]
    stops = np.linspace(-1.0, 1.0, 17)
    parts = [bar(strain_shades(stops, 1.0), marks, "stretch at rest: longer (+) or shorter (-) than in the plane")]
    if farthest >= LEAST_DISTANCE:
        shades = level_colours(np.linspace(0.0, 1.0, 9))
        parts.append(bar(shades, [f"{1e3 * farthest * x:.3g} mm" for x in (0.0, 0.5, 1.0)], "distance to the target"))
    for piece in outlines(found.cut, found.flat):
        if crossings(piece.loops):
            told = f"Panel {piece.number} lies on itself and cannot be cut out of one layer: it needs another seam."
            parts.append(f'<p class="doubt">{told}</p>')
    sheet = svg(draw(found.cut, found.flat), title, inside=True)
    parts.append(f'<h2>The sheet</h2><p class="faint">Seams without allowance. Save it as .svg to print it.</p>{sheet}')
    return "\n".join(parts)
