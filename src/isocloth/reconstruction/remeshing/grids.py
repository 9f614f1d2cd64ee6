"""Grids: charts on rectangles, cut into quads whose nodes on the sides are given, as figures 5.14 and 5.17.

With 2 (a + b) nodes around a chart, any of them may be the first corner of a rectangle of a times b quads, whatever
arcs the chart is bounded by. Of all rectangles the one is taken that stretches the chart least. To find it, the
harmonic extensions of a few hat functions on the boundary are computed once; the map to any rectangle is a sum of
these.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from isocloth.base.typing import FloatArray, IntArray
from isocloth.meshes.polygons import closed_reach
from isocloth.reconstruction.remeshing.parametrise import Chart, harmonic, interpolate

#: hat functions on the boundary in the search
HATS = 48
#: triangles looked at in the search
LOOKED_AT = 1500
#: steps around the best rectangle of the search that are tried exactly
STEPS = 2
#: a grid that is wanted may stretch a chart by so much more than the best
WANTED = 1.2
#: a stretch below this is as bad as can be
SQUEEZED = 1e-3


class Grid(NamedTuple):
    """A chart cut into quads."""

    nodes: IntArray  #: (a + 1, b + 1) nodes around the chart where they are on its sides, else -1
    places: FloatArray  #: (a + 1, b + 1, N) positions in m
    corner: int  #: which of the nodes around the chart is the first corner
    width: int  #: a
    stretch: float  #: root mean square over the area of the logarithm of how much lengths change, up to a common scale


def best_grid(
    chart: Chart, nodes: IntArray, distance: FloatArray, wanted: tuple[int, int] | None = None
) -> Grid | None:
    """The grid that stretches a chart least; `nodes` (k,) are around it, at `distance` (k,) in m along its boundary.

    wanted: first corner and width of a grid that is taken unless another is clearly better. None if there is no grid of
    at least two by two quads, or if the boundary turns back on itself at a node, where an angle would be pi.
    """
    count = len(nodes)
    if count % 2 or count < 8 or (np.roll(nodes, 1) == np.roll(nodes, -1)).any():
        return None
    loop = chart.positions[chart.boundary]
    at = closed_reach(loop)
    marks = np.concatenate([[distance[-1] - at[-1]], distance, [distance[0] + at[-1]]])
    along = np.interp(at[:-1], marks, np.arange(-1, count + 1))  # in segments between nodes
    extend = harmonic(len(chart.positions), chart.triangles, chart.boundary)
    measure = _Stretch(chart)
    hats = min(HATS, count - count % 2)
    basis = extend(_hats(along * hats / count, hats))[measure.used]
    half, unit = hats // 2, count / hats
    tried = []
    for width in range(1, half):
        for start in range(half):
            rim = _rectangle(
                unit * np.arange(-start, hats - start, dtype=np.float64), unit * width, unit * (half - width)
            )
            tried.append((measure(basis @ rim), round(unit * width), round(unit * start)))
    _, width, start = min(tried)
    best: tuple[float, int, int] | None = None
    for a in range(max(width - STEPS, 2), min(width + STEPS, count // 2 - 2) + 1):
        for corner in range(start - STEPS, start + STEPS + 1):
            uv = extend(_rectangle(along - corner, a, count // 2 - a))
            found = (measure(uv[measure.used]), a, corner)
            best = found if best is None or found < best else best
    if wanted is not None:
        corner, a = wanted
        found = (measure(extend(_rectangle(along - corner, a, count // 2 - a))[measure.used]), a, corner)
        best = found if best is None or found[0] < WANTED * best[0] else best
    if best is None:
        return None
    stretch, a, corner = best
    b = count // 2 - a
    uv = extend(_rectangle(along - corner, a, b))
    i, j = np.meshgrid(np.arange(a + 1), np.arange(b + 1), indexing="ij")
    inside = np.stack([i[1:-1, 1:-1].ravel(), j[1:-1, 1:-1].ravel()], axis=1).astype(np.float64)
    places = np.zeros((a + 1, b + 1, chart.positions.shape[1]))
    places[1:-1, 1:-1] = interpolate(uv, chart.positions, chart.triangles, inside).reshape(a - 1, b - 1, -1)
    names = np.full((a + 1, b + 1), -1, dtype=np.int64)
    around = np.roll(nodes, -corner)
    x, y = _rectangle(np.arange(count, dtype=np.float64), a, b).round().astype(np.int64).T
    names[x, y] = around
    return Grid(names, places, corner % count, a, stretch) if np.isfinite(places).all() else None


def quads(numbers: IntArray) -> IntArray:
    """(a b, 4) quads between nodes (a + 1, b + 1) of a grid."""
    corners = (numbers[:-1, :-1], numbers[1:, :-1], numbers[1:, 1:], numbers[:-1, 1:])
    return np.stack([c.ravel() for c in corners], axis=1)


def _hats(along: FloatArray, count: int) -> FloatArray:
    """(b, count) values at places `along` (b,) around a closed curve of hat functions, one at every whole number."""
    low = np.floor(along).astype(np.int64)
    values = np.zeros((len(along), count))
    values[np.arange(len(along)), low % count] = 1.0 - (along - low)
    values[np.arange(len(along)), (low + 1) % count] += along - low
    return values


def _rectangle(along: FloatArray, a: float, b: float) -> FloatArray:
    """Positions (k, 2) so far along (k,) the sides of the rectangle a times b, counter-clockwise from (0, 0)."""
    s = np.mod(along, 2.0 * (a + b))
    x = np.where(s <= a, s, np.where(s <= a + b, a, np.clip(2.0 * a + b - s, 0.0, a)))
    y = np.where(s <= a, 0.0, np.where(s <= a + b, s - a, np.where(s <= 2.0 * a + b, b, 2.0 * (a + b) - s)))
    return np.stack([x, y], axis=1)


class _Stretch:
    """How much a map to the plane stretches some triangles of a chart."""

    def __init__(self, chart: Chart) -> None:
        chosen = chart.triangles[:: max(1, len(chart.triangles) // LOOKED_AT)]
        self.used, numbered = np.unique(chosen, return_inverse=True)
        self.triangles = numbered.reshape(-1, 3)
        p = chart.positions[chosen]
        u, v = p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]
        length = np.linalg.norm(u, axis=1)
        along = (u * v).sum(axis=1) / length
        height = np.sqrt(np.maximum((v * v).sum(axis=1) - along**2, 1e-300))
        self.length, self.along, self.height = length, along, height
        self.weight = length * height / (length * height).sum()

    def __call__(self, uv: FloatArray) -> float:
        """For places (k, 2) of the points `used`."""
        p = uv[self.triangles]
        x = (p[:, 1] - p[:, 0]) / self.length[:, None]
        y = (p[:, 2] - p[:, 0] - self.along[:, None] * x) / self.height[:, None]
        # singular values of the matrix with columns x and y
        total, area = (x * x + y * y).sum(axis=1), np.abs(x[:, 0] * y[:, 1] - x[:, 1] * y[:, 0])
        plus, minus = np.sqrt(total + 2.0 * area), np.sqrt(np.maximum(total - 2.0 * area, 0.0))
        both = 0.5 * np.stack([plus + minus, plus - minus])
        logs = np.log(np.maximum(both, SQUEEZED * np.sqrt(self.weight @ total)))
        mean = (logs @ self.weight).mean()
        return float(np.sqrt((((logs - mean) ** 2) @ self.weight).mean()))
