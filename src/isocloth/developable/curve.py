"""A closed curve in space, smooth between corners, from points on it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import BSpline, make_interp_spline, splprep

from isocloth.base.errors import InputError
from isocloth.base.typing import FloatArray, IntArray

#: a point is a corner when the polygon turns there by more than this (rad), and by so many times more than nearby
CORNER_TURN = 0.5
CORNER_CONTRAST = 4.0

#: a curve is open when closing it takes a step this many times longer than any other
OPEN = 4.0

#: a piece is straight when it strays from its chord by less than this part of its length
STRAIGHT = 1e-6

#: of the splines through the points, and of those that tell how sure they are; with smoothing at most 5
DEGREES = (5, 7)
SMOOTHED_DEGREES = (5, 3)

FEWEST = 12  # points, below which "smooth" means nothing


@dataclass(frozen=True)
class Piece:
    """A smooth piece of a curve, from one corner to the next.

    start, end: parameters, lengths along the polygon of the points, in m.
    spline: parameter -> point.
    other: the same with another degree: where the two differ, the points do not say what the tangent is.
    straight: whether it is a segment.
    """

    start: float
    end: float
    spline: BSpline
    other: BSpline
    straight: bool


@dataclass(frozen=True)
class SpaceCurve:
    """A closed curve gamma(s), 0 <= s < length, smooth except at corners.

    pieces: from corner to corner; without corners one piece, periodic.
    length: of the polygon of the points, in m: s is length up to the error of chords.
    """

    pieces: tuple[Piece, ...]
    length: float
    smooth: bool

    @property
    def corners(self) -> FloatArray:
        """Parameters of the corners (c,), in m."""
        return np.array([] if self.smooth else [piece.start for piece in self.pieces])

    def __call__(self, s: ArrayLike) -> FloatArray:
        """Points (..., 3) at parameters (...), taken modulo the length."""
        return self._evaluate(np.asarray(s, dtype=np.float64), lambda piece, at: piece.spline(at))

    def on_piece(self, piece: int, s: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Points and tangents (..., 3) of one piece, one-sided at its ends; s may be lifted by whole lengths."""
        part = self.pieces[piece % len(self.pieces)]
        at = np.clip(s - self.length * (piece // len(self.pieces)), part.start, part.end)
        return part.spline(at), part.spline(at, 1)

    def uncertainty(self, piece: int, s: FloatArray) -> FloatArray:
        """Angle (rad) by which the tangent of a piece depends on the degree of its spline, around parameters (...)."""
        part = self.pieces[piece % len(self.pieces)]
        at = np.clip(s - self.length * (piece // len(self.pieces)), part.start, part.end)
        return np.asarray(np.linalg.norm(part.spline(at, 1) - part.other(at, 1), axis=-1))

    def sampled(self, begin: float, end: float, count: int) -> FloatArray:
        """Points (count + corners, 3) from parameter begin to end > begin, the corners between them included."""
        s = np.linspace(begin, end, count)
        lifts = range(int(np.floor(begin / self.length)), int(np.ceil(end / self.length)) + 1)
        between = [c + k * self.length for k in lifts for c in self.corners if begin < c + k * self.length < end]
        return self(np.sort(np.concatenate([s, between])))

    def _evaluate(self, s: FloatArray, value: Callable[[Piece, FloatArray], FloatArray]) -> FloatArray:
        at = np.mod(s, self.length).reshape(-1)
        result = np.empty((at.size, 3))
        which = np.searchsorted([piece.end for piece in self.pieces], at, side="right").clip(0, len(self.pieces) - 1)
        for k in np.unique(which):
            result[which == k] = value(self.pieces[k], at[which == k])
        return result.reshape(*s.shape, 3)


def space_curve(points: ArrayLike, *, corners: ArrayLike | None = None, smoothing: float = 0.0) -> SpaceCurve:
    """A closed curve through points (n, 3) in m, in order, the first not repeated.

    corners : indices of points where it has corners, [] for none; found from sharp turns if None.
    smoothing : how far the points are from the true curve, rms in m; 0 passes through them.
    """
    x = _points(points)
    chosen = find_corners(x) if corners is None else _corners(corners, len(x))
    if not (np.isfinite(smoothing) and smoothing >= 0.0):
        raise InputError(f"smoothing is {smoothing}, expected a distance in m, 0 or more")
    degrees = SMOOTHED_DEGREES if smoothing > 0.0 else DEGREES
    first = int(chosen[0]) if len(chosen) else 0
    x = np.roll(x, -first, axis=0)
    closed = np.concatenate([x, x[:1]])
    steps = np.linalg.norm(np.diff(closed, axis=0), axis=1)
    reach = np.concatenate([[0.0], np.cumsum(steps)])
    if not len(chosen):
        spline, other = (_spline(reach, closed, smoothing, degree, periodic=True) for degree in degrees)
        whole = Piece(0.0, float(reach[-1]), spline, other, False)
        return SpaceCurve((whole,), float(reach[-1]), True)
    ends = [*(chosen - first).tolist(), len(x)]
    pieces = []
    for a, b in pairwise(ends):
        p = closed[a : b + 1]
        spline, other = (_spline(reach[a : b + 1], p, smoothing, degree, periodic=False) for degree in degrees)
        pieces.append(Piece(float(reach[a]), float(reach[b]), spline, other, _straight(p, smoothing)))
    return SpaceCurve(tuple(pieces), float(reach[-1]), False)


def find_corners(x: FloatArray) -> IntArray:
    """Indices of points of a closed polygon (n, 3) where it turns sharply, and far more than at points nearby."""
    after = np.roll(x, -1, axis=0) - x
    before = x - np.roll(x, 1, axis=0)
    turn = np.arctan2(np.linalg.norm(np.cross(before, after), axis=1), np.einsum("ni,ni->n", before, after))
    nearby = np.median(np.stack([np.roll(turn, k) for k in (-3, -2, 2, 3)]), axis=0)
    return np.flatnonzero((turn > CORNER_TURN) & (turn > CORNER_CONTRAST * nearby)).astype(np.int64)


def _spline(at: FloatArray, x: FloatArray, smoothing: float, degree: int, *, periodic: bool) -> BSpline:
    degree = min(degree, len(x) - 1)
    if smoothing > 0.0 and len(x) > 6:
        fitted: Any = splprep(list(x.T), u=at, k=degree, s=len(x) * smoothing**2, per=1 if periodic else 0)
        (knots, coefficients, k), _ = fitted
        return BSpline(knots, np.stack(coefficients, axis=1), k, extrapolate="periodic" if periodic else True)
    degree -= 1 - degree % 2  # periodic splines have odd degrees
    return make_interp_spline(at, x, k=degree, bc_type="periodic" if periodic else None)


def _straight(p: FloatArray, smoothing: float) -> bool:
    chord = p[-1] - p[0]
    length = float(np.linalg.norm(chord))
    if length == 0.0:
        return False
    away = np.linalg.norm(np.cross(p - p[0], chord / length), axis=1).max()
    return bool(away <= max(STRAIGHT * length, 4.0 * smoothing))


def _points(points: ArrayLike) -> FloatArray:
    x = np.ascontiguousarray(points, dtype=np.float64)
    if x.ndim != 2 or x.shape[1] != 3:
        raise InputError(f"the curve has shape {x.shape}, expected (n, 3): points in space, in order, in m")
    if len(x) < FEWEST:
        raise InputError(f"the curve has {len(x)} points, expected at least {FEWEST}; sample it more finely")
    bad = ~np.isfinite(x).all(axis=1)
    if bad.any():
        raise InputError(
            f"point {int(np.argmax(bad))} of the curve is {x[np.argmax(bad)].tolist()}, expected numbers in m"
        )
    steps = np.linalg.norm(np.roll(x, -1, axis=0) - x, axis=1)
    if steps[-1] == 0.0:
        raise InputError("the last point of the curve repeats the first; it is closed by itself, leave the last out")
    if not steps.all():
        k = int(np.argmin(steps))
        raise InputError(f"points {k} and {k + 1} of the curve coincide; leave one of them out")
    if steps[-1] > OPEN * steps[:-1].max():
        raise InputError(
            f"the curve is open: its ends are {steps[-1]:.3g} m apart, its points at most {steps[:-1].max():.3g} m; "
            "give points all around"
        )
    if np.linalg.matrix_rank(x - x.mean(axis=0), tol=1e-9 * steps.sum()) < 2:
        raise InputError("the points of the curve lie on a line, which bounds no surface")
    return x


def _corners(corners: ArrayLike, n: int) -> IntArray:
    k = np.asarray(corners)
    if k.size == 0:
        return np.array([], dtype=np.int64)
    if k.ndim != 1 or not np.issubdtype(k.dtype, np.integer) or k.min() < 0 or k.max() >= n:
        raise InputError(f"corners are {k.tolist()}, expected indices of points, from 0 to {n - 1}")
    if len(np.unique(k)) != len(k):
        raise InputError(f"corners are {k.tolist()}, expected different points")
    return np.sort(k).astype(np.int64)
