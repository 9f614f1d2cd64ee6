"""Contact forces that carry the weight of a cloth, each in its cone of friction: the nearest ones to a wish.

Internal forces of a cloth balance themselves, so whatever its rest shape is, the forces of what holds and carries it
must balance its weight in force and torque. Of all such forces that stay in their cones those nearest to wanted ones
are chosen:

    min sum_c |r_c - w_c|^2 / 2    so that    sum over c of B_c r_c = b,    r_c - a_c n_c  in  K(mu_c)

B (m, 3c) has six rows for every piece of cloth. The problem has many forces and few equations, so its dual is solved,
in the m multipliers alone: with P the projection onto the cones,

    r(y) = a n + P(w - a n + B^T y),    B r(y) = b,

is the derivative of a concave function of y, and Newton's method finds its zero. Where there is none, no forces in the
cones carry this weight, whatever the rest shape.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from isocloth.base.compiled import kernel
from isocloth.base.typing import FloatArray

#: steps of Newton's method, and the imbalance relative to the weight at which it ends
STEPS, TOLERANCE = 200, 1e-12


class Cones(NamedTuple):
    """Of contacts: normals (c, 3), coefficients of friction (c,), inf for a hand that bears every force, and the least
    normal forces (c,), N."""

    normal: FloatArray
    friction: FloatArray
    least: FloatArray


def balanced(wanted: FloatArray, cones: Cones, B: FloatArray, load: FloatArray) -> tuple[FloatArray, float]:
    """Forces (c, 3) N nearest to wanted ones, and how far they are from balancing the load (m,), relative to it."""
    size = float(np.abs(load).max(initial=0.0)) or 1.0
    scale = np.maximum(np.linalg.norm(B, axis=1), 1e-300)
    rows, right = B / scale[:, None], load / scale
    lowest = cones.least[:, None] * cones.normal
    right = right - rows @ lowest.ravel()
    unit = float(np.linalg.norm(load / scale)) or size
    y, offset = np.zeros(len(load)), wanted - lowest
    push, slope = np.empty_like(wanted), np.empty((len(wanted), 3, 3))
    value = _dual(cones, offset, rows, right, y, push, slope)
    for _ in range(STEPS):
        residual = right - rows @ push.ravel()
        if np.linalg.norm(residual) <= TOLERANCE * unit:
            break
        matrix = _curvature(rows, slope)
        matrix[np.diag_indices_from(matrix)] += 1e-14 * max(np.trace(matrix), 1e-300) + 1e-300
        step = np.linalg.solve(matrix, residual)
        share, ascent = 1.0, float(residual @ step)
        while share > 1e-10:
            found = _dual(cones, offset, rows, right, y + share * step, push, slope)
            if found >= value + 1e-4 * share * ascent:
                break
            share *= 0.5
        else:
            _dual(cones, offset, rows, right, y, push, slope)
            break
        y, value = y + share * step, found
    off = float(np.linalg.norm(right - rows @ push.ravel())) / unit
    return push + lowest, off


def _dual(
    cones: Cones, offset: FloatArray, rows: FloatArray, right: FloatArray, y: FloatArray, push: FloatArray,
    slope: FloatArray,
) -> float:  # fmt: skip
    """The dual function at y, with the forces and their derivatives (c, 3, 3) there."""
    project(cones, offset + (rows.T @ y).reshape(-1, 3), push, slope)
    return float(right @ y - 0.5 * np.sum(push * push))


def _curvature(rows: FloatArray, slope: FloatArray) -> FloatArray:
    """B P' B^T (m, m)."""
    blocks = rows.reshape(len(rows), -1, 3)
    return np.asarray(np.einsum("mcd,cde,nce->mn", blocks, slope, blocks, optimize=True))


@kernel
def project(cones: Cones, force: FloatArray, out: FloatArray, slope: FloatArray) -> None:
    """The nearest forces (c, 3) in the cones, and the derivatives (c, 3, 3) of these."""
    for k in range(len(force)):
        n, mu, f = cones.normal[k], cones.friction[k], force[k]
        slope[k] = 0.0
        push = f[0] * n[0] + f[1] * n[1] + f[2] * n[2]
        t = np.empty(3)
        pull = 0.0
        for d in range(3):
            t[d] = f[d] - push * n[d]
            pull += t[d] * t[d]
        pull = np.sqrt(pull)
        if mu == np.inf or pull <= mu * push:
            for d in range(3):
                out[k, d] = f[d]
                slope[k, d, d] = 1.0
            continue
        if mu * pull <= -push or pull == 0.0:
            out[k] = 0.0
            continue
        size = (push + mu * pull) / (1.0 + mu * mu)
        for d in range(3):
            t[d] /= pull
            out[k, d] = size * (n[d] + mu * t[d])
        turn = mu * size / pull
        for d in range(3):
            for e in range(3):
                along = (n[d] + mu * t[d]) * (n[e] + mu * t[e]) / (1.0 + mu * mu)
                slope[k, d, e] = along - turn * (n[d] * n[e] + t[d] * t[e])
            slope[k, d, d] += turn


def outside(cones: Cones, force: FloatArray, margin: float = 1.0) -> FloatArray:
    """(c,) N: how far forces (c, 3) are out of cones of so much of the friction: what is pulled, and what slips."""
    push = np.einsum("cd,cd->c", force, cones.normal)
    pull = np.linalg.norm(force - push[:, None] * cones.normal, axis=1)
    hand = np.isinf(cones.friction)
    mu = np.where(hand, 0.0, margin * cones.friction)
    return np.where(hand, 0.0, np.maximum(-push, 0.0) + np.maximum(pull - mu * push, 0.0))
