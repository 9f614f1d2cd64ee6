"""Checks that hold the simulator against known answers and the papers' tables: `isocloth reproduce <name>`.

Every check is a module with `TITLE` and `run(quick)`; quick is a small version that takes seconds. Nothing is tuned to
pass: a target that is missed is printed as such and makes the command return 1.

What may be a target:

- A number that could come out wrong while the solver is content: a closed form, a paper's value, a second library, or
  a measure taken of positions, such as lengths of edges, distances from obstacles and between layers.
- The number of steps that failed (not converged, or not finite). The solver may fail at any of them, and a user who
  asks for a motion gets none: that is a claim about robustness.
- What the solver's own acceptance rule bounds (its gap, its residual of Coulomb's law, its isometry error) cannot be
  missed by a step that converged. Such a number is information, and an independent measure beside it has the target.

Results of whole checks are data: `results/<check>.json`, written by `--store`. What a check is, what its targets are
and why one is missed is prose: `notes/<check>.md`. `render` makes the pages of the documentation from both.
"""

from __future__ import annotations

from collections.abc import Sequence

from validation.checks import CHECKS, check
from validation.result import Result

__all__ = ["CHECKS", "Result", "check", "main"]


def main(argv: Sequence[str] | None = None) -> int:
    """`isocloth reproduce`; its parts are loaded here, so that `python -m validation.render` finds them unloaded."""
    from validation.command import main as command

    return command(argv)
