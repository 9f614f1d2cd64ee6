"""A sheet rolled on a cylinder is an isometry: the rows' residual is the error of the discretisation alone, O(h^2)."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from isocloth import meshes
from isocloth.base.typing import FloatArray
from isocloth.meshes import Mesh
from isocloth.terms.isometry import isometry
from validation.result import Result, Say, silent
from validation.scenes import fitted_order

TITLE = "rolled on a cylinder, the rows' residual falls as h^2"

RADIUS = 0.3  # m


def rolled(mesh: Mesh, angle: float) -> FloatArray:
    """Positions (n, 3) of the flat mesh rolled on a cylinder whose axis makes `angle` (rad) with the y axis."""
    c, s = np.cos(angle), np.sin(angle)
    x, y, _ = mesh.vertices.T
    along, across = c * x + s * y, -s * x + c * y
    turn = along / RADIUS
    u, w = RADIUS * np.sin(turn), RADIUS * (1.0 - np.cos(turn))
    return np.stack([c * u - s * across, s * u + c * across, w], axis=1)


def run(quick: bool = False, *, out: Path | None = None, say: Say = silent) -> Result:
    """Largest |C| under refinement, for every discretisation and two directions of rolling."""
    result = Result("roll", TITLE)
    sides = (6, 11, 21) if quick else (6, 11, 21, 41, 81)
    steps = [1.0 / (n - 1) for n in sides]
    columns = {}
    for element, kinds in (("quad", ("net", "nodal")), ("triangle", ("nodal", "stabilised"))):
        for kind in kinds:
            for degrees in (0.0, 30.0, 45.0):
                errors = []
                for n in sides:
                    mesh = meshes.rectangle(1.0, 1.0, shape=(n, n), element=element)  # type: ignore[arg-type]
                    rows = isometry(mesh, 1.0, kind)
                    values = np.abs(rows.values(rolled(mesh, np.deg2rad(degrees))))
                    errors.append(float(values[rows.enforced].max()))
                name = f"{element}s, {kind}, {degrees:g} degrees"
                result.between(f"{name}: order in h", fitted_order(steps[1:], errors[1:]), 1.9, 2.2, ".2f")
                result.info(f"{name}: largest |C| at h = 1/{sides[-1] - 1}", errors[-1], ".1e")
                columns[name] = errors
    # a chord of length l on a circle: (2 R sin(l / 2R) / l)^2 - 1 = -(l / R)^2 / 12 + ...
    chord = (2.0 * RADIUS * np.sin(steps[-1] / (2.0 * RADIUS)) / steps[-1]) ** 2 - 1.0
    result.near(
        "edges along the roll: |C| against the chord's formula",
        columns["quads, net, 0 degrees"][-1],
        abs(chord),
        1e-6,
        ".6e",
    )
    if not quick:
        for seed in range(3):
            errors, sizes = [], []
            for nodes in (100, 400, 1600):
                mesh = meshes.irregular_rectangle(1.0, 1.0, nodes=nodes, seed=seed)
                rows = isometry(mesh, 1.0, "stabilised")
                values = np.abs(rows.values(rolled(mesh, np.deg2rad(30.0))))
                errors.append(float(np.sqrt(np.mean(values[rows.enforced] ** 2))))
                sizes.append(float(mesh.edge_lengths.mean()))
            result.between(
                f"irregular triangles, seed {seed}: order of the rms", fitted_order(sizes, errors), 1.8, 2.3, ".2f"
            )
    result.plot("residual", "h, m", "largest |C|", steps, columns, log=True)
    result.notes.append(f"1 x 1 m on a cylinder of {RADIUS:g} m radius")
    return result
