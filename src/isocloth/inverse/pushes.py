"""The forces that carry a target, at the places where they act."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from isocloth.base.typing import FloatArray, IntArray
from isocloth.inverse.supports import HAND, Supports


class Pushes(NamedTuple):
    """Of hands and bodies on the cloth: k of them.

    places: (k, 3) m. normals: (k, 3), away from what touches; up for hands. forces: (k, 3) N on the cloth.
    friction: (k,) coefficients, inf for hands. body: (k,) 0: layers of the cloth; b: obstacle b - 1; -1: a hand.
    """

    places: FloatArray
    normals: FloatArray
    forces: FloatArray
    friction: FloatArray
    body: IntArray

    @property
    def by_hand(self) -> np.ndarray:
        """(k,) whether it is a hand that holds."""
        return self.body == HAND

    @property
    def pressing(self) -> FloatArray:
        """(k,) N along the normal."""
        return np.asarray(np.einsum("kd,kd->k", self.forces, self.normals))

    @property
    def pulling(self) -> FloatArray:
        """(k,) N along the surface."""
        return np.asarray(np.linalg.norm(self.forces - self.pressing[:, None] * self.normals, axis=1))

    @property
    def used(self) -> FloatArray:
        """(k,) part of the friction that is used, 1 on the border of the cone; 0 for hands, inf for what pulls."""
        press = self.pressing
        bound = np.where(self.by_hand, 0.0, self.friction)
        bound = np.where(self.by_hand, np.inf, bound * np.maximum(press, 0.0))
        out = np.where(self.pulling > 0.0, np.inf, 0.0)
        np.divide(self.pulling, bound, out=out, where=bound > 0.0)
        return np.where((press < 0.0) & ~self.by_hand, np.inf, out)


def pushes_of(supports: Supports, positions: FloatArray, forces: FloatArray) -> Pushes:
    """Supports with the forces (k, 3) N that they bear, of a cloth at positions (n, 3)."""
    places = np.einsum("kj,kjd->kd", np.abs(supports.weights), positions[supports.nodes])
    places /= np.maximum(np.abs(supports.weights).sum(axis=1), 1e-300)[:, None]
    cones = supports.cones
    return Pushes(places, cones.normal, forces, cones.friction, supports.body)
