"""Arguments that inverse design of one target and of several poses share."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from isocloth.base.errors import InputError, InputTypeError
from isocloth.base.numeric import check_flag, is_one_of, shown
from isocloth.inverse.thesis.two_step import TwoSteps
from isocloth.models import DiscreteShell, Shell, as_model

#: of finding a rest shape
METHODS = ("force_first", "thesis")


def check_method(method: Any, poses: bool, nearest: Any, checkpoint: Any) -> TwoSteps | None:
    """The two steps that are to be made, or None: forces first; and that the other options go with it."""
    if nearest is not None:
        check_flag(nearest, "nearest")
    if isinstance(method, TwoSteps):
        effort: TwoSteps | None = method
    elif is_one_of(method, METHODS):
        effort = TwoSteps() if method == "thesis" else None
    else:
        known = ", ".join(map(repr, METHODS))
        raise InputError(f"method = {shown(method)}: expected one of {known}, or ic.inverse.TwoSteps(...)")
    if poses and effort is not None:
        raise InputError("method = 'thesis' with several poses: it knows one target; leave method out")
    if checkpoint is not None and poses:
        raise InputError(f"checkpoint = {shown(checkpoint)} with several poses: expected None; they are found at once")
    if effort is None:
        return None
    if checkpoint is not None:
        raise InputError(
            f"checkpoint = {shown(checkpoint)} with method = 'thesis': expected None, BFGS is not saved; bound its "
            "time by method=ic.inverse.TwoSteps(seconds=60) instead"
        )
    if nearest:
        raise InputError(
            "nearest = True with method = 'thesis': expected None; the nearest shape is sought by 'force_first' alone"
        )
    return effort


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
