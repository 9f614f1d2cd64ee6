"""Meshes glued from the charts of 2-cells beside meshes of evenly spread nodes: topology, distance, angles, time."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Literal

import numpy as np

from isocloth import meshes
from isocloth.base.errors import MeshError, SamplingError
from isocloth.meshes import Mesh
from isocloth.meshes.geometry import corner_angles
from isocloth.meshes.surfaces import Surface, of_mesh, surface
from isocloth.reconstruction import Reconstruction, reconstruct
from validation.reconstruction import SIZES, simulated, true_distance
from validation.result import Result, Say, silent

TITLE = "meshes glued from charts beside meshes of spread nodes"

NAMES = ("sphere", "torus", "knotted torus", "disk", "annulus", "pair of pants", "tank top", "ellipsoid vest")
NOISE = 0.2


def run(quick: bool = False, *, out: Path | None = None, say: Say = silent) -> Result:
    """All shapes; quick three small ones."""
    result = Result("gluing", TITLE)
    shapes = [surface(name) for name in (("torus", "pair of pants") if quick else NAMES)]
    shapes.append(wavy_sheet())
    if not quick:
        say("simulating a napkin and shorts")
        shapes += simulated()
    for shape in shapes:
        say(shape.name)
        count = 1000 if quick else SIZES.get(shape.name, 5000)
        clouds = []
        for seed in range(1 if quick else 5):
            try:
                found = reconstruct(shape.sample(count, seed=seed, noise=NOISE))
            except SamplingError:
                continue
            if found.invariants == shape.invariants:  # of others no mesh could be right
                clouds.append(found)
        result.info(f"{shape.name}, {count} points: samplings whose topology is right", len(clouds), ".0f")
        cells = [len(found.cell_complex.two) for found in clouds]
        result.info(f"{shape.name}: 2-cells, mean", float(np.mean(cells)), ".1f")
        for element in ("triangle", "quad"):
            _compare(result, shape, clouds, element, shape.spacing(count))
    result.notes += [
        f"noise {NOISE:g} spacings; edges of two spacings asked for; distances of nodes and middles of triangles",
        "angles: of all corners of a face the smallest; worst: of all faces of all samplings; 1 %: so many faces have "
        "less, mean over samplings",
    ]
    return result


def wavy_sheet() -> Surface:
    """A square sheet with low waves: one cell, or a few."""
    flat = meshes.rectangle(1.0, 1.0, (81, 81))
    x, y = flat.vertices[:, 0], flat.vertices[:, 1]
    bent = np.column_stack([x, y, 0.3 * x + 0.05 * np.sin(6.0 * x) * np.cos(5.0 * y)])
    return of_mesh("wavy sheet", bent, flat.triangles, (1, 1))


def _compare(
    result: Result, shape: Surface, clouds: list[Reconstruction], element: Literal["triangle", "quad"], spacing: float
) -> None:
    """Lines of one shape and kind of element."""
    label = f"{shape.name}, {element}s"
    for way in ("glued", "spread"):
        right, off, worst, low, mean, nodes, seconds = 0, [], [], [], [], [], []
        for found in clouds:
            begin = time.perf_counter()
            try:
                mesh = found.glued(element=element) if way == "glued" else found.remeshed(element=element)
            except MeshError:
                continue
            seconds.append(time.perf_counter() - begin)
            right += _same(found, mesh)
            off.append(true_distance(mesh, shape) / spacing)
            angles = np.degrees(corner_angles(mesh.vertices, mesh.faces).min(axis=1))
            worst.append(angles.min())
            low.append(np.percentile(angles, 1.0))
            mean.append(angles.mean())
            nodes.append(mesh.n_vertices)
        share, distance = 100.0 * right / max(len(clouds), 1), float(np.mean(off)) if off else np.inf
        if way == "glued":
            result.above(f"{label}, glued: right, %", share, 100.0, ".0f")
            result.below(f"{label}, glued: mean distance to the truth, spacings", distance, 0.5, ".3f")
        else:
            result.info(f"{label}, spread: right, %", share, ".0f")
            result.info(f"{label}, spread: mean distance to the truth, spacings", distance, ".3f")
        if not off:
            continue
        result.info(f"{label}, {way}: smallest angle, worst, degrees", float(np.min(worst)), ".1f")
        result.info(f"{label}, {way}: smallest angle, 1 % of faces below, degrees", float(np.mean(low)), ".1f")
        result.info(f"{label}, {way}: smallest angle of a face, mean, degrees", float(np.mean(mean)), ".1f")
        result.info(f"{label}, {way}: nodes, mean", float(np.mean(nodes)), ".0f")
        result.info(f"{label}, {way}: time, s", float(np.mean(seconds)), ".1f")


def _same(found: Reconstruction, mesh: Mesh) -> bool:
    """A Mesh is connected and oriented; what is left to compare are two numbers."""
    same_euler = mesh.euler_characteristic == found.euler_characteristic
    return same_euler and len(mesh.boundary_loops) == len(found.boundary_curves)
