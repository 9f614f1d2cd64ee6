"""A target of chapter 6 and what carries it: from the arguments of a caller to an objective for every density."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from isocloth.base.errors import InputError, InputTypeError, MeshError
from isocloth.base.numeric import as_array, as_float, check_flag, shown
from isocloth.base.typing import FloatArray
from isocloth.fabric import Fabric
from isocloth.inverse.arguments import as_shell
from isocloth.inverse.rest_forces import RestForces
from isocloth.inverse.started import GRAVITY, started
from isocloth.inverse.supports import check_supports, find_supports, lay_on
from isocloth.inverse.thesis.cone_errors import Cones
from isocloth.inverse.thesis.developability import Penalty, gauss_penalty, smooth_penalty
from isocloth.inverse.thesis.draping import Draping
from isocloth.inverse.thesis.objective import Objective
from isocloth.inverse.thesis.plate import PlateLike
from isocloth.meshes import Mesh
from isocloth.models import Model
from isocloth.statics.problem import as_problem

#: part of the friction that forces of contacts may use
PART = 0.975


@dataclass(frozen=True)
class Sought:
    """mesh: the target, laid on what it touches; draping: of any density; cones: of its contacts."""

    mesh: Mesh
    draping: Draping
    cones: Cones
    attraction: float
    penalty: Penalty
    smooth: Penalty

    @classmethod
    def of(
        cls, target: Mesh, fabric: Fabric | None, model: str | Model | None, held: Any, obstacles: Any, contacts: Any,
        gravity: float | None, attraction: float, plate: bool,
    ) -> Sought:  # fmt: skip
        """Of arguments as `ic.invert` has them, checked."""
        if not isinstance(target, Mesh):
            raise InputTypeError(
                f"target is {type(target).__name__}: expected an isocloth.Mesh, Mesh.load('sheet.obj') say"
            )
        if target.element != "triangle":
            raise MeshError(f"target is {target!r}: expected triangles; give it `target.triangulated()`")
        number = as_float(attraction)
        if number is None or not 0.0 <= number < np.inf:
            raise InputError(f"attraction = {shown(attraction)}: expected lambda, N/m, zero or more")
        check_flag(plate, "plate")
        chosen = as_shell(model)
        problem = as_problem(target, fabric, chosen, None, held, obstacles, False,
                             GRAVITY if gravity is None else gravity)  # fmt: skip
        if problem.gravity == 0.0:
            raise InputError("gravity = 0: expected a weight; without one every target is its own rest shape")
        sim = started(problem, contacts)
        laid = target.with_vertices(lay_on(problem, sim, contacts))
        problem = replace(problem, mesh=laid)
        supports = find_supports(problem, sim, laid.vertices, contacts, 0.0)
        check_supports(supports, laid)
        forces = RestForces(laid, PlateLike(chosen) if plate else chosen, 1.0, problem.gravity)
        touched = np.unique(supports.nodes[supports.weights != 0.0])
        draping = Draping(forces, touched)
        return cls(laid, draping, Cones(supports, laid.n_vertices, PART), number, gauss_penalty(laid),
                   smooth_penalty(laid))  # fmt: skip

    def started(self, start: Mesh | FloatArray | None) -> FloatArray:
        """(n, 3) m: the rest shape to begin with."""
        if start is None:
            return self.mesh.vertices.copy()
        given = start.vertices if isinstance(start, Mesh) else start
        points = as_array(given, "start", f"a mesh, or rest places {self.mesh.vertices.shape} in m")
        if points.shape != self.mesh.vertices.shape:
            raise InputError(f"start has shape {points.shape}: expected {self.mesh.vertices.shape}, as the target has")
        return points

    def objective(self, density: float, points: FloatArray, every: bool = False) -> Objective:
        """Of one density, kg/m^2, from a rest shape (n, 3) m; every: whether nodes that touch move at rest too."""
        moving = np.arange(len(points)) if every else self.draping.free
        return Objective(
            self.draping.at_density(density), self.attraction, moving, points, self.penalty, self.smooth, self.cones
        )
