"""Cache of the evaluations of a calibration: nothing is computed twice, all is saved and resumed."""

from __future__ import annotations

import hashlib
import json
import sys
import time
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from isocloth.base.errors import InputError, MissingFileError
from isocloth.base.files import atomic_path
from isocloth.base.typing import FloatArray
from isocloth.calibration.parameters import values_at
from isocloth.calibration.pool import Pool
from isocloth.calibration.task import Setting, Task, any_failed

FORMAT = "isocloth-calibration-1"


class Linear(NamedTuple):
    """The squared error near a point: |r + J du|^2, with sums over all recordings."""

    square: float
    gradient: FloatArray  # J^T r
    normal: FloatArray  # J^T J
    scores: FloatArray  # sum of products of gradients of blocks in time


class Evaluations:
    """Losses at points (parts of the ranges), over all recordings.

    `loss` "rms": root of the mean of e^2 (thesis, eq. 4.2); "mean": mean of e (eq. 4.8). m.
    """

    def __init__(
        self, setting: Setting, pool: Pool, *, loss: str, file: Path | None, resume: bool, progress: bool
    ) -> None:  # fmt: skip
        self.setting, self.loss = setting, loss
        self._pool, self._file, self._progress = pool, file, progress
        self._known: dict[tuple[Any, ...], dict[str, Any]] = {}
        self._asked: dict[tuple[Any, ...], None] = {}  # in order
        self.computed = 0
        self.unconverged = 0  # steps, of what was read from a file too
        self.best: tuple[float, FloatArray] = (float("inf"), np.full(len(setting.parameters), 0.5))
        self.history: list[tuple[FloatArray, float]] = []
        self._saved = self._shown = 0.0
        if file is not None and not Path(file).absolute().parent.is_dir():
            raise MissingFileError(f"the folder of {str(file)!r} does not exist; create it first")
        if resume and file is not None and file.exists():
            self._read(file)

    # -------------------------------------------------------------- asking

    def losses(self, points: Sequence[FloatArray]) -> list[float]:
        """Loss at every point, m; infinite where there is no motion."""
        clipped = [np.clip(np.asarray(u, dtype=np.float64), 0.0, 1.0) for u in points]
        self._compute([Task(n, tuple(u.tolist())) for u in clipped for n in range(len(self.setting.experiments))])
        found = []
        for u in clipped:
            value = self._loss(u)
            self.history.append((u, value))
            found.append(value)
        return found

    def linear(self, points: Sequence[FloatArray]) -> list[Linear | None]:
        """Linearisations at points; None where there is no motion."""
        clipped = [np.clip(np.asarray(u, dtype=np.float64), 0.0, 1.0) for u in points]
        count = len(self.setting.experiments)
        self._compute([Task(n, tuple(u.tolist()), True) for u in clipped for n in range(count)])
        found: list[Linear | None] = []
        for u in clipped:
            parts = [self._known[(n, tuple(u.tolist()), True)] for n in range(count)]
            if any_failed(parts):
                found.append(None)
                continue
            sums = [np.sum([np.asarray(p[key]) for p in parts], axis=0) for key in ("gradient", "normal", "scores")]
            found.append(Linear(float(sum(p["square"] for p in parts)), *sums))
        return found

    def _loss(self, u: FloatArray) -> float:
        parts = [self._result(n, u) for n in range(len(self.setting.experiments))]
        if any_failed(parts):
            return float("inf")
        if self.loss == "mean":
            return float(np.mean([p["mean"] for p in parts]))
        return float(np.sqrt(np.mean([p["square"] for p in parts])))

    def _result(self, number: int, u: FloatArray) -> dict[str, Any]:
        point = tuple(u.tolist())
        return self._known.get((number, point, False)) or self._known[(number, point, True)]

    @property
    def asked(self) -> int:
        """Simulations that the search has asked for, whether they were computed now or before an interruption."""
        return sum(1 + 2 * len(point) * linear for _, point, linear in self._asked)

    def best_asked(self) -> tuple[float, FloatArray]:
        """Least loss, m, and its point, of what the search has asked for so far.

        A search goes on from here, not from `best`: a file that is resumed knows points which this run has not come to
        yet, and would lead it another way than the run that was interrupted.
        """
        points = dict.fromkeys(point for _, point, _ in self._asked)
        losses = [self._loss(np.array(point)) for point in points]
        if not losses:
            return float("inf"), self.best[1]
        k = int(np.argmin(losses))
        return losses[k], np.array(list(points)[k])

    def _compute(self, tasks: Sequence[Task]) -> None:
        """Evaluate tasks that are not known yet."""
        self._asked.update({tuple(p): None for p in tasks if (*tuple(p)[:2], True) not in self._asked})
        new = {tuple(p): p for p in tasks if tuple(p) not in self._known and (*tuple(p)[:2], True) not in self._known}
        if new:
            try:
                self._pool.run(list(new.values()), self._take)
            finally:
                self.save()  # interrupted or failed: what was reached is kept

    def _take(self, task: Task, result: dict[str, Any]) -> None:
        self._known[tuple(task)] = result
        self.computed += 1 + 2 * len(task.point) * task.linear
        self.unconverged += int(result["unconverged"])
        u = np.array(task.point)
        count = len(self.setting.experiments)
        if all((n, task.point, k) in self._known or (n, task.point, not k) in self._known
               for n in range(count) for k in (task.linear,)):  # fmt: skip
            value = self._loss(u)
            if value < self.best[0]:
                self.best = (value, u)
        now = time.monotonic()
        if self._file is not None and now - self._saved > 2.0:
            self.save()
        if self._progress and now - self._shown > 0.5:
            self._show()
            self._shown = now

    def _show(self) -> None:
        values = values_at(self.setting.parameters, self.best[1])
        named = ", ".join(f"{p.name} {v:.4g}" for p, v in zip(self.setting.parameters, values, strict=True))
        print(
            f"\r{self.computed:5d} simulations, best {1e3 * self.best[0]:.3f} mm at {named}    ",
            end="", file=sys.stderr, flush=True,
        )  # fmt: skip

    def end_progress(self) -> None:
        """Show the last state and end the line."""
        if self._progress:
            self._show()
            print(file=sys.stderr)

    # -------------------------------------------------------------- files

    @cached_property
    def fingerprint(self) -> str:
        """What has to be the same for results to be the same."""
        digest = hashlib.sha256()
        for experiment in self.setting.experiments:
            for array in (
                experiment.recording.positions,
                experiment.recording.times,
                experiment.start,
                experiment.path,
            ):
                digest.update(array.tobytes())
            digest.update(repr((experiment.fabric, experiment.timestep, sorted(experiment.options.items()))).encode())
            for obstacle in experiment.obstacles:
                digest.update(repr((obstacle, obstacle.friction)).encode())
                surface = obstacle.surface(0.0)
                if surface is not None:
                    digest.update(surface[0].tobytes())
                if not obstacle.still:
                    for t in experiment.timestep * np.arange(len(experiment.path)):
                        digest.update(np.concatenate([x.ravel() for x in obstacle.pose(float(t))]).tobytes())
        digest.update(repr((self.setting.parameters, self.setting.windows)).encode())
        return digest.hexdigest()

    def save(self) -> None:
        """Write what is known, whole or not at all; the best so far is in it."""
        if self._file is None:
            return
        values = values_at(self.setting.parameters, self.best[1])
        text = json.dumps(
            {
                "format": FORMAT,
                "fingerprint": self.fingerprint,
                "parameters": [p.name for p in self.setting.parameters],
                "best": {
                    "loss_m": self.best[0] if np.isfinite(self.best[0]) else None,
                    "values": {p.name: float(v) for p, v in zip(self.setting.parameters, values, strict=True)},
                },
                "known": [[*key, value] for key, value in self._known.items()],
            }
        )
        with atomic_path(self._file) as temporary:
            temporary.write_text(text, encoding="utf-8")
        self._saved = time.monotonic()

    def _read(self, file: Path) -> None:
        try:
            data = json.loads(file.read_text(encoding="utf-8"))
            form, mark, known = data["format"], data["fingerprint"], data["known"]
        except (ValueError, KeyError, TypeError, UnicodeDecodeError) as error:
            raise InputError(
                f"{str(file)!r} is no file of a calibration ({error}); delete it or name another"
            ) from None
        if form != FORMAT or mark != self.fingerprint:
            raise InputError(
                f"{str(file)!r} belongs to another calibration (other recording, parameters, ranges, window or model); "
                "delete it or name another"
            )
        for number, point, linear, value in known:
            self._known[(number, tuple(point), linear)] = value
            self.unconverged += int(value["unconverged"])
        for key in list(self._known):
            u = np.array(key[1])
            if all((n, key[1], False) in self._known or (n, key[1], True) in self._known
                   for n in range(len(self.setting.experiments))):  # fmt: skip
                value = self._loss(u)
                if value < self.best[0]:
                    self.best = (value, u)
