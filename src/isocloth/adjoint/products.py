"""Products of a displacement v with dG/dp, for the gradient G(x; p) of the potential energy of a cloth and all its p.

    v . dG/dX    (p, 3) N for the rest shape X,
    v . dG/dq    for a stiffness, a density or gravity q,

without any matrix of the size of the cloth times that of the rest shape: whoever solves A^T v = -dL/dx has dL/dp from
these, and whoever asks for the gradient of |x - xt|^2 / 2 in X needs nothing else. The masses of nodes depend on X and
on the density, and what depends on masses can be handed on, as the springs of contacts.
"""

from __future__ import annotations

from dataclasses import fields, replace
from functools import cached_property

import numpy as np

from isocloth.adjoint.areas import areas_pulled_back
from isocloth.adjoint.nets import net_slopes, row_strains
from isocloth.adjoint.shells import shell_parameters, shell_slopes
from isocloth.adjoint.variation import Slopes
from isocloth.base.typing import FloatArray, IntArray
from isocloth.cloth.cloth import Cloth
from isocloth.fabric import Fabric
from isocloth.models import Model
from isocloth.models.model import matrix_of
from isocloth.terms.bending import bending
from isocloth.terms.hinge import HingeBending
from isocloth.terms.rest_shape import RestShape
from isocloth.terms.rows import shorter
from isocloth.terms.stiffening import bends_along
from isocloth.terms.term import assembled_blocks

#: relative change of a parameter in which the weights of rows are compared: they are linear in all of them
CHANGE = 1e-3
#: fields of a fabric that are no stiffness, and are dealt with by others
OTHERS = ("density", "gravity_density", "damping", "bending_damping", "thickness", "friction")


class Products:
    """v . dG/dp of one cloth at one place."""

    def __init__(
        self, cloth: Cloth, positions: FloatArray, way: FloatArray, gravity: float, by_mass: FloatArray | None = None
    ) -> None:
        """positions: x (n, 3) m; way: v (n, 3); gravity: m/s^2 along -z; by_mass: (n,) derivative in the masses of
        nodes of what is beside G, added to all that changes masses."""
        self.cloth, self.x = cloth, np.ascontiguousarray(positions)
        self.way, self.gravity = np.ascontiguousarray(way), gravity
        self.by_mass = np.zeros(cloth.n) if by_mass is None else by_mass
        self._height = self.way[:, 2]

    @property
    def rest(self) -> FloatArray:
        """(p, 3): in the nodes of the rest shape, or in its corners face by face where faces have their own."""
        return self._slopes.value

    @property
    def kinks(self) -> IntArray:
        """Nodes of the rest shape where the derivative is not the same on all sides."""
        return self._slopes.kinks

    @cached_property
    def _shape(self) -> RestShape:
        return RestShape.of(self.cloth.mesh) if self.cloth.shape is None else self.cloth.shape

    @cached_property
    def _slopes(self) -> Slopes:
        cloth = self.cloth
        weighs = np.empty(cloth.n)
        for fabric, nodes in cloth.parts:
            weighs[nodes] = self.gravity * fabric.weight_density
        by_area = self._height * weighs + self.by_mass * cloth.density
        faces = cloth.mesh.faces
        if cloth.model.shell:
            found = shell_slopes(cloth, self._shape, self.x, self.way)
            points, corners = self._shape.points, self._shape.corners
        else:
            found, points, corners = net_slopes(cloth, self.x, self.way), cloth.mesh.vertices, faces
            for term in cloth.stencils:
                assert isinstance(term, HingeBending)
                columns = assembled_blocks(term, term.rest_gradient(self.x), cloth.n)
                found = found._replace(value=found.value + (columns.T @ self.way.ravel()).reshape(-1, 3))
        return found._replace(value=found.value + areas_pulled_back(points, faces, corners, by_area))

    @cached_property
    def parameters(self) -> dict[str, float]:
        """By name: gravity, and of the fabric, if there is one alone, and of the model what is a number and acts on a
        cloth at rest; all else of these, damping say, is left out."""
        cloth = self.cloth
        area = cloth.area
        densities = np.empty(cloth.n)
        for fabric, nodes in cloth.parts:
            densities[nodes] = fabric.weight_density
        found = {"gravity": float(np.sum(self._height * area * densities))}
        if len(cloth.fabrics) == 1:
            fabric = cloth.fabric
            by_weight = self.gravity * float(np.sum(self._height * area))
            alone = fabric.gravity_density is None
            found["density"] = float(np.sum(self.by_mass * area)) + (by_weight if alone else 0.0)
            found["gravity_density"] = by_weight
        if cloth.model.shell:
            own = shell_parameters(cloth, self._shape, self.x, self.way)
            return found | own
        for name in ("gravity_density", "density"):
            if name in found and cloth.fabric.membrane is None:
                value = cloth.fabric.weight_density if name == "gravity_density" else cloth.fabric.density
                found[name] += self._by_weights(cloth.fabric, cloth.model, name, value)
        if len(cloth.fabrics) == 1:
            found["bending"] = self._bending()
            for field in fields(Fabric):
                if field.name not in (*OTHERS, "bending"):
                    value = getattr(cloth.fabric, field.name)
                    if field.name == "membrane" and value is None:
                        value = cloth.fabric.membrane_stiffness
                    if value is not None:
                        found[field.name] = self._by_weights(cloth.fabric, cloth.model, field.name, value)
            for field in fields(cloth.model):
                value = getattr(cloth.model, field.name)
                if isinstance(value, float):
                    found[field.name] = self._by_weights(cloth.fabric, cloth.model, field.name, value)
        return found

    def _bending(self) -> float:
        """In the bending stiffness of the only fabric."""
        cloth = self.cloth
        kind = cloth.model.bending
        if kind != "hinge":
            found = float(np.sum(self.way * (bending(cloth.mesh, matrix_of(str(kind))) @ self.x)))
            stiffens = kind == "stiffening"
            return found + float(bends_along(cloth.mesh, self.x, self.way).sum()) if stiffens else found
        term = HingeBending.of(cloth.mesh, cloth.fabric.bending)
        return float(np.sum(term.parameter_gradient(self.x)["bending"] * self.way[term.stencils]))

    def _by_weights(self, fabric: Fabric, model: Model, name: str, value: float) -> float:
        """Through the weights of rows."""
        mesh = self.cloth.mesh
        step = CHANGE * value if value > 0.0 else 1.0
        sides = []
        for sign in (1.0, -1.0 if value > 0.0 else 0.0):
            changed = {name: value + sign * step}
            if name in {field.name for field in fields(model)}:
                rows = replace(model, **changed).rows(mesh, fabric, None)
            else:
                rows = model.rows(mesh, replace(fabric, **changed), None)
            sides.append(rows)
        if len(sides[0]) != len(sides[1]):  # of a stiffness of zero there are no rows: one by its side has them
            sides[1] = replace(sides[0], weight=np.zeros(len(sides[0])))
        rows = sides[0]
        strain, along = row_strains(rows, shorter(rows.arrays, self.x), self.x, self.way)
        change = (sides[0].weight - sides[1].weight) / (step * (2.0 if value > 0.0 else 1.0))
        return float(np.sum(change * strain * along))
