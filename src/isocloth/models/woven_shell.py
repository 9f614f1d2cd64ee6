"""Woven shells: unlike stiffnesses along warp and weft, soft in shear."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from isocloth.base.errors import FabricError
from isocloth.models.shell import Limit, Shell
from isocloth.terms.mid_edge import NORMALS
from isocloth.terms.orthotropic import OrthotropicMembrane
from isocloth.terms.rest_shape import RestShape, RestTerm
from isocloth.terms.rows import Rows
from isocloth.terms.woven_bending import WovenBending


@dataclass(frozen=True, kw_only=True)
class WovenShell(Shell):
    """An orthotropic sheet. The warp is the coordinate axis that lies best in the rest shape, as in the elastic model.

    warp, weft: N/m, Young's modulus times thickness along the threads.
    shear: k_s, N/m; a shear by the small angle g costs k_s g^2 / 2 per area.
    poisson: by how much the weft contracts when the warp is pulled, over the strain of the warp.
    bending: N m, rigidity of a strip that is bent along the warp.
    bending_weft: N m, along the weft; None = as much less than along the warp as the weft is softer.
    twist: N m, of the twist k12, which costs twist k12^2 per area; None = the geometric mean of both rigidities.
    normals: of the edges, "average", "sin" or "tan", as of a Koiter shell.
    """

    name: ClassVar[str] = "woven"
    limits: ClassVar[dict[str, Limit]] = {
        "warp": Limit("N/m", open=True), "weft": Limit("N/m", open=True), "shear": Limit("N/m", open=True),
        "poisson": Limit("", -1.0, True), "bending": Limit("N m", open=True), "bending_weft": Limit("N m", open=True),
        "twist": Limit("N m", open=True),
    }  # fmt: skip
    choices: ClassVar[dict[str, tuple[str, ...]]] = {"normals": NORMALS}
    warp: float = 2000.0
    weft: float = 1000.0
    shear: float = 30.0
    poisson: float = 0.2
    bending: float = 2e-5
    bending_weft: float | None = None
    twist: float | None = None
    normals: str = "average"

    def __post_init__(self) -> None:
        super().__post_init__()
        across = self._rigidities["bending_weft"]
        for one, other, names in ((self.warp, self.weft, "warp and weft"), (self.bending, across, "bending")):
            if not self.poisson**2 * other < one:
                raise FabricError(
                    f"poisson = {self.poisson!r}: the energy of {names} would be negative; expected less than "
                    f"{np.sqrt(one / other):.3g} in size"
                )

    @property
    def _rigidities(self) -> dict[str, float]:
        weft = self.bending * self.weft / self.warp if self.bending_weft is None else self.bending_weft
        twist = float(np.sqrt(self.bending * weft)) if self.twist is None else self.twist
        return {"bending": self.bending, "bending_weft": weft, "twist": twist, "poisson": self.poisson}

    def membrane_rows(self, rest: RestShape) -> Rows:
        """Green's strain along the threads."""
        return self._membrane(rest).rows()

    def stencils(self, rest: RestShape) -> tuple[RestTerm, ...]:
        """The second fundamental form."""
        return (WovenBending.of(rest, self.normals, self._rigidities, self._membrane(rest).direction),)

    def energies(self, rest: RestShape) -> tuple[RestTerm, ...]:
        """Membrane and second fundamental form."""
        return (self._membrane(rest), *self.stencils(rest))

    def membrane_stiffness(self, rest: RestShape) -> float:
        """Of the stiffer threads."""
        return max(self.warp, self.weft)

    def _membrane(self, rest: RestShape) -> OrthotropicMembrane:
        return OrthotropicMembrane.of(rest, self.warp, self.weft, self.shear, self.poisson)
