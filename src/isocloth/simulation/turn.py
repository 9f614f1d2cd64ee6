"""Whose turn it is: one simulation takes one step at a time.

Kernels let other threads run. A second step from the same state would end in a state that the first one replaces, and
nobody would notice that a step is missing; the same holds for positions that are assigned in the middle of a step.
"""

from __future__ import annotations

from typing import Any

from isocloth.base.errors import BusyError


class Turn:
    """A token that is taken for the length of a step. Copies have one of their own, which nobody has taken."""

    def __init__(self) -> None:
        self._token = [None]

    def begin(self) -> None:
        """Take the token; BusyError if somebody has it. Taking it is one operation, which no thread can cut in two."""
        try:
            self._token.pop()
        except IndexError:
            raise BusyError(
                "the simulation is in the middle of a step: expected one step at a time; step it from one thread and "
                "not from its own paths or forces, or give every thread a copy, copy.deepcopy(sim)"
            ) from None

    def end(self) -> None:
        """Give the token back."""
        self._token.append(None)

    def check(self, what: str) -> None:
        """BusyError if a step is under way, whose end would overwrite what is assigned now."""
        if not self._token:
            raise BusyError(
                f"{what} assigned in the middle of a step, whose end would overwrite it: expected between steps; "
                "assign after sim.step() has returned"
            )

    def __deepcopy__(self, memo: dict[int, Any]) -> Turn:
        return Turn()

    def __reduce__(self) -> tuple[type[Turn], tuple[()]]:
        return Turn, ()
