"""The rival with contact: MuJoCo's flex cloth on the same stages, nodes, masses, thickness, friction and time step.

Its cloth is that of `peer.py`, an elastic sheet with E h = 1e4 N/m, integrated by `discrete` with Newton as its solver,
with the bending stiffness of the fabric, and as tall above the table and between layers as isocloth's (flex radius:
half the thickness). Options are those that MuJoCo's documentation advises for cloth in contact: tolerance 1e-6, 150 to
400 iterations, damping 0.005 s, selfcollide auto (sweep and prune), condim 3. It has three ways to keep a cloth from
passing through itself, and they are all tried; of these only the first has friction.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.contact_scenes import Stage
from benchmarks.peer import FAR, HEAVY, MEMBRANE, POISSON, numbers
from benchmarks.swing import GRAVITY, TIMESTEP
from isocloth.base.typing import FloatArray
from isocloth.terms.mass import lumped_areas

TOLERANCE = 1e-6
DAMPING = 0.005  # s, of the elasticity
#: N m; a flex without any bending stiffness has no thickness in MuJoCo
LEAST_BENDING = 1e-7


@dataclass(frozen=True)
class Setting:
    """A way MuJoCo treats contact."""

    name: str
    option: str = ""  # attributes of <option>
    flag: str = ""  # attributes of <option><flag>
    contact: str = ""  # further attributes of the flex's <contact>
    friction: bool = True  # whether the way knows friction
    iterations: int = 150  # at most, of the solver


#: contacts as constraints, with elliptic cones; a larger impratio makes what sticks creep more slowly
CONSTRAINTS = tuple(
    Setting(f"constraints, impratio {ratio}", f'cone="elliptic" impratio="{ratio}"') for ratio in (10, 100, 1000)
)
PASSIVE = Setting("passive penalty", contact='passive="true"', friction=False, iterations=400)
IPC = Setting("ipc", flag='ipc="enable"', friction=False)
#: on the table: what the documentation advises, and both ways without friction
FOLDING = (CONSTRAINTS[0], PASSIVE, IPC)
SLIDING = (*CONSTRAINTS, PASSIVE, IPC)


class MuJoCo:
    """MuJoCo as a simulator of a stage; nodes are numbered as in isocloth's mesh."""

    def __init__(self, stage: Stage, setting: Setting) -> None:
        import mujoco

        begin = time.perf_counter()
        self._advance = mujoco.mj_step
        # warnings are counted, and told by `trouble`; unasked, MuJoCo would leave a file of them behind
        mujoco.set_mju_user_warning(lambda text: None)
        self.model: Any = mujoco.MjModel.from_xml_string(description(stage, setting))
        self.data: Any = mujoco.MjData(self.model)
        mujoco.mj_forward(self.model, self.data)
        self.setup_seconds = time.perf_counter() - begin
        self._stage = stage
        body = np.array([self.model.body(f"n{i}").id for i in range(len(stage.start))])
        first = self.model.body_jntadr[body]
        self._place = self.model.jnt_qposadr[first][:, None] + np.arange(3)
        self._rate = self.model.jnt_dofadr[first][:, None] + np.arange(3)
        mass = stage.fabric.damping * lumped_areas(stage.mesh.vertices, stage.mesh.faces)
        mass[stage.held] = 0.0
        self._brake = np.zeros(self.model.nv)
        self._brake[self._rate] = mass[:, None]
        self._steps = 0

    def step(self) -> None:
        """One step; held nodes are set to where they are and sent to where they have to be at its end."""
        stage, data = self._stage, self.data
        if len(stage.held):
            here, there = (stage.path((self._steps + k) * TIMESTEP) for k in (0, 1))
            data.qpos[self._place[stage.held]] = here - stage.start[stage.held]
            data.qvel[self._rate[stage.held]] = (there - here) / TIMESTEP
        if stage.fabric.damping > 0.0:
            data.qfrc_applied[:] = -self._brake * data.qvel
        self._advance(self.model, data)
        self._steps += 1

    def positions(self) -> FloatArray:
        """Positions at the end of the step: all joints are slides, so they are the start plus qpos."""
        return np.asarray(self._stage.start + self.data.qpos[self._place])

    def trouble(self) -> str:
        """Empty, or why the run is not to be trusted."""
        if not (np.abs(self.positions()) < FAR).all():
            return "the cloth exploded"
        warnings = int(sum(w.number for w in self.data.warning))
        return f"{warnings} warnings" if warnings else ""


def description(stage: Stage, setting: Setting) -> str:
    """The model in MuJoCo's XML."""
    fabric = stage.fabric
    masses = fabric.density * lumped_areas(stage.mesh.vertices, stage.mesh.faces)
    masses[stage.held] = HEAVY
    held = set(stage.held.tolist())
    joints = "".join(f'<joint type="slide" axis="{axis}"/>' for axis in ("1 0 0", "0 1 0", "0 0 1"))
    bodies = []
    for i, (point, mass) in enumerate(zip(stage.start, masses, strict=True)):
        inertial = f'<inertial pos="0 0 0" mass="{mass:.12g}" diaginertia="1e-9 1e-9 1e-9"/>'
        # held nodes do not fall between being sent and arriving
        bodies.append(f'<body name="n{i}" pos="{numbers(point)}" gravcomp="{int(i in held)}">{inertial}{joints}</body>')
    # thickness at which a plate of E h bends as the fabric does: E h^3 / (12 (1 - nu^2))
    bending = max(fabric.bending, LEAST_BENDING)
    thickness = np.sqrt(12.0 * (1.0 - POISSON**2) * bending / MEMBRANE)
    turn = np.array([np.cos(stage.tilt / 2), 0.0, np.sin(stage.tilt / 2), 0.0])
    # of the coefficients of a pair MuJoCo takes the larger one: the cloth's own must not exceed the plane's
    own = min(fabric.friction, stage.friction)
    return f"""<mujoco>
      <option timestep="{TIMESTEP}" gravity="0 0 -{GRAVITY}" integrator="discrete" solver="Newton"
        iterations="{setting.iterations}" tolerance="{TOLERANCE:g}" {setting.option}><flag {setting.flag}/></option>
      <size memory="1G"/>
      <worldbody>
        <geom type="plane" size="5 5 1" quat="{numbers(turn)}" friction="{stage.friction:.12g} 0.005 0.0001"/>
        {"".join(bodies)}
      </worldbody>
      <deformable>
        <flex name="cloth" dim="2" radius="{fabric.thickness / 2:.12g}"
          body="{" ".join(f"n{i}" for i in range(len(masses)))}"
          element="{" ".join(map(str, stage.mesh.triangles.ravel()))}">
          <contact selfcollide="auto" condim="3" friction="{own:.12g} 0.005 0.0001" {setting.contact}/>
          <elasticity young="{MEMBRANE / thickness:.12g}" poisson="{POISSON}" thickness="{thickness:.12g}"
            elastic2d="both" damping="{DAMPING:g}"/>
        </flex>
      </deformable>
    </mujoco>"""
