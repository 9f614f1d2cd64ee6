"""The nonconforming model: triangles of fixed shape, joined at the midpoints of their edges, moved by impulses (Bender,
Diziol and Bayer, Simulating inextensible cloth using locking-free triangle meshes, 2011)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import scipy.sparse as sp

from isocloth.base.errors import InputError
from isocloth.fabric import Fabric
from isocloth.meshes import Mesh
from isocloth.models.model import Model, Terms
from isocloth.terms.isometry import edges
from isocloth.terms.rows import Rows


@dataclass(frozen=True, kw_only=True)
class Nonconforming(Model):
    """Particles at the midpoints of the edges of a triangle mesh keep their distances; the nodes follow them.

    tolerance: m, by which a distance may be off at the end of a step.
    max_solves: repetitions before a step is cut in two.
    """

    name: ClassVar[str] = "nonconforming"
    solver: ClassVar[str] = "impulses"
    stepper: ClassVar[str] = "particles"
    timestep: ClassVar[float] = 2e-3
    units: ClassVar[dict[str, str]] = {"tolerance": "m", "max_solves": ""}
    tolerance: float = 1e-6
    max_solves: int = 10

    def terms(self, mesh: Mesh, fabric: Fabric, discretisation: str | None = None) -> Terms:
        """Rows to be looked at; the particles bend by a matrix of their own, which `midpoints` makes."""
        if self.bending != type(self).bending:
            raise InputError(
                f"bending model {self.bending!r}: the nonconforming model bends in a way of its own; leave it out"
            )
        n = mesh.n_vertices
        return Terms(self.rows(mesh, fabric, discretisation), sp.csr_matrix((n, n)))

    def rows(self, mesh: Mesh, fabric: Fabric, discretisation: str | None = None) -> Rows:
        """Squared edges of the nodes' mesh: only to be looked at, nothing enforces them."""
        self.refuse_discretisation(discretisation)
        rows = edges(mesh, mesh.edges)
        return replace(rows, weight=np.zeros(len(rows)), enforced=np.zeros(len(rows), dtype=bool))
