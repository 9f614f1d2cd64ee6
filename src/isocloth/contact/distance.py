"""Closest points of a node and a face, and of two edges.

A pair is four points: (node, corner, corner, corner) or (end, end of edge a, end, end of edge b). Closest points come
as signed weights w: sum_k w_k x_k is the vector from the closest point of side b to that of side a, and its length the
distance. The gradient of the distance with respect to x_k is w_k times the unit vector: the weights move as well, but
to first order that does not count.

Points are tuples of three numbers, in m: passed by value, where arrays would cost more than the formulas.
"""

from __future__ import annotations

import math

from isocloth.base.compiled import inlined, kernel
from isocloth.base.typing import FloatArray

Point = tuple[float, float, float]
Points = tuple[Point, Point, Point, Point]
Weights = tuple[float, float, float, float]

NODE_FACE = 0
EDGE_EDGE = 1

#: sin^2 of the angle below which a triangle counts as a segment, and two edges as parallel
FLAT = 1e-12
PARALLEL = 1e-10


@kernel
def gather(x: FloatArray, i: int, j: int, k: int, l: int) -> Points:
    """The points of four vertices of x (V, 3)."""
    return (
        (x[i, 0], x[i, 1], x[i, 2]),
        (x[j, 0], x[j, 1], x[j, 2]),
        (x[k, 0], x[k, 1], x[k, 2]),
        (x[l, 0], x[l, 1], x[l, 2]),
    )


@kernel
def minus(a: Point, b: Point) -> Point:
    """a - b."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@kernel
def dot(a: Point, b: Point) -> float:
    """a . b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel
def cross(a: Point, b: Point) -> Point:
    """a x b."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@kernel
def _on_segment(p: Point, a: Point, b: Point) -> tuple[float, float]:
    """Squared distance (m^2) of p from the segment ab, and the place of the closest point, from 0 at a to 1 at b."""
    u, q = minus(b, a), minus(p, a)
    square = dot(u, u)
    s = 0.0
    if square > 0.0:
        s = min(max(dot(u, q) / square, 0.0), 1.0)
    r = (q[0] - s * u[0], q[1] - s * u[1], q[2] - s * u[2])
    return dot(r, r), s


@kernel
def _flat_triangle(p: Point, a: Point, b: Point, c: Point) -> tuple[float, float, float, float]:
    """As `point_triangle`, for one without area: the union of its sides."""
    best, s = _on_segment(p, a, b)
    wa, wb, wc = 1.0 - s, s, 0.0
    for side in range(2):
        square, s = _on_segment(p, b if side == 0 else a, c)
        if square < best:
            best, wa, wb, wc = square, (0.0 if side == 0 else 1.0 - s), (1.0 - s if side == 0 else 0.0), s
    return best, wa, wb, wc


@kernel
def point_triangle(p: Point, a: Point, b: Point, c: Point) -> tuple[float, float, float, float]:
    """Squared distance (m^2) of p from the triangle abc, and the barycentric weights of the closest point.

    The plane is divided into the regions of the triangle's corners, sides and inside (Ericson 2004, section 5.1.5).
    On a side or in a corner the other weights are zero exactly.
    """
    u, v, q = minus(b, a), minus(c, a), minus(p, a)
    uu, uv, vv = dot(u, u), dot(u, v), dot(v, v)
    area = uu * vv - uv * uv
    if area <= FLAT * uu * vv:
        return _flat_triangle(p, a, b, c)
    # the point seen from a, b and c, along the sides u and v
    au, av = dot(u, q), dot(v, q)
    bu, bv = au - uu, av - uv
    cu, cv = au - uv, av - vv
    wa, wb, wc = 0.0, 0.0, 0.0
    if au <= 0.0 and av <= 0.0:
        wa = 1.0
    elif bu >= 0.0 and bv <= bu:
        wb = 1.0
    elif cv >= 0.0 and cu <= cv:
        wc = 1.0
    else:
        area_a, area_b, area_c = bu * cv - cu * bv, cu * av - au * cv, au * bv - bu * av
        if area_c <= 0.0 and au >= 0.0 and bu <= 0.0:
            wb = au / uu
            wa = 1.0 - wb
        elif area_b <= 0.0 and av >= 0.0 and cv <= 0.0:
            wc = av / vv
            wa = 1.0 - wc
        elif area_a <= 0.0 and bv >= bu and cu >= cv:
            wc = (bv - bu) / ((bv - bu) + (cu - cv))
            wb = 1.0 - wc
        else:
            scale = 1.0 / (area_a + area_b + area_c)
            wb, wc = area_b * scale, area_c * scale
            wa = 1.0 - wb - wc
    r = (q[0] - wb * u[0] - wc * v[0], q[1] - wb * u[1] - wc * v[1], q[2] - wb * u[2] - wc * v[2])
    return dot(r, r), wa, wb, wc


@kernel
def _nearest_end(a: Point, b: Point, c: Point, d: Point) -> tuple[float, float, float]:
    """As `segment_segment`, among ways from one of the four ends."""
    best, s, t = math.inf, 0.0, 0.0
    for end in range(4):
        if end < 2:
            square, place = _on_segment(a if end == 0 else b, c, d)
        else:
            square, place = _on_segment(c if end == 2 else d, a, b)
        if square < best:
            best = square
            s, t = (float(end), place) if end < 2 else (place, float(end - 2))
    return best, s, t


@kernel
def segment_segment(a: Point, b: Point, c: Point, d: Point) -> tuple[float, float, float]:
    """Squared distance (m^2) of the segments ab and cd, and the places of the closest points on them, from 0 to 1."""
    u, v, r = minus(b, a), minus(d, c), minus(a, c)
    uu, uv, vv = dot(u, u), dot(u, v), dot(v, v)
    ur, vr = dot(u, r), dot(v, r)
    determinant = uu * vv - uv * uv
    s, t = 0.0, 0.0
    if determinant > 0.0:
        s = min(max((uv * vr - ur * vv) / determinant, 0.0), 1.0)
    # no branches on where the points are, which no processor could predict: given t inside, s comes out the same again
    if uu > 0.0 and vv > 0.0:
        t = min(max((uv * s + vr) / vv, 0.0), 1.0)
        s = min(max((uv * t - ur) / uu, 0.0), 1.0)
    r = (r[0] + s * u[0] - t * v[0], r[1] + s * u[1] - t * v[1], r[2] + s * u[2] - t * v[2])
    best = dot(r, r)
    if determinant <= PARALLEL * uu * vv:
        # s is mostly rounding: the shortest way from an end is never much longer than the shortest of all
        square, end_s, end_t = _nearest_end(a, b, c, d)
        if square < best:
            best, s, t = square, end_s, end_t
    return best, s, t


@inlined
def closest(kind: int, x: Points) -> tuple[float, Weights]:
    """Squared distance (m^2) of a pair and the signed weights of its closest points."""
    if kind == NODE_FACE:
        square, wa, wb, wc = point_triangle(x[0], x[1], x[2], x[3])
        return square, (1.0, -wa, -wb, -wc)
    square, s, t = segment_segment(x[0], x[1], x[2], x[3])
    return square, (1.0 - s, s, t - 1.0, -t)


@kernel
def combine(w: Weights, x: Points) -> Point:
    """sum_k w_k x_k for weights that add up to zero: relative to one point, to lose no digits far from the origin."""
    a, b, c = minus(x[0], x[3]), minus(x[1], x[3]), minus(x[2], x[3])
    return (
        w[0] * a[0] + w[1] * b[0] + w[2] * c[0],
        w[0] * a[1] + w[1] * b[1] + w[2] * c[1],
        w[0] * a[2] + w[1] * b[2] + w[2] * c[2],
    )
