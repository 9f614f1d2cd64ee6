"""Where a cloth cannot start: inside a body, cut by its walls, through itself, or with layers that coincide.

Contact keeps every pair on the side where a step began. A start that has no side, or the wrong one, would be kept wrong
or be thrown out within one step; so it is found before the first, with its place and its depth.

A node may be as deep below the surface of a body as half of the cloth is thick: a cloth put at z = 0 on a table, or a
little lower, is meant to lie on it, and contact lifts it by at most one thickness.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from isocloth.base.compiled import kernel
from isocloth.base.errors import InputError
from isocloth.base.memo import memoised
from isocloth.base.typing import FloatArray, IntArray
from isocloth.contact.broad import candidates
from isocloth.contact.contact_set import middles
from isocloth.contact.corners import cut_off
from isocloth.contact.distance import EDGE_EDGE, NODE_FACE, closest, gather, point_triangle
from isocloth.contact.narrow import nearest_pair
from isocloth.contact.surface import Feature, Pairs, Surface, build_surface
from isocloth.contact.tangled import piercings
from isocloth.contact.world import CollisionWorld
from isocloth.obstacles import Features, Obstacle, Solid

#: layers, or cloth and mesh, nearer than this part of their separation coincide: their sides are rounding
COINCIDENT = 1e-3

#: what to do about a start that is refused
REMEDY = "move one of them, or let resolve_start=True push the cloth out"

#: episodes of a learning loop often start alike
_piercings = memoised(piercings)


class Fault(NamedTuple):
    """Something wrong with a start."""

    body: int  #: which obstacle; -1: layers of the cloth
    depth: float  #: m, below the surface; 0 where sides are not known
    place: FloatArray  #: (3,) m
    message: str


def check_start(world: CollisionWorld, positions: FloatArray, time: float, only: int | None = None) -> None:
    """Raise if a cloth cannot start at positions (n, 3) at a time in s; `only` looks at this obstacle alone."""
    found = start_faults(world, positions, time, only)
    if found:
        raise InputError(found[0].message)


def start_faults(world: CollisionWorld, positions: FloatArray, time: float, only: int | None = None) -> list[Fault]:
    """What is wrong with a start at positions (n, 3) at a time in s, the worst of every body."""
    faults: list[Fault | None] = []
    for k, solid in world.solids:
        if only is None or k == only:
            faults.append(_in_solid(world, positions, time, k, solid))
    for k, features in world.features:
        if only is None or k == only:
            faults.append(_in_features(world, positions, time, k, features))
    if world.self_collision and only is None:
        faults.append(_in_itself(world, positions))
    return [fault for fault in faults if fault is not None]


def _in_solid(world: CollisionWorld, positions: FloatArray, time: float, k: int, solid: Solid) -> Fault | None:
    points = np.concatenate([positions, middles(*world.centres, positions)])
    gap, _ = solid.gaps(points, time)
    if not gap.min() < -world.half:
        return _cut_by_edges(world, positions, time, k, solid)
    worst = int(gap.argmin())
    n, deep = len(positions), int((gap[: len(positions)] < -world.half).sum())
    who = f"node {worst}" if worst < n else f"the centre of face {worst - n}"
    return _inside(solid, k, -float(gap[worst]), points[worst], who, f"; {deep} nodes are inside" if deep > 1 else "")


def _cut_by_edges(world: CollisionWorld, positions: FloatArray, time: float, k: int, solid: Solid) -> Fault | None:
    """Edges of a body through faces whose nodes and centres are all outside."""
    edges = solid.sharp_edges(time)
    if len(edges.radius) == 0:
        return None
    triangles = world.corners.surface.faces
    faces, at = cut_off(edges, positions, triangles, world.half)
    if len(faces) == 0:
        return None
    return _cut(solid, k, len(faces), at[0], f"the face of nodes {triangles[faces[0]].tolist()}")


def _in_features(world: CollisionWorld, positions: FloatArray, time: float, k: int, body: Features) -> Fault | None:
    count, own = len(positions), body.vertices(time)
    reach = body.radius + world.half
    apart = np.maximum(own.min(axis=0) - positions.max(axis=0), positions.min(axis=0) - own.max(axis=0)).max()
    if apart > reach:
        return None
    vertices = np.concatenate([positions, own])
    triangles = world.surface.faces[world.surface.body[world.surface.faces[:, 0]] == 0]
    edges = world.surface.edges[: world.cloth_edges]
    cut = piercings(vertices, body.edges + count, triangles) if len(body.edges) else np.zeros((0, 2), dtype=np.int64)
    if len(cut):
        ends = vertices[body.edges[cut[0, 0]] + count]
        corners = triangles[cut[0, 1]].tolist()
        return _cut(body, k, len(cut), _meeting(ends, vertices[triangles[cut[0, 1]]]), f"the face of nodes {corners}")
    if len(body.faces):
        cut = piercings(vertices, edges, body.faces + count)
        if len(cut):
            ends = vertices[edges[cut[0, 0]]]
            who = f"the edge of nodes {edges[cut[0, 0]].tolist()}"
            return _cut(body, k, len(cut), _meeting(ends, own[body.faces[cut[0, 1]]]), who)
        if abs(winding_number(positions[0], own, body.faces)) > 0.5:
            depths = surface_distances(positions, own, np.ascontiguousarray(body.faces, dtype=np.int64))
            worst = int(depths.argmax())
            if depths[worst] < COINCIDENT * world.half:
                return _on(world, body, k, positions, worst)
            more = "; all of the cloth is, behind closed walls"
            return _inside(body, k, float(depths[worst]), positions[worst], f"node {worst}", more)
    surface = build_surface(count, triangles, 0.0, [Feature(len(own), body.edges, body.faces, reach)])
    # of the cloth and this body only, which all keep the same separation
    pairs = candidates(surface, vertices, vertices, 0.0, False)
    gap, corners = nearest_pair(surface, pairs, vertices, vertices)
    distance, pair = gap + reach, np.array(corners)
    if distance < body.radius - world.half:
        node = int(pair[pair < count][0])
        return _inside(body, k, body.radius - distance, positions[node], f"the cloth at node {node}", "")
    if len(body.faces) and distance < COINCIDENT * world.half:
        return _on(world, body, k, positions, int(pair[pair < count][0]))
    return None


def _in_itself(world: CollisionWorld, positions: FloatArray) -> Fault | None:
    faces = world.surface.faces[world.surface.body[world.surface.faces[:, 0]] == 0]
    edges = world.surface.edges[: world.cloth_edges]
    pierced = _piercings(positions, edges, faces)
    if len(pierced):
        at = positions[edges[pierced[0, 0]]].mean(axis=0)
        return Fault(-1, 0.0, at, (
            f"the cloth passes through itself at the start, in {len(pierced)} places, one of them near {_at(at)}: "
            "layers must not cross when self_collision begins; move them apart, let resolve_start=True untangle them "
            "where it can, or start from another shape"
        ))  # fmt: skip
    share, pair = _nearest_layers(positions, faces, world.rest, world.fabric.thickness)
    if share < COINCIDENT:
        at = positions[pair].mean(axis=0)
        return Fault(-1, 0.0, at, (
            f"two layers of the cloth coincide at the start, at nodes {pair.tolist()} near {_at(at)} m: neither is "
            f"above the other; keep them {world.fabric.thickness:g} m apart, or start from another shape"
        ))  # fmt: skip
    return None


@memoised
def _nearest_layers(
    positions: FloatArray, faces: IntArray, rest: FloatArray, thickness: float
) -> tuple[float, IntArray]:
    """Smallest distance of two layers as a part of their separation, and the nodes (4,) of that pair."""
    surface = build_surface(len(positions), faces, thickness)
    share, pair = nearest_layers(surface, candidates(surface, positions, positions, 0.0, True), positions, rest)
    return float(share), np.asarray(pair)


def _inside(body: Obstacle, k: int, depth: float, place: FloatArray, who: str, more: str) -> Fault:
    return Fault(k, depth, place, (
        f"the cloth starts inside {body!r}: {who} at {_at(place)} m is {1e3 * depth:.3g} mm below its surface{more}: "
        f"expected a start outside; {REMEDY}"
    ))  # fmt: skip


def _on(world: CollisionWorld, body: Obstacle, k: int, positions: FloatArray, node: int) -> Fault:
    return Fault(k, 0.0, positions[node], (
        f"the cloth starts on the very surface of {body!r}, at node {node} at {_at(positions[node])} m, where it is on "
        f"no side of it: expected a distance, best half of the thickness, {world.half:g} m; {REMEDY}"
    ))  # fmt: skip


def _cut(body: Obstacle, k: int, places: int, place: FloatArray, who: str) -> Fault:
    return Fault(k, 0.0, place, (
        f"{body!r} cuts the cloth at the start, in {places} places, one of them at {_at(place)} m through {who}: "
        f"expected a cloth on one side of it; {REMEDY}"
    ))  # fmt: skip


def _at(place: FloatArray) -> list[float]:
    return [float(x) for x in np.round(place, 4) + 0.0]


def _meeting(ends: FloatArray, corners: FloatArray) -> FloatArray:
    """Where the segment between ends (2, 3) meets the plane of corners (3, 3), m."""
    normal = np.cross(corners[1] - corners[0], corners[2] - corners[0])
    a, b = (ends - corners[0]) @ normal
    share = a / (a - b) if a != b else 0.5
    return np.asarray(ends[0] + np.clip(share, 0.0, 1.0) * (ends[1] - ends[0]))


def winding_number(point: FloatArray, vertices: FloatArray, faces: IntArray) -> float:
    """How often a closed surface winds around a point (3,): 1 inside, 0 outside (solid angles of its triangles)."""
    a, b, c = (vertices[faces[:, q]] - point for q in range(3))
    la, lb, lc = (np.linalg.norm(v, axis=1) for v in (a, b, c))
    volume = np.einsum("fd,fd->f", a, np.cross(b, c))
    dots = [np.einsum("fd,fd->f", u, v) for u, v in ((a, b), (b, c), (c, a))]
    angle = 2.0 * np.arctan2(volume, la * lb * lc + dots[0] * lc + dots[1] * la + dots[2] * lb)
    return float(angle.sum() / (4.0 * math.pi))


@kernel
def surface_distances(points: FloatArray, vertices: FloatArray, faces: IntArray) -> FloatArray:
    """Distances (m,) of points (m, 3) from the nearest triangle, in m: of every point to every one."""
    out = np.full(len(points), math.inf)
    for m in range(len(points)):
        p = (points[m, 0], points[m, 1], points[m, 2])
        for f in range(len(faces)):
            i, j, k = faces[f, 0], faces[f, 1], faces[f, 2]
            square, _, _, _ = point_triangle(
                p, (vertices[i, 0], vertices[i, 1], vertices[i, 2]), (vertices[j, 0], vertices[j, 1], vertices[j, 2]),
                (vertices[k, 0], vertices[k, 1], vertices[k, 2]),
            )  # fmt: skip
            out[m] = min(out[m], math.sqrt(square))
    return out


@kernel
def nearest_layers(surface: Surface, pairs: Pairs, y: FloatArray, rest: FloatArray) -> tuple[float, IntArray]:
    """The smallest distance of `pairs` at y (V, 3) as a part of the separation that layers keep, which is less where
    they are near at rest (n, 3), and the vertices (4,) of that pair; infinite without any."""
    least, who = math.inf, np.zeros(4, dtype=np.int64)
    nodes, faces, edges = len(pairs.node_face), surface.faces, surface.edges
    for row in range(nodes + len(pairs.edge_edge)):
        kind, i, j, k, l = _vertices(pairs, faces, edges, row)
        square, _ = closest(kind, gather(y, i, j, k, l))
        if square >= surface.reach[0] ** 2:
            continue
        still, _ = closest(kind, gather(rest, i, j, k, l))
        share = math.sqrt(square) / max(min(surface.reach[0], math.sqrt(still)), 1e-300)
        if share < least:
            least = share
            who[0], who[1], who[2], who[3] = i, j, k, l
    return least, who


@kernel
def _vertices(pairs: Pairs, faces: IntArray, edges: IntArray, row: int) -> tuple[int, int, int, int, int]:
    """Kind and vertices of a pair, node-face pairs first."""
    count = len(pairs.node_face)
    if row < count:
        a, b = pairs.node_face[row, 0], pairs.node_face[row, 1]
        return NODE_FACE, a, faces[b, 0], faces[b, 1], faces[b, 2]
    a, b = pairs.edge_edge[row - count, 0], pairs.edge_edge[row - count, 1]
    return EDGE_EDGE, edges[a, 0], edges[a, 1], edges[b, 0], edges[b, 1]


def body_at(world: CollisionWorld, positions: FloatArray, node: int, time: float) -> str:
    """What a node of a cloth at positions (n, 3) lies on at a time in s, in words: the nearest body, or layers."""
    at, near, name = positions[node : node + 1], world.half, "layers of the cloth"
    for _, solid in world.solids:
        gap = float(solid.gaps(at, time)[0][0]) - world.half
        if gap < near:
            near, name = gap, repr(solid)
    for _, body in world.features:
        own = body.vertices(time)
        corners = body.faces if len(body.faces) else body.edges[:, [0, 1, 1]]
        if len(corners) == 0:
            corners = np.arange(len(own))[:, None].repeat(3, axis=1)
        corners = np.ascontiguousarray(corners, dtype=np.int64)
        gap = float(surface_distances(at, own, corners)[0]) - body.radius - world.half
        if gap < near:
            near, name = gap, repr(body)
    return name
