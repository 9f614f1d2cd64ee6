"""Orthotropic membrane of woven cloth: unlike moduli along warp and weft, and one of shear.

Per area, with Green's strain in the frame of the threads (1 along the warp, 2 along the weft),

    E = (S1 e11^2 + 2 nu S2 e11 e22 + S2 e22^2) / (2 (1 - nu nu')) + 2 G e12^2,    nu' = nu S2 / S1

which is the plane law s11 = (S1 e11 + nu S2 e22) / (1 - nu nu'), s12 = 2 G e12. S1, S2 and G are moduli times thickness
in N/m; nu is by how much the weft contracts when the warp is pulled, over the strain of the warp. Isotropic sheets have
S1 = S2 = E h and G = E h / (2 (1 + nu)). The energy is positive where nu^2 S2 < S1.

A shear by the small angle g has e12 = g / 2 and costs G g^2 / 2 per area, as k_s of the other models does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from isocloth.base.errors import FabricError
from isocloth.base.typing import FloatArray
from isocloth.terms.quadratic_membrane import QuadraticMembrane
from isocloth.terms.rest_shape import RestShape
from isocloth.terms.strain import derivatives


@dataclass(frozen=True, eq=False)
class OrthotropicMembrane(QuadraticMembrane):
    """The term; parameters "warp", "weft", "shear" (N/m) and "poisson". Made by `OrthotropicMembrane.of`."""

    name: ClassVar[str] = "orthotropic"

    @classmethod
    def of(
        cls, rest: RestShape, warp: float, weft: float, shear: float, poisson: float,
        direction: FloatArray | None = None,
    ) -> OrthotropicMembrane:  # fmt: skip
        """A membrane on all faces.

        direction: (f, 2) of the warp in the basis d1, d2 of a face; None = along the mesh, see `warp_directions`.
        """
        if not poisson**2 * weft < warp:
            raise FabricError(
                f"poisson = {poisson!r}: with warp = {warp:g} N/m and weft = {weft:g} N/m the energy is negative; "
                f"expected less than {np.sqrt(warp / weft):.3g} in size"
            )
        parameters = {"warp": warp, "weft": weft, "shear": shear, "poisson": poisson}
        return cls(rest, parameters, warp_directions(rest) if direction is None else direction)

    def law(self, parameters: Mapping[str, Any]) -> Any:
        """H over e11, e22, e12."""
        return orthotropic_law(parameters["warp"], parameters["weft"], 4.0 * parameters["shear"], parameters["poisson"])


def orthotropic_law(warp: Any, weft: Any, twist: Any, poisson: Any) -> Any:
    """H (3, 3) with the stiffnesses of e11 and e22, coupled by Poisson's ratio, and H33 = `twist`."""
    scale = 1.0 / (1.0 - poisson * poisson * weft / warp)
    none = 0.0 * (scale + twist)
    return np.stack([
        np.stack([warp * scale + none, poisson * weft * scale + none, none]),
        np.stack([poisson * weft * scale + none, weft * scale + none, none]),
        np.stack([none, none, twist + none]),
    ])  # fmt: skip


def warp_directions(rest: RestShape) -> FloatArray:
    """(f, 2) direction of the warp in every face, in the basis d1, d2: the coordinate axis that lies best in the rest
    shape, as in the elastic model. Faces with corners of their own take the x axis in their own plane, as panels of a
    pattern do, or the axis that lies best in it if x is nearly across."""
    p = rest.points[rest.corners]
    if not rest.torn:
        _, factors, _ = derivatives(rest.mesh.with_vertices(rest.points))
        # u grows by 1 along the warp: (d1, d2) p = w with p = R^-1 w, and R^-1 has the factors as its rows
        return np.ascontiguousarray(factors[:, 1:, 0])
    basis = np.stack([p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]], axis=2)  # (f, 3, 2)
    inverse = np.linalg.pinv(basis)
    along = np.einsum("fij,fjk->fik", basis, inverse)  # (f, 3, 3) onto the plane of the face
    axis = np.where(along[:, 0, 0] > 0.1, 0, np.argmax(np.einsum("fii->fi", along), axis=1))
    return np.ascontiguousarray(inverse[np.arange(len(p)), :, axis])
