"""The problem of S5 in the space of its contacts: u = W r + b, with the law of Signorini and Coulomb between u and r.

Eliminating the cloth from M v + f = H^T r and u = H v + w leaves the operator of Delassus, W = H M^-1 H^T, and the
motion b of the contacts that no force hinders. Each contact has a frame of three rows, its normal and two directions
along the surface; u is a displacement over the step (the gap along the normal, the slip along the surface), r a force.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from isocloth.base.compiled import kernel
from isocloth.base.typing import BoolArray, FloatArray, IntArray
from isocloth.sparse.fronts import Fronts
from isocloth.sparse.multi_rhs import LANES, solve_eight, wanted_fronts


class Touching(NamedTuple):
    """Who touches whom: c contacts of at most four nodes each."""

    nodes: IntArray  # (c, 4)
    weights: FloatArray  # (c, 4) of their displacements; 0 where a place is not used or a node is held
    frames: FloatArray  # (c, 3, 3) rows: normal and two directions along the surface


class CoulombProblem(NamedTuple):
    """u = W r + b of c contacts, and the constants of their law."""

    W: FloatArray  # (3c, 3c) m/N
    b: FloatArray  # (3c,) m
    friction: FloatArray  # (c,)
    bears: FloatArray  # (c,) N, friction that is known whatever presses, in a contact that acts both ways; -1: neither


@kernel
def frames_of(normal: FloatArray) -> FloatArray:
    """Frames (c, 3, 3) of normals (c, 3): their first row, and two directions across it."""
    out = np.empty((len(normal), 3, 3))
    for k in range(len(normal)):
        n = normal[k]
        least = 0
        for d in range(1, 3):
            if abs(n[d]) < abs(n[least]):
                least = d
        # the axis that is least along the normal, without its part along it
        size = np.sqrt(1.0 - n[least] * n[least])
        for d in range(3):
            out[k, 0, d] = n[d]
            out[k, 1, d] = ((1.0 if d == least else 0.0) - n[least] * n[d]) / size
        t = out[k, 1]
        out[k, 2, 0] = n[1] * t[2] - n[2] * t[1]
        out[k, 2, 1] = n[2] * t[0] - n[0] * t[2]
        out[k, 2, 2] = n[0] * t[1] - n[1] * t[0]
    return out


@kernel
def moved(touching: Touching, x: FloatArray) -> FloatArray:
    """H x (3c,), displacements of contacts in their frames, of displacements x of scalars."""
    count = len(touching.nodes)
    out = np.zeros(3 * count)
    for k in range(count):
        for a in range(4):
            w, p = touching.weights[k, a], 3 * touching.nodes[k, a]
            if w != 0.0:
                for i in range(3):
                    e = touching.frames[k, i]
                    out[3 * k + i] += w * (e[0] * x[p] + e[1] * x[p + 1] + e[2] * x[p + 2])
    return out


@kernel
def add_load(touching: Touching, r: FloatArray, x: FloatArray) -> None:
    """x += H^T r, of forces (3c,) in the frames of contacts."""
    for k in range(len(touching.nodes)):
        for a in range(4):
            w, p = touching.weights[k, a], 3 * touching.nodes[k, a]
            if w != 0.0:
                for i in range(3):
                    for d in range(3):
                        x[p + d] += w * r[3 * k + i] * touching.frames[k, i, d]


@kernel
def delassus(f: Fronts, touching: Touching, scalars: int) -> FloatArray:
    """W = H A^-1 H^T (3c, 3c) with the factor f of A, which has so many scalars; eight columns at a time."""
    size = 3 * len(touching.nodes)
    out = np.empty((size, size))
    reached, wanted = np.zeros(scalars, dtype=np.bool_), np.zeros(len(f.size), dtype=np.bool_)
    for k in range(len(touching.nodes)):
        for a in range(4):
            if touching.weights[k, a] != 0.0:
                for d in range(3):
                    reached[3 * touching.nodes[k, a] + d] = True
    wanted_fronts(f, reached, wanted)
    x, room = np.empty((scalars, LANES)), np.empty((len(f.work) + LANES, LANES))
    total = np.empty(LANES)
    for first in range(0, size, LANES):
        lanes = min(LANES, size - first)
        x[:] = 0.0
        for lane in range(lanes):
            k, i = (first + lane) // 3, (first + lane) % 3
            for a in range(4):
                w, p = touching.weights[k, a], 3 * touching.nodes[k, a]
                if w != 0.0:
                    for d in range(3):
                        x[p + d, lane] += w * touching.frames[k, i, d]
        solve_eight(f, x, room, wanted)
        for q in range(size):
            k, i = q // 3, q % 3
            total[:] = 0.0
            for a in range(4):
                w, p = touching.weights[k, a], 3 * touching.nodes[k, a]
                if w != 0.0:
                    for d in range(3):
                        share = w * touching.frames[k, i, d]
                        for lane in range(LANES):
                            total[lane] += share * x[p + d, lane]
            for lane in range(lanes):
                out[first + lane, q] = total[lane]
    for q in range(size):
        for p in range(q):
            out[p, q] = out[q, p] = 0.5 * (out[p, q] + out[q, p])
    return out


@kernel
def without_held(nodes: IntArray, weights: FloatArray, held: BoolArray) -> FloatArray:
    """Weights (c, 4) with those of held nodes, which no force moves, left out."""
    out = weights.copy()
    for k in range(len(nodes)):
        for a in range(4):
            if held[nodes[k, a]]:
                out[k, a] = 0.0
    return out
