"""Typed reading of a TOML table: every wrong, missing or unknown field becomes a problem with its full name."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from isocloth.base.numeric import shown
from isocloth.meshes.units import LARGEST
from isocloth.scenes.problems import Problems, nearest

NAN = math.nan


class Table:
    """One table of the file. A bad number is read as NaN, so that the checks that follow stay silent."""

    def __init__(self, data: Mapping[str, Any], name: str, problems: Problems) -> None:
        self.data, self.name, self.problems = data, name, problems
        self._known: list[str] = []

    def has(self, key: str) -> bool:
        """Whether the file gives this field."""
        return key in self.data

    def complain(self, key: str, message: str) -> None:
        """Note a problem with a field; the message starts after its name and value."""
        given = f" = {shown(self.data[key])}" if key in self.data else ""
        self.problems.add(self._path(key), f"{given}: {message}" if given else message)

    def take(self, key: str) -> Any:
        """The raw value of a known field, or None."""
        if key not in self._known:
            self._known.append(key)
        return self.data.get(key)

    def number(
        self,
        key: str,
        default: float | None = None,
        *,
        unit: str,
        above: float | None = None,
        least: float | None = None,
        most: float | None = None,
        hint: str = "",
    ) -> float:
        """A finite number; without a default it is required."""
        value = self.take(key)
        if value is None:
            if default is None:
                self.complain(key, f"is missing; give a number in {unit}")
                return NAN
            return default
        number = as_number(value)
        if number is None:
            self.complain(key, f"expected a finite number in {unit}")
            return NAN
        if above is not None and number <= above:
            self.complain(key, f"expected more than {above:g} {unit}{hint and '; ' + hint}")
            return NAN
        if least is not None and number < least:
            self.complain(key, f"expected at least {least:g} {unit}{hint and '; ' + hint}")
            return NAN
        if most is not None and number > most:
            self.complain(key, f"expected at most {most:g} {unit}{hint and '; ' + hint}")
            return NAN
        return number

    def length(self, key: str, default: float | None = None, *, positive: bool = True) -> float:
        """A length in m, with a guard against other units."""
        number = self.number(key, default, unit="m", above=0.0 if positive else None, least=None if positive else 0.0)
        if number > LARGEST:
            self.complain(key, f"{number:g} m is larger than any cloth; is it in cm? Then write {number / 100:g}")
            return NAN
        return number

    def integer(self, key: str, default: int, *, least: int = 0) -> int:
        """A whole number."""
        value = self.take(key)
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value < 2**31:
            self.complain(key, f"expected a whole number, at least {least}")
            return default
        return value

    def flag(self, key: str, default: bool) -> bool:
        """true or false."""
        value = self.take(key)
        if value is None:
            return default
        if not isinstance(value, bool):
            self.complain(key, "expected true or false")
            return default
        return value

    def text(self, key: str, default: str | None = None) -> str:
        """Any text; without a default it is required."""
        value = self.take(key)
        if value is None:
            if default is None:
                self.complain(key, "is missing; give a text in quotes")
            return default or ""
        if not isinstance(value, str):
            self.complain(key, "expected a text in quotes")
            return default or ""
        return value

    def choice(self, key: str, options: Sequence[str], default: str | None) -> str:
        """One of some names; "" stands for a wrong or missing one."""
        value = self.take(key)
        if value is None:
            if default is None:
                self.complain(key, f"is missing; choose one of {', '.join(options)}")
            return default or ""
        if not isinstance(value, str) or value not in options:
            hint = f"; {nearest(value, options)}" if isinstance(value, str) else ""
            listed = "" if hint.startswith("; known") else f"expected one of {', '.join(options)}"
            self.complain(key, f"{listed}{hint}".removeprefix("; "))
            return ""
        return value

    def vector(self, key: str, unit: str) -> tuple[float, float, float] | None:
        """Three finite numbers, or None where the field is absent or wrong."""
        value = self.take(key)
        if value is None:
            return None
        found = as_vector(value)
        if found is None:
            self.complain(key, f"expected three finite numbers [x, y, z] in {unit}")
        return found

    def close(self) -> None:
        """Note every field of the table that nothing asked for."""
        for key in self.data:
            if key not in self._known:
                self.complain(key, f"this field is unknown; {nearest(key, self._known)}")

    def _path(self, key: str) -> str:
        return f"{self.name}.{key}" if self.name else key


def as_number(value: Any) -> float | None:
    """A finite float, or None. true and false are no numbers."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def as_vector(value: Any) -> tuple[float, float, float] | None:
    """Three finite floats, or None."""
    if not isinstance(value, list) or len(value) != 3:
        return None
    x, y, z = (as_number(part) for part in value)
    return None if x is None or y is None or z is None else (x, y, z)
