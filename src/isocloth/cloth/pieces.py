"""Pieces of different fabrics: numbers by node, and the terms of every piece put together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from isocloth.base.errors import InputError
from isocloth.base.typing import FloatArray
from isocloth.fabric import Fabric
from isocloth.meshes import Mesh
from isocloth.meshes.pieces import apart
from isocloth.models import Model
from isocloth.models.model import Terms
from isocloth.terms.rows import stack
from isocloth.terms.stiffening import at_nodes, joined


def nodal_values(mesh: Mesh, values: Sequence[float]) -> FloatArray:
    """(n,) a number for every node: the only one, or that of its piece."""
    if len(values) == 1:
        return np.full(mesh.n_vertices, values[0])
    return np.array(values)[mesh.piece]


def terms_of(model: Model, rest: Mesh, fabrics: Sequence[Fabric], discretisation: str | None) -> Terms:
    """The terms of a cloth of one fabric, or of one for every piece of the mesh `rest`."""
    if len(fabrics) == 1:
        return model.terms(rest, fabrics[0], discretisation)
    if model.stepper == "particles":
        raise InputError(
            f"{len(fabrics)} fabrics are given, and the model {model.name!r} knows one: give the same to all pieces, "
            "or take another model"
        )
    if model.shell:  # whose terms are the same for all fabrics: each only has to be one that a shell may have
        first, *_ = [model.terms(rest, fabric, discretisation) for fabric in fabrics]
        return first
    rows, stencils, folds = [], [], []
    matrices: list[Any] = []
    for (piece, nodes), fabric in zip(apart(rest), fabrics, strict=True):
        own = model.terms(piece, fabric, discretisation)
        rows.append(replace(own.rows, nodes=nodes[own.rows.nodes]))
        stencils += [replace(term, stencils=nodes[term.stencils]) for term in own.stencils]  # type: ignore[type-var]
        folds.append(at_nodes(own.bends, nodes))
        k = sp.coo_matrix(own.matrix)
        matrices.append((k.data, nodes[k.row], nodes[k.col]))
    data, i, j = (np.concatenate(parts) for parts in zip(*matrices, strict=True))
    n = rest.n_vertices
    return Terms(stack(*rows), sp.csr_matrix((data, (i, j)), shape=(n, n)), tuple(stencils), joined(folds))
