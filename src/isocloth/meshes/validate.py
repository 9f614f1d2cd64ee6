"""What a list of nodes and faces must fulfil to be a cloth. Every error names the culprit and the remedy.

The checks run from cheap and basic to structural, so that the first message is about the cause and not
about its consequences. All are vectorised.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial import cKDTree

from isocloth.base.errors import MeshError
from isocloth.base.numeric import shown
from isocloth.base.typing import FloatArray, IntArray
from isocloth.meshes import geometry, orient, topology

COINCIDENT = 1e-9
"""Nodes closer than this fraction of the bounding-box diagonal are the same point."""

DEGENERATE = 1e-10
"""A face whose area is below this fraction of its longest side squared has no area."""


def as_vertices(vertices: ArrayLike) -> FloatArray:
    """Copy `vertices` into a finite (n, 3) float64 array, in m."""
    try:
        given = np.array(vertices, dtype=np.float64, order="C")
    except (TypeError, ValueError) as error:
        raise MeshError(
            f"vertices are {shown(vertices)}; they must be numbers of shape (n, 3), but could not be read: {error}; "
            "give one [x, y, z] row per node"
        ) from error
    if given.ndim != 2 or given.shape[1] != 3:
        hint = "; append a column of zeros for a flat mesh" if given.ndim == 2 and given.shape[1] == 2 else ""
        what = f"have shape {given.shape}" if given.ndim else f"are {shown(vertices)}"
        raise MeshError(f"vertices {what}, expected (n, 3): one [x, y, z] row per node{hint}")
    bad = np.flatnonzero(~np.isfinite(given).all(axis=1))
    if len(bad):
        raise MeshError(
            f"vertex {bad[0]} is {given[bad[0]].tolist()}{_others(bad)}; every coordinate must be finite, "
            "remove or repair these vertices"
        )
    return given


def as_faces(faces: ArrayLike, n_vertices: int) -> IntArray:
    """Copy `faces` into an (m, 3) or (m, 4) int64 array of distinct nodes between 0 and n_vertices - 1."""
    given = _face_array(faces)
    if given.size == 0:
        raise MeshError(f"the mesh has no faces, {shown(faces)}; give at least one row of 3 or 4 node indices")
    if given.ndim == 0:
        raise MeshError(f"faces are {shown(faces)}, expected (m, 3) for triangles or (m, 4) for quads")
    if given.ndim != 2 or given.shape[1] not in (3, 4):
        raise MeshError(
            f"faces have shape {given.shape}, expected (m, 3) for triangles or (m, 4) for quads; "
            "split larger polygons first"
        )
    if given.dtype.kind not in "iuf":
        raise MeshError(f"faces have dtype {given.dtype}, expected integer node indices; convert them to integers")
    if given.dtype.kind == "f":
        bad = np.flatnonzero(~(given == np.floor(given)).all(axis=1) | ~np.isfinite(given).all(axis=1))
        if len(bad):
            raise MeshError(
                f"face {bad[0]} is {given[bad[0]].tolist()}{_others(bad)}; node indices must be whole numbers"
            )
    bad = np.flatnonzero(((given < 0) | (given >= n_vertices)).any(axis=1))
    if len(bad):
        raise MeshError(
            f"face {bad[0]} is {given[bad[0]].tolist()}{_others(bad)}, but node indices must lie between "
            f"0 and {n_vertices - 1} for {n_vertices} vertices; counting starts at 0"
        )
    nodes = np.array(given, dtype=np.int64, order="C")
    ordered = np.sort(nodes, axis=1)
    bad = np.flatnonzero((ordered[:, 1:] == ordered[:, :-1]).any(axis=1))
    if len(bad):
        raise MeshError(
            f"face {bad[0]} is {nodes[bad[0]].tolist()}{_others(bad)} and repeats a node; "
            "remove the face, or write a triangle with three nodes"
        )
    return nodes


def check_geometry(vertices: FloatArray, faces: IntArray) -> None:
    """Raise `MeshError` for unused or coincident nodes and for degenerate or inverted elements."""
    _check_used(len(vertices), faces)
    _check_coincident(vertices)
    _check_areas(vertices, faces)
    if faces.shape[1] == 4:
        _check_convex(vertices, faces)


def check_manifold(faces: IntArray, table: topology.EdgeTable, *, pieces: bool = False) -> None:
    """Raise `MeshError` unless the faces form one connected surface, or pieces, each edge with one or two faces."""
    _check_repeated_faces(faces)
    _check_edges(table, faces.shape[1])
    if not pieces:
        _check_components(faces, table)
    pinched = topology.pinched_nodes(faces, table)
    if len(pinched):
        node = pinched[0]
        around = np.flatnonzero((faces == node).any(axis=1))
        raise MeshError(
            f"node {node}{_others(pinched)} joins parts of the cloth at a single point (bow-tie): its faces "
            f"{_some(around)} do not form one fan; give each part its own copy of the node, or connect them"
        )


def oriented(faces: IntArray, table: topology.EdgeTable, *, repair: bool) -> IntArray:
    """Return `faces` if neighbours agree on the orientation; otherwise turn faces over or raise."""
    clash = orient.clashing_edges(table)
    if len(clash) == 0:
        return faces
    if repair:
        return orient.turn_over(faces, orient.faces_to_flip(faces, table))
    a, b = topology.edge_faces(table, faces.shape[1])[clash[0]]
    raise MeshError(
        f"faces {a} and {b} run along their common edge {table.edges[clash[0]].tolist()} in the same "
        f"direction{_others(clash, 'edges')}, so one of them is inverted; "
        "pass orient=True to turn faces over consistently"
    )


def check_flat_orientation(vertices: FloatArray, faces: IntArray) -> None:
    """Raise `MeshError` if a flat mesh has faces that lie upside down on their neighbours.

    In space a sharp fold may be the shape of the cloth; in a plane it can only be a misplaced node.
    """
    centred = vertices - vertices.mean(axis=0)
    _, spread, axes = np.linalg.svd(centred, full_matrices=False)
    if len(spread) == 3 and spread[2] > COINCIDENT * spread[0]:
        return
    normal = np.cross(axes[0], axes[1])
    side = geometry.vector_areas(vertices, faces) @ normal
    side *= np.sign(side.sum()) or 1.0
    bad = np.flatnonzero(side < 0.0)
    if len(bad):
        raise MeshError(
            f"face {bad[0]} {faces[bad[0]].tolist()}{_others(bad)} is inverted: it lies upside down in a "
            "flat mesh, so faces overlap; move its nodes apart so that no face is folded over another"
        )


def check_corners(corners: ArrayLike, n_vertices: int) -> IntArray:
    """Copy `corners` into a 1-d int64 array of distinct nodes."""
    try:
        given = np.asarray(corners)
    except ValueError as error:
        raise MeshError(f"corners are {shown(corners)}, expected a list of node indices ({error})") from None
    if given.size == 0:
        return np.zeros(0, dtype=np.int64)
    if given.ndim != 1 or given.dtype.kind not in "iu":
        raise MeshError(f"corners have shape {given.shape} and dtype {given.dtype}, expected a list of node indices")
    bad = np.flatnonzero((given < 0) | (given >= n_vertices))
    if len(bad):
        raise MeshError(f"corner {given[bad[0]]} is not a node; indices must lie between 0 and {n_vertices - 1}")
    if len(np.unique(given)) != len(given):
        raise MeshError(f"corners {given.tolist()} repeat a node; list each node once")
    return given.astype(np.int64)


def _face_array(faces: ArrayLike) -> np.ndarray[Any, np.dtype[Any]]:
    if isinstance(faces, Sequence) and not isinstance(faces, str) and len(faces) > 0:
        try:
            sizes = np.array([len(row) for row in faces])  # type: ignore[arg-type]
        except TypeError:
            sizes = np.zeros(1, dtype=int)
        odd = np.flatnonzero(sizes != sizes[0])
        if len(odd):
            raise MeshError(
                f"face 0 has {sizes[0]} nodes but face {odd[0]} has {sizes[odd[0]]}: triangles and quads "
                "cannot be mixed; split the quads into triangles, or remesh with one kind of element"
            )
    try:
        return np.asarray(faces)
    except ValueError as error:
        raise MeshError(f"faces could not be read as an (m, 3) or (m, 4) array of node indices: {error}") from error


def _check_used(n_vertices: int, faces: IntArray) -> None:
    unused = np.flatnonzero(np.bincount(faces.reshape(-1), minlength=n_vertices) == 0)
    if len(unused):
        raise MeshError(
            f"vertex {unused[0]}{_others(unused)} belongs to no face; remove the unused vertices and renumber the faces"
        )


def _check_coincident(vertices: FloatArray) -> None:
    diagonal = float(np.linalg.norm(np.ptp(vertices, axis=0)))
    distance, neighbour = map(np.asarray, cKDTree(vertices).query(vertices, k=2))
    bad = np.flatnonzero(distance[:, 1] <= COINCIDENT * diagonal)
    if len(bad):
        # With coincident points the query may list the point itself second.
        other = neighbour[bad[0]][neighbour[bad[0]] != bad[0]][0]
        raise MeshError(
            f"vertices {bad[0]} and {other} coincide at {vertices[bad[0]].tolist()} "
            f"({len(bad)} vertices have a twin); merge them into one node, or load the file with "
            "merge=True; two layers need the thickness of the cloth between them"
        )


def _check_areas(vertices: FloatArray, faces: IntArray) -> None:
    p = vertices[faces]
    longest = np.linalg.norm(np.roll(p, -1, axis=1) - p, axis=2).max(axis=1)
    if faces.shape[1] == 3:
        size = np.linalg.norm(geometry.vector_areas(vertices, faces), axis=1)
    else:
        # A self-crossing quad has no vector area but is not thin: leave it to the check of convexity.
        size = np.linalg.norm(geometry.corner_crosses(vertices, faces), axis=2).max(axis=1)
    bad = np.flatnonzero(size <= DEGENERATE * longest**2)
    if len(bad):
        raise MeshError(
            f"face {bad[0]} {faces[bad[0]].tolist()}{_others(bad)} has zero area: its nodes lie on a line; "
            "move a node or remove the face"
        )


def _check_convex(vertices: FloatArray, faces: IntArray) -> None:
    normal = geometry.vector_areas(vertices, faces)
    crosses = geometry.corner_crosses(vertices, faces)
    turn = np.einsum("fki,fi->fk", crosses, normal)
    scale = np.linalg.norm(crosses, axis=2).max(axis=1) ** 2
    wrong = turn <= DEGENERATE * scale[:, None]
    bad = np.flatnonzero(wrong.any(axis=1))
    if len(bad) == 0:
        return
    f = bad[0]
    if np.count_nonzero(wrong[f]) == 1:
        node = faces[f, np.flatnonzero(wrong[f])[0]]
        what = f"is not convex at node {node}"
        remedy = "move that node outwards, or split the quads into triangles"
    else:
        what = "crosses itself"
        remedy = "list its nodes in order around the element"
    raise MeshError(f"quad {f} {faces[f].tolist()}{_others(bad)} is inverted: it {what}; {remedy}")


def _check_repeated_faces(faces: IntArray) -> None:
    ordered = np.sort(faces, axis=1)
    order = np.lexsort(ordered.T[::-1])
    same = (ordered[order[1:]] == ordered[order[:-1]]).all(axis=1)
    bad = np.flatnonzero(same)
    if len(bad):
        a, b = np.sort(order[bad[0] : bad[0] + 2])
        raise MeshError(f"faces {a} and {b} have the same nodes {faces[a].tolist()}; remove one of them")


def _check_edges(table: topology.EdgeTable, face_size: int) -> None:
    crowded = np.flatnonzero(table.counts > 2)
    if len(crowded):
        around = np.flatnonzero(table.side_edge == crowded[0]) // face_size
        raise MeshError(
            f"edge {table.edges[crowded[0]].tolist()}{_others(crowded)} is shared by {len(around)} faces "
            f"{_some(around)}, at most two can meet at an edge of a cloth; remove the extra faces"
        )


def _check_components(faces: IntArray, table: topology.EdgeTable) -> None:
    count, label = topology.component_labels(int(faces.max()) + 1, table.edges)
    if count > 1:
        sizes = np.sort(np.bincount(label))[::-1]
        raise MeshError(
            f"the mesh has {count} separate pieces with {_some(sizes)} vertices, expected one; "
            "connect them, build one Mesh per piece, or pass pieces=True if several cloths are meant"
        )


def _others(bad: IntArray, what: str = "") -> str:
    more = len(bad) - 1
    return f" (and {more} more{' ' + what if what else ''})" if more else ""


def _some(values: IntArray) -> str:
    shown = ", ".join(str(v) for v in values[:6])
    return f"{shown}, ..." if len(values) > 6 else shown
