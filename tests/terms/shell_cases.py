"""Shell terms on small meshes far from rest, for tests of their derivatives."""

from __future__ import annotations

import numpy as np

import isocloth as ic
from isocloth.terms.area_stretch import AreaStretch
from isocloth.terms.dihedral_bending import DihedralBending
from isocloth.terms.edge_stretch import EdgeStretch
from isocloth.terms.koiter_bending import KoiterBending
from isocloth.terms.neo_hookean import NeoHookeanMembrane
from isocloth.terms.neo_hookean_excess import NeoHookeanExcess
from isocloth.terms.orthotropic import OrthotropicMembrane, warp_directions
from isocloth.terms.rest_shape import RestShape
from isocloth.terms.stvk import StVKMembrane
from isocloth.terms.woven_bending import WovenBending

ELASTIC = {"young": 3.0, "poisson": 0.3, "thickness": 0.4}
WOVEN = {"bending": 1.0, "bending_weft": 0.4, "twist": 0.3, "poisson": 0.2}
THREADS = {"warp": 2.0, "weft": 1.0, "shear": 0.3, "poisson": 0.25}


def orthotropic(rest, **parameters):
    return OrthotropicMembrane.of(rest, direction=DIRECTIONS[len(rest.corners)], **{**THREADS, **parameters})


#: directions of threads by number of faces: material, so that they stay when the rest shape is moved
DIRECTIONS: dict[int, np.ndarray] = {}

#: name -> how a term is made from a rest shape and its parameters
MAKERS = {
    "edges": lambda rest, stretch=1.7: EdgeStretch.of(rest, stretch),
    "area": lambda rest, area=1.3: AreaStretch.of(rest, area),
    "dihedral": lambda rest, bending=0.6: DihedralBending.of(rest, bending),
    "stvk": lambda rest, **p: StVKMembrane.of(rest, **{**ELASTIC, **p}),
    "neo-hookean": lambda rest, **p: NeoHookeanMembrane.of(rest, **{**ELASTIC, **p}),
    "excess": lambda rest, **p: NeoHookeanExcess.of(rest, **{**ELASTIC, **p}),
    "orthotropic": orthotropic,
    "koiter average": lambda rest, **p: KoiterBending.of(rest, "average", {**ELASTIC, **p}),
    "koiter sin": lambda rest, **p: KoiterBending.of(rest, "sin", {**ELASTIC, **p}),
    "koiter tan": lambda rest, **p: KoiterBending.of(rest, "tan", {**ELASTIC, **p}),
    "woven": lambda rest, **p: WovenBending.of(rest, "average", {**WOVEN, **p}, DIRECTIONS[len(rest.corners)]),
}
DEFAULTS = {
    "edges": {"stretch": 1.7}, "area": {"area": 1.3}, "dihedral": {"bending": 0.6}, "stvk": ELASTIC,
    "neo-hookean": ELASTIC, "excess": ELASTIC, "orthotropic": THREADS, "woven": WOVEN,
    **{f"koiter {normals}": ELASTIC for normals in ("average", "sin", "tan")},
}  # fmt: skip
LOCAL = [name for name in MAKERS if name not in ("koiter sin", "koiter tan")]


def crumpled(seed=0, torn=False, nodes=24, spread=0.06):
    """A rest shape that is not flat, and positions (n, 3) far from it."""
    rng = np.random.default_rng(seed)
    mesh = ic.meshes.irregular_rectangle(1.0, 1.0, nodes=nodes, seed=seed)
    rest = mesh.with_vertices(mesh.vertices + 0.5 * spread * rng.standard_normal(mesh.vertices.shape))
    x = rest.vertices + spread * rng.standard_normal(rest.vertices.shape)
    if torn:
        corners = rest.vertices[rest.faces]
        corners[::3] += 0.1 * spread * rng.standard_normal(corners[::3].shape)  # seams around every third face
        shape = RestShape.of(mesh, corners)
    else:
        shape = RestShape.of(mesh, rest)
    if len(shape.corners) not in DIRECTIONS:
        DIRECTIONS[len(shape.corners)] = warp_directions(RestShape.of(mesh)) + 0.1
    return shape, x


def moved_rest(rest, points):
    """The same rest shape with other points."""
    return RestShape(rest.mesh, points, rest.corners)


def differences(function, step):
    """Derivative at 0 of a function of a number, by central differences of fourth order."""
    near = np.asarray(function(step)) - np.asarray(function(-step))
    far = np.asarray(function(2 * step)) - np.asarray(function(-2 * step))
    return (8.0 * near - far) / (12.0 * step)


def close(found, expected, tolerance):
    found, expected = np.asarray(found), np.asarray(expected)
    return np.abs(found - expected).max() <= tolerance * np.abs(expected).max()
