"""Tables 2 and 3 of the collision paper from synthetic recordings: tablecloths and hits whose friction is known."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from isocloth import meshes
from isocloth.base.typing import FloatArray
from isocloth.calibration import Calibration, Experiment, Parameter, SearchOptions, calibrate, prepare
from isocloth.fabric import Fabric
from isocloth.meshes import Mesh
from isocloth.obstacles import Box, Stick
from isocloth.recordings import Recording, StickMarkers, TableTop, from_trajectory
from isocloth.simulation import Simulation
from isocloth.trajectory import Trajectory
from validation import stick_hits
from validation.result import Result, Say, silent
from validation.scenes import hanging, smooth_ramp, upper_corners
from validation.trailing import SHEET, trailing

TITLE = "tables 2 and 3 of the collision paper: mu of synthetic tablecloths and hits found again"

NOISE, MISSING, LOST, RATE = 1e-3, 0.05, 0.1, 120.0  # m; share of all positions; s at most; Hz
#: N m, bending stiffness, from a light cloth to a sack: without any, less than a micrometre decides how cloth folds
BENDING = {"polyester": 5e-5, "wool": 1e-4, "denim": 3e-4, "stiff cotton": 5e-4}
#: friction of a polished table, and the paper's of a table with a tablecloth on it
LOW, HIGH = 0.2, {"polyester": 1.0, "wool": 2.0, "denim": 1.6, "stiff cotton": 2.0}
STICK = 0.3  # friction of the stick
#: parts of the true mu between which it is looked for: it is not in the middle
SOUGHT = (0.25, 2.5)
#: s, until which the corners are lowered, and move; and how long is recorded after that
LOWERED, STOPPED, REST = 5.0, 5.5, 0.3
#: of each hit: height (m) below the upper edge, angle in the plane of the sheet (rad), how far behind it the stick
#: turns (m), and the time there and back (s): 0.8 to 1.9 m/s; each begins so far before the sheet (m), and so often (s)
HITS = ((0.30, 0.0, 0.12, 1.0), (0.45, 0.2, 0.15, 0.8), (0.25, -0.25, 0.10, 0.6), (0.40, 0.1, 0.15, 0.5))
BEFORE, PERIOD = 0.15, 3.0
#: mu is called determined if the interval that noise leaves it is not wider than this, either way
WANTED = 0.1

#: table 2: mu, mean e and mean s in cm of the low and the high surface; table 3: seconds, e, s, q of both solvers
PAPER_2 = {
    "polyester": ("0", "0.95", "1.20", "1", "0.84", "1.03"),
    "wool": ("0", "0.58", "0.73", "2", "0.52", "0.75"),
    "stiff cotton": ("0", "0.60", "0.86", "2", "0.58", "0.77"),
    "denim": ("0", "0.77", "1.11", "1.6", "0.61", "0.80"),
}
PAPER_3 = {
    "polyester": ("17", "1.44", "2.13", "0.456", "1.344"),
    "wool": ("13", "1.39", "2.23", "0.437", "1.298"),
    "denim": ("14", "0.98", "1.86", "0.425", "1.235"),
    "stiff cotton": ("12", "1.07", "1.85", "0.510", "1.576"),
}


class Effort(NamedTuple):
    """How thoroughly a check looks."""

    search: SearchOptions
    method: str
    profile: int  # values of mu at which the error is computed, from 1 / reach to reach times what was found
    reach: float
    seeds: int  # of noise made anew


@dataclass(frozen=True)
class Interval:
    """The values of mu whose error is as small as noise alone may make it, about the least one.

    deviation: standard deviation by the calibration, which knows how rough the error is.
    """

    best: float
    low: float
    high: float
    deviation: float = 0.0

    @property
    def determined(self) -> bool:
        """Whether both are small enough to speak of a value."""
        narrow = self.low >= (1.0 - WANTED) * self.best and self.high <= (1.0 + WANTED) * self.best
        return narrow and 2.0 * self.deviation <= WANTED * self.best


def cloth(name: str) -> Fabric:
    """A fabric with what the paper fitted to it, and with bending."""
    density, delta, alpha = stick_hits.FABRICS[name]
    return Fabric(density=density, gravity_density=delta, damping=alpha, bending=BENDING[name])


def dragged(fabric: Fabric, mu: float, shape: tuple[int, int] = (7, 9)) -> Simulation:
    """A sheet that is lowered on the table of the recordings."""
    flat, sheet, held, path = trailing(shape, LOWERED, STOPPED)
    a, b, c, d = table_of(fabric).extent or (0.0, 0.0, 0.0, 0.0)
    top = table_of(fabric).height
    table = Box([(a + b) / 2, (c + d) / 2, top - 0.25], [b - a, d - c, 0.5], friction=mu, name="table")
    sim = Simulation(sheet, fabric, rest=flat, obstacles=[table])
    sim.grasp(held, path)
    return sim


def table_of(fabric: Fabric) -> TableTop:
    """The table of the recordings, whose top lies half a thickness below z = 0."""
    return TableTop(height=-0.5 * fabric.thickness, extent=(-0.3, 0.72, -5.0, 2.0))


def swings(hits: int = len(HITS)) -> tuple[FloatArray, FloatArray]:
    """Times (T,) and ends (T, 2, 3) of the stick: to the sheet and back, then along it to where the next hit begins.

    The hits of the check `stick_hits` go through to the other side, with up to 5 m/s; where the cloth is after those,
    the noise of a millimetre decides.
    """
    times = np.linspace(0.0, PERIOD * hits, round(200 * PERIOD * hits) + 1)
    ends = []
    for t in times:
        k = min(int(t / PERIOD), hits - 1)
        height, angle, depth, length = HITS[k]
        local = t - PERIOD * k - 0.5
        share = float(np.clip(local / length, 0.0, 1.0))
        y = -BEFORE + (depth + BEFORE) * 0.5 * (1.0 - np.cos(2.0 * np.pi * share))
        if k + 1 < hits:
            move = smooth_ramp(local - length - 0.2, 1.0)
            height, angle = height + move * (HITS[k + 1][0] - height), angle + move * (HITS[k + 1][1] - angle)
        along = 0.5 * stick_hits.LENGTH * np.array([np.cos(angle), 0.0, np.sin(angle)])
        centre = np.array([0.5 * SHEET[0], y, -height])
        ends.append([centre - along, centre + along])
    return times, np.array(ends)


def hit(fabric: Fabric, mu: float, shape: tuple[int, int] = (7, 9)) -> tuple[Simulation, Stick]:
    """A hanging sheet, and the stick that hits it four times."""
    flat = meshes.rectangle(*SHEET, shape)
    mesh = hanging(flat)
    times, ends = swings()
    stick = Stick(ends[0, 0], ends[0, 1], stick_hits.RADIUS, path=(times, ends), friction=mu, name="stick")
    sim = Simulation(mesh, fabric, rest=flat, obstacles=[stick])
    sim.grasp(upper_corners(mesh))
    return sim, stick


def seen(film: Trajectory, fabric: Fabric, seed: int, stick: Stick | None) -> Recording:
    """What cameras see: 20 markers, and those at the ends of the stick, with noise and gaps."""
    ends = {} if stick is None else dict(zip(("21", "22"), _ends(film.times, stick), strict=True))
    body = table_of(fabric) if stick is None else StickMarkers(ends=("21", "22"), radius=stick.radius, friction=STICK)
    made = from_trajectory(
        film, markers=(5, 4), noise=NOISE, missing=MISSING, longest_loss=LOST, rate=RATE, seed=seed, others=ends,
        bodies={"table" if stick is None else "stick": body},
    )  # fmt: skip
    return made.with_(fabric=fabric)


def _ends(times: FloatArray, stick: Stick) -> FloatArray:
    """(2, T, 3) m."""
    return np.stack([stick.ends(float(t)) for t in times], axis=1)


def profile(experiment: Experiment, name: str, values: Sequence[float] | FloatArray) -> FloatArray:
    """Mean over time of e^2, m^2, at values of a parameter; infinite where there is no motion."""
    found = []
    for value in values:
        simulated = experiment.at({name: value}).try_simulate()
        found.append(np.inf if simulated is None else experiment.errors(simulated).rms ** 2)
    return np.array(found)


def interval(
    fitted: Experiment, name: str, value: float, effort: Effort, again: Callable[[Trajectory, int], Experiment]
) -> Interval:
    """The values of a parameter whose error is within noise, from a profile of the error about a fitted value.

    How much noise lets the error at the true value exceed the least one is found by making it anew: the fitted motion
    is recorded (`again`, with a seed), and its own parameters are looked for in that recording.
    """
    factors = np.exp(np.linspace(-np.log(effort.reach), np.log(effort.reach), effort.profile))
    film = _film(fitted, fitted.simulate().frames)
    excess = 0.0
    for seed in range(effort.seeds):
        losses = profile(again(film, 100 + seed), name, value * factors)
        excess = max(excess, float(losses[effort.profile // 2] - losses.min()))
    values = value * factors
    losses = profile(fitted, name, values)
    within = losses <= losses.min() + excess
    k = low = high = int(np.argmin(losses))
    while low > 0 and within[low - 1]:
        low -= 1
    while high + 1 < len(values) and within[high + 1]:
        high += 1
    # the ends lie between the last value inside and the first one outside, and values between two are not told apart
    return Interval(
        float(values[k]),
        0.0 if low == 0 else _crossing(values, losses, low, low - 1, excess),
        np.inf if high + 1 == len(values) else _crossing(values, losses, high, high + 1, excess),
    )


def _crossing(values: FloatArray, losses: FloatArray, inside: int, outside: int, excess: float) -> float:
    """Where a straight line from a value inside to one outside reaches what noise allows."""
    if not np.isfinite(losses[outside]):
        return float(values[outside])
    share = max(0.5, (losses.min() + excess - losses[inside]) / (losses[outside] - losses[inside]))
    return float(values[inside] + share * (values[outside] - values[inside]))


def _film(experiment: Experiment, frames: FloatArray) -> Trajectory:
    mesh: Mesh = experiment.mesh
    return Trajectory(times=experiment.times, positions=frames, faces=mesh.faces, rest=mesh.vertices)


def laid(name: str, mu: float, effort: Effort, seed: int = 2) -> tuple[Calibration, Interval]:
    """Friction of a table fitted to a tablecloth; all else is known."""
    fabric = cloth(name)
    recording = seen(dragged(fabric, mu).run(STOPPED + REST), fabric, seed, None)
    found = _fit(prepare(recording), (_sought("friction:table", mu),), effort)

    def again(film: Trajectory, seed: int) -> Experiment:
        return prepare(seen(film, fabric, seed, None))

    return found, _known(found, "friction:table", effort, again)


def struck(
    name: str, effort: Effort, duration: float, seed: int = 3, *, alone: bool = False
) -> tuple[Calibration, Interval]:
    """delta and alpha fitted to hits, as in the paper, and the friction of the stick with them, or `alone`."""
    fabric = cloth(name)
    sim, stick = hit(fabric, STICK)
    known = fabric if alone else Fabric(density=fabric.density, bending=fabric.bending)
    recording = seen(sim.run(duration), known, seed, stick)
    delta, alpha = stick_hits.FABRICS[name][1:]
    wide = (
        Parameter("gravity_density", 0.5 * delta, 2.0 * delta, log=True),
        Parameter("damping", 0.5 * alpha, 2.0 * alpha, log=True),
    )
    found = _fit(prepare(recording), (*(() if alone else wide), _sought("friction:stick", STICK)), effort)
    fitted = found.fits[0].experiment

    def again(film: Trajectory, seed: int) -> Experiment:
        return prepare(seen(film, fitted.fabric, seed, stick))

    return found, _known(found, "friction:stick", effort, again)


def _sought(name: str, true: float) -> Parameter:
    """A friction, over a range of 1 : 10."""
    return Parameter(name, SOUGHT[0] * true, SOUGHT[1] * true, log=True)


def _known(found: Calibration, name: str, effort: Effort, again: Callable[[Trajectory, int], Experiment]) -> Interval:
    """What a fit tells about a friction, all else as it was fitted."""
    value = found.values[name]
    known = interval(found.fits[0].experiment, name, value, effort, again)
    # where the error is rough its least point of the profile need not be what was fitted: both are among the values
    return replace(
        known, low=min(known.low, value), high=max(known.high, value), deviation=found.uncertainty[name]
    )  # fmt: skip


def _fit(experiment: Experiment, parameters: Sequence[Parameter], effort: Effort) -> Calibration:
    """Fitted and judged in the whole recording, as in the paper."""
    whole = (float(experiment.recording.times[0]), float(experiment.recording.times[-1]))
    return calibrate(
        experiment, parameters, effort.method, train=whole, test=whole, workers=1, search=effort.search,
    )  # fmt: skip


def _tell(result: Result, name: str, found: Interval, value: float, true: float) -> None:
    """What was found of mu, with a target where the motion determines it."""
    result.info(f"{name}: mu, true {true:g}", value, ".3f")
    result.info(f"{name}: mu is at least, as far as noise lets it be known", found.low, ".3f")
    result.info(f"{name}: mu is at most", found.high, ".3f")
    result.info(f"{name}: standard deviation of mu", found.deviation, ".3f")
    off = 100 * abs(value / true - 1.0)
    if found.determined:
        result.below(f"{name}: mu off by, %", off, 100 * WANTED, ".1f")
    else:
        result.info(f"{name}: mu is not determined by this motion; off by, %", off, ".1f")


def _cells(values: Mapping[str, Any], found: Calibration) -> list[str]:
    row = found.fits[0].row()
    return [*(f"{v:.2f}" for v in values.values()), f"{1e2 * row['mean']:.2f}", f"{1e2 * row['deviation']:.2f}"]


def markdown(title: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of the paper in its layout, the paper's numbers in brackets."""
    lines = [f"| {' | '.join(cells)} |" for cells in (heads, *rows)]
    return "\n".join([f"{title}:", "", lines[0], f"|{'---|' * len(heads)}", *lines[1:]])


def beside(own: Sequence[str], paper: Sequence[str]) -> list[str]:
    """Own numbers with the paper's in brackets; a number that the other does not have is a dash."""
    return [f"{a} ({b})" for a, b in zip(own, paper, strict=True)]


def run(quick: bool = False, *, out: Path | None = None, say: Say = silent) -> Result:
    """Both tables, and how well mu is found again."""
    result = Result("collision_tables", TITLE)
    if quick:
        effort = Effort(SearchOptions(points=9, rounds=2), "sweep", 7, 1.4, 1)
        hits = Effort(SearchOptions(points=6, starts=1, most=3), "multistart", 9, 1.5, 2)
    else:
        effort = Effort(SearchOptions(points=8, starts=1), "multistart", 17, 2.0, 2)
        hits = Effort(SearchOptions(points=12, starts=1), "multistart", 11, 1.6, 2)
    count, unconverged, fitted = 0, 0, 0
    rows: list[list[str]] = []
    for name in ("stiff cotton",) if quick else PAPER_2:
        cells: list[str] = []
        for surface, mu in (("low", LOW),) if quick else (("low", LOW), ("high", HIGH[name])):
            say(f"tablecloth, {name}, {surface}")
            found, known = laid(name, mu, effort)
            _tell(result, f"tablecloth, {name}, {surface}", known, found.values["friction:table"], mu)
            count += known.determined
            unconverged += found.unconverged
            fitted += found.fits[0].simulated.unconverged
            mark = "" if known.determined else "?"
            own = _cells(found.values, found)
            cells += [own[0] + mark, *own[1:]]
            if out is not None:
                found.report(out / f"collision_tables-{name}-{surface}.html".replace(" ", "-"), title=name)
        rows.append([name, *beside(cells, PAPER_2[name][: len(cells)])])
    heads = ["material", "mu_low", "e_low, cm", "s_low, cm", "mu_high", "e_high, cm", "s_high, cm"]
    result.info("tablecloths whose motion determines mu", count, ".0f")
    result.notes.append(markdown("Table 2, measured (paper)", heads[: len(rows[0])], rows))
    rows, sticks = [], 0
    duration = 2.0 if quick else PERIOD * len(HITS)
    for name in ("stiff cotton",) if quick else PAPER_3:
        say(f"hits, {name}")
        found, known = struck(name, hits, duration, alone=quick)
        _tell(result, f"hits, {name}, stick", known, found.values["friction:stick"], STICK)
        sticks += known.determined
        unconverged += found.unconverged
        fitted += found.fits[0].simulated.unconverged
        for key, true in zip(("gravity_density", "damping"), stick_hits.FABRICS[name][1:], strict=True):
            if key in found.values:
                result.info(f"hits, {name}: {key}, off by, %", 100 * abs(found.values[key] / true - 1.0), ".1f")
        q = found.fits[0].row()["seconds"] / found.fits[0].experiment.recording.duration
        own = [f"{found.fits[0].experiment.recording.duration:.1f}", *_cells({}, found), f"{q:.3f}", "-"]
        rows.append([name, *beside(own, PAPER_3[name])])
        if out is not None:
            found.report(out / f"collision_tables-{name}-hits.html".replace(" ", "-"), title=f"hits, {name}")
    result.info("hits whose motion determines mu of the stick", sticks, ".0f")
    heads = ["material", "T_rec, s", "e, cm", "s, cm", "q", "q, interior point"]
    result.notes.append(markdown("Table 3, measured (paper)", heads, rows))
    result.info("steps not converged, with what was fitted", fitted, ".0f")
    result.below("steps not converged", unconverged, 0, ".0f")
    result.notes.append(
        f"20 markers at {RATE:g} Hz, {1e3 * NOISE:g} mm of noise, {100 * MISSING:g} % missing; made and fitted on 7 x "
        "9 nodes; tablecloths: all but mu known; hits: "
        f"{'all but mu of the stick known' if quick else 'delta, alpha and mu of the stick fitted together'}; "
        "? = not determined by the motion"
    )
    return result
