"""The discrete cloth: rest shape, masses, and the terms of its model.

Terms come in three kinds, by how they enter a step (see `terms/`):

- rows: energies w C^2 / 2 with C quadratic in the positions, whose multipliers may be unknowns; the fast kind;
- a constant matrix: the energy kappa y^T K y / 2, alike for x, y and z, and what stiffens in folds beside it;
- stencils: any other energy, a sum over small sets of nodes (`terms/term.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from isocloth.base.typing import BoolArray, FloatArray, IntArray
from isocloth.cloth.pieces import nodal_values, terms_of
from isocloth.fabric import Fabric, as_tuple
from isocloth.meshes import Mesh
from isocloth.models import Isometric, Model
from isocloth.terms.aerodynamics import weight
from isocloth.terms.bending import near_bending
from isocloth.terms.damping import damping_coefficients
from isocloth.terms.mass import lumped_areas
from isocloth.terms.rest_shape import RestShape
from isocloth.terms.rows import Rows
from isocloth.terms.stiffening import Bends, Stiffening, no_bends
from isocloth.terms.term import Term, total_energy


class Sparse(NamedTuple):
    """Rows of a sparse matrix, as compiled kernels read them."""

    indptr: IntArray
    indices: IntArray
    data: FloatArray


@dataclass(frozen=True)
class Cloth:
    """What stays constant during a simulation."""

    mesh: Mesh  # the rest shape X
    area: FloatArray  # (n,) m^2 per node
    stiffness: sp.csr_matrix  # K (n, n) 1/m^2; empty where no term is a constant matrix
    rows: Rows
    stencils: tuple[Term, ...]
    fabrics: tuple[Fabric, ...]  # one, or one for every piece of the mesh
    weight: FloatArray  # (n, 3) force of gravity, N
    model: Model
    bends: Bends = field(default_factory=no_bends)  # what stiffens in folds
    shape: RestShape | None = None  # of a shell whose faces have corners of their own; `mesh` is then where it starts

    @property
    def fabric(self) -> Fabric:
        """What the cloth is made of; of several fabrics the first, whose thickness is that of all."""
        return self.fabrics[0]

    @cached_property
    def parts(self) -> tuple[tuple[Fabric, Any], ...]:
        """Every fabric, and the index of the nodes that are made of it."""
        if len(self.fabrics) == 1:
            return ((self.fabric, slice(None)),)
        return tuple((fabric, self.mesh.piece == k) for k, fabric in enumerate(self.fabrics))

    @cached_property
    def density(self) -> FloatArray:
        """(n,) kg/m^2."""
        return nodal_values(self.mesh, [fabric.density for fabric in self.fabrics])

    @cached_property
    def mass(self) -> FloatArray:
        """(n,) kg."""
        return self.density * self.area

    @cached_property
    def damping(self) -> FloatArray:
        """(n,) alpha, kg/(m^2 s)."""
        return nodal_values(self.mesh, [damping_coefficients(fabric)[0] for fabric in self.fabrics])

    @cached_property
    def bending_damping(self) -> FloatArray:
        """(n,) beta, N m s."""
        return nodal_values(self.mesh, [damping_coefficients(fabric)[1] for fabric in self.fabrics])

    @cached_property
    def bent_slowly(self) -> bool:
        """Whether bending is damped anywhere."""
        return bool((self.bending_damping > 0.0).any())

    @cached_property
    def bending_stiffness(self) -> FloatArray:
        """(n,) kappa, N m: the factor of the rows of K, which couples no nodes of different pieces."""
        return nodal_values(self.mesh, [fabric.bending for fabric in self.fabrics])

    @cached_property
    def bending(self) -> Sparse:
        """K for kernels."""
        k = self.stiffness
        return Sparse(k.indptr.astype(np.int64), k.indices.astype(np.int64), k.data.astype(np.float64))

    @cached_property
    def near_bending(self) -> tuple[sp.csr_matrix, float]:
        """The part of K that couples nodes of common elements, and a bound of the rest; see `terms.bending`."""
        return near_bending(self.mesh, self.stiffness)

    @cached_property
    def energies(self) -> tuple[Term, ...]:
        """All that is neither a row nor a constant matrix, as terms over stencils."""
        return (*self.stencils, self.folds) if len(self.bends.node) else self.stencils

    @cached_property
    def folds(self) -> Stiffening:
        """What stiffens in folds, as a term over stencils."""
        return Stiffening(self.bends)

    @cached_property
    def nobody(self) -> BoolArray:
        """(n,) none of the nodes."""
        return np.zeros(self.n, dtype=np.bool_)

    @property
    def n(self) -> int:
        """Number of nodes."""
        return self.mesh.n_vertices


def discretise(
    rest: Mesh,
    fabric: Fabric | Sequence[Fabric],
    *,
    gravity: float,
    discretisation: str | None = None,
    model: Model | None = None,
    shape: RestShape | None = None,
) -> Cloth:
    """A cloth with a rest shape: masses, weight, and the terms of its model, isometric if none is given.

    fabric: one, or one for every piece of the mesh.
    shape: rest shape of a shell whose faces have corners of their own; `rest` then only says which faces there are.
    """
    model, fabrics = model or Isometric(), as_tuple(fabric)
    if shape is None:
        area, terms = lumped_areas(rest.vertices, rest.faces), terms_of(model, rest, fabrics, discretisation)
    else:
        model.refuse_discretisation(discretisation)
        # the terms of a shell are the same for all fabrics: each only has to be one that a shell may have
        area, (terms, *_) = shape.node_areas, [model.shell_terms(shape, one) for one in fabrics]
    pull = weight(area, nodal_values(rest, [fabric.weight_density for fabric in fabrics]), gravity)
    return Cloth(rest, area, terms.matrix, terms.rows, terms.stencils, fabrics, pull, model, terms.bends, shape)


def potential_energy(cloth: Cloth, positions: FloatArray) -> float:
    """Weight, bending, shear and membrane energy in J, zero height at z = 0."""
    c = cloth.rows.values(positions)
    moment = positions * (cloth.stiffness @ positions)
    bent = sum(fabric.bending * float(np.sum(moment[nodes])) / 2 for fabric, nodes in cloth.parts)
    quadratic = bent - float(np.sum(cloth.weight * positions)) + float(np.sum(cloth.rows.weight * c**2)) / 2
    return quadratic + sum(total_energy(term, positions) for term in cloth.energies)


def kinetic_energy(cloth: Cloth, velocities: FloatArray) -> float:
    """Kinetic energy in J."""
    square = cloth.area[:, None] * velocities**2
    return sum(fabric.density * float(np.sum(square[nodes])) / 2 for fabric, nodes in cloth.parts)
