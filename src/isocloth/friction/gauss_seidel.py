"""Displacements that take points out of obstacles, with Coulomb friction: contact after a step, not within it.

Each contact in turn is pushed along its normal until its gap is closed, never pulled, and back along the surface to
where it came from, by at most mu times the push; repeated until nothing changes (Gauss-Seidel). For models whose steps
know no contact.
"""

from __future__ import annotations

import numpy as np

from isocloth.base.compiled import inlined, kernel
from isocloth.base.typing import BoolArray, FloatArray
from isocloth.contact.contact_set import ContactSet


@kernel
def mobility(c: ContactSet, mass: FloatArray, held: BoolArray) -> FloatArray:
    """Displacement of contacts (c,) by a push of their own, 1/kg, or m/N where `mass` (n,) is an inertia in N/m."""
    out = np.zeros(len(c.gap))
    for k in range(len(c.gap)):
        for a in range(4):
            w, i = c.weights[k, a], c.nodes[k, a]
            if w != 0.0 and not held[i]:
                out[k] += w * w / mass[i]
    return out


@inlined
def _relative(c: ContactSet, k: int, moved: FloatArray, u: FloatArray) -> None:
    """Relative displacement u (3,) of contact k where nodes have moved by (n, 3)."""
    for d in range(3):
        u[d] = 0.0
        for a in range(4):
            u[d] += c.weights[k, a] * moved[c.nodes[k, a], d]


@inlined
def _lawful(c: ContactSet, k: int, u: FloatArray, mobility: float, old: FloatArray, push: FloatArray) -> float:
    """The push (3,) that contact k asks for after displacements u (3,) by pushes of which its own is old; its gap."""
    n = c.normal[k]
    gap = c.gap[k] + u[0] * n[0] + u[1] * n[1] + u[2] * n[2]
    normal = max(0.0, old[0] * n[0] + old[1] * n[1] + old[2] * n[2] - gap / mobility)
    # along the surface: what would undo the slip, as far as friction bears it
    along = slip = 0.0
    for d in range(3):
        push[d] = old[d] - (c.slip[k, d] + u[d]) / mobility
        along += push[d] * n[d]
    for d in range(3):
        push[d] -= along * n[d]
        slip += push[d] ** 2
    limit = c.friction[k] * normal
    share = 1.0 if slip <= limit**2 else limit / np.sqrt(slip)
    for d in range(3):
        push[d] = normal * n[d] + share * push[d]
    return gap


@kernel
def projected_gauss_seidel(
    c: ContactSet, mass: FloatArray, held: BoolArray, sweeps: int, tolerance: float, moved: FloatArray, push: FloatArray
) -> float:
    """Add displacements of nodes to moved (n, 3), m; push (c, 3) kg m, of contacts; returns the deepest left, m."""
    loose = mobility(c, mass, held)
    deepest = 0.0
    for _ in range(sweeps):
        deepest, change = sweep(c, loose, mass, held, moved, moved, push)
        if change < tolerance:
            break
    return deepest


@kernel
def sweep(
    c: ContactSet, loose: FloatArray, mass: FloatArray, held: BoolArray, seen: FloatArray, moved: FloatArray,
    push: FloatArray,
) -> tuple[float, float]:  # fmt: skip
    """Every contact once, in their order; returns the deepest that was met, m, and the largest change of a place, m.

    loose: (c,) as `mobility` returns it.
    seen: (n, 3) displacements that contacts know of: `moved` itself, or a copy of it, and none knows what others do.
    """
    u, new = np.zeros(3), np.zeros(3)
    deepest = change = 0.0
    for k in range(len(c.gap)):
        if loose[k] == 0.0:
            continue
        _relative(c, k, seen, u)
        deepest = max(deepest, -_lawful(c, k, u, loose[k], push[k], new))
        for d in range(3):
            step = new[d] - push[k, d]
            push[k, d] = new[d]
            change = max(change, abs(step) * loose[k])
            for a in range(4):
                i = c.nodes[k, a]
                if c.weights[k, a] != 0.0 and not held[i]:
                    moved[i, d] += c.weights[k, a] * step / mass[i]
    return deepest, change


@kernel
def alart_curnier(
    c: ContactSet, mass: FloatArray, held: BoolArray, moved: FloatArray, push: FloatArray
) -> tuple[float, float]:
    """Mean distance of pushes from those that their contacts ask for (Alart and Curnier's error), and their mean size.

    The displacement of a contact is weighed with the inertia that it moves.
    """
    loose = mobility(c, mass, held)
    u, new = np.zeros(3), np.zeros(3)
    off = size = 0.0
    for k in range(len(c.gap)):
        if loose[k] == 0.0:
            continue
        _relative(c, k, moved, u)
        _lawful(c, k, u, loose[k], push[k], new)
        difference = square = 0.0
        for d in range(3):
            difference += (new[d] - push[k, d]) ** 2
            square += push[k, d] ** 2
        off, size = off + np.sqrt(difference), size + np.sqrt(square)
    count = max(len(c.gap), 1)
    return off / count, size / count


@kernel
def unmet(c: ContactSet, mass: FloatArray, held: BoolArray, moved: FloatArray, push: FloatArray) -> float:
    """How far pushes (c, 3) are from those that their contacts ask for where nodes have moved by (n, 3), m: the largest
    difference, relative to the largest push; 0 where gaps are closed or open, and slips undone as far as friction goes.
    """
    loose = mobility(c, mass, held)
    u, new = np.zeros(3), np.zeros(3)
    off = largest = 0.0
    for k in range(len(c.gap)):
        if loose[k] == 0.0:
            continue
        _relative(c, k, moved, u)
        _lawful(c, k, u, loose[k], push[k], new)
        difference = size = 0.0
        for d in range(3):
            difference += (new[d] - push[k, d]) ** 2
            size += push[k, d] ** 2
        off, largest = max(off, difference), max(largest, size)
    return np.sqrt(off / largest) if largest > 0.0 else 0.0
