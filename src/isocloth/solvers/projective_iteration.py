"""The iteration of projective dynamics, compiled: gradient, contacts, one solve with the constant matrix."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from isocloth.base.compiled import inlined, kernel
from isocloth.base.typing import BoolArray, FloatArray, IntArray
from isocloth.cloth.cloth import Sparse
from isocloth.contact.contact_set import ContactSet
from isocloth.friction.gauss_seidel import mobility, sweep, unmet
from isocloth.sparse.fronts import Fronts
from isocloth.sparse.multi_rhs import solve_eight


class Springs(NamedTuple):
    """Pairs of nodes with a rest length."""

    ends: IntArray  # (s, 2)
    length: FloatArray  # (s,) m
    stiffness: FloatArray  # (s,) N/m


class Potential(NamedTuple):
    """What a step minimises, as kernels read it."""

    springs: Springs
    matrix: Sparse  # K 1/m^2
    bending: FloatArray  # (n,) N m, factors of its rows
    inertia: FloatArray  # (n,) N/m
    load: FloatArray  # (n, 3) N
    held: BoolArray  # (n,)
    mass: FloatArray  # (n,) kg


class Solve(NamedTuple):
    """The constant matrix, factorised, and room to solve with it."""

    fronts: Fronts
    room: FloatArray  # (n, LANES)
    work: FloatArray
    wanted: BoolArray  # (fronts,) all of them


class Found(NamedTuple):
    """How far an iteration came."""

    iterations: int
    converged: bool
    residual: float  # m/s^2, rms over the free mass
    unmet: float  # largest distance of a contact force from its law, relative to the largest of them


@kernel
def iterate(
    p: Potential, s: Solve, c: ContactSet, ordered: bool, penalty: FloatArray, most: int, tolerance: float,
    floor: float, start: FloatArray, y: FloatArray, force: FloatArray, gradient: FloatArray, nodal: FloatArray,
) -> Found:  # fmt: skip
    """Overwrite y (n, 3) by the end of a step, force (c, 3) N by those of the contacts that were found at `start`.

    penalty: (c,) N/m, of springs in place of the law of contact; empty: none. gradient, nodal: (n, 3) N, that of the
    potential at y and the forces of contacts on the nodes.
    """
    n, count = len(y), len(c.gap)
    penalised = len(penalty) > 0
    loose = mobility(c, p.inertia, p.held)
    moved = np.empty((n, 3))
    done, off = 0, 0.0
    while True:
        springs = slope(p, y, gradient)
        if penalised:
            _press(c, penalty, start, y, force)
        spread(c, force, nodal)
        residual, imposed = _accelerations(p, gradient, nodal, springs)
        if done > 0:
            if count and not penalised:
                for i in range(n):
                    for d in range(3):
                        moved[i, d] = y[i, d] - start[i, d]
                off = unmet(c, p.inertia, p.held, moved, force)
            converged = residual <= max(tolerance * imposed, floor) and off <= tolerance
            if converged or done >= most:
                return Found(done, converged, residual, off)
        if count and not penalised:
            for i in range(n):
                for d in range(3):
                    moved[i, d] = y[i, d] - start[i, d]
                    if not p.held[i]:
                        moved[i, d] += (nodal[i, d] - gradient[i, d]) / p.inertia[i]
            sweep(c, loose, p.inertia, p.held, moved if ordered else moved.copy(), moved, force)
            spread(c, force, nodal)
        for i in range(n):
            for d in range(3):
                s.room[i, d] = 0.0 if p.held[i] else nodal[i, d] - gradient[i, d]
        solve_eight(s.fronts, s.room, s.work, s.wanted)
        for i in range(n):
            for d in range(3):
                y[i, d] += s.room[i, d]
        done += 1


@kernel
def slope(p: Potential, y: FloatArray, out: FloatArray) -> float:
    """Gradient (n, 3) N of the potential at y, and rms over the free mass of what springs impose, m/s^2."""
    n, springs, k = len(y), p.springs, p.matrix
    out[:] = 0.0
    for q in range(len(springs.length)):
        i, j = springs.ends[q, 0], springs.ends[q, 1]
        x0, x1, x2 = y[j, 0] - y[i, 0], y[j, 1] - y[i, 1], y[j, 2] - y[i, 2]
        length = np.sqrt(x0 * x0 + x1 * x1 + x2 * x2)
        pull = springs.stiffness[q] * (1.0 - springs.length[q] / max(length, 1e-300))
        out[i, 0] -= pull * x0
        out[i, 1] -= pull * x1
        out[i, 2] -= pull * x2
        out[j, 0] += pull * x0
        out[j, 1] += pull * x1
        out[j, 2] += pull * x2
    total = imposed = 0.0
    for i in range(n):
        if not p.held[i]:
            total += p.mass[i]
            imposed += (out[i, 0] ** 2 + out[i, 1] ** 2 + out[i, 2] ** 2) / p.mass[i]
        g0, g1, g2 = p.inertia[i] * y[i, 0], p.inertia[i] * y[i, 1], p.inertia[i] * y[i, 2]
        for at in range(k.indptr[i], k.indptr[i + 1]):
            j, v = k.indices[at], p.bending[i] * k.data[at]
            g0 += v * y[j, 0]
            g1 += v * y[j, 1]
            g2 += v * y[j, 2]
        out[i, 0] += g0 - p.load[i, 0]
        out[i, 1] += g1 - p.load[i, 1]
        out[i, 2] += g2 - p.load[i, 2]
    return np.sqrt(imposed / max(total, 1e-300))


@kernel
def spread(c: ContactSet, force: FloatArray, nodal: FloatArray) -> None:
    """Forces (c, 3) of contacts on the nodes (n, 3), N."""
    nodal[:] = 0.0
    for k in range(len(c.gap)):
        for a in range(4):
            w, i = c.weights[k, a], c.nodes[k, a]
            if w != 0.0:
                for d in range(3):
                    nodal[i, d] += w * force[k, d]


@inlined
def _accelerations(p: Potential, gradient: FloatArray, nodal: FloatArray, springs: float) -> tuple[float, float]:
    """rms over the free mass of the residual, and of what springs and contacts impose, m/s^2."""
    total = off = pressed = 0.0
    for i in range(len(nodal)):
        if not p.held[i]:
            total += p.mass[i]
            for d in range(3):
                off += (nodal[i, d] - gradient[i, d]) ** 2 / p.mass[i]
                pressed += nodal[i, d] ** 2 / p.mass[i]
    total = max(total, 1e-300)
    return np.sqrt(off / total), max(springs, np.sqrt(pressed / total))


@inlined
def _press(c: ContactSet, penalty: FloatArray, start: FloatArray, y: FloatArray, force: FloatArray) -> None:
    """Forces of springs that push out along the normals, where a contact is closed at y."""
    for k in range(len(c.gap)):
        gap = c.gap[k]
        for a in range(4):
            w, i = c.weights[k, a], c.nodes[k, a]
            if w != 0.0:
                for d in range(3):
                    gap += w * c.normal[k, d] * (y[i, d] - start[i, d])
        for d in range(3):
            force[k, d] = -penalty[k] * min(gap, 0.0) * c.normal[k, d]
