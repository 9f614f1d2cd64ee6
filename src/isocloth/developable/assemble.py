"""Arcs of bitangent planes put together to whole surfaces: from where a surface begins to where it ends.

In the strip of `bitangents`, a surface is a path along which s falls and t rises, from t = s to t = s + L: its rulings
sweep the whole curve. A path begins

- at a tip: next to the diagonal, where the curve's torsion vanishes, or at a corner;
- at a straight piece of the curve, which is itself the first ruling;
- at a flat cap: a plane part of the curve, all of which lies before the first ruling;

and ends in the same ways. Between, arcs follow on each other where they meet (at a corner, D is another function on
either side), or across a flat patch, when the parts of the curve between them lie in one plane. Every path comes twice,
seen from either end; one is kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from isocloth.base.errors import InputError
from isocloth.base.typing import BoolArray, FloatArray
from isocloth.developable.bitangents import Arc
from isocloth.developable.curve import SpaceCurve

#: arcs tried one after the other beyond which the search is given up: a curve with so many ways is not generic
MOST = 20_000

#: points of an arc that say where it points, and how much of the way (s against t) may differ across a gap
STRETCH = 4
SWERVE = 0.1

#: one end of the rulings stands still when it moves by less than this part of what the other does
STILL = 1e-3


@dataclass(frozen=True)
class Path:
    """A whole path: s falls from s[0], t rises to t[-1] <= s[-1] + L; `flat` (k - 1,) marks steps across patches."""

    s: FloatArray
    t: FloatArray
    flat: BoolArray


@dataclass(frozen=True)
class Tolerances:
    """What counts as close.

    tip: t - s (m) at which an arc has reached the diagonal.
    near: steps in s and t (m) at which an arc follows on another.
    gap: steps in s and t (m) that are bridged when the arcs on both sides point at each other: next to corners the
        tangents of the curve are less sure, and the sign of D may be lost.
    plane: distance from a plane (m) at which a part of the curve is plane.
    """

    tip: float
    near: float
    gap: float
    plane: float


def assemble(curve: SpaceCurve, arcs: list[Arc], by: Tolerances) -> list[Path]:
    """All paths through the arcs, each surface once."""
    length = curve.length
    # inside a flat patch D is zero everywhere, and what was traced is noise; where one end of the rulings stands still,
    # the other runs along a straight part of the curve, in a triangle of a flat patch
    arcs = [arc for arc in arcs if _moves(arc) and not _in_a_plane(curve, arc, by)]
    begins = [_cap(curve, a.s[0], a.t[0], by) for a in arcs]
    ends = [_cap(curve, a.t[-1], a.s[-1] + length, by) for a in arcs]
    following = _following(curve, arcs, by)
    chains: list[list[tuple[int, float, bool]]] = []

    tried = 0

    def walk(chain: list[tuple[int, float, bool]]) -> None:
        nonlocal tried
        tried += 1
        if tried > MOST:
            raise InputError(
                f"too many ways to assemble rulings ({len(arcs)} arcs, {len(chains)} surfaces so far): the curve is "
                "not generic, or too noisy for its torsion to be known; give a smoothing, or fewer and better points"
            )
        here, shift, _ = chain[-1]
        if ends[here]:
            chains.append(list(chain))
        for after, step, flat in following[here]:
            if after not in {number for number, _, _ in chain}:
                chain.append((after, shift + step, flat))
                walk(chain)
                chain.pop()

    for start, begin in enumerate(begins):
        if begin:
            walk([(start, 0.0, False)])
    paths: list[Path] = []
    for chain in chains:
        path = _joined(arcs, chain)
        if not any(_same(path, other, length, by) for other in paths):
            paths.append(path)
    return paths


def plane_distance(points: FloatArray) -> float:
    """Largest distance (m) of points (n, 3) from the plane that fits them best."""
    centred = points - points.mean(axis=0)
    return float(np.abs(centred @ np.linalg.svd(centred, full_matrices=False)[2][-1]).max())


def _cap(curve: SpaceCurve, s: float, t: float, by: Tolerances) -> bool:
    """Whether a surface can begin with the ruling from s to t: what lies between is short, straight or plane."""
    return t - s <= by.tip or plane_distance(curve.sampled(s, t, 40)) <= by.plane


def _moves(arc: Arc) -> bool:
    """Whether both ends of the rulings move along the curve."""
    fall, rise = arc.s[0] - arc.s[-1], arc.t[-1] - arc.t[0]
    return bool(min(fall, rise) > STILL * max(fall, rise))


def _in_a_plane(curve: SpaceCurve, arc: Arc, by: Tolerances) -> bool:
    """Whether both parts of the curve that an arc joins, and some of the curve around them, lie in one plane."""
    around = 0.02 * curve.length
    first = curve.sampled(arc.s[-1] - around, arc.s[0] + around, 24)
    second = curve.sampled(arc.t[0] - around, arc.t[-1] + around, 24)
    return plane_distance(np.concatenate([first, second])) <= by.plane


def _following(curve: SpaceCurve, arcs: list[Arc], by: Tolerances) -> list[list[tuple[int, float, bool]]]:
    """For every arc, those that can follow it, with the shift of their parameters and whether across a flat patch."""
    length = curve.length
    result: list[list[tuple[int, float, bool]]] = []
    for one in arcs:
        found = []
        for number, other in enumerate(arcs):
            if other is one:
                continue
            for shift in (-length, 0.0, length):
                fall, rise = one.s[-1] - (other.s[0] + shift), other.t[0] + shift - one.t[-1]
                if fall < -by.near or rise < -by.near or other.t[0] - other.s[0] > length:
                    continue
                if max(fall, rise) <= by.near or _goes_on(one, other, fall, rise, by):
                    found.append((number, shift, False))
                elif fall >= 0.0 and rise >= 0.0 and _plane_between(curve, one, other, shift, by):
                    found.append((number, shift, True))
        result.append(found)
    return result


def _goes_on(one: Arc, other: Arc, fall: float, rise: float, by: Tolerances) -> bool:
    """Whether an arc points over a small gap at the beginning of another, which points back."""
    if min(fall, rise) < 0.0 or max(fall, rise) > by.gap or min(len(one.s), len(other.s)) < STRETCH:
        return False
    # steps of s and t along the end of one arc and along the beginning of the other
    ways = [
        (one.s[-STRETCH] - one.s[-1], one.t[-1] - one.t[-STRETCH]),
        (other.s[0] - other.s[STRETCH - 1], other.t[STRETCH - 1] - other.t[0]),
    ]
    return all(abs(fall / (fall + rise) - a / (a + b)) < SWERVE for a, b in ways)


def _plane_between(curve: SpaceCurve, one: Arc, other: Arc, shift: float, by: Tolerances) -> bool:
    """Whether the two parts of the curve between the end of one arc and the begin of another lie in one plane."""
    first = curve.sampled(other.s[0] + shift, one.s[-1] + 1e-12, 20)
    second = curve.sampled(one.t[-1], other.t[0] + shift + 1e-12, 20)
    return plane_distance(np.concatenate([first, second])) <= by.plane


def _joined(arcs: list[Arc], chain: list[tuple[int, float, bool]]) -> Path:
    s = np.concatenate([arcs[number].s + shift for number, shift, _ in chain])
    t = np.concatenate([arcs[number].t + shift for number, shift, _ in chain])
    flat = np.zeros(len(s) - 1, dtype=np.bool_)
    at = 0
    for (number, _, _), (_, _, across) in pairwise(chain):
        at += len(arcs[number].s)
        flat[at - 1] = across
    # joints within tolerance may step back a little
    return Path(np.minimum.accumulate(s), np.maximum.accumulate(t), flat)


def _same(one: Path, other: Path, length: float, by: Tolerances) -> bool:
    """Whether two paths are one surface: the same, or the same seen from the other end."""
    return rulings_apart((one.s, one.t), (other.s, other.t), length) < 4.0 * by.near


def rulings_apart(one: tuple[FloatArray, FloatArray], other: tuple[FloatArray, FloatArray], length: float) -> float:
    """How far the rulings (s, t) of two surfaces over the same curve are apart, at most, in m along the curve.

    Of rulings that cut off equally long parts of the curve, the places where they begin are compared; a surface may be
    seen from its other end, where the ruling (s, t) is (t, s + L).
    """
    turned = (other[1][::-1], other[0][::-1] + length)
    return min(_apart(one, other, length), _apart(one, turned, length))


def _apart(one: tuple[FloatArray, FloatArray], other: tuple[FloatArray, FloatArray], length: float) -> float:
    low = max(one[1][0] - one[0][0], other[1][0] - other[0][0])
    high = min(one[1][-1] - one[0][-1], other[1][-1] - other[0][-1])
    if high <= low:
        return length
    cut = np.linspace(low, high, 41)[1:-1]
    away = np.interp(cut, one[1] - one[0], one[0]) - np.interp(cut, other[1] - other[0], other[0])
    return float(np.abs(np.mod(away + 0.5 * length, length) - 0.5 * length).max())
