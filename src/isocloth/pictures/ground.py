"""The backdrop: a light ground with a grid of known spacing, fading out around the cloth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from isocloth.base.typing import FloatArray
from isocloth.pictures.camera import Camera
from isocloth.pictures.colour import to_linear
from isocloth.pictures.light import Light

PAPER = np.array([0.972, 0.976, 0.982])  # sRGB
LINE = np.array([0.82, 0.84, 0.87])


@dataclass(frozen=True)
class Ground:
    """colours: (height, width, 3) float32 linear. shadow_at: (height, width, 3) float32, the column and row
    of the soft shadow seen at each pixel, and how much of it shows (0 where there is no ground)."""

    colours: np.ndarray
    shadow_at: np.ndarray


def grid_spacing(size: float) -> float:
    """A spacing of 1, 2 or 5 times a power of ten that divides `size` (m) into about five to ten."""
    power = 10.0 ** np.floor(np.log10(size / 5.0))
    return float(max(step * power for step in (1.0, 2.0, 5.0) if step * power <= size / 5.0 * 1.0001))


def ground(camera: Camera, light: Light, *, height: float, centre: FloatArray, size: float) -> Ground:
    """The ground at z = `height` seen by the camera, around `centre` (3,) of a scene of `size`; metres."""
    rows, columns = np.mgrid[: camera.height, : camera.width] + 0.5
    rays = (
        camera.ahead
        + ((columns - 0.5 * camera.width) / camera.focal)[..., None] * camera.right
        + ((rows - 0.5 * camera.height) / camera.focal)[..., None] * camera.down
    )
    falls = rays[..., 2] < -1e-6
    reach = np.where(falls, (height - camera.eye[2]) / np.where(falls, rays[..., 2], -1.0), 0.0)
    falls &= reach > 0.0
    points = camera.eye + reach[..., None] * rays
    away = np.hypot(points[..., 0] - centre[0], points[..., 1] - centre[1]) / (1.5 * size)
    shows = np.where(falls, np.clip(1.0 - away**2, 0.0, 1.0) ** 2, 0.0)
    # Lines that end at the frame would draw it; they end a little before, softly.
    for place, extent in ((rows, camera.height), (columns, camera.width)):
        shows = shows * np.clip(np.minimum(place, extent - place) / (0.1 * extent), 0.0, 1.0)

    spacing = grid_spacing(size)
    line = np.zeros(falls.shape)
    for axis in (0, 1):
        place = points[..., axis] / spacing
        steps = np.hypot(*np.gradient(place)) if min(place.shape) > 1 else np.ones_like(place)
        distance = np.abs(place - np.round(place)) / np.maximum(steps, 1e-12)  # in pixels
        # Lines closer together than some pixels would shimmer.
        fades = np.clip((0.5 / np.maximum(steps, 1e-12) - 2.0) / 6.0, 0.0, 1.0)
        line = np.maximum(line, np.clip(1.1 - distance, 0.0, 1.0) * fades)
    mix = (line * shows)[..., None]
    colours = to_linear((1.0 - mix) * PAPER + mix * LINE)

    shadow_at = light.project(points)
    shadow_at[..., :2] = shadow_at[..., :2] / 4.0 - 0.5  # the soft shadow is four times coarser than the map
    shadow_at[..., 2] = 0.42 * shows
    return Ground(colours.astype(np.float32), np.ascontiguousarray(shadow_at, dtype=np.float32))
