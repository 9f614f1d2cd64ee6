"""What is fitted: parameters of the fabric and friction, each with a range."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from isocloth.base.errors import InputError
from isocloth.base.typing import FloatArray
from isocloth.fabric import Fabric

NAMES = tuple(f.name for f in fields(Fabric))
SYMBOLS = {
    "density": "rho", "gravity_density": "delta", "damping": "alpha", "friction": "mu", "bending": "kappa",
    "bending_damping": "beta", "shear": "k_s", "thickness": "thickness", "membrane": "k",
}  # fmt: skip


@dataclass(frozen=True)
class Parameter:
    """A parameter of the fabric to be fitted between two bounds (SI units).

    `friction` is that of the cloth on itself and on all obstacles. With `log` steps are equal ratios.
    """

    name: str
    low: float
    high: float
    log: bool = False

    def __post_init__(self) -> None:
        if self.name not in NAMES:
            raise InputError(f"parameter {self.name!r} is unknown; known are {', '.join(NAMES)}")
        finite = np.isfinite([self.low, self.high]).all()
        if not (finite and 0.0 <= self.low < self.high) or (self.log and self.low == 0.0):
            need = "0 < low < high" if self.log else "0 <= low < high"
            raise InputError(f"parameter {self.name} from {self.low!r} to {self.high!r}: expected {need}")

    def value(self, u: float) -> float:
        """The value at a part u (0 to 1) of the range."""
        if self.log:
            return float(self.low * (self.high / self.low) ** u)
        return float(self.low + u * (self.high - self.low))

    def part(self, value: float) -> float:
        """Which part (0 to 1) of the range a value is at."""
        if self.log:
            return float(np.log(max(value, 1e-300) / self.low) / np.log(self.high / self.low))
        return float((value - self.low) / (self.high - self.low))

    def slope(self, u: float) -> float:
        """d value / du."""
        if self.log:
            return self.value(u) * float(np.log(self.high / self.low))
        return self.high - self.low


def default_range(name: str, fabric: Fabric) -> Parameter:
    """The papers' ranges (section 4.2.2 of the thesis): delta in (0, rho], alpha in [0, 4 rho]; others are ours."""
    rho = fabric.density
    ranges = {
        "gravity_density": (0.02 * rho, rho, False), "damping": (0.0, 4.0 * rho, False), "friction": (0.0, 2.0, False),
        "density": (0.2 * rho, 5.0 * rho, True), "bending": (1e-8, 1e-3, True), "bending_damping": (1e-9, 1e-4, True),
        "shear": (0.1, 1000.0, True), "thickness": (1e-4, 5e-3, True), "membrane": (1e2 * rho, 1e6 * rho, True),
    }  # fmt: skip
    if name not in ranges:
        raise InputError(f"parameter {name!r} is unknown; known are {', '.join(NAMES)}")
    return Parameter(name, *ranges[name])


def as_parameters(given: Sequence[Any] | Mapping[str, Any], fabric: Fabric) -> tuple[Parameter, ...]:
    """Names, `Parameter`s, pairs (name, (low, high)) or a mapping name -> (low, high), as parameters."""
    if isinstance(given, str):
        given = [given]
    items = list(given.items()) if isinstance(given, Mapping) else list(given)
    found: list[Parameter] = []
    for item in items:
        if isinstance(item, Parameter):
            found.append(item)
        elif isinstance(item, str):
            found.append(default_range(item, fabric))
        else:
            try:
                name, bounds = item
                low, high = (float(b) for b in bounds)
            except (TypeError, ValueError):
                raise InputError(f"parameter {item!r}: expected a name, or (name, (low, high))") from None
            found.append(Parameter(str(name), low, high))
    names = [p.name for p in found]
    if not found or len(set(names)) != len(names):
        raise InputError(f"parameters are {names}: expected at least one, and none twice")
    return tuple(found)


def fabric_at(fabric: Fabric, parameters: Sequence[Parameter], values: Sequence[float] | FloatArray) -> Fabric:
    """The fabric with values (in SI units) put in."""
    return replace(fabric, **{p.name: float(v) for p, v in zip(parameters, values, strict=True)})


def values_at(parameters: Sequence[Parameter], u: FloatArray) -> FloatArray:
    """Values (p,) at parts (p,) of the ranges."""
    return np.array([p.value(float(x)) for p, x in zip(parameters, u, strict=True)])


def parts_at(parameters: Sequence[Parameter], values: Sequence[float]) -> FloatArray:
    """Parts (p,) of the ranges at values (p,)."""
    return np.array([p.part(float(x)) for p, x in zip(parameters, values, strict=True)])
