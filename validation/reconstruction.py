"""Surfaces from points: invariants, critical points, distances, time, and what other methods make of the clouds."""

from __future__ import annotations

import importlib.util
import json
import os
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from isocloth import meshes
from isocloth.base.errors import SamplingError
from isocloth.base.typing import FloatArray, IntArray
from isocloth.fabric import Fabric
from isocloth.meshes.surfaces import NAMES, Surface, of_mesh, surface
from isocloth.reconstruction import reconstruct
from isocloth.reconstruction.distance import distances
from isocloth.reconstruction.morse.cells import arcs, decompose
from isocloth.reconstruction.morse.discrete_gradient import gradient
from isocloth.reconstruction.morse.height import random_directions, usual_detail
from isocloth.reconstruction.morse.homology import homology
from isocloth.reconstruction.triangulation.complex import compact, without_pinches
from isocloth.simulation import Simulation
from validation.result import Result, Say, Series, silent

TITLE = "topology, cells, distance and time of surfaces from points"

#: a folder with recorded clouds, in the format of the data the project was given; not shipped
CLOUDS = "ISOCLOTH_CLOUDS"

SIZES = {"knotted torus": 30_000, "ellipsoid vest": 36_000, "folded napkin": 20_000, "shorts": 20_000}


def run(quick: bool = False, *, out: Path | None = None, say: Say = silent) -> Result:
    """All of it; quick leaves out what is large."""
    result = Result("reconstruction", TITLE)
    names = [n for n in NAMES if n not in ("knotted torus", "ellipsoid vest", "tank top")] if quick else list(NAMES)
    shapes = [surface(name) for name in names]
    if not quick:
        say("simulating a napkin and shorts")
        shapes += simulated()
    for noise in (0.2,) if quick else (0.0, 0.2):
        for shape in shapes:
            say(f"{shape.name}, noise {noise}")
            _rate(result, shape, noise, samplings=1 if quick else 5, directions=4 if quick else 20, quick=quick)
    if not quick:
        _paper(result, say)
        _growth(result, say)
        _others(result, shapes, say)
        _recorded(result, say)
    _poor(result, say, seeds=2 if quick else 20)
    result.notes += [
        "points are independent and uniform over the area; noise is the standard deviation of every coordinate in "
        "spacings sqrt(area / points)",
        "right: components, Euler characteristic, boundary curves and orientability of the surface, and for each "
        "direction the same Euler characteristic and Betti numbers from the cells",
    ]
    return result


def _rate(result: Result, shape: Surface, noise: float, *, samplings: int, directions: int, quick: bool) -> None:
    count = 1500 if quick else SIZES.get(shape.name, 5000)
    right, total, off, doubts = 0, 0, [], 0
    for seed in range(samplings):
        total += directions
        try:
            found = reconstruct(shape.sample(count, seed=seed, noise=noise))
        except SamplingError:
            continue
        doubts += not found.sure
        if found.orientable and found.points.shape[1] == 3 and found.components == 1:
            off.append(true_distance(found.mesh, shape) / shape.spacing(count))
        if found.invariants != shape.invariants:
            continue
        for direction in random_directions(found.points.shape[1], directions, seed):
            height = found.points @ direction
            cut = gradient(found.surface, height, usual_detail(height, found.spacing))
            cells = decompose(found.surface, height, cut)
            right += cells.euler_characteristic == shape.invariants[1] and homology(cells).betti == shape.betti
    label = f"{shape.name}, {count} points, noise {noise:g}"
    result.above(f"{label}: right, %", 100.0 * right / total, 95.0, ".1f")
    result.info(f"{label}: samplings with doubts", doubts, ".0f")
    if off:
        result.below(f"{label}: mean distance of the mesh to the truth, spacings", float(np.mean(off)), 0.5, ".3f")


def true_distance(mesh: meshes.Mesh, shape: Surface) -> float:
    """Mean distance in m of nodes and middles of triangles of a mesh to the true surface."""
    places = np.concatenate([mesh.vertices, mesh.vertices[mesh.triangles].mean(axis=1)])
    return float(distances(places, shape.vertices, shape.triangles).mean())


def simulated() -> list[Surface]:
    """Cloths of our own simulations: a napkin folded by moving two corners over the others, and hanging shorts."""
    napkin = meshes.rectangle(0.4, 0.4, (31, 31))
    fabric = Fabric(density=0.2, bending=1e-4, damping=0.4)
    simulation = Simulation(napkin, fabric, gravity=9.81)
    low = napkin.nearest([[0.0, 0.4, 0.0], [0.4, 0.4, 0.0]])
    high = napkin.nearest([[0.0, 0.0, 0.0], [0.4, 0.0, 0.0]])
    start = napkin.vertices[high]

    def over(t: float) -> FloatArray:
        """Along an arc, until 0.12 m before and above the other corners."""
        angle = min(t / 0.8, 1.0) * 0.75 * np.pi
        return start + np.array([0.0, 0.2 - 0.2 * np.cos(angle), 0.2 * np.sin(angle)])

    simulation.grasp(low)
    simulation.grasp(high, over)
    simulation.run(1.2)
    triangles = napkin.triangles
    folded = of_mesh("folded napkin", simulation.state.positions, triangles, (1, 1))
    shorts = meshes.shorts()
    hanging = Simulation(shorts, Fabric(density=0.2, bending=1e-4, damping=1.0))
    waist = max(shorts.boundary_loops, key=lambda loop: shorts.vertices[loop][:, 2].mean())
    hanging.grasp(waist)
    hanging.run(0.5)
    return [folded, of_mesh("shorts", hanging.state.positions, shorts.triangles, (-1, 3))]


def _paper(result: Result, say: Say) -> None:
    """The two synthetic clouds of chapter 5."""
    say("the knotted torus and the vest of chapter 5")
    knot = reconstruct(surface("knotted torus").sample(30_000, seed=0))
    counts = knot.critical_counts
    for kind, paper in (("maximum", 2), ("minimum", 2), ("saddle", 4)):
        label = f"knotted torus, best direction: points of kind {kind}"
        result.between(label, counts.get(kind, 0), paper, paper, ".0f", paper=str(paper))
    result.between("knotted torus, best direction: cells", len(knot.cells), 8, 8, ".0f", paper="8")
    vest = reconstruct(surface("ellipsoid vest").sample(36_000, seed=0))
    for kind, paper in (("maximum", 2), ("boundary maximum", 2), ("minimum", 1), ("boundary minimum", 3)):
        label = f"ellipsoid vest, our shape and best direction: points of kind {kind}"
        result.info(label, vest.critical_counts.get(kind, 0), ".0f", paper=str(paper))
    points, paths = arcs(vest.surface, vest.cell_complex)
    pieces = len(points) + len(paths) + len(vest.cell_complex.two)
    result.info("ellipsoid vest: cells, cut where they meet", pieces, ".0f", paper="16")
    largest = max(vest.cell_complex.two, key=lambda cell: len(cell.points))
    chart = vest.chart(vest.cell_complex.two.index(largest))
    result.below("ellipsoid vest: folded triangles of the largest chart", chart.folded, 0, ".0f")
    result.info("ellipsoid vest: points of the largest 2-cell", len(largest.points), ".0f", paper="27 000")
    result.info("ellipsoid vest: resampled to", len(chart.resampled(900)), ".0f", paper="900")


def _growth(result: Result, say: Say) -> None:
    """Time over the number of points."""
    shape = surface("torus")
    reconstruct(shape.sample(1000, seed=0)).mesh  # noqa: B018, kernels are compiled or loaded here
    sizes = [7_500, 15_000, 30_000, 60_000]
    surfaces, with_mesh = [], []
    for count in sizes:
        say(f"time of {count} points")
        points = shape.sample(count, seed=0, noise=0.1)
        begin = time.perf_counter()
        found = reconstruct(points)
        surfaces.append(time.perf_counter() - begin)
        found.mesh  # noqa: B018, made when asked for
        with_mesh.append(time.perf_counter() - begin)
    result.below("30 000 points: surface, cells and mesh, s", with_mesh[2], 20.0, ".1f")
    result.info("30 000 points: surface and cells, s", surfaces[2], ".1f")
    order = np.polyfit(np.log(sizes), np.log(with_mesh), 1)[0]
    result.between("growth of time with points, exponent", float(order), 0.5, 1.2, ".2f")
    columns = {"surface and cells": np.array(surfaces), "with mesh": np.array(with_mesh)}
    result.series.append(Series("time", "points", "s", np.array(sizes, dtype=float), columns, log=True))


def _poor(result: Result, say: Say, *, seeds: int) -> None:
    """Too few points, or too noisy: an error or a doubt, never silently wrong."""
    say("poor samplings")
    silently, refused, doubted, total = 0, 0, 0, 0
    for name in ("torus", "annulus", "pair of pants", "sphere"):
        for count, noise in ((40, 0.0), (80, 0.2), (150, 0.2), (300, 0.3), (600, 0.5), (600, 1.0)):
            for seed in range(seeds):
                total += 1
                try:
                    found = reconstruct(surface(name).sample(count, seed=seed, noise=noise))
                except SamplingError:
                    refused += 1
                    continue
                wrong = found.invariants != surface(name).invariants
                silently += wrong and found.sure
                doubted += not found.sure
    result.below("poor samplings: silently wrong, %", 100.0 * silently / total, 2.0, ".1f")
    result.info("poor samplings: refused, %", 100.0 * refused / total, ".1f")
    result.info("poor samplings: doubted, %", 100.0 * doubted / total, ".1f")


# ------------------------------------------------------------------ other methods


def _others(result: Result, shapes: list[Surface], say: Say) -> None:
    """What Open3D makes of the same clouds, if it is installed; with its usual choices of parameters."""
    if importlib.util.find_spec("open3d") is None:
        result.notes.append('other methods were not run: they need Open3D, pip install "isocloth[compare]"')
        return
    methods = {"ball pivoting": _pivot, "Poisson": _poisson, "alpha shape": _alpha}
    three = [s for s in shapes if s.vertices.shape[1] == 3]
    for noise in (0.0, 0.2):
        tally: dict[str, list[tuple[bool, float, float]]] = {name: [] for name in ("isocloth", *methods)}
        for shape in three:
            say(f"other methods on {shape.name}, noise {noise}")
            count = SIZES.get(shape.name, 5000)
            points, spacing = shape.sample(count, seed=0, noise=noise), shape.spacing(count)
            begin = time.perf_counter()
            found = reconstruct(points)
            own = (found.invariants == shape.invariants, np.nan, time.perf_counter() - begin)
            if found.orientable and found.components == 1:
                own = (own[0], true_distance(found.mesh, shape) / spacing, time.perf_counter() - begin)
            tally["isocloth"].append(own)
            for name, method in methods.items():
                tally[name].append(_judge(method, points, spacing, shape))
        for name, rows in tally.items():
            label = f"{name}, noise {noise:g}"
            result.info(f"{label}: right, of {len(rows)} surfaces", sum(r[0] for r in rows), ".0f")
            result.info(
                f"{label}: mean distance to the truth, spacings", float(np.nanmean([r[1] for r in rows])), ".3f"
            )
            result.info(f"{label}: time of all, s", sum(r[2] for r in rows), ".1f")


def _judge(
    method: Callable[[FloatArray, float], tuple[FloatArray, IntArray]],
    points: FloatArray,
    spacing: float,
    shape: Surface,
) -> tuple[bool, float, float]:
    """Whether the invariants are right, the mean distance in spacings, and the time in s."""
    begin = time.perf_counter()
    vertices, triangles = method(points, spacing)
    seconds = time.perf_counter() - begin
    if len(triangles) == 0:
        return False, np.nan, seconds
    places = np.concatenate([vertices[np.unique(triangles)], vertices[triangles].mean(axis=1)])
    off = float(distances(places, shape.vertices, shape.triangles).mean()) / spacing
    clean = without_pinches(triangles)
    if len(clean) != len(triangles):  # edges of three triangles, or fans that only touch: no surface
        return False, off, seconds
    made, _ = compact(vertices, triangles)
    found = (made.components, made.euler_characteristic, len(made.boundary_curves), made.orientable)
    return found == shape.invariants, off, seconds


def _cloud(points: FloatArray) -> Any:
    import open3d

    cloud = open3d.geometry.PointCloud(open3d.utility.Vector3dVector(points))
    cloud.estimate_normals(open3d.geometry.KDTreeSearchParamKNN(20))
    cloud.orient_normals_consistent_tangent_plane(20)
    return cloud


def _arrays(mesh: Any) -> tuple[FloatArray, IntArray]:
    return np.asarray(mesh.vertices), np.asarray(mesh.triangles).astype(np.int64)


def _pivot(points: FloatArray, spacing: float) -> tuple[FloatArray, IntArray]:
    import open3d

    radii = open3d.utility.DoubleVector([spacing, 1.5 * spacing, 2.5 * spacing])
    return _arrays(open3d.geometry.TriangleMesh.create_from_point_cloud_ball_pivoting(_cloud(points), radii))


def _poisson(points: FloatArray, spacing: float) -> tuple[FloatArray, IntArray]:
    """Depth 8, and cut where there are no points, as its documentation does."""
    import open3d

    mesh, density = open3d.geometry.TriangleMesh.create_from_point_cloud_poisson(_cloud(points), depth=8)
    values = np.asarray(density)
    mesh.remove_vertices_by_mask(values < np.quantile(values, 0.02))
    mesh.remove_unreferenced_vertices()
    return _arrays(mesh)


def _alpha(points: FloatArray, spacing: float) -> tuple[FloatArray, IntArray]:
    import open3d

    cloud = open3d.geometry.PointCloud(open3d.utility.Vector3dVector(points))
    return _arrays(open3d.geometry.TriangleMesh.create_from_point_cloud_alpha_shape(cloud, 2.5 * spacing))


# ---------------------------------------------------------------- recorded clouds


def recorded_clouds(pattern: str, result: Result, say: Say) -> Iterator[tuple[str, str, list[FloatArray]]]:
    """Name, scenario and clouds of the recorded sequences whose names match, if their folder is known."""
    folder = os.environ.get(CLOUDS)
    if folder is None:
        result.notes.append(f"recorded clouds were not read: set {CLOUDS} to the folder that holds them")
        return
    paths = sorted(Path(folder).glob(f"**/{pattern}.npz"))
    if not paths:
        result.notes.append(f"recorded clouds were not read: no {pattern}.npz in the folder that {CLOUDS} names")
    for path in paths:
        say(f"recorded {path.stem}")
        with np.load(path, allow_pickle=False) as data:
            start, points = data["start"], data["points"].astype(np.float64)
            scenario = json.loads(str(data["meta"])).get("scenario", "") if "meta" in data.files else ""
        yield path.stem, scenario, [points[a:b] for a, b in pairwise(start.tolist())]


def _recorded(result: Result, say: Say) -> None:
    """Sheets seen by cameras, if the folder is there: a disc is right, by the points alone or known to be one sheet."""
    for name, scenario, clouds in recorded_clouds("*", result, say):
        discs, doubts, refused, sheets, off, away = 0, 0, 0, 0, [], [0.0]
        for cloud in clouds:
            try:
                found = reconstruct(cloud)
            except SamplingError:
                refused += 1
                continue
            disc = found.invariants == (1, 1, 1, True)
            discs += disc
            doubts += not found.sure
            try:
                sheet = found if disc else reconstruct(cloud, sheet=True)
            except SamplingError:
                continue
            if sheet.invariants == (1, 1, 1, True):
                sheets += 1
                off.append(sheet.distance_to_points.mean() / sheet.spacing)
                away.append(1.0 - len(sheet.points) / len(sheet.given))
        label = f"{name} ({scenario}), {len(clouds)} frames"
        result.info(f"{label}: discs", discs, ".0f")
        result.info(f"{label}: refused or with doubts", refused + doubts, ".0f")
        result.info(f"{label}: discs if known to be one sheet", sheets, ".0f")
        if off:
            result.info(f"{label}: of these, mean distance to the points, spacings", float(np.mean(off)), ".3f")
            result.info(f"{label}: of these, most points not on the surface, %", 100.0 * max(away), ".1f")
