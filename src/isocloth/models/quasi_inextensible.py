"""The quasi-inextensible model: threads keep their length, the cloth shears (Goldenthal et al., Efficient simulation of
inextensible cloth, 2007; the papers' first rival)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from isocloth.base.errors import MeshError
from isocloth.fabric import Fabric
from isocloth.meshes import Mesh
from isocloth.models.model import Model, typical_shear
from isocloth.terms.isometry import isometry
from isocloth.terms.rows import Rows, stack
from isocloth.terms.springs import shear_springs


@dataclass(frozen=True, kw_only=True)
class QuasiInextensible(Model):
    """All edges of a quad mesh are constraints, and springs along the diagonals resist shear.

    shear: k_s, N/m; a shear by the small angle g costs k_s g^2 / 2 per area. None = that of the fabric, else 30.

    Fast projection solves it without contact. Where there is contact, and with solver="newton", edges are as stiff as
    the membrane of the fabric.
    """

    name: ClassVar[str] = "quasi_inextensible"
    solver: ClassVar[str] = "projection"
    inextensible: ClassVar[bool] = True
    shear: float | None = None

    def rows(self, mesh: Mesh, fabric: Fabric, discretisation: str | None = None) -> Rows:
        """Squared lengths of all edges, and springs along all diagonals."""
        self.refuse_discretisation(discretisation)
        if mesh.element != "quad":
            raise MeshError(
                "the quasi-inextensible model needs quads: triangles whose edges all keep their length cannot bend. "
                'Use a quad mesh, or another model, e.g. model="nonconforming"'
            )
        edges = isometry(mesh, fabric.membrane_stiffness, "net", shear=False)
        return stack(edges, shear_springs(mesh, max(typical_shear(self.shear, fabric), 1e-9)))
