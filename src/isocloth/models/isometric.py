"""The isometric model: nothing stretches, and nothing shears unless the fabric says so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from isocloth.fabric import Fabric
from isocloth.meshes import Mesh
from isocloth.models.model import Model
from isocloth.terms.isometry import isometry
from isocloth.terms.rows import Rows, stack
from isocloth.terms.shear import shear


@dataclass(frozen=True, kw_only=True)
class Isometric(Model):
    """The default. Its parameters are those of the fabric, `membrane` and `shear`, and the discretisation."""

    name: ClassVar[str] = "isometric"
    inextensible: ClassVar[bool] = True

    def rows(self, mesh: Mesh, fabric: Fabric, discretisation: str | None = None) -> Rows:
        """Rows of isometry and, if the fabric can shear, of shear."""
        if fabric.shear is None:
            return isometry(mesh, fabric.membrane_stiffness, discretisation)
        rows = isometry(mesh, fabric.membrane_stiffness, discretisation, shear=False, softest=fabric.shear)
        return stack(rows, shear(mesh, fabric.shear, discretisation))
