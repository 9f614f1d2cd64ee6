"""Surfaces with a known topology to sample points from, each a fine triangulation of the true shape."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.spatial.transform import Rotation

from isocloth import meshes
from isocloth.base.errors import UnknownNameError
from isocloth.base.typing import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Surface:
    """A triangulated shape, vertices (n, N) in m and triangles (m, 3), and what it is.

    invariants: components, Euler characteristic, boundary curves, orientable. betti: of H0, H1, H2.
    """

    name: str
    vertices: FloatArray
    triangles: IntArray
    invariants: tuple[int, int, int, bool]
    betti: tuple[int, int, int]

    @property
    def areas(self) -> FloatArray:
        """(m,) in m^2."""
        p = self.vertices[self.triangles]
        u, v = p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]
        uu, uv, vv = (u * u).sum(axis=1), (u * v).sum(axis=1), (v * v).sum(axis=1)
        return 0.5 * np.sqrt(np.maximum(uu * vv - uv**2, 0.0))

    def spacing(self, count: int) -> float:
        """sqrt(area / points) in m."""
        return float(np.sqrt(self.areas.sum() / count))

    def sample(
        self, count: int, *, seed: int, noise: float = 0.0, uneven: float = 1.0, outliers: int = 0
    ) -> FloatArray:
        """Random points (count, N) in m, independent and uniform over the area.

        noise: standard deviation of every coordinate, in spacings. uneven: ratio of densities between the two ends of
        the longest side. outliers: so many points more, anywhere in the bounding box.
        """
        random = np.random.default_rng(seed)
        weight = self.areas
        if uneven != 1.0:
            middle = self.vertices[self.triangles].mean(axis=1)
            axis = np.ptp(self.vertices, axis=0).argmax()
            along = (middle[:, axis] - middle[:, axis].min()) / np.ptp(middle[:, axis])
            weight = weight * uneven**along
        chosen = random.choice(len(weight), count, p=weight / weight.sum())
        a, b = random.uniform(size=(2, count, 1))
        flip = a + b > 1.0
        a, b = np.where(flip, 1.0 - a, a), np.where(flip, 1.0 - b, b)
        p = self.vertices[self.triangles[chosen]]
        points = p[:, 0] + a * (p[:, 1] - p[:, 0]) + b * (p[:, 2] - p[:, 0])
        points = points + noise * self.spacing(count) * random.normal(size=points.shape)
        low, high = self.vertices.min(axis=0), self.vertices.max(axis=0)
        stray = low + (high - low) * random.uniform(-0.2, 1.2, size=(outliers, len(low)))
        return np.concatenate([points, stray])


def grid(
    place: Callable[[FloatArray, FloatArray], FloatArray],
    shape: tuple[int, int],
    *,
    closed: tuple[bool, bool] = (False, False),
    keep: Callable[[FloatArray], BoolArray] | None = None,
) -> tuple[FloatArray, IntArray]:
    """Vertices and triangles of place(u, v) over the unit square, with sides joined where closed, cut to `keep`."""
    nu, nv = shape
    u = np.arange(nu + (not closed[0])) / nu
    v = np.arange(nv + (not closed[1])) / nv
    uu, vv = np.meshgrid(u, v, indexing="ij")
    vertices = place(uu.ravel(), vv.ravel())
    i, j = np.meshgrid(np.arange(nu), np.arange(nv), indexing="ij")
    rows, columns = len(u), len(v)

    def index(a: IntArray, b: IntArray) -> IntArray:
        return ((a % rows) * columns + b % columns).ravel()

    a, b, c, d = index(i, j), index(i + 1, j), index(i + 1, j + 1), index(i, j + 1)
    triangles = np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])
    if keep is not None:
        triangles = triangles[keep(vertices[triangles].mean(axis=1))]
    used, numbered = np.unique(triangles, return_inverse=True)
    return vertices[used], numbered.reshape(-1, 3)


def _ellipsoid(axes: tuple[float, float, float]) -> Callable[[FloatArray, FloatArray], FloatArray]:
    def place(u: FloatArray, v: FloatArray) -> FloatArray:
        latitude = np.pi * (1e-4 + (1.0 - 2e-4) * v)  # the poles are pinholes, far below any spacing
        longitude = 2.0 * np.pi * u
        unit = [np.sin(latitude) * np.cos(longitude), np.sin(latitude) * np.sin(longitude), np.cos(latitude)]
        return np.stack([a * x for a, x in zip(axes, unit, strict=True)], axis=1)

    return place


def _knot(u: FloatArray, v: FloatArray) -> FloatArray:
    """A tube of radius 0.3 around the (2, 3) torus knot."""
    t, angle = 2.0 * np.pi * u, 2.0 * np.pi * v

    def curve(t: FloatArray) -> FloatArray:
        return np.stack(
            [(2 + np.cos(3 * t)) * np.cos(2 * t), (2 + np.cos(3 * t)) * np.sin(2 * t), np.sin(3 * t)], axis=1
        )

    along = curve(t + 1e-6) - curve(t - 1e-6)
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    outwards = np.stack([np.cos(3 * t) * np.cos(2 * t), np.cos(3 * t) * np.sin(2 * t), np.sin(3 * t)], axis=1)
    first = outwards - (outwards * along).sum(axis=1, keepdims=True) * along
    first /= np.linalg.norm(first, axis=1, keepdims=True)
    second = np.cross(along, first)
    return curve(t) + 0.3 * (np.cos(angle)[:, None] * first + np.sin(angle)[:, None] * second)


def _moebius(u: FloatArray, v: FloatArray) -> FloatArray:
    t, w = 2.0 * np.pi * u, 0.8 * (v - 0.5)
    return np.stack(
        [(1 + w * np.cos(t / 2)) * np.cos(t), (1 + w * np.cos(t / 2)) * np.sin(t), w * np.sin(t / 2)], axis=1
    )


def _klein(u: FloatArray, v: FloatArray) -> FloatArray:
    """The Klein bottle in four dimensions, where it does not meet itself."""
    s, t = 2.0 * np.pi * u, 2.0 * np.pi * v
    ring = 2.0 + np.cos(t)
    return np.stack([ring * np.cos(s), ring * np.sin(s), np.sin(t) * np.cos(s / 2), np.sin(t) * np.sin(s / 2)], axis=1)


def _bowl(inner: float) -> Callable[[FloatArray, FloatArray], FloatArray]:
    def place(u: FloatArray, v: FloatArray) -> FloatArray:
        r, t = inner + (1.0 - inner) * v, 2.0 * np.pi * u
        return np.stack([r * np.cos(t), r * np.sin(t), 0.3 * r**2 * np.cos(2 * t)], axis=1)

    return place


def _beside(centre: tuple[float, float, float], radius: float) -> Callable[[FloatArray], BoolArray]:
    return lambda x: np.linalg.norm(x - np.array(centre), axis=1) > radius


def _pants(x: FloatArray) -> BoolArray:
    holes = [_beside((0, 0, 1.2), 0.55), _beside((0.45, 0, -0.95), 0.4), _beside((-0.45, 0, -0.95), 0.4)]
    return np.logical_and.reduce([hole(x) for hole in holes])


def _vest(x: FloatArray) -> BoolArray:
    """Neck and hem cut off, open in front, two holes for the arms."""
    body = (x[:, 2] < 1.05) & (x[:, 2] > -1.05)
    front = (np.abs(x[:, 0]) > 0.12) | (x[:, 1] < 0.0)
    arms = ((np.abs(x[:, 0]) - 0.95) ** 2 + x[:, 1] ** 2 + (x[:, 2] - 0.35) ** 2) > 0.35**2
    return body & front & arms


@cache
def surface(name: str) -> Surface:
    """A surface by its name; see NAMES."""
    two_sided = True
    if name == "sphere":
        shape, invariants, betti = grid(_ellipsoid((1, 1, 1)), (240, 120), closed=(True, False)), (2, 0), (1, 0, 1)
    elif name == "torus":

        def torus(u: FloatArray, v: FloatArray) -> FloatArray:
            s, t = 2 * np.pi * u, 2 * np.pi * v
            ring = 1 + 0.4 * np.cos(t)
            return np.stack([ring * np.cos(s), ring * np.sin(s), 0.4 * np.sin(t)], axis=1)

        shape, invariants, betti = grid(torus, (240, 120), closed=(True, True)), (0, 0), (1, 2, 1)
    elif name == "knotted torus":
        shape, invariants, betti = grid(_knot, (900, 48), closed=(True, True)), (0, 0), (1, 2, 1)
    elif name == "ellipsoid vest":
        place = _ellipsoid((1.0, 0.6, 1.4))
        shape = grid(place, (600, 300), closed=(True, False), keep=_vest)
        invariants, betti = (-1, 3), (1, 2, 0)
    elif name == "disk":
        shape, invariants, betti = grid(_bowl(1e-4), (240, 80), closed=(True, False)), (1, 1), (1, 0, 0)
    elif name == "annulus":
        shape, invariants, betti = grid(_bowl(0.4), (240, 60), closed=(True, False)), (0, 2), (1, 1, 0)
    elif name == "Moebius strip":
        shape, invariants, betti, two_sided = grid(_moebius, (360, 40)), (0, 1), (1, 1, 0), False
    elif name == "Klein bottle":
        shape, invariants, betti, two_sided = grid(_klein, (240, 120)), (0, 0), (1, 1, 0), False
    elif name == "pair of pants":
        shape = grid(_ellipsoid((1, 0.8, 1.2)), (400, 200), closed=(True, False), keep=_pants)
        invariants, betti = (-1, 3), (1, 2, 0)
    elif name == "tank top":
        mesh = meshes.tank_top(triangles=4000)
        shape, invariants, betti = (mesh.vertices, mesh.triangles), (-2, 4), (1, 3, 0)
    else:
        raise UnknownNameError(f"surface {name!r} is unknown; choose one of {', '.join(NAMES)}")
    return Surface(name, shape[0], shape[1], (1, *invariants, two_sided), betti)


NAMES = (
    "sphere", "torus", "knotted torus", "ellipsoid vest", "disk", "annulus", "Moebius strip", "Klein bottle",
    "pair of pants", "tank top",
)  # fmt: skip


def of_mesh(name: str, vertices: FloatArray, triangles: IntArray, invariants: tuple[int, int]) -> Surface:
    """A cloth as it lies or hangs: two-sided, one piece, with (Euler characteristic, boundary curves)."""
    return Surface(name, vertices, triangles, (1, *invariants, True), (1, 1 - invariants[0], 0))


def turned(points: FloatArray, seed: int) -> FloatArray:
    """Points (n, 3) after a random rotation."""
    return points @ Rotation.random(random_state=np.random.default_rng(seed)).as_matrix().T
