"""Discrete shells: springs along the edges, hinges between the faces (Grinspun et al., Discrete shells, 2003)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from isocloth.models.shell import Limit, Shell
from isocloth.terms.area_stretch import AreaStretch
from isocloth.terms.dihedral_bending import RIGIDITY, DihedralBending
from isocloth.terms.edge_stretch import EdgeStretch
from isocloth.terms.rest_shape import RestShape, RestTerm
from isocloth.terms.rows import Rows


@dataclass(frozen=True, kw_only=True)
class DiscreteShell(Shell):
    """E = k_l / 2 sum (L - L0)^2 / L0 + k_b / 2 sum 3 L0^2 / A (theta - theta0)^2 + k_a / 2 sum (A - A0)^2 / A0.

    stretch: k_l, N, of every edge. The sheet has about 2 k_l / (sqrt(3) l) N/m on edges of the length l.
    bending: k_b, N m. The sheet has the rigidity D = 3 k_b and Poisson's ratio -1/3 on equilateral triangles, and 2.25
        k_b to 9 k_b on squares that are cut in two, by direction and cut. `from_rigidity` takes D.
    area: k_a, N/m, of the area of every face.
    """

    name: ClassVar[str] = "discrete_shell"
    limits: ClassVar[dict[str, Limit]] = {
        "stretch": Limit("N", open=True), "bending": Limit("N m"), "area": Limit("N/m"),
    }  # fmt: skip
    stretch: float = 10.0
    bending: float = 1e-5
    area: float = 0.0

    @classmethod
    def from_rigidity(cls, rigidity: float, *, stretch: float = 10.0, area: float = 0.0) -> DiscreteShell:
        """A shell of the bending rigidity D in N m, as a cylinder on equilateral triangles has it: k_b = D / 3."""
        whole = cls(bending=rigidity)  # whose messages speak of a number in N m too
        return cls(stretch=stretch, bending=whole.bending / RIGIDITY, area=area)

    def membrane_rows(self, rest: RestShape) -> Rows:
        """Lengths of the edges."""
        return EdgeStretch.of(rest, self.stretch).rows()

    def stencils(self, rest: RestShape) -> tuple[RestTerm, ...]:
        """Dihedral angles and, if they resist, areas."""
        bent: RestTerm = DihedralBending.of(rest, self.bending)
        return (bent, AreaStretch.of(rest, self.area)) if self.area > 0.0 else (bent,)

    def energies(self, rest: RestShape) -> tuple[RestTerm, ...]:
        """Edges, angles and areas."""
        return (EdgeStretch.of(rest, self.stretch), *self.stencils(rest))

    def membrane_stiffness(self, rest: RestShape) -> float:
        """2 k_l / (sqrt(3) l) of the mean edge."""
        return float(2.0 * self.stretch / (np.sqrt(3.0) * EdgeStretch.of(rest, 1.0).length.mean()))
