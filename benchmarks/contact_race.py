"""isocloth and the rival on the same stages with contact: speed, what the layers did, and who creeps down a slope."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from benchmarks.contact_peer import FOLDING, SLIDING, MuJoCo, Setting
from benchmarks.contact_scenes import Stage, fold, simulation, slope
from benchmarks.swing import TIMESTEP, Isocloth, Recording, record
from isocloth import measure
from validation.intersections import Judge

OWN, OWN_WITHOUT = "isocloth", "isocloth without friction"
#: s between frames that are judged
EVERY = 0.05
#: s; a sheet without friction slides, and half a second is enough to see it
SLIDES = 0.5
#: m, by which starts differ: enough for a napkin to land otherwise, which decides how much there is to solve
APART = 1e-7
#: distances of layers are looked for up to so many thicknesses
NEAR = 2.0


@dataclass
class Folded:
    """One simulator folding the napkin."""

    nodes: int  # per side
    simulator: str
    friction: bool  # whether layers and table have any in this run
    q: float  # processor time over simulated time, of the best run
    every: list[float]  # the same of every run
    worst_step: float  # s of processor time, in the best run
    frames: int  # judged
    intersecting: int | None  # frames in which triangles intersect, by ipctk; None if it is not installed
    distance: float | None  # smallest of layers over these frames by ipctk, m; at most NEAR thicknesses
    depth: float  # m, deepest node in the table, over all steps
    edge_stretch: float  # largest of a warp or weft edge over all steps
    height: float  # m, of the highest node at the end
    speed: float  # m/s, of the fastest node at the end
    trouble: str


@dataclass
class Starts:
    """isocloth folding the napkin from starts that hardly differ."""

    nodes: int
    q: list[float]  # processor time over simulated time, of each
    solves: list[float]  # factorisations per step
    unconverged: int  # steps, of all

    @property
    def mean(self) -> float:
        """q of all together."""
        return float(np.mean(self.q))


@dataclass
class Slid:
    """One simulator with a sheet on a slope on which it has to stay."""

    nodes: int
    simulator: str
    friction: bool
    seconds: float
    moved: float  # m, furthest of a node over the run
    later: float  # m, the same over the second half of the run: what creeps, when what settles has settled
    q: float
    trouble: str


def race_folding(
    nodes: int, repeat: int, *, with_peer: bool, say: Callable[[str], None], settings: Sequence[Setting] = FOLDING,
    seconds: float | None = None,
) -> list[Folded]:  # fmt: skip
    """isocloth first, with and without friction, then the rival in each of its ways; and all of them again, `repeat`
    times together: a shared machine is slower in some minutes than in others, whoever computes."""
    stage = fold(nodes)
    steps = round((stage.seconds if seconds is None else seconds) / TIMESTEP)
    found: dict[str, Folded] = {}
    judge = _judge(stage)
    for k in range(repeat):
        for name, friction in ((OWN, True), (OWN_WITHOUT, False)):
            say(f"{nodes}x{nodes}: folding, {name}, {k + 1} of {repeat}")
            own = Isocloth(partial(simulation, fold(nodes, friction)))
            recording = record(own, steps)
            unconverged = sum(not r.converged for r in own.reports)
            trouble = f"{unconverged} steps unconverged" if unconverged else ""
            if k == 0:
                found[name] = _folded(nodes, name, friction, stage, recording, judge, trouble)
            _time(found[name], recording)
        for setting in settings if with_peer else ():
            say(f"{nodes}x{nodes}: folding, rival, {setting.name}, {k + 1} of {repeat}")
            rival = MuJoCo(stage, setting)
            recording = record(rival, steps)
            if k == 0:
                found[setting.name] = _folded(
                    nodes, setting.name, setting.friction, stage, recording, judge, rival.trouble()
                )
            _time(found[setting.name], recording)
    return list(found.values())


def fold_from(starts: int, nodes: int, *, say: Callable[[str], None], seconds: float | None = None) -> Starts:
    """The napkin folded by isocloth from so many starts: one fold alone may be lucky."""
    found = Starts(nodes, [], [], 0)
    for k in range(starts):
        say(f"{nodes}x{nodes}: folding, isocloth, start {k + 1} of {starts}")
        stage = fold(nodes)
        stage.start = stage.start + APART * np.random.default_rng(k).random(stage.start.shape)
        own = Isocloth(partial(simulation, stage))
        recording = record(own, round((stage.seconds if seconds is None else seconds) / TIMESTEP))
        found.q.append(_q(recording))
        found.solves.append(float(np.mean([r.iterations for r in own.reports])))
        found.unconverged += sum(not r.converged for r in own.reports)
    return found


def _q(recording: Recording) -> float:
    own = recording.step_processor_seconds[1:]  # kernels are loaded in the first step
    return float(own.sum()) / (len(own) * TIMESTEP)


def _time(folded: Folded, recording: Recording) -> None:
    """Take the time of a run into account."""
    q = _q(recording)
    folded.every.append(q)
    if q < folded.q:
        folded.q, folded.worst_step = q, float(recording.step_processor_seconds[1:].max())


def race_sliding(
    nodes: int, *, with_peer: bool, say: Callable[[str], None], settings: Sequence[Setting] = SLIDING,
    seconds: float | None = None,
) -> list[Slid]:  # fmt: skip
    """isocloth first, then the rival in each of its ways."""
    stage = slope(nodes)
    seconds = stage.seconds if seconds is None else seconds
    say("slope, isocloth")
    found = [_slid(nodes, OWN, True, record(Isocloth(lambda: simulation(stage)), round(seconds / TIMESTEP)), "")]
    for setting in settings if with_peer else ():
        say(f"slope, rival, {setting.name}")
        rival = MuJoCo(stage, setting)
        recording = record(rival, round((seconds if setting.friction else min(seconds, SLIDES)) / TIMESTEP))
        found.append(_slid(nodes, setting.name, setting.friction, recording, rival.trouble()))
    return found


def _judge(stage: Stage) -> Judge | None:
    try:
        return Judge(stage.mesh, stage.start)
    except ImportError:
        return None


def _folded(
    nodes: int, simulator: str, friction: bool, stage: Stage, recording: Recording, judge: Judge | None, trouble: str
) -> Folded:
    positions = recording.positions
    frames = positions[:: round(EVERY / TIMESTEP)][1:]
    near = NEAR * stage.fabric.thickness
    return Folded(
        nodes=nodes,
        simulator=simulator,
        friction=friction,
        q=np.inf,
        every=[],
        worst_step=np.inf,
        frames=len(frames),
        intersecting=sum(judge.intersects(x) for x in frames) if judge else None,
        distance=min(near, *(judge.distance(x, near) for x in frames)) if judge else None,
        depth=max(0.0, -float(stage.gaps(positions).min())),
        edge_stretch=float(np.max(measure.edge_stretch(stage.mesh, positions).max)),
        height=float(positions[-1, :, 2].max()),
        speed=float(np.linalg.norm(positions[-1] - positions[-2], axis=1).max()) / TIMESTEP,
        trouble=trouble,
    )


def _slid(nodes: int, simulator: str, friction: bool, recording: Recording, trouble: str) -> Slid:
    positions = recording.positions
    half = positions[len(positions) // 2]
    return Slid(
        nodes=nodes,
        simulator=simulator,
        friction=friction,
        seconds=(len(positions) - 1) * TIMESTEP,
        moved=float(np.linalg.norm(positions - positions[0], axis=2).max()),
        later=float(np.linalg.norm(positions[-1] - half, axis=1).max()),
        q=_q(recording),
        trouble=trouble,
    )
