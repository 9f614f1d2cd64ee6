"""Combinatorics of a face list: edges, neighbours, fans, components, boundary loops.

Everything here depends on the faces alone, an integer array of shape (m, 3) or (m, 4) whose rows list the
nodes of an element in order. No coordinate is read.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from isocloth.base.typing import BoolArray, IntArray


class EdgeTable(NamedTuple):
    """Undirected edges and how the faces run along them.

    Each face with k nodes has k sides; side s of face f goes from node s to node s + 1 and has the flat
    index f * k + s.
    """

    edges: IntArray
    """(ne, 2) nodes of every edge, smaller first, rows in lexicographic order."""
    side_edge: IntArray
    """(m * k,) edge on which each side lies."""
    side_forward: BoolArray
    """(m * k,) whether the side runs from the smaller node to the larger."""
    counts: IntArray
    """(ne,) number of faces at each edge."""


def sides(faces: IntArray) -> IntArray:
    """Directed sides of all faces, shape (m * k, 2), in the flat order of `EdgeTable`."""
    return np.stack([faces, np.roll(faces, -1, axis=1)], axis=2).reshape(-1, 2)


def edge_table(faces: IntArray) -> EdgeTable:
    """Find the unique edges of `faces` and the side-to-edge map."""
    directed = sides(faces)
    ordered = np.sort(directed, axis=1)
    # One integer per edge: sorting scalars is several times faster than np.unique on rows.
    stride = int(faces.max()) + 1
    keys, side_edge, counts = np.unique(ordered[:, 0] * stride + ordered[:, 1], return_inverse=True, return_counts=True)
    edges = np.stack([keys // stride, keys % stride], axis=1)
    return EdgeTable(edges, side_edge.reshape(-1), directed[:, 0] < directed[:, 1], counts)


def edge_sides(table: EdgeTable) -> IntArray:
    """The two sides on every edge, shape (ne, 2), smaller first; the second is -1 on the boundary.

    Requires a table in which no edge has more than two faces.
    """
    order = np.argsort(table.side_edge, kind="stable")
    first = np.cumsum(table.counts) - table.counts
    pairs = np.full((len(table.edges), 2), -1, dtype=np.int64)
    pairs[:, 0] = order[first]
    inner = table.counts == 2
    pairs[inner, 1] = order[first[inner] + 1]
    return pairs


def edge_faces(table: EdgeTable, face_size: int) -> IntArray:
    """The two faces at every edge, shape (ne, 2); the second is -1 on the boundary."""
    pairs = edge_sides(table)
    return np.where(pairs < 0, -1, pairs // face_size)


def component_labels(n_nodes: int, links: IntArray) -> tuple[int, IntArray]:
    """Number of connected components of a graph with edges `links` (l, 2), and the label of every node."""
    ones = np.ones(len(links), dtype=np.int8)
    graph = coo_array((ones, (links[:, 0], links[:, 1])), shape=(n_nodes, n_nodes))
    count, labels = connected_components(graph, directed=False)
    return int(count), labels.astype(np.int64)


def pinched_nodes(faces: IntArray, table: EdgeTable) -> IntArray:
    """Nodes whose incident faces do not form a single fan (bow-ties), in increasing order.

    Two corners of neighbouring faces are linked when they sit at the same end of the shared edge; a node is
    regular when all its corners end up linked.
    """
    m, k = faces.shape
    pairs = edge_sides(table)
    pairs = pairs[pairs[:, 1] >= 0]
    start = pairs
    end = pairs - pairs % k + (pairs % k + 1) % k
    flat = faces.reshape(-1)
    same = flat[start[:, 0]] == flat[start[:, 1]]
    at_start = np.stack([start[:, 0], np.where(same, start[:, 1], end[:, 1])], axis=1)
    at_end = np.stack([end[:, 0], np.where(same, end[:, 1], start[:, 1])], axis=1)
    count, fan = component_labels(m * k, np.concatenate([at_start, at_end]))
    node_of_fan = np.empty(count, dtype=np.int64)
    node_of_fan[fan] = flat
    return np.flatnonzero(np.bincount(node_of_fan) > 1)


def boundary_sides(faces: IntArray, table: EdgeTable) -> IntArray:
    """Directed sides that belong to one face only, shape (nb, 2); the surface lies to their left."""
    return sides(faces)[table.counts[table.side_edge] == 1]


def boundary_loops(directed: IntArray) -> list[IntArray]:
    """Chain directed boundary sides (nb, 2) into closed loops of nodes.

    Every loop starts at its smallest node, loops are ordered by that node, and the first node is not
    repeated at the end. Requires every boundary node to have one outgoing side, which consistent
    orientation and the absence of bow-ties guarantee.
    """
    following = dict(zip(directed[:, 0].tolist(), directed[:, 1].tolist(), strict=True))
    loops: list[IntArray] = []
    for start in sorted(following):
        if start not in following:
            continue
        loop = []
        node = start
        while node in following:
            loop.append(node)
            node = following.pop(node)
        loops.append(np.array(loop, dtype=np.int64))
    return loops
