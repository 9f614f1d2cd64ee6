"""The swing: a cloth of DIN A2 size hangs from its upper corners, which are shaken to and fro.

The cloth starts flat, vertical and at rest: width along y, height along z, and x is the direction of the shake. Both
upper corners follow x(t) = 0.075 cos(2 pi 0.6 t). There is no self-collision. `record` is the only clock: whatever
simulator steps, it alone decides what is timed.
"""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from isocloth.base.typing import FloatArray, IntArray
from isocloth.fabric import Fabric
from isocloth.meshes import Mesh, rectangle
from isocloth.simulation import Report, Simulation

WIDTH, HEIGHT = 0.42, 0.594  # m
DENSITY = 0.1  # kg/m^2
AMPLITUDE, FREQUENCY = 0.075, 0.6  # m, Hz
GRAVITY = 9.81  # m/s^2
TIMESTEP = 0.01  # s


def sheet(nodes: int) -> Mesh:
    """The cloth of nodes x nodes at its start, in the plane x = AMPLITUDE."""
    flat = rectangle(WIDTH, HEIGHT, (nodes, nodes))
    y, z = flat.vertices[:, 0], flat.vertices[:, 1]
    return flat.with_vertices(np.stack([np.full(nodes**2, AMPLITUDE), y, z], axis=1))


def upper_corners(nodes: int) -> IntArray:
    """The two nodes that are shaken."""
    return np.array([nodes - 1, nodes**2 - 1])


def tip(nodes: int) -> int:
    """The node in the middle of the lower edge."""
    return (nodes // 2) * nodes


def shake(t: float) -> float:
    """x of the upper corners at time t in s, m."""
    return AMPLITUDE * math.cos(2.0 * math.pi * FREQUENCY * t)


def simulation(nodes: int, **options: Any) -> Simulation:
    """The swing in isocloth, with its defaults unless options say otherwise."""
    sim = Simulation(sheet(nodes), Fabric(density=DENSITY), **{"timestep": TIMESTEP, "gravity": GRAVITY, **options})
    held = upper_corners(nodes)
    start = sim.positions[held].copy()

    def path(t: float) -> FloatArray:
        where = start.copy()
        where[:, 0] = shake(t)
        return where

    sim.grasp(held, path)
    return sim


class Simulator(Protocol):
    """What `record` runs."""

    setup_seconds: float

    def step(self) -> None:
        """Advance by one time step, the corners included: the part that is timed."""

    def positions(self) -> FloatArray:
        """Node positions (n, 3) now, m."""


class Isocloth:
    """isocloth as a simulator, of the swing or of a scene with contact; its set-up is timed."""

    def __init__(self, build: Callable[[], Simulation]) -> None:
        begin = time.perf_counter()
        self.sim = build()
        self.setup_seconds = time.perf_counter() - begin
        self.reports: list[Report] = []

    def step(self) -> None:
        """One step; its report is kept."""
        self.reports.append(self.sim.step())

    def positions(self) -> FloatArray:
        """Positions now."""
        return self.sim.positions


@dataclass
class Recording:
    """A timed run."""

    positions: FloatArray  # (steps + 1, n, 3) m
    step_seconds: FloatArray  # (steps,)
    step_processor_seconds: FloatArray  # (steps,), of this thread: what other programs take is not in it
    threads: float  # processor seconds per second of the whole loop: 1 if there was one thread

    @property
    def seconds(self) -> float:
        """Computing time of all the steps together, s."""
        return float(self.step_seconds.sum())


def record(simulator: Simulator, steps: int) -> Recording:
    """Step and time. Only the steps are on the clock: not the set-up, not the copies of the positions."""
    start = simulator.positions()
    frames = np.zeros((steps + 1, *start.shape))  # zeros, so that no page is touched for the first time in the loop
    frames[:] = start
    seconds, own = np.zeros(steps), np.zeros(steps)
    gc.collect()
    wall, processor = time.perf_counter(), time.process_time()
    for k in range(steps):
        own_begin = time.thread_time()
        begin = time.perf_counter()
        simulator.step()
        seconds[k] = time.perf_counter() - begin
        own[k] = time.thread_time() - own_begin
        frames[k + 1] = simulator.positions()
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    return Recording(frames, seconds, own, processor / wall)
