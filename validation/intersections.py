"""Layers that pass through each other, looked for by an independent library (ipctk), frame by frame."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from isocloth.base.typing import FloatArray
from isocloth.meshes import Mesh
from isocloth.simulation import Simulation
from validation.result import Result

INSTALL = "pip install ipctk"
#: thicknesses that layers keep apart
APART = 0.9


class Judge:
    """The library's view of positions of a mesh, whoever computed them; raises ImportError without the library."""

    def __init__(self, mesh: Mesh, positions: FloatArray) -> None:
        self._library: Any = import_module("ipctk")
        edges = self._library.edges(mesh.triangles)
        self._mesh = self._library.CollisionMesh(np.asarray(positions), edges, mesh.triangles)

    def intersects(self, positions: FloatArray) -> bool:
        """Whether triangles of the cloth intersect at positions (n, 3), m."""
        return bool(self._library.has_intersections(self._mesh, np.asarray(positions)))

    def distance(self, positions: FloatArray, within: float) -> float:
        """Smallest distance of parts that are no neighbours, m; infinite if it is more than `within`."""
        near = self._library.NormalCollisions()
        near.build(self._mesh, np.asarray(positions), within)
        return float(np.sqrt(near.compute_minimum_distance(self._mesh, np.asarray(positions)))) if len(near) else np.inf


class Intersections:
    """Frames in which triangles intersect, and how near layers come; without the library nothing, which it says."""

    def __init__(self, sim: Simulation, every: float) -> None:
        self.every, self.last = every, sim.time
        self.frames = self.bad = 0
        self.thickness, self.apart = sim.fabric.thickness, np.inf
        self._judge: Judge | None
        try:
            self._judge = Judge(sim.mesh, sim.positions)
        except ImportError:
            self._judge = None

    def look(self, sim: Simulation) -> None:
        """Look at the frame if it is time for it."""
        if self._judge is None or sim.time < self.last + self.every - 1e-9:
            return
        self.last = sim.time
        self.frames += 1
        self.bad += self._judge.intersects(sim.positions)
        self.apart = min(self.apart, self._judge.distance(sim.positions, self.thickness))

    def tell(self, result: Result, name: str, *, apart: float = APART) -> None:
        """The lines of a scene; apart: how many thicknesses layers have to keep apart."""
        if self._judge is None:
            result.notes.append(f"ipctk is not installed: intersections were not looked for; {INSTALL}")
            return
        result.below(f"{name}: frames with intersections by ipctk, of {self.frames}", self.bad, 0, ".0f")
        what = f"{name}: smallest distance of layers by ipctk, thicknesses (1 if more)"
        result.above(what, min(self.apart / self.thickness, 1.0), apart, ".3f")
