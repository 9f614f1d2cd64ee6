"""Products with the derivatives of the gradient against differences of the gradient of a cloth that is made anew."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import isocloth as ic
from isocloth.adjoint import Products
from isocloth.adjoint.areas import areas_pulled_back
from isocloth.adjoint.variation import slopes
from isocloth.cloth.cloth import Cloth, discretise
from isocloth.meshes import Mesh
from isocloth.models import (
    DiscreteShell,
    Elastic,
    Isometric,
    KoiterShell,
    MassSpring,
    Model,
    QuasiInextensible,
    Shell,
    WovenShell,
)
from isocloth.statics.potential import Potential
from isocloth.terms.mass import lumped_areas
from isocloth.terms.rest_shape import RestShape

GRAVITY = 9.81
SQUARES = ic.meshes.rectangle(0.3, 0.24, (5, 6))
TRIANGLES = SQUARES.triangulated()
FABRIC = ic.Fabric(density=0.2, gravity_density=0.15, bending=3e-4, membrane=500.0)
PLAIN = ic.Fabric(density=0.2, gravity_density=0.15)

NETS: dict[str, tuple[Mesh, ic.Fabric, Model]] = {
    "quads": (SQUARES, FABRIC, Isometric()),
    "quads that shear": (SQUARES, replace(FABRIC, shear=20.0), Isometric(bending="laplacian")),
    "triangles": (TRIANGLES, FABRIC, Isometric()),
    "triangles that shear": (TRIANGLES, replace(FABRIC, shear=20.0), Isometric(bending="interior")),
    "hinges": (TRIANGLES, FABRIC, Isometric(bending="hinge")),
    "elastic": (SQUARES, FABRIC, Elastic(stretch=300.0, weft=200.0, shear=30.0)),
    "springs": (SQUARES, FABRIC, MassSpring(stretch=300.0, shear=30.0, flexion=10.0)),
    "springs on triangles": (TRIANGLES, FABRIC, MassSpring(stretch=300.0, flexion=10.0)),
    "quasi-inextensible": (SQUARES, FABRIC, QuasiInextensible(shear=30.0)),
}
SHELLS: dict[str, Shell] = {
    "discrete": DiscreteShell(stretch=20.0, bending=1e-3, area=5.0),
    "koiter": KoiterShell(young=2e5, thickness=2e-3),
    "neo-hookean, sin": KoiterShell(young=2e5, thickness=2e-3, normals="sin", membrane="neo-hookean"),
    "tan": KoiterShell(young=2e5, thickness=2e-3, normals="tan"),
    "woven": WovenShell(warp=300.0, weft=200.0, bending=1e-3),
    "woven, tan": WovenShell(warp=300.0, weft=200.0, bending=1e-3, bending_weft=5e-4, normals="tan"),
}


def crumpled(mesh: Mesh, seed: int, by: float) -> Mesh:
    rng = np.random.default_rng(seed)
    return mesh.with_vertices(mesh.vertices + by * rng.uniform(-1.0, 1.0, mesh.vertices.shape))


def gradient(cloth: Cloth, x: np.ndarray) -> np.ndarray:
    potential = Potential(cloth)
    potential.move(x)
    return potential.gradient()


def agree(found: float, plus: float, minus: float, step: float, part: float = 1e-6) -> None:
    assert found == pytest.approx((plus - minus) / (2.0 * step), rel=part, abs=0.0)


@pytest.mark.parametrize("name", NETS)
def test_nets(name: str) -> None:
    mesh, fabric, model = NETS[name]
    rest, way = crumpled(mesh, 1, 2e-3), np.random.default_rng(2).standard_normal(mesh.vertices.shape)
    x = crumpled(mesh, 3, 4e-3).vertices.copy()

    def product(
        rest: Mesh = rest, fabric: ic.Fabric = fabric, model: Model = model, gravity: float = GRAVITY
    ) -> float:  # fmt: skip
        return float(np.sum(way * gradient(discretise(rest, fabric, gravity=gravity, model=model), x)))

    found = Products(discretise(rest, fabric, gravity=GRAVITY, model=model), x, way, GRAVITY)
    turn, step = np.random.default_rng(4).standard_normal(x.shape), 1e-7
    moved = [rest.with_vertices(rest.vertices + sign * step * turn) for sign in (1.0, -1.0)]
    agree(float(np.sum(found.rest * turn)), product(moved[0]), product(moved[1]), step)
    agree(found.parameters["gravity"], product(gravity=11.0), product(gravity=8.0), 1.5)
    for key, value in found.parameters.items():
        if value == 0.0 or key == "gravity":
            continue
        own = key in ("stretch", "weft", "flexion") or (key == "shear" and not isinstance(model, Isometric))
        now = getattr(model if own else fabric, key)
        change = 1e-3 * now
        sides = [
            product(model=replace(model, **{key: now + sign * change}))
            if own else product(fabric=replace(fabric, **{key: now + sign * change}))
            for sign in (1.0, -1.0)
        ]  # fmt: skip
        agree(value, *sides, change)
    assert {"gravity", "density", "gravity_density", "bending", "membrane"} <= set(found.parameters)


@pytest.mark.parametrize("torn", [False, True])
@pytest.mark.parametrize("name", SHELLS)
def test_shells(name: str, torn: bool) -> None:
    model, way = SHELLS[name], np.random.default_rng(2).standard_normal(TRIANGLES.vertices.shape)
    whole, x = crumpled(TRIANGLES, 1, 2e-3), crumpled(TRIANGLES, 3, 4e-3).vertices.copy()
    points = whole.vertices.copy()
    if torn:
        corners = points[TRIANGLES.faces]
        points = corners + 1e-3 * np.random.default_rng(5).uniform(-1.0, 1.0, corners.shape)

    def cloth(points: np.ndarray = points, model: Shell = model, gravity: float = GRAVITY) -> Cloth:
        if torn:
            shape = RestShape.of(TRIANGLES, points)
            return discretise(TRIANGLES, PLAIN, gravity=gravity, model=model, shape=shape)
        return discretise(whole.with_vertices(points), PLAIN, gravity=gravity, model=model)

    def product(made: Cloth) -> float:
        total = np.zeros_like(x)
        potential = Potential(made)
        potential.move(x)
        total += potential.gradient()
        return float(np.sum(way * total))

    found = Products(cloth(), x, way, GRAVITY)
    turn, step = np.random.default_rng(4).standard_normal(points.shape), 1e-7
    rest = found.rest.reshape(points.shape) if torn else found.rest
    sides = [product(cloth(points + sign * step * turn)) for sign in (1.0, -1.0)]
    agree(float(np.sum(rest * turn)), *sides, step, 3e-6)
    for key in model.limits:
        now = getattr(model, key)
        if now is None:
            continue
        change = 1e-4 * now
        sides = [product(cloth(model=replace(model, **{key: now + sign * change}))) for sign in (1.0, -1.0)]
        agree(found.parameters[key], *sides, change, 3e-6)


@pytest.mark.parametrize("mesh", [SQUARES, TRIANGLES])
def test_areas_of_nodes(mesh: Mesh) -> None:
    rest, factor = crumpled(mesh, 1, 4e-3), np.random.default_rng(0).standard_normal(mesh.n_vertices)
    turn, step = np.random.default_rng(1).standard_normal(rest.vertices.shape), 1e-6
    found = areas_pulled_back(rest.vertices, rest.faces, rest.faces, factor)
    sides = [float(factor @ lumped_areas(rest.vertices + s * step * turn, rest.faces)) for s in (1.0, -1.0)]
    agree(float(np.sum(found * turn)), *sides, step, 1e-7)


def test_what_depends_on_masses_is_handed_on() -> None:
    cloth = discretise(SQUARES, FABRIC, gravity=0.0)
    by_mass = np.random.default_rng(0).standard_normal(cloth.n)
    found = Products(cloth, SQUARES.vertices, np.zeros((cloth.n, 3)), 0.0, by_mass)
    assert found.parameters["density"] == pytest.approx(float(np.sum(by_mass * cloth.area)), rel=1e-12)
    wanted = areas_pulled_back(SQUARES.vertices, SQUARES.faces, SQUARES.faces, FABRIC.density * by_mass)
    assert np.allclose(found.rest, wanted, rtol=0.0, atol=1e-12 * np.abs(wanted).max())


def test_pieces_of_different_fabrics() -> None:
    pieces = [SQUARES, SQUARES.transformed(translation=(0.0, 0.0, 0.1))]
    fabrics = [FABRIC, replace(FABRIC, density=0.4, bending=1e-3, shear=15.0)]
    mesh = crumpled(ic.meshes.together(pieces), 1, 2e-3)
    x, way = crumpled(mesh, 3, 4e-3).vertices.copy(), np.random.default_rng(2).standard_normal((mesh.n_vertices, 3))
    found = Products(discretise(mesh, fabrics, gravity=GRAVITY), x, way, GRAVITY)
    turn, step = np.random.default_rng(4).standard_normal(x.shape), 1e-7
    sides = []
    for sign in (1.0, -1.0):
        cloth = discretise(mesh.with_vertices(mesh.vertices + sign * step * turn), fabrics, gravity=GRAVITY)
        sides.append(float(np.sum(way * gradient(cloth, x))))
    agree(float(np.sum(found.rest * turn)), *sides, step)
    assert set(found.parameters) == {"gravity"}


def test_a_kink_is_named() -> None:
    import scipy.sparse as sp

    mesh = ic.meshes.rectangle(1.0, 1.0, (3, 3))

    def values(varied: Mesh) -> np.ndarray:
        moved = varied.vertices - mesh.vertices
        return moved.sum(axis=1) + np.where(np.arange(9) == 4, np.abs(moved[:, 0]), 0.0)

    found = slopes(mesh, values, sp.csr_matrix(np.eye(9)))
    assert found.kinks.tolist() == [4]
    assert np.allclose(found.value, 1.0, atol=1e-9)
