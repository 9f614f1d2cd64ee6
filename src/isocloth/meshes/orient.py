"""Consistent orientation: turning faces over until neighbours run along shared edges in opposite ways."""

from __future__ import annotations

import numpy as np

from isocloth.base.errors import MeshError
from isocloth.base.typing import BoolArray, IntArray
from isocloth.meshes.topology import EdgeTable, component_labels, edge_sides


def clashing_edges(table: EdgeTable) -> IntArray:
    """Edges that both of their faces traverse in the same direction."""
    pairs = edge_sides(table)
    inner = np.flatnonzero(pairs[:, 1] >= 0)
    forward = table.side_forward[pairs[inner]]
    return inner[forward[:, 0] == forward[:, 1]]


def faces_to_flip(faces: IntArray, table: EdgeTable) -> BoolArray:
    """Which faces, shape (m,), to turn over so that every connected surface is consistently oriented.

    Of each the fewer faces are turned; on a tie its first face is kept. Each face is doubled into a "kept" and a
    "turned" copy, and copies that agree along an edge are linked: an orientable surface falls apart into its two
    orientations, a non-orientable one stays in one piece.
    """
    m, k = faces.shape
    pairs = edge_sides(table)
    pairs = pairs[pairs[:, 1] >= 0]
    clash = table.side_forward[pairs[:, 0]] == table.side_forward[pairs[:, 1]]
    f, g = pairs[:, 0] // k, pairs[:, 1] // k
    kept = np.stack([f, g + m * clash], axis=1)
    turned = np.stack([f + m, g + m * ~clash], axis=1)
    _, label = component_labels(2 * m, np.concatenate([kept, turned]))
    if (label[:m] == label[m:]).any():
        raise MeshError(
            "the surface cannot be oriented: it contains a Moebius band, a cloth needs two sides; "
            "cut it open or remove the twist"
        )
    _, part = component_labels(m, np.stack([f, g], axis=1))
    _, first = np.unique(part, return_index=True)
    flip = label[:m] != label[first[part]]
    most: BoolArray = 2 * np.bincount(part[flip], minlength=len(first)) > np.bincount(part)
    turned_over: BoolArray = flip != most[part]
    return turned_over


def turn_over(faces: IntArray, flip: BoolArray) -> IntArray:
    """Reverse the rows of `faces` selected by `flip`; the first node of each row stays first."""
    turned = faces.copy()
    turned[flip, 1:] = faces[flip, :0:-1]
    return turned
