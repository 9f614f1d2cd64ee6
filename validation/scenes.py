"""Pieces that several checks share: coming to rest, swings, noise, triangle strips, observed orders."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from isocloth import meshes
from isocloth.base.typing import FloatArray, IntArray
from isocloth.meshes import Mesh
from isocloth.simulation import Simulation


@dataclass
class Settling:
    """How a cloth came to rest."""

    time: float = 0.0  # s of simulated time
    steps: int = 0
    iterations: int = 0
    unconverged: int = 0  # steps whose certificate said no
    cut: int = 0  # steps that had to be cut into substeps
    speed: float = np.inf  # of the fastest node at the end, m/s
    isometry_error: float = 0.0  # largest of all steps


def fastest(sim: Simulation) -> float:
    """Speed of the fastest node, m/s."""
    return float(np.linalg.norm(sim.velocities, axis=1).max())


def advance(sim: Simulation, steps: int, log: Settling | None = None) -> Settling:
    """Take steps and count what they report."""
    log = log or Settling()
    for _ in range(steps):
        report = sim.step()
        log.steps += 1
        log.iterations += report.iterations
        log.unconverged += not report.converged
        log.cut += report.substeps > 1
        log.isometry_error = max(log.isometry_error, report.isometry_error)
    log.time, log.speed = sim.time, fastest(sim)
    return log


def settle(sim: Simulation, speed: float, longest: float, *, calm: float = 0.2) -> Settling:
    """Step until no node has been faster than `speed` (m/s) for `calm` seconds, at most `longest` seconds."""
    log, quiet = Settling(), 0
    while sim.time < longest and quiet * sim.timestep < calm:
        advance(sim, 1, log)
        quiet = quiet + 1 if log.speed < speed else 0
    return log


def corner_nodes(mesh: Mesh, *which: tuple[float, float]) -> IntArray:
    """Nodes nearest to points (x, y) of a flat mesh."""
    return np.array([mesh.nearest([x, y, 0.0]) for x, y in which])


def smooth_ramp(t: float, length: float) -> float:
    """From 0 to 1 within `length` seconds, three times differentiable (a polynomial of degree seven)."""
    s = min(max(t / length, 0.0), 1.0)
    return s**4 * (35.0 - 84.0 * s + 70.0 * s**2 - 20.0 * s**3)


def hanging(mesh: Mesh) -> Mesh:
    """A flat sheet in z = 0 turned upright: y becomes height, its upper edge at z = 0."""
    x, y, _ = mesh.vertices.T
    return mesh.with_vertices(np.stack([x, np.zeros_like(x), y - y.max()], axis=1))


def upper_corners(mesh: Mesh) -> IntArray:
    """The two corners at the top of a sheet made by `hanging`."""
    low, high = mesh.vertices[:, 0].min(), mesh.vertices[:, 0].max()
    return np.array([mesh.nearest([low, 0.0, 0.0]), mesh.nearest([high, 0.0, 0.0])])


def lower_edge(mesh: Mesh) -> IntArray:
    """The nodes at the bottom of a sheet made by `hanging`."""
    z = mesh.vertices[:, 2]
    return np.flatnonzero(z < z.min() + 1e-9)


def shaken(mesh: Mesh, shift: Callable[[float], float]) -> Callable[[float], FloatArray]:
    """Path of the upper corners, moved along y (out of the sheet) by shift(t) metres."""
    start = mesh.vertices[upper_corners(mesh)]

    def path(t: float) -> FloatArray:
        return start + np.array([0.0, shift(t), 0.0])

    return path


def with_noise(mesh: Mesh, size: float, seed: int = 0) -> Mesh:
    """The mesh with normally distributed noise of standard deviation `size` (m) in z."""
    noise = np.random.default_rng(seed).normal(0.0, size, mesh.n_vertices)
    return mesh.with_vertices(mesh.vertices + noise[:, None] * np.array([0.0, 0.0, 1.0]))


def clamped_strip(length: float, width: float, elements: int, across: int, kind: str) -> tuple[Mesh, IntArray, float]:
    """A flat strip along x whose first two columns of nodes are to be held: (mesh, held nodes, clamp x in m).

    The slope is held between the two columns, so that the strip is clamped half an element before the second. All
    meshes are `elements` long, the first of which is held. `kind` is "quad", "triangle" (cut cells) or "irregular".
    """
    h = length / elements
    if kind in ("quad", "triangle"):
        mesh = meshes.rectangle(length, width, shape=(elements + 1, across + 1), element=kind)  # type: ignore[arg-type]
        return mesh, np.flatnonzero(mesh.vertices[:, 0] < 1.5 * h), 0.5 * h
    nodes = round((elements * (across + 1)) * 1.0)
    free = meshes.irregular_rectangle(length - h, width, nodes=nodes, seed=1)
    column = np.flatnonzero(free.vertices[:, 0] < 1e-9)
    column = column[np.argsort(free.vertices[column, 1])]
    first = free.n_vertices + np.arange(len(column))
    vertices = np.concatenate([free.vertices, free.vertices[column] - np.array([h, 0.0, 0.0])]) + np.array(
        [h, 0.0, 0.0]
    )
    a, b, c, d = first[:-1], column[:-1], column[1:], first[1:]
    faces = np.concatenate([free.faces, np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])
    mesh = Mesh(vertices, faces, name="clamped strip")
    return mesh, np.concatenate([column, first]), 0.5 * h


def observed_orders(steps: ArrayLike, errors: ArrayLike) -> FloatArray:
    """Order between neighbouring step sizes, log(e1/e2) / log(s1/s2)."""
    s, e = np.asarray(steps, dtype=np.float64), np.asarray(errors, dtype=np.float64)
    return np.diff(np.log(e)) / np.diff(np.log(s))


def fitted_order(steps: ArrayLike, errors: ArrayLike) -> float:
    """Slope of the straight line through (log step, log error)."""
    return float(np.polyfit(np.log(np.asarray(steps)), np.log(np.asarray(errors)), 1)[0])
