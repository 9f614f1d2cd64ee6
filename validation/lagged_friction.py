"""The papers' friction beside Coulomb's law: the same sheets on a slope and on a table, by both."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from isocloth.simulation import Simulation
from validation import tablecloth, tilted_plane
from validation.encounters import STRETCH, Watch
from validation.result import Result, Say, silent

TITLE = "the papers' lagged friction beside ours: acceleration, creep, and what lies on a table"

DEGREES = 20.0
#: who solves the papers' quadratic problems, beside the active set
LIBRARIES = ("clarabel", "piqp")


def run(quick: bool = False, *, out: Path | None = None, say: Say = silent) -> Result:
    """Ours is measured against the exact answers; what the papers' friction gives stands in their column."""
    result = Result("lagged_friction", TITLE)
    theta = np.deg2rad(DEGREES)
    sheets = tilted_plane.sheets(quick)
    names = list(sheets)[:1] if quick else list(sheets)
    duration, long = (0.4, 1.0) if quick else (1.0, 10.0)
    ours, theirs = Watch(), Watch()
    for name in names:
        mesh = sheets[name]
        for share in (0.5, 0.8, 0.99):
            say(f"{name}, mu = {share:g} tan")
            mu = share * np.tan(theta)
            exact = tilted_plane.GRAVITY * (np.sin(theta) - mu * np.cos(theta))
            found, watch = tilted_plane.slide(mesh, theta, mu, duration)
            lagged, other = tilted_plane.slide(mesh, theta, mu, duration, contact="lagged")
            what = f"{name}, mu = {share:g} tan: acceleration, m/s^2"
            result.near(what, found, exact, 0.01, paper=f"{lagged:.4g}")
            ours.add(watch)
            theirs.add(other)
        for share in (1.01, 1.5, 3.0):
            say(f"{name}, mu = {share:g} tan")
            mu = share * np.tan(theta)
            moved, watch = tilted_plane.creep(mesh, theta, mu, long)
            lagged, other = tilted_plane.creep(mesh, theta, mu, long, contact="lagged")
            what = f"{name}, mu = {share:g} tan: moved in {long:g} s, mm"
            result.below(what, 1e3 * moved, 0.1, ".1e", paper=f"{1e3 * lagged:.1e}")
            ours.add(watch)
            theirs.add(other)
    say("tablecloth")
    settled, watched = (0.5, 0.5) if quick else (tablecloth.SETTLED, tablecloth.WATCHED)
    laid = tablecloth.lay(1.0, (7, 9), settled, watched)
    other_laid = tablecloth.lay(1.0, (7, 9), settled, watched, contact="lagged")
    what = f"tablecloth, mu 1: creep of what lies in {watched:g} s, mm"
    result.below(what, 1e3 * laid.creep, 0.1, ".1e", paper=f"{1e3 * other_laid.creep:.1e}")
    ours.add(laid.watch)
    theirs.add(other_laid.watch)
    _beside(result, ours, theirs)
    for library in LIBRARIES:
        say(f"the papers' friction with {library}")
        apart = _apart(theta, library, quick)
        result.below(f"papers' friction: active set and {library} apart after 0.2 s, mm", 1e3 * apart, 1e-2, ".1e")
    result.notes.append(
        f"slope of {DEGREES:g} degrees, steps of 10 ms; in the column of the paper stands what its friction gives "
        "here, with the active set"
    )
    return result


def _beside(result: Result, ours: Watch, theirs: Watch) -> None:
    """What the steps of both reported."""
    law = "all runs: residual of Coulomb's law as reported / largest force"
    result.info(law, ours.friction_residual, ".1e", paper=f"{theirs.friction_residual:.1e}")
    result.below("all runs: steps not converged", ours.unconverged, 0, ".0f", paper=f"{theirs.unconverged:.0f}")
    lengths = f"{100 * theirs.stretch:.3g}"
    result.below("all runs: lengths of edges, largest rms change, %", 100 * ours.stretch, 100 * STRETCH, paper=lengths)
    nearest = f"{1e3 * theirs.clearance:.4f}"
    what = "all runs: smallest distance of a node from an obstacle, mm"
    result.above(what, 1e3 * ours.clearance, 0.0, ".4f", paper=nearest)
    isometry = f"{theirs.isometry_error:.1e}"
    result.info("all runs: isometry error as reported", ours.isometry_error, ".1e", paper=isometry)
    result.info(
        "all runs: smallest gap as reported, mm", 1e3 * ours.min_gap, ".4f", paper=f"{1e3 * theirs.min_gap:.4f}"
    )
    solves = f"{theirs.iterations / theirs.steps:.2f}"
    result.info("all runs: solves per step", ours.iterations / ours.steps, ".2f", paper=solves)
    result.info("all runs: q = computing / simulated time", ours.q, ".3f", paper=f"{theirs.q:.3f}")


def _apart(theta: float, library: str, quick: bool) -> float:
    """Largest distance (m) of nodes between two sheets that slide for 0.2 s, by the active set and by a library."""
    mesh = next(iter(tilted_plane.sheets(quick).values()))
    mu = 0.5 * np.tan(theta)
    sims: list[Simulation] = [
        tilted_plane.on_slope(mesh, theta, mu, contact="lagged", contact_solver=solver)[0]
        for solver in ("active_set", library)
    ]
    for sim in sims:
        Watch().run(sim, 0.2)
    return float(np.linalg.norm(sims[0].positions - sims[1].positions, axis=1).max())
