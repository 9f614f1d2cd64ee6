"""The certificate that every step returns."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from isocloth import measure
from isocloth.base.typing import FloatArray
from isocloth.meshes import Mesh
from isocloth.simulation.wrench import Forces
from isocloth.terms.rest_shape import RestShape


class ConvergenceWarning(UserWarning):
    """A step whose certificate says that it did not converge."""


@dataclass(slots=True)
class Report:
    """How one step went.

    time: s, at the end of the step.
    iterations: linear systems factorised, all substeps together.
    isometry_error: largest relative error of what the discretisation enforces (squared edges and F on quads; nodal E,
        F, G and squared boundary edges on triangles). Of a shell it is twice the largest strain: of an edge, or, in
        a face, of e11 + nu e22, e22 and e12 of Green's strain; a shell stretches, and is not told off for it.
    converged: whether every substep met the solver's test and the cloth was not torn apart by its prescriptions.
    substeps: parts the step was cut into; 1 unless a longer one did not converge.
    strain_gap, force_residual: the solver's own residuals (dimensionless; m/s^2).
    contacts: contacts that carry force.
    min_gap: smallest distance less the one to be kept, m, to obstacles and between layers; infinite without any near.
    friction_residual: largest distance of a contact force from Coulomb's law, relative to the largest contact force; of
        the nonconforming model that of a push, or of a force between jaws relative to what friction bears there.
    fallbacks: convex problems that a solver from a library had to solve, because Newton's method did not in its rounds.
    sweeps: of Gauss-Seidel over all contacts, in the linearisations of the step, with contact="gauss_seidel".
    problem: empty, or what went wrong and what to do.
    forces: body -> `Wrench`, force (3,) N and torque (3,) N m of the cloth on every obstacle, gripper and grasp that
        took part, by identity: the impulse of the whole step over its length, all parts of a cut step included.
    area_error: relative change of the area of the whole cloth, quads taken as paper that is folded along a diagonal;
        edges and nodal averages can be right while it is not. Computed when asked for.
    residuals: the other measures (edge stretch, nodal metric, area errors, ...), computed when asked for.
    """

    time: float
    iterations: int
    isometry_error: float
    converged: bool
    substeps: int
    strain_gap: float
    force_residual: float
    contacts: int = 0
    min_gap: float = math.inf
    friction_residual: float = 0.0
    fallbacks: int = 0
    sweeps: int = 0
    problem: str = ""
    _measured: tuple[Mesh | RestShape, FloatArray] | None = field(default=None, repr=False)  # rest shape and positions
    _forces: Callable[[], Forces] | None = field(default=None, repr=False)
    _residuals: Mapping[str, float] | None = field(default=None, repr=False)
    _area_error: float | None = field(default=None, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        """Without forces: they are known by the very bodies that took part, which would carry the simulation along."""
        return {**{f.name: getattr(self, f.name) for f in fields(self)}, "_forces": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            setattr(self, name, value)

    @property
    def forces(self) -> Forces:
        """Body -> force and torque of the cloth on it in this step."""
        return Forces((), ()) if self._forces is None else self._forces()

    @property
    def area_error(self) -> float:
        """Relative change of the area of the whole cloth."""
        if self._area_error is None:
            self._area_error = _area_error(*self._measured) if self._measured else 0.0
        return self._area_error

    @property
    def residuals(self) -> Mapping[str, float]:
        """Name -> value of every other measure of this step."""
        if self._residuals is None:
            own = {
                "strain_gap": self.strain_gap, "force_residual": self.force_residual, "area_error": self.area_error,
            }  # fmt: skip
            self._residuals = {**own, **(measures(*self._measured) if self._measured else {})}
            self._measured = None
        return self._residuals

    def warn(self) -> None:
        """Say it aloud if the step did not converge."""
        if not self.converged:
            warnings.warn(f"t = {self.time:.4g} s: {self.problem}", ConvergenceWarning, stacklevel=3)


#: what a trajectory keeps of every report
RECORDED = (
    "iterations", "isometry_error", "converged", "substeps", "strain_gap", "force_residual", "contacts", "min_gap",
    "friction_residual", "fallbacks", "area_error",
)  # fmt: skip


def _area_error(rest: Mesh | RestShape, positions: FloatArray) -> float:
    if isinstance(rest, RestShape):
        return measure.corner_measures(rest, positions)["area_total"]
    return abs(measure.area_change(rest, positions))


def measures(rest: Mesh | RestShape, positions: FloatArray) -> dict[str, float]:
    """Errors of lengths, metric and areas at positions (n, 3), by name."""
    if isinstance(rest, RestShape):
        return measure.corner_measures(rest, positions)
    area, edge = measure.area_errors(rest, positions), measure.edge_stretch(rest, positions)
    metric = measure.metric_errors(rest, positions)
    return {
        "edge_stretch": float(edge.max), "edge_stretch_rms": float(edge.rms),
        "metric_E": float(metric.E), "metric_F": float(metric.F), "metric_G": float(metric.G),
        "area_total": float(area.total), "area_mean": float(area.mean), "area_dispersion": float(area.dispersion),
    }  # fmt: skip
