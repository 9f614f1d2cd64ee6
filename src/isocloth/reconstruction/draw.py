"""Pictures of a reconstruction: points, boundary and critical points, cells, level sets, charts, mesh."""

from __future__ import annotations

import os

import numpy as np
from PIL import Image, ImageDraw

from isocloth.base.files import atomic_path
from isocloth.base.typing import FloatArray, IntArray
from isocloth.meshes import Mesh
from isocloth.pictures.camera import Camera, fit
from isocloth.pictures.raster import NOBODY, rasterise
from isocloth.reconstruction.reconstruct import Reconstruction
from isocloth.reconstruction.remeshing.glue import Glued
from isocloth.reconstruction.remeshing.parametrise import Chart

BACKGROUND = (250, 250, 248)
GREY = (196, 199, 204)
#: of critical points, as in chapter 5: maxima red, minima black, saddles blue
COLOURS = {
    "maximum": (200, 30, 30), "boundary maximum": (230, 120, 30), "saddle": (30, 90, 220),
    "minimum": (10, 10, 10), "boundary minimum": (110, 110, 110),
}  # fmt: skip
#: of cells
PALETTE = (
    (86, 140, 190), (222, 150, 90), (120, 175, 110), (200, 110, 120), (150, 130, 190), (160, 130, 100), (215, 150, 190),
    (140, 140, 140), (185, 185, 95), (100, 185, 190),
)  # fmt: skip
OVERSAMPLING = 2


def view(found: Reconstruction, width: int, height: int) -> Camera:
    """A camera with the direction of the height upwards, that looks from where most of the surface can be seen."""
    points = _upright(found, found.points)
    p = points[found.surface.triangles]
    area = np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0])

    def seen(azimuth: float, elevation: float) -> float:
        towards = [np.cos(elevation) * np.cos(azimuth), np.cos(elevation) * np.sin(azimuth), np.sin(elevation)]
        return float(np.abs(area @ towards).sum())

    # the usual view first, which stays unless another shows clearly more: a sheet is not drawn from its edge
    views = [(0.7, 0.35)] + [(0.7 + k * np.pi / 4, tilt) for tilt in (0.35, 0.8, 1.2) for k in range(4)]
    best = max(views, key=lambda v: seen(*v) * (1.15 if v == views[0] else 1.0))
    shown = _upright(found, found.given[found.stages.kept])  # pieces that were left out, too; not what is astray
    return fit(shown, width=width, height=height, azimuth=best[0], elevation=best[1])


def cells_picture(found: Reconstruction, width: int = 800, height: int = 700) -> np.ndarray:
    """The surface with its 2-cells in colours, 1-cells blue, boundary curves black, and the critical points."""
    camera = view(found, width * OVERSAMPLING, height * OVERSAMPLING)
    points = _upright(found, found.points)
    cell = np.zeros(len(found.surface.triangles), dtype=np.int64)
    for k, two in enumerate(found.cell_complex.two):
        cell[two.triangles] = k
    colours = np.array(PALETTE, dtype=np.float64)[cell % len(PALETTE)]
    picture, nearness = _shaded(camera, points, found.surface.triangles, colours)
    image = Image.fromarray(picture)
    pen = ImageDraw.Draw(image)
    for one in found.cell_complex.one:
        colour = (20, 20, 20) if one.source == "boundary" else (25, 60, 200)
        _curve(pen, camera, points[one.points], colour, nearness, 3 * OVERSAMPLING // 2)
    for point in found.critical_points:
        _dot(pen, camera, points[point.point], COLOURS[point.kind], nearness, 5 * OVERSAMPLING)
    return _reduced(image, width, height)


def points_picture(found: Reconstruction, width: int = 800, height: int = 700) -> np.ndarray:
    """The given points: on the surface grey, on its boundary black, not used red."""
    camera = view(found, width * OVERSAMPLING, height * OVERSAMPLING)
    image = Image.new("RGB", (camera.width, camera.height), BACKGROUND)
    pen = ImageDraw.Draw(image)
    used = np.zeros(len(found.given), dtype=np.bool_)
    used[found.index] = True
    edge = np.zeros(len(found.given), dtype=np.bool_)
    edge[found.index[found.surface.on_boundary]] = True
    size = 2.0 if len(found.given) < 10_000 else 1.0
    groups = ((used & ~edge, (120, 135, 155)), (used & edge, (10, 10, 10)), (~used, (210, 40, 40)))
    for chosen, colour in groups:
        for x, y, near in camera.project(_upright(found, found.given[chosen])):
            if near > 0:
                pen.ellipse([x - size, y - size, x + size, y + size], fill=colour)
    return _reduced(image, width, height)


def levels_picture(found: Reconstruction, count: int = 24, width: int = 800, height: int = 700) -> np.ndarray:
    """Level sets: closed curves blue, curves that end at the boundary orange."""
    camera = view(found, width * OVERSAMPLING, height * OVERSAMPLING)
    image = Image.new("RGB", (camera.width, camera.height), BACKGROUND)
    pen = ImageDraw.Draw(image)
    for level in found.level_sets(count):
        for curve, closed in zip(level.curves, level.closed, strict=True):
            line = np.vstack([curve, curve[:1]]) if closed else curve
            _curve(pen, camera, _upright(found, line), (40, 90, 180) if closed else (215, 120, 40), None, OVERSAMPLING)
    points = _upright(found, found.points)
    for point in found.critical_points:
        _dot(pen, camera, points[point.point], COLOURS[point.kind], None, 4 * OVERSAMPLING)
    return _reduced(image, width, height)


def mesh_picture(
    found: Reconstruction, mesh: Mesh, width: int = 800, height: int = 700, *, glued: Glued | None = None
) -> np.ndarray:
    """A mesh with its edges; of a glued one with the 2-cells in colours and the 1-cells black."""
    camera = view(found, width * OVERSAMPLING, height * OVERSAMPLING)
    vertices = _upright(found, mesh.vertices)
    cell = np.zeros(mesh.n_faces, dtype=np.int64) if glued is None else glued.cell
    cell = np.repeat(cell, len(mesh.triangles) // mesh.n_faces)
    colours = np.array(PALETTE, dtype=np.float64)[cell % len(PALETTE)]
    picture, nearness = _shaded(camera, vertices, mesh.triangles, colours)
    image = Image.fromarray(picture)
    pen = ImageDraw.Draw(image)
    for a, b in mesh.edges.tolist():
        _curve(pen, camera, vertices[[a, b]], (30, 50, 80), nearness, 1)
    for a, b in [] if glued is None else glued.seams.tolist():
        _curve(pen, camera, vertices[[a, b]], (20, 20, 20), nearness, 3 * OVERSAMPLING // 2)
    return _reduced(image, width, height)


def chart_picture(chart: Chart, width: int = 700, height: int = 700) -> np.ndarray:
    """A 2-cell laid out flat: its triangles, and its sides in colours with their corners."""
    size = np.array([width, height]) * OVERSAMPLING
    low, high = chart.uv.min(axis=0), chart.uv.max(axis=0)
    scale = 0.92 * float((size / (high - low)).min())
    places = (chart.uv - 0.5 * (low + high)) * scale * [1.0, -1.0] + 0.5 * size
    image = Image.new("RGB", (int(size[0]), int(size[1])), BACKGROUND)
    pen = ImageDraw.Draw(image)
    for t in chart.triangles.tolist():
        pen.polygon([tuple(places[v]) for v in t], outline=GREY)
    for k, side in enumerate(chart.sides):
        pen.line([tuple(p) for p in places[side]], fill=PALETTE[k % len(PALETTE)], width=5 * OVERSAMPLING)
    for side in chart.sides:
        x, y = places[side[0]]
        pen.ellipse([x - 8, y - 8, x + 8, y + 8], fill=(20, 20, 20))
    return _reduced(image, width, height)


def save(picture: np.ndarray, path: str | os.PathLike[str]) -> None:
    """Write a picture (height, width, 3) of bytes as PNG."""
    with atomic_path(path) as temporary:
        Image.fromarray(picture).save(temporary, format="PNG")


def _upright(found: Reconstruction, points: FloatArray) -> FloatArray:
    """Points (n, 3) turned so that the direction of the height is z; of more coordinates, the three that vary most."""
    direction = found.direction
    spread = found.points - found.points.mean(axis=0)
    across = spread - np.outer(spread @ direction, direction)
    _, _, axes = np.linalg.svd(across, full_matrices=False)
    frame = np.stack([axes[0], axes[1], direction])
    if len(direction) == 3 and np.linalg.det(frame) < 0.0:
        frame[1] = -frame[1]
    turned: FloatArray = points @ frame.T
    return turned


def _shaded(
    camera: Camera, points: FloatArray, triangles: IntArray, colours: FloatArray
) -> tuple[np.ndarray, np.ndarray]:
    """A picture of triangles with light from the eye, and how near (1/m) what is seen at each pixel is."""
    nearness = np.empty((camera.height, camera.width), dtype=np.float32)
    owner = np.empty(nearness.shape, dtype=np.int32)
    rasterise(camera.project(points), np.ascontiguousarray(triangles), nearness, owner)
    p = points[triangles]
    normal = np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0])
    normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-300)
    towards = camera.eye - p.mean(axis=1)
    towards /= np.linalg.norm(towards, axis=1, keepdims=True)
    light = 0.45 + 0.55 * np.abs((normal * towards).sum(axis=1))
    shown = np.clip(colours * light[:, None], 0, 255).astype(np.uint8)
    picture = np.empty((camera.height, camera.width, 3), dtype=np.uint8)
    picture[:] = BACKGROUND
    seen = owner != NOBODY
    picture[seen] = shown[owner[seen]]
    return picture, nearness


def _visible(screen: FloatArray, nearness: np.ndarray | None) -> np.ndarray:
    """Which places of the screen (n, 3) are not behind what is drawn, with a little slack."""
    if nearness is None:
        return screen[:, 2] > 0
    rows, columns = nearness.shape
    x = np.clip(screen[:, 0].astype(int), 0, columns - 1)
    y = np.clip(screen[:, 1].astype(int), 0, rows - 1)
    return (screen[:, 2] > 0) & (screen[:, 2] >= 0.994 * nearness[y, x])


def _curve(
    pen: ImageDraw.ImageDraw,
    camera: Camera,
    points: FloatArray,
    colour: tuple[int, int, int],
    nearness: np.ndarray | None,
    width: int,
) -> None:
    screen = camera.project(points)
    seen = _visible(screen, nearness)
    for k in range(len(points) - 1):
        if seen[k] and seen[k + 1]:
            pen.line([tuple(screen[k, :2]), tuple(screen[k + 1, :2])], fill=colour, width=width)


def _dot(
    pen: ImageDraw.ImageDraw,
    camera: Camera,
    point: FloatArray,
    colour: tuple[int, int, int],
    nearness: np.ndarray | None,
    radius: int,
) -> None:
    """A dot; a ring if the point is hidden."""
    screen = camera.project(point[None])
    x, y = screen[0, :2]
    box = [x - radius, y - radius, x + radius, y + radius]
    if _visible(screen, nearness)[0]:
        pen.ellipse(box, fill=colour, outline=(255, 255, 255))
    else:
        pen.ellipse(box, outline=colour, width=3)


def _reduced(image: Image.Image, width: int, height: int) -> np.ndarray:
    return np.asarray(image.resize((width, height), Image.Resampling.LANCZOS))
