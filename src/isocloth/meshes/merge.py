"""Merging coincident vertices."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from isocloth.base.typing import FloatArray, IntArray
from isocloth.meshes.topology import component_labels


def merge_vertices(vertices: FloatArray, faces: IntArray, *, tolerance: float = 1e-9) -> tuple[FloatArray, IntArray]:
    """Join vertices closer than `tolerance` times the bounding-box diagonal.

    The first of each group stays in place and the order of the survivors is kept. Vertices (n, 3) in m,
    faces (m, k); faces that collapse are left for validation to report.
    """
    # Exact copies first: formats that duplicate vertices make six of each, too many pairs for the search.
    _, first, inverse = np.unique(vertices, axis=0, return_index=True, return_inverse=True)
    distinct = vertices[first]
    diagonal = float(np.linalg.norm(np.ptp(distinct, axis=0))) if len(distinct) else 0.0
    pairs = cKDTree(distinct).query_pairs(tolerance * diagonal, output_type="ndarray")
    count, label = component_labels(len(distinct), pairs.astype(np.int64))
    group = label[inverse.reshape(-1)]
    keeper = np.full(count, len(vertices), dtype=np.int64)
    np.minimum.at(keeper, group, np.arange(len(vertices)))
    order = np.argsort(keeper)
    rank = np.empty(count, dtype=np.int64)
    rank[order] = np.arange(count)
    return vertices[keeper[order]], rank[group][faces]
