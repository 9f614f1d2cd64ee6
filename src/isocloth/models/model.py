"""What a cloth model is: parameters in SI units, and the rows that they stand for."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import ClassVar

from isocloth.base.errors import FabricError, InputError, InputTypeError
from isocloth.fabric import Fabric
from isocloth.meshes import Mesh
from isocloth.terms.rows import Rows

#: shear stiffness of a woven cloth that names none, N/m: one of 0.5 gf/(cm degree) in Kawabata's test has 28
TYPICAL_SHEAR = 30.0


@dataclass(frozen=True, kw_only=True)
class Model:
    """How a cloth resists stretching and shearing; mass, damping, bending and contact are those of every model.

    Numbers are stiffnesses, finite and not negative; None takes them from the fabric.
    """

    #: by which `Simulation(model=...)` knows it
    name: ClassVar[str]
    #: what solves its steps when nobody chooses
    solver: ClassVar[str] = "newton"
    #: s; longer steps take it away from its own equations, shorter ones change little
    timestep: ClassVar[float] = 0.01
    #: of parameters that are no stiffnesses in N/m
    units: ClassVar[dict[str, str]] = {}
    #: whether a stretch of more than a hundredth means that something is wrong
    inextensible: ClassVar[bool] = False

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if value is None:
                continue
            unit = self.units.get(field.name, "N/m")
            try:
                number = float(value)
            except (TypeError, ValueError):
                raise InputTypeError(f"{field.name} = {value!r}: expected a number{unit and ' in ' + unit}") from None
            if not math.isfinite(number) or number < 0.0 or (number == 0.0 and field.name in self.units):
                need = "positive" if field.name in self.units else "zero or positive"
                raise FabricError(f"{field.name} = {value!r}{unit and ' ' + unit}: expected a finite number, {need}")
            object.__setattr__(self, field.name, int(value) if isinstance(field.default, int) else number)

    def rows(self, mesh: Mesh, fabric: Fabric, discretisation: str | None = None) -> Rows:
        """Rows of a cloth with the rest shape `mesh`."""
        raise NotImplementedError

    def refuse_discretisation(self, discretisation: str | None) -> None:
        """Raise if a discretisation of the isometry is asked for."""
        if discretisation is not None:
            raise InputError(
                f"discretisation = {discretisation!r} is one of the isometric model: the model {self.name!r} has its "
                "own; leave it out"
            )


def typical_shear(given: float | None, fabric: Fabric) -> float:
    """Shear stiffness in N/m: the model's, else the fabric's, else a typical one."""
    if given is not None:
        return given
    return TYPICAL_SHEAR if fabric.shear is None else fabric.shear
