"""Lines of the cloth: chains of edges that go straight on at every node, at rest.

A line bends smoothly over the edge of a body where its edges, taken as rods, could not: a rod that a sharp edge touches
near one of its ends would have to be pulled without limit. What is smooth is the cubic B-spline with the nodes for
control points. The piece along the edge from b to c, between the nodes a before and d after it, is

    6 p(v) = (1 - v)^3 a + (3 v^3 - 6 v^2 + 4) b + (1 + 3 v + 3 v^2 - 3 v^3) c + v^3 d,    0 <= v <= 1.

Where a line ends it goes straight on: a is 2 b - c there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from isocloth.base.memo import memoised
from isocloth.base.typing import FloatArray, IntArray

#: cosine of the angle between two edges of a node up to which one goes on in the other
STRAIGHT = -0.5


class Lines(NamedTuple):
    """Pieces of the lines of a cloth, one along every edge."""

    nodes: IntArray  #: (p, 4) before an edge, its two ends, after it; where a line ends, the end again
    beyond: IntArray  #: (p, 2) the nodes of the line before and after these; where it ends, the end again
    line: IntArray  #: (p,) to which line it belongs


@memoised
def build_lines(rest: FloatArray, edges: IntArray) -> Lines:
    """Lines along the edges (e, 2) of a cloth with nodes at rest (n, 3). Each edge is in one line."""
    ends = np.concatenate([edges, edges[:, ::-1]])
    number = np.tile(np.arange(len(edges)), 2)
    order = np.lexsort((ends[:, 1], ends[:, 0]))
    ends, number = ends[order], number[order]
    first = np.searchsorted(ends[:, 0], np.arange(len(rest) + 1))
    nodes = np.stack([edges[:, 0], edges[:, 0], edges[:, 1], edges[:, 1]], axis=1)
    line = np.arange(len(edges))
    for node in range(len(rest)):
        around = np.arange(first[node], first[node + 1])
        out = rest[ends[around, 1]] - rest[node]
        out = out / np.linalg.norm(out, axis=1)[:, None]
        cosine = out @ out.T
        free = np.ones(len(around), dtype=bool)
        for at in np.argsort(cosine, axis=None, kind="stable"):
            a, c = divmod(int(at), len(around))
            if cosine[a, c] > STRAIGHT:
                break
            if a < c and free[a] and free[c]:
                free[[a, c]] = False
                one, two = int(number[around[a]]), int(number[around[c]])
                nodes[one, 0 if edges[one, 0] == node else 3] = ends[around[c], 1]
                nodes[two, 0 if edges[two, 0] == node else 3] = ends[around[a], 1]
                # chains of edges, as a forest: every edge points to another of its line, or to itself
                roots = _root(line, one), _root(line, two)
                line[max(roots)] = min(roots)
    nodes = nodes.astype(np.int64)
    after = {(int(b), int(c)): int(d) for _, b, c, d in nodes} | {(int(c), int(b)): int(a) for a, b, c, _ in nodes}
    beyond = [(after.get((b, a), a), after.get((c, d), d)) for a, b, c, d in nodes.tolist()]
    of_piece = [_root(line, e) for e in range(len(edges))]
    return Lines(nodes, np.array(beyond, dtype=np.int64).reshape(-1, 2), np.array(of_piece, dtype=np.int64))


def _root(line: IntArray, edge: int) -> int:
    while line[edge] != edge:
        line[edge] = line[line[edge]]
        edge = int(line[edge])
    return edge
