"""Membranes whose energy is quadratic in Green's strain: what St. Venant-Kirchhoff and orthotropic sheets share.

In a frame of two material directions p, q that are orthonormal at rest, written in the basis d1, d2 of a face
(p^T Abar p = q^T Abar q = 1, p^T Abar q = 0), Green's strain is

    e11 = p^T (A - Abar) p / 2,    e22 = q^T (A - Abar) q / 2,    e12 = p^T (A - Abar) q / 2

and the energy per area is e^T H e / 2 with a constant matrix H (3, 3) in N/m over e = (e11, e22, e12). So every face
has

    E = (A - Abar)^T Q (A - Abar) / 2,    Q = area G^T H G,    e = G (A - Abar).

Directions are carried by the material: p keeps its components in d1, d2 up to its length when X changes.

The same form with the second fundamental form B in place of A is the energy of bending (`terms/koiter_bending.py`).

As A is quadratic in the positions, these energies are also rows (`terms/rows.py`): with H = L diag(w) L^T the three
C = 2 L^T G (A - Abar) of a face have the weights area w / 4. Simulations use them so: the multipliers of rows make
Newton's method indifferent to how stiff a membrane is. `QuadraticMembrane` is the same energy as a term, for statics,
adjoints and inverse problems.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from isocloth.base.compiled import kernel
from isocloth.base.typing import FloatArray
from isocloth.terms.face_metric import MetricTerm, along_imaginary
from isocloth.terms.rest_shape import metric_jacobian
from isocloth.terms.rows import Rows, pack

#: T of a, b and c over the nodes of a face
_METRIC_ROWS = np.array([
    [[1.0, -1.0, 0.0], [-1.0, 1.0, 0.0], [0.0, 0.0, 0.0]],
    [[1.0, -0.5, -0.5], [-0.5, 0.0, 0.5], [-0.5, 0.5, 0.0]],
    [[1.0, 0.0, -1.0], [0.0, 0.0, 0.0], [-1.0, 0.0, 1.0]],
])  # fmt: skip


@dataclass(frozen=True, eq=False)
class QuadraticMembrane(MetricTerm):
    """E = (A - Abar)^T Q (A - Abar) / 2 of every face; its law H is a subclass's."""

    direction: FloatArray  # (f, 2) the first material direction, in the basis d1, d2 of a face
    form: FloatArray = field(init=False)  # Q (f, 3, 3) J/m^4

    def __post_init__(self) -> None:
        form = quadratic_form(self.rest.metric, self.law(self.parameters), self.direction)
        object.__setattr__(self, "form", form)

    def law(self, parameters: Mapping[str, Any]) -> Any:
        """H (3, 3) N/m over e11, e22, e12, an analytic function of the parameters."""
        raise NotImplementedError

    def stress(self, metric: FloatArray, rest: Any, parameters: Mapping[str, Any]) -> Any:
        """psi_A = Q (A - Abar)."""
        form = quadratic_form(rest, self.law(parameters), self.direction)
        return np.einsum("fab,fb->fa", form, metric - rest)

    def direction_product(self, x: FloatArray, way: FloatArray) -> FloatArray:
        """v . dG/dp (f, 2) J in the material directions, for the gradient G at x (n, 3) and a displacement v (n, 3)."""
        strain = self.metric(x) - self.rest.metric
        change = np.einsum("fai,fi->fa", metric_jacobian(x[self.stencils]), way[self.stencils].reshape(-1, 9))
        law = self.law(self.parameters)
        slope = along_imaginary(
            lambda p: np.einsum("fab,fb->fa", quadratic_form(self.rest.metric, law, p), strain), self.direction
        )
        return np.einsum("fa,fak->fk", change, slope)

    def rows(self) -> Rows:
        """The same energy as rows."""
        law = np.asarray(self.law(self.parameters), dtype=np.float64)
        lower, weight = _split(law)
        strain = green_strain(self.rest.metric, self.direction)  # G
        factor = 2.0 * np.einsum("ki,fka->fia", lower, strain).reshape(-1, 3)  # (3 f, 3), one line per row
        count, faces = len(factor), np.repeat(self.stencils, 3, axis=0)
        t = np.einsum("ra,aij->rij", factor, _METRIC_ROWS)
        row = np.broadcast_to(np.arange(count)[:, None, None], t.shape)
        i = np.broadcast_to(faces[:, :, None], t.shape)
        j = np.broadcast_to(faces[:, None, :], t.shape)
        rows = pack(row.ravel(), i.ravel(), j.ravel(), t.ravel(), self.rest.mesh.vertices, count)
        target = np.sum(factor * np.repeat(self.rest.metric, 3, axis=0), axis=1)
        energy = np.repeat(self.rest.areas, 3) * np.tile(weight, len(self.stencils)) / 4.0
        return replace(rows, rest=target, weight=energy)

    def density(self, metric: FloatArray, out: FloatArray) -> None:
        """Write psi of every face, (f,) J, at metrics A (f, 3)."""
        _energies(self.form, self.rest.metric, metric, out)

    def first(self, metric: FloatArray, out: FloatArray) -> None:
        """Write psi_A, (f, 3)."""
        _stresses(self.form, self.rest.metric, metric, out)

    def second(self, metric: FloatArray, out: FloatArray, psd: bool) -> None:
        """Write psi_AA, (f, 3, 3); with `psd` without what is negative."""
        out[:] = self.form


def green_strain(rest: Any, direction: FloatArray) -> Any:
    """G (f, 3, 3) 1/m^2 that takes A - Abar to e11, e22, e12 in the frame of a direction (f, 2); analytic in Abar."""
    a, b, c = rest[:, 0], rest[:, 1], rest[:, 2]
    p1, p2 = direction[:, 0], direction[:, 1]
    length = np.sqrt(a * p1 * p1 + 2.0 * b * p1 * p2 + c * p2 * p2)
    p1, p2 = p1 / length, p2 / length
    root = np.sqrt(a * c - b * b)
    q1, q2 = -(b * p1 + c * p2) / root, (a * p1 + b * p2) / root
    lines = [
        (p1 * p1, 2.0 * p1 * p2, p2 * p2),
        (q1 * q1, 2.0 * q1 * q2, q2 * q2),
        (p1 * q1, p1 * q2 + p2 * q1, p2 * q2),
    ]
    return 0.5 * np.stack([np.stack(line, axis=1) for line in lines], axis=1)


def quadratic_form(rest: Any, law: Any, direction: FloatArray) -> Any:
    """Q = area G^T H G (f, 3, 3), analytic in Abar (f, 3) and in H (3, 3)."""
    strain = green_strain(rest, direction)
    area = 0.5 * np.sqrt(rest[:, 0] * rest[:, 2] - rest[:, 1] ** 2)
    return np.einsum("f,fka,kl,flb->fab", area, strain, law, strain)


def isotropic_law(young: Any, poisson: Any) -> Any:
    """H (3, 3) of plane stress over e11, e22, e12, in the unit of `young`."""
    one = young / (1.0 - poisson * poisson)
    none = 0.0 * one
    return np.stack([
        np.stack([one, poisson * one, none]),
        np.stack([poisson * one, one, none]),
        np.stack([none, none, 2.0 * (1.0 - poisson) * one]),
    ])  # fmt: skip


def first_sides(faces: int) -> FloatArray:
    """(f, 2) directions along d1, for laws that know none."""
    return np.tile([1.0, 0.0], (faces, 1))


def _split(law: FloatArray) -> tuple[FloatArray, FloatArray]:
    """H = L diag(w) L^T with ones on the diagonal of L."""
    cholesky = np.linalg.cholesky(law)
    diagonal = np.diag(cholesky)
    return cholesky / diagonal, diagonal**2


@kernel
def _energies(form: FloatArray, rest: FloatArray, metric: FloatArray, out: FloatArray) -> None:
    for f in range(len(form)):
        a, b, c = metric[f, 0] - rest[f, 0], metric[f, 1] - rest[f, 1], metric[f, 2] - rest[f, 2]
        q = form[f]
        total = a * (q[0, 0] * a + 2.0 * (q[0, 1] * b + q[0, 2] * c))
        out[f] = 0.5 * (total + b * (q[1, 1] * b + 2.0 * q[1, 2] * c) + q[2, 2] * c * c)


@kernel
def _stresses(form: FloatArray, rest: FloatArray, metric: FloatArray, out: FloatArray) -> None:
    for f in range(len(form)):
        a, b, c = metric[f, 0] - rest[f, 0], metric[f, 1] - rest[f, 1], metric[f, 2] - rest[f, 2]
        for k in range(3):
            out[f, k] = form[f, k, 0] * a + form[f, k, 1] * b + form[f, k, 2] * c
