"""Developable surfaces bounded by a closed curve, and one of them followed while the curve moves."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from isocloth.base.errors import InputError
from isocloth.base.typing import FloatArray, IntArray
from isocloth.developable.assemble import Path, Tolerances, assemble, plane_distance, rulings_apart
from isocloth.developable.bitangents import bitangent_arcs
from isocloth.developable.curve import SpaceCurve, space_curve
from isocloth.developable.ruled import RuledSurface

#: parts of the curve's length: grid spacing, band at the diagonal, distance from a plane of a flat patch
RESOLUTION = 240
BAND = 0.012
PLANE = 1e-5

#: |D| of unit vectors below which a cell of the grid is flat, without noise
FLAT = 1e-9

#: how far apart arcs end on the two sides of a corner, in units of the noise of the points
NOISE = 200.0

#: rulings closer than this part of the grid's spacing are thinned out
THIN = 0.1

#: t - s, beyond the band, at which an arc has reached the diagonal: on coarse curves the sign of D is lost earlier
TIP = 0.05
NOISY_TIP = 0.13

#: steps in s and t, as parts of the length, over which arcs are joined that point at each other
GAP = 0.03

#: part of the length that a tip may cut off; more is a flat cap
CAP = 0.15

#: rulings of a tip
TIP_STEPS = 6

#: steps of a flat cap or patch
FLAT_STEPS = 12


def developables(
    curve: ArrayLike | SpaceCurve,
    *,
    corners: ArrayLike | None = None,
    smoothing: float = 0.0,
    resolution: int = RESOLUTION,
    plane: float | None = None,
) -> list[RuledSurface]:
    """All developable surfaces without singular points that a closed curve in space bounds, largest area last.

    curve : points (n, 3) in m, in order, the first not repeated.
    corners : indices of points where the curve has corners, [] for none; found from sharp turns if None.
    smoothing : how far the points are from the true curve, rms in m; 0 passes through them.
    resolution : grid lines around the curve on which bitangent planes are looked for; two surfaces whose rulings
        differ by less are not told apart.
    plane : distance (m) from a plane at which part of the curve bounds a flat patch; 1e-5 of the length if None, or
        four times the smoothing if that is more.

    Found are discs whose rulings form one band, from one end to the other, with tips, straight ends, corners, and flat
    patches at the ends or between two curved parts. Not found: flat patches with three or more curved arms, and cones
    with their apex on the curve. A plane curve bounds its plane.
    """
    if resolution < 40:
        raise InputError(f"resolution is {resolution}, expected at least 40 grid lines")
    if plane is not None and not plane > 0.0:
        raise InputError(f"plane is {plane}, expected a positive distance in m")
    gamma = curve if isinstance(curve, SpaceCurve) else space_curve(curve, corners=corners, smoothing=smoothing)
    level = max(PLANE * gamma.length, 4.0 * smoothing) if plane is None else plane
    if plane_distance(gamma.sampled(0.0, gamma.length, 200)) <= level:
        return [_surface(gamma, _middle(gamma))]
    band = BAND * gamma.length
    flat = max(FLAT, smoothing / (0.1 * gamma.length))
    arcs = bitangent_arcs(gamma, resolution=resolution, band=band, flat=flat)
    cell = gamma.length / resolution
    near = min(0.5 * cell + NOISE * smoothing, 3.0 * cell)
    tip = band + (NOISY_TIP if smoothing > 0.0 else TIP) * gamma.length
    by = Tolerances(tip=tip, near=near, gap=GAP * gamma.length, plane=level)
    surfaces = [_surface(gamma, path) for path in assemble(gamma, arcs, by)]
    return sorted((s for s in surfaces if _regular(gamma, s)), key=lambda s: s.area)


def follow(
    curves: Sequence[ArrayLike],
    start: RuledSurface | None = None,
    *,
    corners: ArrayLike | None = None,
    smoothing: float = 0.0,
    resolution: int = RESOLUTION,
    plane: float | None = None,
    jump: float = 0.1,
) -> list[RuledSurface]:
    """One surface for every curve (n, 3) of a motion: at each time the one that continues the last.

    start : the surface of the first curve to go on from; it may be left out if the first curve bounds only one.
    jump : how far a ruling may move between two times, as a part of the curve's length: a larger step is no
        continuation, and an error says at which time the surface was lost.
    The points of all curves must mean the same places of the cloth: point k of one is point k of the next.
    """
    found: list[RuledSurface] = []
    last = start
    for time, points in enumerate(curves):
        options = developables(points, corners=corners, smoothing=smoothing, resolution=resolution, plane=plane)
        if not options:
            raise InputError(f"curve {time} bounds no developable surface that can be found; the surface is lost there")
        if last is None:
            if len(options) > 1:
                raise InputError(
                    f"the first curve bounds {len(options)} developable surfaces; give the one to follow as start, "
                    "from developables(curves[0])"
                )
            last = options[0]
        away = [ruling_distance(last, option) for option in options]
        best = int(np.argmin(away))
        if away[best] > jump:
            raise InputError(
                f"curve {time} bounds no surface near the last one: rulings move by {away[best]:.2g} of the length, "
                f"at most {jump:g} was expected; give the motion in smaller steps, or a larger jump"
            )
        last = options[best]
        found.append(last)
    return found


def ruling_distance(one: RuledSurface, other: RuledSurface) -> float:
    """How far rulings of two surfaces over corresponding curves are apart, as the largest part of the length."""
    a, b = (tuple(surface.parameters.T / surface.length) for surface in (one, other))
    return rulings_apart((a[0], a[1]), (b[0], b[1]), 1.0)


def _middle(curve: SpaceCurve) -> Path:
    """Rulings of a plane curve, between points equally far along it from one of them: the way with the least area."""
    starts = curve.corners.tolist() or (curve.length * np.arange(24) / 24.0).tolist()
    bands = [_band(curve, (c, c), (c - 0.5 * curve.length, c + 0.5 * curve.length)) for c in starts]
    bands = [np.concatenate([[[c, c]], band]) for c, band in zip(starts, bands, strict=True)]
    best = bands[int(np.argmin([_band_area(curve, band) for band in bands]))]
    return Path(best[:, 0], best[:, 1], np.ones(len(best) - 1, dtype=np.bool_))


def _surface(curve: SpaceCurve, path: Path) -> RuledSurface:
    """The surface of a path, with its tips, caps and flat patches filled in."""
    s, t, flat = [path.s[:1]], [path.t[:1]], []
    for i, across in enumerate(path.flat):
        here, there = (float(path.s[i]), float(path.t[i])), (float(path.s[i + 1]), float(path.t[i + 1]))
        # a step over a gap may pass a corner, which must not be cut off
        band = _band(curve, here, there)
        band = band if across or len(band) > 1 else np.array([there])
        s.append(band[:, 0])
        t.append(band[:, 1])
        flat += [bool(across)] * len(band)
    before = _closing(curve, path.s, path.t)
    after = _closing(curve, path.t[::-1], path.s[::-1] + curve.length)  # seen from the other end
    begin_s, begin_t = before[::-1].T
    end_t, end_s = after.T[0], after.T[1] - curve.length
    all_s, all_t = np.concatenate([begin_s, *s, end_s]), np.concatenate([begin_t, *t, end_t])
    capped = [path.t[0] - path.s[0], path.s[-1] + curve.length - path.t[-1]]
    plain = [capped[0] > CAP * curve.length] * len(before) + flat + [capped[1] > CAP * curve.length] * len(after)
    keep = _thinned(curve, all_s, all_t)
    all_s, all_t = all_s[keep], all_t[keep]
    flags = np.array(plain, dtype=np.bool_)[keep[1:] - 1]
    starts, ends = curve(all_s), curve(all_t)
    for k in (0, -1):
        whole = (all_t[k] - all_s[k]) / curve.length
        if abs(whole - round(whole)) < 1e-12:
            ends[k] = starts[k]
    return RuledSurface(starts, ends, np.stack([all_s, all_t], axis=1), flags, curve.length)


def _thinned(curve: SpaceCurve, s: FloatArray, t: FloatArray) -> IntArray:
    """Rulings to keep: arcs cross the lines of a grid at any distance, and faces without width help nobody.

    The first, the last and those at corners stay.
    """
    wide = THIN * curve.length / RESOLUTION
    fixed = np.zeros(len(s), dtype=np.bool_)
    for c in curve.corners:
        for at in (s, t):
            fixed |= (
                np.abs(np.mod(at - c + 0.5 * curve.length, curve.length) - 0.5 * curve.length) < 1e-9 * curve.length
            )
    fixed[[0, -1]] = True
    kept = [0]
    for i in range(1, len(s)):
        close = (t[i] - s[i]) - (t[kept[-1]] - s[kept[-1]]) < wide
        if not close:
            kept.append(i)
        elif (fixed[i] and not fixed[kept[-1]]) or i == len(s) - 1:
            kept[-1] = i
    return np.array(kept, dtype=np.int64)


def _closing(curve: SpaceCurve, path_s: FloatArray, path_t: FloatArray) -> FloatArray:
    """Rulings (k, 2) that go on from the beginning of a path to where the surface ends: a tip, or a straight piece.

    To a tip the path is continued smoothly. A flat cap is filled by a band of segments; of the ways to do it the one
    with the least area is taken, because bands that overlap have more.
    """
    s, t = float(path_s[0]), float(path_t[0])
    lifts = np.floor(s / curve.length) + np.arange(-1, 3)
    inside = 1e-9 * curve.length
    if t - s <= inside:
        return np.empty((0, 2))
    straight = [
        (piece.start + k * curve.length, piece.end + k * curve.length)
        for k in lifts
        for piece in curve.pieces
        if piece.straight
        and piece.start + k * curve.length >= s - inside
        and piece.end + k * curve.length <= t + inside
    ]
    for a, b in straight:
        if a - s + t - b < 0.02 * curve.length:
            return np.array([[a, b]]) if a - s + t - b > inside else np.empty((0, 2))
    corners = [float(c + k * curve.length) for k in lifts for c in curve.corners if s < c + k * curve.length < t]
    if t - s < CAP * curve.length:
        return _tip(path_s, path_t, corners[0] if len(corners) == 1 else None)
    goals = [*straight, *((c, c) for c in corners), (0.5 * (s + t), 0.5 * (s + t))]
    bands = [_band(curve, (s, t), goal) for goal in goals]
    areas = [_band_area(curve, np.concatenate([[[s, t]], band])) for band in bands]
    return bands[int(np.argmin(np.array(areas) * (1.0 + 1e-6 * np.arange(len(areas)))))]


def _tip(path_s: FloatArray, path_t: FloatArray, corner: float | None) -> FloatArray:
    """Rulings (k, 2) from the beginning of a path to t = s: their middles are a quadratic function of t - s there."""
    apart, middle = path_t - path_s, 0.5 * (path_s + path_t)
    first = apart[0]
    near = apart <= max(3.0 * first, apart[min(6, len(apart) - 1)])
    powers = np.stack([np.ones(near.sum()), apart[near] / first, (apart[near] / first) ** 2], axis=1)
    if corner is None:
        best = np.linalg.lstsq(powers, middle[near] - middle[0], rcond=None)[0]
        best[0] += middle[0]
    else:  # the tip is known
        best = np.concatenate([[corner], np.linalg.lstsq(powers[:, 1:], middle[near] - corner, rcond=None)[0]])
    part = np.linspace(1.0, 0.0, TIP_STEPS + 1)[1:]
    at = np.polynomial.polynomial.polyval(part, best)
    # no farther than the part of the curve that is cut off
    at = np.clip(at, path_s[0] + 0.5 * part * first, path_t[0] - 0.5 * part * first)
    return np.stack([at - 0.5 * part * first, at + 0.5 * part * first], axis=1)


def _band(curve: SpaceCurve, begin: tuple[float, float], goal: tuple[float, float]) -> FloatArray:
    """Pairs (k, 2) on the way from one pair of parameters to another, with a stop at every corner."""
    wide = (abs(goal[0] - begin[0]) + abs(goal[1] - begin[1])) / curve.length
    stops = np.linspace(0.0, 1.0, max(1, round(4 * FLAT_STEPS * wide)) + 1)[1:].tolist()
    for a, b in zip(begin, goal, strict=True):
        for c in curve.corners:
            for k in range(int(np.floor(min(a, b) / curve.length)), int(np.floor(max(a, b) / curve.length)) + 1):
                if min(a, b) < c + k * curve.length < max(a, b):
                    stops.append((c + k * curve.length - a) / (b - a))
    part = np.unique(stops)
    return np.stack([begin[0] + part * (goal[0] - begin[0]), begin[1] + part * (goal[1] - begin[1])], axis=1)


def _band_area(curve: SpaceCurve, pairs: FloatArray) -> float:
    a, b = curve(pairs[:, 0]), curve(pairs[:, 1])
    whole = np.linalg.norm(np.cross(a[1:] - a[:-1], b[1:] - a[:-1]), axis=1)
    whole += np.linalg.norm(np.cross(b[1:] - a[:-1], b[:-1] - a[:-1]), axis=1)
    return float(0.5 * whole.sum())


def _regular(curve: SpaceCurve, surface: RuledSurface) -> bool:
    """Whether the surface has no singular points: along every ruling both ends move to the same side of it."""
    mid = 0.5 * (surface.parameters[1:] + surface.parameters[:-1])
    move_s = np.diff(surface.starts, axis=0)
    move_t = np.diff(surface.ends, axis=0)
    ruling = curve(mid[:, 1]) - curve(mid[:, 0])
    a, b = np.cross(ruling, move_s), np.cross(ruling, move_t)
    product = np.einsum("ni,ni->n", a, b)
    size = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
    # next to tips and in flat patches the sides are a matter of rounding
    clear = (size > 1e-6 * size.max()) & ~surface.flat
    return bool((product[clear] > 0.0).all())
