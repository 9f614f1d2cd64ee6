"""A task: the simulation of one recording at one point, or its linearisation there.

Tasks are small, pure and independent, so that they can be evaluated anywhere, again if a worker dies, and in any order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from isocloth.base.typing import FloatArray
from isocloth.calibration.errors import residuals
from isocloth.calibration.experiment import Experiment
from isocloth.calibration.parameters import Parameter, named_at

#: step of finite differences, as a part of the range: the loss is rough at smaller scales
DIFFERENCE = 0.02
#: s of recording whose residuals are taken together when the uncertainty is estimated: nearer ones are not independent
BLOCK = 1.0


class Setting(NamedTuple):
    """What all tasks of a calibration have in common."""

    experiments: tuple[Experiment, ...]
    parameters: tuple[Parameter, ...]
    windows: tuple[tuple[float, float], ...]  # s, of every experiment: the frames that count


class Task(NamedTuple):
    """A task of a pool: experiment, point (parts of the ranges), and whether to linearise."""

    experiment: int
    point: tuple[float, ...]
    linear: bool = False


def evaluate(setting: Setting, task: Task) -> dict[str, Any]:
    """Evaluate a task: plain numbers and lists, as JSON has them; a motion that does not exist has a loss of None."""
    u = np.array(task.point)
    there = _residuals(setting, task.experiment, u)
    if there is None:
        return {"square": None, "mean": None, "unconverged": 0}
    r, mean, unconverged = there
    out: dict[str, Any] = {"square": float((r**2).sum()), "mean": mean, "unconverged": unconverged}
    if task.linear:
        out |= _linearised(setting, task.experiment, u, r)
    return out


def _residuals(setting: Setting, number: int, u: FloatArray) -> tuple[FloatArray, float, int] | None:
    """Residuals (T, 3 k) of the window, whose squares sum up to the mean of e^2; mean of e; steps not converged."""
    experiment, (begin, end) = setting.experiments[number], setting.windows[number]
    simulated = experiment.at(named_at(setting.parameters, u)).try_simulate(until=end)
    if simulated is None:
        return None
    times = experiment.recording.times
    inside = (times >= begin - 1e-9) & (times <= end + 1e-9)
    r = residuals(simulated.positions[inside], experiment.recording.positions[inside], experiment.areas)
    mean = experiment.errors(simulated).within(begin, end).mean
    return r, mean, simulated.unconverged


def _linearised(setting: Setting, number: int, u: FloatArray, r: FloatArray) -> dict[str, Any]:
    """J^T r, J^T J, and the products of gradients of blocks in time, by differences along every parameter."""
    columns = []
    for i in range(len(u)):
        step = DIFFERENCE if u[i] + DIFFERENCE <= 1.0 else -DIFFERENCE
        ahead, behind = u.copy(), u.copy()
        ahead[i] += step
        behind[i] -= step
        two_sided = 0.0 <= behind[i] <= 1.0
        after = _residuals(setting, number, ahead)
        before = _residuals(setting, number, behind) if two_sided else None
        if after is None:
            columns.append(np.zeros_like(r) if before is None else (r - before[0]) / step)
        elif before is None:
            columns.append((after[0] - r) / step)
        else:
            columns.append((after[0] - before[0]) / (2.0 * step))
    jacobian = np.stack(columns, axis=2)
    times = setting.experiments[number].recording.times
    begin, end = setting.windows[number]
    inside = times[(times >= begin - 1e-9) & (times <= end + 1e-9)]
    block = np.floor((inside - inside[0]) / BLOCK).astype(np.int64)
    scores = np.zeros((int(block.max()) + 1, len(u)))
    np.add.at(scores, block, np.einsum("tcp,tc->tp", jacobian, r))
    return {
        "gradient": np.einsum("tcp,tc->p", jacobian, r).tolist(),
        "normal": np.einsum("tcp,tcq->pq", jacobian, jacobian).tolist(),
        "scores": (scores.T @ scores).tolist(),
    }


def any_failed(results: Sequence[dict[str, Any]]) -> bool:
    """Whether one of the simulations does not exist."""
    return any(x["square"] is None for x in results)
