"""Folds in scenes that no constant of the model was chosen with: other sizes, other held corners, other diagonals.

Sheets fall from a flat start and fold over the line between two held corners. If a fold is perfect its flaps hang
straight down, w h / sqrt(w^2 + h^2) deep; a sheet that locks stays flat, at zero. The targets are those of the square
held at three corners (`locking`), carried over to the depth that is possible here: 0.60 / 0.7071 of it with elements of
1/22 m and 0.62 / 0.7071 with 1/29 m, all meshes within 3.7 cm. They were set before the first run.

A fold along the diagonal of a rectangle that is no square is oblique to the net by another angle than 45 degrees. Cells
cut into triangles have a diagonal of their own, along which or across which the sheet folds.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from isocloth import meshes
from isocloth.fabric import Fabric
from isocloth.meshes import Mesh
from isocloth.simulation import Simulation
from validation.locking import DAMPING, DENSITY, IDEAL, SPREAD, crease, least_depth
from validation.result import Result, Say, silent
from validation.scenes import Settling, advance, corner_nodes, with_noise

TITLE = "sheets of other sizes, held at other corners, fold as well"

NOISE = 1e-3  # m, of the start; the rest shape is flat
COARSE, FINE = 1.0 / 22.0, 1.0 / 29.0  # m, sizes of elements
Corner = tuple[float, float]


@dataclass(frozen=True)
class Scene:
    """A sheet width x height (m): held corners, the two between which it folds, corners that fall; in units of both."""

    name: str
    width: float
    height: float
    held: tuple[Corner, ...]
    ridge: tuple[Corner, Corner]
    free: tuple[Corner, ...]

    @property
    def limit(self) -> float:
        """Depth of a free corner below the ridge of a perfect fold, m."""
        return self.width * self.height / float(np.hypot(self.width, self.height))

    def places(self, corners: tuple[Corner, ...]) -> list[Corner]:
        """Corners in metres."""
        return [(x * self.width, y * self.height) for x, y in corners]


A, B, C, D = (0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)
SCENES = (
    Scene("0.7 x 1 m, two corners", 0.7, 1.0, (A, C), (A, C), (B, D)),
    Scene("0.7 x 1 m, three corners", 0.7, 1.0, (A, B, D), (B, D), (C,)),
    Scene("1 x 1 m, two corners", 1.0, 1.0, (A, C), (A, C), (B, D)),
    Scene("1 x 1 m, the other two corners", 1.0, 1.0, (B, D), (B, D), (A, C)),
)
KINDS = ("quads", "cut triangles", "irregular triangles")


@dataclass
class Fall:
    """A sheet at rest."""

    depths: np.ndarray  # (free corners,) m below the held ones
    crease: float  # m
    log: Settling


def sheet(scene: Scene, kind: str, size: float) -> Mesh:
    """The scene's rectangle with elements of about `size` (m)."""
    shape = (round(scene.width / size) + 1, round(scene.height / size) + 1)
    if kind == "irregular triangles":
        return meshes.irregular_rectangle(scene.width, scene.height, nodes=shape[0] * shape[1])
    element = "quad" if kind == "quads" else "triangle"
    return meshes.rectangle(scene.width, scene.height, shape=shape, element=element)  # type: ignore[arg-type]


def fall(scene: Scene, mesh: Mesh, *, duration: float = 12.0, seed: int = 0) -> Fall:
    """Let go of the flat sheet."""
    sim = Simulation(mesh, Fabric(density=DENSITY, damping=DAMPING))
    held = corner_nodes(mesh, *scene.places(scene.held))
    start = with_noise(mesh, NOISE, seed).vertices.copy()
    start[held] = mesh.vertices[held]
    sim.positions = start
    sim.grasp(held)
    log = advance(sim, round(duration / sim.timestep))
    x = sim.positions
    depths = x[held, 2].mean() - x[corner_nodes(mesh, *scene.places(scene.free)), 2]
    a, b = scene.places(scene.ridge)
    return Fall(depths, crease(mesh, x, a, b), log)


def run(quick: bool = False, *, out: Path | None = None, say: Say = silent) -> Result:
    """Depths of the free corners of every scene and mesh."""
    result = Result("folds", TITLE)
    sizes = (1.0 / 10.0, 1.0 / 13.0) if quick else (COARSE, FINE)
    for scene in SCENES[:1] if quick else SCENES:
        depths: dict[tuple[str, float], float] = {}
        for kind in KINDS[::2] if quick else KINDS:
            for size in sizes:
                mesh = sheet(scene, kind, size)
                what = f"{scene.name}, {kind}, {mesh.n_vertices} nodes"
                say(what)
                found = fall(scene, mesh)
                depths[kind, size] = float(found.depths.mean())
                wanted = least_depth(round((1.0 / size + 1.0) ** 2)) * scene.limit / IDEAL
                result.above(f"{what}: depth, m", depths[kind, size], round(wanted, 3), ".4f")
                if len(found.depths) > 1:
                    result.info(f"{what}: difference of the free corners, m", float(np.ptp(found.depths)), ".4f")
                result.above(f"{what}: ridge above its flanks, m", found.crease, 0.02, ".3f")
                result.below(f"{what}: steps not converged", found.log.unconverged, 0, ".0f")
                result.info(f"{what}: fastest node at the end, mm/s", 1e3 * found.log.speed, ".2f")
        for kind in KINDS[::2] if quick else KINDS:
            result.holds(
                f"{scene.name}, {kind}: depth rises with refinement", depths[kind, sizes[0]] < depths[kind, sizes[1]]
            )
        for size in sizes:
            same = [depth for (_, s), depth in depths.items() if s == size]
            result.info(f"{scene.name}, elements of 1/{1 / size:.0f} m: depths within, m", float(np.ptp(same)), ".4f")
        if not quick:
            result.below(f"{scene.name}: all depths within, m", float(np.ptp(list(depths.values()))), SPREAD, ".4f")
        result.info(f"{scene.name}: depth of a perfect fold, m", scene.limit, ".4f")
        result.info(f"{scene.name}: depth of a sheet that stays flat, m", 0.0, ".4f")
    result.notes.append(f"flat rest shape, start with {1e3 * NOISE:g} mm of noise; damping / density 2 1/s, 12 s")
    return result
