"""A fold on a table is as high as the heavy elastica says: strips in a plane, and napkins folded by a hand."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from isocloth import Fabric, Floor, Mesh, Simulation, meshes
from isocloth.base.typing import FloatArray, IntArray
from isocloth.measure import area_change
from validation.elastica_folds import elastica_height, polygon_height, saturating, stiffening
from validation.result import Result, Say, silent

TITLE = "a fold at rest is as high as physics says, whatever the mesh, its direction and the hand"

#: m, side of the napkin; kg/m^2; m; kg/(m^2 s)
SIDE, DENSITY, THICKNESS, DAMPING = 0.5, 0.2, 1e-3, 0.4
GRAVITY, SHEAR = 9.81, 30.0
#: s: the hand's way, when it lets go, and when the fold is measured
MOVES, RELEASES, ENDS = 2.0, 2.2, 5.0
#: m/s
AT_REST = 5e-3
#: of the height, and of elements: how far it may be off, with shear and without
OFF = {"shear": (0.2, 0.5), "hard": (0.3, 1.0)}
#: elements of a strip, of c, and how far its height may be off
STRIPS = {0.25: 0.05, 0.5: 0.12}
OFFSETS = (0.0, 0.5, 1.0, 1.5)
#: of the length of the fold, left out at either end
ENDS_OF_FOLD = 0.2


class Case(NamedTuple):
    """kind: "shear", a fabric with a shear stiffness, or "hard", one that forbids shearing. element: "quad", "triangle"
    (squares cut in two) or "irregular". bending: N m. angle: degrees between the fold and the lines of the mesh. slack:
    part of the whole way that the hand goes. way: how the cloth bends, `Simulation(bending_model=...)`."""

    kind: str
    element: str
    nodes: int
    bending: float
    angle: float
    slack: float
    way: str = "stiffening"

    @property
    def name(self) -> str:
        return (
            f"{self.way}, {self.kind}, {self.element} {self.nodes} x {self.nodes}, B {self.bending:g}, "
            f"{self.angle:g} degrees, slack {self.slack:g}"
        )

    @property
    def length(self) -> float:
        """m, of an element."""
        return SIDE / (self.nodes - 1)


class Fold(NamedTuple):
    """height, top: m, mean along the middle of the fold, and the highest point anywhere. speed: m/s, the fastest node.
    unconverged: steps. iterations: factorisations a step. area: part gained. seconds: of processor time."""

    height: float
    top: float
    speed: float
    unconverged: int
    iterations: float
    area: float
    seconds: float


def wanted(bending: float) -> float:
    """m: height of the fold of a napkin, its thickness with it."""
    return elastica_height() * (bending / (DENSITY * GRAVITY)) ** (1.0 / 3.0) + 1.5 * THICKNESS


def napkin(case: Case) -> Mesh:
    """A square a little above the table."""
    if case.element == "irregular":
        flat = meshes.irregular_rectangle(SIDE, SIDE, nodes=case.nodes**2, seed=1)
    else:
        flat = meshes.rectangle(SIDE, SIDE, (case.nodes, case.nodes), element=case.element)  # type: ignore[arg-type]
    return flat.transformed(translation=[0.0, 0.0, 0.6 * THICKNESS])


def folded(case: Case) -> Fold:
    """Folded by two corners (0 degrees), or by one, over a line across the way of the hand; released; measured."""
    mesh = napkin(case)
    fabric = Fabric(
        density=DENSITY, bending=case.bending, thickness=THICKNESS, damping=DAMPING, friction=0.3,
        shear=SHEAR if case.kind == "shear" else None,
    )  # fmt: skip
    sim = Simulation(mesh, fabric, obstacles=[Floor(friction=0.5)], self_collision=True, bending_model=case.way)
    corners = [[0.0, 0.0, 0.0], [0.0, SIDE, 0.0]] if case.angle == 0.0 else [[0.0, 0.0, 0.0]]
    hand, radius = mesh.nearest(corners), SIDE * (np.sqrt(0.5) if case.angle == 45.0 else 0.5)
    turn = np.deg2rad(case.angle)
    along = np.array([np.cos(turn), np.sin(turn), 0.0])
    begin = mesh.vertices[hand]

    def way(t: float) -> FloatArray:
        share = min(t / MOVES, 1.0)
        share = share * share * (3.0 - 2.0 * share)
        arc = np.pi * share
        up = 0.9 * radius * np.sin(arc) + 4.0 * THICKNESS * share
        return np.asarray(begin + case.slack * radius * (1.0 - np.cos(arc)) * along + [0.0, 0.0, up])

    grasp, holds = sim.grasp(hand, path=way), True
    started, reports = time.process_time(), []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        while sim.time < ENDS - 1e-9:
            reports.append(sim.step())
            if holds and sim.time > RELEASES:
                grasp.release()
                holds = False
    x, speed = sim.positions, float(np.linalg.norm(sim.velocities, axis=1).max())
    return Fold(
        ridge(x, mesh.faces, along), float(x[:, 2].max()), speed,
        sum(not report.converged for report in reports), float(np.mean([report.iterations for report in reports])),
        area_change(mesh, x), time.process_time() - started,
    )  # fmt: skip


def ridge(x: FloatArray, faces: IntArray, along: FloatArray) -> float:
    """m: height of the cloth over the middle of its fold, the mean of the highest points of strips across it."""
    place = (np.arange(6) + 0.5) / 6.0
    a, b = (part.ravel() for part in np.meshgrid(place, place))
    if faces.shape[1] == 4:
        weights = np.stack([(1 - a) * (1 - b), a * (1 - b), a * b, (1 - a) * b], axis=1)
    else:
        a, b = a[a + b < 1.0], b[a + b < 1.0]
        weights = np.stack([1.0 - a - b, a, b], axis=1)
    points = np.einsum("sk,fkd->fsd", weights, x[faces]).reshape(-1, 3)
    across = points[:, :2] @ np.array([-along[1], along[0]])
    strips = np.linspace(across.min(), across.max(), 60)
    number = np.clip(np.searchsorted(strips, across) - 1, 0, 58)
    top = np.zeros(59)
    np.maximum.at(top, number, points[:, 2])
    raised = np.flatnonzero(top > 4.0 * THICKNESS)
    if len(raised) < 5:
        return float(top.max())
    first, count = raised[0], raised[-1] - raised[0]
    return float(top[int(first + ENDS_OF_FOLD * count) : int(raised[-1] - ENDS_OF_FOLD * count) + 1].mean())


def matrix(nodes: Sequence[int] = (21, 41)) -> list[Case]:
    """All cases of napkins."""
    return [
        Case(kind, element, n, bending, angle, slack)
        for n in nodes
        for kind in OFF
        for element in ("quad", "triangle", "irregular")
        for bending in (1e-5, 1e-4)
        for angle in (0.0, 22.5, 45.0)
        for slack in (0.97, 0.9, 0.8)
    ]


def off(case: Case) -> float:
    """m, how far a height may be off."""
    part, elements = OFF[case.kind]
    return max(part * wanted(case.bending), elements * case.length)


def run(quick: bool = False, *, out: Path | None = None, say: Say = silent) -> Result:
    """Strips; then napkins on quads, with the bending that stiffens and with that which does not."""
    result = Result("fold_height", TITLE)
    exact = elastica_height()
    result.near("loop of the heavy elastica: height, c", exact, 0.907, 0.001, ".4f")
    for h, part in STRIPS.items():
        for label, turns in (("stiffening", stiffening), ("matrix alone", saturating)):
            for sharp in (True, False):
                what = f"strip, elements of c x {h:g}, {label}, {'sharp' if sharp else 'wide'} start"
                heights = [polygon_height(turns, h, offset, sharp=sharp)[0] / exact for offset in OFFSETS]
                for end, value in (("least", min(heights)), ("most", max(heights))):
                    if label == "stiffening":
                        result.near(f"{what}: height, {end}", value, 1.0, part, ".3f")
                    else:
                        result.info(f"{what}: height, {end}", value, ".3f")
    if quick:
        cases = [Case("shear", "quad", 15, 1e-4, 0.0, 0.9)]
    else:
        cases = [c for c in matrix((21,)) if c.element == "quad"]
        cases += [c for c in matrix((41,)) if c.element == "quad" and c.slack == 0.97 and c.bending == 1e-5]
        plain = [c._replace(way="hessian") for c in cases if c.slack == 0.97 and c.nodes == 21]
        cases = [*cases, *plain]
    for case in cases:
        say(case.name)
        judged(result, case, folded(case))
    result.notes.append(
        f"napkins of {SIDE:g} m, {DENSITY:g} kg/m^2, thickness {1e3 * THICKNESS:g} mm, damping / density "
        f"{DAMPING / DENSITY:g} 1/s; let go at {RELEASES:g} s, measured at {ENDS:g} s; heights are means over the "
        f"middle 60 % of the fold; shear stiffness {SHEAR:g} N/m, or none allowed"
    )
    return result


def judged(result: Result, case: Case, fold: Fold) -> None:
    """Lines of one napkin; of the bending that does not stiffen without targets."""
    height = wanted(case.bending)
    if case.way == "hessian":
        result.info(f"{case.name}: height, cm", 100.0 * fold.height, ".2f")
        return
    low, high = 100.0 * max(height - off(case), 0.0), 100.0 * (height + off(case))
    result.between(f"{case.name}: height, cm", 100.0 * fold.height, round(low, 2), round(high, 2), ".2f")
    result.below(f"{case.name}: fastest node at {ENDS:g} s, mm/s", 1e3 * fold.speed, 1e3 * AT_REST, ".2f")
    result.below(f"{case.name}: steps not converged", fold.unconverged, 0, ".0f")
    result.below(f"{case.name}: area changed by, %", 100.0 * abs(fold.area), 1.0, ".2f")
    result.info(f"{case.name}: highest point, cm", 100.0 * fold.top, ".2f")
    result.info(f"{case.name}: factorisations a step", fold.iterations, ".1f")
    result.info(f"{case.name}: processor time, s", fold.seconds, ".0f")
