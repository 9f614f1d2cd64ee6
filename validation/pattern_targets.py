"""Cloths sewn of flat panels that are known, and how they hang: targets of `patterns`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from isocloth import Mesh, equilibrium, meshes
from isocloth.base.typing import FloatArray, IntArray
from isocloth.fabric import Fabric
from isocloth.models import DiscreteShell, KoiterShell, Shell
from isocloth.patterns import Cut, cut_open, flatten

#: of the thesis' table 6.1: discrete shells, and Koiter's shell with its density, kg/m^3, and thickness, m
DISCRETE, LIGHT = DiscreteShell(stretch=5.0, bending=1e-2, area=2.0), 0.25
KOITER, HEAVY = KoiterShell(young=1.5e5, poisson=0.4, thickness=2e-3), 935.0


#: m, by which the corners of a towel are moved towards each other
NEARER = 0.05


class Sewn(NamedTuple):
    """flat: (p, 2) m, the true panels of `cut`. target: how they hang, from nodes `held`."""

    name: str
    target: Mesh
    cut: Cut
    flat: FloatArray
    held: IntArray
    model: Shell
    fabric: Fabric
    seams: dict[str, list[int]]


def square(side: int, *, flipped: bool = False) -> Mesh:
    """A square metre of side^2 nodes, each square cut into two triangles, all along one diagonal."""
    at = np.linspace(-0.5, 0.5, side)
    points = np.array([[x, y, 0.0] for x in at for y in at])
    a = (np.arange(side - 1)[:, None] * side + np.arange(side - 1)).ravel()
    b, c, d = a + side, a + side + 1, a + 1
    pairs = ([a, b, d], [b, c, d]) if flipped else ([a, b, c], [a, c, d])
    return Mesh(points, np.concatenate([np.stack(pair, axis=1) for pair in pairs]))


def corners_of(side: int) -> IntArray:
    """Nodes at the corners of `square`."""
    return np.array([0, side - 1, side * side - side, side * side - 1])


def hung_square(mesh: Mesh, held: IntArray, model: Shell, density: float) -> FloatArray:
    """(n, 3) m where a square hangs from its corners, which stay where they are."""
    x, y = 2.0 * mesh.vertices[:, 0], 2.0 * mesh.vertices[:, 1]
    start = mesh.vertices.copy()
    start[:, 2] = -0.1 * (1.0 - x**2) * (1.0 - y**2) - 0.1 * (1.0 - x**2 * y**2)
    start[held] = mesh.vertices[held]
    return rested("sheet", mesh, Fabric(density=density), model=model, held=held, start=start)


def rested(name: str, mesh: Mesh, fabric: Fabric, **options: Any) -> FloatArray:
    """(n, 3) m of a stable equilibrium."""
    found = equilibrium(mesh, fabric, **options)
    if not (found.converged and found.stable):
        raise RuntimeError(f"{name}: {found.problem or 'its equilibrium is not stable'}")
    return found.positions


def sheet(side: int, model: Shell, density: float) -> Sewn:
    """A sheet that hangs from its four corners."""
    mesh, held = square(side), corners_of(side)
    target = mesh.with_vertices(hung_square(mesh, held, model, density))
    name = f"sheet of {mesh.n_vertices} vertices, {model.name}"
    return Sewn(name, target, cut_open(target), mesh.vertices[:, :2], held, model, Fabric(density=density), {})


def cylinder(around: int, along: int, model: Shell, density: float) -> Sewn:
    """A tube of a flat sheet with a seam, its axis level, that hangs from two nodes of each end."""
    mesh = _tube([(0.25, 0.8 * t) for t in np.linspace(0.0, 1.0, along)], around)
    level = mesh.with_vertices(mesh.vertices[:, [2, 1, 0]] * np.array([1.0, -1.0, 1.0]))  # ring i, node i * around + j
    pins = [row * around + j for row in (0, along - 1) for j in (around // 8, around - around // 8)]
    seam = {"seam": [row * around + around // 2 for row in range(along)]}
    return _hung("cylinder", level, seam, np.array(pins), model, density, lambda x: x)


def skirt(rings: int, around: int, model: Shell, density: float) -> Sewn:
    """Two panels with a seam on each side, held at the waist."""
    part = np.linspace(0.0, 1.0, rings)
    mesh = _tube([(0.12 + 0.16 * t, -0.42 * t) for t in part], around)
    seams = {name: [row * around + at for row in range(rings)] for name, at in (("left", 0), ("right", around // 2))}
    return _hung("skirt of two panels", mesh, seams, np.arange(around), model, density, _waved)


def sleeve(rings: int, around: int, model: Shell, density: float) -> Sewn:
    """One panel with a seam, that narrows, held at its wide end, aslant."""
    part = np.linspace(0.0, 1.0, rings)
    mesh = _tube([(0.11 - 0.04 * t, -0.45 * t) for t in part], around)
    c, s = np.cos(0.9), np.sin(0.9)
    mesh = mesh.transformed(rotation=np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]]))
    seams = {"seam": [row * around for row in range(rings)]}
    return _hung("sleeve with a seam", mesh, seams, np.arange(around), model, density, lambda x: x)


def _tube(profile: list[tuple[float, float]], around: int) -> Mesh:
    """Rings of radii and heights, m, with straight lines between: what is straight along them unrolls exactly."""
    turn = 2.0 * np.pi * np.arange(around) / around
    points = [(r * np.cos(a), r * np.sin(a), z) for r, z in profile for a in turn]
    faces = []
    for i in range(len(profile) - 1):
        for j in range(around):
            a, b = i * around + j, i * around + (j + 1) % around
            c, d = a + around, b + around
            faces += [(a, c, d), (a, d, b)] if (i + j) % 2 else [(a, c, b), (b, c, d)]
    return Mesh(np.array(points), np.array(faces))


def _waved(x: FloatArray) -> FloatArray:
    """Waves without any symmetry, that grow downwards: a cloth without them would stand on a saddle."""
    turn, depth = np.arctan2(x[:, 1], x[:, 0]), x[:, 2] / x[:, 2].min()
    out = x.copy()
    out[:, :2] *= (1.0 + depth * (0.1 * np.cos(5.0 * turn + 0.3) + 0.03 * np.cos(3.0 * turn + 1.0)))[:, None]
    return out


def _hung(
    name: str, mesh: Mesh, seams: dict[str, list[int]], held: IntArray, model: Shell, density: float,
    start: Callable[[FloatArray], FloatArray],
) -> Sewn:  # fmt: skip
    cut = cut_open(mesh, seams)
    flat = flatten(mesh, cut).points
    corners = np.concatenate([flat, np.zeros((len(flat), 1))], axis=1)[cut.corners]
    fabric = Fabric(density=density)
    places = {int(node): mesh.vertices[node] for node in held}
    at = start(mesh.vertices.copy())
    at[held] = mesh.vertices[held]
    found = rested(name, mesh, fabric, model=model, rest=corners, held=places, start=at)
    return Sewn(f"{name}, {model.name}", mesh.with_vertices(found), cut, flat, held, model, fabric, seams)


def panel_error(cut: Cut, found: FloatArray, true: FloatArray) -> float:
    """m, the largest distance of a point of panels (p, 2) from where it should be, each laid on its own."""
    worst = 0.0
    for panel in range(cut.n_panels):
        a, b = (flat[cut.panel == panel] for flat in (found, true))
        a, b = a - a.mean(axis=0), b - b.mean(axis=0)
        u, _, v = np.linalg.svd(a.T @ b)
        u[:, 1] *= np.sign(np.linalg.det(u @ v))
        worst = max(worst, float(np.linalg.norm(a @ u @ v - b, axis=1).max()))
    return worst


def towel(quick: bool) -> tuple[Mesh, FloatArray, float, float]:
    """A towel that hangs from two corners, nearer to each other than they are on it: mesh, positions, and its sides."""
    wide, long = 0.5, 0.7
    mesh = meshes.rectangle(wide, long, (14, 19) if quick else (26, 36), element="triangle")
    held = mesh.nearest([[0.0, 0.0, 0.0], [wide, 0.0, 0.0]])
    start = mesh.vertices.copy()
    start[:, 2] = 0.05 * np.sin(np.pi * start[:, 0] / wide) - start[:, 1]
    start[:, 1] = 0.1 * np.sin(3.0 * start[:, 0])
    places = {int(held[0]): [NEARER, 0.0, 0.0], int(held[1]): [wide - NEARER, 0.0, 0.0]}
    fabric = Fabric(density=0.3, bending=1e-4)
    found = rested("towel", mesh, fabric, model="isometric", held=places, start=start)
    return mesh, found, wide, long


def sampled(mesh: Mesh, positions: FloatArray, count: int, noise: float, seed: int) -> FloatArray:
    """(count, 3) m, points spread over a cloth at random, with errors."""
    rng = np.random.default_rng(seed)
    corners = positions[mesh.faces]
    areas = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    chosen = corners[rng.choice(len(corners), count, p=areas / areas.sum())]
    part = rng.random((count, 2))
    part[part.sum(axis=1) > 1.0] = 1.0 - part[part.sum(axis=1) > 1.0]
    on = chosen[:, 0] + part[:, :1] * (chosen[:, 1] - chosen[:, 0]) + part[:, 1:] * (chosen[:, 2] - chosen[:, 0])
    return np.asarray(on + noise * rng.normal(size=on.shape))
