"""What is fitted: parameters of the fabric, of its model and of obstacles, each with a range.

A name says whose a parameter is: `damping` is the fabric's (as `friction` is that of the cloth on itself),
`friction:table` that of the obstacle called table, and `model.stretch` the model's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np

from isocloth.base.errors import InputError
from isocloth.base.numeric import check_flag
from isocloth.base.typing import FloatArray
from isocloth.fabric import Fabric
from isocloth.models import Model

NAMES = tuple(f.name for f in fields(Fabric))
SYMBOLS = {
    "density": "rho", "gravity_density": "delta", "damping": "alpha", "friction": "mu", "bending": "kappa",
    "bending_damping": "beta", "shear": "k_s", "thickness": "thickness", "membrane": "k",
}  # fmt: skip

#: before the name of an obstacle, and before that of a parameter of the model
OBSTACLE, MODEL = "friction:", "model."
#: a parameter of a model without a range is looked for between a tenth and ten times of what it is
DECADE = 10.0


@dataclass(frozen=True)
class Parameter:
    """A parameter to be fitted between two bounds (SI units).

    name: a field of the fabric; `friction:` and the name of an obstacle; or `model.` and a parameter of the model.
    With `log` steps are equal ratios.
    """

    name: str
    low: float
    high: float
    log: bool = False

    def __post_init__(self) -> None:
        if self.name not in NAMES and not any(self.name.startswith(p) and self.name != p for p in (OBSTACLE, MODEL)):
            raise _unknown(self.name)
        check_flag(self.log, f"log of the parameter {self.name}")
        finite = np.isfinite([self.low, self.high]).all()
        if not (finite and 0.0 <= self.low < self.high) or (self.log and self.low == 0.0):
            need = "0 < low < high" if self.log else "0 <= low < high"
            raise InputError(f"parameter {self.name} from {self.low!r} to {self.high!r}: expected {need}")

    @property
    def symbol(self) -> str:
        """What the papers' tables call it."""
        if self.name.startswith(OBSTACLE):
            return f"mu_{self.name.removeprefix(OBSTACLE)}"
        return SYMBOLS.get(self.name) or self.name.removeprefix(MODEL)

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


class Owned(NamedTuple):
    """Values by whose they are: fields of the fabric, parameters of the model, and friction by obstacle."""

    fabric: dict[str, float]
    model: dict[str, float]
    friction: dict[str, float]


def owned(values: Mapping[str, float]) -> Owned:
    """Values by name, sorted by whose they are."""
    found = Owned({}, {}, {})
    for name, value in values.items():
        if name.startswith(OBSTACLE):
            found.friction[name.removeprefix(OBSTACLE)] = float(value)
        elif name.startswith(MODEL):
            found.model[name.removeprefix(MODEL)] = float(value)
        elif name in NAMES:
            found.fabric[name] = float(value)
        else:
            raise _unknown(name)
    return found


def _unknown(name: str) -> InputError:
    return InputError(
        f"parameter {name!r} is unknown; a fabric has {', '.join(NAMES)}; the friction of an obstacle is "
        f"'{OBSTACLE}<its name>', a parameter of the model '{MODEL}<its name>'; choose one of these"
    )


def model_parameters(model: Model) -> list[str]:
    """Names of the parameters of a model that are numbers."""
    return [f.name for f in fields(model) if not isinstance(f.default, str)]


def default_range(name: str, fabric: Fabric, model: Model | None = None) -> Parameter:
    """The papers' ranges (section 4.2.2 of the thesis): delta in (0, rho], alpha in [0, 4 rho]; others are ours."""
    rho = fabric.density
    ranges = {
        "gravity_density": (0.02 * rho, rho, False), "damping": (0.0, 4.0 * rho, False), "friction": (0.0, 2.0, False),
        "density": (0.2 * rho, 5.0 * rho, True), "bending": (1e-8, 1e-3, True), "bending_damping": (1e-9, 1e-4, True),
        "shear": (0.1, 1000.0, True), "thickness": (1e-4, 5e-3, True), "membrane": (1e2 * rho, 1e6 * rho, True),
    }  # fmt: skip
    if name.startswith(OBSTACLE):
        return Parameter(name, *ranges["friction"])
    if name.startswith(MODEL) and model is not None:
        key = name.removeprefix(MODEL)
        if key not in model_parameters(model):
            raise _not_of_model(key, model)
        value = getattr(model, key)
        if value is None and key == "shear":
            return Parameter(name, *ranges["shear"])
        if not value:
            raise InputError(f"{name} = {value!r} has no range of its own; give one: ({name!r}, (low, high))")
        return Parameter(name, value / DECADE, value * DECADE, True)
    if name not in ranges:
        raise _unknown(name)
    return Parameter(name, *ranges[name])


def _not_of_model(key: str, model: Model) -> InputError:
    return InputError(
        f"parameter '{MODEL}{key}' is unknown; the model {model.name!r} has "
        f"{', '.join(MODEL + x for x in model_parameters(model)) or 'none'}"
    )


def as_parameters(
    given: Sequence[Any] | Mapping[str, Any], fabric: Fabric, model: Model | None = None
) -> tuple[Parameter, ...]:
    """Names, `Parameter`s, pairs (name, (low, high)) or a mapping name -> (low, high), as parameters."""
    if isinstance(given, str):
        given = [given]
    items = list(given.items()) if isinstance(given, Mapping) else list(given)
    found: list[Parameter] = []
    for item in items:
        if isinstance(item, Parameter):
            found.append(item)
        elif isinstance(item, str):
            found.append(default_range(item, fabric, model))
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
    for p in found:
        key = p.name.removeprefix(MODEL)
        if model is not None and p.name.startswith(MODEL) and key not in model_parameters(model):
            raise _not_of_model(key, model)
    return tuple(found)


def values_at(parameters: Sequence[Parameter], u: FloatArray) -> FloatArray:
    """Values (p,) at parts (p,) of the ranges."""
    return np.array([p.value(float(x)) for p, x in zip(parameters, u, strict=True)])


def named_at(parameters: Sequence[Parameter], u: FloatArray) -> dict[str, float]:
    """Values by name at parts (p,) of the ranges."""
    return {p.name: float(v) for p, v in zip(parameters, values_at(parameters, u), strict=True)}
