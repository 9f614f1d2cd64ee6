"""A scene set up once for many pictures: camera, light, ground and colours of a whole trajectory."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from isocloth.pictures import colour as colours
from isocloth.pictures.camera import Camera, fit, pleasant_angles
from isocloth.pictures.edges import StrainGauge, side_kinds
from isocloth.pictures.ground import Ground, ground
from isocloth.pictures.light import Light, cast, light_over
from isocloth.pictures.raster import rasterise, vertex_normals
from isocloth.pictures.shading import ENCODE, EVEN, LIT, OVERSAMPLING, shade
from isocloth.trajectory import Trajectory
from isocloth.typing import FloatArray, IntArray

Colour = Literal["cloth", "strain"]
Obstacle = tuple[FloatArray, IntArray]  # vertices (n, 3) in metres and faces (m, 3) or (m, 4)


@dataclass(frozen=True)
class Body:
    """What does not change between pictures: triangles of cloth and obstacles in one numbering.

    cloth: number of vertices of the cloth, which come first. still: (p, 3) vertices of the obstacles.
    """

    cloth: int
    still: FloatArray
    triangles: IntArray
    kinds: np.ndarray
    front: np.ndarray
    back: np.ndarray


@dataclass(frozen=True)
class Studio:
    """Everything needed to picture any frame of one trajectory from one place."""

    trajectory: Trajectory
    camera: Camera
    light: Light
    ground: Ground
    body: Body
    gauge: StrainGauge
    strain_limit: float | None

    def picture(self, positions: FloatArray) -> np.ndarray:
        """(height, width, 3) uint8 picture of the cloth at `positions` (n, 3), metres."""
        body, eye = self.body, self.camera.eye
        vertices = np.concatenate([positions, body.still])
        front, back = body.front, body.back
        if self.strain_limit is not None:
            front = front.copy()
            front[: body.cloth] = colours.strain_colours(self.gauge.at(positions), self.strain_limit)
            back = front
        samples = self.camera.scaled(OVERSAMPLING)
        screen = samples.project(vertices)
        nearness = np.empty((samples.height, samples.width), dtype=np.float32)
        owner = np.empty(nearness.shape, dtype=np.int32)
        rasterise(screen, body.triangles, nearness, owner)
        light_nearness, shadow = cast(self.light, vertices, body.triangles)
        fill = self.camera.right - 0.6 * self.camera.ahead
        result = np.empty((self.camera.height, self.camera.width, 3), dtype=np.uint8)
        shade(
            owner,
            screen,
            vertices,
            vertex_normals(vertices, body.triangles),
            body.triangles,
            body.kinds,
            front,
            back,
            eye,
            self.light.towards,
            fill / np.linalg.norm(fill),
            LIT if self.strain_limit is None else EVEN,
            self.light.matrix(),
            light_nearness,
            2.0 * self.light.texel,
            self.ground.colours,
            self.ground.shadow_at,
            shadow,
            ENCODE,
            result,
        )
        return result


def set_up(
    trajectory: Trajectory,
    *,
    width: int,
    height: int,
    colour: Colour = "cloth",
    wireframe: bool = True,
    obstacles: Iterable[Obstacle] = (),
    margin: tuple[float, float] = (0.1, 0.1),
) -> Studio:
    """Place camera, light and ground for every frame of the trajectory. Sizes are in pixels."""
    if colour not in ("cloth", "strain"):
        raise ValueError(f"colour must be 'cloth' or 'strain', but it is {colour!r}")
    if min(width, height) < 16 or max(width, height) > 8192:
        raise ValueError(f"a picture must have 16 to 8192 pixels each way, but {width} x {height} was given")
    body = gather(trajectory, list(obstacles), wireframe=wireframe)
    frames = sample_frames(trajectory)
    points, size = worth_showing(frames, body.still)
    azimuth, elevation = pleasant_angles(frames, trajectory.triangles)
    camera = fit(points, width=width, height=height, azimuth=azimuth, elevation=elevation, margin=margin)
    light = light_over(points, camera.right, camera.ahead)
    centre = 0.5 * (points.min(axis=0) + points.max(axis=0))
    gauge = StrainGauge.of(trajectory.rest, trajectory.faces)
    limit = None
    if colour == "strain":
        limit = colours.strain_limit(gauge.at(frames))
    floor = floor_height(points, size)
    backdrop = ground(camera, light, height=floor, centre=centre, size=size)
    return Studio(trajectory, camera, light, backdrop, body, gauge, limit)


def worth_showing(frames: FloatArray, still: FloatArray) -> tuple[FloatArray, float]:
    """(p, 3) points that must be in the picture, and the size (m) of the room that the cloth takes.

    Of obstacles, which may be as large as a table, only the vertices near the cloth count.
    """
    points = frames.reshape(-1, 3)
    low, high = points.min(axis=0), points.max(axis=0)
    size = max(float(np.max(high - low)), 1e-9)
    near = np.all((still > low - 0.25 * size) & (still < high + 0.25 * size), axis=1)
    return np.concatenate([points, still[near]]), size


def floor_height(points: FloatArray, size: float) -> float:
    """The height (m) of the ground: a hair below the lowest point, so that it never covers the cloth."""
    return float(points[:, 2].min()) - 0.004 * size


def sample_frames(trajectory: Trajectory) -> FloatArray:
    """(k, n, 3) frames spread over the whole trajectory, for its bounds and limits; fewer of large meshes."""
    most = int(np.clip(600_000 // len(trajectory.rest), 2, 60))
    chosen = np.unique(np.linspace(0, len(trajectory) - 1, min(most, len(trajectory))).round().astype(int))
    return trajectory.positions[chosen]


def gather(trajectory: Trajectory, obstacles: list[Obstacle], *, wireframe: bool) -> Body:
    """Number the vertices and triangles of cloth and obstacles together."""
    n = len(trajectory.rest)
    still, triangles = [np.empty((0, 3))], [trajectory.triangles]
    kinds = [side_kinds(trajectory.faces) * np.uint8(wireframe)]
    for vertices, faces in obstacles:
        shape = Trajectory(
            times=np.zeros(1), positions=np.asarray(vertices)[None], faces=faces, rest=vertices
        )  # checks them
        points, sides = with_sharp_edges(shape.rest, shape.triangles)
        triangles.append(sides + n + sum(map(len, still)))
        kinds.append(np.zeros(sides.shape, dtype=np.uint8))
        still.append(points)
    grey = np.tile(colours.to_linear(np.array(colours.OBSTACLE)), (sum(map(len, still)), 1))
    front, back = (
        np.concatenate([np.tile(colours.to_linear(np.array(rgb)), (n, 1)), grey]).astype(np.float32)
        for rgb in (colours.FRONT, colours.BACK)
    )
    return Body(n, np.concatenate(still), np.concatenate(triangles), np.concatenate(kinds), front, back)


def with_sharp_edges(vertices: FloatArray, triangles: IntArray) -> tuple[FloatArray, IntArray]:
    """The same surface, with vertices of its own for every triangle if it has edges like those of a box.

    Shading is smooth across shared vertices, which suits a ball and would round a box.
    """
    corners = vertices[triangles]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
    cosines = np.einsum("kci,ki->kc", vertex_normals(vertices, triangles)[triangles], normals)
    if cosines.min() > np.cos(np.radians(35.0)):
        return vertices, triangles
    return corners.reshape(-1, 3), np.arange(3 * len(triangles)).reshape(-1, 3)
