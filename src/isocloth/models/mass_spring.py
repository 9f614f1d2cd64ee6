"""The mass-spring model: nodes joined by springs along, across and over the cells (Provot 1995; Choi and Ko 2002)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from isocloth.base.errors import MeshError
from isocloth.fabric import Fabric
from isocloth.meshes import Mesh
from isocloth.models.model import Model, typical_shear
from isocloth.terms.rows import Rows, stack
from isocloth.terms.springs import flexion_springs, shear_springs, structural_springs


@dataclass(frozen=True, kw_only=True)
class MassSpring(Model):
    """Springs after Hooke, scaled by their share of the cloth.

    stretch: N/m, Young's modulus times thickness of the structural springs alone.
    shear: k_s, N/m, of the springs across the cells; a shear by the small angle g costs k_s g^2 / 2 per area. None =
        that of the fabric, else 30. Triangles have no such springs: their edges resist shear.
    flexion: N/m, of the springs over every second node: a flat cloth resists stretching by so much more, and a fold of
        curvature c in elements of size h costs flexion c^4 h^4 / 128 per area.

    `Fabric.bending`, if there is any, comes on top: it does not depend on the mesh.
    """

    name: ClassVar[str] = "mass_spring"
    stretch: float = 5000.0
    shear: float | None = None
    flexion: float = 20.0

    def rows(self, mesh: Mesh, fabric: Fabric, discretisation: str | None = None) -> Rows:
        """Structural, shear and flexion springs."""
        self.refuse_discretisation(discretisation)
        parts = [structural_springs(mesh, max(self.stretch, 1e-9))]
        if mesh.element == "quad":
            parts.append(shear_springs(mesh, max(typical_shear(self.shear, fabric), 1e-9)))
        elif self.shear is not None:
            raise MeshError(
                f"shear = {self.shear:g} N/m: springs across the cells need quads; on triangles edges in all "
                "directions resist shear, leave it out"
            )
        if self.flexion > 0.0:
            parts.append(flexion_springs(mesh, self.flexion))
        return stack(*parts)
