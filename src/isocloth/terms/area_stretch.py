"""Change of area of every face, the third energy of discrete shells (Grinspun et al., Discrete shells, 2003).

    E_a = (k_a / 2) sum_f (A_f - Abar_f)^2 / Abar_f

with k_a in N/m. It knows areas only: a face sheared at constant area costs nothing. For Newton's method
it gives the square of the areas' derivative and, where a face is too large, the tension that goes with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from isocloth.base.compiled import kernel
from isocloth.base.typing import FloatArray
from isocloth.terms.face_metric import MetricTerm
from isocloth.terms.rest_shape import RestShape


@dataclass(frozen=True, eq=False)
class AreaStretch(MetricTerm):
    """The term; its parameter is "area", k_a in N/m. Made by `AreaStretch.of`."""

    name: ClassVar[str] = "area"

    @classmethod
    def of(cls, rest: RestShape, area: float) -> AreaStretch:
        """All faces of a rest shape."""
        return cls(rest, {"area": area})

    def stress(self, metric: FloatArray, rest: Any, parameters: Mapping[str, Any]) -> Any:
        """psi_A = k_a (A / Abar - 1) dA/da."""
        now, then = (0.5 * np.sqrt(m[:, 0] * m[:, 2] - m[:, 1] ** 2) for m in (metric, rest))
        slope = np.stack([metric[:, 2], -2.0 * metric[:, 1], metric[:, 0]], axis=1) / (8.0 * now)[:, None]
        return (parameters["area"] * (now / then - 1.0))[:, None] * slope

    def density(self, metric: FloatArray, out: FloatArray) -> None:
        """Write psi of every face, (f,) J, at metrics A (f, 3)."""
        now, then = (0.5 * np.sqrt(_determinant(m)) for m in (metric, self.rest.metric))
        out[:] = 0.5 * self.parameters["area"] * (now - then) ** 2 / then

    def first(self, metric: FloatArray, out: FloatArray) -> None:
        """Write psi_A, (f, 3)."""
        _stresses(self.parameters["area"], self.rest.metric, metric, out)

    def second(self, metric: FloatArray, out: FloatArray, psd: bool) -> None:
        """Write psi_AA, (f, 3, 3); with `psd` without what is negative."""
        _moduli(self.parameters["area"], self.rest.metric, metric, psd, out)


def _determinant(metric: FloatArray) -> FloatArray:
    found: FloatArray = np.maximum(metric[:, 0] * metric[:, 2] - metric[:, 1] ** 2, 0.0)
    return found


@kernel
def _stresses(stiffness: float, rest: FloatArray, metric: FloatArray, out: FloatArray) -> None:
    for f in range(len(rest)):
        det_rest = rest[f, 0] * rest[f, 2] - rest[f, 1] ** 2
        # the derivative of an area has no direction where the area vanishes
        det = max(metric[f, 0] * metric[f, 2] - metric[f, 1] ** 2, 1e-12 * det_rest)
        factor = stiffness * (np.sqrt(det / det_rest) - 1.0) / (4.0 * np.sqrt(det))
        out[f, 0], out[f, 1], out[f, 2] = factor * metric[f, 2], -2.0 * factor * metric[f, 1], factor * metric[f, 0]


@kernel
def _moduli(stiffness: float, rest: FloatArray, metric: FloatArray, psd: bool, out: FloatArray) -> None:
    """psi_AA (f, 3, 3): with X = A^-1, t = (X11, 2 X12, X22) and the area s, (k / sbar) (s t / 2)^2 + f Hess s."""
    for f in range(len(rest)):
        det_rest = rest[f, 0] * rest[f, 2] - rest[f, 1] ** 2
        det = max(metric[f, 0] * metric[f, 2] - metric[f, 1] ** 2, 1e-12 * det_rest)
        now, then = 0.5 * np.sqrt(det), 0.5 * np.sqrt(det_rest)
        a, b, c = metric[f, 2] / det, -metric[f, 1] / det, metric[f, 0] / det
        force = 0.0 if psd else stiffness * (now / then - 1.0)
        square = stiffness / then * 0.25 * now * now + 0.25 * force * now
        other = -0.5 * force * now
        out[f, 0, 0] = (square + other) * a * a
        out[f, 0, 1] = out[f, 1, 0] = 2.0 * (square + other) * a * b
        out[f, 0, 2] = out[f, 2, 0] = square * a * c + other * b * b
        out[f, 1, 1] = 4.0 * square * b * b + 2.0 * other * (b * b + a * c)
        out[f, 1, 2] = out[f, 2, 1] = 2.0 * (square + other) * b * c
        out[f, 2, 2] = (square + other) * c * c
