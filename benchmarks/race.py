"""The race: isocloth and the rival in turn on the same swing, then the measures of both from stored positions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from benchmarks.peer import MuJoCo
from benchmarks.swing import TIMESTEP, Isocloth, Recording, record, sheet, simulation, tip
from isocloth import measure
from isocloth.base.typing import FloatArray

#: how many times faster than the rival isocloth has to be, by nodes per side
TARGETS = {9: 3.0, 17: 2.0, 33: 1.3}


@dataclass
class Entry:
    """One simulator's result on one cloth. Times are of the fastest repetition unless said otherwise."""

    real_time: float  # simulated seconds per second of computing
    all_real_time: list[float]  # ... of every repetition
    undisturbed_real_time: float  # ... if each step counts its fastest repetition
    median_step_ms: float
    worst_step_ms: float
    repeatable_worst_step_ms: float  # worst step when every step counts its fastest repetition
    setup_seconds: float
    threads: float  # processor seconds per second
    same_bits: bool  # whether every repetition ended in the same positions
    edge_stretch_max: float  # warp and weft edges
    edge_stretch_rms: float
    area_error_max: float  # of the total area
    tip_half_range: float  # m, of the tip's x over the second half of the run
    trouble: str = ""
    # isocloth only
    isometry_error: float | None = None
    solves_per_step: float | None = None
    most_solves: int | None = None
    unconverged_steps: int | None = None


@dataclass
class Race:
    """Both results on one cloth."""

    nodes: int  # per side
    seconds: float  # simulated
    isocloth: Entry
    peer: Entry | None = None
    ratio: float | None = None
    undisturbed_ratio: float | None = None  # of the undisturbed times
    target: float | None = None
    reached: bool | None = None


@dataclass
class _Runs:
    recordings: list[Recording] = field(default_factory=list)
    setups: list[float] = field(default_factory=list)


def race(nodes: int, seconds: float, repeat: int, *, with_peer: bool, say: Callable[[str], None]) -> Race:
    """Run isocloth and the rival alternately, `repeat` times each."""
    steps = max(1, round(seconds / TIMESTEP))
    own, other = _Runs(), _Runs()
    cloth, rival = None, None
    for k in range(repeat):
        say(f"{nodes}x{nodes}: {steps * TIMESTEP:g} s, isocloth, {k + 1} of {repeat}")
        cloth = Isocloth(lambda: simulation(nodes))
        _run(own, cloth, steps)
        if with_peer:
            say(f"{nodes}x{nodes}: {steps * TIMESTEP:g} s, rival, {k + 1} of {repeat}")
            rival = MuJoCo(nodes)
            _run(other, rival, steps)
    assert cloth is not None
    result = Race(nodes, steps * TIMESTEP, _entry(nodes, own))
    reports = cloth.reports
    result.isocloth.isometry_error = max(r.isometry_error for r in reports)
    result.isocloth.solves_per_step = float(np.mean([r.iterations for r in reports]))
    result.isocloth.most_solves = max(r.iterations for r in reports)
    result.isocloth.unconverged_steps = sum(not r.converged for r in reports)
    if rival is not None:
        result.peer = _entry(nodes, other)
        result.peer.trouble = rival.trouble()
        result.ratio = result.isocloth.real_time / result.peer.real_time
        result.undisturbed_ratio = result.isocloth.undisturbed_real_time / result.peer.undisturbed_real_time
        result.target = TARGETS.get(nodes)
        result.reached = None if result.target is None else result.ratio >= result.target
    return result


def _run(runs: _Runs, simulator: Isocloth | MuJoCo, steps: int) -> None:
    runs.setups.append(simulator.setup_seconds)
    recording = record(simulator, steps)
    if runs.recordings:
        # one motion in memory is enough; of the others the last frame tells whether they were the same
        runs.recordings[-1].positions = runs.recordings[-1].positions[-1:]
    runs.recordings.append(recording)


def _entry(nodes: int, runs: _Runs) -> Entry:
    recordings, last = runs.recordings, runs.recordings[-1]
    best = min(recordings, key=lambda r: r.seconds)
    simulated = len(best.step_seconds) * TIMESTEP
    quickest = np.min([r.step_seconds for r in recordings], axis=0)
    mesh, positions = sheet(nodes), last.positions
    stretch, area = measure.edge_stretch(mesh, positions), measure.area_errors(mesh, positions)
    return Entry(
        real_time=simulated / best.seconds,
        all_real_time=[simulated / r.seconds for r in recordings],
        undisturbed_real_time=simulated / float(quickest.sum()),
        median_step_ms=1e3 * float(np.median(best.step_seconds)),
        worst_step_ms=1e3 * float(best.step_seconds.max()),
        repeatable_worst_step_ms=1e3 * float(quickest.max()),
        setup_seconds=min(runs.setups),
        threads=best.threads,
        same_bits=all(np.array_equal(r.positions[-1], positions[-1]) for r in recordings),
        edge_stretch_max=float(np.max(stretch.max)),
        edge_stretch_rms=float(np.max(stretch.rms)),
        area_error_max=float(np.max(area.total)),
        tip_half_range=half_range(nodes, positions),
    )


def half_range(nodes: int, positions: FloatArray) -> float:
    """Half the range of the tip's x over the second half of a motion (T, n, 3): 7 - 14 s of 14, in m."""
    return float(np.ptp(positions[len(positions) // 2 :, tip(nodes), 0]) / 2.0)
