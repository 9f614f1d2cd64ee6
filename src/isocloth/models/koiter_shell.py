"""Koiter shells: a sheet of an elastic material, from Young's modulus, Poisson's ratio and thickness (Chen et al.,
Physical simulation of environmentally induced thin shell deformation, 2018; LIBSHELL)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from isocloth.models.shell import Limit, Shell
from isocloth.terms.koiter_bending import KoiterBending
from isocloth.terms.mid_edge import NORMALS
from isocloth.terms.neo_hookean import NeoHookeanMembrane
from isocloth.terms.neo_hookean_excess import NeoHookeanExcess
from isocloth.terms.rest_shape import RestShape, RestTerm
from isocloth.terms.rows import Rows
from isocloth.terms.stvk import StVKMembrane

MEMBRANES = ("stvk", "neo-hookean")


@dataclass(frozen=True, kw_only=True)
class KoiterShell(Shell):
    """A sheet with the membrane stiffness E h and the bending rigidity D = E h^3 / (12 (1 - nu^2)).

    young: E, Pa. Cloth is much softer when it bends than a solid sheet of its thickness: choose E and h for both,
        E h for its stretch and E h^3 for its bend.
    poisson: nu, more than -1 and at most 0.5.
    thickness: h, m, of the elastic sheet; contact keeps `Fabric.thickness`.
    normals: of the edges, "average", "sin" or "tan". "average" is fastest and right on meshes that look alike from both
        sides of every edge; "sin" and "tan" are right on all, and carry an angle for every edge.
    membrane: "stvk" or "neo-hookean", which differ at strains of some percent and more.
    """

    name: ClassVar[str] = "koiter"
    limits: ClassVar[dict[str, Limit]] = {
        "young": Limit("Pa", open=True), "poisson": Limit("", -1.0, True, 0.5), "thickness": Limit("m", open=True),
    }  # fmt: skip
    choices: ClassVar[dict[str, tuple[str, ...]]] = {"normals": NORMALS, "membrane": MEMBRANES}
    young: float = 2e6
    poisson: float = 0.3
    thickness: float = 5e-4
    normals: str = "average"
    membrane: str = "stvk"

    @property
    def rigidity(self) -> float:
        """D, N m."""
        return self.young * self.thickness**3 / (12.0 * (1.0 - self.poisson**2))

    def membrane_rows(self, rest: RestShape) -> Rows:
        """Green's strain in every face, with the energy of St. Venant and Kirchhoff."""
        return StVKMembrane.of(rest, self.young, self.poisson, self.thickness).rows()

    def stencils(self, rest: RestShape) -> tuple[RestTerm, ...]:
        """The second fundamental form and what a neo-Hookean membrane costs beyond the rows."""
        material = {"young": self.young, "poisson": self.poisson, "thickness": self.thickness}
        bent: RestTerm = KoiterBending.of(rest, self.normals, material)
        return (bent,) if self.membrane == "stvk" else (bent, NeoHookeanExcess.of(rest, **material))

    def energies(self, rest: RestShape) -> tuple[RestTerm, ...]:
        """Membrane and second fundamental form."""
        kind = StVKMembrane if self.membrane == "stvk" else NeoHookeanMembrane
        return (kind.of(rest, self.young, self.poisson, self.thickness), self.stencils(rest)[0])

    def membrane_stiffness(self, rest: RestShape) -> float:
        """E h."""
        return self.young * self.thickness
