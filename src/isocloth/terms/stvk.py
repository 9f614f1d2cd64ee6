"""St. Venant-Kirchhoff membrane of a Koiter shell: isotropic, quadratic in Green's strain.

    E = sum_f (h / 16) sqrt(det Abar) ( E nu / (1 - nu^2) tr(Abar^-1 A - 1)^2 + E / (1 + nu) tr((Abar^-1 A - 1)^2) )

with Young's modulus E in Pa, Poisson's ratio nu and the thickness h in m: plane stress, h E / (1 - nu^2) for a stretch
whose sides are held.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from isocloth.terms.quadratic_membrane import QuadraticMembrane, first_sides, isotropic_law
from isocloth.terms.rest_shape import RestShape


@dataclass(frozen=True, eq=False)
class StVKMembrane(QuadraticMembrane):
    """The term; parameters "young" (Pa), "poisson" and "thickness" (m). Made by `StVKMembrane.of`."""

    name: ClassVar[str] = "stvk"

    @classmethod
    def of(cls, rest: RestShape, young: float, poisson: float, thickness: float) -> StVKMembrane:
        """A membrane on all faces of a rest shape."""
        parameters = {"young": young, "poisson": poisson, "thickness": thickness}
        return cls(rest, parameters, first_sides(len(rest.corners)))

    def law(self, parameters: Mapping[str, Any]) -> Any:
        """H = h times that of plane stress."""
        return isotropic_law(parameters["young"] * parameters["thickness"], parameters["poisson"])
