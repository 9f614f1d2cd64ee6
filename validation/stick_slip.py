"""Strips pushed against a floor: the tip slips where the elastica says, by the default law and by Gauss-Seidel."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from isocloth import protocols
from isocloth.contact.options import ContactOptions
from validation.result import Result, Say, silent

TITLE = "stick-slip: the friction at which a pushed strip slips, by two solvers of Coulomb's law"

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
    result.notes.append(
        "no gravity, D = 0.04 N m, 0.2 m long, steps of 5 ms, each from rest; 110 pushes around the slip"
    )
    return result
