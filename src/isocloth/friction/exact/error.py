"""How far forces are from the law of Signorini and Coulomb, by the function of Alart and Curnier (1991):

    e_N = r_N - max(0, r_N - rho u_N),    e_T = r_T - P(r_T - rho u_T),

with P the projection on the disk of radius mu max(0, r_N - rho u_N), and rho the inverse of how far a contact yields to
a force of its own. Both vanish where the law is met and nowhere else.
"""

from __future__ import annotations

import numpy as np

from isocloth.base.compiled import inlined, kernel
from isocloth.base.typing import FloatArray
from isocloth.friction.exact.contact_space import CoulombProblem


@inlined
def alart_curnier(
    u0: float, u1: float, u2: float, r0: float, r1: float, r2: float, rho: float, mu: float, bears: float
) -> float:
    """|e| of one contact, N, with displacement u and force r in its frame; bears: see `CoulombProblem`."""
    pressed = r0 - rho * u0
    if bears < 0.0:
        pressed = max(pressed, 0.0)
    limit = bears if bears >= 0.0 else mu * pressed
    t1, t2 = r1 - rho * u1, r2 - rho * u2
    pull = np.sqrt(t1 * t1 + t2 * t2)
    share = 1.0 if pull <= limit else limit / pull
    e0, e1, e2 = r0 - pressed, r1 - share * t1, r2 - share * t2
    return np.sqrt(e0 * e0 + e1 * e1 + e2 * e2)


@inlined
def scale_of(p: CoulombProblem, k: int) -> float:
    """rho of contact k, N/m; 0 where no force moves it."""
    trace = p.W[3 * k, 3 * k] + p.W[3 * k + 1, 3 * k + 1] + p.W[3 * k + 2, 3 * k + 2]
    return 3.0 / trace if trace > 0.0 else 0.0


@kernel
def law_error(p: CoulombProblem, u: FloatArray, r: FloatArray) -> tuple[float, float, float]:
    """Mean and largest |e| over contacts, and largest force, N; u, r (3c,). What no force moves is left out."""
    mean = worst = largest = 0.0
    count = len(p.friction)
    for k in range(count):
        i, rho = 3 * k, scale_of(p, k)
        if rho == 0.0:
            continue
        e = alart_curnier(
            u[i], u[i + 1], u[i + 2], r[i], r[i + 1], r[i + 2], rho, p.friction[k], p.bears[k]
        )  # fmt: skip
        mean += e / count
        worst = max(worst, e)
        largest = max(largest, np.sqrt(r[i] ** 2 + r[i + 1] ** 2 + r[i + 2] ** 2))
    return mean, worst, largest
