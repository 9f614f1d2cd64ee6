"""The [simulation] table."""

from __future__ import annotations

from isocloth.models import BENDINGS
from isocloth.scenes.model import Settings
from isocloth.scenes.read_model import read_model
from isocloth.scenes.table import Table
from isocloth.simulation.arguments import LONGEST_TIMESTEP, SHORTEST_TIMESTEP
from isocloth.simulation.integrators import INTEGRATORS
from isocloth.solvers import SOLVERS
from isocloth.solvers.contact_methods import CONTACTS
from isocloth.terms.isometry import DISCRETISATIONS

MOST_STEPS = 10_000_000


def read_settings(table: Table) -> Settings:
    """How long and how the scene is simulated."""
    timestep = table.number(
        "timestep", 0.01, unit="s", above=0.0, most=LONGEST_TIMESTEP, hint="in seconds, not milliseconds"
    )
    if timestep < SHORTEST_TIMESTEP:
        table.complain("timestep", f"expected at least {SHORTEST_TIMESTEP:g} s, shorter steps drown in rounding")
    duration = table.number("duration", unit="s", above=0.0)
    every = table.number("every", unit="s", above=0.0) if table.has("every") else None
    table.take("every")
    settings = Settings(
        duration=duration,
        timestep=timestep,
        every=every,
        gravity=table.number(
            "gravity", 9.81, unit="m/s^2", least=0.0, hint="gravity pulls along -z, write 9.81 and not -9.81"
        ),
        integrator=table.choice("integrator", tuple(INTEGRATORS), "bdf2"),
        model=read_model(table),
        solver=table.choice("solver", SOLVERS, "newton") or None if table.has("solver") else None,
        discretisation=table.choice("discretisation", DISCRETISATIONS, "net") or None
        if table.has("discretisation")
        else None,
        bending_model=table.choice("bending_model", BENDINGS, "hessian"),
        self_collision=table.flag("self_collision", False),
        contact=table.choice("contact", CONTACTS, "coulomb"),
        resolve_start=table.flag("resolve_start", False),
    )
    table.take("discretisation")
    table.take("solver")
    if duration < (1.0 - 1e-6) * timestep:
        table.complain("duration", f"is shorter than one timestep of {timestep:g} s; expected at least one")
    if duration / timestep > MOST_STEPS:
        table.complain(
            "duration",
            f"is {duration / timestep:.3g} steps of {timestep:g} s; is it in seconds? Expected at most {MOST_STEPS}",
        )
    if every is not None:
        check_every(table, every, timestep)
    table.close()
    return settings


def check_every(table: Table, every: float, timestep: float) -> None:
    """Frames fall on steps, so the time between them is a multiple of the timestep."""
    ratio = every / timestep
    if ratio > MOST_STEPS:
        table.complain("every", "is longer than any run; expected seconds between two frames")
    elif ratio == ratio and (round(ratio) < 1 or abs(round(ratio) - ratio) > 1e-6 * ratio):
        better = max(1, round(ratio)) * timestep
        table.complain("every", f"is no multiple of the timestep, {timestep:g} s; {better:g} would be, give such a one")
