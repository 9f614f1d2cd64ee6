"""Derivatives in the rest shape of what is computed node by node and row by row: differences of many nodes at once.

A function of the rest shape with many values, each of which depends on the nodes near it alone, is differentiated in
all coordinates by few evaluations: nodes that no value knows both of have the same colour, and are moved together. The
number of colours does not grow with the mesh. Differences are central, over a small part of the edges at the node.

What rounds, chooses or sorts has kinks. A rest shape on one (two edges of a net of which either may be the warp, say)
shows itself: the two one-sided differences disagree. `Slopes.kinks` names the nodes.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from isocloth.base.memo import memoised, variations
from isocloth.base.typing import FloatArray, IntArray
from isocloth.meshes import Mesh

#: how far a node is moved, relative to the shortest edge at it: errors of differences are about the square of this
STEP = 3e-5
#: difference of the two one-sided slopes, relative to the largest slope there is, from which a node is on a kink
KINK = 0.1


class Slopes(NamedTuple):
    """What came of it."""

    value: FloatArray  # (n, 3) derivative of the sum of all values
    kinks: IntArray  # nodes


def slopes(mesh: Mesh, values: Callable[[Mesh], FloatArray], support: sp.csr_matrix) -> Slopes:
    """Derivative of the sum of values (k,), which are zero at `mesh`; support: (k, n) which nodes a value knows."""
    n = mesh.n_vertices
    step = STEP * _shortest(mesh)
    ptr, item, node = colours(support)
    out, bend = np.zeros((n, 3)), np.zeros((n, 3))
    for name in ("edges", "edge_faces", "piece", "boundary_edges", "boundary_loops", "interior_nodes"):
        getattr(mesh, name)  # known before there are many
    with variations():
        for begin, end in pairwise(ptr):
            items, nodes = item[begin:end], node[begin:end]
            moved = np.unique(nodes)
            for d in range(3):
                sides = []
                for sign in (1.0, -1.0):
                    points = mesh.vertices.copy()
                    points[moved, d] += sign * step[moved]
                    sides.append(values(mesh.with_vertices(points))[items])
                plus, minus = sides
                out[:, d] += np.bincount(nodes, plus - minus, n)
                bend[:, d] += np.bincount(nodes, np.abs(plus + minus), n)
    out /= 2.0 * step[:, None]
    bend /= step[:, None]
    kinks = np.flatnonzero((bend > KINK * np.abs(out).max(initial=0.0)).any(axis=1))
    return Slopes(out, kinks)


def _shortest(mesh: Mesh) -> FloatArray:
    """(n,) m, the shortest edge at every node."""
    out = np.full(mesh.n_vertices, np.inf)
    for side in (0, 1):
        np.minimum.at(out, mesh.edges[:, side], mesh.edge_lengths)
    return out


@memoised
def colours(support: sp.csr_matrix) -> tuple[IntArray, IntArray, IntArray]:
    """Pairs (item, node) of a support, colour by colour: where each begins (colours + 1,), items and nodes."""
    conflicts = sp.csr_matrix(support.T @ support)
    n = conflicts.shape[0]
    colour = np.full(n, -1, dtype=np.int64)
    for k in range(n):
        taken = colour[conflicts.indices[conflicts.indptr[k] : conflicts.indptr[k + 1]]]
        free = np.ones(len(taken) + 1, dtype=bool)
        free[taken[(taken >= 0) & (taken <= len(taken))]] = False
        colour[k] = np.argmax(free)
    pairs = sp.coo_matrix(support)
    of_pair = colour[pairs.col]
    order = np.argsort(of_pair, kind="stable")
    ptr = np.searchsorted(of_pair[order], np.arange(colour.max(initial=-1) + 2))
    return ptr.astype(np.int64), pairs.row[order].astype(np.int64), pairs.col[order].astype(np.int64)
