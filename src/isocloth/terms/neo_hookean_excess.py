"""What a neo-Hookean membrane costs beyond St. Venant-Kirchhoff's of the same material.

The difference is of third order in the strain. A simulation takes St. Venant-Kirchhoff's energy as rows, whose
multipliers make Newton's method indifferent to its stiffness, and this one as a term over stencils: the sum is the
neo-Hookean energy itself, to rounding, in a third of the linear systems that the whole as a term takes.

For Newton's method its psi_AA counts without its negative eigenvalues, in an orthonormal frame at rest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from isocloth.base.compiled import kernel
from isocloth.base.typing import FloatArray
from isocloth.terms.face_metric import MetricTerm
from isocloth.terms.neo_hookean import NeoHookeanMembrane
from isocloth.terms.quadratic_membrane import first_sides, green_strain
from isocloth.terms.rest_shape import RestShape
from isocloth.terms.stvk import StVKMembrane

#: rotations of Jacobi's method, three a sweep: four sweeps leave rounding of a 3 x 3 matrix
SWEEPS = 4


@dataclass(frozen=True, eq=False)
class NeoHookeanExcess(MetricTerm):
    """The term; parameters "young" (Pa), "poisson" and "thickness" (m). Made by `NeoHookeanExcess.of`."""

    whole: NeoHookeanMembrane
    taken: StVKMembrane
    to_strain: FloatArray = field(init=False)  # (f, 3, 3) takes changes of A to e11, e22, sqrt(2) e12 ...
    from_strain: FloatArray = field(init=False)  # (f, 3, 3) ... and back
    name: ClassVar[str] = "neo-hookean excess"

    def __post_init__(self) -> None:
        strain = green_strain(self.rest.metric, first_sides(len(self.rest.corners)))
        strain[:, 2] *= np.sqrt(2.0)
        object.__setattr__(self, "to_strain", np.ascontiguousarray(strain))
        object.__setattr__(self, "from_strain", np.ascontiguousarray(np.linalg.inv(strain)))

    @classmethod
    def of(cls, rest: RestShape, young: float, poisson: float, thickness: float) -> NeoHookeanExcess:
        """On all faces of a rest shape."""
        whole = NeoHookeanMembrane.of(rest, young, poisson, thickness)
        return cls(rest, whole.parameters, whole, StVKMembrane.of(rest, young, poisson, thickness))

    def stress(self, metric: FloatArray, rest: Any, parameters: Mapping[str, Any]) -> Any:
        """The difference of both."""
        return self.whole.stress(metric, rest, parameters) - self.taken.stress(metric, rest, parameters)

    def density(self, metric: FloatArray, out: FloatArray) -> None:
        """The difference of both."""
        other = np.empty_like(out)
        self.whole.density(metric, out)
        self.taken.density(metric, other)
        out -= other

    def first(self, metric: FloatArray, out: FloatArray) -> None:
        """The difference of both."""
        other = np.empty_like(out)
        self.whole.first(metric, out)
        self.taken.first(metric, other)
        out -= other

    def second(self, metric: FloatArray, out: FloatArray, psd: bool) -> None:
        """The difference of both, or what of it is not negative."""
        self.whole.second(metric, out, False)
        out -= self.taken.form
        if psd:
            _clamp(self.to_strain, self.from_strain, out)


@kernel
def _clamp(strain: FloatArray, back: FloatArray, out: FloatArray) -> None:
    """Matrices (f, 3, 3) over A without their negative eigenvalues over e11, e22, sqrt(2) e12."""
    k, v, half = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
    for f in range(len(out)):
        half[:] = 0.0
        k[:] = 0.0
        for i in range(3):
            for j in range(3):
                for a in range(3):
                    half[i, j] += out[f, i, a] * back[f, a, j]
        for i in range(3):
            for j in range(3):
                for a in range(3):
                    k[i, j] += back[f, a, i] * half[a, j]
        v[:] = 0.0
        v[0, 0] = v[1, 1] = v[2, 2] = 1.0
        for _ in range(SWEEPS):
            for p, q in ((0, 1), (0, 2), (1, 2)):
                if k[p, q] == 0.0:
                    continue
                ratio = (k[q, q] - k[p, p]) / (2.0 * k[p, q])
                t = (1.0 if ratio >= 0.0 else -1.0) / (abs(ratio) + np.sqrt(ratio * ratio + 1.0))
                c = 1.0 / np.sqrt(t * t + 1.0)
                s = t * c
                for a in range(3):
                    one, two = k[a, p], k[a, q]
                    k[a, p], k[a, q] = c * one - s * two, s * one + c * two
                for a in range(3):
                    one, two = k[p, a], k[q, a]
                    k[p, a], k[q, a] = c * one - s * two, s * one + c * two
                    one, two = v[a, p], v[a, q]
                    v[a, p], v[a, q] = c * one - s * two, s * one + c * two
        # lines of half: eigenvectors over A
        for i in range(3):
            for j in range(3):
                half[i, j] = v[0, i] * strain[f, 0, j] + v[1, i] * strain[f, 1, j] + v[2, i] * strain[f, 2, j]
        for i in range(3):
            for j in range(3):
                total = 0.0
                for a in range(3):
                    total += max(k[a, a], 0.0) * half[a, i] * half[a, j]
                out[f, i, j] = total
