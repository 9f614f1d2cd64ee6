"""Long runs: frames collected into a trajectory, with progress, and checkpoints from which a killed run resumes."""

from __future__ import annotations

import hashlib
import math
import numbers
import pickle
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from isocloth.base.archives import read_archive
from isocloth.base.errors import InputError, InputTypeError, MissingFileError
from isocloth.base.files import as_path, atomic_path
from isocloth.base.locks import locked
from isocloth.base.numeric import check_flag
from isocloth.base.typing import FloatArray, IntArray
from isocloth.obstacles import Obstacle
from isocloth.simulation.arguments import LONGEST_TIMESTEP
from isocloth.simulation.recorder import Recorder
from isocloth.simulation.report import RECORDED, Report
from isocloth.simulation.state import State
from isocloth.trajectory import Trajectory

if TYPE_CHECKING:
    from isocloth.simulation.simulation import Simulation


class Plan(NamedTuple):
    """How many steps a run takes, how long the last one is (s), and how many steps lie between two frames."""

    total: int
    last: float
    stride: int


#: steps: a duration this near to a whole number of steps is one
WHOLE = 1e-6

#: steps: a rest of less than this makes the last step longer and is no step of its own: tiny steps do not converge
LONGER = 0.1

#: more would be years of computing, and more frames than memory holds: another unit
MOST_STEPS = 100_000_000

#: of checkpoints; another number where states hold other arrays
FORMAT = 2


def run(
    sim: Simulation,
    duration: float,
    *,
    every: float | None = None,
    progress: bool = False,
    checkpoint: str | Path | None = None,
    checkpoint_seconds: float = 10.0,
    keep_checkpoint: bool = False,
    on_frame: Callable[[Simulation], None] | None = None,
) -> Trajectory:
    """See `Simulation.run`."""
    check_flag(progress, "progress")
    check_flag(keep_checkpoint, "keep_checkpoint")
    plan = Plan(*_steps(duration, sim.timestep), _stride(every, sim.timestep))
    if on_frame is not None and not callable(on_frame):
        raise InputTypeError(f"on_frame is {on_frame!r}: expected a function of the simulation, or None")
    if checkpoint is None:
        return _run(sim, plan, progress, None, 0.0, False, on_frame)
    _check_seconds("checkpoint_seconds", checkpoint_seconds, "of computing between two checkpoints", least=0.0)
    file = as_path(checkpoint, "checkpoint")
    if not file.absolute().parent.is_dir():
        raise MissingFileError(
            f"the folder of the checkpoint {str(checkpoint)!r} does not exist: expected one; create it first"
        )
    with locked(file, f"running with the checkpoint {str(checkpoint)!r}"):
        return _run(sim, plan, progress, file, checkpoint_seconds, keep_checkpoint, on_frame)


def _run(
    sim: Simulation, plan: Plan, progress: bool, checkpoint: Path | None, checkpoint_seconds: float,
    keep_checkpoint: bool, on_frame: Callable[[Simulation], None] | None,
) -> Trajectory:  # fmt: skip
    """The run that was planned; nobody else writes its checkpoint meanwhile."""
    recorder, done, total = Recorder(), 0, plan.total
    if checkpoint is not None and checkpoint.exists():
        done = _resume(sim, recorder, checkpoint, plan)
    if done == 0:
        recorder.add(sim, [])
    # a state is replaced by the next one, never written into: what was true at the last frame stays at hand
    framed = (sim.state, sim.hands.targets(), done)
    pending: list[Report] = []
    warned = 0
    meter = _Meter(sim, total, done) if progress else None
    saved = time.monotonic()
    try:
        while done < total:
            report = sim.step() if done < total - 1 else _last_step(sim, plan.last)
            done += 1
            pending.append(report)
            if not report.converged and warned < 3:
                report.warn()
                warned += 1
            if done % plan.stride == 0 or done == total:
                recorder.add(sim, pending)
                pending, framed = [], (sim.state, sim.hands.targets(), done)
                if on_frame is not None:
                    try:
                        on_frame(sim)
                    finally:  # what it has moved stays moved, even if it was interrupted
                        framed = (sim.state, sim.hands.targets(), done)
                if checkpoint is not None and time.monotonic() - saved > checkpoint_seconds:
                    _save(sim, recorder, checkpoint, *framed, plan)
                    saved = time.monotonic()
            if meter:
                meter.show(done, report)
    except BaseException:
        # interrupted or failed: what was reached is kept
        if checkpoint is not None and framed[2] > 0:
            _save(sim, recorder, checkpoint, *framed, plan)
        raise
    finally:
        if meter:
            meter.close()
    if checkpoint is not None and keep_checkpoint:
        _save(sim, recorder, checkpoint, *framed, plan)
    elif checkpoint is not None:
        checkpoint.unlink(missing_ok=True)
    return recorder.trajectory(sim)


def _last_step(sim: Simulation, length: float) -> Report:
    """The step that ends the run, in s, whose length is the timestep in most runs."""
    usual = sim.timestep
    if length == usual:
        return sim.step()
    sim.timestep = length
    try:
        return sim.step()
    finally:
        sim.timestep = usual


def _check_seconds(name: str, value: Any, what: str, *, least: float) -> None:
    """Raise unless it is a finite number of seconds, not less than `least`; `what` says what they are."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise InputTypeError(f"{name} = {value!r}: expected a number of seconds {what}")
    if not least <= float(value) < math.inf:
        raise InputError(f"{name} = {value!r}: expected a number of seconds {what}, at least {least:g}")


def _steps(duration: float, timestep: float) -> tuple[int, float]:
    """How many steps a run takes, and how long the last one is, s."""
    if isinstance(duration, bool) or not isinstance(duration, numbers.Real):
        raise InputTypeError(f"duration = {duration!r}: expected a positive number of seconds")
    if not (math.isfinite(duration) and duration > 0):
        raise InputError(f"duration = {duration!r}: expected a positive number of seconds")
    exact = duration / timestep
    steps = round(exact)
    if exact < 1.0 - WHOLE:
        raise InputError(
            f"duration = {duration} s is shorter than the timestep, {timestep} s: expected at least one step; simulate "
            "for longer, or use a shorter timestep"
        )
    if steps > MOST_STEPS:
        raise InputError(
            f"duration = {duration} s is {exact:.3g} steps of {timestep} s: expected at most {MOST_STEPS}; run in parts"
        )
    if abs(exact - steps) <= WHOLE:
        return steps, timestep
    whole = math.floor(exact)
    rest = (exact - whole) * timestep
    longer = timestep + rest
    if rest < LONGER * timestep and longer <= LONGEST_TIMESTEP:
        return whole, longer
    return whole + 1, rest


def _stride(every: float | None, timestep: float) -> int:
    if every is None:
        return 1
    if isinstance(every, bool) or not isinstance(every, numbers.Real):
        raise InputTypeError(f"every = {every!r}: expected a positive number of seconds between frames, or None")
    if not (math.isfinite(every) and every > 0):
        raise InputError(f"every = {every!r}: expected a positive number of seconds between frames")
    stride = round(every / timestep)
    if stride < 1 or abs(stride * timestep - every) > 1e-6 * every:
        raise InputError(
            f"every = {every} s is not a multiple of the timestep, {timestep} s: expected one, e.g. "
            f"{max(1, stride) * timestep:g}"
        )
    return stride


def _save(
    sim: Simulation, recorder: Recorder, path: Path, state: State, targets: tuple[FloatArray, ...], done: int,
    plan: Plan,
) -> None:  # fmt: skip
    arrays = {f"state_{k}": np.asarray(v) for k, v in state.to_dict().items()}
    frames = {f"report_{k}": np.array(v, dtype=np.float64) for k, v in recorder.reports.items()}
    run: dict[str, Any] = {"format": FORMAT, "done": done, "total": plan.total, "timestep": sim.timestep}
    run["node_targets"], run["gripper_targets"], run["obstacle_targets"] = targets
    run["run"] = _fingerprint(sim, plan)
    run["obstacles"] = np.array(identities(sim.obstacles), dtype=np.str_)
    run["times"] = np.array(recorder.times)
    run["placed"] = recorder.placed_arrays(len(sim.obstacles))
    run["positions"], run["velocities"] = np.stack(recorder.positions), np.stack(recorder.velocities)
    # an open file keeps NumPy from adding a suffix of its own
    with atomic_path(path) as temporary, open(temporary, "wb") as file:
        np.savez(file, allow_pickle=False, **run, **arrays, **frames)


def _fingerprint(sim: Simulation, plan: Plan) -> str:
    """What has to be the same for a run to be the same run (paths excepted: they are the caller's functions)."""
    shape = hashlib.sha256(sim.mesh.vertices.tobytes() + sim.mesh.faces.tobytes() + sim.rest.vertices.tobytes())
    if sim.cloth.shape is not None:
        shape.update(sim.cloth.shape.points.tobytes())
    steps = plan.total if plan.last == sim.timestep else (plan.total, plan.last)
    return repr(
        (steps, plan.stride, sim.timestep, sim.gravity, sim.integrator, sim.solver.name, *sim.fabrics,
         sim.settings, len(sim.cloth.rows), shape.hexdigest(), sim.self_collision)
    )  # fmt: skip


def identities(obstacles: Iterable[Obstacle]) -> list[str]:
    """Texts that tell obstacles apart; functions count by their obstacle's name only."""
    found = []
    for obstacle in obstacles:
        try:
            found.append(hashlib.sha256(pickle.dumps(obstacle)).hexdigest())
        except (pickle.PicklingError, AttributeError, TypeError):  # a path that is a lambda, say
            found.append(repr(obstacle))
    return found


def _resume(sim: Simulation, recorder: Recorder, path: Path, plan: Plan) -> int:
    """Restore a checkpoint; returns the steps done. One of another run is refused, never overwritten."""
    try:
        kept = read_archive(path, "checkpoint")
        run = str(kept["run"])
    except (InputError, KeyError) as error:
        raise InputError(
            f"{path} is not a checkpoint of isocloth ({error}): expected one; delete it or name another file"
        ) from None
    if (found := int(kept.get("format", 0))) != FORMAT:
        whose = "version 0.1.0 or before" if found == 0 else "another version"
        raise InputError(
            f"{path} was saved by {whose} of isocloth (format {found}, this is {FORMAT}), whose states hold other "
            "arrays; finish the run with that version, or delete the file and start again"
        )
    if run != _fingerprint(sim, plan):
        raise InputError(
            f"{path} is a checkpoint of another run (other mesh, fabric, duration, timestep, frames or solver); delete "
            "it or name another file"
        )
    if kept["obstacles"].tolist() != identities(sim.obstacles):
        raise InputError(
            f"{path} was saved among {len(kept['obstacles'])} obstacles, and there are {len(sim.obstacles)} now, or "
            "others: add and remove them as the first part of the run has done before resuming, or delete the file"
        )
    columns = {name[6:]: kept[name] for name in kept if name.startswith("state_")}
    state = State.from_dict(columns)
    for grasp in sim.grasps:
        if not state.held[grasp.nodes].any():
            grasp.release()  # as the first part of the run has done
    missing = np.flatnonzero(state.held & ~np.isin(np.arange(len(state.held)), _nodes_of(g.nodes for g in sim.grasps)))
    if len(missing):
        raise InputError(
            f"{path} was saved while node {int(missing[0])} was held, which it is not now; grasp the same nodes as in "
            "the first part of the run before resuming"
        )
    between = np.isfinite(state.pinched[:, 0])
    for gripper in sim.grippers:
        if len(sim.grippers) > len(state.poses) and not between[gripper.chosen].any():
            gripper.release()
    missing = np.flatnonzero(between & ~np.isin(np.arange(len(between)), _nodes_of(g.chosen for g in sim.grippers)))
    if len(missing) or len(sim.grippers) != len(state.poses):
        node = (
            f"node {int(missing[0])} was pinched, which it is not now" if len(missing) else "other grippers were closed"
        )
        raise InputError(
            f"{path} was saved while {node}; pinch the same nodes as in the first part of the run before resuming"
        )
    sim.state = state
    sim.hands.aim(kept["node_targets"], kept["gripper_targets"], kept["obstacle_targets"])
    recorder.times = kept["times"].tolist()
    recorder.positions = list(kept["positions"])
    recorder.velocities = list(kept["velocities"])
    recorder.resume(sim, list(kept["placed"]))
    recorder.reports = {name: kept[f"report_{name}"].tolist() for name in RECORDED}
    return int(kept["done"])


def _nodes_of(groups: Iterable[IntArray]) -> IntArray:
    return np.concatenate([np.empty(0, dtype=np.int64), *groups])


class _Meter:
    """A line on standard error that says how far the run is and how fast."""

    def __init__(self, sim: Simulation, total: int, done: int) -> None:
        self._dt, self._total, self._first = sim.timestep, total, done
        self._begin = self._last = time.monotonic()
        self._iterations = 0

    def show(self, done: int, report: Report) -> None:
        self._iterations += report.iterations
        now = time.monotonic()
        if now - self._last < 0.2 and done < self._total:
            return
        self._last = now
        steps = done - self._first
        speed = steps * self._dt / max(now - self._begin, 1e-9)
        left = (self._total - done) * self._dt / max(speed, 1e-9)
        print(
            f"\rt = {report.time:7.2f} s  {100 * done / self._total:3.0f} %  {speed:6.2f} x real time  "
            f"{self._iterations / steps:5.2f} solves/step  isometry {report.isometry_error:.1e}  {left:4.0f} s left ",
            end="", file=sys.stderr, flush=True,
        )  # fmt: skip

    def close(self) -> None:
        print(file=sys.stderr)
