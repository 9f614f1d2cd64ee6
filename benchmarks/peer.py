"""The rival: MuJoCo's flex cloth on the same swing, nodes, masses and time step.

Its membrane is an elastic sheet (St. Venant-Kirchhoff on triangles) with E h = 1e4 N/m, integrated by `discrete`, with
Newton as its solver. The upper corners are heavy sliders with prescribed position and velocity, so that its solver
knows how they move.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from benchmarks.swing import AMPLITUDE, DENSITY, GRAVITY, TIMESTEP, shake, sheet, upper_corners
from isocloth.base.typing import FloatArray
from isocloth.meshes import rectangle
from isocloth.terms.mass import lumped_areas

NAME = "MuJoCo"
INSTALL = 'python -m pip install "mujoco>=4.0,<5"'
MEMBRANE = 1e4  # E h, N/m
THICKNESS = 1e-4  # m
POISSON = 0.3
DAMPING = 1e-3  # s
ITERATIONS = 50
#: mass of a slider, kg: the cloth, 25 g, must not move it
HEAVY = 1e3
#: m; a cloth further away than this has exploded
FAR = 50.0


def version() -> str | None:
    """MuJoCo's version, or None if it is not installed."""
    try:
        import mujoco
    except ImportError:
        return None
    return str(mujoco.__version__)


class MuJoCo:
    """MuJoCo as a simulator of the swing; nodes are numbered as in isocloth's mesh."""

    def __init__(self, nodes: int) -> None:
        import mujoco

        begin = time.perf_counter()
        self._advance = mujoco.mj_step
        self.model: Any = mujoco.MjModel.from_xml_string(description(nodes))
        self.data: Any = mujoco.MjData(self.model)
        mujoco.mj_forward(self.model, self.data)
        self.setup_seconds = time.perf_counter() - begin
        mesh, held = sheet(nodes), upper_corners(nodes)
        body = np.array([self.model.body(f"n{i}").id for i in range(nodes**2)])
        first = self.model.body_jntadr[body]
        self._held_position = self.model.jnt_qposadr[first[held]]
        self._held_velocity = self.model.jnt_dofadr[first[held]]
        self._start = mesh.vertices
        self._free = np.setdiff1d(np.arange(nodes**2), held)
        self._held = held
        self._free_position = self.model.jnt_qposadr[first[self._free]][:, None] + np.arange(3)
        self._steps = 0

    def step(self) -> None:
        """One step; the corners are set to where they are and sent to where they have to be at its end."""
        t = self._steps * TIMESTEP
        here, there = shake(t), shake(t + TIMESTEP)
        self.data.qpos[self._held_position] = here - AMPLITUDE
        self.data.qvel[self._held_velocity] = (there - here) / TIMESTEP
        self._advance(self.model, self.data)
        self._steps += 1

    def positions(self) -> FloatArray:
        """Positions at the end of the step: all joints are slides, so they are the start plus qpos."""
        points = self._start.copy()
        points[self._free] += self.data.qpos[self._free_position]
        points[self._held, 0] += self.data.qpos[self._held_position]
        return points

    def trouble(self) -> str:
        """Empty, or why the run is not to be trusted."""
        if int(sum(w.number for w in self.data.warning)) > 0:
            return "MuJoCo warned of a bad state and started anew"
        if not (np.abs(self.positions()) < FAR).all():
            return "the cloth exploded"
        return ""


def description(nodes: int) -> str:
    """The model in MuJoCo's XML."""
    mesh = sheet(nodes)
    triangles = rectangle(1.0, 1.0, (nodes, nodes), "triangle").faces
    masses = DENSITY * lumped_areas(mesh.vertices, mesh.faces)
    held = set(upper_corners(nodes).tolist())
    bodies = []
    for i, (point, mass) in enumerate(zip(mesh.vertices, masses, strict=True)):
        axes = ("1 0 0",) if i in held else ("1 0 0", "0 1 0", "0 0 1")
        joints = "".join(f'<joint type="slide" axis="{axis}"/>' for axis in axes)
        weight = HEAVY if i in held else mass
        inertial = f'<inertial pos="0 0 0" mass="{weight:.12g}" diaginertia="1e-9 1e-9 1e-9"/>'
        bodies.append(f'<body name="n{i}" pos="{numbers(point)}">{inertial}{joints}</body>')
    return f"""<mujoco>
      <option timestep="{TIMESTEP}" gravity="0 0 -{GRAVITY}" integrator="discrete" solver="Newton"
        iterations="{ITERATIONS}" tolerance="1e-8"/>
      <size memory="400M"/>
      <worldbody>{"".join(bodies)}</worldbody>
      <deformable>
        <flex name="cloth" dim="2" radius="0.001" body="{" ".join(f"n{i}" for i in range(nodes**2))}"
          element="{" ".join(map(str, triangles.ravel()))}">
          <contact selfcollide="none"/>
          <elasticity young="{MEMBRANE / THICKNESS:g}" poisson="{POISSON}" thickness="{THICKNESS:g}"
            elastic2d="both" damping="{DAMPING:g}"/>
        </flex>
      </deformable>
    </mujoco>"""


def numbers(values: FloatArray) -> str:
    """Numbers as MuJoCo's XML wants them."""
    return " ".join(f"{v:.12g}" for v in values)
