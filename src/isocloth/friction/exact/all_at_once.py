"""Newton's method on the function of Alart and Curnier of all contacts at once.

Gauss-Seidel soon knows which contacts are open, stick and slide. But a cloth that hardly stretches couples the forces
along its surface over its whole width, and their last digits would take thousands of sweeps. With who sticks and slides
known, these are a smooth system, of which a step of Newton's method gives them at once. A step that does not bring the
law nearer is not taken.
"""

from __future__ import annotations

import numpy as np

from isocloth.base.compiled import kernel
from isocloth.base.typing import FloatArray, IntArray
from isocloth.friction.exact.contact_space import CoulombProblem
from isocloth.friction.exact.error import alart_curnier, law_error, scale_of
from isocloth.friction.exact.sweep import displacements

#: a pivot below this part of the largest entry of its column belongs to a force that others can replace: it stays
_DEPENDENT = 1e-13


@kernel
def _squares(p: CoulombProblem, u: FloatArray, r: FloatArray) -> float:
    """Sum of squares of the errors of all contacts, N^2."""
    total = 0.0
    for k in range(len(p.friction)):
        i, rho = 3 * k, scale_of(p, k)
        if rho > 0.0:
            e = alart_curnier(
                u[i], u[i + 1], u[i + 2], r[i], r[i + 1], r[i + 2], rho, p.friction[k], p.bears[k]
            )  # fmt: skip
            total += e * e
    return total


@kernel
def newton(p: CoulombProblem, r: FloatArray, u: FloatArray, most: int, tolerance: float) -> int:
    """At most so many steps on r (3c,), u (3c,) beside it; returns how many were taken. Ends as `sweeps` does."""
    size = len(r)
    trial, there, step = np.empty(size), np.empty(size), np.empty(size)
    for turn in range(most):
        _, worst, largest = law_error(p, u, r)
        if worst <= tolerance * largest or not _direction(p, r, u, step):
            return turn
        before, share = _squares(p, u, r), 1.0
        while True:
            for i in range(size):
                trial[i] = r[i] + share * step[i]
            displacements(p, trial, there)
            if _squares(p, there, trial) < before * (1.0 - 1e-4 * share):
                break
            share *= 0.5
            if share < 1e-3:
                return turn
        r[:] = trial
        u[:] = there
    return most


@kernel
def _direction(p: CoulombProblem, r: FloatArray, u: FloatArray, step: FloatArray) -> bool:
    """Step (3c,) of Newton's method from r, where the displacements are u; False if there is none.

    Contacts that are open lose their force; the rows of the others are those of F, with the first along the normal.
    """
    count = len(p.friction)
    chosen = np.empty(count, dtype=np.int64)
    m = 0
    step[:] = 0.0
    for k in range(count):
        i, rho = 3 * k, scale_of(p, k)
        if rho == 0.0:
            continue
        if p.bears[k] < 0.0 and r[i] - rho * u[i] <= 0.0:
            for a in range(3):
                step[i + a] = -r[i + a]
        else:
            chosen[m] = k
            m += 1
    if m == 0:
        return True
    matrix, right = np.empty((3 * m, 3 * m)), np.empty(3 * m)
    _fill(p, r, u, chosen[:m], step, matrix, right)
    if not _eliminate(matrix, right):
        return False
    for a in range(m):
        for i in range(3):
            step[3 * chosen[a] + i] = right[3 * a + i]
    return True


@kernel
def _fill(
    p: CoulombProblem, r: FloatArray, u: FloatArray, chosen: IntArray, step: FloatArray, matrix: FloatArray,
    right: FloatArray,
) -> None:  # fmt: skip
    """Rows of F' and of -F of the chosen contacts, the steps of the others as they are known."""
    m = len(chosen)
    moved = np.zeros((3, 3 * m))  # rows of dt = d(r - rho u)
    gone = np.empty(3)
    for a in range(m):
        k = chosen[a]
        i, rho = 3 * k, scale_of(p, k)
        for d in range(3):
            gone[d] = 0.0
            for q in range(len(step)):
                if step[q] != 0.0:
                    gone[d] -= rho * p.W[i + d, q] * step[q]
            for b in range(m):
                for c in range(3):
                    moved[d, 3 * b + c] = -rho * p.W[i + d, 3 * chosen[b] + c]
            moved[d, 3 * a + d] += 1.0
        t0, t1, t2 = r[i] - rho * u[i], r[i + 1] - rho * u[i + 1], r[i + 2] - rho * u[i + 2]
        pull = np.sqrt(t1 * t1 + t2 * t2)
        both = p.bears[k] >= 0.0
        limit, grows = (p.bears[k], 0.0) if both else (p.friction[k] * t0, p.friction[k])
        row = 3 * a
        if pull <= limit:
            e1 = e2 = grows = 0.0
            share, hold1, hold2 = 1.0, t1, t2
        else:
            e1, e2, share = t1 / pull, t2 / pull, limit / pull
            hold1, hold2 = limit * e1, limit * e2
        for q in range(3 * m):
            inner = e1 * moved[1, q] + e2 * moved[2, q]
            matrix[row, q] = -moved[0, q]
            matrix[row + 1, q] = -e1 * grows * moved[0, q] - share * (moved[1, q] - e1 * inner)
            matrix[row + 2, q] = -e2 * grows * moved[0, q] - share * (moved[2, q] - e2 * inner)
        for d in range(3):
            matrix[row + d, row + d] += 1.0
        inner = e1 * gone[1] + e2 * gone[2]
        right[row] = t0 - r[i] + gone[0]
        right[row + 1] = hold1 - r[i + 1] + e1 * grows * gone[0] + share * (gone[1] - e1 * inner)
        right[row + 2] = hold2 - r[i + 2] + e2 * grows * gone[0] + share * (gone[2] - e2 * inner)


@kernel
def _eliminate(m: FloatArray, x: FloatArray) -> bool:
    """Overwrite x with m^-1 x, by Gauss with pivots; 0 where a pivot vanishes. The matrix is lost."""
    size = len(x)
    for i in range(size):
        best = i
        for q in range(i + 1, size):
            if abs(m[q, i]) > abs(m[best, i]):
                best = q
        if best != i:
            for q in range(i, size):
                m[i, q], m[best, q] = m[best, q], m[i, q]
            x[i], x[best] = x[best], x[i]
        pivot = m[i, i]
        above = 0.0
        for q in range(i):
            above = max(above, abs(m[q, i]))
        if not abs(pivot) > _DEPENDENT * max(above, 1e-300):
            m[i, i] = 0.0
            continue
        for q in range(i + 1, size):
            factor = m[q, i] / pivot
            if factor != 0.0:
                upper, row = m[i], m[q]
                for c in range(i + 1, size):
                    row[c] -= factor * upper[c]
                x[q] -= factor * x[i]
    for i in range(size - 1, -1, -1):
        if m[i, i] == 0.0:
            x[i] = 0.0
            continue
        total = x[i]
        for q in range(i + 1, size):
            total -= m[i, q] * x[q]
        x[i] = total / m[i, i]
        if not np.isfinite(x[i]):
            return False
    return True
