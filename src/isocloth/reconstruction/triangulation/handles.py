"""Handles and crosscaps that are so small that they may be mistakes."""

from __future__ import annotations

import heapq
import math
from typing import Any

import numpy as np

from isocloth.base.compiled import kernel
from isocloth.base.typing import BoolArray, FloatArray, IntArray
from isocloth.reconstruction.triangulation.complex import Complex
from isocloth.reconstruction.triangulation.geodesics import covering_points, neighbour_lists

#: a handle within so many spacings of a point is too small to be true: measured, true ones that were found reach 6
SMALL = 4.0


def small_handles(surface: Complex, radius: float) -> list[IntArray]:
    """Points of the balls of this radius (m), measured along the surface, that hold a handle or a crosscap.

    A piece of surface with b boundary curves has 2 - euler - b = 0 exactly if it is a sphere with holes.
    """
    curves = len(surface.boundary_curves)
    if 2 * surface.components - surface.euler_characteristic - curves == 0:
        return []
    first, beside, length = neighbour_lists(surface)
    fan_first, fan = _fans(surface)
    middles = covering_points(surface, 0.5 * radius)
    sides = (surface.triangle_edges, surface.edge_triangles)
    held = _hold_handles(middles, radius, first, beside, length, fan_first, fan, surface.triangles, *sides)
    away = np.full(len(surface.points), np.inf)
    balls = []
    for middle in middles[held].tolist():
        balls.append(np.array(_ball(middle, radius, first, beside, length, away), dtype=np.int64))
        away[balls[-1]] = np.inf
    return balls


def _fans(surface: Complex) -> tuple[IntArray, IntArray]:
    """Triangles at every point: where they begin (n + 1,), and all of them."""
    corners = surface.triangles.reshape(-1)
    order = np.argsort(corners, kind="stable")
    return np.searchsorted(corners[order], np.arange(len(surface.points) + 1)), order // 3


@kernel
def _hold_handles(
    middles: IntArray,
    radius: float,
    first: IntArray,
    beside: IntArray,
    length: FloatArray,
    fan_first: IntArray,
    fan: IntArray,
    triangles: IntArray,
    triangle_edges: IntArray,
    edge_triangles: IntArray,
) -> BoolArray:
    """Whether 2 - euler - boundary curves > 0 for the triangles within `radius` of each of the middles.

    The triangles that can be reached from the middle across edges are taken, so that there is one component. Curves
    that touch at a point count as they run: from a boundary edge around its end, through the triangles, to the next.
    """
    n, m = len(first) - 1, len(triangles)
    away = np.full(n, math.inf)
    inside = np.zeros(m, dtype=np.bool_)
    held = np.zeros(len(middles), dtype=np.bool_)
    for number in range(len(middles)):
        middle = middles[number]
        reached = _ball(middle, radius, first, beside, length, away)
        members = [np.int64(0) for _ in range(0)]
        for k in range(fan_first[middle], fan_first[middle + 1]):
            t = fan[k]
            if max(away[triangles[t, 0]], away[triangles[t, 1]], away[triangles[t, 2]]) <= radius and not inside[t]:
                inside[t] = True
                members.append(np.int64(t))
                break
        done = 0
        while done < len(members):
            t = members[done]
            done += 1
            for s in range(3):
                e = triangle_edges[t, s]
                g = edge_triangles[e, 0] if edge_triangles[e, 1] == t else edge_triangles[e, 1]
                if g < 0 or inside[g]:
                    continue
                if max(away[triangles[g, 0]], away[triangles[g, 1]], away[triangles[g, 2]]) <= radius:
                    inside[g] = True
                    members.append(np.int64(g))
        if len(members) > 0:
            held[number] = _excess(members, inside, triangles, triangle_edges, edge_triangles) > 0
        for t in members:
            inside[t] = False
        for v in reached:
            away[v] = math.inf
    return held


@kernel
def _ball(middle: int, radius: float, first: IntArray, beside: IntArray, length: FloatArray, away: FloatArray) -> Any:
    """Points within `radius` of one, along edges; their distances are written to `away`."""
    reached = [np.int64(middle)]
    away[middle] = 0.0
    queue = [(0.0, np.int64(middle))]
    while len(queue) > 0:
        d, v = heapq.heappop(queue)
        if d > away[v]:
            continue
        for k in range(first[v], first[v + 1]):
            w = beside[k]
            far = d + length[k]
            if far <= radius and far < away[w]:
                if away[w] == math.inf:
                    reached.append(np.int64(w))
                away[w] = far
                heapq.heappush(queue, (far, np.int64(w)))
    return reached


@kernel
def _excess(
    members: list[int], inside: BoolArray, triangles: IntArray, triangle_edges: IntArray, edge_triangles: IntArray
) -> int:
    """2 - euler - boundary curves of a connected set of triangles, cut apart at points where it only touches.

    Corners of triangles are walked around their points: every fan of corners is one point of the piece that is cut
    apart, and where a fan ends, the boundary goes on along the next edge.
    """
    count = len(members)
    slot = {members[0]: 0}
    for i in range(count):
        slot[members[i]] = i
    shared = 0
    joined = np.arange(3 * count)  # sides on the boundary that follow each other
    ends = np.empty(2, dtype=np.int64)
    seen_corner = np.zeros(3 * count, dtype=np.bool_)
    points = 0
    for i in range(count):
        t = members[i]
        for s in range(3):
            e = triangle_edges[t, s]
            g = edge_triangles[e, 0] if edge_triangles[e, 1] == t else edge_triangles[e, 1]
            if g >= 0 and inside[g]:
                shared += 1
            if seen_corner[3 * i + s]:
                continue
            # the fan of the corner at the beginning of side s: one way round, then the other
            points += 1
            v = triangles[t, s]
            closed = False
            for turn in range(2):
                f, side = t, (s if turn == 0 else (s + 2) % 3)
                while True:
                    for c in range(3):
                        if triangles[f, c] == v:
                            seen_corner[3 * slot[f] + c] = True
                    around = triangle_edges[f, side]
                    g = edge_triangles[around, 0] if edge_triangles[around, 1] == f else edge_triangles[around, 1]
                    if g < 0 or not inside[g]:
                        break
                    f = g
                    if f == t:
                        closed = True
                        break
                    for c in range(3):  # the other side of f at v
                        if triangle_edges[f, c] != around and (triangles[f, c] == v or triangles[f, (c + 1) % 3] == v):
                            side = c
                            break
                ends[turn] = 3 * slot[f] + side
                if closed:
                    break
            if not closed:
                joined[_root(joined, ends[0])] = _root(joined, ends[1])
    curves = 0
    for i in range(count):
        for s in range(3):
            e = triangle_edges[members[i], s]
            g = edge_triangles[e, 0] if edge_triangles[e, 1] == members[i] else edge_triangles[e, 1]
            if (g < 0 or not inside[g]) and joined[3 * i + s] == 3 * i + s:
                curves += 1
    euler = points - (3 * count - shared // 2) + count
    return 2 - euler - curves


@kernel
def _root(joined: IntArray, v: int) -> int:
    while joined[v] != v:
        v = joined[v]
    return v
