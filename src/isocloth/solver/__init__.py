"""Solvers of a step, behind one interface."""

from __future__ import annotations

from typing import Any

from isocloth.problem import Problem
from isocloth.solver.newton import TIGHT, Newton, NewtonOptions
from isocloth.solver.outcome import Outcome, Solver

__all__ = ["SOLVERS", "TIGHT", "Newton", "NewtonOptions", "Outcome", "Solver", "make_solver"]

SOLVERS = ("newton",)


def make_solver(name: str, problem: Problem, options: Any = None) -> Solver:
    """A solver by name, bound to a problem."""
    return Newton(problem, options)
