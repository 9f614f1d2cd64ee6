"""Pseudo-arclength: a branch of equilibria followed by its own length, also where it turns in its parameter.

Unknown are positions y and parameter p, on a sphere about the last point: with the tangent (t, q) and F the gradient,

    F(y, p) = 0,    t.(y - y_0) / L^2 + q (p - p_0) / P^2 = ds,

with the mean over the mass of the first product, L the size of the cloth and P that of the parameter. Each step of
Newton's method takes two solves with the second derivative A alone. Reference: Keller, Numerical solution of
bifurcation and nonlinear eigenvalue problems, 1977.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from isocloth.base.errors import ConvergenceError, InputError
from isocloth.base.typing import FloatArray
from isocloth.statics.find import Found
from isocloth.statics.hessian import Hessian
from isocloth.statics.polish import FITTING, SOLVED, Polisher, residual_of
from isocloth.statics.potential import Potential
from isocloth.statics.problem import Problem, Scene

#: iterations of a step, after how few of them the next one is longer, and by how much; shorter where it fails
MOST, QUICK, LONGER, SHORTER = 12, 5, 1.5, 0.5

#: part of the first step below which the branch counts as lost
SHORTEST = 1e-4

#: part of the parameter at the start below which it is as good as zero
END = 0.01

#: what a parameter that is zero is measured by
UNIT = 1.0

#: part of the parameter by which it is changed to see what the gradient does
DIFFERENCE = 1e-5


class Point(NamedTuple):
    """A point of a branch."""

    value: float
    problem: Problem
    found: Found


class Tangent(NamedTuple):
    """Direction of a branch: of positions (n, 3), of multipliers (r,) and of the parameter."""

    positions: FloatArray
    tension: FloatArray
    value: float


def follow_branch(
    problem: Problem, found: Found, parameter: str, *, step: float, count: int, forward: bool
) -> list[Point]:
    """So many further points of the branch through an equilibrium, or less where its parameter comes to zero.

    step: length of the first step, as part of the parameter; of the shape, as part of the cloth.
    forward: whether the parameter grows at first.
    """
    if found.touching is not None and found.touching.active.any():
        raise InputError("the cloth touches something: expected a branch without contacts; use .continued(...)")
    value = problem.value(parameter)
    curve = _Curve(problem, parameter, found.positions, abs(value) if value != 0.0 else UNIT)
    here = Point(value, problem, found)
    tangent = curve.tangent(here, None)
    if (tangent.value > 0.0) != forward:
        tangent = Tangent(-tangent.positions, -tangent.tension, -tangent.value)
    points: list[Point] = []
    length = step
    while len(points) < count:
        there, iterations = curve.correct(here, tangent, length)
        if there is None:
            length *= SHORTER
            if tangent.value < 0.0 and here.value < END * curve.unit:
                break  # it ends where its parameter is zero
            if length < SHORTEST * step:
                raise ConvergenceError(
                    f"the branch was lost at {parameter} = {here.value:.6g} after {len(points)} points: expected a "
                    "smooth one; begin with a smaller step, or from another equilibrium"
                )
            continue
        tangent = curve.tangent(there, tangent)
        points.append(there)
        here = there
        length = min(length * LONGER, 4.0 * step) if iterations <= QUICK else length
    return points


class _Curve:
    """The equilibria of a problem over one parameter."""

    def __init__(self, problem: Problem, parameter: str, positions: FloatArray, unit: float) -> None:
        self.problem, self.parameter, self.unit = problem, parameter, unit
        self._positions = positions
        scene = Scene(problem, positions)
        self.size, self.held = scene.size, scene.held
        mass = scene.cloth.area / scene.cloth.area.sum()
        self.metric = (mass / self.size**2)[:, None]

    def at(self, value: float) -> tuple[Problem, Polisher]:
        """The problem at a value, and its equations."""
        problem = self.problem.changed(self.parameter, value)
        return problem, Polisher(Scene(problem, self._positions).cloth, self.held)

    def slope(self, value: float, positions: FloatArray, tension: FloatArray) -> FloatArray:
        """dF/dp (n, 3) at positions; w C follows the parameter, as the condensed equations have it."""
        step = DIFFERENCE * self.unit
        ends = []
        for side in (value + step, value - step):
            _, solver = self.at(side)
            solver.potential.move(positions)
            ends.append(solver.potential.gradient())
        out: FloatArray = (ends[0] - ends[1]) / (2.0 * step)
        out[self.held] = 0.0
        return out

    def tangent(self, point: Point, before: Tangent | None) -> Tangent:
        """Of length one, and on the side of the one before."""
        _, solver = self.at(point.value)
        positions, tension = point.found.positions, point.found.tension
        solver.potential.move(positions)
        slope = self.slope(point.value, positions, tension)
        along = _solved(solver.hessian(tension, None), -slope)
        size = float(np.sqrt((self.metric * along**2).sum() + 1.0 / self.unit**2))
        out = Tangent(along / size, self._tension_along(solver.potential, along) / size, 1.0 / size)
        if before is not None and self._product(out, before.positions, before.value) < 0.0:
            out = Tangent(-out.positions, -out.tension, -out.value)
        return out

    def _tension_along(self, potential: Potential, step: FloatArray) -> FloatArray:
        """How multipliers follow a displacement, with the parameter as it is."""
        rest = potential.linearised_tension(np.zeros_like(step))
        return np.asarray(potential.linearised_tension(step) - rest)

    def _product(self, tangent: Tangent, positions: FloatArray, value: float) -> float:
        return float((self.metric * tangent.positions * positions).sum() + tangent.value * value / self.unit**2)

    def correct(self, here: Point, tangent: Tangent, length: float) -> tuple[Point | None, int]:
        """The point of the branch at a length from here, and the iterations it took; None where there is none."""
        y = here.found.positions + length * tangent.positions
        tension, value = here.found.tension + length * tangent.tension, here.value + length * tangent.value
        for k in range(MOST):
            if value < 0.0:
                return None, k
            problem, solver = self.at(value)
            solver.potential.move(y)
            gone = self._product(tangent, y - here.found.positions, value - here.value)
            residual = residual_of(solver.potential, tension, self.held, None)
            fitting = solver.potential.strain_gap(tension)
            if k > 0 and residual < SOLVED and fitting < FITTING and abs(gone - length) < 1e-6 * length:
                found = Found(y, tension, None, residual, True, "", k)
                return Point(value, problem, found), k
            force = -solver.potential.gradient()
            force[self.held] = 0.0
            hessian = solver.hessian(tension, None)
            first = _solved(hessian, force)
            second = _solved(hessian, -self.slope(value, y, tension))
            down = tangent.value / self.unit**2 + float((self.metric * tangent.positions * second).sum())
            change = (length - gone - float((self.metric * tangent.positions * first).sum())) / down
            step = first + change * second
            if not np.isfinite(step).all() or np.abs(step).max() > 0.2 * self.size:
                return None, k
            # the multipliers belong to the new value of the parameter, which may change the weights of the rows
            ahead = Potential(self.at(value + change)[1].cloth)
            ahead.move(y)
            tension = ahead.linearised_tension(step)
            y, value = y + step, value + change
        return None, MOST


def _solved(hessian: Hessian, force: FloatArray) -> FloatArray:
    return hessian.solve(force) if hessian.factorise() else hessian.solve_indefinite(force)
