"""Flat panels and a density are recovered from how a cloth hangs: exact, captured, of another mesh, as points."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from isocloth import Fabric, Pattern, UnrolledPattern, pattern
from isocloth.inverse.joint import Search, View
from isocloth.inverse.rest_coordinates import RestCoordinates
from isocloth.inverse.supports import hands_at
from isocloth.models import KoiterShell, Shell
from isocloth.patterns.fit import KEPT
from validation.motions import GRAVITY
from validation.pattern_targets import (
    DISCRETE,
    HEAVY,
    KOITER,
    LIGHT,
    Sewn,
    corners_of,
    cylinder,
    hung_square,
    panel_error,
    sampled,
    sheet,
    skirt,
    sleeve,
    square,
    towel,
)
from validation.result import Result, Say, silent

TITLE = "flat panels and a density come back from how a cloth hangs"

#: of the true density, with which searches begin
STARTS = (0.2, 2.5)
#: m, error of captured coordinates; how many times
NOISE, REPEATED = 1e-3, 20
#: of these, in which the true density is within two standard deviations, at least: 20 of 0.954 are 19.1
HELD = 17
#: parts of the density: from exact data, another mesh, with noise
EXACT, OTHER, NOISY = 1e-6, 0.05, 0.10
#: m, of panels and of the cloth that is sewn of them; sides of a towel of points
SEWN, TOWEL = 2e-3, 3e-3
#: points of a towel, and as how many clouds
POINTS, CLOUDS = 3000, 3


def run(quick: bool = False, *, out: Path | None = None, say: Say = silent) -> Result:
    """Sheets, a cylinder, a skirt and a sleeve, exactly; sheets captured; a towel as points."""
    result = Result("patterns", TITLE)
    thick = HEAVY * KOITER.thickness
    sizes = (9, (16, 6), (6, 16), (7, 12)) if quick else (23, (20, 19), (19, 40), (19, 24))
    side, tube, hung, arm = sizes
    fine = KoiterShell(young=1e6, poisson=0.3, thickness=5e-4)
    soft = replace(DISCRETE, stretch=20.0, bending=2e-4)
    first, garment = sheet(side, DISCRETE, LIGHT), skirt(*hung, soft, 0.2)
    exact = [first, garment]
    if not quick:
        exact = [first, sheet(side, KOITER, thick), cylinder(*tube, DISCRETE, LIGHT), cylinder(*tube, KOITER, thick),
                 garment, skirt(*hung, fine, 0.2), sleeve(*arm, soft, 0.2), sleeve(*arm, fine, 0.2)]  # fmt: skip
    for sewn in exact:
        say(sewn.name)
        _exact(result, sewn)
    if not quick:
        say("other meshes and normals")
        _other(result, side)
    for sewn in exact[:1] if quick else exact[:4]:
        say(f"{sewn.name}, captured")
        _captured(result, sewn, 2 if quick else REPEATED)
    if not quick:
        say(f"{garment.name}, captured")
        _soft(result, garment)
    say("towel of points")
    _towel(result, quick)
    result.notes += [
        f"searches begin at {STARTS[0]:g} and {STARTS[1]:g} times the true density and at panels as they unroll; exact "
        "targets are drapes of the same model on the same mesh",
        "baseline of the panels: what the target unrolls to, with no regard to forces",
        "the thesis' own way with the sheet and the cylinder is in `thesis_patterns`",
    ]
    return result


class Answer(NamedTuple):
    """A pattern that was found, and how long it took."""

    found: Pattern
    seconds: float


def _left_by_errors(sewn: Sewn) -> float:
    """Standard deviation of the logarithm of the density that errors of `NOISE` leave in the linearised fit at the
    truth, whatever method is used: with no smoothness, and hands that are as uncertain as all else (Cramer and Rao)."""
    rest = RestCoordinates.of_panels(sewn.flat, sewn.cut.corners, sewn.cut.panel, sewn.cut.pairs)
    view = View(sewn.target, GRAVITY, hands_at(sewn.held), True)
    search = Search([view], sewn.model, sewn.fabric.density, ["density"], rest, KEPT)
    system = search.linearised(search.begin(rest.start))
    at = system.places + system.coordinates
    return NOISE * float(np.sqrt(system.solve(np.eye(1, system.matrix.shape[0], at)[0])[at]))


def _found(sewn: Sewn, factor: float, **options: object) -> Answer:
    begin = time.process_time()
    fabric = replace(sewn.fabric, density=factor * sewn.fabric.density)
    found = pattern(sewn.target, fabric, model=sewn.model, seams=sewn.seams, held=sewn.held, **options)  # type: ignore[arg-type]
    assert isinstance(found, Pattern)
    return Answer(found, time.process_time() - begin)


def _exact(result: Result, sewn: Sewn) -> None:
    answers = [_found(sewn, factor) for factor in STARTS]
    name, true = sewn.name, sewn.fabric.density
    off = max(abs(a.found.density / true - 1.0) for a in answers)
    result.below(f"{name}: density off, as a part", off, EXACT, ".1e")
    error = max(panel_error(sewn.cut, a.found.flat, sewn.flat) for a in answers)
    result.below(f"{name}: panels off, mm", 1e3 * error, 1e3 * SEWN, ".1e")
    unrolled = pattern(sewn.target, model="isometric", seams=sewn.seams)
    plain = panel_error(sewn.cut, unrolled.flat, sewn.flat)
    result.info(f"{name}: panels as it unrolls (baseline) off, mm", 1e3 * plain, ".2f")
    rests = max(float(np.linalg.norm(a.found.equilibrium.positions - sewn.target.vertices, axis=1).max())
                for a in answers)  # fmt: skip
    result.below(f"{name}: sewn again and hung, off, mm", 1e3 * rests, 1e3 * SEWN, ".1e")
    result.holds(f"{name}: reached, stable", all(a.found.reached for a in answers))
    result.info(f"{name}: linear systems", max(a.found.iterations for a in answers), ".0f")
    result.info(f"{name}: processor time, s", max(a.seconds for a in answers), ".2f")


def _other(result: Result, side: int) -> None:
    """The truth on another mesh, or with other normals, or stiffness as another energy has it."""
    true = HEAVY * KOITER.thickness
    nodes = corners_of(side)
    cases: list[tuple[str, Shell, int, bool, float | None]] = [
        ("normals by sines", replace(KOITER, normals="sin"), 1, False, OTHER),
        ("normals by tangents", replace(KOITER, normals="tan"), 1, False, OTHER),
        ("neo-Hookean", replace(KOITER, membrane="neo-hookean"), 1, False, None),
        ("cut along the other diagonals", KOITER, 1, True, OTHER),
        ("twice as fine", KOITER, 2, False, None),
    ]
    for label, model, finer, flipped, target in cases:
        mesh = square(finer * (side - 1) + 1, flipped=flipped)
        hung = hung_square(mesh, corners_of(finer * (side - 1) + 1), model, true)
        shape = square(side)
        at = hung.reshape(finer * (side - 1) + 1, -1, 3)[::finer, ::finer].reshape(-1, 3)
        start = Fabric(density=0.5 * true)
        for refine in (0, 1) if finer > 1 else (0,):
            begin = time.process_time()
            found = pattern(shape.with_vertices(at), start, model=KOITER, held=nodes, refine=refine)
            assert isinstance(found, Pattern)
            what = f"truth {label}{', faces split in four' if refine else ''}: density off, %"
            off = 100.0 * abs(found.density / true - 1.0)
            if target is None and not refine:
                result.info(what, off, ".2f")
            else:
                result.below(what, off, 100.0 * OTHER, ".2f")
            result.info(f"{what.split(':')[0]}: off the target, mm (rms)", 1e3 * found.error, ".3f")
            result.info(f"{what.split(':')[0]}: processor time, s", time.process_time() - begin, ".1f")


def _captured(result: Result, sewn: Sewn, times: int) -> None:
    """Errors of every coordinate, those of the pins too, again and again."""
    answers = []
    for seed in range(times):
        errors = NOISE * np.random.default_rng(seed).normal(size=sewn.target.vertices.shape)
        noisy = sewn._replace(target=sewn.target.with_vertices(sewn.target.vertices + errors))
        answers.append(_found(noisy, 0.5, noise=NOISE))
    true, name = sewn.fabric.density, f"{sewn.name}, {1e3 * NOISE:g} mm of errors"
    off = np.array([a.found.density / true - 1.0 for a in answers])
    said = np.array([a.found.deviations["density"] / a.found.density for a in answers])
    result.below(f"{name}: density off at most, %", 100.0 * float(np.abs(off).max()), 100.0 * NOISY, ".2f")
    result.info(f"{name}: density off in the mean, %", 100.0 * float(off.mean()), ".2f")
    result.info(f"{name}: standard deviation of the densities, %", 100.0 * float(off.std(ddof=1)), ".2f")
    result.info(f"{name}: standard deviation as stated, %", 100.0 * float(said.mean()), ".2f")
    result.info(f"{name}: standard deviation that errors leave, at the truth, %", 100.0 * _left_by_errors(sewn), ".2f")
    within = int((np.abs(off) <= 2.0 * said).sum())
    result.above(f"{name}: within two stated deviations, of {times}", within, HELD if times == REPEATED else times - 1,
                 ".0f")  # fmt: skip
    noise = [1e3 * a.found.noise for a in answers]
    result.between(f"{name}: errors as the fit says, least, mm", min(noise), 0.8, 1.2, ".3f")
    result.between(f"{name}: errors as the fit says, most, mm", max(noise), 0.8, 1.2, ".3f")
    points = np.mean([panel_error(sewn.cut, a.found.flat, sewn.flat) for a in answers])
    result.info(f"{name}: panels off at most, mm (mean)", 1e3 * float(points), ".2f")
    result.info(f"{name}: reached, of {times}", sum(a.found.reached for a in answers), ".0f")
    result.info(f"{name}: processor time, s (mean)", float(np.mean([a.seconds for a in answers])), ".1f")


def _soft(result: Result, sewn: Sewn) -> None:
    """A cloth so soft that errors look like compression, under which it buckles; with its density sought, and known."""
    errors = NOISE * np.random.default_rng(0).normal(size=sewn.target.vertices.shape)
    noisy = sewn._replace(target=sewn.target.with_vertices(sewn.target.vertices + errors))
    name = f"{sewn.name}, {1e3 * NOISE:g} mm of errors"
    sought, known = _found(noisy, 0.5, noise=NOISE), _found(noisy, 1.0, noise=NOISE, unknown=())
    off = 100.0 * abs(sought.found.density / sewn.fabric.density - 1.0)
    result.below(f"{name}: density off, %", off, 100.0 * NOISY, ".2f")
    left = _left_by_errors(sewn)
    result.info(f"{name}: standard deviation of its logarithm that errors leave, at the truth", left, ".2f")
    result.holds(f"{name}: says that it does not tell the density", "density went" in sought.found.problem)
    result.holds(f"{name}, density known: reached", known.found.reached)
    for label, answer in (("", sought), (", density known", known)):
        found = answer.found
        result.info(f"{name}{label}: panels off at most, mm", 1e3 * panel_error(sewn.cut, found.flat, sewn.flat), ".2f")
        far = 1e3 * float(np.linalg.norm(found.positions - sewn.target.vertices, axis=1).max())
        result.info(f"{name}{label}: sewn and hung, off the true shape at most, mm", far, ".2f")
        result.info(f"{name}{label}: processor time, s", answer.seconds, ".1f")


def _towel(result: Result, quick: bool) -> None:
    """The rectangle of a towel of which only points are known."""
    mesh, positions, *sides = towel(quick)
    for seed in range(1 if quick else CLOUDS):
        points = sampled(mesh, positions, 1500 if quick else POINTS, NOISE, seed)
        begin = time.process_time()
        found = pattern(points, model="isometric")
        assert isinstance(found, UnrolledPattern)
        name = f"towel of {len(points)} points, {1e3 * NOISE:g} mm of errors, cloud {seed + 1}"
        for label, side, true in zip(("short", "long"), found.boxes[0], sorted(sides), strict=True):
            result.below(f"{name}: {label} side off, mm", 1e3 * abs(side - true), 1e3 * TOWEL, ".2f")
        box = np.sort(np.ptp(points, axis=0))[1:]
        result.info(f"{name}: box around the points (baseline), off at most, mm",
                    1e3 * float(np.abs(box - np.sort(sides)).max()), ".1f")  # fmt: skip
        result.info(f"{name}: ends that are not seen, as stated, mm", 1e3 * found.unseen, ".1f")
        result.info(f"{name}: processor time, s", time.process_time() - begin, ".1f")
