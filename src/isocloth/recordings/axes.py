"""Which axis of a file points up, and turning positions so that z does."""

from __future__ import annotations

import numpy as np

from isocloth.base.errors import RecordingError
from isocloth.base.typing import FloatArray
from isocloth.meshes.units import check_axis

COLUMN = {"x": 0, "y": 1, "z": 2}
#: two candidates are told apart by extent alone if one is this many times longer than the other
CLEAR = 1.5


def turned(points: FloatArray, up: str) -> FloatArray:
    """(..., 3) with z up."""
    return points @ check_axis(up).T


def infer_up(points: FloatArray, held: list[int] | None = None) -> str:
    """The axis along which a hanging cloth lies below what holds it: "y" or "z", from positions (T, k, 3).

    With known held markers it is the axis along which they lie highest above the free ones. Without, it is the one
    along which the sheet is extended; if it is extended along both, the one at whose top the distance between the
    outermost markers changes least, because there the cloth is held.
    """
    seen = np.isfinite(points[:, :, 0])
    if held:
        free = [j for j in range(points.shape[1]) if j not in held]
        rise = {}
        for axis in ("y", "z"):
            c = COLUMN[axis]
            rise[axis] = float(np.nanmedian(np.nanmean(points[:, held, c], 1) - np.nanmean(points[:, free, c], 1)))
        best = max(rise, key=lambda a: rise[a])
        if rise[best] <= 0.1 * float(np.linalg.norm(np.ptp(np.nanmedian(points, axis=0), axis=0))):
            raise RecordingError(
                "the held markers do not lie above the free ones along y or z; say which axis of the file points up, "
                "e.g. up='y', or which markers are held"
            )
        return best
    frame = points[int(np.argmax(seen.sum(axis=1)))]
    frame = frame[np.isfinite(frame[:, 0])]
    extent = {axis: float(np.ptp(frame[:, COLUMN[axis]])) for axis in ("y", "z")}
    best = max(extent, key=lambda a: extent[a])
    other = "z" if best == "y" else "y"
    if extent[best] >= CLEAR * extent[other]:
        return best
    return min(("y", "z"), key=lambda a: _play_of_top(points, a))


def _play_of_top(points: FloatArray, axis: str) -> float:
    """How much the distance between the outermost of the highest markers changes, relative to itself."""
    c = COLUMN[axis]
    level = np.nanmedian(points[:, :, c], axis=0)
    top = np.flatnonzero(level > level.max() - 0.12 * np.ptp(level))
    if len(top) < 2:
        return np.inf
    middle = np.nanmedian(points[:, top], axis=0)
    apart = np.linalg.norm(middle[:, None] - middle[None], axis=2)
    a, b = np.unravel_index(int(np.argmax(apart)), apart.shape)
    distance = np.linalg.norm(points[:, top[a]] - points[:, top[b]], axis=1)
    return float(np.nanstd(distance) / np.nanmean(distance))
