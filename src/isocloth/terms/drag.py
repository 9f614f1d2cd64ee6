"""Drag of the air on the faces of a cloth, quadratic in the speed.

A face of area A and unit normal n that moves with the velocity u through air of density rho_a and wind w is pushed by

    f = -C rho_a / 2 A |u_n| u_n n,    u_n = (u - w) . n,

the pressure on a plate; what slides along its own plane feels nothing. The force goes to the corners in equal parts. It
is not part of a fabric, whose aerodynamics are virtual mass and linear damping: `Simulation(extra_force=AirDrag(mesh))`
adds it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from isocloth.base.errors import InputError, InputTypeError
from isocloth.base.numeric import as_float, shown
from isocloth.base.typing import FloatArray
from isocloth.meshes import Mesh


class AirDrag:
    """Quadratic drag on every face of a mesh, as an extra force of a simulation.

    Args:
        mesh: whose faces they are.
        coefficient: C; about 1.2 for a plate across the flow.
        air: kg/m^3, density of the air.
        wind: (3,) m/s, velocity of the air.
    """

    def __init__(
        self, mesh: Mesh, *, coefficient: float = 1.2, air: float = 1.2, wind: ArrayLike = (0.0, 0.0, 0.0)
    ) -> None:  # fmt: skip
        if not isinstance(mesh, Mesh):
            raise InputTypeError(f"mesh is {type(mesh).__name__}: expected the isocloth.Mesh of the cloth, sim.mesh")
        for name, value in (("coefficient", coefficient), ("air", air)):
            number = as_float(value)
            if number is None or not 0.0 <= number < np.inf:
                raise InputError(f"{name} = {shown(value)}: expected a finite number, zero or positive")
        try:
            self.wind = np.array(wind, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputTypeError(f"wind = {shown(wind)}: expected a velocity (3,) in m/s") from None
        if self.wind.shape != (3,) or not np.isfinite(self.wind).all():
            raise InputError(f"wind = {wind!r}: expected a velocity (3,) in m/s")
        self.faces = mesh.faces
        self.coefficient, self.air = float(coefficient), float(air)

    def __call__(self, time: float, positions: FloatArray, velocities: FloatArray) -> FloatArray:
        """(n, 3) N on the nodes."""
        corners = positions[self.faces]
        if self.faces.shape[1] == 4:  # half the cross product of the diagonals is the area, whichever way it is bent
            areas = 0.5 * np.cross(corners[:, 2] - corners[:, 0], corners[:, 3] - corners[:, 1])
        else:
            areas = 0.5 * np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        through = np.einsum("fd,fd->f", velocities[self.faces].mean(axis=1) - self.wind, areas)  # A u_n
        square = np.maximum(np.einsum("fd,fd->f", areas, areas), 1e-300)
        push = (-0.5 * self.coefficient * self.air * np.abs(through) * through / square)[:, None] * areas
        out = np.zeros_like(positions)
        np.add.at(out, self.faces, push[:, None] / self.faces.shape[1])
        return out

    def __repr__(self) -> str:
        wind = f", wind={self.wind.tolist()}" if self.wind.any() else ""
        return f"AirDrag(coefficient={self.coefficient:g}, air={self.air:g}{wind})"

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, AirDrag) and repr(self) == repr(other) and np.array_equal(self.faces, other.faces)

    __hash__ = None  # type: ignore[assignment]
