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
}

#: options of the commands that read recordings; another command that reads one tells who has them
OF_RECORDINGS = ("units", "up", "held", "cloth", "grid", "size", "fabric", "drive")

_VALUE = r"'[^']*'|\"[^\"]*\"|\([^()]*\)|\[[^\[\]]*\]|[\w.+-]+"


def in_options(message: str, options: Mapping[str, Any]) -> str:
    """A message with `name=value` as `--name value` and, of options that were given, `name = value` as well."""
    for phrase, words in PHRASES.items():
        message = message.replace(phrase, words)
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        if value is not None:
            message = re.sub(rf"^{re.escape(name)}(?= is | has | must )", flag, message)
        equals = "=" if value is None else " ?= ?"
        found = rf"(?<![\w.\-\[]){re.escape(name)}{equals}({_VALUE})"
        message = re.sub(found, lambda match, flag=flag: f"{flag} {_words(match[1])}", message)
    for name in set(OF_RECORDINGS) - set(options):
        found = rf"(?<![\w.\-\[]){name}=({_VALUE})"
        message = re.sub(found, lambda match, name=name: f"--{name} {_words(match[1])} of calibrate", message)
    return message


def _words(value: str) -> str:
    """A value as it is typed: without quotes, brackets and commas."""
    return " ".join(re.sub(r"[\[\](),]", " ", value.strip("'\"")).split())
