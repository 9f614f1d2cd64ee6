"""The thesis' own way to flat rest shapes and densities, continuation in the mass, beside `ic.pattern`."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from isocloth import Fabric, Mesh, Pattern, measure, pattern
from isocloth.base.typing import FloatArray
from isocloth.inverse.thesis import MassContinuation, mass_continuation
from isocloth.inverse.thesis.constrained import constrained_rest
from isocloth.inverse.thesis.developability import smooth_penalty
from isocloth.inverse.thesis.hierarchy import mass_hierarchy
from validation.pattern_targets import DISCRETE, HEAVY, KOITER, LIGHT
from validation.result import Result, Say, silent
from validation.thesis_targets import Hung, coarser, hung_grid, on_beams, tube

TITLE = "the thesis' continuation in the mass finds densities and flat rest shapes, or not, as it says"

THICK = KOITER.thickness
#: weights of the thesis' figures, m^2
FIXED, SMOOTH = 2e-4, 1e-5
#: Pa, of the sheet on beams
STIFF = 1.5e6
#: m, by which a rest shape that is found may be off the true one
FOUND = 1e-3


def run(quick: bool = False, *, out: Path | None = None, say: Say = silent) -> Result:
    """Sheets and tubes of table 6.1, constraints, plates, a hierarchy of meshes, and a sheet on beams."""
    result = Result("thesis_patterns", TITLE)
    side = 7 if quick else 23
    light, heavy = hung_grid(side, DISCRETE, LIGHT), hung_grid(side, KOITER, HEAVY * THICK)
    say("sheet, discrete shells")
    first = _discrete_sheet(result, light, quick)
    say("sheet, Koiter's shell")
    second = _koiter_sheet(result, heavy, quick)
    for hung, found, name in ((light, first, "discrete"), (heavy, second, "Koiter")):
        _ours(result, hung, found, f"sheet of {hung.target.n_vertices} vertices, {name}")
    if quick:
        return result
    say("without developability")
    _without(result, light)
    say("tubes, discrete shells")
    _discrete_tubes(result)
    say("tubes, Koiter's shell")
    _koiter_tubes(result)
    say("constraints")
    _constraints(result)
    say("plates")
    _plates(result, light)
    say("hierarchy")
    _hierarchy(result)
    say("beams")
    _beams(result)
    result.notes += [
        "best is where J times C_DGC falls before and rises after, or where it is least if it does so nowhere; a zone "
        "is where it is less than ten times as much. C_DGC is half the sum of squares, of which the thesis prints no "
        "formula, so that its weights need not be comparable",
        "rest places of held nodes stay, but where it says that they are sought too",
        "steps of density and weights are those of the thesis' figures; a density has at most 100 iterations of BFGS, "
        "of sheets 200, and 50 of the others",
        "the constraint is met by augmented Lagrangians with Gauss-Newton; the thesis has BFGS, which ended early here",
    ]
    return result


def _steps(step: float, last: int, first: int = 1) -> list[float]:
    return [round(step * k, 9) for k in range(first, last + 1)]


def _searched(hung: Hung, densities: Sequence[float], **options: Any) -> tuple[MassContinuation, float]:
    begin = time.process_time()
    held = hung.held if len(hung.held) else None
    found = mass_continuation(hung.target, model=hung.model, held=held, densities=densities, progress=False, **options)
    return found, time.process_time() - begin


def _off(hung: Hung, points: FloatArray) -> float:
    """m, the largest distance of a rest place from where it should be."""
    return float(np.linalg.norm(points - hung.rest, axis=1).max())


def _told(result: Result, name: str, hung: Hung, found: MassContinuation, seconds: float, *, unit: float = 1.0,
          paper: str = "", must: bool = False) -> None:  # fmt: skip
    """What a continuation found; unit: thickness, m, where densities are by volume."""
    what = "kg/m^3" if unit != 1.0 else "kg/m^2"
    line = f"{name}: best density, {what}"
    if must:
        result.near(line, found.density / unit, hung.density / unit, 1e-9, ".4g", paper=paper)
    else:
        result.info(line, found.density / unit, ".4g", paper=paper)
    result.info(f"{name}: J and C_DGC each less than beside it (1: yes)", float(found.clear), ".0f")
    low, high = found.zone
    result.info(f"{name}: zone from, {what}", low / unit, ".4g")
    result.info(f"{name}: zone to, {what}", high / unit, ".4g")
    result.info(f"{name}: J there, m^2", found.best.distance, ".1e")
    result.info(f"{name}: C_DGC there", found.best.developability, ".1e")
    curved = measure.gauss_curvature(found.target)
    result.info(f"{name}: C_DGC of the target", 0.5 * float(curved @ curved), ".1e")
    result.info(f"{name}: rest shape off the true one, mm", 1e3 * _off(hung, found.best.points), ".2g")
    _plotted(result, name, found)
    result.info(f"{name}: iterations", sum(s.iterations for s in found.stages), ".0f")
    result.info(f"{name}: processor time, s", seconds, ".0f")


def _plotted(result: Result, name: str, found: MassContinuation) -> None:
    columns = {"J": [s.distance for s in found.stages], "C_DGC": [s.developability for s in found.stages]}
    kept = {key: np.maximum(value, 1e-30) for key, value in columns.items()}
    result.plot(name, "density, kg/m^2", "J, m^2 and C_DGC", [s.density for s in found.stages], kept, log=True)


def _discrete_sheet(result: Result, hung: Hung, quick: bool) -> float:
    densities = [0.2, 0.25, 0.3] if quick else _steps(0.01, 27)
    found, seconds = _searched(
        hung, densities, developability=1e-4, method="gauss-newton", iterations=20 if quick else 50
    )
    name = "sheet, discrete, weight 1e-4, Gauss-Newton"
    _told(result, name, hung, found, seconds, paper="0.25", must=True)
    off = 1e3 * _off(hung, found.best.points)
    result.below(f"{name}: rest shape off the square at most, mm", off, 1e3 * FOUND, ".1e", paper="the square")
    return seconds


def _koiter_sheet(result: Result, hung: Hung, quick: bool) -> float:
    densities = [k * 93.5 * THICK for k in ((9, 10, 11) if quick else range(1, 12))]
    most = 60 if quick else 200
    found, seconds = _searched(hung, densities, iterations=most)
    _told(result, "sheet, Koiter, adaptive, BFGS", hung, found, seconds, unit=THICK, paper="935", must=True)
    result.info("sheet, Koiter, adaptive, BFGS: largest weight, m^2", max(s.weight for s in found.stages), ".1e",
                paper="0.1 to 1")  # fmt: skip
    if quick:
        return seconds
    fixed, took = _searched(hung, densities, developability=FIXED, smoothness=SMOOTH, iterations=most)
    _told(result, "sheet, Koiter, weight 2e-4, BFGS", hung, fixed, took, unit=THICK, paper="none: creases")
    return seconds


def _ours(result: Result, hung: Hung, seconds: float, name: str) -> None:
    """`ic.pattern` of the same target, in the same run."""
    begin = time.process_time()
    fabric = Fabric(density=0.5 * hung.density)
    found = pattern(hung.target, fabric, model=hung.model, held=hung.held, progress=False)
    assert isinstance(found, Pattern)
    took = time.process_time() - begin
    result.info(f"{name}: processor time, ic.pattern, s", took, ".2f")
    result.info(f"{name}: processor time, the thesis' way, over that of ic.pattern", seconds / took, ".0f")
    result.below(f"{name}: density off, ic.pattern, as a part", abs(found.density / hung.density - 1.0), 1e-6, ".1e")


def _without(result: Result, hung: Hung) -> None:
    """Shells of many densities hang so, until the rest shape buckles."""
    step = LIGHT / 30.0
    densities = [step * k for k in (12, 24, 30, 34, 38, 42)]
    found, seconds = _searched(hung, densities, developability=0.0, iterations=200)
    name = "sheet, discrete, no developability"
    for stage in found.stages[2:]:
        paper = "0, exactly" if stage.density < 0.317 else "not 0"
        result.info(f"{name}: J at {stage.density:.4g} kg/m^2, m^2", stage.distance, ".1e", paper=paper)
    result.info(f"{name}: processor time, s", seconds, ".0f")


def _discrete_tubes(result: Result) -> None:
    hung = tube(20, 19, DISCRETE, LIGHT)
    found, seconds = _searched(
        hung, _steps(0.01, 27), developability=1e-8, method="gauss-newton", attraction=10.0, iterations=50
    )
    _told(result, "tube, four pins, discrete, weight 1e-8, Gauss-Newton", hung, found, seconds, paper="0.25", must=True)
    hung = tube(20, 19, DISCRETE, LIGHT, circles=True)
    options: dict[str, Any] = {"developability": 1e-2, "attraction": 50.0}
    found, seconds = _searched(hung, _steps(0.01, 27), method="newton", iterations=50, **options)
    _told(result, "tube, both circles, discrete, weight 1e-2, Newton", hung, found, seconds, paper="0.21 to 0.23")
    found, seconds = _searched(hung, _steps(0.01, 27), iterations=100, everywhere=True, **options)
    _told(result, "tube, both circles, BFGS, held nodes sought too", hung, found, seconds, paper="0.21 to 0.23")


def _koiter_tubes(result: Result) -> None:
    hung = tube(20, 19, KOITER, HEAVY * THICK)
    densities = [46.75 * THICK * k for k in range(1, 23)]
    for name, options, paper in (
        ("adaptive", {}, "935"),
        ("adaptive, smooth 1e-6", {"smoothness": 1e-6}, "blurred"),
        ("weight 2e-4, smooth 1e-5", {"smoothness": SMOOTH, "developability": FIXED, "attraction": 1.0}, "935"),
    ):
        found, seconds = _searched(hung, densities, **{"attraction": 8.0, "iterations": 100, **options})
        _told(result, f"tube, Koiter, {name}, BFGS", hung, found, seconds, unit=THICK, paper=paper)


def _constraints(result: Result) -> None:
    for shifted in (False, True):
        hung = hung_grid(23, DISCRETE, LIGHT, shifted=shifted)
        for name, net in (("Gaussian curvature", None), ("geodesics", hung.quads)):
            begin = time.process_time()
            found = constrained_rest(
                hung.target, Fabric(density=hung.density), net=net, model=hung.model, held=hung.held, attraction=1.0,
                method="gauss-newton", weight=1e-3, rounds=4, iterations=20, smallest=1e-15, progress=False,
            )  # fmt: skip
            which = f"{'shifted' if shifted else 'regular'} grid, {name} as a constraint"
            off, wrong = 1e3 * _off(hung, found.points), shifted and net is not None
            if wrong:
                result.info(f"{which}: rest shape off the square, mm", off, ".2g", paper="not found")
            else:
                result.below(f"{which}: rest shape off the square, mm", off, 1e3 * FOUND, ".2g", paper="the square")
            result.info(f"{which}: J, m^2", found.distance, ".1e")
            result.info(f"{which}: largest violation", found.violation, ".1e")
            result.info(f"{which}: processor time, s", time.process_time() - begin, ".0f")


def _plates(result: Result, hung: Hung) -> None:
    lengths = hung.target.with_vertices(hung.rest).edge_lengths
    crumpled: dict[str, Any] = {"developability": 0.0, "iterations": 1000}
    smooth: dict[str, Any] = {"developability": 1e-4, "smoothness": 1e-4, "method": "gauss-newton"}
    for name, options, paper in (
        ("nothing else, BFGS", crumpled, "crumpled"), ("nothing else, Gauss-Newton",
         {**crumpled, "method": "gauss-newton", "iterations": 30}, ""), ("weight 1e-4, smooth 1e-4", smooth, "flat"),
    ):  # fmt: skip
        found, seconds = _searched(hung, [hung.density], plate=True, **options)
        stretch = float(np.abs(found.rest.edge_lengths / lengths - 1.0).max())
        bent = smooth_penalty(hung.target)(found.best.points).value
        result.info(f"plate, {name}: J, m^2", found.best.distance, ".1e")
        result.info(f"plate, {name}: edges off those of the square, as a part", stretch, ".1e",
                    paper="4e-8" if paper == "crumpled" else "")  # fmt: skip
        angle = float(np.degrees(np.abs(bent).max()))
        result.info(f"plate, {name}: largest angle of two faces at rest, degrees", angle, ".2g", paper=paper)
        result.info(f"plate, {name}: processor time, s", seconds, ".0f")


def _hierarchy(result: Result) -> None:
    fine = hung_grid(45, KOITER, HEAVY * THICK)
    levels = [coarser(fine, 4), coarser(fine, 2), fine]
    begin = time.process_time()
    found = mass_hierarchy(
        [h.target for h in levels], densities=[93.5 * THICK * k for k in range(1, 12)], held=[h.held for h in levels],
        methods=["bfgs", "bfgs", "l-bfgs"], model=KOITER, attraction=4.0, iterations=100, progress=False,
    )  # fmt: skip
    for hung, level, paper in zip(levels, found, ("748", "841 to 1028", "around 935"), strict=True):
        name = f"hierarchy, {hung.target.n_vertices} vertices"
        _told(result, name, hung, level, sum(s.seconds for s in level.stages), unit=THICK, paper=paper)
    result.info("hierarchy: processor time, s", time.process_time() - begin, ".0f")


def _beams(result: Result) -> None:
    """A smaller and stiffer sheet than the thesis': its own is so soft that how it lies is hard to find at rest."""
    fabric = Fabric(thickness=THICK, friction=0.6)
    hung, beams = on_beams(13, replace(KOITER, young=STIFF), HEAVY * THICK, fabric)
    found, seconds = _searched(
        hung, [93.5 * THICK * k for k in range(1, 12)], fabric=fabric, obstacles=beams, friction=0.1, attraction=4.0,
        iterations=100,
    )  # fmt: skip
    name = f"beams, {hung.target.n_vertices} vertices, friction penalty 0.1"
    _told(result, name, hung, found, seconds, unit=THICK, paper="935")
    result.info(f"{name}: G of contacts there, N^2", found.best.friction, ".1e")
    result.info(f"{name}: heights of the rest shape, mm", 1e3 * _height(found.rest), ".3g", paper="does not unfold")
    result.info(f"{name}: heights of the target, mm", 1e3 * _height(hung.target), ".3g")


def _height(mesh: Mesh) -> float:
    """m, least distance of two level planes between which a shape fits when it is laid on its best plane."""
    off = mesh.vertices - mesh.vertices.mean(axis=0)
    return float(np.ptp(off @ np.linalg.svd(off, full_matrices=False)[2][2]))
