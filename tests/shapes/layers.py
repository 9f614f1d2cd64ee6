"""Layers that pass each other or come near, seen by ipctk: an oracle beside the simulator's own detection."""

from __future__ import annotations

import numpy as np
import pytest

import isocloth as ic


class Layers:
    """The library's view of positions of a mesh; a test that asks for it is skipped where the library is missing."""

    def __init__(self, mesh: ic.Mesh, positions: np.ndarray) -> None:
        self.library = pytest.importorskip("ipctk")
        self.mesh = self.library.CollisionMesh(positions, self.library.edges(mesh.triangles), mesh.triangles)

    def intersect(self, positions: np.ndarray) -> bool:
        """Whether triangles intersect at positions (n, 3), m."""
        return bool(self.library.has_intersections(self.mesh, positions))

    def apart(self, positions: np.ndarray, within: float) -> float:
        """Smallest distance of parts that are no neighbours, m; infinite if it is more than `within`."""
        near = self.library.NormalCollisions()
        near.build(self.mesh, positions, within)
        return float(np.sqrt(near.compute_minimum_distance(self.mesh, positions))) if len(near) else np.inf
