"""Layers that pass through each other, looked for by an independent library (ipctk), frame by frame."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from isocloth.reproduce.result import Result
from isocloth.simulation import Simulation


class Intersections:
    """Counts frames in which triangles of the cloth intersect; without the library it counts nothing and says so."""

    def __init__(self, sim: Simulation, every: float) -> None:
        self.every, self.last = every, sim.time
        self.frames = self.bad = 0
        try:
            self._library: Any = import_module("ipctk")
        except ImportError:
            self._library = None
            return
        triangles, edges = sim.mesh.triangles, self._library.edges(sim.mesh.triangles)
        self._mesh = self._library.CollisionMesh(np.asarray(sim.positions), edges, triangles)

    def look(self, sim: Simulation) -> None:
        """Look at the frame if it is time for it."""
        if self._library is None or sim.time < self.last + self.every - 1e-9:
            return
        self.last = sim.time
        self.frames += 1
        self.bad += bool(self._library.has_intersections(self._mesh, np.asarray(sim.positions)))

    def tell(self, result: Result, name: str) -> None:
        """The line of a scene."""
        if self._library is None:
            result.notes.append("ipctk is not installed: intersections were not looked for; pip install ipctk")
            return
        result.below(f"{name}: frames with intersections by ipctk, of {self.frames}", self.bad, 0, ".0f")
