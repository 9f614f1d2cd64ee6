"""Stick-slip: a strip clamped upright is pushed against a floor, and its tip slips once the master curve exceeds mu.

There is no gravity. The strip begins bent as the master curve says, a little before it should slip, and its clamp comes
down in small steps, each from rest. Against Coulomb's law the friction mu stands for the Q/P at which the tip slipped,
and is compared with the master curve there.

Projective dynamics is run as the thesis does, as a slow motion with its own steps: steps from rest of the length that
it can take would hardly move the strip.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from isocloth.base.errors import InputError
from isocloth.base.numeric import check_count
from isocloth.base.typing import FloatArray
from isocloth.contact.options import ContactOptions
from isocloth.fabric import Fabric
from isocloth.models import Model
from isocloth.obstacles import Floor
from isocloth.protocols.arguments import FEWEST, as_values
from isocloth.protocols.master_curves import COLUMN, push_of, pushed, slipping, stick_slip_curve
from isocloth.protocols.strip import Strip, element_of, make_strip, material
from isocloth.protocols.verdict import Verdict, name_of
from isocloth.simulation import ConvergenceWarning, Simulation
from isocloth.solvers import NewtonOptions, ProjectiveOptions

#: those of the table of the specification, at pushes of 0.01, 0.05, 0.1, ... 0.3
FRICTIONS = (0.04485, 0.10354, 0.15279, 0.19592, 0.23777, 0.28071, 0.32649)
LENGTH, WIDTH, DENSITY = 0.2, 0.01, 0.1
RIGIDITY = 0.04  # N m: the membrane of the strip is then a million times as stiff along it
THICKNESS, POISSON = 1e-3, 0.3
#: pushes at which a run begins and ends, in parts of that of the master curve, and how many lie between
_BEGIN, _END, _STEPS = 0.85, 1.4, 110
#: slip of the tip, in lengths, at which it counts as slipping
_SLIPS = 2e-4
_OPTIONS = NewtonOptions(strain_gap=1e-6, force=0.0, force_floor=1e-4, max_iterations=60)

#: of projective dynamics: s of a step, iterations, s until it has settled, on a floor of this friction, and s that the
#: push takes; N m, less than of the others, because springs are soft beside what is inextensible; slip of the tip, in
#: lengths, that is no creep
TIMESTEP, ITERATIONS, SETTLING, STICKY, DURATION = 1e-4, 500, 0.1, 10.0, 0.4
SOFT, SLIPS = 0.004, 1e-3

#: what the default law needs here: its usual tolerances let a tip creep that is near its limit
STRICT = ContactOptions(friction=1e-6, friction_loosened=(), sliding=1e-6)


class Slip(NamedTuple):
    """When a tip slipped."""

    push: float  # shortening / L; nan: it did not
    measured: float  # largest Q/P of the forces on the floor before it slipped
    unconverged: int  # steps


def stick_slip(
    model: str | Model = "isometric", *, frictions: ArrayLike = FRICTIONS, elements: int = 50,
    element: str | None = None, contact: str = "coulomb", contact_options: ContactOptions | None = STRICT,
    timestep: float = 0.005, solver: str = "newton", iterations: int = ITERATIONS, tolerance: float = 0.03,
) -> Verdict:  # fmt: skip
    """Run a model, and a solver of friction, through the protocol.

    Args:
        frictions: coefficients, up to 0.35; beyond, the strip lies down before it slips.
        elements, element: of the strip.
        contact: of `Simulation`, with contact_options.
        timestep: s.
        solver: "newton", or "projective" for projective friction, in steps of 0.1 ms with at most so many `iterations`;
            models of springs only.
        tolerance: largest relative error of Q/P of an OK.
    """
    values = as_values("frictions", frictions, *slipping(), "; beyond, the strip lies down before it slips")
    check_count(elements, "elements", FEWEST)
    strip = make_strip(LENGTH, WIDTH, elements, 1, element=element_of(model, element))
    if solver == "projective":
        contact, timestep = "projective", TIMESTEP
        slips = [push_projective(strip, model, float(mu), iterations) for mu in values]
    elif solver == "newton":
        slips = [push_until_slip(strip, model, float(mu), contact, contact_options, timestep) for mu in values]
    else:
        raise InputError(f"solver = {solver!r}: expected 'newton' or 'projective'")
    pushes = np.array([slip.push for slip in slips])
    expected = np.full(len(values), np.nan)
    slipped = np.isfinite(pushes)
    expected[slipped] = stick_slip_curve(pushes[slipped])
    fine = np.linspace(0.5 * push_of(float(values[0])), min(1.05 * push_of(float(values[-1])), 0.34), 60)
    stuck = ", ".join(f"{mu:g}" for mu in values[~slipped])
    unconverged = sum(slip.unconverged for slip in slips)
    notes = [f"contact {contact!r}, {elements} elements, steps of {1e3 * timestep:g} ms"]
    notes += [f"the tip did not slip at mu = {stuck}"] if stuck else []
    notes += [f"{unconverged} steps did not converge"] if unconverged else []
    apart = np.array([abs(slip.measured / mu - 1.0) for slip, mu in zip(slips, values, strict=True)])
    notes.append(f"Q/P of the floor's force when it slipped is mu within {100 * np.nanmax(apart):.2g} %")
    return Verdict(
        "stick_slip", f"{name_of(model)}, {contact}", "push / length", "Q/P", pushes, values, expected, tolerance,
        int((~slipped).sum()), tuple(notes), False, (fine, stick_slip_curve(fine)),
    )  # fmt: skip


def push_until_slip(
    strip: Strip, model: str | Model, friction: float, contact: str, options: ContactOptions | None, timestep: float
) -> Slip:
    """Push one strip down until its tip slips, or has been pushed much further than it should."""
    slips_at = push_of(friction)
    begin = max(_BEGIN * slips_at, 2e-4)
    chosen, fabric, _ = material(
        model, rigidity=RIGIDITY, thickness=THICKNESS, poisson=POISSON,
        fabric=Fabric(density=DENSITY, thickness=THICKNESS, friction=0.0),
    )  # fmt: skip
    floor = Floor(friction=friction)
    bent = _bent(strip, begin, fabric.thickness)
    sim = Simulation(
        strip.mesh.with_vertices(bent), fabric, rest=strip.mesh, model=chosen, gravity=0.0, timestep=timestep,
        obstacles=[floor], contact=contact, contact_options=options, integrator="euler", solver_options=_OPTIONS,
    )  # fmt: skip
    start = bent[strip.held]
    way = {"push": begin}

    def path(_: float) -> FloatArray:
        return start - np.array([0.0, 0.0, strip.free * (way["push"] - begin)])

    sim.grasp(strip.held, path)
    still, tip = np.zeros_like(bent), bent[strip.tip, 0].mean()
    last, measured, unconverged = begin, np.nan, 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for push in np.linspace(begin, min(_END * slips_at, 0.34), _STEPS):
            way["push"] = float(push)
            sim.velocities = still
            report = sim.step()
            unconverged += not report.converged
            if abs(sim.positions[strip.tip, 0].mean() - tip) > _SLIPS * strip.free:
                return Slip(0.5 * (last + float(push)), measured, unconverged)
            force = report.forces[floor].force
            measured, last = float(abs(force[0]) / abs(force[2])), float(push)
    return Slip(np.nan, measured, unconverged)


def push_projective(strip: Strip, model: str | Model, friction: float, iterations: int) -> Slip:
    """Push one strip down by a slow motion of projective dynamics until its tip slips.

    It settles first where it begins, on a floor on which nothing slips: springs begin without tension.
    """
    slips_at = push_of(friction)
    begin, end = max(_BEGIN * slips_at, 2e-4), min(_END * slips_at, 0.34)
    chosen, fabric, _ = material(
        model, rigidity=SOFT, thickness=THICKNESS, poisson=POISSON,
        fabric=Fabric(density=DENSITY, thickness=THICKNESS, friction=0.0),
    )  # fmt: skip
    # the first mode of the strip, which has COLUMN^2 D / (rho L^4), swings no more
    damping = 2.0 * COLUMN * np.sqrt(SOFT * DENSITY) / strip.free**2
    positions = _bent(strip, begin, fabric.thickness)
    start, speed = positions[strip.held], (end - begin) / DURATION
    velocities, measured, unconverged = np.zeros_like(positions), np.nan, 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for mu, rate, last in ((STICKY, 0.0, SETTLING), (friction, speed, DURATION)):
            floor = Floor(friction=mu)
            sim = Simulation(
                strip.mesh.with_vertices(positions), replace(fabric, damping=damping), rest=strip.mesh, model=chosen,
                gravity=0.0, timestep=TIMESTEP, obstacles=[floor], solver="projective",
                solver_options=ProjectiveOptions(iterations=iterations, force=1e-4, force_floor=1e-3),
            )  # fmt: skip
            sim.velocities = velocities
            sim.grasp(strip.held, lambda t, rate=rate: start - np.array([0.0, 0.0, strip.free * rate * t]))
            tip = positions[strip.tip, 0].mean()
            while sim.time < last:
                report = sim.step()
                unconverged += not report.converged and rate > 0.0
                if rate > 0.0 and abs(sim.positions[strip.tip, 0].mean() - tip) > SLIPS * strip.free:
                    return Slip(begin + speed * sim.time, measured, unconverged)
                force = report.forces[floor].force
                measured = float(abs(force[0]) / abs(force[2])) if force[2] != 0.0 else measured
            positions, velocities = sim.positions.copy(), sim.velocities.copy()
    return Slip(np.nan, measured, unconverged)


def _bent(strip: Strip, push: float, thickness: float) -> FloatArray:
    """Positions (n, 3) of the strip as the master curve bends it, clamped above, its tip on the floor."""
    shape = pushed(push).shape
    along, across = strip.mesh.vertices[:, 0] / strip.free, strip.mesh.vertices[:, 1]
    x, y = (np.interp(along, shape[:, 0], shape[:, k]) for k in (1, 2))
    y = np.where(along < 0.0, along, y)  # in the clamp it is straight
    lowest = 0.5 * thickness
    return np.stack([strip.free * x, across, lowest + strip.free * (1.0 - push - y)], axis=1)
