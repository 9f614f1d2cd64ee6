"""Energies of elastic shells: derivatives, rigid motions, cylinders, and the plate that a discrete shell stands for.

A small deflection z = x^T H x / 2 of a sheet costs, on a plate of rigidity D with Poisson's ratio nu,
D / 2 (tr(H)^2 - 2 (1 - nu) det H) per area. What a mesh costs in its place is measured over one of its periods, edges
counted by their middles, so that no border takes part: D_eff(t) of a curvature along the direction t alone, and
nu_eff = C / sqrt(D_eff(t) D_eff(t + 90 degrees)) with C what couples the two, from a sphere.

On squares that are all cut along one diagonal the discrete shell has in closed form
D_eff(t) = 3 k_b (1 + q + q^2) with q = sin 2t: from 2.25 k_b to 9 k_b, and 3 k_b along the sides.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from isocloth.base.typing import BoolArray, FloatArray
from isocloth.meshes import Mesh, irregular_rectangle, rectangle
from isocloth.terms.area_stretch import AreaStretch
from isocloth.terms.dihedral_bending import DihedralBending
from isocloth.terms.edge_stretch import EdgeStretch
from isocloth.terms.koiter_bending import KoiterBending, condensed_hessian, condensed_rest_gradient
from isocloth.terms.neo_hookean import NeoHookeanMembrane
from isocloth.terms.orthotropic import OrthotropicMembrane, warp_directions
from isocloth.terms.rest_shape import RestShape, assembled_rest_gradient
from isocloth.terms.stvk import StVKMembrane
from isocloth.terms.term import assembled_gradient, assembled_hessian, total_energy
from isocloth.terms.woven_bending import WovenBending
from validation.result import Result, Say, silent

TITLE = "energies of elastic shells: derivatives, cylinders, effective rigidity"

MATERIAL = {"young": 3.0, "poisson": 0.3, "thickness": 0.4}
THREADS = {"warp": 2.0, "weft": 1.0, "shear": 0.3, "poisson": 0.25}
WOVEN = {"bending": 1.0, "bending_weft": 0.4, "twist": 0.3, "poisson": 0.2}

#: name -> parameters, and how the term is made from a rest shape, these, and directions of the warp
ENERGIES: dict[str, tuple[Mapping[str, float], Callable[..., Any]]] = {
    "edges": ({"stretch": 1.7}, lambda rest, p, d: EdgeStretch.of(rest, **p)),
    "areas": ({"area": 1.3}, lambda rest, p, d: AreaStretch.of(rest, **p)),
    "dihedral angles": ({"bending": 0.6}, lambda rest, p, d: DihedralBending.of(rest, **p)),
    "St. Venant-Kirchhoff": (MATERIAL, lambda rest, p, d: StVKMembrane.of(rest, **p)),
    "neo-Hookean": (MATERIAL, lambda rest, p, d: NeoHookeanMembrane.of(rest, **p)),
    "orthotropic": (THREADS, lambda rest, p, d: OrthotropicMembrane.of(rest, **p, direction=d)),
    "Koiter bending, average": (MATERIAL, lambda rest, p, d: KoiterBending.of(rest, "average", p)),
    "Koiter bending, sin": (MATERIAL, lambda rest, p, d: KoiterBending.of(rest, "sin", p)),
    "Koiter bending, tan": (MATERIAL, lambda rest, p, d: KoiterBending.of(rest, "tan", p)),
    "woven bending": (WOVEN, lambda rest, p, d: WovenBending.of(rest, "average", p, d)),
}
#: directions of bending in degrees; no two of them alike on any of the meshes
DIRECTIONS = (0.0, 22.9, 45.0, 108.9)


def _slope(function: Callable[[float], Any], step: float) -> FloatArray:
    """Derivative at 0, by central differences of fourth order."""
    near = np.asarray(function(step)) - np.asarray(function(-step))
    far = np.asarray(function(2 * step)) - np.asarray(function(-2 * step))
    slope: FloatArray = (8.0 * near - far) / (12.0 * step)
    return slope


def _off(found: Any, expected: Any) -> float:
    return float(np.abs(np.asarray(found) - expected).max() / np.abs(expected).max())


def derivative_errors(name: str, seed: int, nodes: int) -> dict[str, float]:
    """Largest relative errors of the derivatives of an energy on a crumpled mesh with a crumpled rest shape."""
    rng = np.random.default_rng(seed)
    mesh = irregular_rectangle(1.0, 1.0, nodes=nodes, seed=seed)
    spread = 0.15 / np.sqrt(nodes)  # a tenth of the edges or so
    points = mesh.vertices + 0.5 * spread * rng.standard_normal(mesh.vertices.shape)
    x = points + spread * rng.standard_normal(points.shape)
    rest, direction = RestShape.of(mesh, points), warp_directions(RestShape.of(mesh))
    parameters, make = ENERGIES[name]
    term, n = make(rest, parameters, direction), len(x)
    along, step = rng.standard_normal(x.shape), 1e-3 * spread

    def force(shape: FloatArray, changed: Mapping[str, float]) -> FloatArray:
        return assembled_gradient(make(RestShape.of(mesh, shape), changed, direction), x, n).ravel()

    gradient = assembled_gradient(term, x, n)
    # sums over all nodes may cancel; the slope is held against what they are made of
    energy = abs(np.sum(gradient * along) - _slope(lambda s: total_energy(term, x + s * along), step))
    free = name.endswith(("sin", "tan"))
    second = condensed_hessian(term, x) if free else assembled_hessian(term, x, n, False)
    cross = condensed_rest_gradient(term, x) if free else assembled_rest_gradient(term, x, n, n)
    errors = {
        "gradient": float(energy / np.sqrt(np.sum((gradient * along) ** 2))),
        "Hessian": _off(
            second @ along.ravel(), _slope(lambda s: assembled_gradient(term, x + s * along, n).ravel(), step)
        ),
        "rest shape": _off(cross @ along.ravel(), _slope(lambda s: force(points + s * along, parameters), step)),
    }
    for parameter, blocks in term.parameter_gradient(x).items():
        if parameter in parameters:
            total, value = np.zeros_like(x), parameters[parameter]
            np.add.at(total, term.stencils, blocks)
            moved = {h: force(points, {**parameters, parameter: value * (1.0 + h)}) for h in (-2e-3, -1e-3, 1e-3, 2e-3)}
            errors[parameter] = _off(value * total.ravel(), _slope(moved.__getitem__, 1e-3))
    turn, _ = np.linalg.qr(rng.standard_normal((3, 3)))
    turn *= np.sign(np.linalg.det(turn))
    errors["rigid"] = abs(total_energy(term, x @ turn.T + rng.standard_normal(3)) / total_energy(term, x) - 1.0)
    return errors


def cut_squares(n: int, crosswise: bool = False) -> Mesh:
    """A unit square of n x n cut squares, their diagonals all alike or alternating."""
    quads = rectangle(1.0, 1.0, shape=(n + 1, n + 1))
    column, row = (np.rint(n * quads.vertices[quads.faces].mean(axis=1)[:, k] - 0.5) for k in (0, 1))
    other = ((column + row) % 2 == 1) & crosswise
    f = np.where(other[:, None], np.roll(quads.faces, 1, axis=1), quads.faces)
    return Mesh(quads.vertices, np.concatenate([f[:, [0, 1, 2]], f[:, [0, 2, 3]]]))


def equilateral(n: int) -> Mesh:
    """Rows of equilateral triangles of side 1 / n."""
    j, i = (index.ravel() for index in np.indices((n + 1, n + 1)))
    vertices = np.stack([(i + 0.5 * (j % 2)) / n, j * np.sqrt(0.75) / n, 0.0 * i], axis=1)
    a = np.flatnonzero((i < n) & (j < n))
    b, even = a + n + 1, (j[a] % 2 == 0)[:, None]
    first = np.where(even, np.stack([a, a + 1, b], axis=1), np.stack([a, a + 1, b + 1], axis=1))
    second = np.where(even, np.stack([a + 1, b + 1, b], axis=1), np.stack([a, b + 1, b], axis=1))
    return Mesh(vertices, np.concatenate([first, second]))


def rolled(mesh: Mesh, degrees: float) -> FloatArray:
    """Nodes of a flat mesh on a cylinder of radius 1 whose axis has a direction in the plane."""
    c, s = np.cos(np.deg2rad(degrees)), np.sin(np.deg2rad(degrees))
    x, y = mesh.vertices[:, 0], mesh.vertices[:, 1]
    along, across = c * x + s * y, c * y - s * x
    return np.stack([along, np.sin(across), np.cos(across) - 1.0], axis=1)


def _inside(mesh: Mesh) -> BoolArray:
    """(f,) faces well off the border."""
    middle = mesh.vertices[mesh.faces].mean(axis=1)[:, :2]
    low, high = mesh.bounds[0, :2], mesh.bounds[1, :2]
    inside: BoolArray = ((middle > low + 0.15) & (middle < high - 0.15)).all(axis=1)
    return inside


def cylinder_errors(mesh: Mesh, normals: str) -> tuple[float, float]:
    """Largest relative errors over directions of the bending energy against D / 2: off the border, and of the whole."""
    rest = RestShape.of(mesh)
    term = KoiterBending.of(rest, normals, MATERIAL)
    rigidity = MATERIAL["young"] * MATERIAL["thickness"] ** 3 / (12.0 * (1.0 - MATERIAL["poisson"] ** 2))
    inside, energy, found = _inside(mesh), np.empty(mesh.n_faces), []
    for degrees in DIRECTIONS:
        term.energy(rolled(mesh, degrees), energy)
        parts = [energy[chosen].sum() / rest.areas[chosen].sum() for chosen in (inside, slice(None))]
        found.append([part / (rigidity / 2.0) - 1.0 for part in parts])
    worst = np.abs(np.array(found)).max(axis=0)
    return float(worst[0]), float(worst[1])


def plate_energy(mesh: Mesh, period: tuple[float, float], hessian: FloatArray) -> float:
    """Energy per area over k_b / 2 of the discrete shell with k_b = 1, over one period (x, y) of the mesh."""
    v = mesh.vertices - mesh.bounds.mean(axis=0)
    x, size = v.copy(), 1e-4
    x[:, 2] = 0.5 * size * np.einsum("ni,ij,nj->n", v[:, :2], hessian, v[:, :2])
    term = DihedralBending.of(RestShape.of(mesh), 1.0)
    energy = np.empty(len(term.stencils))
    term.energy(x, energy)
    middle = v[term.stencils[:, :2]].mean(axis=1)[:, :2] + 1e-3 * np.array(period)  # no middle on the rim of the box
    inside = ((middle >= 0.0) & (middle < np.array(period))).all(axis=1)
    return float(2.0 * energy[inside].sum() / (period[0] * period[1]) / size**2)


def effective(mesh: Mesh, period: tuple[float, float], degrees: float) -> tuple[float, float]:
    """D_eff / k_b of a curvature along a direction, and nu_eff."""
    t = np.deg2rad(degrees)
    n, m = np.array([np.cos(t), np.sin(t)]), np.array([-np.sin(t), np.cos(t)])
    one, other = (plate_energy(mesh, period, np.outer(a, a)) for a in (n, m))
    sphere = plate_energy(mesh, period, np.eye(2))
    return one, float((sphere - one - other) / 2.0 / np.sqrt(one * other))


def _rigidities(result: Result, quick: bool) -> None:
    n = 24
    degrees = np.arange(0.0, 180.0, 15.0 if quick else 5.0)
    meshes = {
        "equilateral": (equilateral(n), (1.0 / n, np.sqrt(3.0) / n)),
        "squares cut alike": (cut_squares(n), (1.0 / n, 1.0 / n)),
        "squares cut crosswise": (cut_squares(n, crosswise=True), (2.0 / n, 2.0 / n)),
    }
    found = {name: np.array([effective(*given, d) for d in degrees]) for name, given in meshes.items()}
    same = found["equilateral"]
    result.near("equilateral: least D_eff / k_b", float(same[:, 0].min()), 3.0, 1e-4)
    result.near("equilateral: largest D_eff / k_b", float(same[:, 0].max()), 3.0, 1e-4)
    result.near("equilateral: nu_eff, farthest from -1/3", _farthest(same[:, 1], -1 / 3), -1 / 3, 1e-4)
    alike, q = found["squares cut alike"], np.sin(2.0 * np.deg2rad(degrees))
    off = min(_off(alike[:, 0], 3.0 * (1.0 + sign * q + q * q)) for sign in (1, -1))  # either of the diagonals
    result.below("squares cut alike: D_eff against 3 k_b (1 + q + q^2)", off, 1e-4)
    for name in ("squares cut alike", "squares cut crosswise"):
        values, ratios = found[name].T
        result.info(f"{name}: least D_eff / k_b", values.min(), ".4g")
        result.info(f"{name}: largest D_eff / k_b", values.max(), ".4g")
        result.info(f"{name}: along the sides", float(values[0]), ".4g")
        result.info(f"{name}: least nu_eff", ratios.min(), ".3f")
        result.info(f"{name}: largest nu_eff", ratios.max(), ".3f")
    result.plot(
        "rigidity", "direction, degrees", "D_eff / k_b", degrees, {name: values[:, 0] for name, values in found.items()}
    )


def _farthest(values: FloatArray, goal: float) -> float:
    return float(values[np.argmax(np.abs(values - goal))])


def _cylinders(result: Result, quick: bool, say: Say) -> None:
    n = 28 if quick else 56
    symmetric = {"squares cut alike": cut_squares(n), "equilateral": equilateral(n)}
    others = {
        "squares cut crosswise": cut_squares(n, crosswise=True),
        "irregular": irregular_rectangle(1.0, 1.0, nodes=n * n, seed=2),
    }
    for normals in ("average", "sin", "tan"):
        for name, mesh in (*symmetric.items(), *others.items()):
            say(f"cylinder, {normals}, {name}")
            inside, whole = cylinder_errors(mesh, normals)
            what = f"cylinder, {normals}, {name}: energy off the border, relative error"
            if normals == "average" and name in others:
                result.info(what, inside)
            else:
                result.below(what, inside, 1e-3)
            if name == "squares cut alike":
                result.info(f"cylinder, {normals}, {name}: with the border", whole)
            if name == "squares cut alike" and normals == "average":  # angles of edges feel the border of a coarse mesh
                order = float(np.log2(cylinder_errors(cut_squares(n // 2), normals)[0] / inside))
                result.between(f"cylinder, {normals}, {name}: order in the size of triangles", order, 1.8, 2.2)


def run(quick: bool = False, *, out: Path | None = None, say: Say = silent) -> Result:
    """Derivatives of all energies, cylinders with all normals, effective rigidities of the discrete shell."""
    result = Result("shell_energies", TITLE)
    rigid = 0.0
    for name in ENERGIES:
        say(f"derivatives, {name}")
        found = [derivative_errors(name, seed, 24 if quick else 60) for seed in range(2 if quick else 8)]
        rigid = max(rigid, *(errors.pop("rigid") for errors in found))
        for kind in found[0] if not quick else ():
            result.below(f"{name}: {kind}", max(errors[kind] for errors in found), 1e-6)
        if quick:
            result.below(f"{name}: worst derivative", max(max(errors.values()) for errors in found), 1e-6)
    result.below("rigid motions: relative change of any energy", rigid, 1e-12)
    _cylinders(result, quick, say)
    _rigidities(result, quick)
    return result
