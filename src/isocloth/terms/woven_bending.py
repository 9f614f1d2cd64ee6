"""Bending of woven cloth: the second fundamental form of a Koiter shell under an orthotropic law.

Per area, with the curvatures k in the frame of the threads (1 along the warp, 2 along the weft),

    E = (B1 k11^2 + 2 nu B2 k11 k22 + B2 k22^2) / (2 (1 - nu nu')) + T k12^2,    nu' = nu B2 / B1

with the rigidities B1 = "bending" of a strip that is bent along the warp, B2 = "bending_weft" along the weft and
T = "twist", all in N m. A strip of a free width that is bent along the warp costs B1 k^2 / 2, and one whose width is
kept straight B1 / (1 - nu nu'). Isotropic sheets have B1 = B2 = E h^3 / 12 and T = B1 / (1 + nu).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from isocloth.terms.koiter_bending import KoiterBending
from isocloth.terms.orthotropic import orthotropic_law


@dataclass(frozen=True, eq=False)
class WovenBending(KoiterBending):
    """The term; parameters "bending", "bending_weft", "twist" (N m) and "poisson". Made by `WovenBending.of`."""

    name: ClassVar[str] = "woven"

    @staticmethod
    def law(parameters: Mapping[str, Any]) -> Any:
        """H (3, 3) N m over the curvatures 11, 22, 12."""
        weft, twist = parameters["bending_weft"], parameters["twist"]
        return orthotropic_law(parameters["bending"], weft, 2.0 * twist, parameters["poisson"])
