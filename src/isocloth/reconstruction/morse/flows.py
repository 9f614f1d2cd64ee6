"""The flows of chapter 5: every point to the neighbour with the steepest rise or fall, equations (5.1) and (5.2)."""

from __future__ import annotations

import numpy as np

from isocloth.base.typing import FloatArray, IntArray
from isocloth.reconstruction.morse.discrete_gradient import ranks


def down(points: FloatArray, edges: IntArray, height: FloatArray) -> IntArray:
    """Down(v) (n,) of eq. (5.2): the neighbour with the most negative slope; v itself at a local minimum.

    Neighbours are the ends of `edges` (e, 2): all edges of the surface, or those of its boundary for the restricted
    flow. Equal heights are ordered by the index of the point, so that every flow ends.
    """
    rank = ranks(height)
    swap = rank[edges[:, 0]] < rank[edges[:, 1]]
    high, low = np.where(swap, edges[:, 1], edges[:, 0]), np.where(swap, edges[:, 0], edges[:, 1])
    slope = (height[low] - height[high]) / np.linalg.norm(points[low] - points[high], axis=1)
    # the last assignment wins: the steepest, among equals the lowest
    order = np.lexsort((-rank[low], -slope))
    target = np.arange(len(points))
    target[high[order]] = low[order]
    return target


def up(points: FloatArray, edges: IntArray, height: FloatArray) -> IntArray:
    """Up(v) (n,) of eq. (5.1): the neighbour with the largest slope; v itself at a local maximum."""
    rank = ranks(height)
    swap = rank[edges[:, 0]] < rank[edges[:, 1]]
    high, low = np.where(swap, edges[:, 1], edges[:, 0]), np.where(swap, edges[:, 0], edges[:, 1])
    slope = (height[high] - height[low]) / np.linalg.norm(points[low] - points[high], axis=1)
    order = np.lexsort((rank[high], slope))
    target = np.arange(len(points))
    target[low[order]] = high[order]
    return target
