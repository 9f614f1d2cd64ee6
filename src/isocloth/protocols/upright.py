"""Strips clamped along their width: how they are turned about their length, and how far their tip goes sideways."""

from __future__ import annotations

from typing import Any

import numpy as np

from isocloth.base.typing import FloatArray
from isocloth.fabric import Fabric
from isocloth.models import Model
from isocloth.protocols.strip import Problem, Settled, Solver, Strip, material, settle

GRAVITY, DENSITY, POISSON = 9.81, 0.1, 0.35


class Upright:
    """A strip whose clamp is turned about its length: at angle 0 its width is upright, at pi/2 it lies level.

    Asks the solver for one equilibrium after the other, each from where the one before was.
    """

    def __init__(
        self, strip: Strip, model: str | Model, thickness: float, solver: Solver, poisson: float = POISSON
    ) -> None:
        self.strip, self.model, self.thickness, self.solver = strip, model, thickness, solver
        self.positions: FloatArray | None = None
        self.unsolved, self.unstable = 0, 0
        self._asked = poisson
        self.poisson = self._material(1.0)[2]

    def _material(self, gamma: float) -> tuple[Model, Fabric, float]:
        rigidity = DENSITY * GRAVITY * self.strip.free**3 / gamma
        return material(
            self.model, rigidity=rigidity, thickness=self.thickness, poisson=self._asked,
            fabric=Fabric(density=DENSITY), rest=self.strip.mesh,
        )  # fmt: skip

    @property
    def memory(self) -> tuple[FloatArray | None, Any]:
        """Where the strip is, and what the solver knows of that; assign it to go back there."""
        return self.positions, getattr(self.solver, "memory", None)

    @memory.setter
    def memory(self, kept: tuple[FloatArray | None, Any]) -> None:
        self.positions = kept[0]
        if kept[1] is not None:
            self.solver.memory = kept[1]  # type: ignore[attr-defined]

    def problem(self, gamma: float, angle: float) -> Problem:
        """The strip at Gamma and an angle of the clamp, free nodes where they were last."""
        strip = self.strip
        turned = turn(strip.mesh.vertices, angle)
        positions = turned.copy() if self.positions is None else self.positions.copy()
        positions[strip.held] = turned[strip.held]
        model, fabric, _ = self._material(gamma)
        return Problem(
            mesh=strip.mesh.with_vertices(positions), rest=strip.mesh, model=model, fabric=fabric, held=strip.held,
            gravity=GRAVITY,
        )  # fmt: skip

    def at(self, gamma: float, angle: float) -> float:
        """Sideways displacement of the tip over the length, with the sign of y, at Gamma and an angle of the clamp."""
        found: Settled = self.solver(self.problem(gamma, angle))
        self.unsolved += not found.converged
        self.unstable += not found.stable
        self.positions = found.positions
        return float(found.positions[self.strip.tip, 1].mean() / self.strip.free)


def turn(vertices: FloatArray, angle: float) -> FloatArray:
    """Vertices (n, 3) of a strip in the plane of x and y, turned about x: at 0 its width is along z."""
    x, y, _ = vertices.T
    return np.stack([x, y * np.sin(angle), y * np.cos(angle)], axis=1)


def settle_closely(problem: Problem) -> Settled:
    """`settle`, as far as buckling asks for: near its threshold what is left of a bend is hardly out of balance."""
    return settle(problem, tolerance=2e-7, most=1500)
