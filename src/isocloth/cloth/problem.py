"""The problem a time step solves, apart from how it is solved.

Every integrator ends in the same problem: minimise over node positions y (n, 3), with the held nodes prescribed,

    Phi(y) = 1/2 y.A y - b.y + 1/2 sum_k w_k C_k(y)^2,    A = a_M M + a_K K,

where M is the lumped mass, K the bending matrix (both per coordinate) and C the rows of the model: isometry and shear.
With the multipliers lambda_k = w_k C_k its stationary point is A y - b + J^T lambda = 0: the discrete equation of
motion (eq. 14-15) with a very stiff, honest membrane in place of an infinitely stiff one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from isocloth.base.compiled import kernel
from isocloth.base.typing import BoolArray, FloatArray, IntArray
from isocloth.fabric import Fabric
from isocloth.meshes import Mesh
from isocloth.models import Isometric, Model
from isocloth.terms.aerodynamics import weight
from isocloth.terms.bending import MODELS, bending, near_bending
from isocloth.terms.damping import damping_coefficients
from isocloth.terms.mass import lumped_areas
from isocloth.terms.rows import Rows


class Sparse(NamedTuple):
    """Rows of a sparse matrix, as compiled kernels read them."""

    indptr: IntArray
    indices: IntArray
    data: FloatArray


@dataclass(frozen=True)
class Problem:
    """What stays constant during a simulation: the discrete cloth."""

    mesh: Mesh  # the rest shape
    area: FloatArray  # (n,) m^2 per node
    stiffness: sp.csr_matrix  # K (n, n); empty where there is no bending
    rows: Rows
    fabric: Fabric
    weight: FloatArray  # (n, 3) force of gravity, N
    model: Model

    @cached_property
    def bending(self) -> Sparse:
        """K for kernels."""
        k = self.stiffness
        return Sparse(k.indptr.astype(np.int64), k.indices.astype(np.int64), k.data.astype(np.float64))

    @cached_property
    def near_bending(self) -> tuple[sp.csr_matrix, float]:
        """What of K couples nodes of common elements, and how much was moved for that; see `terms.bending`."""
        return near_bending(self.mesh, self.stiffness)

    @property
    def n(self) -> int:
        """Number of nodes."""
        return self.mesh.n_vertices


def build(
    mesh: Mesh,
    fabric: Fabric,
    *,
    gravity: float,
    discretisation: str | None = None,
    bending_model: str = "hessian",
    model: Model | None = None,
) -> Problem:
    """Discretise a cloth: masses, bending matrix, and the rows of its model, isometric if none is given."""
    model = model or Isometric()
    if bending_model not in MODELS:
        raise ValueError(f"bending model {bending_model!r} is unknown; choose one of {', '.join(MODELS)}")
    area = lumped_areas(mesh.vertices, mesh.faces)
    rows = model.rows(mesh, fabric, discretisation)
    if fabric.bending > 0.0 or fabric.bending_damping > 0.0:
        stiffness = bending(mesh, bending_model)
    else:
        stiffness = sp.csr_matrix((mesh.n_vertices, mesh.n_vertices))
    return Problem(mesh, area, stiffness, rows, fabric, weight(area, fabric.weight_density, gravity), model)


class StepProblem(NamedTuple):
    """One step's numbers: A = mass_factor diag(area) + bending_factor K, load b, start and held nodes."""

    mass_factor: float  # kg/(m^2 s^2)
    bending_factor: float  # N m
    load: FloatArray  # b (n, 3), N
    start: FloatArray  # (n, 3) m; held nodes at their prescribed positions
    held: BoolArray  # (n,)


class Scheme(NamedTuple):
    """An integrator's step: v = (y - x_bar)/h, a = (v - v_bar)/h with x_bar = near x + far x_prev, v_bar alike."""

    h: float  # s
    near: float
    far: float


class Past(NamedTuple):
    """Positions (n, 3) m and velocities m/s now and one step before."""

    positions: FloatArray
    velocities: FloatArray
    previous_positions: FloatArray
    previous_velocities: FloatArray


def step_problem(
    problem: Problem, scheme: Scheme, past: Past, start: FloatArray, held: BoolArray
) -> tuple[StepProblem, FloatArray]:
    """The problem of one step of an integrator, and x_bar, from which the velocity follows."""
    fabric = problem.fabric
    mass_rate, bending_rate = damping_coefficients(fabric)
    h = scheme.h
    inertia, drag, creep = fabric.density / h**2, mass_rate / h, bending_rate / h
    load, base = np.empty(start.shape), np.empty(start.shape)
    # parts, not named tuples: of a small cloth, handing over the names takes longer than the sums
    _load(problem.area, problem.weight, inertia, drag, *scheme, *past, base, load)
    if creep > 0.0:
        _add_creep(problem.bending, creep, base, load)
    mass_factor, bending_factor = inertia + drag, fabric.bending + creep
    return StepProblem(mass_factor, bending_factor, load, start, held), base


@kernel
def _load(
    area: FloatArray, weight: FloatArray, inertia: float, drag: float, h: float, near: float, far: float,
    positions: FloatArray, velocities: FloatArray, previous_positions: FloatArray, previous_velocities: FloatArray,
    base: FloatArray, load: FloatArray,
) -> None:  # fmt: skip
    """base = x_bar, load = weight + M (inertia (x_bar + h v_bar) + drag x_bar)."""
    for i in range(len(area)):
        for d in range(3):
            x = near * positions[i, d] + far * previous_positions[i, d]
            v = near * velocities[i, d] + far * previous_velocities[i, d]
            base[i, d] = x
            load[i, d] = weight[i, d] + area[i] * (inertia * (x + h * v) + drag * x)


@kernel
def _add_creep(k: Sparse, creep: float, base: FloatArray, load: FloatArray) -> None:
    """load += creep K x_bar."""
    for i in range(len(base)):
        for p in range(k.indptr[i], k.indptr[i + 1]):
            for d in range(3):
                load[i, d] += creep * k.data[p] * base[k.indices[p], d]


def contact_step_problem(
    problem: Problem, scheme: Scheme, first_order: Scheme, touching: BoolArray, past: Past, start: FloatArray,
    held: BoolArray,
) -> tuple[StepProblem, FloatArray, FloatArray, FloatArray]:  # fmt: skip
    """The problem of a step in which some nodes are in contact, and per node a_M area (n,), x_bar (n, 3) and h (n, 1).

    Nodes in contact take the first-order scheme: the velocity that a second-order one remembers from before an impact
    would make them bounce. Bending damps with the velocity of the second-order scheme everywhere.
    """
    fabric = problem.fabric
    mass_rate, bending_rate = fabric.damping, fabric.bending_damping
    near = np.where(touching, first_order.near, scheme.near)[:, None]
    far = np.where(touching, first_order.far, scheme.far)[:, None]
    h = np.where(touching, first_order.h, scheme.h)[:, None]
    base = near * past.positions + far * past.previous_positions
    v = near * past.velocities + far * past.previous_velocities
    area = problem.area[:, None]
    load = problem.weight + area * (fabric.density / h**2 * (base + h * v) + mass_rate / h * base)
    if bending_rate > 0.0:
        old = scheme.near * past.positions + scheme.far * past.previous_positions
        load += bending_rate / scheme.h * (problem.stiffness @ old)
    inertia = (area * (fabric.density / h**2 + mass_rate / h))[:, 0]
    bending_factor = fabric.bending + bending_rate / scheme.h
    return StepProblem(1.0, bending_factor, load, start, held), np.ascontiguousarray(inertia), base, h


def potential_energy(problem: Problem, positions: FloatArray) -> float:
    """Weight, bending, shear and membrane energy in J, zero height at z = 0."""
    c = problem.rows.values(positions)
    bent = problem.fabric.bending * float(np.sum(positions * (problem.stiffness @ positions))) / 2
    return bent - float(np.sum(problem.weight * positions)) + float(np.sum(problem.rows.weight * c**2)) / 2


def kinetic_energy(problem: Problem, velocities: FloatArray) -> float:
    """Kinetic energy in J."""
    return problem.fabric.density * float(np.sum(problem.area[:, None] * velocities**2)) / 2
