"""Strips clamped along their width: how they are turned about their length, and how far their tip goes sideways."""

from __future__ import annotations

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

    def __init__(self, strip: Strip, model: str | Model, thickness: float, solver: Solver) -> None:
        self.strip, self.model, self.thickness, self.solver = strip, model, thickness, solver
        self.positions: FloatArray | None = None
        self.unsolved = 0
        self.poisson = self._material(1.0)[2]

    def _material(self, gamma: float) -> tuple[Model, Fabric, float]:
        rigidity = DENSITY * GRAVITY * self.strip.free**3 / gamma
        return material(
            self.model, rigidity=rigidity, thickness=self.thickness, poisson=POISSON, fabric=Fabric(density=DENSITY)
        )

    def at(self, gamma: float, angle: float) -> float:
        """Sideways displacement of the tip over the length, with the sign of y, at Gamma and an angle of the clamp."""
        strip = self.strip
        turned = turn(strip.mesh.vertices, angle)
        positions = turned.copy() if self.positions is None else self.positions.copy()
        positions[strip.held] = turned[strip.held]
        model, fabric, _ = self._material(gamma)
        found: Settled = self.solver(Problem(
            mesh=strip.mesh.with_vertices(positions), rest=strip.mesh, model=model, fabric=fabric, held=strip.held,
            gravity=GRAVITY,
        ))  # fmt: skip
        self.unsolved += not found.converged
        self.positions = found.positions
        return float(found.positions[strip.tip, 1].mean() / strip.free)


def turn(vertices: FloatArray, angle: float) -> FloatArray:
    """Vertices (n, 3) of a strip in the plane of x and y, turned about x: at 0 its width is along z."""
    x, y, _ = vertices.T
    return np.stack([x, y * np.sin(angle), y * np.cos(angle)], axis=1)


def settle_closely(problem: Problem) -> Settled:
    """`settle`, as far as buckling asks for: near its threshold what is left of a bend is hardly out of balance."""
    return settle(problem, tolerance=2e-7, most=1500)
