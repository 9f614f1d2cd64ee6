"""Any surface that is the zero set of a function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike

from isocloth.base.errors import InputError, InputTypeError
from isocloth.base.typing import FloatArray
from isocloth.obstacles import shapes
from isocloth.obstacles.arguments import array, fixed
from isocloth.obstacles.obstacle import Options, Solid, Surface

Function = Callable[[FloatArray], Any]

#: four points, so that a function of a single point (3,) does not pass for one of many
_PROBE = np.array([[0.11, 0.07, 0.05], [-0.13, 0.02, 0.17], [0.03, -0.19, 0.23], [0.29, 0.31, -0.37]])


class Implicit(Solid):
    """All points with h(X) < 0; the gap is h / |grad h|, which is the distance near the surface.

    h, gradient: functions of points (m, 3) in m in the obstacle's own frame that return (m,) and (m, 3), h > 0
    outside. centre: (3,) m, where the origin of that frame is at time 0; by default where the path starts, or the
    origin. extent: (3, 2) m, the ranges of x, y and z in which the surface is drawn, as seen from above; None does
    not draw it. Options are those of every `Obstacle`.
    """

    def __init__(
        self,
        h: Function,
        gradient: Function,
        *,
        centre: ArrayLike | None = None,
        extent: ArrayLike | None = None,
        **options: Unpack[Options],
    ) -> None:
        for function, name in ((h, "h"), (gradient, "gradient")):
            if not callable(function):
                raise InputTypeError(f"{name} is {type(function).__name__}: expected a function of points (m, 3) in m")
        self.h, self.gradient = h, gradient
        self.extent = None if extent is None else fixed(array(extent, "extent", (3, 2)))
        if self.extent is not None and not (self.extent[:, 1] > self.extent[:, 0]).all():
            raise InputError(f"extent = {self.extent.tolist()} m: expected ranges [least, most] of x, y and z")
        super().__init__(None if centre is None else array(centre, "centre", (3,)), **options)
        _values(h, _PROBE, "h", (len(_PROBE),))
        _values(gradient, _PROBE, "gradient", _PROBE.shape)

    def gaps(self, points: FloatArray, time: float) -> tuple[FloatArray, FloatArray]:
        """h / |grad h| (m,) in m, negative inside, and unit normals (m, 3). Where grad h is zero: h, and upwards."""
        turn, centre = self._motion.pose(time)
        local = (points - centre) @ turn
        value = _finite(_values(self.h, local, "h", (len(local),)), local, "h")
        slope = _finite(_values(self.gradient, local, "gradient", local.shape), local, "gradient")
        steepness = np.sqrt(np.einsum("mi,mi->m", slope, slope))
        flat = steepness == 0.0
        if flat.any():
            slope = np.where(flat[:, None], [0.0, 0.0, 1.0], slope)
            steepness = np.where(flat, 1.0, steepness)
        return value / steepness, np.ascontiguousarray((slope / steepness[:, None]) @ turn.T)

    def _functions(self) -> dict[str, Callable[..., Any]]:
        return {"h": self.h, "gradient": self.gradient, **super()._functions()}

    def _shape(self) -> Surface | None:
        if self.extent is None:
            return None
        return shapes.seen_from_above(lambda p: _values(self.h, p, "h", (len(p),)), self.extent)


def _values(function: Function, points: FloatArray, name: str, shape: tuple[int, ...]) -> FloatArray:
    wanted = "(m,)" if len(shape) == 1 else "(m, 3)"
    try:
        found = np.asarray(function(points), dtype=np.float64)
    except (IndexError, TypeError) as error:
        raise InputError(
            f"{name} cannot be called with points (m, 3) ({error}): expected a vectorised function that returns "
            f"{wanted}; the coordinates are p[:, 0], p[:, 1], p[:, 2]"
        ) from error
    if found.shape != shape:
        raise InputError(
            f"{name} of {shape[0]} points has shape {found.shape}: expected {wanted}, a row per point; the coordinates "
            "are p[:, 0], p[:, 1], p[:, 2]"
        )
    return found


def _finite(values: FloatArray, points: FloatArray, name: str) -> FloatArray:
    if not np.isfinite(values).all():
        bad = int(np.argwhere(~np.isfinite(values))[0][0])
        raise InputError(
            f"{name} at {points[bad].tolist()} m is {values[bad].tolist()}: expected finite numbers wherever the cloth "
            "may be; bound the function there"
        )
    return values
