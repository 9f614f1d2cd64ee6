"""A net of quads that is dragged over a floor keeps its area, and the certificate tells when one does not."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from isocloth import measure, meshes
from isocloth.base.typing import FloatArray
from isocloth.fabric import Fabric
from isocloth.meshes import Mesh
from isocloth.models import Isometric, Model
from isocloth.obstacles import Floor
from isocloth.simulation import Simulation
from isocloth.terms.rows import Rows, select
from validation.result import Result, Say, silent

TITLE = "quads dragged over a floor for 20,000 steps keep their area; nets without diagonals lose half of it"

SIDE = 0.3  # m
FABRIC = Fabric(density=0.2, bending=2e-5)
STRENGTH = 2.0  # N, with which the hand pulls at most: eleven times the weight of the sheet
LAGS = 2e-4  # m, from which on the hand counts as held back


@dataclass(frozen=True, kw_only=True)
class BareNet(Isometric):
    """The baseline: edges and angles of the net alone, as version 0.1 had them, but for the stiffness of its border."""

    def rows(self, mesh: Mesh, fabric: Fabric, discretisation: str | None = None) -> Rows:
        """Rows of the isometry without diagonals."""
        rows = super().rows(mesh, fabric, discretisation)
        return select(rows, rows.partner == 0)


@dataclass
class Dragged:
    """What became of a sheet."""

    lost: FloatArray  # part of the area after every step, quads as folded paper, measured here
    bilinear: float  # the largest part that bilinear patches lose, at every tenth step
    told: float  # largest difference between what the certificate says and what was measured
    stretch: float  # largest relative change of the length of an edge
    unconverged: int
    solves: float  # per step
    lag: float  # m, how far the hand was held back at most ...
    lagging: int  # ... and in how many steps


def paper_area(mesh: Mesh, x: FloatArray) -> float:
    """Area (m^2) of quads cut along the diagonal that leaves more of it: a second derivation, by Heron's formula."""

    def triangles(*corners: int) -> FloatArray:
        p = x[mesh.faces[:, list(corners)]]
        a, b, c = (np.linalg.norm(p[:, i] - p[:, i - 1], axis=1) for i in range(3))
        s = 0.5 * (a + b + c)
        area: FloatArray = np.sqrt(np.maximum(s * (s - a) * (s - b) * (s - c), 0.0))
        return area

    cuts = triangles(0, 1, 2) + triangles(0, 2, 3), triangles(0, 1, 3) + triangles(1, 2, 3)
    return float(np.maximum(*cuts).sum())


def drag(steps: int, node: int, model: Model | None = None) -> Dragged:
    """Drag a sheet of 9 x 9 nodes by one of them, to and fro in both directions and up and down, over a floor."""
    flat = meshes.rectangle(SIDE, SIDE, shape=(9, 9))
    mesh = flat.with_vertices(flat.vertices + np.array([0.0, 0.0, 0.5 * FABRIC.thickness]))
    sim = Simulation(mesh, FABRIC, obstacles=[Floor(friction=0.4)], model=model or "isometric")
    start = mesh.vertices[[node]]

    def path(t: float) -> FloatArray:
        height = (1.0 - np.exp(-t)) * (0.05 + 0.03 * np.sin(1.7 * t))
        where: FloatArray = start + np.array([0.3 * np.sin(t), 0.3 * np.sin(0.618 * t), height])
        return where

    grasp = sim.grasp(np.array([node]), path, max_force=STRENGTH)
    whole, rest = paper_area(mesh, mesh.vertices), measure.areas(mesh, mesh.vertices).sum()
    found = Dragged(np.zeros(steps), 0.0, 0.0, 0.0, 0, 0.0, 0.0, 0)
    for k in range(steps):
        report = sim.step()
        found.lost[k] = 1.0 - paper_area(mesh, sim.positions) / whole
        found.told = max(found.told, abs(report.area_error - abs(found.lost[k])))
        found.unconverged += not report.converged
        found.solves += report.iterations / steps
        lag = grasp.lag
        found.lag, found.lagging = max(found.lag, lag), found.lagging + (lag > LAGS)
        if k % 10 == 9:
            found.bilinear = max(found.bilinear, float(1.0 - measure.areas(mesh, sim.positions).sum() / rest))
            found.stretch = max(found.stretch, float(measure.edge_stretch(mesh, sim.positions).max))
    return found


def run(quick: bool = False, *, out: Path | None = None, say: Say = silent) -> Result:
    """Area lost by sheets dragged by a corner or the middle of a side, with the diagonals of the net and without."""
    result = Result("area", TITLE)
    shown = 2_000 if quick else 5_000  # steps in the plot: what is lost without diagonals is lost by then
    places = {"middle of a side": (4, 2_000)}
    if not quick:
        places = {"middle of a side": (4, 20_000), "corner": (0, 5_000)}
    curves = {}
    for name, (node, steps) in places.items():
        say(f"dragged by the {name}")
        found = drag(steps, node)
        curves[name] = 100 * found.lost[9:shown:10]
        result.below(f"{name}: largest loss of area, %", 100 * float(np.abs(found.lost).max()), 1.0, ".3f")
        result.below(f"{name}: steps not converged", found.unconverged, 0, ".0f")
        result.below(f"{name}: largest edge stretch, %", 100 * found.stretch, 0.3, ".4f")
        result.below(f"{name}: certificate off what is measured", found.told, 1e-9, ".1e")
        result.info(f"{name}: the same of bilinear patches, which lose area where they fold, %", 100 * found.bilinear)
        result.info(f"{name}: solves per step", found.solves, ".2f")
        result.info(f"{name}: steps in which the hand, of {STRENGTH:g} N, was held back", found.lagging, ".0f")
        result.info(f"{name}: by at most, mm", 1e3 * found.lag, ".2f")
    say("without diagonals")
    bare = drag(shown, 4, BareNet())
    curves["without diagonals"] = 100 * bare.lost[9::10]
    result.info("baseline, without diagonals: largest loss of area, %", 100 * float(bare.lost.max()), ".1f")
    result.info("baseline, without diagonals: steps not converged", bare.unconverged, ".0f")
    result.info("baseline, without diagonals: largest edge stretch, %", 100 * bare.stretch, ".4f")
    result.below("baseline, without diagonals: certificate off what is measured", bare.told, 1e-9, ".1e")
    result.plot("area", "time, s", "area lost, %", 0.1 * np.arange(1, shown // 10 + 1), curves)
    return result
