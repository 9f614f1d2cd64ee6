"""Seams as paths along the edges of a target: checked, read from a file, found as shortest paths."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from itertools import count, pairwise, product
from string import ascii_uppercase
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import dijkstra

from isocloth.base.errors import InputError, InputTypeError
from isocloth.base.files import existing_file
from isocloth.base.numeric import shown
from isocloth.base.typing import IntArray
from isocloth.meshes import Mesh

#: what a seam is, for messages
WANTED = "expected the numbers of at least two nodes, each a neighbour of the one before"


def as_paths(mesh: Mesh, seams: Any) -> dict[str, IntArray]:
    """Name -> nodes (k,) of every seam, in order; a closed one ends with the node it begins with.

    seams: mapping from name to nodes, or a sequence of node paths, which are called A, B, ... Refuses what is no
    path, and seams that share an edge or cross each other.
    """
    if isinstance(seams, Mapping):
        for name in seams:
            if not isinstance(name, str) or not name.strip():
                raise InputError(f"seam {shown(name)}: expected a name, a text that is not empty")
        named = dict(seams)
    elif isinstance(seams, Sequence | np.ndarray) and not isinstance(seams, str | bytes):
        if len(seams) and np.ndim(seams[0]) == 0:
            raise InputTypeError(f"seams = {shown(seams)}: expected a sequence of paths; of one path give [path]")
        named = dict(zip(default_names(len(seams)), seams, strict=True))
    else:
        raise InputTypeError(f"seams = {shown(seams)}: expected node paths, [[0, 1, 2], ...], or name -> path")
    paths = {name: _as_path(mesh, name, nodes) for name, nodes in named.items()}
    _check_edges(mesh, paths)
    _check_crossings(paths)
    return paths


def default_names(number: int) -> list[str]:
    """A, B, ..., Z, AA, AB, ..."""
    found: list[str] = []
    for length in count(1):
        for letters in product(ascii_uppercase, repeat=length):
            if len(found) == number:
                return found
            found.append("".join(letters))
    raise AssertionError


def shortest_path(mesh: Mesh, a: int, b: int) -> IntArray:
    """(k,) nodes from a to b along inner edges, by length in m: along the border there is nothing to cut."""
    for node in (a, b):
        _check_node(mesh, "shortest path", node)
    if a == b:
        raise InputError(f"shortest path from node {a} to itself: expected two nodes")
    inner = mesh.edge_faces[:, 1] >= 0
    i, j = mesh.edges[inner].T
    graph = sp.csr_matrix((mesh.edge_lengths[inner], (i, j)), shape=(mesh.n_vertices,) * 2)
    far, before = dijkstra(graph, directed=False, indices=np.array([b]), return_predecessors=True)
    far, before = far[0], before[0]
    if not np.isfinite(far[a]):
        why = "they are on separate pieces" if mesh.piece[a] != mesh.piece[b] else "all ways run along the border"
        raise InputError(f"no path of inner edges leads from node {a} to node {b}: {why}")
    path = [int(a)]
    while path[-1] != b:
        path.append(int(before[path[-1]]))
    return np.array(path, dtype=np.int64)


def load_seams(path: str | os.PathLike[str], mesh: Mesh) -> dict[str, IntArray]:
    """Seams of a mesh from a JSON file: name -> nodes (k,).

    {"seams": {"side": [3, 4, 5]}} or {"seams": [seam, ...]} with seams as {"name": "side", "nodes": [3, 4, 5]},
    {"from": 3, "to": 9} along the shortest path of edges, {"through": [3, 9, 12]} along several of them, or plainly
    [3, 4, 5]. Names are A, B, ... where there are none.
    """
    source = existing_file(path, "seams file")
    where = f"seams file {str(path)!r}"
    try:
        data = json.loads(source.read_text(encoding="utf-8"), object_pairs_hook=_each_once)
    except (ValueError, RecursionError) as error:
        raise InputError(f'{where} cannot be read: {error}; expected JSON, {{"seams": ...}}') from error
    if not isinstance(data, dict) or set(data) != {"seams"}:
        raise InputError(f'{where} holds {shown(data)}: expected {{"seams": ...}} and nothing else')
    given = data["seams"]
    try:
        if isinstance(given, dict):
            entries = list(given.items())
        elif isinstance(given, list):
            names = [entry.get("name") if isinstance(entry, dict) else None for entry in given]
            free = (name for name in default_names(len(names) * 2) if name not in names)
            entries = [(next(free) if n is None else n, entry) for n, entry in zip(names, given, strict=True)]
        else:
            raise InputError(f"seams are {shown(given)}: expected a list, or name -> nodes")
        found: dict[str, IntArray] = {}
        for name, entry in entries:
            if not isinstance(name, str) or name in found:
                raise InputError(f"name {shown(name)}: expected a text that names one seam")
            found[name] = _as_path(mesh, name, _entry(mesh, name, entry))
        return found
    except (InputError, InputTypeError) as error:
        raise type(error)(f"{where}: {error}") from error


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise InputError(f"{next(n for n in names if names.count(n) > 1)!r} stands there twice")
    return found


def _entry(mesh: Mesh, name: str, entry: Any) -> Any:
    """The nodes of a seam of a file."""
    if not isinstance(entry, dict):
        return entry
    keys = set(entry) - {"name"}
    if keys == {"nodes"}:
        return entry["nodes"]
    if keys == {"from", "to"}:
        through = [entry["from"], entry["to"]]
    elif keys == {"through"} and isinstance(entry["through"], list):
        through = entry["through"]
    else:
        raise InputError(
            f'seam {name!r} is {shown(entry)}: expected {{"nodes": [...]}}, {{"from": a, "to": b}} or '
            '{"through": [a, b, ...]}'
        )
    for node in through:
        _check_node(mesh, f"seam {name!r}", node)
    if len(through) < 2:
        raise InputError(f"seam {name!r} leads through {through}: expected at least two nodes")
    parts = [shortest_path(mesh, a, b) for a, b in pairwise(through)]
    return np.concatenate([parts[0], *(part[1:] for part in parts[1:])])


def _check_node(mesh: Mesh, what: str, node: Any) -> None:
    if isinstance(node, bool | np.bool_) or not isinstance(node, int | np.integer):
        raise InputTypeError(f"{what}: {shown(node)} is no number of a node; expected 0 to {mesh.n_vertices - 1}")
    if not 0 <= node < mesh.n_vertices:
        raise InputError(f"{what}: node {node} does not exist; expected 0 to {mesh.n_vertices - 1}")


def _as_path(mesh: Mesh, name: str, nodes: Any) -> IntArray:
    """One path: numbers of nodes, neighbours one after the other, each once."""
    what = f"seam {name!r}"
    if isinstance(nodes, str | bytes) or not isinstance(nodes, Sequence | np.ndarray) or np.ndim(nodes) == 0:
        raise InputTypeError(f"{what} is {shown(nodes)}: {WANTED}")
    for node in nodes:
        _check_node(mesh, what, node)
    if len(nodes) < 2:
        raise InputError(f"{what} is {shown(list(nodes))}: {WANTED}")
    path = np.array(nodes, dtype=np.int64)
    steps = np.sort(np.stack([path[:-1], path[1:]], axis=1), axis=1)
    at, known = edge_numbers(mesh, steps)
    if not known.all():
        k = int(np.flatnonzero(~known)[0])
        raise InputError(
            f"{what}: nodes {path[k]} and {path[k + 1]} follow each other, but there is no edge between them; give all "
            "the nodes on the way"
        )
    own, times = np.unique(at, return_counts=True)
    if (times > 1).any():
        a, b = mesh.edges[own[times > 1][0]]
        raise InputError(f"{what} runs along the edge of nodes {a} and {b} twice: expected each edge once")
    inner = path[:-1] if path[0] == path[-1] else path
    found, times = np.unique(inner, return_counts=True)
    if (times > 1).any():
        raise InputError(
            f"{what} passes node {found[times > 1][0]} twice: expected one that never meets itself; cut it in two"
        )
    return path


def edge_numbers(mesh: Mesh, edges: IntArray) -> tuple[IntArray, np.ndarray]:
    """Which edges of a mesh these (k, 2) are, smaller node first, and whether (k,) they are any."""
    stride = mesh.n_vertices
    keys, wanted = mesh.edges[:, 0] * stride + mesh.edges[:, 1], edges[:, 0] * stride + edges[:, 1]
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return at.astype(np.int64), keys[at] == wanted


def _check_edges(mesh: Mesh, paths: dict[str, IntArray]) -> None:
    """Every edge belongs to one seam at most, and none to the border."""
    owner: dict[int, str] = {}
    for name, path in paths.items():
        at, _ = edge_numbers(mesh, np.sort(np.stack([path[:-1], path[1:]], axis=1), axis=1))
        for edge in at.tolist():
            a, b = mesh.edges[edge]
            if mesh.edge_faces[edge, 1] < 0:
                raise InputError(
                    f"seam {name!r} runs along the border, from node {a} to {b}: there is nothing to cut; leave it out"
                )
            if edge in owner:
                raise InputError(
                    f"seams {owner[edge]!r} and {name!r} both run along the edge of nodes {a} and {b}: expected each "
                    "edge in one seam"
                )
            owner[edge] = name


def _check_crossings(paths: dict[str, IntArray]) -> None:
    """Two seams meet where one of them ends."""
    owner: dict[int, str] = {}
    for name, path in paths.items():
        for node in path[1:-1].tolist():
            if node in owner:
                raise InputError(
                    f"seams {owner[node]!r} and {name!r} cross at node {node}: seams meet where one of them ends; cut "
                    "one of them in two there, or begin a closed one there"
                )
            owner[node] = name
