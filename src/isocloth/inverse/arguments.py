"""Arguments that inverse design of one target and of several poses share."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from isocloth.base.errors import InputError, InputTypeError
from isocloth.base.numeric import shown
from isocloth.models import DiscreteShell, Shell, as_model


def as_shell(model: Any) -> Shell:
    """The shell whose rest shape is sought; None: discrete shells."""
    chosen = DiscreteShell() if model is None else as_model(model)
    if not isinstance(chosen, Shell):
        raise InputError(
            f"model {chosen.name!r} remembers no rest shape: expected a shell, ic.models.DiscreteShell() say"
        )
    if getattr(chosen, "normals", "average") != "average":
        raise InputError(
            f"normals = {chosen.normals!r}: expected 'average'; edges with angles of their own cannot be inverted yet"  # type: ignore[attr-defined]
        )
    return chosen


def as_stiffnesses(unknown: Any, model: Shell) -> tuple[str, ...]:
    """Names of the model's stiffnesses that are sought."""
    named = [unknown] if isinstance(unknown, str) else unknown
    if not isinstance(named, Iterable):
        raise InputTypeError(f"unknown = {shown(unknown)}: expected names of stiffnesses, unknown=('bending',) say")
    names = tuple(named)
    known = [name for name, limit in model.limits.items() if limit.least >= 0.0]
    for name in names:
        if name == "density":
            raise InputError(
                "unknown: density is a scale: a cloth twice as heavy and twice as stiff hangs alike; ask for "
                f"stiffnesses, of {', '.join(known)}, which are found relative to the density that is given"
            )
        if name not in known:
            raise InputError(f"unknown: {shown(name)} is no stiffness of {model.name!r}: expected {', '.join(known)}")
        for other in model.limits if name in known else ():
            if getattr(model, other) is None:
                raise InputError(f"unknown: {name} is sought, and {other} follows from it: give {other} a number")
        if not getattr(model, name) > 0.0:
            raise InputError(f"unknown: {name} = {getattr(model, name):g} of the model: expected a start above zero")
    if len(set(names)) != len(names):
        raise InputError(f"unknown = {shown(unknown)}: a stiffness is named twice; give each once")
    return names
