"""What is wrong with a step, in words: what was found, why it may be, what to do."""

from __future__ import annotations

import numpy as np

from isocloth.base.typing import BoolArray, FloatArray
from isocloth.cloth.cloth import Cloth
from isocloth.solvers.outcome import Outcome

#: relative error of a squared length beyond which a prescription counts as infeasible: cloth tears rather than stretch
#: by more than a hundredth
INFEASIBLE = 0.03

#: s: where steps this short are not solved, shorter ones will not be either
SHORT = 1e-4

#: parts of the errors of an overstretched cloth that it is asked to lose in the smallest part of a step, where it
#: cannot lose all, one after the other until that can be solved
HEALED = (0.5, 0.1, 0.02)


def overstretched(cloth: Cloth, error: float) -> bool:
    """Whether a cloth with this isometry error would have torn."""
    # who chose a soft membrane, or a model that is one, wants it to stretch
    tight = all(fabric.membrane is None for fabric in cloth.fabrics)
    return error > INFEASIBLE and tight and cloth.model.inextensible


def errors(cloth: Cloth, positions: FloatArray, multipliers: FloatArray) -> tuple[float, float]:
    """Isometry error and strain gap at positions (n, 3) with multipliers (r,)."""
    rows = cloth.rows
    values, on = rows.values(positions), rows.enforced
    gaps = values - multipliers / rows.weight
    return float(np.abs(values[on]).max(initial=0.0)), float(np.abs(gaps[on]).max(initial=0.0))


def relaxed_targets(cloth: Cloth, positions: FloatArray, healed: float = HEALED[0]) -> FloatArray | None:
    """Targets (r,) of the rows with which a cloth that is overstretched at positions (n, 3) is asked to lose `healed`
    of its errors, and not all of them; None of a whole one.

    A cloth that was stretched by what it could not escape is far from any place where it is not: asked for all at
    once, no step may find a way there among contacts, and it would never return.
    """
    rows = cloth.rows
    values = np.where(rows.enforced, rows.values(positions), 0.0)
    return rows.rest + (1.0 - healed) * values if overstretched(cloth, float(np.abs(values).max(initial=0.0))) else None


def limit_speed(velocities: FloatArray, fastest: float) -> FloatArray:
    """Velocities (n, 3), none of which is faster than `fastest`, all in m/s.

    What tore the cloth, or was not solved, must not throw it: lengths that jump back within a part of a step would.
    """
    speed = np.maximum(np.linalg.norm(velocities, axis=1), 1e-300)
    slower: FloatArray = velocities * np.minimum(1.0, fastest / speed)[:, None]
    return slower


def diagnose(cloth: Cloth, positions: FloatArray, held: BoolArray, error: float, touching: bool = False) -> str:
    """Empty, or why a cloth with this isometry error, the largest of the parts of a step, cannot be trusted.

    touching: whether obstacles, jaws or layers press on it.
    """
    if not overstretched(cloth, error):
        return ""
    rows = cloth.rows
    values = rows.values(positions)
    if not overstretched(cloth, float(np.abs(values[rows.enforced]).max(initial=0.0))):
        return (
            f"lengths or angles were off by up to {50 * error:.1f} % in a part of the step, and are not at its end: "
            "the cloth was caught; use gentler paths of what pushes or holds it"
        )
    lengths = rows.enforced & (rows.rest > 0.5)  # E, G and edges are 1 at rest, F is 0
    strain = values[lengths] / 2
    worst = float(np.abs(strain).max(initial=0.0))
    angle = np.degrees(np.abs(values[rows.enforced & ~lengths]).max(initial=0.0))
    if not held.any():
        off = f"sheared by up to {angle:.1f} degrees" if worst < INFEASIBLE / 2 else f"off by up to {100 * worst:.1f} %"
        if touching:
            return (
                f"lengths or angles are {off}, and nobody holds the cloth: what touches it leaves it no room, or moves "
                "too violently; move obstacles more slowly, or leave the thickness of the cloth between them"
            )
        return (
            f"lengths or angles are {off}: the positions are no isometric image of the rest shape; "
            "check what was assigned to them, or `rest`"
        )
    if worst < INFEASIBLE / 2:
        return (
            f"the cloth is sheared by up to {angle:.1f} degrees, which the held nodes ask for; give the fabric a shear "
            "stiffness, or check the paths of the grasps and grippers"
        )
    if strain.max() >= -strain.min():
        return (
            f"the cloth is stretched by {100 * worst:.1f} %: the held nodes, or what pushes it, are further apart than "
            "the cloth allows, or moved too violently; check the paths of grasps, grippers and obstacles"
        )
    return (
        f"the cloth is squeezed in its plane by {100 * worst:.1f} %: the held nodes are pushed together and it has not "
        "buckled yet (a perfectly flat sheet does not know where to); start from a slightly curved one, or move more "
        "slowly"
    )


def unsolved(outcome: Outcome, timestep: float) -> str:
    """What to say of a solver that gave up on a step of this length, s."""
    touching = ""
    if outcome.contacts:
        touching = (
            f", {outcome.contacts} contacts whose forces are off Coulomb's law by {outcome.friction_residual:.1e} of "
            f"the largest, and a smallest gap of {1e3 * outcome.min_gap:.2g} mm"
        )
    remedy = "use a smaller timestep or gentler paths"
    if timestep <= SHORT:
        remedy = f"use gentler paths, or a longer timestep: steps of {timestep:g} s are short already"
    return (
        f"the solver stopped with strain gap {outcome.strain_gap:.1e}, force residual {outcome.force_residual:.1e} "
        f"m/s^2{touching}; {remedy}"
    )
