"""What can touch: the triangles of the cloth and the features of obstacles, as one set of vertices."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from isocloth.base.memo import memoised
from isocloth.base.typing import BoolArray, FloatArray, IntArray


class Surface(NamedTuple):
    """Topology for contact. Vertices 0 ... n-1 are the nodes of the cloth, those of obstacle features follow."""

    nodes: IntArray  #: vertices that take part in node-face pairs
    edges: IntArray  #: (E, 2)
    faces: IntArray  #: (F, 3) triangles
    body: IntArray  #: (V,) 0 for the cloth, k >= 1 for obstacle features
    reach: FloatArray  #: (bodies,) separation kept between cloth and body, in m; of body 0 between layers of cloth
    bare: BoolArray  #: (bodies,) whether a body has edges but no faces, as a stick


class Feature(NamedTuple):
    """Points, edges or triangles of an obstacle; indices count from its own first vertex."""

    size: int  #: number of vertices
    edges: IntArray  #: (e, 2)
    faces: IntArray  #: (f, 3)
    reach: float  #: separation to be kept from the cloth, in m


class Pairs(NamedTuple):
    """Pairs that may come close."""

    node_face: IntArray  #: (p, 2) vertex and index of the face
    edge_edge: IntArray  #: (q, 2) indices of the edges; a cloth edge comes first


def build_surface(count: int, triangles: IntArray, thickness: float, features: Iterable[Feature] = ()) -> Surface:
    """The surface of a cloth of `count` nodes and `triangles` (m, 3), beside features in the order of their vertices.

    All edges of the triangulation take part. The k-th feature is body k, from 1.
    """
    faces = [np.asarray(triangles, dtype=np.int64).reshape(-1, 3)]
    edges = [_edges(faces[0])]
    nodes, body = [np.arange(count)], [np.zeros(count, dtype=np.int64)]
    reach, bare, first = [thickness], [False], count
    for k, feature in enumerate(features, start=1):
        own_edges = np.asarray(feature.edges, dtype=np.int64).reshape(-1, 2)
        own_faces = np.asarray(feature.faces, dtype=np.int64).reshape(-1, 3)
        edges.append(own_edges + first)
        faces.append(own_faces + first)
        nodes.append(first + np.arange(feature.size))
        body.append(np.full(feature.size, k, dtype=np.int64))
        reach.append(feature.reach)
        bare.append(len(own_edges) > 0 and len(own_faces) == 0)
        first += feature.size
    return Surface(
        nodes=np.concatenate(nodes),
        edges=np.concatenate(edges),
        faces=np.concatenate(faces),
        body=np.concatenate(body),
        reach=np.array(reach, dtype=np.float64),
        bare=np.array(bare, dtype=np.bool_),
    )


@memoised
def _edges(triangles: IntArray) -> IntArray:
    """Every edge once (e, 2), the smaller index first."""
    sides = np.sort(triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
    return np.unique(sides, axis=0)
