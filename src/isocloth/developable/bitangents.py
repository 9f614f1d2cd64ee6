"""Planes that touch a curve twice: the zero set of D(s, t) as curves.

    D(s, t) = det(gamma(s) - gamma(t), gamma'(s), gamma'(t))        (thesis, proposition 4)

A ruling of a developable surface bounded by gamma joins two points whose tangents lie in one plane with it, so D = 0.
D is followed on the strip 0 < t - s < L (L the length of the curve): s falls and t rises along the rulings of a
surface, from t = s, where it begins, to t = s + L, where it ends. The strip is cut into blocks, one for every pair of
smooth pieces, because D jumps at corners. In each block the sign of D is sampled on a grid, the places where it changes
are found on the grid's lines by bisection of D itself, and joined through the cells.

At t = s + h, D is kappa^2 tau h^4 / 12 + ...: next to the diagonal its sign is lost in the error of the curve, and a
band is left out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from isocloth.base.typing import BoolArray, FloatArray
from isocloth.developable.curve import SpaceCurve

#: halvings of an interval between grid lines: to rounding
HALVINGS = 44


@dataclass(frozen=True)
class Arc:
    """A piece of the zero set of D along which s never rises and t never falls.

    s, t: (k,) parameters in m, with s < t < s + length.
    """

    s: FloatArray
    t: FloatArray


def coplanarity(curve: SpaceCurve, p: int, q: int, s: FloatArray, t: FloatArray) -> FloatArray:
    """D of unit vectors, -1 to 1: zero when chord and tangents lie in one plane. s on piece p, t on piece q."""
    x, u = curve.on_piece(p, s)
    y, v = curve.on_piece(q, t)
    chord = x - y
    scale = np.linalg.norm(chord, axis=-1) * np.linalg.norm(u, axis=-1) * np.linalg.norm(v, axis=-1)
    volume = np.einsum("...i,...i->...", chord, np.cross(u, v))
    return np.asarray(np.divide(volume, scale, out=np.zeros_like(volume), where=scale > 0.0))


def bitangent_arcs(curve: SpaceCurve, *, resolution: int, band: float, flat: float) -> list[Arc]:
    """All monotone arcs of the zero set in the strip, s in [0, L).

    resolution : grid lines around the curve. band : t - s below which (and above L - which) nothing is looked for, m.
    flat : |D| of unit vectors below which a whole cell is part of a flat patch, in which no arc can be told; what the
        tangents are unsure by is added.
    """
    arcs: list[Arc] = []
    n = len(curve.pieces)
    for p in range(n):
        for q in range(p, p + n + 1):
            if curve.pieces[p].straight or curve.pieces[q % n].straight:
                continue  # D does not depend on a parameter on a straight piece: that is a ruling, or part of a patch
            arcs += _block(curve, p, q, resolution, band, flat)
    return arcs


def _block(curve: SpaceCurve, p: int, q: int, resolution: int, band: float, flat: float) -> list[Arc]:
    n, length = len(curve.pieces), curve.length
    first, second = curve.pieces[p], curve.pieces[q % n]
    lift = length * (q // n)
    # numbers of cells without a common divisor: symmetric curves have their zero set on the nodes of symmetric grids
    rows = max(8, round(resolution * (first.end - first.start) / length))
    columns = max(8, round(resolution * (second.end - second.start) / length))
    columns += next(k for k in range(1, rows + 2) if np.gcd(rows, columns + k) == 1)
    s = np.linspace(first.start, first.end, rows + 1)
    t = np.linspace(second.start, second.end, columns + 1) + lift
    grid_s, grid_t = np.meshgrid(s, t, indexing="ij")
    inside = (grid_t - grid_s > band) & (grid_t - grid_s < length - band)
    if not inside.any():
        return []
    value = coplanarity(curve, p, q, grid_s, grid_t)
    unsure = _spread(curve.uncertainty(p, s))[:, None] + _spread(curve.uncertainty(q, t))[None, :]
    small = np.abs(value) < flat + 2.0 * unsure

    def zero(a_s: FloatArray, a_t: FloatArray, b_s: FloatArray, b_t: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Where D changes its sign between points a and b."""
        low, high = np.zeros_like(a_s), np.ones_like(a_s)
        sign = np.sign(coplanarity(curve, p, q, a_s, a_t))
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            same = np.sign(coplanarity(curve, p, q, a_s + middle * (b_s - a_s), a_t + middle * (b_t - a_t))) == sign
            low, high = np.where(same, middle, low), np.where(same, high, middle)
        middle = 0.5 * (low + high)
        return a_s + middle * (b_s - a_s), a_t + middle * (b_t - a_t)

    up = value > 0.0
    # edges along s (rows) and along t (columns), numbered apart
    cross_s = (up[:-1] != up[1:]) & inside[:-1] & inside[1:]
    cross_t = (up[:, :-1] != up[:, 1:]) & inside[:, :-1] & inside[:, 1:]
    cells = _cells(up, inside, small)
    i, j = np.nonzero(cross_s)
    found_s = zero(s[i], t[j], s[i + 1], t[j])
    k, l = np.nonzero(cross_t)
    found_t = zero(s[k], t[l], s[k], t[l + 1])
    places = np.concatenate([np.stack(found_s, axis=1), np.stack(found_t, axis=1)])
    number = {("s", int(a), int(b)): e for e, (a, b) in enumerate(zip(i, j, strict=True))}
    number |= {("t", int(a), int(b)): e + len(i) for e, (a, b) in enumerate(zip(k, l, strict=True))}
    links: list[tuple[int, int]] = []
    for a, b in zip(*np.nonzero(cells), strict=True):
        a, b = int(a), int(b)
        sides = [("s", a, b), ("t", a + 1, b), ("s", a, b + 1), ("t", a, b)]  # around the cell
        crossed = [number[side] for side in sides if side in number]
        if len(crossed) == 2:
            links.append((crossed[0], crossed[1]))
        elif len(crossed) == 4:
            # a saddle: the value in the middle says which pairs belong together
            middle = coplanarity(curve, p, q, np.array(0.5 * (s[a] + s[a + 1])), np.array(0.5 * (t[b] + t[b + 1])))
            if (middle > 0.0) == up[a, b]:
                links += [(crossed[0], crossed[1]), (crossed[2], crossed[3])]
            else:
                links += [(crossed[0], crossed[3]), (crossed[1], crossed[2])]
    arcs = []
    for chain in _chains(links, len(places)):
        arcs += _monotone(places[chain, 0], places[chain, 1])
    return arcs


def _spread(x: FloatArray) -> FloatArray:
    """The largest of each number and its neighbours: errors of splines change their sign from point to point."""
    padded = np.concatenate([x[:2], x, x[-2:]])
    return np.max([padded[k : k + len(x)] for k in range(5)], axis=0)


def _cells(up: BoolArray, inside: BoolArray, small: BoolArray) -> BoolArray:
    """Cells through which the zero set passes: whole inside, of both signs, not flat."""

    def corners(x: BoolArray) -> list[BoolArray]:
        return [x[:-1, :-1], x[1:, :-1], x[:-1, 1:], x[1:, 1:]]

    whole = np.logical_and.reduce(corners(inside))
    flat = np.logical_and.reduce(corners(small))
    mixed = np.logical_or.reduce(corners(up)) & ~np.logical_and.reduce(corners(up))
    return np.asarray(whole & mixed & ~flat)


def _chains(links: list[tuple[int, int]], count: int) -> list[list[int]]:
    """Links between numbered places, each in at most two links, joined to chains; closed ones are cut anywhere."""
    neighbours: list[list[int]] = [[] for _ in range(count)]
    for a, b in links:
        neighbours[a].append(b)
        neighbours[b].append(a)
    seen = [False] * count
    chains = []
    # ends first, then what is left: closed chains
    for start in sorted(range(count), key=lambda e: len(neighbours[e]) != 1):
        if seen[start] or not neighbours[start]:
            continue
        chain, here = [start], start
        seen[start] = True
        while (following := next((e for e in neighbours[here] if not seen[e]), None)) is not None:
            chain.append(following)
            seen[following] = True
            here = following
        chains.append(chain)
    return chains


def _monotone(s: FloatArray, t: FloatArray) -> list[Arc]:
    """The parts of a chain along which, in one of its directions, s falls and t rises."""
    arcs = []
    for x, y in ((s, t), (s[::-1], t[::-1])):
        # single steps may go back by rounding when a curve runs along a grid line
        slack = 1e-9 * (np.abs(x).max() + np.abs(y).max())
        good = (np.diff(x) <= slack) & (np.diff(y) >= -slack)
        edges = np.flatnonzero(np.diff(np.concatenate([[0], good.astype(np.int8), [0]])))
        for a, b in zip(edges[::2], edges[1::2], strict=True):
            if y[b] - x[b] > y[a] - x[a]:
                arcs.append(Arc(x[a : b + 1].copy(), y[a : b + 1].copy()))
    return arcs
