"""The elastic model: a membrane that stretches and shears (Baraff and Witkin, Large steps in cloth simulation)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from isocloth.fabric import Fabric
from isocloth.meshes import Mesh
from isocloth.models.model import Model, typical_shear
from isocloth.terms.rows import Rows, stack
from isocloth.terms.strain import shear_rows, stretch_rows


@dataclass(frozen=True, kw_only=True)
class Elastic(Model):
    """Energies per area: stretch e^2 / 2 along warp and weft, with the strain e = abs(w_u) - 1, and shear g^2 / 2.

    stretch: N/m, Young's modulus times thickness along the warp.
    weft: N/m, the same along the weft; None = as along the warp.
    shear: k_s, N/m, of g = w_u . w_v; None = that of the fabric, else 30.

    Nothing becomes narrower when it is stretched (Poisson's ratio 0). Bending is `Fabric.bending`, by the same
    terms as in the isometric model; `bending="hinge"` is nearest to Baraff and Witkin's angles between triangles.
    """

    name: ClassVar[str] = "elastic"
    stretch: float = 5000.0
    weft: float | None = None
    shear: float | None = None

    def rows(self, mesh: Mesh, fabric: Fabric, discretisation: str | None = None) -> Rows:
        """Stretch and shear of every triangle."""
        self.refuse_discretisation(discretisation)
        warp = max(self.stretch, 1e-9)
        weft = warp if self.weft is None else max(self.weft, 1e-9)
        return stack(stretch_rows(mesh, warp, weft), shear_rows(mesh, typical_shear(self.shear, fabric)))
