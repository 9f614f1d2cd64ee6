"""A scene set up once for many pictures: camera, light, ground and colours of a whole trajectory."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from isocloth.base.errors import InputTypeError
from isocloth.base.numeric import check_flag
from isocloth.base.typing import FloatArray, IntArray
from isocloth.pictures import colour as colours
from isocloth.pictures.arguments import check_colour, check_pixels
from isocloth.pictures.camera import Camera, fit, pleasant_angles
from isocloth.pictures.edges import StrainGauge, side_kinds
from isocloth.pictures.ground import Ground, ground
from isocloth.pictures.light import Light, cast, light_over
from isocloth.pictures.raster import NOBODY, rasterise, vertex_normals
from isocloth.pictures.shading import ENCODE, EVEN, LIT, OVERSAMPLING, shade
from isocloth.trajectory import Trajectory

Colour = Literal["cloth", "strain"]
Obstacle = tuple[FloatArray, IntArray]  # vertices (v, 3) or (T, v, 3) in metres and faces (f, 3) or (f, 4)


@dataclass(frozen=True)
class Body:
    """What does not change between pictures: triangles of cloth and obstacles in one numbering.

    cloth: number of vertices of the cloth, which come first. drawn: indices of the obstacles of the trajectory that
    are drawn. corners: (p,) vertices of these, in one numbering, that follow those of the cloth; with repetitions,
    where an edge is sharp. ground: height (m) of an obstacle that is drawn as the ground, if there is one.
    """

    cloth: int
    drawn: tuple[int, ...]
    corners: IntArray
    ground: float | None
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
    hidden: Obstacle | None = None  # a ground that hides what is below it

    def picture(self, positions: FloatArray, time: float | None = None) -> np.ndarray:
        """(height, width, 3) uint8 picture of the cloth at `positions` (n, 3), metres.

        time: s, when the obstacles are where they are drawn; None is the first frame.
        """
        body, eye = self.body, self.camera.eye
        now = float(self.trajectory.times[0]) if time is None else time
        vertices = np.concatenate([positions, obstacle_vertices(self.trajectory, body, now)])
        front, back = body.front, body.back
        if self.strain_limit is not None:
            front = front.copy()
            front[: body.cloth] = colours.strain_colours(self.gauge.at(positions), self.strain_limit)
            back = front
        samples = self.camera.scaled(OVERSAMPLING)
        screen = samples.project(vertices)
        nearness = np.empty((samples.height, samples.width), dtype=np.float32)
        owner = np.empty(nearness.shape, dtype=np.int32)
        if self.hidden is None:
            rasterise(screen, body.triangles, nearness, owner)
        else:  # what lies below the ground is not seen, and the ground is painted where nothing is
            points, faces = self.hidden
            everything = np.concatenate([screen, samples.project(points)])
            rasterise(everything, np.concatenate([body.triangles, faces + len(screen)]), nearness, owner)
            owner[owner >= len(body.triangles)] = NOBODY
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
    check_colour(colour)
    check_pixels(width, height)
    check_flag(wireframe, "wireframe")
    trajectory = with_obstacles(trajectory, obstacles)
    body = gather(trajectory, wireframe=wireframe)
    frames = sample_frames(trajectory)
    points, size = worth_showing(trajectory, body)
    azimuth, elevation = pleasant_angles(trajectory.positions[frames], trajectory.triangles)
    camera = fit(points, width=width, height=height, azimuth=azimuth, elevation=elevation, margin=margin)
    light = light_over(points, camera.right, camera.ahead)
    centre = 0.5 * (points.min(axis=0) + points.max(axis=0))
    gauge = StrainGauge.of(trajectory.rest, trajectory.faces)
    limit = None
    if colour == "strain":
        limit = colours.strain_limit(gauge.at(trajectory.positions[frames]))
    floor = floor_height(body, points, size)
    backdrop = ground(camera, light, height=floor, centre=centre, size=size)
    hidden = None if body.ground is None else patch(floor - 0.001 * size, centre, size)
    return Studio(trajectory, camera, light, backdrop, body, gauge, limit, hidden)


def with_obstacles(trajectory: Trajectory, obstacles: Iterable[Obstacle]) -> Trajectory:
    """The trajectory with further obstacles beside its own."""
    if not isinstance(obstacles, Iterable):
        raise InputTypeError(f"obstacles is {obstacles!r}: expected a list of pairs (vertices, faces)")
    more = tuple(obstacles)
    return replace(trajectory, obstacles=(*trajectory.obstacles, *more)) if more else trajectory


def obstacle_vertices(trajectory: Trajectory, body: Body, time: float) -> FloatArray:
    """(p, 3) metres: the vertices of the drawn obstacles at a time (s)."""
    found = trajectory.obstacles_at(time)
    return np.concatenate([np.empty((0, 3)), *(found[i] for i in body.drawn)])[body.corners]


def worth_showing(trajectory: Trajectory, body: Body) -> tuple[FloatArray, float]:
    """(p, 3) points that must be in the picture, and the size (m) of the room that the cloth takes.

    Of obstacles, which may be as large as a table, only the vertices near the cloth count.
    """
    frames = sample_frames(trajectory)
    points = trajectory.positions[frames].reshape(-1, 3)
    low, high = points.min(axis=0), points.max(axis=0)
    size = max(float(np.max(high - low)), 1e-9)
    bodies = [trajectory.obstacles[i][0] for i in body.drawn]
    others = [p if p.ndim == 2 else p[frames].reshape(-1, 3) for p in bodies]
    near = [p[np.all((p > low - 0.25 * size) & (p < high + 0.25 * size), axis=1)] for p in others]
    return np.concatenate([points, *near]), size


def floor_height(body: Body, points: FloatArray, size: float) -> float:
    """The height (m) of the ground: of the obstacle that is it, or a hair below the lowest point."""
    return float(points[:, 2].min()) - 0.004 * size if body.ground is None else body.ground


def sample_frames(trajectory: Trajectory) -> IntArray:
    """(k,) frames spread over the whole trajectory, for its bounds and limits; fewer of large meshes."""
    most = int(np.clip(600_000 // len(trajectory.rest), 2, 60))
    return np.unique(np.linspace(0, len(trajectory) - 1, min(most, len(trajectory))).round().astype(int))


def find_ground(trajectory: Trajectory) -> int | None:
    """Which obstacle is drawn as the ground: level, under the cloth at all times, and larger; the highest such."""
    frames = trajectory.positions[sample_frames(trajectory)].reshape(-1, 3)
    low, high = frames.min(axis=0), frames.max(axis=0)
    size = max(float(np.max(high - low)), 1e-9)
    found = {}
    for i, (vertices, _) in enumerate(trajectory.obstacles):
        level = float(np.ptp(vertices[..., 2])) <= 1e-9 * size
        least, most = vertices.min(axis=-2)[..., :2], vertices.max(axis=-2)[..., :2]
        around = bool(np.all(least <= low[:2]) and np.all(most >= high[:2]))
        if level and around and vertices[..., 2].max() <= low[2] + 0.01 * size:
            found[i] = float(vertices[..., 2].max())
    return max(found, key=lambda i: found[i]) if found else None


def patch(height: float, centre: FloatArray, size: float, cells: int = 40) -> Obstacle:
    """A level square around the scene; of many cells, because those behind the eye cannot be drawn."""
    places = 6.0 * size * np.linspace(-1.0, 1.0, cells + 1)
    x, y = np.meshgrid(centre[0] + places, centre[1] + places, indexing="ij")
    vertices = np.stack([x.ravel(), y.ravel(), np.full(x.size, height)], axis=1)
    index = np.arange(x.size).reshape(x.shape)
    a, b, c, d = index[:-1, :-1], index[1:, :-1], index[1:, 1:], index[:-1, 1:]
    return vertices, np.concatenate([np.stack([a, b, c], axis=-1), np.stack([a, c, d], axis=-1)]).reshape(-1, 3)


def gather(trajectory: Trajectory, *, wireframe: bool) -> Body:
    """Number the vertices and triangles of cloth and obstacles together."""
    n = len(trajectory.rest)
    base = find_ground(trajectory)
    drawn = tuple(i for i in range(len(trajectory.obstacles)) if i != base)
    corners, triangles = [np.empty(0, dtype=np.int64)], [trajectory.triangles]
    kinds = [side_kinds(trajectory.faces) * np.uint8(wireframe)]
    first = 0
    for i in drawn:
        vertices, faces = trajectory.obstacles[i]
        shape = vertices if vertices.ndim == 2 else vertices[0]
        chosen, sides = sharp_corners(
            shape, faces if faces.shape[1] == 3 else faces[:, [0, 1, 2, 0, 2, 3]].reshape(-1, 3)
        )
        triangles.append(sides + n + sum(map(len, corners)))
        kinds.append(np.zeros(sides.shape, dtype=np.uint8))
        corners.append(chosen + first)
        first += len(shape)
    grey = np.tile(colours.to_linear(np.array(colours.OBSTACLE)), (sum(map(len, corners)), 1))
    front, back = (
        np.concatenate([np.tile(colours.to_linear(np.array(rgb)), (n, 1)), grey]).astype(np.float32)
        for rgb in (colours.FRONT, colours.BACK)
    )
    height = None if base is None else float(trajectory.obstacles[base][0][..., 2].max())
    return Body(
        n, drawn, np.concatenate(corners), height, np.concatenate(triangles), np.concatenate(kinds), front, back
    )


def sharp_corners(vertices: FloatArray, triangles: IntArray) -> tuple[IntArray, IntArray]:
    """Vertices to draw, and the triangles between these: the same, or one per corner if there are sharp edges.

    Shading is smooth across shared vertices, which suits a ball and would round a box.
    """
    corners = vertices[triangles]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
    cosines = np.einsum("kci,ki->kc", vertex_normals(vertices, triangles)[triangles], normals)
    if cosines.min() > np.cos(np.radians(35.0)):
        return np.arange(len(vertices)), triangles
    return triangles.reshape(-1), np.arange(3 * len(triangles)).reshape(-1, 3)
