"""What elastic shells share: energies of a rest shape, parameters with units and ranges, and what they refuse."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, fields
from typing import ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp

from isocloth.base.errors import FabricError, InputError, InputTypeError
from isocloth.base.numeric import as_float, shown
from isocloth.fabric import Fabric
from isocloth.meshes import Mesh
from isocloth.models.model import Model, Terms
from isocloth.terms.rest_shape import RestShape, RestTerm
from isocloth.terms.rows import Rows

#: stiffness over density, (m/s)^2, above which a sheet is stiffer for its weight than solid fibres are: cotton has 8
#: GPa and 1540 kg/m^3, a sheet of paper about two thirds of that
STIFFEST = 5e6
#: strain under its own weight, hung from its upper end, of a sheet too soft to be meant
SOFTEST = 10.0


class StiffnessWarning(UserWarning):
    """Parameters of a shell that no cloth has."""


class Limit(NamedTuple):
    """The range of a parameter, and its unit."""

    unit: str
    least: float = 0.0
    open: bool = False  # whether `least` itself is excluded
    most: float = math.inf


@dataclass(frozen=True, kw_only=True)
class Shell(Model):
    """A sheet that stretches, bends and remembers a rest shape, on triangles."""

    shell: ClassVar[bool] = True
    #: of every parameter that is a number
    limits: ClassVar[dict[str, Limit]] = {}
    #: of every parameter that is a name
    choices: ClassVar[dict[str, tuple[str, ...]]] = {}

    def __post_init__(self) -> None:
        for name, known in self.choices.items():
            if getattr(self, name) not in known:
                raise InputError(f"{name} = {shown(getattr(self, name))}: expected one of {', '.join(known)}")
        for field in fields(self):
            if field.name in self.limits:
                self._check(field.name, getattr(self, field.name), field.default is None)
        if "bending" not in self.limits and self.bending != type(self).bending:
            self.with_bending(str(self.bending))

    def _check(self, name: str, value: object, optional: bool) -> None:
        if value is None and optional:
            return
        limit, number = self.limits[name], as_float(value)
        if number is None:
            raise InputTypeError(f"{name} = {shown(value)}: expected a number{limit.unit and ' in ' + limit.unit}")
        low = number <= limit.least if limit.open else number < limit.least
        if not math.isfinite(number) or low or number > limit.most:
            need = f"{'more than' if limit.open else 'at least'} {limit.least:g}"
            need += "" if math.isinf(limit.most) else f" and at most {limit.most:g}"
            unit = limit.unit and " " + limit.unit
            raise FabricError(f"{name} = {value!r}{unit}: expected a finite number, {need}{unit}")
        object.__setattr__(self, name, number)

    def with_bending(self, bending: str) -> Model:
        """Refused: a shell bends by its own parameters."""
        raise InputError(
            f"bending model {bending!r}: the model {self.name!r} bends by an energy of its own; leave bending_model out"
        )

    def terms(self, mesh: Mesh, fabric: Fabric, discretisation: str | None = None) -> Terms:
        """All terms of a shell with the rest shape `mesh`."""
        self.refuse_discretisation(discretisation)
        return self.shell_terms(RestShape.of(mesh), fabric)

    def shell_terms(self, rest: RestShape, fabric: Fabric) -> Terms:
        """All terms of a shell with a rest shape: its membrane as rows, where it can be, the rest as stencils."""
        for name, value, own in (("bending", fabric.bending, 0.0), ("shear", fabric.shear, None)):
            if value != own:
                raise FabricError(
                    f"Fabric.{name} = {value:g} with the model {self.name!r}: a shell has stiffnesses of its own; "
                    f"leave {name} out of the fabric, which gives density, damping, friction and contact thickness"
                )
        self._warn(rest, fabric)
        n = rest.mesh.n_vertices
        return Terms(self.membrane_rows(rest), sp.csr_matrix((n, n)), self.stencils(rest))

    def rows(self, mesh: Mesh, fabric: Fabric, discretisation: str | None = None) -> Rows:
        """Rows of a shell with the rest shape `mesh`."""
        return self.terms(mesh, fabric, discretisation).rows

    def membrane_rows(self, rest: RestShape) -> Rows:
        """What of the membrane is a row."""
        raise NotImplementedError

    def stencils(self, rest: RestShape) -> tuple[RestTerm, ...]:
        """What is no row."""
        raise NotImplementedError

    def energies(self, rest: RestShape) -> tuple[RestTerm, ...]:
        """All energies of the shell as terms, with derivatives in the rest shape and in parameters."""
        raise NotImplementedError

    def membrane_stiffness(self, rest: RestShape) -> float:
        """About Young's modulus times thickness of the sheet, N/m."""
        raise NotImplementedError

    def _warn(self, rest: RestShape, fabric: Fabric) -> None:
        """Say it where the membrane is as stiff, or as soft, as no cloth is."""
        stiffness, density = self.membrane_stiffness(rest), max(fabric.density, fabric.weight_density)
        if stiffness > STIFFEST * fabric.density:
            warnings.warn(
                f"the shell has {stiffness:.3g} N/m (Young's modulus times thickness) at {fabric.density:g} kg/m^2: "
                "stiffer for its weight than solid fibres. Cloth has 100 to 50 000 N/m; check the units (Pa, m, N/m, "
                'not GPa, mm), or take model="isometric" for a sheet that does not stretch at all',
                StiffnessWarning,
                stacklevel=5,
            )
        size = float(np.linalg.norm(np.ptp(rest.mesh.vertices, axis=0)))
        if density * 9.81 * size > SOFTEST * stiffness:
            warnings.warn(
                f"the shell has {stiffness:.3g} N/m (Young's modulus times thickness): hung up, it would stretch to "
                f"{density * 9.81 * size / stiffness:.0f} times its length. Cloth has 100 to 50 000 N/m; check the "
                "units (Pa and not GPa)",
                StiffnessWarning,
                stacklevel=5,
            )
