"""Continuation: an equilibrium that follows a parameter, value by value, each found from the one before.

Newton's method goes from value to value; where it fails, half of the way first, and so on. Where a branch ends, because
it turns or a contact gives way, damped motion finds what the cloth does then: it snaps to another branch, and the
result says so. `branch.py` follows a branch beyond the point where it turns.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from isocloth.base.errors import ConvergenceError, InputError, InputTypeError
from isocloth.base.numeric import as_float, shown
from isocloth.contact.history import NO_HISTORY
from isocloth.statics.find import Found, find
from isocloth.statics.polish import Polisher
from isocloth.statics.problem import Problem, Scene
from isocloth.statics.stability import lasts
from isocloth.statics.touching import Touching

#: a value's way is cut in two at most so often in a row
DEEPEST = 6

#: part of the cloth that Newton's method may go from one value to the next
REACH = 0.2

#: what is continued in: a name, or a function of a value that gives names and their values
Parameter = str | Callable[[Any], Mapping[str, Any]]


class Followed(NamedTuple):
    """An equilibrium of a branch."""

    problem: Problem
    found: Found
    snapped: bool  # whether the branch before had ended


def follow(
    problem: Problem, found: Found, parameter: Parameter, values: Any, *, stable: bool, progress: bool
) -> list[Followed]:
    """Equilibria at all values, one from the other."""
    given = _as_values(parameter, values)
    out: list[Followed] = []
    last: Any = None
    if isinstance(parameter, str) and parameter != "held":
        last = problem.value(parameter)
    elif parameter == "held":
        last = problem.places
    for value in given:
        problem, found, snapped = _go(problem, found, parameter, last, value, stable, progress)
        out.append(Followed(problem, found, snapped))
        last = value
    return out


def _go(
    problem: Problem, found: Found, parameter: Parameter, last: Any, value: Any, stable: bool, progress: bool
) -> Followed:
    """From one value to the next."""
    there = _changed(problem, parameter, value)
    done: list[Any] = [value]
    depth = 0
    while done:
        target = _changed(problem, parameter, done[-1])
        solved = _newton(target, found, stable)
        if solved is not None:
            found, last = solved, done.pop()
            depth = max(depth - 1, 0)
            continue
        if last is None or depth == DEEPEST:
            break
        done.append(_between(last, done[-1]))
        depth += 1
    else:
        return Followed(there, found, False)
    if not stable:
        raise ConvergenceError(
            f"the branch was lost at {shown(value)}: Newton's method finds no equilibrium near the one before; it may "
            "turn there: follow it with .branch(...), or give values that are closer to each other"
        )
    again = find(there, found.positions, found.tension, _history(found), progress=progress, stable=True)
    return Followed(there, again, True)


def _newton(problem: Problem, found: Found, stable: bool) -> Found | None:
    """By Newton's method alone; None where it fails, or leads to what is not stable though that is asked for."""
    scene = Scene(problem, found.positions)
    solver = Polisher(scene.cloth, scene.held)
    begin = found.positions.copy()
    begin[problem.nodes] = problem.places
    touching = None
    if scene.sim.world is not None and not scene.sim.world.empty:
        touching = Touching(scene.sim.world, scene.held, begin, _history(found), scene.cloth.mass)
    solved = solver.solve(
        begin, found.tension, touching, most=20, patience=5, indefinite=True, reach=REACH * scene.size
    )  # fmt: skip
    if not solved.converged:
        return None
    if stable and not solved.definite and not lasts(solver, solved.tension, touching):
        return None
    return Found(solved.positions, solved.tension, touching, solved.residual, True, "", solved.iterations)


def _history(found: Found) -> Any:
    return NO_HISTORY if found.touching is None else found.touching.history()


def _changed(problem: Problem, parameter: Parameter, value: Any) -> Problem:
    if isinstance(parameter, str):
        return problem.changed(parameter, value)
    changes = parameter(value)
    if not isinstance(changes, Mapping):
        raise InputTypeError(
            f"the parameter gave {shown(changes)} for {shown(value)}: expected a mapping of names to values, "
            '{"held": positions} say'
        )
    for name, changed in changes.items():
        problem = problem.changed(name, changed)
    return problem


def _between(last: Any, value: Any) -> Any:
    return 0.5 * (np.asarray(last, dtype=np.float64) + np.asarray(value, dtype=np.float64))[()]


def _as_values(parameter: Parameter, values: Any) -> list[Any]:
    """The values, each a number unless held positions are continued in."""
    if not callable(parameter) and not isinstance(parameter, str):
        raise InputTypeError(f"parameter is {shown(parameter)}: expected a name, 'gravity' say, or a function")
    try:
        given = list(values)
    except TypeError:
        raise InputTypeError(f"values are {shown(values)}: expected several numbers, [1.0, 2.0] say") from None
    if parameter == "held":
        return given
    for value in given:
        number = as_float(value)
        if isinstance(parameter, str) and (number is None or not np.isfinite(number)):
            raise InputError(f"{parameter} = {shown(value)}: expected a finite number")
    return given
