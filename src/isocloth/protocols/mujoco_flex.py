"""MuJoCo's flex as a solver of equilibria, where it is installed: an elastic sheet of triangles of given rigidity.

It takes the bending stiffness and the density of a problem's fabric and nothing else of its model; Young's modulus is
E = 12 D / h^3 with Poisson's ratio 0, which also fixes the membrane. The sheet moves under strong damping until it
rests.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np

from isocloth.base.errors import InputError, MissingLibraryError
from isocloth.base.typing import FloatArray
from isocloth.meshes import Mesh
from isocloth.protocols.strip import Problem, Settled

NAME = "mujoco_flex"
INSTALL = 'python -m pip install "mujoco>=4.0,<5"'
#: relative to the length of the strip
_THICKNESS = 2e-3
_TIMESTEP, _LONGEST = 1e-3, 12.0  # s


def settle_mujoco(problem: Problem, *, tolerance: float = 1e-4) -> Settled:
    """The equilibrium of MuJoCo's flex; converged where no node moves faster than balances `tolerance` of the load."""
    if find_spec("mujoco") is None:
        raise MissingLibraryError(f"the protocols of MuJoCo's flex need MuJoCo: {INSTALL}")
    import mujoco

    mesh, held = problem.rest, np.zeros(problem.rest.n_vertices, dtype=bool)
    held[problem.held] = True
    mujoco.set_mju_user_warning(lambda text: None)  # it would leave a file behind
    rest = _laid(mesh.vertices, problem.mesh.vertices, held)
    model: Any = mujoco.MjModel.from_xml_string(_description(problem, rest, held))
    data: Any = mujoco.MjData(model)
    free = np.flatnonzero(~held)
    first = model.body_jntadr[[model.body(f"n{i}").id for i in free]]
    place, rate = (at[first][:, None] + np.arange(3) for at in (model.jnt_qposadr, model.jnt_dofadr))
    data.qpos[place] = problem.mesh.vertices[free] - rest[free]
    load = problem.load if problem.load is not None else problem.gravity
    length = float(np.ptp(mesh.vertices, axis=0).max())
    brake = 2.0 * np.sqrt(load / length)  # 1/s
    mass = np.zeros(model.nv)
    mass[rate] = _masses(problem)[free][:, None]
    steps, residual = 0, np.inf
    while steps * _TIMESTEP < _LONGEST:
        data.qfrc_applied[:] = -brake * mass * data.qvel
        mujoco.mj_step(model, data)
        steps += 1
        if sum(int(w.number) for w in data.warning) or not np.isfinite(data.qpos).all():
            return Settled(problem.mesh.vertices.copy(), False, np.inf, steps)
        residual = float(np.abs(data.qvel).max(initial=0.0)) * brake / load
        if steps > 200 and residual < tolerance:
            break
    positions = rest.copy()
    positions[free] += data.qpos[place]
    return Settled(positions, residual < 100.0 * tolerance, residual, steps)


def _laid(rest: FloatArray, now: FloatArray, held: np.ndarray) -> FloatArray:
    """The rest shape (n, 3) turned and moved so that its held nodes are where they are held."""
    a, b = rest[held] - rest[held].mean(axis=0), now[held] - now[held].mean(axis=0)
    u, _, vt = np.linalg.svd(a.T @ b)
    turn = u @ np.diag([1.0, 1.0, np.sign(np.linalg.det(u @ vt))]) @ vt
    return (rest - rest[held].mean(axis=0)) @ turn + now[held].mean(axis=0)


def _masses(problem: Problem) -> FloatArray:
    mesh = _triangles(problem.rest)
    corners = mesh.vertices[mesh.faces]
    area = 0.5 * np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    total = np.zeros(mesh.n_vertices)
    np.add.at(total, mesh.faces, (area / 3.0)[:, None])
    return problem.fabric.density * total


def _triangles(mesh: Mesh) -> Mesh:
    return mesh if mesh.element == "triangle" else mesh.triangulated()


def _description(problem: Problem, rest: FloatArray, held: np.ndarray) -> str:
    """The model in MuJoCo's XML."""
    rigidity = problem.fabric.bending
    if not rigidity > 0.0:
        raise InputError("MuJoCo's flex needs a bending stiffness: give the fabric one")
    thickness = _THICKNESS * float(np.ptp(problem.rest.vertices, axis=0).max())
    young = 12.0 * rigidity / thickness**3
    joints = "".join(f'<joint type="slide" axis="{axis}"/>' for axis in ("1 0 0", "0 1 0", "0 0 1"))
    bodies = []
    for i, (point, mass) in enumerate(zip(rest, _masses(problem), strict=True)):
        inertial = f'<inertial pos="0 0 0" mass="{mass:.12g}" diaginertia="1e-12 1e-12 1e-12"/>'
        at = " ".join(f"{value:.12g}" for value in point)
        bodies.append(f'<body name="n{i}" pos="{at}">{inertial}{"" if held[i] else joints}</body>')
    faces = " ".join(str(i) for i in _triangles(problem.rest).faces.ravel())
    return f"""<mujoco>
      <option timestep="{_TIMESTEP}" gravity="0 0 -{problem.gravity}" integrator="discrete" solver="Newton"
        iterations="50" tolerance="1e-10"/>
      <size memory="400M"/>
      <worldbody>{"".join(bodies)}</worldbody>
      <deformable>
        <flex name="strip" dim="2" radius="{0.5 * thickness:.6g}" body="{" ".join(f"n{i}" for i in range(len(rest)))}"
          element="{faces}">
          <contact selfcollide="none" contype="0" conaffinity="0"/>
          <elasticity young="{young:.9g}" poisson="0" thickness="{thickness:.9g}" elastic2d="both" damping="1e-3"/>
        </flex>
      </deformable>
    </mujoco>"""
