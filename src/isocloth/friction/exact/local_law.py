"""The law of Signorini and Coulomb at one contact, solved exactly: u = W r + b in its frame (normal, two along).

    take-off  u_N >= 0, r = 0;    stick  u = 0, |r_T| <= mu r_N;    slide  u_N = 0, r_T = -mu r_N u_T / |u_T|.

What takes off or sticks is known at once. Sliding is found by Newton's method on the function of Alart and Curnier,
F = (u_N, r_T - P(r_T - rho u_T)) with P the projection on the disk of radius mu (r_N - rho u_N). Where that does not
converge, by a search for the one number that is unknown: u_T = -z r_T with z > 0 gives

    [W_NN  W_NT; W_TN  W_TT + z] r = -b,    |r_T(z)| = mu r_N(z),

whose matrix is positive definite. At z = 0, where the contact would stick, |r_T| is too large, and it vanishes as z
grows while r_N tends to -b_N / W_NN > 0, so that there always is such a z.
"""

from __future__ import annotations

import numpy as np

from isocloth.base.compiled import kernel
from isocloth.base.typing import FloatArray

OPEN, STICKS, SLIDES = 0, 1, 2

#: steps of Newton's method before the search, change of a force at which they end, and halvings of the search
_STEPS, _CLOSE, _HALVINGS = 12, 1e-14, 200


@kernel
def _solve3(m: FloatArray, v: FloatArray, out: FloatArray) -> bool:
    """out = m^-1 v, of a matrix (3, 3), by its cofactors; False if it is singular."""
    c00 = m[1, 1] * m[2, 2] - m[1, 2] * m[2, 1]
    c01 = m[1, 2] * m[2, 0] - m[1, 0] * m[2, 2]
    c02 = m[1, 0] * m[2, 1] - m[1, 1] * m[2, 0]
    det = m[0, 0] * c00 + m[0, 1] * c01 + m[0, 2] * c02
    if not abs(det) > 0.0:
        return False
    x = c00 * v[0] + (m[0, 2] * m[2, 1] - m[0, 1] * m[2, 2]) * v[1] + (m[0, 1] * m[1, 2] - m[0, 2] * m[1, 1]) * v[2]
    y = c01 * v[0] + (m[0, 0] * m[2, 2] - m[0, 2] * m[2, 0]) * v[1] + (m[0, 2] * m[1, 0] - m[0, 0] * m[1, 2]) * v[2]
    z = c02 * v[0] + (m[0, 1] * m[2, 0] - m[0, 0] * m[2, 1]) * v[1] + (m[0, 0] * m[1, 1] - m[0, 1] * m[1, 0]) * v[2]
    out[0], out[1], out[2] = x / det, y / det, z / det
    return bool(np.isfinite(out[0]) and np.isfinite(out[1]) and np.isfinite(out[2]))


@kernel
def local_law(W: FloatArray, b: FloatArray, mu: float, bears: float, r: FloatArray) -> int:
    """Overwrite r (3,) N, a first guess, with the force that the law asks for; says OPEN, STICKS or SLIDES.

    W: (3, 3) m/N, positive definite; b: (3,) m. bears: see `CoulombProblem`.
    """
    both = bears >= 0.0
    if b[0] >= 0.0 and not both:
        r[:] = 0.0
        return OPEN
    guess0, guess1, guess2 = r[0], r[1], r[2]
    minus = np.empty(3)
    for i in range(3):
        minus[i] = -b[i]
    if _solve3(W, minus, r):
        limit = bears if both else mu * r[0]
        if np.sqrt(r[1] ** 2 + r[2] ** 2) <= limit:
            return STICKS
    r[0], r[1], r[2] = guess0, guess1, guess2
    if not slide_by_newton(W, b, mu, bears, r):
        slide_by_search(W, b, mu, bears, r)
    return SLIDES


@kernel
def slide_by_newton(W: FloatArray, b: FloatArray, mu: float, bears: float, r: FloatArray) -> bool:
    """Force (3,) of a contact that slides, from a first guess; False if Newton's method has not found one."""
    both = bears >= 0.0
    rho = 3.0 / (W[0, 0] + W[1, 1] + W[2, 2])
    if not both and not r[0] > 0.0:
        r[0] = -b[0] / W[0, 0]
    t, u, v, step, m = np.empty(3), np.empty(3), np.empty(3), np.empty(3), np.empty((3, 3))
    for _ in range(_STEPS):
        for i in range(3):
            u[i] = W[i, 0] * r[0] + W[i, 1] * r[1] + W[i, 2] * r[2] + b[i]
            t[i] = r[i] - rho * u[i]
        pull = np.sqrt(t[1] ** 2 + t[2] ** 2)
        limit = bears if both else mu * t[0]
        if not limit >= 0.0 or not pull > 0.0:
            return False
        e1, e2, share = t[1] / pull, t[2] / pull, limit / pull
        v[0], v[1], v[2] = -rho * u[0], limit * e1 - r[1], limit * e2 - r[2]
        grows = 0.0 if both else mu
        for j in range(3):
            along0 = (1.0 if j == 0 else 0.0) - rho * W[0, j]
            along1 = (1.0 if j == 1 else 0.0) - rho * W[1, j]
            along2 = (1.0 if j == 2 else 0.0) - rho * W[2, j]
            inner = e1 * along1 + e2 * along2
            m[0, j] = rho * W[0, j]
            m[1, j] = (1.0 if j == 1 else 0.0) - e1 * grows * along0 - share * (along1 - e1 * inner)
            m[2, j] = (1.0 if j == 2 else 0.0) - e2 * grows * along0 - share * (along2 - e2 * inner)
        if not _solve3(m, v, step):
            return False
        size = change = 0.0
        for i in range(3):
            r[i] += step[i]
            size, change = max(size, abs(r[i])), max(change, abs(step[i]))
        if change <= _CLOSE * size:
            return pull >= limit and (both or r[0] > 0.0)
    return False


@kernel
def slide_by_search(W: FloatArray, b: FloatArray, mu: float, bears: float, r: FloatArray) -> None:
    """Force (3,) of a contact that slides, by halving an interval of z."""
    low, high = 0.0, W[0, 0] + W[1, 1] + W[2, 2]
    while _excess(W, b, mu, bears, high, r) > 0.0 and high < 1e300:
        low, high = high, 4.0 * high
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        if not low < middle < high:
            break
        if _excess(W, b, mu, bears, middle, r) > 0.0:
            low = middle
        else:
            high = middle
    _excess(W, b, mu, bears, high, r)


@kernel
def _excess(W: FloatArray, b: FloatArray, mu: float, bears: float, z: float, r: FloatArray) -> float:
    """|r_T(z)| less what friction bears, N; r (3,) is r(z)."""
    m, v = W.copy(), np.empty(3)
    m[1, 1] += z
    m[2, 2] += z
    for i in range(3):
        v[i] = -b[i]
    _solve3(m, v, r)
    limit = bears if bears >= 0.0 else mu * r[0]
    return float(np.sqrt(r[1] ** 2 + r[2] ** 2) - limit)
