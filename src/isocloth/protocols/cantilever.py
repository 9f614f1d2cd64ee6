"""Cantilever: a strip clamped level at one end hangs under its weight; H/W of its tip over Gamma.

The master curve is that of a sheet that bends to a cylinder, of the rigidity D of a plate. A strip with Poisson's ratio
nu curls across as well, and a narrow one has the rigidity D (1 - nu^2) of a beam only: at the same Gamma it hangs
lower, up to the master curve at Gamma / (1 - nu^2). So shells are run with nu = 0, where both are the same; with
another nu the curve lies between the two, `bracket`.

Elements are graded towards the clamp, where a soft strip bends within L / sqrt(Gamma), and one across is enough. Not so
for shells whose rigidity depends on the shape of triangles (a discrete shell) or on the border (edges with angles of
their own, whose triangles at the border are soft, the more the longer they are): they get squares all along.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from isocloth.base.numeric import check_count
from isocloth.base.typing import FloatArray
from isocloth.fabric import Fabric
from isocloth.models import Model, as_model
from isocloth.protocols.arguments import FEWEST, as_values
from isocloth.protocols.follow import solver_of
from isocloth.protocols.master_curves import SOFTEST, STIFFEST, cantilever_curve
from isocloth.protocols.strip import Problem, Solver, element_of, kind_of, length_of, make_strip, material
from isocloth.protocols.verdict import Verdict, name_of

GAMMAS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1e3, 3e3, 1e4, 3e4, 1e5)
WIDTH, DENSITY, GRAVITY = 0.1, 0.1, 9.81  # lengths, kg/m^2, m/s^2
THICKNESS, POISSON = 1e-3, 0.0  # lengths


def cantilever(
    model: str | Model = "isometric", *, gammas: ArrayLike = GAMMAS, elements: int = 80, across: int | None = None,
    finest: float | None = None, element: str | None = None, width: float | None = None, thickness: float = THICKNESS,
    poisson: float = POISSON, length: float | None = None, solver: Solver | None = None, tolerance: float = 0.02,
    name: str | None = None,
) -> Verdict:  # fmt: skip
    """Run a model through the protocol, from the stiffest strip to the softest, each from where the one before hung.

    Args:
        gammas: weight over stiffness, rho h g L^3 / D, in rising order.
        elements, across: of the strip; they are graded towards the clamp, the first `finest` of an even one (None: as
            fine as the bend at the largest Gamma asks for, or 1 for a model that needs squares). None = 1 across, or
            4 for these.
        element: "quad", "triangle" (cut crosswise) or "alike" (triangles all cut alike); None = what the model takes.
        width, thickness: of the strip, in lengths; thickness and poisson are used by shells. None = 0.1, or as wide as
            makes elements squares for a model that needs them.
        length: m; None = 0.1, or 0.5 for models whose steps have to be short.
        solver: who finds equilibria, None = statics where the model has an energy; name: what the verdict calls it, if
            it is not the model.
        tolerance: largest relative error of H/W of an OK.
    """
    values = as_values("gammas", gammas, STIFFEST, SOFTEST)
    check_count(elements, "elements", FEWEST)
    long, kind = length_of(model) if length is None else length, element_of(model, element)
    squares = needs_squares(model)
    count = (4 if squares else 1) if across is None else across
    wide = (count / elements if squares else WIDTH) if width is None else width
    first = finest if finest is not None else 1.0 if squares else _first(model, elements, float(values[-1]))
    strip = make_strip(long, wide * long, elements, count, finest=first, element=kind)
    solve = solver or solver_of(model)
    positions, found, unsolved, unstable = strip.mesh.vertices, [], 0, 0
    for gamma in values:
        chosen, fabric, _ = material(
            model, rigidity=DENSITY * GRAVITY * long**3 / gamma, thickness=thickness * long, poisson=poisson,
            fabric=Fabric(density=DENSITY), rest=strip.mesh,
        )  # fmt: skip
        rest = solve(Problem(
            mesh=strip.mesh.with_vertices(positions), rest=strip.mesh, model=chosen, fabric=fabric, held=strip.held,
            gravity=GRAVITY,
        ))  # fmt: skip
        unsolved += not rest.converged
        unstable += not rest.stable
        positions = rest.positions
        reach, _, height = positions[strip.tip].mean(axis=0)
        found.append(-height / reach)
    fine = np.geomspace(values[0], values[-1], 60)
    return Verdict(
        "cantilever", name or name_of(model), "Gamma", "H/W", values, np.array(found), cantilever_curve(values),
        tolerance, unsolved, (f"{elements} x {count} elements, the first {first:.2g} of an even one",), True,
        (fine, cantilever_curve(fine)), unstable,
    )  # fmt: skip


def bracket(gammas: ArrayLike, poisson: float) -> tuple[FloatArray, FloatArray]:
    """H/W of a sheet that does not curl across, and of a strip that curls freely, at every Gamma."""
    values = np.asarray(gammas, dtype=np.float64)
    return cantilever_curve(values), cantilever_curve(values / (1.0 - poisson**2))


def needs_squares(model: str | Model) -> bool:
    """Whether a model bends rightly on even meshes only: shells, but those with averaged normals."""
    chosen = as_model(model)
    return chosen.shell and getattr(chosen, "normals", "") != "average"


def _first(model: str | Model, elements: int, gamma: float) -> float:
    """The first element beside the clamp, in those of an even strip: a soft strip bends over L / sqrt(Gamma) there."""
    if kind_of(model).stepper != "newton":
        return 1.0  # its steps would have to be shorter
    return float(np.clip(0.15 * elements / np.sqrt(gamma), 0.02, 1.0))
