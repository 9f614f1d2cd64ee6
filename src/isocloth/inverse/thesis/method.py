"""The two steps as a method of `invert`: what they need of a target, and whether they have reached it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from isocloth.inverse.balance import outside
from isocloth.inverse.carried import Carried
from isocloth.inverse.outcome import Outcome
from isocloth.inverse.thesis.cone_errors import Cones
from isocloth.inverse.thesis.draping import Draping
from isocloth.inverse.thesis.two_step import Reached, TwoSteps, TwoStepSearch

#: part of the friction that is used, by default: the rest is a margin against small pushes
PART = 0.975
#: of the weight: what is left of forces, or out of the cones, where the target counts as reached
BALANCED = 1e-6


def inverted(carried: Carried, margin: float, effort: TwoSteps, progress: Callable[[str], None]) -> Outcome:
    """By both steps; margin: part of the friction that forces may use."""
    fixed = np.flatnonzero(carried.touched[::3])
    draping = Draping(carried.forces, fixed)
    search = TwoStepSearch(draping, Cones(carried.supports, carried.n, margin), effort)
    found = search.run(progress)
    nodal = carried.forces(found.points).ravel()
    pushes = carried.at_supports(nodal)
    left = float(np.linalg.norm(nodal - carried.spread @ pushes.ravel()))
    slips = float(np.linalg.norm(outside(carried.supports.cones, pushes, 1.0)))
    weight = float(carried.forces.weight(found.points).sum())
    stable = carried.stable(found.points)
    said = _problem(found, effort, left / weight, slips / weight, stable)
    count = sum(found.iterations)
    return Outcome(found.points, 1.0, 0.0 if said else 1.0, pushes, count, not said, stable, said, found.passes)


def _problem(found: Reached, effort: TwoSteps, left: float, slips: float, stable: bool) -> str:
    """left, slips: forces that nothing bears, and that are out of the cones, of the weight."""
    off = max(left, slips)
    if off <= BALANCED and stable:
        return ""
    last = found.passes[-1]
    if last.first.reason == "no value":
        return (
            f"with lambda = {last.attraction:.3g} N/m, pass {len(found.passes)}, the cloth of the rest shape does not "
            "come to rest near its target: it is too soft; use a stiffer model, a lighter fabric, or "
            'method="force_first"'
        )
    if not found.ended:
        step = f"2 (G {last.second.value:.1e} N^2)" if last.second else f"1 (J {last.first.value:.1e} m^2)"
        return (
            f"the {effort.seconds:g} s were over in pass {len(found.passes)}, lambda = {last.attraction:.3g} N/m, in "
            f"step {step}; the target is not reached yet: give more time, method=TwoSteps(seconds=...), or take "
            'method="force_first"'
        )
    assert last.second is not None
    if off > BALANCED:
        what = "left on free nodes" if left >= slips else "out of the cones of friction"
        return (
            f"step 2 ended ({last.second.reason}) with G = {last.second.value:.1e} N^2: {off:.1e} of the weight is "
            f"{what}, so the target is no equilibrium; J of step 1 was {last.first.value:.1e} m^2: more friction or "
            'held nodes, a stiffer model, a lighter fabric, or method="force_first" may help'
        )
    return (
        "the target is an equilibrium, but not a stable one, which step 2 does not ask for: the cloth is too soft for "
        "it; use a stiffer model, or a lighter fabric"
    )
