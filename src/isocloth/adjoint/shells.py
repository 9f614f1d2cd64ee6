"""Shells: products of a displacement v with the derivative of the gradient G in rest shape and parameters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace

import numpy as np
import scipy.sparse as sp

from isocloth.adjoint.variation import STEP, Slopes, slopes
from isocloth.base.typing import FloatArray
from isocloth.cloth.cloth import Cloth
from isocloth.meshes import Mesh
from isocloth.models import Shell
from isocloth.terms.koiter_bending import KoiterBending
from isocloth.terms.orthotropic import OrthotropicMembrane, warp_directions
from isocloth.terms.rest_shape import RestShape, RestTerm, assembled_rest_gradient
from isocloth.terms.woven_bending import WovenBending

#: relative change of a parameter by which what a term makes of it is compared, and what stands for one that is zero
CHANGE, SMALL = 1e-5, 1e-6


def shell_slopes(cloth: Cloth, shape: RestShape, x: FloatArray, way: FloatArray) -> Slopes:
    """Derivative of v . G in the points (p, 3) of the rest shape, without weight."""
    assert isinstance(cloth.model, Shell)
    total, turned = np.zeros_like(shape.points), np.zeros((len(shape.corners), 2))
    for term in cloth.model.energies(shape):
        if isinstance(term, KoiterBending):
            strain = term.virtual_strain(x, way)
            total += term.rest_product(strain, x)
            if isinstance(term, WovenBending):
                turned += term.direction_product(strain, x)
            continue
        gradient = assembled_rest_gradient(term, x, len(x), len(shape.points))
        total += (gradient.T @ way.ravel()).reshape(-1, 3)
        if isinstance(term, OrthotropicMembrane):
            turned += term.direction_product(x, way)
    if not turned.any():
        return Slopes(total, np.zeros(0, dtype=np.int64))
    found = _threads(shape, turned)
    return found._replace(value=total + found.value)


def _threads(shape: RestShape, factor: FloatArray) -> Slopes:
    """Derivative (p, 3) of the sum of factor (f, 2) times the directions of the warp."""
    before = warp_directions(shape)

    def change(moved: RestShape) -> FloatArray:
        return np.einsum("fk,fk->f", factor, warp_directions(moved) - before)

    if shape.torn:
        return Slopes(_corner_by_corner(shape, change), np.zeros(0, dtype=np.int64))
    mesh = shape.mesh.with_vertices(shape.points)
    n = mesh.n_vertices
    i, j = np.repeat(mesh.faces, 3, axis=1).ravel(), np.tile(mesh.faces, (1, 3)).ravel()
    ring = sp.csr_matrix((np.ones(len(i)), (i, j)), shape=(n, n))
    face = np.repeat(np.arange(mesh.n_faces), 3)
    own = sp.csr_matrix((np.ones(len(face)), (face, mesh.faces.ravel())), shape=(mesh.n_faces, n))

    def values(varied: Mesh) -> FloatArray:
        return change(RestShape(varied, varied.vertices.copy(), shape.corners))

    return slopes(mesh, values, sp.csr_matrix(own @ ring))


def _corner_by_corner(shape: RestShape, change: Callable[[RestShape], FloatArray]) -> FloatArray:
    """The same where every face has points of its own: one corner of all faces at once."""
    out = np.zeros_like(shape.points)
    p = shape.points[shape.corners]
    step = STEP * np.linalg.norm(p[:, [1, 2, 0]] - p, axis=2).min(axis=1)
    for k in range(3):
        for d in range(3):
            sides = []
            for sign in (1.0, -1.0):
                points = shape.points.copy()
                points[shape.corners[:, k], d] += sign * step
                sides.append(change(RestShape(shape.mesh, points, shape.corners)))
            out[shape.corners[:, k], d] += (sides[0] - sides[1]) / (2.0 * step)
    return out


def shell_parameters(cloth: Cloth, shape: RestShape, x: FloatArray, way: FloatArray) -> dict[str, float]:
    """v . dG/dp by the name of every parameter of the model that is a number."""
    model = cloth.model
    assert isinstance(model, Shell)
    found = {}
    for field in fields(model):
        value = getattr(model, field.name)
        if isinstance(value, float):
            # an energy that is left out because it is zero has a slope there all the same
            at = replace(model, **{field.name: SMALL}) if value == 0.0 and field.name == "area" else model
            found[field.name] = sum(_of_term(term, at, field.name, shape, x, way) for term in at.energies(shape))
    return found


def _of_term(term: RestTerm, model: Shell, name: str, shape: RestShape, x: FloatArray, way: FloatArray) -> float:
    total = 0.0
    for own, slope in term.parameter_gradient(x).items():
        rate = _rate(term, model, name, own, shape)
        if rate != 0.0:
            total += rate * float(np.sum(slope * way[term.stencils]))
    return total


def _rate(term: RestTerm, model: Shell, name: str, own: str, shape: RestShape) -> float:
    """Derivative of a parameter of a term in one of the model: what the model leaves open follows from others."""
    if not isinstance(term, WovenBending):
        return float(own == name)
    value = getattr(model, name)
    step = CHANGE * (abs(value) or 1.0)
    sides = []
    for sign in (1.0, -1.0):
        other = next(
            t for t in replace(model, **{name: value + sign * step}).energies(shape) if isinstance(t, WovenBending)
        )
        sides.append(other.parameters[own])
    return (sides[0] - sides[1]) / (2.0 * step)
