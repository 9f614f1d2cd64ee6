"""A developable surface as its rulings: points, a mesh, and its way into the plane."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from isocloth.base.compiled import kernel
from isocloth.base.errors import InputError
from isocloth.base.typing import BoolArray, FloatArray
from isocloth.contact.distance import point_triangle
from isocloth.meshes import Mesh


@dataclass(frozen=True, eq=False)
class RuledSurface:
    """Rulings from one part of a closed curve to the other.

    starts, ends: (k, 3) in m, points of the curve; ruling i is the segment between starts[i] and ends[i]. A surface
        that begins or ends in a tip has a first or last ruling of length zero.
    parameters: (k, 2) lengths s and t along the curve, in m: s falls, t rises.
    flat: (k - 1,) whether the strip between two rulings belongs to a flat patch.
    length: of the curve, in m.
    """

    starts: FloatArray
    ends: FloatArray
    parameters: FloatArray
    flat: BoolArray
    length: float

    def __len__(self) -> int:
        """Number of rulings."""
        return len(self.starts)

    def __repr__(self) -> str:
        patches = int(np.count_nonzero(np.diff(np.concatenate([[0], self.flat.astype(np.int8)])) == 1))
        more = f", {patches} flat patches" if patches else ""
        return f"<RuledSurface: {len(self)} rulings, {self.area:.4g} m^2{more}>"

    def points(self, across: int = 9) -> FloatArray:
        """(k, across, 3) points in m, equally spaced on every ruling."""
        part = np.linspace(0.0, 1.0, across)[:, None]
        return np.asarray((1.0 - part) * self.starts[:, None] + part * self.ends[:, None])

    @property
    def area(self) -> float:
        """Area in m^2, of the triangles between rulings."""
        a, b, c, d = self.starts[:-1], self.starts[1:], self.ends[1:], self.ends[:-1]
        whole = np.linalg.norm(np.cross(b - a, c - a), axis=1) + np.linalg.norm(np.cross(c - a, d - a), axis=1)
        return float(0.5 * whole.sum())

    @property
    def tips(self) -> tuple[bool, bool]:
        """Whether the first and the last ruling are points."""
        lengths = np.linalg.norm(self.ends - self.starts, axis=1)
        return bool(lengths[0] == 0.0), bool(lengths[-1] == 0.0)

    def mesh(self, across: int = 9) -> Mesh:
        """Triangle mesh with `across` nodes on every ruling, one at a tip; the curve's sense is counter-clockwise."""
        if across < 2:
            raise InputError(f"across is {across}, expected at least 2 nodes on a ruling")
        first, last = self.tips
        close = 1e-7 * self.length
        nodes, number = [], np.empty((len(self), across), dtype=np.int64)
        count = 0
        for i, row in enumerate(self.points(across)):
            new = np.ones(across, dtype=np.bool_)
            if (i == 0 and first) or (i == len(self) - 1 and last):
                new[1:] = False
                number[i] = count
            # rulings may turn about a point of the curve
            elif i and np.linalg.norm(row[0] - self.starts[i - 1]) < close:
                new[0] = False
                number[i, 0] = number[i - 1, 0]
            elif i and np.linalg.norm(row[-1] - self.ends[i - 1]) < close:
                new[-1] = False
                number[i, -1] = number[i - 1, -1]
            if new.sum() > 1:
                number[i, new] = count + np.arange(new.sum())
            nodes.append(row[new])
            count += int(new.sum())
        a, b, c, d = number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:]
        faces = np.concatenate([np.stack([a, c, b], axis=-1), np.stack([a, d, c], axis=-1)], axis=1).reshape(-1, 3)
        real = (faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 2] != faces[:, 0])
        return Mesh(np.concatenate(nodes), faces[real], corners=[], name="developable")

    def distance(self, points: ArrayLike) -> FloatArray:
        """Distances (n,) in m of points (n, 3) from the surface, as the triangles between its rulings."""
        x = np.ascontiguousarray(points, dtype=np.float64)
        if x.ndim != 2 or x.shape[1] != 3 or not np.isfinite(x).all():
            raise InputError(f"points have shape {x.shape}, expected (n, 3) finite coordinates in m")
        return np.asarray(_distances(x, self.starts, self.ends))

    def unrolled(self) -> tuple[FloatArray, FloatArray]:
        """Starts and ends (k, 2) of the rulings in the plane, in m: the strips laid down one after the other.

        Lengths of rulings, of the steps along both parts of the curve, and of one diagonal of every strip are kept.
        """
        a, b = np.empty((len(self), 2)), np.empty((len(self), 2))
        a[0] = (0.0, 0.0)
        b[0] = (np.linalg.norm(self.ends[0] - self.starts[0]), 0.0)
        for i in range(len(self) - 1):
            # triangles (start i, end i, end i + 1) and (start i, end i + 1, start i + 1), away from what lies there
            b[i + 1] = _third(a[i], b[i], self.starts[i], self.ends[i], self.ends[i + 1], away=a[i - 1] if i else None)
            a[i + 1] = _third(a[i], b[i + 1], self.starts[i], self.ends[i + 1], self.starts[i + 1], away=b[i])
        return a, b

    def metric_error(self) -> float:
        """How far from isometric to the plane: largest relative error of the diagonals that `unrolled` does not keep.

        A measure of the rulings' planarity and density; zero for a surface that is developable strip by strip.
        """
        a, b = self.unrolled()
        there = np.linalg.norm(self.ends[:-1] - self.starts[1:], axis=1)
        here = np.linalg.norm(b[:-1] - a[1:], axis=1)
        long = there > 1e-9 * there.max()
        return float(np.abs(here[long] / there[long] - 1.0).max())


def _third(
    p: FloatArray, q: FloatArray, x: FloatArray, y: FloatArray, z: FloatArray, away: FloatArray | None
) -> FloatArray:
    """Corner of the plane triangle over p, q that is z over x, y in space: left of p -> q, or away from a point."""
    u = y - x
    length = float(np.linalg.norm(u))
    if length == 0.0:  # begins in a tip: any direction
        return np.asarray(p + np.array([np.linalg.norm(z - x), 0.0]))
    along = float((z - x) @ u) / length
    across = float(np.linalg.norm(np.cross(u, z - x))) / length
    e = (q - p) / np.linalg.norm(q - p) if np.linalg.norm(q - p) > 0.0 else np.array([1.0, 0.0])
    n = np.array([-e[1], e[0]])
    if away is not None and (away - p) @ n > 0.0:
        n = -n
    return np.asarray(p + along * e + across * n)


@kernel
def _distances(x: FloatArray, starts: FloatArray, ends: FloatArray) -> FloatArray:
    result = np.empty(len(x))
    for k in range(len(x)):
        p = (x[k, 0], x[k, 1], x[k, 2])
        best = np.inf
        for i in range(len(starts) - 1):
            a = (starts[i, 0], starts[i, 1], starts[i, 2])
            b = (starts[i + 1, 0], starts[i + 1, 1], starts[i + 1, 2])
            c = (ends[i + 1, 0], ends[i + 1, 1], ends[i + 1, 2])
            d = (ends[i, 0], ends[i, 1], ends[i, 2])
            one, _, _, _ = point_triangle(p, a, b, c)
            two, _, _, _ = point_triangle(p, a, c, d)
            best = min(best, one, two)
        result[k] = np.sqrt(best)
    return result
