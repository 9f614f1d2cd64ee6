"""Displacements that take points out of obstacles, with Coulomb friction: contact after a step, not within it.

Each contact in turn is pushed along its normal until its gap is closed, never pulled, and back along the surface to
where it came from, by at most mu times the push; repeated until nothing changes (Gauss-Seidel). For models whose steps
know no contact.
"""

from __future__ import annotations

import numpy as np

from isocloth.compiled import kernel
from isocloth.solver.coulomb import ContactSet
from isocloth.typing import BoolArray, FloatArray


@kernel
def push_out(
    c: ContactSet, mass: FloatArray, held: BoolArray, sweeps: int, tolerance: float, moved: FloatArray, push: FloatArray
) -> float:
    """Add displacements of nodes to moved (n, 3), m; push (c, 3) kg m, of contacts; returns the deepest left, m."""
    count = len(c.gap)
    mobility = np.zeros(count)
    for k in range(count):
        for a in range(4):
            w, i = c.weights[k, a], c.nodes[k, a]
            if w != 0.0 and not held[i]:
                mobility[k] += w * w / mass[i]
    deepest = 0.0
    for _ in range(sweeps):
        deepest = change = 0.0
        for k in range(count):
            if mobility[k] == 0.0:
                continue
            n = c.normal[k]
            u = np.zeros(3)
            for a in range(4):
                for d in range(3):
                    u[d] += c.weights[k, a] * moved[c.nodes[k, a], d]
            gap = c.gap[k] + u[0] * n[0] + u[1] * n[1] + u[2] * n[2]
            deepest = max(deepest, -gap)
            old = push[k].copy()
            normal = max(0.0, old[0] * n[0] + old[1] * n[1] + old[2] * n[2] - gap / mobility[k])
            # along the surface: what would undo the slip, as far as friction bears it
            t = np.empty(3)
            along = slip = 0.0
            for d in range(3):
                t[d] = old[d] - (c.slip[k, d] + u[d]) / mobility[k]
                along += t[d] * n[d]
            for d in range(3):
                t[d] -= along * n[d]
                slip += t[d] ** 2
            limit = c.friction[k] * normal
            share = 1.0 if slip <= limit**2 else limit / np.sqrt(slip)
            for d in range(3):
                push[k, d] = normal * n[d] + share * t[d]
                step = push[k, d] - old[d]
                change = max(change, abs(step) * mobility[k])
                for a in range(4):
                    i = c.nodes[k, a]
                    if c.weights[k, a] != 0.0 and not held[i]:
                        moved[i, d] += c.weights[k, a] * step / mass[i]
        if change < tolerance:
            break
    return deepest
