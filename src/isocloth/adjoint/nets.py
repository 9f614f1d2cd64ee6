"""Cloth of rows and constant matrices (all models but shells): its gradient as a function of the rest shape X.

With a displacement v of the nodes, v . G is a sum over rows and over nodes,

    v . G = sum_k w_k C_k (J_k v) + sum_i kappa a_i sum m (D_i x) . (D_i v) + what stiffens + hinges + weight,

with w, C, J, the areas a and the curvatures D all made from X. Every summand knows the nodes around it alone. Its
change with X is taken with the tension lambda_k = w_k C_k and the strain j_k = J_k v as they are now,

    d(w C J v) = lambda j dw / w + w j dC + lambda d(J v),

so that no small difference of large forces appears.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp

from isocloth.adjoint.variation import Slopes, slopes
from isocloth.base.memo import variations
from isocloth.base.typing import BoolArray, FloatArray, IntArray
from isocloth.cloth.cloth import Cloth
from isocloth.fabric import Fabric
from isocloth.meshes import Mesh
from isocloth.meshes.pieces import apart
from isocloth.models import Model
from isocloth.models.model import matrix_of
from isocloth.terms.bending import curvatures
from isocloth.terms.rows import Rows, evaluate, shorter
from isocloth.terms.stiffening import bends_along


def row_strains(rows: Rows, free: BoolArray, x: FloatArray, way: FloatArray) -> tuple[FloatArray, FloatArray]:
    """C (r,) and J v (r,) at positions x (n, 3); of partners those that are `free` (r,) may be short."""
    values, entries = np.empty(len(rows)), np.empty((len(rows.nodes), 3))
    evaluate(rows.arrays, rows.rest, free, x, values, entries)
    along = np.einsum("sd,sd->s", entries, way[rows.nodes])
    return values, np.add.reduceat(along, rows.ptr[:-1]) if len(rows) else np.zeros(0)


def net_slopes(cloth: Cloth, x: FloatArray, way: FloatArray) -> Slopes:
    """Derivative of v . G in the rest shape (n, 3), without hinges and weight, which know theirs."""
    total, kinks = np.zeros((cloth.n, 3)), []
    pieces = [(cloth.mesh, np.arange(cloth.n))] if len(cloth.fabrics) == 1 else apart(cloth.mesh)
    for (mesh, nodes), fabric in zip(pieces, cloth.fabrics, strict=True):
        found = _of_piece(mesh, fabric, cloth.model, np.ascontiguousarray(x[nodes]), np.ascontiguousarray(way[nodes]))
        total[nodes] += found.value
        kinks.append(nodes[found.kinks])
    return Slopes(total, np.concatenate(kinks))


def _of_piece(mesh: Mesh, fabric: Fabric, model: Model, x: FloatArray, way: FloatArray) -> Slopes:
    with variations():
        rows = model.rows(mesh, fabric, None)
    by_row = _row_values(rows, fabric, model, x, way)
    ring = _ring(mesh)
    parts = [_known_to_rows(rows, ring)]
    by_node = None
    if fabric.bending > 0.0 and model.bending != "hinge":
        by_node = _bending_values(mesh, fabric.bending, str(model.bending), x, way)
        around = ring
        with variations():
            for _, matrix in curvatures(mesh, matrix_of(str(model.bending)))[1]:
                around = sp.csr_matrix(around + abs(matrix))
        parts.append(around)

    def values(varied: Mesh) -> FloatArray:
        found = by_row(varied)
        return found if by_node is None else np.concatenate([found, by_node(varied)])

    support = sp.csr_matrix(sp.vstack(parts))
    support.data[:] = 1.0
    return slopes(mesh, values, support)


def _row_values(
    rows: Rows, fabric: Fabric, model: Model, x: FloatArray, way: FloatArray
) -> Callable[[Mesh], FloatArray]:
    """Change (r,) of the summands of rows, of a mesh that is not quite the rest shape."""
    free = shorter(rows.arrays, x)
    strain, along = row_strains(rows, free, x, way)
    tension = rows.weight * strain

    def values(varied: Mesh) -> FloatArray:
        own = model.rows(varied, fabric, None)
        now, rate = row_strains(own, free, x, way)
        heavier = tension * along * (own.weight / rows.weight - 1.0)
        return np.asarray(heavier + rows.weight * along * (now - strain) + tension * (rate - along))

    return values


def _bending_values(
    mesh: Mesh, stiffness: float, kind: str, x: FloatArray, way: FloatArray
) -> Callable[[Mesh], FloatArray]:
    """Change (n,) of the summands of bending."""
    both = np.concatenate([x - x.mean(axis=0), way], axis=1)

    def each(varied: Mesh) -> FloatArray:
        area, parts = curvatures(varied, matrix_of(kind))
        total = np.zeros(len(x))
        for share, matrix in parts:
            curved = matrix @ both
            total += share * np.einsum("nd,nd->n", curved[:, :3], curved[:, 3:])
        stiffened = bends_along(varied, x, way) if kind == "stiffening" else 0.0
        return np.asarray(stiffness * (area * total + stiffened))

    with variations():
        before = each(mesh)
    return lambda varied: each(varied) - before


def _ring(mesh: Mesh) -> sp.csr_matrix:
    """(n, n) which nodes share an element."""
    m, n = mesh.faces.shape[1], mesh.n_vertices
    i, j = np.repeat(mesh.faces, m, axis=1).ravel(), np.tile(mesh.faces, (1, m)).ravel()
    return sp.csr_matrix((np.ones(len(i)), (i, j)), shape=(n, n))


def _known_to_rows(rows: Rows, ring: sp.csr_matrix) -> sp.csr_matrix:
    """(r, n) which nodes a row may depend on: all around the node or edge it belongs to.

    A row of two neighbours belongs to their edge; any other one to a node around which all of its own lie, and where
    there are several such, to any of them.
    """
    n = ring.shape[0]
    row: IntArray = np.repeat(np.arange(len(rows)), rows.sizes)
    own = sp.csr_matrix((np.ones(len(row)), (row, rows.nodes)), shape=(len(rows), n))
    near = sp.csr_matrix(ring > 0).astype(np.float64)
    around = sp.coo_matrix(own @ near)
    whole = around.data >= rows.sizes[around.row] - 0.5
    centres = sp.csr_matrix((np.ones(whole.sum()), (around.row[whole], around.col[whole])), shape=own.shape)
    ends = rows.nodes[rows.ptr[:-1]], rows.nodes[rows.ptr[1:] - 1]
    edge = (rows.sizes == 2) & (np.asarray(near[ends[0], ends[1]]).ravel() > 0.0)
    lost = np.diff(centres.indptr) == 0
    of_own = sp.diags_array((edge | lost).astype(np.float64))
    of_centre = sp.diags_array((~edge).astype(np.float64))
    return sp.csr_matrix((of_own @ own + of_centre @ centres) @ near)
