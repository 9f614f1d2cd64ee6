"""Small oscillations of a hanging strip without bending: frequencies are zeros of the Bessel function J_0."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.linalg
from scipy.special import j0, jn_zeros

from isocloth import meshes
from isocloth.base.typing import BoolArray, FloatArray
from isocloth.cloth.cloth import Cloth
from isocloth.fabric import Fabric
from isocloth.meshes import Mesh
from isocloth.models import Isometric, Model
from isocloth.simulation import Simulation
from isocloth.terms.isometry import BORDER_OF_NET, BORDER_OF_NODAL
from isocloth.terms.rows import Rows, select, stack, weighted
from validation.result import Result, Say, silent
from validation.scenes import hanging

TITLE = "small oscillations of a hanging strip without bending against Bessel zeros"

LENGTH = 1.0  # m
GRAVITY = 9.81
FABRIC = Fabric(density=0.2)
AMPLITUDE = 2e-3  # m

#: element, nodes across and along, width (m)
STRIPS = {
    "triangles 3 x 21": ("triangle", 3, 21, 0.1), "triangles 4 x 21": ("triangle", 4, 21, 0.15),
    "triangles 5 x 21": ("triangle", 5, 21, 0.2), "triangles 9 x 31": ("triangle", 9, 31, 0.3),
    "quads 3 x 21": ("quad", 3, 21, 0.1), "quads 5 x 21": ("quad", 5, 21, 0.2),
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class StiffBorder(Isometric):
    """The baseline: edges of the border as stiff as those inside, as version 0.1 had them."""

    def rows(self, mesh: Mesh, fabric: Fabric, discretisation: str | None = None) -> Rows:
        """Rows of the isometry with the border's weights as they were."""
        rows = super().rows(mesh, fabric, discretisation)
        soft = ~rows.enforced & ~_on_border(mesh, rows)
        if mesh.element == "triangle":
            rows = stack(super().rows(mesh, fabric, "nodal"), select(rows, soft))
        part = BORDER_OF_NET if mesh.element == "quad" else BORDER_OF_NODAL
        on = _on_border(mesh, rows) & rows.enforced
        return weighted(rows, np.where(on, rows.weight / part, rows.weight))


def _on_border(mesh: Mesh, rows: Rows) -> BoolArray:
    """Which rows (r,) are edges of the border."""
    border = {tuple(edge) for edge in np.sort(mesh.boundary_edges, axis=1).tolist()}
    nodes = [rows.nodes[a:b].tolist() for a, b in zip(rows.ptr[:-1], rows.ptr[1:], strict=True)]
    return np.array([tuple(sorted(n)) in border for n in nodes])


def exact(mode: int) -> float:
    """Frequency of a mode, Hz: j_0n / 2 sqrt(g / L) over 2 pi."""
    return float(jn_zeros(0, mode)[-1] / 2.0 * np.sqrt(GRAVITY / LENGTH) / (2.0 * np.pi))


def strip(name: str, model: Model | None = None) -> tuple[Simulation, FloatArray]:
    """A strip that hangs from its upper edge, and the height (n,) of its nodes above the lower one, m."""
    element, across, along, width = STRIPS[name]
    mesh = hanging(meshes.rectangle(width, LENGTH, shape=(across, along), element=element))  # type: ignore[arg-type]
    sim = Simulation(mesh, FABRIC, gravity=GRAVITY, model=model or "isometric")
    sim.grasp(np.flatnonzero(mesh.vertices[:, 2] > -1e-9))
    return sim, LENGTH + mesh.vertices[:, 2]


def swing(name: str, mode: int, amplitude: float, model: Model | None = None) -> tuple[float, int]:
    """Frequency (Hz) of a strip let go in the shape of a mode, from its zero crossings in 6 s; steps not converged."""
    sim, height = strip(name, model)
    shape = j0(jn_zeros(0, mode)[-1] * np.sqrt(np.clip(height, 0.0, None) / LENGTH))
    start = sim.positions.copy()
    start[:, 1] += amplitude * shape
    sim.positions = start
    weight = sim.cloth.area * shape
    times, sizes, unconverged = [], [], 0
    for _ in range(600):
        unconverged += not sim.step().converged
        times.append(sim.time)
        sizes.append(float(weight @ sim.positions[:, 1] / (weight @ shape)))
    t, q = np.array(times), np.array(sizes)
    k = np.flatnonzero(np.sign(q[1:]) != np.sign(q[:-1]))
    zeros = t[k] + (t[k + 1] - t[k]) * q[k] / (q[k] - q[k + 1])
    return 0.5 / float(np.diff(zeros).mean()), unconverged


def flat_modes(name: str, model: Model | None = None) -> FloatArray:
    """Squared angular frequencies (1/s^2), ascending, of small motions out of the plane about the flat strip at rest.

    Out of its plane nothing but the geometric stiffness sum 2 lambda T acts; what is negative buckles.
    """
    sim, height = strip(name, model)
    cloth, top = sim.cloth, height > LENGTH - 1e-9
    stiffness = _geometric(cloth, _flat_tension(cloth, top))
    free = ~top
    mass = np.diag(FABRIC.density * cloth.area[free])
    modes: FloatArray = scipy.linalg.eigh(stiffness[np.ix_(free, free)], mass, eigvals_only=True)
    return modes


def _flat_tension(cloth: Cloth, top: np.ndarray) -> FloatArray:
    """Multipliers (r,) of the strip at rest in its plane, by Newton's method with dense matrices."""
    rows, x = cloth.rows, cloth.mesh.vertices.copy()
    free = np.repeat(~top[:, None], 3, axis=1) & np.array([True, False, True])
    f = free.ravel()
    for _ in range(20):
        jacobian, tension = rows.jacobian(x), rows.weight * rows.values(x)
        slope = (jacobian.T @ tension - cloth.weight.ravel())[f]
        if np.abs(slope).max() < 1e-11:
            break
        matrix = jacobian.T @ (rows.weight[:, None] * jacobian) + np.kron(_geometric(cloth, tension), np.eye(3))
        step = np.zeros(f.shape)
        step[f] = -np.linalg.solve(matrix[np.ix_(f, f)], slope)
        x = x + step.reshape(x.shape)
    tension = rows.weight * rows.values(x)
    return tension


def _geometric(cloth: Cloth, tension: FloatArray) -> FloatArray:
    """sum 2 lambda T (n, n), N/m."""
    rows, out = cloth.rows, np.zeros((cloth.n, cloth.n))
    for k, size in enumerate(rows.sizes):
        nodes = rows.nodes[rows.ptr[k] : rows.ptr[k + 1]]
        out[np.ix_(nodes, nodes)] += 2.0 * tension[k] * rows.T[rows.square[k] : rows.square[k + 1]].reshape(size, size)
    return out


def run(quick: bool = False, *, out: Path | None = None, say: Say = silent) -> Result:
    """First and second frequency at 2 mm, and at 20 mm; modes of the flat strip; the same with the stiff border."""
    result = Result("hanging_strip", TITLE)
    names = ("triangles 3 x 21", "quads 5 x 21") if quick else tuple(STRIPS)
    for name in names:
        say(name)
        for mode, amplitude in ((1, AMPLITUDE), (2, AMPLITUDE)) if quick else (
            (1, AMPLITUDE), (2, AMPLITUDE), (2, 10 * AMPLITUDE)
        ):  # fmt: skip
            what = f"{name}: frequency {mode} at {1e3 * amplitude:g} mm"
            found, unconverged = swing(name, mode, amplitude)
            result.near(f"{what}, Hz", found, exact(mode), 0.02, ".4f")
            result.below(f"{what}: steps not converged", unconverged, 0, ".0f")
        before, _ = swing(name, 2, AMPLITUDE, StiffBorder())
        off = 100 * (before / exact(2) - 1)
        result.info(f"{name}: baseline, stiff border: frequency 2 at 2 mm, off by, %", off, ".1f")
        lowest, stiff = flat_modes(name), flat_modes(name, StiffBorder())
        result.below(f"{name}: modes in which the flat strip buckles", int((lowest < 0.0).sum()), 0, ".0f")
        result.info(f"{name}: the same, baseline", int((stiff < 0.0).sum()), ".0f")
        first = float(np.sqrt(max(lowest[0], 0.0)) / (2.0 * np.pi))
        result.near(f"{name}: lowest mode of the flat strip, linearised, Hz", first, exact(1), 0.02, ".4f")
    return result
