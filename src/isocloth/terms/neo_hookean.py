"""Neo-Hookean membrane of a Koiter shell: as stiff as St. Venant-Kirchhoff for small strains, and never without area.

    E = sum_f (h / 4) sqrt(det Abar) ( G (tr(Abar^-1 A) - 2 - 2 ln J) + lambda (ln J)^2 ),    J^2 = det A / det Abar

with lambda = E nu / (1 - nu^2) and G = E / (2 (1 + nu)). A triangle that is pressed flat costs more and more; in the
other membrane it costs a finite energy, and the stress of compression falls again beyond a strain of 42 %.

Derivatives in A, with X = A^-1: psi_A = c (G (Abar^-1 - X) + lambda ln J X) and
psi_AA = c ((G - lambda ln J) X . X + lambda X (x) X / 2). For Newton's method G - lambda ln J counts as not negative.
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
class NeoHookeanMembrane(MetricTerm):
    """The term; parameters "young" (Pa), "poisson" and "thickness" (m). Made by `NeoHookeanMembrane.of`."""

    name: ClassVar[str] = "neo-hookean"

    @classmethod
    def of(cls, rest: RestShape, young: float, poisson: float, thickness: float) -> NeoHookeanMembrane:
        """A membrane on all faces of a rest shape."""
        return cls(rest, {"young": young, "poisson": poisson, "thickness": thickness})

    def stress(self, metric: FloatArray, rest: Any, parameters: Mapping[str, Any]) -> Any:
        """psi_A = c (G (Abar^-1 - A^-1) + lambda ln J A^-1)."""
        dilation, shear = _moduli(parameters)
        det, det_rest = (m[:, 0] * m[:, 2] - m[:, 1] ** 2 for m in (metric, rest))
        scale = 0.25 * np.sqrt(det_rest)
        log = 0.5 * np.log(det / det_rest)
        now, then = (np.stack([m[:, 2], -2.0 * m[:, 1], m[:, 0]], axis=1) / d[:, None] for m, d in
                     ((metric, det), (rest, det_rest)))  # fmt: skip
        return scale[:, None] * (shear * (then - now) + (dilation * log)[:, None] * now)

    def density(self, metric: FloatArray, out: FloatArray) -> None:
        """Write psi of every face, (f,) J, at metrics A (f, 3)."""
        _energies(*self._real_moduli, self.rest.metric, metric, out)

    def first(self, metric: FloatArray, out: FloatArray) -> None:
        """Write psi_A, (f, 3)."""
        _stresses(*self._real_moduli, self.rest.metric, metric, out)

    def second(self, metric: FloatArray, out: FloatArray, psd: bool) -> None:
        """Write psi_AA, (f, 3, 3); with `psd` without what is negative."""
        _moduli_of_faces(*self._real_moduli, self.rest.metric, metric, psd, out)

    @property
    def _real_moduli(self) -> tuple[float, float]:
        dilation, shear = _moduli(self.parameters)
        return float(dilation), float(shear)


def _moduli(parameters: Mapping[str, Any]) -> tuple[Any, Any]:
    """lambda and G times thickness, N/m."""
    stiffness, poisson = parameters["young"] * parameters["thickness"], parameters["poisson"]
    return stiffness * poisson / (1.0 - poisson * poisson), stiffness / (2.0 * (1.0 + poisson))


@kernel
def _energies(dilation: float, shear: float, rest: FloatArray, metric: FloatArray, out: FloatArray) -> None:
    for f in range(len(rest)):
        det_rest = rest[f, 0] * rest[f, 2] - rest[f, 1] ** 2
        # from differences, so that small strains keep their digits: with M = Abar^-1 (A - Abar), J^2 = 1 + tr M + det M
        a, b, c = metric[f, 0] - rest[f, 0], metric[f, 1] - rest[f, 1], metric[f, 2] - rest[f, 2]
        trace = (rest[f, 2] * a - 2.0 * rest[f, 1] * b + rest[f, 0] * c) / det_rest
        change = trace + (a * c - b * b) / det_rest
        if not change > -1.0:
            out[f] = np.inf  # pressed flat
            continue
        log = 0.5 * np.log1p(change)
        out[f] = 0.25 * np.sqrt(det_rest) * (shear * (trace - 2.0 * log) + dilation * log * log)


@kernel
def _stresses(dilation: float, shear: float, rest: FloatArray, metric: FloatArray, out: FloatArray) -> None:
    for f in range(len(rest)):
        det_rest = rest[f, 0] * rest[f, 2] - rest[f, 1] ** 2
        # a triangle without area has an infinite energy, which no solver accepts; its stress only must not be NaN
        det = max(metric[f, 0] * metric[f, 2] - metric[f, 1] ** 2, 1e-12 * det_rest)
        log = 0.5 * np.log(det / det_rest)
        scale = 0.25 * np.sqrt(det_rest)
        then, now = scale * shear / det_rest, scale * (dilation * log - shear) / det
        out[f, 0] = then * rest[f, 2] + now * metric[f, 2]
        out[f, 1] = -2.0 * (then * rest[f, 1] + now * metric[f, 1])
        out[f, 2] = then * rest[f, 0] + now * metric[f, 0]


@kernel
def _moduli_of_faces(
    dilation: float, shear: float, rest: FloatArray, metric: FloatArray, psd: bool, out: FloatArray
) -> None:
    """psi_AA (f, 3, 3)."""
    for f in range(len(rest)):
        det_rest = rest[f, 0] * rest[f, 2] - rest[f, 1] ** 2
        det = max(metric[f, 0] * metric[f, 2] - metric[f, 1] ** 2, 1e-12 * det_rest)
        log = 0.5 * np.log(det / det_rest)
        scale = 0.25 * np.sqrt(det_rest)
        a, b, c = metric[f, 2] / det, -metric[f, 1] / det, metric[f, 0] / det  # of X
        stiff = shear - dilation * log
        if psd:
            stiff = max(stiff, 0.0)
        stiff *= scale
        joint = 0.5 * scale * dilation
        if psd:
            joint = max(joint, 0.0)
        out[f, 0, 0] = (stiff + joint) * a * a
        out[f, 0, 1] = out[f, 1, 0] = 2.0 * (stiff + joint) * a * b
        out[f, 0, 2] = out[f, 2, 0] = stiff * b * b + joint * a * c
        out[f, 1, 1] = 2.0 * stiff * (b * b + a * c) + 4.0 * joint * b * b
        out[f, 1, 2] = out[f, 2, 1] = 2.0 * (stiff + joint) * b * c
        out[f, 2, 2] = (stiff + joint) * c * c
