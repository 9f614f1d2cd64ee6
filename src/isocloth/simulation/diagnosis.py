"""What is wrong with a step, in words: what was found, why it may be, what to do."""

from __future__ import annotations

import numpy as np

from isocloth.problem import Problem
from isocloth.typing import BoolArray, FloatArray

#: relative error of a squared length beyond which a prescription counts as infeasible: cloth tears rather than stretch
#: by more than a hundredth
INFEASIBLE = 0.03


def diagnose(problem: Problem, positions: FloatArray, held: BoolArray, error: float) -> str:
    """Empty, or why a cloth with this isometry error cannot be trusted."""
    # who chose a soft membrane wants it to stretch
    if error <= INFEASIBLE or problem.fabric.membrane is not None:
        return ""
    rows = problem.rows
    values = rows.values(positions)
    lengths = rows.enforced & (rows.rest > 0.5)  # E, G and edges are 1 at rest, F is 0
    strain = values[lengths] / 2
    worst = float(np.abs(strain).max(initial=0.0))
    if not held.any():
        return (
            f"lengths are off by up to {100 * worst:.1f} %: the positions are no isometric image of the rest shape; "
            "check what was assigned to them, or `rest`"
        )
    if worst < INFEASIBLE / 2:
        angle = np.degrees(np.abs(values[rows.enforced & ~lengths]).max(initial=0.0))
        return (
            f"the cloth is sheared by up to {angle:.1f} degrees, which the held nodes ask for; give the fabric a shear "
            "stiffness, or check the paths of the grasps and grippers"
        )
    if strain.max() >= -strain.min():
        return (
            f"the cloth is stretched by {100 * worst:.1f} %: the held nodes are further apart than the cloth allows, "
            "or moved too violently; check the paths of the grasps and grippers"
        )
    return (
        f"the cloth is squeezed in its plane by {100 * worst:.1f} %: the held nodes are pushed together and it has not "
        "buckled yet (a perfectly flat sheet does not know where to); start from a slightly curved one, or move more "
        "slowly"
    )


def unsolved(gap: float, residual: float) -> str:
    """What to say of a solver that gave up."""
    return (
        f"the solver stopped with strain gap {gap:.1e} and force residual {residual:.1e} m/s^2; use a smaller timestep "
        "or gentler paths"
    )
