"""One self-contained page that shows a trajectory from all sides, in any browser with WebGL 2."""

from __future__ import annotations

import base64
import html
import json
import os
import re
from collections.abc import Iterable
from importlib.resources import files
from typing import Any

import numpy as np

from isocloth.base.files import atomic_path
from isocloth.base.numeric import check_flag
from isocloth.base.typing import FloatArray, IntArray
from isocloth.pictures import colour as colours
from isocloth.pictures.arguments import check_colour, check_every
from isocloth.pictures.camera import axes, pleasant_angles
from isocloth.pictures.edges import StrainGauge, unique_edges
from isocloth.pictures.ground import grid_spacing
from isocloth.pictures.light import light_over
from isocloth.pictures.studio import (
    Body,
    Colour,
    Obstacle,
    floor_height,
    gather,
    sample_frames,
    with_obstacles,
    worth_showing,
)
from isocloth.trajectory import Trajectory

MOST_FRAMES = 301  # ten seconds at 30 Hz, both ends included
MOST_BYTES = 8_000_000  # of the encoded frames
CHART_POINTS = 600


def save_page(
    trajectory: Trajectory,
    path: str | os.PathLike[str],
    *,
    colour: Colour = "cloth",
    wireframe: bool = True,
    every: int | None = None,
    title: str | None = None,
    obstacles: Iterable[Obstacle] = (),
) -> None:
    """Write the page; it needs no other file and asks nothing from the network."""
    text = page(trajectory, colour=colour, wireframe=wireframe, every=every, title=title, obstacles=obstacles)
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def page(
    trajectory: Trajectory,
    *,
    colour: Colour = "cloth",
    wireframe: bool = True,
    every: int | None = None,
    title: str | None = None,
    obstacles: Iterable[Obstacle] = (),
) -> str:
    """The text of the page. Frames are thinned out to keep it below some ten megabytes."""
    check_colour(colour)
    check_flag(wireframe, "wireframe")
    name = title or "Cloth"
    trajectory = with_obstacles(trajectory, obstacles)
    data = page_data(trajectory, chosen_frames(trajectory, every))
    data |= {"title": name, "colour": colour, "wireframe": wireframe}
    # Inside a script element "</script" ends it, and "<!--<script>" hides the end: no "<" is left as it is.
    embedded = json.dumps(data, allow_nan=False).replace("<", "\\u003c")
    template = files("isocloth.pictures").joinpath("viewer.html").read_text(encoding="utf-8")
    parts = {"@TITLE@": html.escape(name), "@DATA@": embedded}  # in one pass: a title may be "@DATA@"
    return re.sub("@TITLE@|@DATA@", lambda found: parts[found[0]], template)


def chosen_frames(trajectory: Trajectory, every: int | None = None) -> IntArray:
    """(k,) indices of the frames to embed: each every-th, and evenly thinned out if they are too many."""
    check_every(every)
    frames = np.arange(0, len(trajectory), every or 1)
    moving = sum(vertices.shape[1] for vertices, _ in trajectory.obstacles if vertices.ndim == 3)
    bytes_per_frame = (len(trajectory.rest) * 7 + moving * 6) * 4 / 3
    most = int(np.clip(MOST_BYTES / bytes_per_frame, 2, MOST_FRAMES))
    if len(frames) > most:
        frames = frames[np.linspace(0, len(frames) - 1, most).round().astype(int)]
    return frames


def page_data(trajectory: Trajectory, frames: IntArray) -> dict[str, Any]:
    """What the page draws, ready for JSON; arrays are little-endian and in base64.

    positions: (k, n, 3) uint16, 0 to 65535 from `low` to `high`, which rounds by less than 1e-5 of the
    size. strain: (k, n) int8, -127 to 127 from -strainLimit to strainLimit; it is computed before that
    rounding, which would drown the strain of a cloth that hardly stretches. obstacleVertices: (p, 3) float32, at the
    first frame; moving: (k, q, 3) uint16 as the positions, between its own bounds; obstacleCorners: (c,) vertices to
    draw, of both together, with repetitions; obstacleTriangles index these.
    """
    positions = trajectory.positions[frames]
    low, high = positions.min(axis=(0, 1)), positions.max(axis=(0, 1))
    gauge = StrainGauge.of(trajectory.rest, trajectory.faces)
    strain = np.stack([gauge.at(pose) for pose in positions])
    limit = colours.strain_limit(strain)
    factor, unit = colours.strain_unit(limit)
    edges, counts = unique_edges(trajectory.faces)
    body = gather(trajectory, wireframe=False)
    n = len(trajectory.rest)
    return {
        "frames": len(frames),
        "vertices": n,
        "times": trajectory.times[frames].tolist(),
        "low": low.tolist(),
        "high": high.tolist(),
        "positions": encode(quantise(positions, low, high)),
        "strain": encode(np.round(np.clip(strain / limit, -1, 1) * 127).astype(np.int8)),
        "strainLimit": limit,
        "strainFactor": factor,
        "strainUnit": unit,
        "triangles": encode(trajectory.triangles.astype("<u4")),
        "inner": encode(edges[counts > 1].astype("<u4")),
        "border": encode(edges[counts == 1].astype("<u4")),
        **obstacle_data(trajectory, frames, body),
        "obstacleTriangles": encode((body.triangles[len(trajectory.triangles) :] - n).astype("<u4")),
        "reports": {name: values(report[frames]) for name, report in trajectory.reports.items()},
        "chart": chart(trajectory),
        "scene": scene(trajectory, body),
        "palette": palette(),
    }


def obstacle_data(trajectory: Trajectory, frames: IntArray, body: Body) -> dict[str, Any]:
    """The obstacles that stand still and those that move; of each corner, where it is among both."""
    bodies = [trajectory.obstacles[i][0] for i in body.drawn]
    still = [p for p in bodies if p.ndim == 2]
    moving = [p[frames] for p in bodies if p.ndim == 3]
    # the bodies are numbered in their order; here those that move come last
    starts = np.cumsum([0, *(p.shape[-2] for p in still), *(p.shape[-2] for p in moving)])
    ranks = np.argsort(np.argsort([p.ndim for p in bodies], kind="stable"))
    places = [np.arange(starts[rank], starts[rank] + p.shape[-2]) for p, rank in zip(bodies, ranks, strict=True)]
    order = np.concatenate([np.empty(0, dtype=np.int64), *places])
    poses = np.concatenate([np.empty((len(frames), 0, 3)), *moving], axis=1)
    low, high = (poses.min(axis=(0, 1)), poses.max(axis=(0, 1))) if moving else (np.zeros(3), np.zeros(3))
    return {
        "obstacleVertices": encode(np.concatenate([np.empty((0, 3)), *still]).astype("<f4")),
        "moving": encode(quantise(poses, low, high)),
        "movingLow": low.tolist(),
        "movingHigh": high.tolist(),
        "obstacleCorners": encode(order[body.corners].astype("<u4")),
    }


def quantise(positions: FloatArray, low: FloatArray, high: FloatArray) -> np.ndarray:
    """(..., 3) metres -> (..., 3) uint16, 0 at `low` and 65535 at `high`."""
    extent = np.where(high > low, high - low, 1.0)
    return np.round((positions - low) / extent * 65535.0).astype("<u2")


def chart(trajectory: Trajectory) -> dict[str, Any] | None:
    """One report over the whole time: of each of some hundred intervals, its largest value."""
    numbers = [name for name, report in trajectory.reports.items() if report.dtype.kind == "f"]
    if not numbers:
        return None
    name = "isometry_error" if "isometry_error" in numbers else numbers[0]
    report = trajectory.reports[name]
    # fmax keeps a number where one of two values is NaN.
    starts = np.unique(np.linspace(0, len(report) - 1, min(CHART_POINTS, len(report))).astype(int))
    largest = np.fmax.reduceat(report, starts)
    return {"name": name, "times": trajectory.times[starts].tolist(), "values": values(largest)}


def scene(trajectory: Trajectory, body: Body) -> dict[str, Any]:
    """View, light and ground, as in the still pictures."""
    azimuth, elevation = pleasant_angles(trajectory.positions[sample_frames(trajectory)], trajectory.triangles)
    right, _, ahead = axes(azimuth, elevation)
    points, size = worth_showing(trajectory, body)
    light = light_over(points, right, ahead)
    fill = right - 0.6 * ahead
    return {
        "azimuth": azimuth,
        "elevation": float(elevation),
        "towards": light.towards.tolist(),
        "lightRight": light.right.tolist(),
        "lightUp": light.up.tolist(),
        "lightCentre": light.centre.tolist(),
        "lightRadius": light.radius,
        "fill": (fill / np.linalg.norm(fill)).tolist(),
        "size": size,
        "floor": floor_height(body, points, size),
        "solid": body.ground is not None,
        "extremes": extremes(points).tolist(),
        "spacing": grid_spacing(size),
    }


def extremes(points: FloatArray) -> FloatArray:
    """(k, 3) of the points (p, 3) that lie farthest in many directions: if these are in view, so are almost all."""
    steps = np.array([[x, y, z] for x in (-2, -1, 0, 1, 2) for y in (-2, -1, 0, 1, 2) for z in (-2, -1, 0, 1, 2)])
    return np.round(points[np.unique(np.argmax(points @ steps.T, axis=0))], 4)


def palette() -> dict[str, Any]:
    """Colours in sRGB, 0 to 1; `strain` runs from -strainLimit to strainLimit."""
    strain = colours.to_srgb(colours.strain_colours(np.linspace(-1.0, 1.0, 65), 1.0))
    return {
        "front": colours.FRONT,
        "back": colours.BACK,
        "obstacle": colours.OBSTACLE,
        "strain": np.round(strain, 4).tolist(),
    }


def values(report: np.ndarray) -> list[Any]:
    """A report for JSON: truth values and whole numbers as they are, others to six digits, NaN as null."""
    if report.dtype.kind != "f":
        return list(report.tolist())
    return [float(f"{x:.6g}") if np.isfinite(x) else None for x in report]


def encode(array: np.ndarray) -> str:
    """Base64 of the bytes of an array."""
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode("ascii")
