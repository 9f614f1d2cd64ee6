"""What a bad input must end in: one clear error of isocloth, soon.

Clear is checked by a machine, so it means little: an error of `isocloth.base.errors` whose message names the argument
or file, shows what was given (the value, its type or its shape) and says what was expected or what to do.
"""

from __future__ import annotations

import re
import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import numpy as np

import isocloth as ic
from isocloth.base.errors import IsoclothError

#: s that a bad input may take; none needs more than a fraction of it
PATIENCE = 10.0

#: how messages say what was expected or what to do
REMEDY = re.compile(
    r"\b(expected|must|needs?|known are|did you mean|choose|give|check|remove|write|use|say|delete|create|make|leave|"
    r"export|rename|split|move|load|install|free|convert|add|wait|restore|sort|record|list|measure|pass|sample|see|usage)\b",
    flags=re.IGNORECASE,
)


class Case(NamedTuple):
    """A bad input. `run` is handed a folder with good and bad files; the message must hold one text of every group."""

    name: str
    run: Callable[[Path], object]
    groups: tuple[tuple[str, ...], ...] = ()


class Hang(BaseException):
    """Raised into a case that takes too long; nothing that catches errors catches it."""


@contextmanager
def time_limit(seconds: float = PATIENCE) -> Iterator[None]:
    """End what takes longer, wherever it is in Python."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise Hang(f"no answer within {seconds:g} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def outcome(case: Case, folder: Path) -> str:
    """Empty, or what is wrong with the answer to a bad input."""
    try:
        with time_limit():
            found = case.run(folder)
    except Hang as late:
        return f"hangs: {late}"
    except IsoclothError as error:
        return unclear(str(error), case.groups)
    except Exception as error:
        return f"obscure: {type(error).__name__}: {error}"
    return f"silent: it returned {found!r:.100}"


def unclear(message: str, groups: Iterable[tuple[str, ...]] = ()) -> str:
    """Empty, or what a message lacks."""
    for group in groups:
        if not any(text in message for text in group):
            return f"obscure: none of {', '.join(map(repr, group))} in {message!r}"
    return "" if REMEDY.search(message) else f"obscure: no remedy in {message!r}"


def spellings(value: Any) -> tuple[str, ...]:
    """How a message may show a value: as it is, shortened, by its type or its shape, or by the entry that is wrong."""
    found = [type(value).__name__, short(value)]
    if isinstance(value, str):
        found.append(value)
    if isinstance(value, int | float):
        found += [str(value), str(float(value)) if abs(value) < 1e300 else "", f"{value:g}"]
    if isinstance(value, np.ndarray):
        found += [str(value.shape), str(value.tolist()), *_entries(value)]
    if isinstance(value, dict):
        value = [*value, *value.values()]
    if isinstance(value, list | tuple):
        found += [
            f"({len(value)},",
            f"({len(value)} ",
            repr(value)[:20],
            *(t for part in value for t in spellings(part)),
        ]
        try:
            found += spellings(np.array(value, dtype=np.float64))
        except (TypeError, ValueError):  # rows of different length, or no numbers
            found += [str(len(part)) for part in value if isinstance(part, list | tuple)]
    return tuple(dict.fromkeys(text for text in found if text))


def _entries(array: np.ndarray) -> list[str]:
    """The entries that are not like the others: not finite, or the largest and the smallest."""
    if array.dtype.kind not in "if" or array.size == 0:
        return []
    odd = array[~np.isfinite(array)]
    return [str(x) for x in (odd[0] if odd.size else array.max(), array.min())]


def short(value: Any) -> str:
    """A value in the name of a case."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 40 else text[:36] + " ..."


def each(
    what: str, name: str, make: Callable[[Any], object], values: Iterable[Any], also: tuple[str, ...] = ()
) -> list[Case]:
    """A case for every bad value of an argument; the message must name it, or one of `also`, and show the value."""
    return [
        Case(
            f"{what} {name}={short(value)}",
            lambda _, value=value: make(value),  # type: ignore[misc]
            ((name, *also), spellings(value)),
        )
        for value in values
    ]


def warm_up() -> None:
    """Compile what the cases use, which takes longer than any of them may, and must not be cut short."""
    plane = np.random.default_rng(0).random((60, 3)) * [1, 1, 0]
    mesh = ic.meshes.rectangle(0.3, 0.4, (4, 5))
    for options in ({}, {"obstacles": [ic.Floor(-1.0)], "self_collision": True}):
        sim = ic.Simulation(mesh, **options)
        sim.grasp([0])
        sim.step()
    ic.reconstruct(plane)
