"""Strips pushed against a floor: the tip slips where the elastica says, by three solvers of friction."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from isocloth import protocols
from isocloth.contact.options import ContactOptions
from isocloth.models import MassSpring
from validation.result import Result, Say, silent

TITLE = "stick-slip: the friction at which a pushed strip slips, by three solvers of Coulomb's law"

#: Q/P at these pushes, section 2.1 of the specification
TABLE = {0.01: 0.04485, 0.05: 0.10354, 0.10: 0.15279, 0.15: 0.19592, 0.20: 0.23777, 0.25: 0.28071, 0.30: 0.32649}
TOLERANCE = 0.03
#: name -> contact, options
LAWS: dict[str, tuple[str, ContactOptions | None]] = {
    "default law, strict": ("coulomb", protocols.STRICT),
    "Gauss-Seidel": ("gauss_seidel", None),
}


def run(quick: bool = False, *, out: Path | None = None, say: Say = silent) -> Result:
    """The master curve, and both laws on the table; the default law with its usual tolerances beside."""
    result = Result("stick_slip", TITLE)
    curve = protocols.stick_slip_curve(list(TABLE))
    off = float(np.abs(curve / np.array(list(TABLE.values())) - 1.0).max())
    result.below("master curve solved here against the table, relative", off, 2e-4, ".1e")
    frictions = [TABLE[0.05], TABLE[0.30]] if quick else list(TABLE.values())
    for name, (contact, options) in LAWS.items():
        say(name)
        elements = 30 if quick else 50
        verdict = protocols.stick_slip(
            frictions=frictions, contact=contact, contact_options=options, elements=elements, tolerance=TOLERANCE
        )
        for mu, push, error in zip(frictions, verdict.x, verdict.errors, strict=True):
            result.info(f"{name}, mu = {mu:g}: push / length where it slips", float(push), ".4f")
            result.below(f"{name}, mu = {mu:g}: error of Q/P", float(error), TOLERANCE, ".4f")
        result.below(f"{name}: tips that did not slip", verdict.unsolved, 0, ".0f")
        if not quick and out is not None:
            verdict.plot(out / f"stick-slip-{contact}.png")
    say("default law, usual tolerances")
    usual = protocols.stick_slip(frictions=frictions, contact_options=None, elements=30 if quick else 50)
    result.info("default law, usual tolerances: worst error of Q/P", usual.worst, ".3f")
    if not quick:
        for elements in (25, 100):
            say(f"{elements} elements")
            verdict = protocols.stick_slip(frictions=frictions, contact="gauss_seidel", contact_options=None,
                                           elements=elements)  # fmt: skip
            result.info(f"Gauss-Seidel, {elements} elements: worst error of Q/P", verdict.worst, ".4f")
    _projective(result, frictions if not quick else frictions[-1:], quick, say)
    result.notes.append(
        "no gravity, D = 0.04 N m, 0.2 m long, steps of 5 ms, each from rest; 110 pushes around the slip"
    )
    return result


def _projective(result: Result, frictions: list[float], quick: bool, say: Say) -> None:
    """Projective friction beside: how much later than it should the tip slips, by friction and by iterations."""
    springs = MassSpring(flexion=0.0)
    for iterations in (200,) if quick else (500, 20, 5):
        say(f"projective friction, {iterations} iterations")
        verdict = protocols.stick_slip(
            springs, solver="projective", frictions=frictions, iterations=iterations, elements=20 if quick else 50
        )
        for mu, push, master in zip(frictions, verdict.x, verdict.expected, strict=True):
            paper = "" if iterations != 500 else "over-sticks" if mu >= 0.25 else "good"
            what = f"projective friction, at most {iterations} iterations, mu = {mu:g}"
            result.info(f"{what}: push / length where it slips", float(push), ".4f")
            result.info(f"{what}: Q/P there over mu", float(master / mu), ".4f", paper=paper)
        if quick:
            result.below("projective friction: tips that did not slip", verdict.unsolved, 0, ".0f")
