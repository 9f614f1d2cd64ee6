"""What a cloth is made of: a handful of physical parameters in SI units."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields

from isocloth.base.errors import FabricError, InputTypeError, UnknownNameError
from isocloth.base.numeric import as_float, shown

#: membrane stiffness per density that `membrane=None` stands for, (m/s)^2: a cloth of up to a metre or so stretches by
#: less than 0.1 % when it swings under its own weight, whatever its density (strain grows with size and gravity)
MEMBRANE_PER_DENSITY = 3e5


@dataclass(frozen=True, kw_only=True)
class Fabric:
    """Physical parameters of a cloth (table 1 of the inextensible model).

    density: rho, inertial mass per area, kg/m^2.
    gravity_density: delta, the "virtual" gravitational mass per area that carries the aerodynamics, kg/m^2; None = rho.
    bending: kappa, bending stiffness, N m.
    damping: alpha, damping of slow motion per area, kg/(m^2 s); the rate is damping / density.
    bending_damping: beta, damping of bending, N m s.
    shear: stiffness of an energy against shearing, N/m; None forbids shearing by constraints.
    thickness: distance kept between the mid-surfaces of two layers, m; obstacles are touched at half of it.
    friction: mu, coefficient of Coulomb friction of the cloth on itself; an obstacle brings its own.
    membrane: k of the energy k C^2 / 2 per area that carries the isometry (C is twice the strain), N/m; None = as stiff
        as needed for its weight (3e5 (m/s)^2 times the density).
    """

    density: float = 0.3046
    gravity_density: float | None = None
    bending: float = 0.0
    damping: float = 0.0
    bending_damping: float = 0.0
    shear: float | None = None
    thickness: float = 1e-3
    friction: float = 0.3
    membrane: float | None = None

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            positive = field.name in ("density", "thickness", "membrane")
            if value is None and field.name in ("gravity_density", "shear", "membrane"):
                continue
            number = as_float(value)
            if number is None:
                raise InputTypeError(f"{field.name} = {shown(value)}: expected a number in SI units")
            if not math.isfinite(number) or number < 0.0 or (positive and number == 0.0):
                need = "positive" if positive else "zero or positive"
                unit = _UNITS[field.name]
                raise FabricError(f"{field.name} = {value!r}{unit and ' ' + unit}: expected a finite number, {need}")
            object.__setattr__(self, field.name, number)
        if self.density > 20.0:
            raise FabricError(
                f"density = {self.density} kg/m^2 is heavier than any cloth (denim: 0.3); give kg/m^2, not g/m^2"
            )

    @property
    def weight_density(self) -> float:
        """delta as a number, kg/m^2."""
        return self.density if self.gravity_density is None else self.gravity_density

    @property
    def membrane_stiffness(self) -> float:
        """k as a number, N/m."""
        if self.membrane is not None:
            return self.membrane
        return MEMBRANE_PER_DENSITY * max(self.density, self.weight_density)


_UNITS = {
    "density": "kg/m^2", "gravity_density": "kg/m^2", "bending": "N m", "damping": "kg/(m^2 s)",
    "bending_damping": "N m s", "shear": "N/m", "thickness": "m", "friction": "", "membrane": "N/m",
}  # fmt: skip


def as_tuple(fabric: Fabric | Sequence[Fabric]) -> tuple[Fabric, ...]:
    """The only fabric, or all of them."""
    return (fabric,) if isinstance(fabric, Fabric) else tuple(fabric)


class FabricTable(Mapping[str, Fabric]):
    """Fabrics by name; spaces, hyphens, underscores and case do not matter."""

    def __init__(self, fabrics: dict[str, Fabric]) -> None:
        self._fabrics = fabrics

    def __getitem__(self, name: str) -> Fabric:
        key = " ".join(str(name).lower().replace("-", " ").replace("_", " ").split())
        if key not in self._fabrics:
            raise UnknownNameError(
                f"fabric {name!r} is unknown; known are {', '.join(self._fabrics)}, or make an ic.Fabric(...)"
            )
        return self._fabrics[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._fabrics)

    def __len__(self) -> int:
        return len(self._fabrics)

    def __contains__(self, name: object) -> bool:
        try:
            self[str(name)]
        except KeyError:
            return False
        return True


#: densities measured for the recordings of the papers
fabrics = FabricTable(
    {
        "paper": Fabric(density=0.0802, thickness=1e-4),
        "polyester": Fabric(density=0.1042),
        "light cotton": Fabric(density=0.1604),
        "felt": Fabric(density=0.1764),
        "wool": Fabric(density=0.1804),
        "denim": Fabric(density=0.3046),
        "stiff cotton": Fabric(density=0.3046),
    }
)
