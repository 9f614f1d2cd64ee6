"""Pools of workers that evaluate tasks: serial, threads, processes, or a Dask cluster."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, ThreadPoolExecutor, as_completed, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import Any, Protocol

from isocloth.base.errors import FileError, InputError, MissingLibraryError
from isocloth.base.processes import end_with, without_main
from isocloth.calibration.task import Setting, Task, evaluate

#: a pool whose workers die is set up anew so many times
ATTEMPTS = 3

Done = Callable[[Task, dict[str, Any]], None]


class Pool(Protocol):
    """A pool evaluates tasks in any order and hands over each result as it comes."""

    def run(self, tasks: Sequence[Task], done: Done) -> None:
        """Evaluate all tasks; `done` is called in this process, once for each."""
        ...

    def close(self) -> None:
        """Give back what it holds."""
        ...


class SerialPool:
    """A serial pool: tasks one after the other, in this process."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting

    def run(self, tasks: Sequence[Task], done: Done) -> None:
        """Evaluate all tasks."""
        for task in tasks:
            done(task, evaluate(self._setting, task))

    def close(self) -> None:
        """Nothing to give back."""


class ThreadPool:
    """A pool of threads of this process: for obstacles that move by functions, which cannot be sent to other processes.

    Kernels release the interpreter's lock, so that threads gain something, if less than processes.
    """

    def __init__(self, setting: Setting, workers: int) -> None:
        self._setting = setting
        self._pool = ThreadPoolExecutor(workers)

    def run(self, tasks: Sequence[Task], done: Done) -> None:
        """Evaluate all tasks."""
        waiting = {self._pool.submit(evaluate, self._setting, p): p for p in tasks}
        try:
            for future in as_completed(waiting):
                done(waiting[future], future.result())
        finally:
            for future in waiting:
                future.cancel()

    def close(self) -> None:
        """End the threads."""
        self._pool.shutdown(wait=True, cancel_futures=True)


def can_be_pickled(setting: Setting) -> bool:
    """Whether a setting can be sent to other processes, i.e. pickled."""
    try:
        pickle.dumps(setting.experiments[0].obstacles)
        pickle.dumps(dict(setting.experiments[0].options))
    except (AttributeError, TypeError, pickle.PicklingError):
        return False
    return True


class ProcessPool:
    """A pool of processes on this machine."""

    def __init__(self, setting: Setting, workers: int) -> None:
        self._setting, self._workers = setting, workers
        self._pool: ProcessPoolExecutor | None = None

    def run(self, tasks: Sequence[Task], done: Done) -> None:
        """Evaluate all tasks; those of workers that died are evaluated again."""
        left = list(tasks)
        for _ in range(ATTEMPTS):
            try:
                left = self._some(left, done)
            except BrokenProcessPool:
                self.close()
            if not left:
                return
        raise BrokenProcessPool(
            f"workers died {ATTEMPTS} times, {len(left)} simulations are left; is there enough memory? Try workers=1"
        )

    def _some(self, tasks: list[Task], done: Done) -> list[Task]:
        """Evaluate tasks; returns those that a worker took with it when it died."""
        if len(tasks) == 1 and self._pool is None:
            done(tasks[0], evaluate(self._setting, tasks[0]))
            return []
        pool = self._pool or self._start()
        waiting: dict[Future[dict[str, Any]], Task] = {pool.submit(_evaluate, p): p for p in tasks}
        lost: list[Task] = []
        while waiting:
            ready, _ = wait(waiting, return_when=FIRST_COMPLETED)
            for future in ready:
                task = waiting.pop(future)
                try:
                    result = future.result()
                except BrokenProcessPool:
                    lost.append(task)
                else:
                    done(task, result)
        if lost:
            self.close()
        return lost

    def _start(self) -> ProcessPoolExecutor:
        self._pool = ProcessPoolExecutor(
            self._workers,
            mp_context=get_context("spawn"),
            initializer=_install,
            initargs=(self._setting, os.getpid()),
        )
        with without_main():  # processes are started by the first tasks they are given
            wait([self._pool.submit(os.getpid) for _ in range(self._workers)])
        return self._pool

    def close(self) -> None:
        """End the processes."""
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
            self._pool = None


_SETTING: Setting | None = None


def _install(setting: Setting, parent: int) -> None:
    global _SETTING
    end_with(parent)
    _SETTING = setting


def _evaluate(task: Task) -> dict[str, Any]:
    assert _SETTING is not None
    return evaluate(_SETTING, task)


class DaskPool:
    """A pool of the workers of a Dask cluster; tasks of workers that die are evaluated by others."""

    def __init__(self, setting: Setting, client: Any) -> None:
        self._setting, self._client, self._own = setting, client, False
        self._there: Any = None  # the setting on the workers
        if isinstance(client, str):
            self._client, self._own = _connect(client), True

    def run(self, tasks: Sequence[Task], done: Done) -> None:
        """Evaluate all tasks."""
        from distributed import as_completed

        if self._there is None:  # on every worker, so that none alone holds it
            self._there = self._client.scatter(self._setting, broadcast=True, hash=False)
        setting = self._there
        futures = {
            self._client.submit(evaluate, setting, task, pure=False, retries=2): task for task in tasks
        }  # fmt: skip
        lost = []
        for future in as_completed(list(futures)):
            try:
                done(futures[future], future.result())
            except Exception as error:
                if not _lost(error):
                    raise
                lost.append(futures[future])
        if lost:
            self._there = None
        for task in lost:  # whose workers, or whose only copy of the setting, are gone: with all they need
            done(task, self._client.submit(evaluate, self._setting, task, pure=False, retries=2).result())

    def close(self) -> None:
        """Leave the cluster."""
        if self._own:
            self._client.close()


def _lost(error: BaseException) -> bool:
    """Whether a task failed because of a worker, not because of what it did."""
    names = {kind.__name__ for kind in type(error).__mro__}
    return bool(
        names & {"KilledWorker", "CancelledError", "FutureCancelledError", "FuturesCancelledError", "CommError"}
    )


def _connect(address: str) -> Any:
    try:
        from distributed import Client
    except ImportError:
        raise MissingLibraryError("a Dask cluster needs dask and distributed: pip install 'isocloth[dask]'") from None
    try:
        return Client(address, timeout="10s")
    except (OSError, TimeoutError) as error:
        raise FileError(
            f"no Dask scheduler answers at {address!r} ({error}); start one with `dask scheduler`, or leave --dask out"
        ) from error


def make_pool(setting: Setting, workers: int | None, dask: Any) -> Pool:
    """The pool that options ask for."""
    if dask is not None:
        return DaskPool(setting, dask)
    count = (os.cpu_count() or 1) if workers is None else workers
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise InputError(f"workers = {workers!r}: expected a number of processes, at least 1")
    if count == 1:
        return SerialPool(setting)
    return ProcessPool(setting, count) if can_be_pickled(setting) else ThreadPool(setting, count)
