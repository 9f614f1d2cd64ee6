"""Corners of bodies against faces of the cloth, within one step.

A corner and a face are a pair like those of two layers: found by their boxes, kept on the side where the step began,
and followed continuously in time (`narrow.py`). Only that the side is known beforehand: where a corner begins a little
inside, as of a table on which a cloth was laid at its very height, it is pushed back through the face; where it begins
further inside, the face lies on another side of the body, or was cut from the begin, and is not this corner's.

Where a line of the cloth bends over an edge (`bends.py`) nothing is counted twice: the curve touches there, and the
faces, whose corners are its control points, are further out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from isocloth.base.compiled import kernel
from isocloth.base.typing import BoolArray, FloatArray, IntArray
from isocloth.contact.contact_set import ContactSet, of_pairs
from isocloth.contact.distance import NODE_FACE, closest, combine, cross, dot, gather, minus
from isocloth.contact.narrow import NO_SIDE, Contacts, contacts, crossings, pair_key, smallest_distance
from isocloth.contact.surface import Feature, Pairs, Surface, build_surface
from isocloth.obstacles.corners import SharpCorners
from isocloth.obstacles.sharp import SharpEdges

#: by how much a direction may leave the cone of the edges of a corner and still lead into the body
ASIDE = 1e-3

#: least sine of the angle between a face and an edge of a body that passes through it
CUT = 0.2

#: a point on the border of two faces is in both of them, or it could be in none
ROUNDING = 1e-9

#: vertices and faces in the key of a pair (`narrow.pair_key`)
BITS = 31

NO_EDGES = np.zeros((0, 2), dtype=np.int64)
NO_FACES = np.zeros((0, 3), dtype=np.int64)


class CornerSurface(NamedTuple):
    """The cloth, and all corners behind its nodes."""

    surface: Surface
    owner: IntArray  #: (k,) which of the obstacles a corner belongs to
    number: IntArray  #: (k,) which of its corners it is
    bodies: IntArray  #: (b,) numbers of the obstacles by the body of the surface; the first is the cloth


def build_corners(
    count: int, triangles: IntArray, thickness: float, sizes: Sequence[int]
) -> CornerSurface:  # fmt: skip
    """Of a cloth of `count` nodes and `triangles` (m, 3), beside obstacles with so many corners each."""
    owners = [k for k, size in enumerate(sizes) if size]
    features = [Feature(sizes[k], NO_EDGES, NO_FACES, 0.5 * thickness) for k in owners]
    return CornerSurface(
        build_surface(count, triangles, thickness, features), np.repeat(np.arange(len(sizes)), sizes),
        np.concatenate([np.arange(0), *[np.arange(size) for size in sizes]]),
        np.array([0] + [k + 1 for k in owners], dtype=np.int64),
    )  # fmt: skip


def cut_off(
    edges: SharpEdges, positions: FloatArray, triangles: IntArray, allowed: float
) -> tuple[IntArray, FloatArray]:
    """Faces (p,) that straight edges of a body pass through at positions (n, 3), and where (p, 3) they do.

    allowed: m, by which an end of an edge may be through. A face that is almost along an edge is not passed: a cloth
    that was put around an edge as rods may begin like this.
    """
    low, high = positions.min(axis=0), positions.max(axis=0)
    least, most = np.minimum(edges.start, edges.end), np.maximum(edges.start, edges.end)
    near = np.flatnonzero((edges.radius == 0.0) & (most >= low).all(axis=1) & (least <= high).all(axis=1))
    faces, places = [np.zeros(0, dtype=np.int64)], [np.zeros((0, 3))]
    if len(near):
        a, u, v = (positions[triangles[:, q]] for q in range(3))
        u, v = u - a, v - a
        normal = np.cross(u, v)
        normal /= np.maximum(np.linalg.norm(normal, axis=1), 1e-300)[:, None]
    for e in near:
        along = edges.end[e] - edges.start[e]
        first = np.einsum("fd,fd->f", normal, edges.start[e] - a)
        last = first + normal @ along
        through = (first * last < 0.0) & (np.minimum(np.abs(first), np.abs(last)) > allowed)
        through &= np.abs(last - first) > CUT * np.linalg.norm(along)
        chosen = np.flatnonzero(through)
        at = edges.start[e] + (first / np.where(through, first - last, 1.0))[chosen, None] * along
        # shares of the corners of a face, by the areas that the point cuts it into
        inside = np.ones(len(chosen), dtype=bool)
        for p, side in ((a, u), (a + u, v - u), (a + v, -v)):
            turned = np.einsum("fd,fd->f", np.cross(side[chosen], at - p[chosen]), normal[chosen])
            inside &= turned >= -ROUNDING * np.einsum("fd,fd->f", side[chosen], side[chosen])
        faces.append(chosen[inside])
        places.append(at[inside])
    return np.concatenate(faces), np.concatenate(places)


class CornersOfStep:
    """Corners on their way from `begin` to `end`, beside a cloth that starts at `before` (n, 3).

    margin: m, by which the boxes of pairs are wider than needed, so that iterates near each other share them.
    """

    def __init__(
        self, corners: CornerSurface, begin: SharpCorners, end: SharpCorners, before: FloatArray, margin: float
    ) -> None:
        self._corners, self._begin, self._end = corners, begin, end
        self._before, self._margin = before, margin
        self._looked_at: FloatArray | None = None
        self._pairs, self._sunk = NO_EDGES, NO_EDGES

    def find(
        self, y: FloatArray, held: BoolArray, rest: FloatArray, omega: float, margin: float, friction: FloatArray
    ) -> tuple[list[ContactSet], list[IntArray], list[IntArray]]:
        """Contacts at the iterate y (n, 3), some sets of them, with the corners and faces of each.

        Keys are not set yet. friction: by body of the surface. Others as in `narrow.contacts`.
        """
        self._look(y)
        sets: list[ContactSet] = []
        corner: list[IntArray] = []
        face: list[IntArray] = []
        if len(self._pairs) + len(self._sunk) == 0:
            return sets, corner, face
        surface, x0, whole = self._corners.surface, self._at_begin(), self._whole(y)
        found = []
        if len(self._pairs):
            pairs = Pairs(self._pairs, NO_EDGES)
            found.append(contacts(surface, pairs, x0, whole, rest, omega, margin))
        if len(self._sunk):
            found.append(sunk_contacts(surface, self._sunk, whole, self._end.inward, margin))
        for part in found:
            kept: ContactSet = of_pairs(part, x0, whole, len(y), held, friction, self._corners.bodies)
            if len(kept.gap):
                sets.append(kept)
                corner.append((kept.key >> BITS) - len(y))
                face.append(kept.key & (2**BITS - 1))
        return sets, corner, face

    def precompile(self, held: BoolArray, rest: FloatArray, friction: FloatArray) -> None:
        """Load, or compile, what the first contact will need."""
        surface, y = self._corners.surface, self._at_begin()
        side = sides(surface, NO_EDGES, y, self._begin.inward, self._begin.depth)
        pairs = Pairs(NO_EDGES[side == OUTSIDE], NO_EDGES)
        for found in (
            contacts(surface, pairs, y, y, rest, 0.0, 0.0), sunk_contacts(surface, NO_EDGES, y, self._end.inward, 0.0)
        ):  # fmt: skip
            of_pairs(found, y, y, len(self._before), held, friction, self._corners.bodies)
        crossings(surface, pairs, y, y)

    def crossings(self, y: FloatArray) -> int:
        """Corners that pass through faces on the straight way to y (n, 3)."""
        self._look(y)
        if len(self._pairs) == 0:
            return 0
        pairs = Pairs(self._pairs, NO_EDGES)
        return len(crossings(self._corners.surface, pairs, self._at_begin(), self._whole(y)))

    def smallest_gap(self, y: FloatArray, rest: FloatArray) -> float:
        """Smallest distance less the separation that is to be kept, m; infinite where no corner is near."""
        self._look(y)
        if len(self._pairs) == 0:
            return math.inf
        return float(smallest_distance(self._corners.surface, Pairs(self._pairs, NO_EDGES), self._whole(y), rest))

    def _at_begin(self) -> FloatArray:
        return np.concatenate([self._before, self._begin.place])

    def _whole(self, y: FloatArray) -> FloatArray:
        return np.concatenate([y, self._end.place])

    def _look(self, y: FloatArray) -> None:
        """Find pairs, unless those of an iterate nearby will do."""
        if self._looked_at is not None and np.abs(y - self._looked_at).max() <= 0.25 * self._margin:
            return
        self._looked_at = y.copy()
        surface = self._corners.surface
        near = pairs_near(surface, self._before, y, self._begin.place, self._end.place, self._margin)
        self._pairs = self._sunk = NO_EDGES
        if len(near):
            begin = self._begin
            side = sides(surface, near, self._at_begin(), begin.inward, begin.depth)
            self._pairs, self._sunk = near[side == OUTSIDE], near[side == SUNK]


#: how a face is to a corner at the begin of a step
OUTSIDE, SUNK, ELSEWHERE = 0, 1, 2


@kernel
def pairs_near(
    surface: Surface, x0: FloatArray, y: FloatArray, begin: FloatArray, end: FloatArray, margin: float
) -> IntArray:
    """Pairs (p, 2) of vertices that are corners, and faces, whose boxes come within the separation and a margin, m.

    The cloth goes from x0 to y (n, 3), the corners from `begin` to `end` (k, 3).
    """
    count, faces = len(x0), surface.faces
    low, high = np.full(3, math.inf), np.full(3, -math.inf)
    for i in range(count):
        for c in range(3):
            low[c], high[c] = min(low[c], x0[i, c], y[i, c]), max(high[c], x0[i, c], y[i, c])
    near = np.empty(len(begin), dtype=np.int64)
    some = 0
    for k in range(len(begin)):
        reach, apart = surface.reach[surface.body[count + k]] + margin, False
        for c in range(3):
            apart = apart or min(begin[k, c], end[k, c]) - reach > high[c]
            apart = apart or max(begin[k, c], end[k, c]) + reach < low[c]
        if not apart:
            near[some] = k
            some += 1
    pairs = np.empty((16, 2), dtype=np.int64)
    found = 0
    for f in range(len(faces) if some else 0):
        for c in range(3):
            low[c], high[c] = math.inf, -math.inf
            for q in range(3):
                i = faces[f, q]
                low[c], high[c] = min(low[c], x0[i, c], y[i, c]), max(high[c], x0[i, c], y[i, c])
        for m in range(some):
            k = near[m]
            reach, apart = surface.reach[surface.body[count + k]] + margin, False
            for c in range(3):
                apart = apart or min(begin[k, c], end[k, c]) - reach > high[c]
                apart = apart or max(begin[k, c], end[k, c]) + reach < low[c]
            if apart:
                continue
            if found == len(pairs):
                more = np.empty((2 * found, 2), dtype=np.int64)
                more[:found] = pairs
                pairs = more
            pairs[found, 0], pairs[found, 1] = count + k, f
            found += 1
    return pairs[:found]


@kernel
def sides(surface: Surface, pairs: IntArray, x: FloatArray, inward: FloatArray, depth: FloatArray) -> IntArray:
    """How (p,) faces are to corners, of pairs (p, 2), with all vertices at x (V, 3): OUTSIDE, SUNK or ELSEWHERE."""
    out = np.full(len(pairs), OUTSIDE)
    first = len(x) - len(depth)
    for p in range(len(pairs)):
        i, f = pairs[p, 0], pairs[p, 1]
        points = gather(x, i, surface.faces[f, 0], surface.faces[f, 1], surface.faces[f, 2])
        square, w = closest(NODE_FACE, points)
        distance = math.sqrt(square)
        if distance <= NO_SIDE:
            out[p] = SUNK
            continue
        way = combine(w, points)  # from the face to the corner
        least, total, k = math.inf, 0.0, i - first
        for q in range(3):
            along = -(way[0] * inward[k, q, 0] + way[1] * inward[k, q, 1] + way[2] * inward[k, q, 2]) / distance
            least = min(least, along)
            total += along
        if least >= -ASIDE and total > 0.5:  # the face is where the body is
            out[p] = SUNK if distance <= min(surface.reach[surface.body[i]], depth[k]) else ELSEWHERE
    return out


@kernel
def sunk_contacts(surface: Surface, pairs: IntArray, y: FloatArray, inward: FloatArray, margin: float) -> Contacts:
    """Contacts of pairs (p, 2) whose corners begin a little inside: out through the face, along its normal at y.

    All vertices are at y (V, 3). A face that has edges of the body on both sides is theirs, and one that is
    not in front of the corner another's.
    """
    count, first = 0, len(y) - len(inward)
    nodes, weights = np.empty((len(pairs), 4), dtype=np.int64), np.empty((len(pairs), 4))
    normal, gap = np.empty((len(pairs), 3)), np.empty(len(pairs))
    key, body = np.empty(len(pairs), dtype=np.int64), np.empty(len(pairs), dtype=np.int64)
    for p in range(len(pairs)):
        i, f = pairs[p, 0], pairs[p, 1]
        j, k, l = surface.faces[f, 0], surface.faces[f, 1], surface.faces[f, 2]
        x = gather(y, i, j, k, l)
        n = cross(minus(x[2], x[1]), minus(x[3], x[1]))
        size = math.sqrt(dot(n, n))
        if size == 0.0:
            continue
        lowest, highest = math.inf, -math.inf
        for q in range(3):
            along = n[0] * inward[i - first, q, 0] + n[1] * inward[i - first, q, 1] + n[2] * inward[i - first, q, 2]
            lowest, highest = min(lowest, along / size), max(highest, along / size)
        if lowest < -ASIDE and highest > ASIDE:
            continue
        size = -size if highest <= ASIDE else size
        n = (n[0] / size, n[1] / size, n[2] / size)
        square, w = closest(NODE_FACE, x)
        high, separation = dot(n, combine(w, x)), surface.reach[surface.body[i]]
        if high >= separation + margin or square - high * high > separation * separation:
            continue
        nodes[count, 0], nodes[count, 1], nodes[count, 2], nodes[count, 3] = i, j, k, l
        for q in range(4):
            weights[count, q] = w[q]
        for q in range(3):
            normal[count, q] = n[q]
        gap[count], key[count], body[count] = high - separation, pair_key(NODE_FACE, i, f), surface.body[i]
        count += 1
    return Contacts(
        nodes[:count], weights[:count], normal[:count], gap[:count], key[:count], body[:count],
        np.zeros(count, dtype=np.bool_),
    )  # fmt: skip
