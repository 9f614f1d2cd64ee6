"""What inverse design is compared with: the thesis' second step alone (its S9), and after contacts were pinned.

The target x is fixed and all of the rest shape X free: BFGS brings 1/2 |G(F(X))|^2 down, with F the force at a free
node, and at contacts what is out of the cone, g(f_N) + g(0.975 mu f_N - |f_T|), g(t) = max(-t, 0). Nothing in it asks
for a stable balance.
"""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.sparse.linalg import splu

from isocloth.base.typing import BoolArray, FloatArray
from isocloth.inverse.rest_forces import RestForces

#: part of the friction, as in the thesis, and iterations
USABLE, MOST = 0.975, 1000


class Control(NamedTuple):
    """points (n, 3) m of the rest shape, the value reached, N^2, and the processor time, s."""

    points: FloatArray
    value: float
    seconds: float


def second_step(
    forces: RestForces, touched: BoolArray, normal: FloatArray, friction: FloatArray, *, pinned: bool
) -> Control:
    """BFGS from the target, or from a rest shape that balances the free nodes with contacts held as by hands.

    touched (n,): nodes in contact; normal (n, 3) and friction (n,) of theirs.
    """
    begin = time.process_time()
    x0 = forces.positions.copy()
    if pinned:
        free = np.flatnonzero(np.repeat(~touched, 3))
        for _ in range(20):
            off = forces(x0).ravel()[free]
            step = splu(forces.derivative(x0)[free][:, free].tocsc()).solve(-off)
            x0.ravel()[free] += step * min(1.0, 0.02 / max(float(np.abs(step).max()), 1e-300))
    scale = 1.0 / float(forces.weight(forces.positions).mean())

    def value(flat: FloatArray) -> tuple[float, FloatArray]:
        points = flat.reshape(-1, 3)
        force = forces(points)
        push = np.einsum("nd,nd->n", force, normal)
        along = force - push[:, None] * normal
        pull = np.linalg.norm(along, axis=1)
        inward, slips = touched & (push < 0.0), touched & (USABLE * friction * push < pull)
        g = np.where(inward, -push, 0.0) + np.where(slips, pull - USABLE * friction * push, 0.0)
        way = along / np.maximum(pull, 1e-300)[:, None] - (USABLE * friction)[:, None] * normal
        at_contact = g[:, None] * (slips[:, None] * way - inward[:, None] * normal)
        y = np.where(touched[:, None], at_contact, force)
        total = 0.5 * float(np.sum(np.where(touched, g**2, np.sum(force**2, axis=1))))
        return scale**2 * total, scale**2 * (forces.derivative(points).T @ y.ravel())

    found = minimize(value, x0.ravel(), jac=True, method="BFGS", options={"maxiter": MOST, "gtol": 1e-13})
    return Control(found.x.reshape(-1, 3), float(found.fun) / scale**2, time.process_time() - begin)
