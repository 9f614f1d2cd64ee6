"""Rigid motions do not change the metric: every row of every discretisation stays zero to rounding."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from isocloth import meshes
from isocloth.meshes import Mesh
from isocloth.terms.isometry import isometry
from validation.result import Result, Say, silent

TITLE = "rigid motions leave all rows at zero"


def run(quick: bool = False, *, out: Path | None = None, say: Say = silent) -> Result:
    """Largest |C| relative to the size of its terms over random rigid motions."""
    result = Result("rigid", TITLE)
    motions = 5 if quick else 50
    cloths = {
        "quads": meshes.rectangle(0.42, 0.594, shape=(7, 9)),
        "triangles": meshes.rectangle(0.42, 0.594, shape=(7, 9), element="triangle"),
        "irregular triangles": meshes.irregular_rectangle(1.0, 1.0, nodes=120),
        "ring of quads": meshes.ring(0.09, 0.15, shape=(4, 24)),
        "tank top": meshes.tank_top(triangles=400 if quick else 1676),
    }
    for name, mesh in cloths.items():
        kinds = ["nodal", "net"] if mesh.element == "quad" else ["nodal", "stabilised"]
        for kind in kinds:
            result.below(f"{name}, {kind}", _largest(mesh, kind, motions), 1e-12, ".1e")
    result.notes.append(f"largest of {motions} random rotations with shifts of the size of the cloth; E0 = G0 = 1")
    return result


def _largest(mesh: Mesh, discretisation: str, motions: int) -> float:
    rows = isometry(mesh, 1.0, discretisation)
    random = np.random.default_rng(0)
    centre, size = mesh.vertices.mean(axis=0), np.ptp(mesh.vertices, axis=0).max()
    worst = 0.0
    for _ in range(motions):
        turn = Rotation.random(random_state=random).as_matrix()
        moved = (mesh.vertices - centre) @ turn.T + size * random.normal(size=3)
        worst = max(worst, float(np.abs(rows.values(moved)).max()))
    return worst
