"""Cantilever: a strip clamped level at one end hangs under its weight; H/W of its tip over Gamma."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from isocloth.base.errors import InputError
from isocloth.fabric import Fabric
from isocloth.models import Model
from isocloth.protocols.master_curves import SOFTEST, STIFFEST, cantilever_curve
from isocloth.protocols.strip import (
    Problem,
    Solver,
    carried,
    element_of,
    length_of,
    make_strip,
    material,
    settle,
)
from isocloth.protocols.verdict import Verdict

GAMMAS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1e3, 3e3, 1e4, 3e4, 1e5)
WIDTH, DENSITY, GRAVITY = 0.1, 0.1, 9.81  # lengths, kg/m^2, m/s^2
THICKNESS, POISSON = 1e-3, 0.3  # lengths


def cantilever(
    model: str | Model = "isometric", *, gammas: ArrayLike = GAMMAS, elements: int = 80, across: int = 1,
    finest: float | None = None, element: str | None = None, solver: Solver = settle, tolerance: float = 0.02,
    name: str | None = None,
) -> Verdict:  # fmt: skip
    """Run a model through the protocol, from the stiffest strip to the softest, each from where the one before hung.

    Args:
        gammas: weight over stiffness, rho h g L^3 / D, in rising order.
        elements, across: of the strip; they are graded towards the clamp, the first `finest` of an even one (None: as
            fine as the bend at each Gamma asks for).
        element: "quad" or "triangle"; None = what the model takes, quads if it does.
        solver: who finds equilibria; name: what the verdict calls it, if it is not the model.
        tolerance: largest relative error of H/W of an OK.
    """
    values = np.sort(np.asarray(gammas, dtype=np.float64).ravel())
    if len(values) == 0 or not (values[0] >= STIFFEST and values[-1] <= SOFTEST):
        raise InputError(f"gammas = {gammas!r}: expected numbers from {STIFFEST:g} to {SOFTEST:g}")
    length, kind = length_of(model), element_of(model, element)
    strip, positions = None, np.empty((0, 3))
    found, unsolved = [], 0
    for gamma in values:
        rigidity = DENSITY * GRAVITY * length**3 / gamma
        chosen, fabric, _ = material(
            model, rigidity=rigidity, thickness=THICKNESS * length, poisson=POISSON, fabric=Fabric(density=DENSITY)
        )  # fmt: skip
        first = finest if finest is not None else _first(chosen, elements, float(gamma))
        next_strip = make_strip(length, WIDTH * length, elements, across, finest=first, element=kind)
        positions = next_strip.mesh.vertices if strip is None else carried(strip, positions, next_strip)
        strip = next_strip
        problem = Problem(
            mesh=strip.mesh.with_vertices(positions), rest=strip.mesh, model=chosen, fabric=fabric, held=strip.held,
            gravity=GRAVITY,
        )  # fmt: skip
        rest = solver(problem)
        unsolved += not rest.converged
        positions = rest.positions
        reach, _, height = positions[strip.tip].mean(axis=0)
        found.append(-height / reach)
    called = name or (model if isinstance(model, str) else type(model).name)
    fine = np.geomspace(values[0], values[-1], 60)
    return Verdict(
        "cantilever", called, "Gamma", "H/W", values, np.array(found), cantilever_curve(values), tolerance, unsolved,
        (f"{elements} x {across} elements, the first {first:.2g} of an even one at the end",), True,
        (fine, cantilever_curve(fine)),
    )  # fmt: skip


def _first(model: Model, elements: int, gamma: float) -> float:
    """The first element beside the clamp, in those of an even strip: a soft strip bends over L / sqrt(Gamma) there."""
    if model.stepper != "newton":
        return 1.0  # its steps would have to be shorter
    return float(np.clip(0.15 * elements / np.sqrt(gamma), 0.02, 1.0))
