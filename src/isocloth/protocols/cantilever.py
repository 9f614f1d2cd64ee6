"""Cantilever: a strip clamped level at one end hangs under its weight; H/W of its tip over Gamma."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from isocloth.base.errors import InputError
from isocloth.fabric import Fabric
from isocloth.models import Model
from isocloth.protocols.master_curves import SOFTEST, STIFFEST, cantilever_curve
from isocloth.protocols.strip import Problem, Solver, element_of, make_strip, material, settle
from isocloth.protocols.verdict import Verdict

GAMMAS = (0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1e3)
LENGTH, WIDTH, DENSITY, GRAVITY = 0.1, 0.01, 0.1, 9.81
THICKNESS, POISSON = 1e-4, 0.3


def cantilever(
    model: str | Model = "isometric", *, gammas: ArrayLike = GAMMAS, elements: int = 60, across: int = 1,
    finest: float | None = None, element: str | None = None, solver: Solver = settle, tolerance: float = 0.02,
    name: str | None = None,
) -> Verdict:  # fmt: skip
    """Run a model through the protocol, from the stiffest strip to the softest, each from where the one before hung.

    Args:
        gammas: weight over stiffness, rho h g L^3 / D, in rising order.
        elements, across: of the strip; they are graded towards the clamp, the first `finest` of an even one (None: as
            fine as the bend of the softest strip asks for).
        element: "quad" or "triangle"; None = what the model takes, quads if it does.
        solver: who finds equilibria; name: what the verdict calls it, if it is not the model.
        tolerance: largest relative error of H/W of an OK.
    """
    values = np.sort(np.asarray(gammas, dtype=np.float64).ravel())
    if len(values) == 0 or not (values[0] >= STIFFEST and values[-1] <= SOFTEST):
        raise InputError(f"gammas = {gammas!r}: expected numbers from {STIFFEST:g} to {SOFTEST:g}")
    if finest is None:
        # near the clamp a soft strip bends over L / sqrt(Gamma): some elements there
        finest = float(np.clip(0.15 * elements / np.sqrt(values[-1]), 0.02, 1.0))
    strip = make_strip(LENGTH, WIDTH, elements, across, finest=finest, element=element_of(model, element))
    positions, found, unsolved = strip.mesh.vertices, [], 0
    called = name or (model if isinstance(model, str) else type(model).name)
    for gamma in values:
        rigidity = DENSITY * GRAVITY * LENGTH**3 / gamma
        chosen, fabric, _ = material(
            model, rigidity=rigidity, thickness=THICKNESS, poisson=POISSON, fabric=Fabric(density=DENSITY)
        )  # fmt: skip
        problem = Problem(
            mesh=strip.mesh.with_vertices(positions), rest=strip.mesh, model=chosen, fabric=fabric, held=strip.held,
            gravity=GRAVITY,
        )  # fmt: skip
        rest = solver(problem)
        unsolved += not rest.converged
        positions = rest.positions
        reach, _, height = positions[strip.tip].mean(axis=0)
        found.append(-height / reach)
    fine = np.geomspace(values[0], values[-1], 60)
    return Verdict(
        "cantilever", called, "Gamma", "H/W", values, np.array(found), cantilever_curve(values), tolerance, unsolved,
        (f"{elements} x {across} elements, the first {finest:.2g} of an even one",), True,
        (fine, cantilever_curve(fine)),
    )  # fmt: skip
