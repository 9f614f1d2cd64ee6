"""Strips that hang from Gamma 0.1 to 1e5: every model against the heavy elastica, by continuation, with a verdict.

The second half is about locking: thin shells, shells that hardly change their volume, and strips of other sizes.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from isocloth import protocols
from isocloth.base.typing import FloatArray
from isocloth.protocols import Verdict
from validation.result import Result, Say, Series, silent

TITLE = "cantilever protocol: shells and other models from Gamma 0.1 to 1e5, and no locking"

GAMMAS = np.geomspace(0.1, 1e5, 13)
FEW = np.geomspace(0.1, 1e5, 7)
TOLERANCE = 0.02
#: elements of the coarse and of the fine strip, both graded to the clamp, and of strips of squares
GRADED, SQUARES = (80, 240), (240, 960)
#: models on graded strips, and those that need squares
ON_GRADED = ("koiter", "koiter-neo-hookean", "woven", "isometric", "quasi_inextensible", "elastic", "mass_spring")
ON_SQUARES = ("koiter-tan", "koiter-sin", "discrete_shell")
THIN = (1e-3, 3e-4, 1e-4)
SCALES = (0.1, 1.0, 10.0)  # m
RATIOS = (0.3, 0.49)


def run(quick: bool = False, *, out: Path | None = None, say: Say = silent) -> Result:
    """Verdicts, then locking."""
    result = Result("cantilever_protocol", TITLE)
    gammas = FEW if quick else GAMMAS
    koiter: list[Verdict] = []
    for elements in GRADED[:1] if quick else GRADED:
        say(f"Koiter shell, average, {elements} elements")
        verdict = protocols.cantilever("koiter", gammas=gammas, elements=elements)
        koiter.append(verdict)
        name = f"Koiter shell, average, {elements} elements"
        result.below(f"{name}: worst error of H/W", verdict.worst, TOLERANCE, ".4f", paper="OK")
        result.below(f"{name}: equilibria that were not found", verdict.unsolved, 0, ".0f")
        result.below(f"{name}: equilibria that are unstable", verdict.unstable, 0, ".0f")
    verdicts = [koiter[-1]]
    if not quick:
        verdicts += _others(result, say)
        _table(result, verdicts)
    _thin(result, quick, say)
    _curling(result, quick, say)
    _scales(result, quick, say)
    _draw(result, verdicts, out)
    result.notes.append(
        "length is measured from the middle of the held element; h/L = 1e-3 and Poisson's ratio 0 unless said "
        "otherwise: a narrow strip with another one curls across and has the rigidity of a beam"
    )
    return result


def _others(result: Result, say: Say) -> list[Verdict]:
    """All other models, coarse and fine."""
    found = []
    runs: list[tuple[str, int, dict[str, Any]]] = [(m, n, {}) for m in ON_GRADED[1:] for n in GRADED]
    runs += [(m, n, {"across": 2}) for m in ON_SQUARES for n in SQUARES]
    runs += [("koiter", SQUARES[-1], {"finest": 1.0, "across": 2, "width": 2 / SQUARES[-1]})]
    runs += [("nonconforming", GRADED[0], {"gammas": FEW[:4]})]
    for model, elements, options in runs:
        say(f"{model}, {elements} elements")
        kind = "squares" if "across" in options else "elements"
        verdict = protocols.cantilever(
            protocols.BY_VARIANT[model], elements=elements, name=f"{model}, {elements} {kind}",
            **{"gammas": GAMMAS, **options},
        )  # fmt: skip
        found.append(verdict)
    return found


def _table(result: Result, verdicts: list[Verdict]) -> None:
    for verdict in verdicts[1:]:
        model = verdict.model.split(",")[0]
        paper = protocols.THESIS["cantilever"].get(model, "")
        left = f", {verdict.unsolved} not found" if verdict.unsolved else ""
        left += f", {verdict.unstable} unstable" if verdict.unstable else ""
        word = "OK" if verdict.ok else "KO"
        result.info(f"{verdict.model}: {word}, good for Gamma {verdict.good}{left}; worst error of H/W", verdict.worst,
                    ".4f", paper=paper)  # fmt: skip


def _thin(result: Result, quick: bool, say: Say) -> None:
    """The thinner, the less a strip stretches: H/W goes to that of the elastica."""
    for thickness in THIN[-1:] if quick else THIN:
        say(f"h/L = {thickness:g}")
        verdict = protocols.cantilever("koiter", gammas=FEW, elements=40 if quick else 80, thickness=thickness)
        result.below(f"h/L = {thickness:g}: worst error of H/W", verdict.worst, TOLERANCE, ".4f")
        result.below(f"h/L = {thickness:g}: equilibria not found, or unstable", verdict.unsolved + verdict.unstable, 0,
                     ".0f")  # fmt: skip


def _curling(result: Result, quick: bool, say: Say) -> None:
    """With Poisson's ratio: between a sheet that cannot curl across and a beam that curls freely; each in its limit.

    What keeps a strip from curling is its membrane, where w^2 kappa / h is large: a soft strip bends as a sheet.
    """
    for poisson in RATIOS[-1:] if quick else RATIOS:
        say(f"nu = {poisson:g}")
        given = FEW[::2] if quick else FEW
        verdict = protocols.cantilever("koiter", gammas=given, elements=80, across=2 if quick else 4, poisson=poisson)
        sheet, beam = protocols.bracket(verdict.x, poisson)
        outside = np.maximum(verdict.computed / beam, sheet / verdict.computed) - 1.0
        name = f"nu = {poisson:g}"
        result.below(f"{name}: H/W beyond those of a sheet and of a beam", max(float(outside.max()), 0.0), TOLERANCE,
                     ".4f")  # fmt: skip
        soft = verdict.x >= 999.0
        result.below(f"{name}, Gamma from 1000 on: error of H/W against a sheet", float(verdict.errors[soft].max()),
                     TOLERANCE, ".4f")  # fmt: skip
        result.below(f"{name}: equilibria not found, or unstable", verdict.unsolved + verdict.unstable, 0, ".0f")
        stiff = protocols.cantilever(
            protocols.BY_VARIANT["koiter-tan"], gammas=[0.1], elements=80, across=4, poisson=poisson
        )
        off = float(stiff.computed[0] / protocols.bracket(0.1, poisson)[1]) - 1.0
        result.below(f'{name}, "tan", w/L 0.05, Gamma 0.1: error of H/W against a beam', abs(off), TOLERANCE, ".4f")


def _scales(result: Result, quick: bool, say: Say) -> None:
    """The curve knows no size."""
    curves: list[FloatArray] = []
    gammas = FEW[::3] if quick else FEW
    for length in SCALES:
        say(f"{length:g} m long")
        curves.append(protocols.cantilever("koiter", gammas=gammas, elements=30, length=length).computed)
    off = max(float(np.abs(curve / curves[0] - 1.0).max()) for curve in curves[1:])
    result.below("strips of 0.1, 1 and 10 m: H/W differs by", off, 1e-5, ".1e")


def _draw(result: Result, verdicts: list[Verdict], out: Path | None) -> None:
    columns = {verdict.model: verdict.errors for verdict in verdicts if len(verdict.x) == len(verdicts[0].x)}
    result.series.append(Series("errors", "Gamma", "relative error of H/W", verdicts[0].x, columns, log=True))
    if out is not None:
        # the finest of each kind; more would hide each other
        finest = ("koiter-tan, 960", "koiter-sin, 960", "discrete_shell, 960", "isometric, 240", "woven, 240")
        shown = [verdict for verdict in verdicts[1:] if verdict.model.startswith(finest)]
        protocols.plot([verdicts[0], *shown], out / "cantilever-protocol.png")
