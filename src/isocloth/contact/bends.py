"""Where the cloth bends over sharp edges of bodies: contacts of its lines, as smooth curves, with these edges.

The gap is the distance of an edge from the curve (`lines.py`), along the common perpendicular of the two, negative if
the edge has come through. At the closest point its gradient is the normal times the curve's weights of four nodes, as
those move along the curve to first order in vain: so the force follows from a potential, and the work of a strip that
is pulled over an edge is that of its weight. The normal is perpendicular to the curve, and turns without a jump
while nodes pass. A contact is one if the normal is between those of the faces that meet at the edge; else the cloth
lies on one of them.
"""

from __future__ import annotations

import math

import numpy as np

from isocloth.base.compiled import kernel
from isocloth.base.typing import BoolArray, FloatArray, IntArray
from isocloth.contact.broad import LEVELS, file_boxes, look, swept_boxes
from isocloth.contact.contact_set import ContactSet, empty_contacts
from isocloth.contact.distance import Point, Points, Weights, cross, dot, minus
from isocloth.contact.lines import Lines
from isocloth.obstacles.sharp import SharpEdges

#: places on a piece from which its closest point is looked for
TRIES = 5

#: iterations of Newton's method there, and how exact its place becomes
ITERATIONS = 12
EXACT = 1e-9

#: how far a piece may be beyond its end, of its length: the next one may not have it either, by rounding
BEYOND = 1e-6

#: m: as near as that two contacts of a line are one
SAME = 1e-6

#: by how much a normal may leave the cone between two faces: a sheet that lies on one of them is on its border
ASIDE = 1e-3

#: of the edges of the cloth: an edge of a body that is further inside than this has not come through here, unless it
#: was outside at the begin of the step. A right angle at a node puts the curve inside by 0.24
INSIDE = 0.3

#: of the angle of an edge: the most that a bend over it counts as turned. Coarse cloth rises before an edge and turns
#: by more; what it turns by over the next edge is not this one's
STEEPER = 1.2

#: sine of the largest angle of friction of a bend: beyond it no single force could do the work; with 0.98 sheets thrown
#: on the edge of a board at 15 and 20 m/s passed it in a step that was refused, with 0.9 none does at 1 to 25 m/s
STEEPEST = 0.9

#: how a piece is to an edge
NOT, OVER, DEEP = 0, 1, 2

#: how often the tangent of a rim is taken anew
TANGENTS = 4

#: part of what a curve is inside at the begin of a step that stays at its end: a cloth that is put around an edge as
#: rods must not be thrown off it
KEPT = 0.9


@kernel
def _row(x: FloatArray, i: int) -> Point:
    return x[i, 0], x[i, 1], x[i, 2]


@kernel
def _across(r: Point, e: Point) -> Point:
    """What of r is perpendicular to the unit vector e."""
    s = dot(r, e)
    return r[0] - s * e[0], r[1] - s * e[1], r[2] - s * e[2]


@kernel
def weights_at(v: float) -> Weights:
    """Of the four nodes of a piece, at a place from 0 to 1."""
    w, u = 1.0 - v, v * v
    return w * w * w / 6.0, (3.0 * u * v - 6.0 * u + 4.0) / 6.0, (1.0 + 3.0 * (v + u - u * v)) / 6.0, u * v / 6.0


@kernel
def _slopes(v: float) -> Weights:
    """Derivatives of these weights."""
    w = 1.0 - v
    return -0.5 * w * w, 1.5 * v * v - 2.0 * v, 0.5 + v - 1.5 * v * v, 0.5 * v * v


@kernel
def _sum(w: Weights, x: Points) -> Point:
    return (
        w[0] * x[0][0] + w[1] * x[1][0] + w[2] * x[2][0] + w[3] * x[3][0],
        w[0] * x[0][1] + w[1] * x[1][1] + w[2] * x[2][1] + w[3] * x[3][1],
        w[0] * x[0][2] + w[1] * x[1][2] + w[2] * x[2][2] + w[3] * x[3][2],
    )


@kernel
def piece_of(lines: Lines, piece: int, x: FloatArray) -> Points:
    """The four points of a piece at x (n, 3): beyond an end it goes straight on."""
    i, j, k, l = lines.nodes[piece, 0], lines.nodes[piece, 1], lines.nodes[piece, 2], lines.nodes[piece, 3]
    b, c = _row(x, j), _row(x, k)
    a = _row(x, i) if i != j else (2.0 * b[0] - c[0], 2.0 * b[1] - c[1], 2.0 * b[2] - c[2])
    d = _row(x, l) if l != k else (2.0 * c[0] - b[0], 2.0 * c[1] - b[1], 2.0 * c[2] - b[2])
    return a, b, c, d


@kernel
def nearest_place(x: Points) -> float:
    """The place on a piece that is nearest to the origin, from 0 to 1."""
    best, place = math.inf, 0.0
    for k in range(TRIES):
        v = k / (TRIES - 1.0)
        p = _sum(weights_at(v), x)
        square = dot(p, p)
        if square < best:
            best, place = square, v
    for _ in range(ITERATIONS):
        p, t = _sum(weights_at(place), x), _sum(_slopes(place), x)
        bend = _sum((1.0 - place, 3.0 * place - 2.0, 1.0 - 3.0 * place, place), x)
        slope = dot(t, t)
        move = -dot(p, t) / max(slope + dot(p, bend), 0.3 * slope, 1e-300)
        new = min(max(place + move, 0.0), 1.0)
        move = new - place
        place = new
        if abs(move) < EXACT:
            break
    return place


@kernel
def touch(edges: SharpEdges, e: int, x: Points) -> tuple[int, float, Point, float, Point]:
    """Whether a piece with points x passes over edge e (NOT, OVER, or DEEP if the edge is far inside); where it does:
    its place, normal, distance, m, and the point of the edge.

    The distance is signed, negative if the edge has come through.
    """
    nowhere = (0.0, 0.0, 0.0)
    start, first, second = _row(edges.start, e), _row(edges.first, e), _row(edges.second, e)
    place, turns = 0.5, 1
    origin, length = start, math.inf
    d = minus(_row(edges.end, e), start)
    if edges.radius[e] > 0.0:
        turns = TANGENTS
    else:
        length = math.sqrt(dot(d, d))
        d = (d[0] / length, d[1] / length, d[2] / length)
    for _ in range(turns):
        if edges.radius[e] > 0.0:  # a circle is its tangent where the curve is nearest
            out = _across(minus(_sum(weights_at(place), x), start), first)
            far = math.sqrt(dot(out, out))
            if far <= 1e-9 * edges.radius[e]:
                return NOT, 0.0, nowhere, 0.0, nowhere
            second = (out[0] / far, out[1] / far, out[2] / far)
            d = cross(first, second)
            r = edges.radius[e]
            origin = (start[0] + r * second[0], start[1] + r * second[1], start[2] + r * second[2])
        seen = (
            _across(minus(x[0], origin), d), _across(minus(x[1], origin), d), _across(minus(x[2], origin), d),
            _across(minus(x[3], origin), d),
        )  # fmt: skip
        place = nearest_place(seen)
    p, t = _sum(weights_at(place), seen), _sum(_slopes(place), seen)
    speed = math.sqrt(dot(t, t))
    whole = minus(x[2], x[1])
    longest = math.sqrt(dot(whole, whole))
    if speed <= 1e-3 * longest or abs(dot(p, t)) > BEYOND * longest * speed:
        return NOT, 0.0, nowhere, 0.0, nowhere
    n = cross(d, t)
    size = math.sqrt(dot(n, n))
    n = (n[0] / size, n[1] / size, n[2] / size)
    one, two = dot(n, first), dot(n, second)
    if one + two < 0.0:
        n, one, two = (-n[0], -n[1], -n[2]), -one, -two
    corner = dot(first, second)
    if one - corner * two < -ASIDE or two - corner * one < -ASIDE:
        return NOT, 0.0, nowhere, 0.0, nowhere
    distance = dot(p, n)
    kind = DEEP if -distance > min(INSIDE * longest, edges.depth[e]) else OVER
    at = minus(_sum(weights_at(place), x), origin)
    along = dot(at, d)
    if edges.radius[e] == 0.0 and (along < 0.0 or along >= length):
        return NOT, 0.0, nowhere, 0.0, nowhere
    return kind, place, n, distance, (
        origin[0] + along * d[0], origin[1] + along * d[1], origin[2] + along * d[2]
    )  # fmt: skip


@kernel
def _angle(u: Point, v: Point) -> float:
    across = cross(u, v)
    return math.atan2(math.sqrt(dot(across, across)), dot(u, v))


@kernel
def _grip(
    lines: Lines, piece: int, v: float, y: FloatArray, edges: SharpEdges, e: int, friction: float
) -> float:  # fmt: skip
    """Coefficient of friction of the resultant force of a bend.

    Around an edge the cloth turns by an angle w, pressed on everywhere, and its tension grows by exp(mu w) (Eytelwein).
    The resultant of all pressures is less than their sum: for one force to bear as much, its coefficient has to be
    sinh(mu w/2) / sin(w/2). And the curve is shorter than the cloth: to do the work of the tensions, the part of the
    resultant that acts along it, the sine of the angle of friction, has to be greater by as much.
    """
    x = piece_of(lines, piece, y)
    before, after = minus(x[1], x[0]), minus(x[3], x[2])
    if lines.beyond[piece, 0] != lines.nodes[piece, 0]:
        before = minus(x[0], _row(y, lines.beyond[piece, 0]))
    if lines.beyond[piece, 1] != lines.nodes[piece, 3]:
        after = minus(_row(y, lines.beyond[piece, 1]), x[3])
    turned = _angle(before, after)
    corner = 0.5 * math.pi
    if edges.radius[e] == 0.0:
        corner = math.acos(min(max(dot(_row(edges.first, e), _row(edges.second, e)), -1.0), 1.0))
    angle = min(turned, STEEPER * corner, math.pi)
    fan = math.sinh(0.5 * friction * angle) / math.sin(0.5 * angle) if angle > 1e-6 else friction
    t, whole = _sum(_slopes(v), x), minus(x[2], x[1])
    longer = min(math.sqrt(dot(whole, whole) / max(dot(t, t), 1e-300)), 2.0)
    part = min(longer * fan / math.sqrt(1.0 + fan * fan), STEEPEST)
    return part / math.sqrt(1.0 - part * part)


@kernel
def pieces_near(
    lines: Lines, begin: SharpEdges, end: SharpEdges, x0: FloatArray, y: FloatArray, reach: float
) -> IntArray:
    """Pairs (p, 2) of pieces and edges whose boxes come within `reach`, m, on the way from x0 to y (n, 3)."""
    boxes = swept_boxes(x0, y, np.zeros(3), lines.nodes)
    grid = file_boxes(boxes, np.arange(len(boxes)), 0.0, LEVELS)
    hits = np.empty(len(boxes), dtype=np.int64)
    pairs = np.empty((len(boxes), 2), dtype=np.int64)
    count = 0
    box = np.empty((1, 6))
    for e in range(len(end.radius)):
        for c in range(3):
            spread = end.radius[e]
            box[0, c] = min(begin.start[e, c], begin.end[e, c], end.start[e, c], end.end[e, c]) - spread
            box[0, 3 + c] = max(begin.start[e, c], begin.end[e, c], end.start[e, c], end.end[e, c]) + spread
        found = look(grid, box, 0, reach, -1, hits)
        if count + found > len(pairs):
            more = np.empty((2 * (count + found), 2), dtype=np.int64)
            more[:count] = pairs[:count]
            pairs = more
        for q in range(found):
            pairs[count, 0], pairs[count, 1] = hits[q], e
            count += 1
    return pairs[:count]


@kernel
def _known(lines: Lines, pairs: IntArray, chosen: IntArray, q: int, at: FloatArray, point: Point) -> bool:
    """Whether the line of pair q has been found on its edge at a point already: where two pieces meet, both have it."""
    for m in range(len(chosen)):
        known = chosen[m]
        if pairs[known, 1] == pairs[q, 1] and lines.line[pairs[known, 0]] == lines.line[pairs[q, 0]]:
            apart = minus(_row(at, m), point)
            if dot(apart, apart) < SAME * SAME:
                return True
    return False


@kernel
def _nth_piece(lines: Lines, line: int, n: int) -> int:
    """The number of a line's nth piece; the 0th is the number of the line."""
    for piece in range(len(lines.line)):
        if lines.line[piece] == line:
            if n == 0:
                return piece
            n -= 1
    return line


@kernel
def bends(
    lines: Lines, begin: SharpEdges, end: SharpEdges, pairs: IntArray, x0: FloatArray, y: FloatArray, held: BoolArray,
    friction: FloatArray, half: float, margin: float, forgiven: float,
) -> tuple[ContactSet, IntArray, FloatArray]:  # fmt: skip
    """Contacts at y (n, 3) among pairs (p, 2) of pieces and edges; those of held nodes are left out.

    friction: (e,) of the bodies of the edges. half: distance to be kept, m. margin: gap up to which contacts are found,
    m. forgiven: how far a piece may be inside at the begin, x0, and be pushed out at once, m. Besides, the edges (c,)
    of the contacts, whose keys and bodies are not set yet, and the places (c, 3) m on them. A key is that of the line;
    where it is on an edge again, that of its next piece: whichever pieces slide over the edge, keys stay.
    """
    chosen = np.empty(len(pairs), dtype=np.int64)
    place, depth, grip = np.empty(len(pairs)), np.empty(len(pairs)), np.empty(len(pairs))
    normal, at = np.empty((len(pairs), 3)), np.empty((len(pairs), 3))
    count = 0
    for q in range(len(pairs)):
        piece, e = pairs[q, 0], pairs[q, 1]
        i, j, k, l = lines.nodes[piece, 0], lines.nodes[piece, 1], lines.nodes[piece, 2], lines.nodes[piece, 3]
        if held[i] and held[j] and held[k] and held[l]:
            continue
        kind, v, n, distance, point = touch(end, e, piece_of(lines, piece, y))
        if kind == NOT or distance >= half + margin:
            continue
        if min(v, 1.0 - v) < BEYOND and _known(lines, pairs, chosen[:count], q, at, point):
            continue
        gap = distance - half
        if gap < 0.0:
            before, _, _, began, _ = touch(begin, e, piece_of(lines, piece, x0))
            if kind == DEEP and (before != OVER or began < 0.0):
                continue  # on another side of the body from the begin, not come through within the step
            if kind == OVER and before == OVER:
                gap -= min(0.0, KEPT * (began - half + forgiven))
        chosen[count], place[count], depth[count] = q, v, gap
        grip[count] = _grip(lines, piece, v, y, end, e, friction[e])
        for d in range(3):
            normal[count, d], at[count, d] = n[d], point[d]
        count += 1
    out = empty_contacts(count)
    for m in range(count):
        nodes = lines.nodes[pairs[chosen[m], 0]]
        wa, wb, wc, wd = weights_at(place[m])
        if nodes[0] == nodes[1]:
            wa, wb, wc = 0.0, wb + 2.0 * wa, wc - wa
        if nodes[3] == nodes[2]:
            wd, wc, wb = 0.0, wc + 2.0 * wd, wb - wd
        w = (wa, wb, wc, wd)
        for q in range(4):
            out.nodes[m, q], out.weights[m, q] = nodes[q], w[q]
            for d in range(3):
                out.slip[m, d] += w[q] * (y[nodes[q], d] - x0[nodes[q], d])
        for d in range(3):
            out.normal[m, d] = normal[m, d]
        out.gap[m], out.friction[m] = depth[m], grip[m]
        piece, edge = pairs[chosen[m], 0], pairs[chosen[m], 1]
        out.key[m] = lines.line[piece]
        before = 0
        for other in chosen[:count]:
            if pairs[other, 1] == edge and pairs[other, 0] < piece and lines.line[pairs[other, 0]] == lines.line[piece]:
                before += 1
        if before > 0:
            out.key[m] = _nth_piece(lines, lines.line[piece], before)
    return out, pairs[chosen[:count], 1], at[:count]
