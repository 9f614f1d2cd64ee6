"""Protocols in reverse: the stiffness and the friction of a real fabric, from lengths measured on a strip of it.

A cantilever of length L and area density rho that drops by H over a reach of W has the Gamma at which the master curve
is H/W, and the bending stiffness rho g L^3 / Gamma. A strip pushed against a floor, or a force measured on it, gives
the friction Q/P. Errors of what was measured are independent and small: each is carried to the result by its
derivative.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from isocloth.base.errors import InputError, InputTypeError
from isocloth.base.numeric import as_float, shown
from isocloth.protocols.master_curves import gamma_of, hanging, pushed

#: m, of a length read from a ruler; and of a density, relative
RULER, SCALE = 1e-3, 0.01


class Measured(NamedTuple):
    """A number and its uncertainty (one standard deviation), and what it came from."""

    value: float
    uncertainty: float
    unit: str
    parts: dict[str, float]  # name of what was measured -> its share of the uncertainty, in the same unit
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        if not (self.uncertainty > 0.0 and math.isfinite(self.uncertainty)):
            return f"{self.value:.4g} {self.unit}".rstrip()
        digits = max(0, 1 - math.floor(math.log10(self.uncertainty)))
        if abs(self.value) < 1e-2:
            exponent = math.floor(math.log10(abs(self.value)))
            digits = max(0, 1 - math.floor(math.log10(self.uncertainty)) + exponent)
            scale = 10.0**exponent
            return f"({self.value / scale:.{digits}f} +- {self.uncertainty / scale:.{digits}f})e{exponent} {self.unit}"
        return f"{self.value:.{digits}f} +- {self.uncertainty:.{digits}f} {self.unit}".rstrip()


def measure_bending(
    length: float, density: float, drop: float, reach: float, *, length_error: float = RULER,
    density_error: float | None = None, drop_error: float = RULER, reach_error: float = RULER, gravity: float = 9.81,
) -> Measured:  # fmt: skip
    """Bending stiffness (N m, `Fabric.bending`) of a strip that hangs from a level clamp.

    Args:
        length: m, from the clamp to the tip along the strip.
        density: kg/m^2.
        drop, reach: m, how far the tip is below the clamp, and how far from it.
        length_error, density_error, drop_error, reach_error: standard deviations; None = 1 % of the density.
        gravity: m/s^2.
    """
    given = {"length": length, "density": density, "drop": drop, "reach": reach}
    values = {name: _positive(name, value) for name, value in given.items()}
    gravity = _positive("gravity", gravity)
    errors = {
        "length": _error("length_error", length_error), "drop": _error("drop_error", drop_error),
        "reach": _error("reach_error", reach_error),
        "density": SCALE * values["density"] if density_error is None else _error("density_error", density_error),
    }  # fmt: skip
    if math.hypot(values["drop"], values["reach"]) > values["length"] + 3.0 * (errors["length"] + errors["drop"]):
        raise InputError(
            f"drop = {drop:g} m and reach = {reach:g} m: the tip is further from the clamp than the strip is long "
            f"({length:g} m); measure the length from the clamp, not of the whole strip"
        )

    def stiffness(of: dict[str, float]) -> float:
        return of["density"] * gravity * of["length"] ** 3 / gamma_of(of["drop"] / of["reach"])

    value, uncertainty, parts = _propagate(stiffness, values, errors)
    return Measured(value, uncertainty, "N m", parts, _doubts(values, errors))


def _doubts(values: dict[str, float], errors: dict[str, float]) -> tuple[str, ...]:
    """What the measured lengths say besides: the chord tells the same stiffness, if the strip is one."""
    gamma = gamma_of(values["drop"] / values["reach"])
    found = hanging(gamma)
    chord, expected = (
        math.hypot(values["drop"], values["reach"]),
        values["length"] * math.hypot(found.drop, found.reach),
    )
    error = math.hypot(errors["drop"], errors["reach"], errors["length"])
    notes = [f"Gamma = {gamma:.4g}"]
    if abs(chord - expected) > 3.0 * error:
        notes.append(
            f"the tip is {1e3 * chord:.4g} mm from the clamp, of a strip that hangs so it is {1e3 * expected:.4g} mm: "
            "twisted, curled at rest, or a length is wrong"
        )
    if gamma < 0.5 or gamma > 500.0:
        notes.append("a drop of about half to three times the reach is measured best: take a longer or a shorter strip")
    return tuple(notes)


def measure_friction(
    *, push: float | None = None, length: float | None = None, across: float | None = None, along: float | None = None,
    push_error: float = RULER, length_error: float = RULER, force_error: float = 0.02,
) -> Measured:  # fmt: skip
    """Coefficient of friction of a strip that is pushed against a floor until its tip slips.

    Either from lengths, push (m, by how much the clamp had come nearer) and length (m, of the strip), or from forces,
    across (Q) and along (P) the strip, N.

    Args:
        push_error, length_error: m, standard deviations.
        force_error: of both forces, relative.
    """
    if (push is None) == (across is None) or (push is None) != (length is None) or (across is None) != (along is None):
        raise InputError("expected either push and length (m), or the forces across and along (N)")
    if push is not None:
        values = {"push": _positive("push", push), "length": _positive("length", length)}
        errors = {"push": _error("push_error", push_error), "length": _error("length_error", length_error)}
        value, uncertainty, parts = _propagate(lambda of: pushed(of["push"] / of["length"]).friction, values, errors)
        return Measured(value, uncertainty, "", parts)
    values = {"across": _positive("across", across), "along": _positive("along", along)}
    share = _error("force_error", force_error)
    errors = {name: share * force for name, force in values.items()}
    value, uncertainty, parts = _propagate(lambda of: of["across"] / of["along"], values, errors)
    return Measured(value, uncertainty, "", parts)


def _propagate(
    function: Callable[[dict[str, float]], float], values: dict[str, float], errors: dict[str, float]
) -> tuple[float, float, dict[str, float]]:
    """The value, its uncertainty, and the share of each error, by central differences over a tenth of the error."""
    parts = {}
    for name, error in errors.items():
        step = max(0.1 * error, 1e-5 * values[name])
        step = min(step, 0.1 * values[name])
        high, low = ({**values, name: values[name] + sign * step} for sign in (1.0, -1.0))
        parts[name] = abs(function(high) - function(low)) / (2.0 * step) * error
    return function(values), math.hypot(*parts.values()), parts


def _positive(name: str, value: object) -> float:
    number = as_float(value)
    if number is None:
        raise InputTypeError(f"{name} = {shown(value)}: expected a number in SI units")
    if not (math.isfinite(number) and number > 0.0):
        raise InputError(f"{name} = {value!r}: expected a positive number in SI units (m, kg/m^2, N)")
    return number


def _error(name: str, value: object) -> float:
    number = as_float(value)
    if number is None or not (math.isfinite(number) and number >= 0.0):
        raise InputError(f"{name} = {value!r}: expected a standard deviation, zero or positive")
    return number
