"""What is printed of a pattern: lines and texts in layers, in mm, y upwards, without overlap.

Layers: `cut`, where it is cut; `seam`, where it is sewn, if there is an allowance; `notches`, `grain`, `labels`, and
`scale`, a square of known size to check the print.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from isocloth.base.errors import InputError
from isocloth.base.numeric import as_float, shown
from isocloth.base.typing import FloatArray
from isocloth.meshes.polygons import along, inside
from isocloth.patterns.allowance import with_allowance
from isocloth.patterns.cut import Cut
from isocloth.patterns.layout import in_rows
from isocloth.patterns.outline import Piece, Side, outlines, spans

#: layers in the order in which they are drawn
LAYERS = ("cut", "seam", "notches", "grain", "labels", "scale")
#: mm: space between pieces and around all; largest allowance; side of the square to check the print
GAP, MOST_ALLOWANCE, SQUARE = 15.0, 200.0, 100.0
#: mm: of a notch without an allowance; between the marks of one; of the head of an arrow
NOTCH, BETWEEN, HEAD = 6.0, 3.0, 6.0
#: mm: smallest and largest text; of the smaller size of a panel
SMALLEST, LARGEST, TEXT = 2.5, 9.0, 0.035
#: of its size: width of a letter, about; height of a line; distance to what it stands beside
WIDE, LINE, BESIDE = 0.62, 1.3, 0.9
#: parts of a side at which its name may stand
PLACES = (0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8)


class Stroke(NamedTuple):
    """A line. points: (k, 2) mm."""

    layer: str
    points: FloatArray
    closed: bool


class Label(NamedTuple):
    """A text. at: (2,) mm of its middle. size: mm. angle: rad, counter-clockwise."""

    layer: str
    text: str
    at: FloatArray
    size: float
    angle: float

    @property
    def corners(self) -> FloatArray:
        """(4, 2) mm, of a box around it, about."""
        half = 0.5 * np.array([WIDE * len(self.text) + 0.6, LINE]) * self.size
        x, y = np.cos(self.angle), np.sin(self.angle)
        turn = np.array([[x, y], [-y, x]])
        return np.asarray(self.at + (np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * half) @ turn)


@dataclass
class Drawing:
    """Lines and texts. size: (2,) mm of the sheet, from (0, 0)."""

    strokes: list[Stroke] = field(default_factory=list)
    labels: list[Label] = field(default_factory=list)
    size: FloatArray = field(default_factory=lambda: np.zeros(2))

    def bounds(self) -> FloatArray:
        """(2, 2) mm, least and largest coordinates."""
        points = np.concatenate([*(s.points for s in self.strokes), *(label.corners for label in self.labels)])
        return np.stack([points.min(axis=0), points.max(axis=0)])

    def moved(self, by: FloatArray) -> Drawing:
        """The same elsewhere."""
        return Drawing(
            [s._replace(points=s.points + by) for s in self.strokes],
            [label._replace(at=label.at + by) for label in self.labels],
            self.size,
        )


def draw(cut: Cut, flat: FloatArray, *, allowance: float = 0.0) -> Drawing:
    """The sheet of panels (p, 2) in m; allowance: mm around every panel."""
    width = as_allowance(allowance)
    parts = [_piece(piece, width) for piece in outlines(cut, flat)]
    parts.append(_square())
    bounds = [part.bounds() for part in parts]
    places = in_rows(np.stack([high - low for low, high in bounds]), GAP)
    sheet = Drawing()
    for part, (low, _), place in zip(parts, bounds, places, strict=True):
        moved = part.moved(GAP + place - low)
        sheet.strokes += moved.strokes
        sheet.labels += moved.labels
    sheet.size = sheet.bounds()[1] + GAP
    return sheet


def as_allowance(value: Any) -> float:
    """A width in mm."""
    width = as_float(value)
    if width is None or not 0.0 <= width <= MOST_ALLOWANCE:
        raise InputError(f"allowance = {shown(value)}: expected mm, from 0 to {MOST_ALLOWANCE:g}")
    return width


def _piece(piece: Piece, width: float) -> Drawing:
    """One panel where it lies."""
    edge = with_allowance(piece.loops, width)
    found = Drawing([Stroke("cut", loop, True) for loop in edge])
    if width > 0.0:
        found.strokes += [Stroke("seam", loop, True) for loop in piece.loops]
    for side in piece.sides:
        found.strokes += _notches(side, width)
    found.strokes += _arrow(piece.grain)
    size = float(np.clip(TEXT * piece.size.min(), SMALLEST, LARGEST))
    for side in piece.sides:
        if side.seam:
            found.labels.append(_seam_label(piece, side, found, width, size))
    found.labels += _title(piece, found, size)
    return found


def _notches(side: Side, width: float) -> list[Stroke]:
    """Marks from the seam to where it is cut; without an allowance, into the panel."""
    found = []
    for notch in side.notches:
        way = (width if width > 0.0 else -NOTCH) * notch.outward
        across = np.array([-notch.outward[1], notch.outward[0]])
        for k in range(notch.marks):
            start = notch.at + (k - 0.5 * (notch.marks - 1)) * BETWEEN * across
            found.append(Stroke("notches", np.stack([start, start + way]), False))
    return found


def _arrow(grain: FloatArray) -> list[Stroke]:
    """A line with a head at both ends."""
    head = min(HEAD, 0.2 * float(np.linalg.norm(grain[1] - grain[0])))
    wings = np.array([[-0.5, -1.0], [0.0, 0.0], [0.5, -1.0]]) * head
    return [
        Stroke("grain", grain, False),
        Stroke("grain", grain[1] + wings, False),
        Stroke("grain", grain[0] - wings, False),
    ]


def _seam_label(piece: Piece, side: Side, found: Drawing, width: float, size: float) -> Label:
    """The name of a seam beside its side: outside where there is room, else inside."""
    text = f"{side.seam} {side.letter}" + (f" to {side.other}" if side.other != piece.number else "")
    candidates = []
    for outwards in (True, False):
        far = (width if outwards else (0.0 if width > 0.0 else NOTCH)) + BESIDE * size
        for part in PLACES:
            before, at, after = along(side.points, [part - 0.05, part, part + 0.05])
            way = (after - before) / np.linalg.norm(after - before)
            out = np.array([way[1], -way[0]]) * (1.0 if outwards else -1.0)
            label = Label("labels", text, at + far * out, size, _readable(way))
            if _free(label, found, outside=piece.loops if outwards else None):
                return label
            candidates.append(label)
    return candidates[0]


def _readable(way: FloatArray) -> float:
    """The angle of a text along a direction, not upside down."""
    angle = float(np.arctan2(way[1], way[0]))
    if angle > 0.5 * np.pi + 1e-6:
        return angle - np.pi
    return angle + np.pi if angle <= -0.5 * np.pi + 1e-6 else angle


def _title(piece: Piece, found: Drawing, size: float) -> list[Label]:
    """Number and size of a panel, where there is room inside; else below it."""
    texts = [f"{piece.number}", f"{piece.size[0]:.0f} × {piece.size[1]:.0f} mm"]
    low, high = piece.loops[0].min(axis=0), piece.loops[0].max(axis=0)
    middle = 0.5 * (low + high)
    for shrink in (1.0, 0.75, 0.5, 0.35):
        best, nearest = None, np.inf
        for x in np.linspace(low[0], high[0], 24)[1:-1]:
            for bottom, top in spans(piece.loops, float(x)):
                for y in np.linspace(bottom, top, 9)[1:-1]:
                    at = np.array([x, y])
                    labels = _stacked(texts, at, shrink * size)
                    away = float(np.linalg.norm((at - middle) / (high - low)))
                    if away < nearest and all(_free(label, found, within=piece.loops) for label in labels):
                        best, nearest = labels, away
        if best is not None:
            return best
    lowest = found.bounds()[0, 1]
    return _stacked(texts, np.array([middle[0], lowest - 3.0 * size]), size)


def _stacked(texts: list[str], at: FloatArray, size: float) -> list[Label]:
    """A large text above a smaller one."""
    up = np.array([0.0, 0.75 * LINE * size])
    return [
        Label("labels", texts[0], at + up, 1.6 * size, 0.0),
        Label("labels", texts[1], at - up, size, 0.0),
    ]  # fmt: skip


def _free(
    label: Label, found: Drawing, outside: tuple[FloatArray, ...] | None = None,
    within: tuple[FloatArray, ...] | None = None,
) -> bool:  # fmt: skip
    """Whether no line runs through a text and no other text touches it, and it is where it should be."""
    box = label.corners
    for loops, wanted in ((outside, 0), (within, 1)):
        if loops is not None:
            around = np.sum([inside(loop, box) for loop in loops], axis=0) % 2
            if (around != wanted).any():
                return False
    if any(_crossed(box, stroke.points, stroke.closed) for stroke in found.strokes):
        return False
    return not any(_crossed(box, other.corners, True) for other in found.labels)


def _crossed(box: FloatArray, line: FloatArray, closed: bool) -> bool:
    """Whether a polyline meets a rectangle (4, 2), or lies in it: clipped to it, something of it is left."""
    start = line if closed else line[:-1]
    end = np.roll(line, -1, axis=0) if closed else line[1:]
    axes = np.stack([box[1] - box[0], box[3] - box[0]])
    axes = axes / (axes * axes).sum(axis=1)[:, None]
    p, d = (start - box[0]) @ axes.T, (end - start) @ axes.T
    with np.errstate(divide="ignore", invalid="ignore"):
        first, second = -p / d, (1.0 - p) / d
    still = d == 0.0
    beside = still & ((p < 0.0) | (p > 1.0))
    enters = np.where(still, -np.inf, np.minimum(first, second)).max(axis=1)
    leaves = np.where(still, np.inf, np.maximum(first, second)).min(axis=1)
    return bool(((np.maximum(enters, 0.0) <= np.minimum(leaves, 1.0)) & ~beside.any(axis=1)).any())


def _square() -> Drawing:
    """The square to check the print."""
    corners = SQUARE * np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    texts = [
        Label("scale", f"{SQUARE:g} mm × {SQUARE:g} mm", np.array([0.5, 0.66]) * SQUARE, 7.0, 0.0),
        Label("scale", "to check the print", np.array([0.5, 0.54]) * SQUARE, 5.0, 0.0),
        Label("scale", "panels are seen from outside", np.array([0.5, 0.34]) * SQUARE, 5.0, 0.0),
    ]
    return Drawing([Stroke("scale", corners, True)], texts)
