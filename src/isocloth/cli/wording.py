"""Messages in the words of the command line: options in place of the arguments of Python functions.

Errors come from the package, whose users write `units='mm'`; who typed a command has to read `--units mm`. It is done
in one place, for the options that the command has, so that no message has to be written twice.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

#: what Python programs write where the command line has another word
PHRASES = {
    "outliers=False": "--keep-outliers",
    "fabric=ic.Fabric(density=...)": "--fabric DENSITY",
    "fabric=ic.Fabric(...)": "--fabric DENSITY",
    "make an ic.Fabric(...)": "give a density in kg/m^2",
    "give it `target.triangulated()`": "give --triangulate",
    "a shell, ic.models.DiscreteShell() say": "a shell, 'discrete_shell' say, in the scene",
    "or gravity=0": "in the scene",
}

#: what is no help where there is no --units
WITHOUT_UNITS = "; if it is in m, say so with units='m'"

#: options of the commands that read recordings; another command that reads one tells who has them
OF_RECORDINGS = ("units", "up", "held", "cloth", "grid", "size", "fabric", "drive")

_VALUE = r"'[^']*'|\"[^\"]*\"|\([^()]*\)|\[[^\[\]]*\]|[\w.+-]+"


def in_options(message: str, options: Mapping[str, Any]) -> str:
    """A message with `name=value` as `--name value` and, of options that were given, `name = value` as well."""
    for phrase, words in PHRASES.items():
        message = message.replace(phrase, words)
    if "units" not in options:
        message = message.replace(WITHOUT_UNITS, "")
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        if value is not None:
            message = re.sub(rf"^{re.escape(name)}(?= is | has | must )", flag, message)
        message = _as_option(message, name, "=" if value is None else " ?= ?", flag)
    for name in OF_RECORDINGS:
        if name not in options:
            message = _as_option(message, name, "=", f"--{name}", " of calibrate")
    return message


def _as_option(message: str, name: str, equals: str, flag: str, whose: str = "") -> str:
    """The message with `name=value` as `flag value`, followed by whose option it is."""

    def spelt(match: re.Match[str]) -> str:
        return f"{flag} {_words(match[1])}{whose}"

    return re.sub(rf"(?<![\w.\-\[]){re.escape(name)}{equals}({_VALUE})", spelt, message)


def _words(value: str) -> str:
    """A value as it is typed: without quotes, brackets and commas."""
    return " ".join(re.sub(r"[\[\](),]", " ", value.strip("'\"")).split())
