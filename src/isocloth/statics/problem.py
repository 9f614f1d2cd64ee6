"""What an equilibrium is asked of: a cloth, what holds it, what is around it; and the same as a scene that can move."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from isocloth.base.errors import ConvergenceError, InputError, InputTypeError
from isocloth.base.numeric import check_flag, shown
from isocloth.base.typing import FloatArray, IntArray
from isocloth.cloth.cloth import Cloth
from isocloth.fabric import Fabric
from isocloth.meshes import Mesh
from isocloth.models import Model, as_model
from isocloth.obstacles import Obstacle
from isocloth.simulation import Simulation
from isocloth.simulation.arguments import as_fabrics, as_gravity, as_mesh, as_obstacles, nodal
from isocloth.simulation.steppers import FreeStepper, make_stepper
from isocloth.solvers import Newton

#: 1/s^2: damping is not less than of a pendulum that swings so slowly, where nothing weighs
SLOWEST = 1.0


@dataclass(frozen=True)
class Problem:
    """A cloth, what holds it and what it may touch; `places` (k, 3) m is where the held `nodes` (k,) are."""

    mesh: Mesh
    fabrics: tuple[Fabric, ...]  # one, or one for every piece
    model: Model
    rest: Any  # None: the mesh
    nodes: IntArray
    places: FloatArray
    obstacles: tuple[Obstacle, ...]
    self_collision: bool
    gravity: float

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the numbers that can be continued in."""
        return tuple(dict.fromkeys(["gravity", *[field.name for field in fields(Fabric)], *self._own]))

    @property
    def _own(self) -> tuple[str, ...]:
        """Names of what belongs to the model; how a cloth bends may be a name, how stiffly is its fabric's then."""
        names = [field.name for field in fields(self.model)]
        return tuple(name for name in names if name != "bending" or not isinstance(self.model.bending, str))

    def value(self, parameter: str) -> float:
        """The parameter as it is now."""
        if parameter not in self.parameters:
            raise InputError(f"parameter {parameter!r} is unknown: expected one of {', '.join(self.parameters)}")
        if parameter == "gravity":
            return self.gravity
        own = parameter in self._own
        if not own and len(self.fabrics) > 1:
            raise InputError(
                f"{parameter} has {len(self.fabrics)} values, one for every piece of cloth: expected one to continue "
                "from; give all pieces the same fabric, or continue in gravity"
            )
        fabric = self.fabrics[0]
        found = getattr(self.model if own else fabric, parameter)
        if found is None and parameter in ("gravity_density", "membrane"):
            found = fabric.weight_density if parameter == "gravity_density" else fabric.membrane_stiffness
        if isinstance(found, str):
            raise InputError(f"{parameter} is {found!r}: expected a parameter that is a number to continue in")
        if found is None:
            raise InputError(f"{parameter} is None: expected a number to continue from; give the fabric or model one")
        return float(found)

    def changed(self, parameter: str, value: Any) -> Problem:
        """The same with another value of a parameter, or of "held": positions (k, 3) of the held nodes."""
        if parameter == "held":
            places = as_places(value, len(self.nodes))
            return replace(self, places=places)
        self.value(parameter)  # raises if there is none
        if parameter == "gravity":
            return replace(self, gravity=as_gravity(value))
        if parameter in self._own:
            return replace(self, model=replace(self.model, **{parameter: value}))
        return replace(self, fabrics=(replace(self.fabrics[0], **{parameter: value}),))

    def simulation(
        self, positions: FloatArray, fabrics: tuple[Fabric, ...] | None = None, **options: Any
    ) -> Simulation:
        """A simulation of the cloth at positions (n, 3), with its nodes held there."""
        rest = self.mesh if self.rest is None else self.rest
        sim = Simulation(
            self.mesh.with_vertices(positions), _of_pieces(fabrics or self.fabrics), model=self.model, rest=rest,
            gravity=self.gravity, obstacles=self.obstacles, self_collision=self.self_collision, **options,
        )  # fmt: skip
        if len(self.nodes):
            sim.grasp(self.nodes)
        return sim


def _of_pieces(fabrics: tuple[Fabric, ...]) -> Fabric | tuple[Fabric, ...]:
    """As a simulation takes them: one for all is no list, whatever the number of pieces."""
    return fabrics[0] if len(fabrics) == 1 else fabrics


class Scene:
    """A problem with a stepper for steps of any length, and so much damping that nothing swings for long."""

    def __init__(self, problem: Problem, positions: FloatArray) -> None:
        mesh = problem.mesh
        self.problem, self.nodes, self.places = problem, problem.nodes, problem.places
        self.size = float(np.linalg.norm(np.ptp(mesh.vertices, axis=0)))
        rate = 2.0 * float(np.sqrt(max(problem.gravity / self.size, SLOWEST)))
        damped = tuple(replace(f, damping=rate * f.density, bending_damping=0.0) for f in problem.fabrics)
        self.sim = problem.simulation(positions, damped)
        self.cloth: Cloth = self.sim.cloth
        self.held = self.sim.hands.held
        method = self.sim.method._replace(integrator="euler", solver="newton")
        stepper = make_stepper(self.cloth, method, np.inf, problem.gravity, self.sim.world)
        assert isinstance(stepper, FreeStepper)
        self.stepper: FreeStepper = stepper
        assert isinstance(stepper.solver, Newton)
        self.newton: Newton = stepper.solver


def as_problem(
    mesh: Any, fabric: Any, model: Any, rest: Any, held: Any, obstacles: Any, self_collision: Any, gravity: Any
) -> Problem:
    """The arguments of `equilibrium`, checked as far as a simulation does not."""
    given, mesh = mesh, as_mesh(mesh)
    chosen = as_model(model)
    if chosen.stepper == "particles":
        raise InputError(
            f"model {chosen.name!r} has no potential energy, its steps are impulses: expected another model, "
            "model='isometric' say"
        )
    check_flag(self_collision, "self_collision")
    bodies = as_obstacles(obstacles)
    for body in bodies:
        if isinstance(body, Obstacle) and not body.still:
            raise InputError(f"{body!r} moves: expected obstacles that stand still; what moves knows no equilibrium")
    nodes, places = _as_held(held, mesh)
    problem = Problem(
        mesh, as_fabrics(given, fabric), chosen, rest, nodes, places, bodies, bool(self_collision), as_gravity(gravity)
    )  # fmt: skip
    if problem.gravity > 0.0 and len(nodes) == 0 and not bodies:
        raise ConvergenceError(
            "nothing holds the cloth and there is no obstacle under it, so it falls for ever: expected held nodes, "
            "obstacles, or gravity=0"
        )
    return problem


def as_start(start: Any, problem: Problem) -> FloatArray:
    """Positions (n, 3) to begin from."""
    if start is None:
        return problem.mesh.vertices.copy()
    if isinstance(start, Mesh):
        start = start.vertices
    return nodal("start", start, problem.mesh.n_vertices)


def as_places(value: Any, count: int) -> FloatArray:
    """Positions (k, 3) m of held nodes."""
    try:
        places = np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputTypeError(f"held positions are {shown(value)}: expected numbers ({count}, 3) in m") from None
    if places.shape != (count, 3):
        raise InputError(f"held positions have shape {places.shape}: expected ({count}, 3), in m, one per held node")
    if not np.isfinite(places).all():
        raise InputError(f"held positions {shown(value)} are not finite: expected finite positions in m")
    return places


def _as_held(held: Any, mesh: Mesh) -> tuple[IntArray, FloatArray]:
    """Nodes (k,), and where they are (k, 3) m."""
    if held is None:
        return np.zeros(0, dtype=np.int64), np.zeros((0, 3))
    named = list(held) if isinstance(held, Mapping) else held
    try:
        nodes = np.atleast_1d(np.asarray(named))
    except ValueError:  # rows of different length
        nodes = np.empty((0, 0))
    if nodes.size == 0 and nodes.ndim == 1:
        return np.zeros(0, dtype=np.int64), np.zeros((0, 3))
    if nodes.ndim != 1 or not np.issubdtype(nodes.dtype, np.integer):
        raise InputTypeError(
            f"held = {shown(held)}: expected indices of nodes, held=[0, 5], or a mapping of these to positions"
        )
    n = mesh.n_vertices
    outside = (nodes < 0) | (nodes >= n)
    if outside.any():
        raise InputError(f"held node {int(nodes[outside][0])} does not exist: expected indices from 0 to {n - 1}")
    if len(np.unique(nodes)) != len(nodes):
        raise InputError(f"held = {shown(held)}: a node is named twice; give each once")
    nodes = nodes.astype(np.int64)
    if isinstance(held, Mapping):
        return nodes, as_places([held[key] for key in named], len(nodes))
    return nodes, mesh.vertices[nodes].copy()
