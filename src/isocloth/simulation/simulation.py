"""The simulation: a cloth, its state, what holds it and what it touches, and `step()`."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from isocloth.base.errors import InputError, InputTypeError
from isocloth.base.numeric import check_flag
from isocloth.base.typing import FloatArray, IntArray
from isocloth.cloth.cloth import Cloth, discretise
from isocloth.contact.options import ContactOptions
from isocloth.contact.starts import check_start
from isocloth.contact.world import CollisionWorld, check_obstacle
from isocloth.fabric import Fabric
from isocloth.friction.contact_qp import ContactQP
from isocloth.meshes import Mesh
from isocloth.models import Model, as_model
from isocloth.obstacles import Obstacle
from isocloth.simulation import steppers
from isocloth.simulation.arguments import (
    as_corners,
    as_fabrics,
    as_gravity,
    as_mesh,
    as_obstacles,
    as_rest,
    as_timestep,
    nodal,
    read_only,
)
from isocloth.simulation.forces import forces_in
from isocloth.simulation.gripper import repinch
from isocloth.simulation.hands import Hands
from isocloth.simulation.holding import Holding
from isocloth.simulation.report import Report
from isocloth.simulation.resolve import resolved_start
from isocloth.simulation.restore import restored
from isocloth.simulation.run import run
from isocloth.simulation.scenery import add_obstacle, index_of, remove_obstacle
from isocloth.simulation.state import State, at_rest
from isocloth.simulation.steppers.stepper import ExtraForce
from isocloth.simulation.take_step import take_step
from isocloth.simulation.turn import Turn
from isocloth.simulation.wrench import Forces
from isocloth.trajectory import Trajectory


class Simulation(Holding):
    """A cloth that moves without stretching.

    Args:
        mesh: where the cloth starts; also its rest shape unless `rest` is given. Several cloths that touch each other
            are one mesh of several pieces (`ic.meshes.together`), or a list of meshes.
        fabric: what it is made of; of several pieces also a list with a fabric for each, all of one thickness. Between
            two pieces friction is the geometric mean of theirs.
        timestep: s.
        gravity: m/s^2, along -z.
        model: how the cloth resists: "isometric", "quasi_inextensible", "elastic", "mass_spring" or "nonconforming",
            as an elastic shell "discrete_shell", "koiter" or "woven", or one of `ic.models` with parameters, e.g.
            `ic.models.Elastic(stretch=2000)`.
        rest: rest shape, a mesh of the same connectivity or its (n, 3) vertices; of a shell also corners (faces, 3, 3)
            that every face has for itself, as panels of a pattern; None = `mesh`.
        units: "m" says that a cloth larger than 20 m is meant; without, it is taken for one in mm or cm, and refused.
        integrator: "bdf2" (second order) or "euler" (the papers').
        solver: "newton" or "projection" (the papers'); None = what the model uses: Newton, and projection for
            "quasi_inextensible" without obstacles. The nonconforming model has a solver and an integrator of its own.
        discretisation: of the isometry, "net", "nodal" or "stabilised"; None chooses by element.
        bending_model: "hessian", "stiffening" (the same, and stiffer in sharp folds), "laplacian" (the papers'),
            "interior" or "hinge" (which remembers a curved rest shape, on triangles); None = that of the model,
            "hessian" by default.
        obstacles: what the cloth cannot pass: `ic.Floor()`, `ic.Sphere(...)`, ...
        self_collision: whether layers of the cloth keep `fabric.thickness` apart; False lets them pass through.
        contact: "coulomb" (what sticks does not move), "lagged" (the papers': hard contacts, and a friction that only
            knows sliding, taken from the iterate before) or "gauss_seidel" (an independent exact solver of Coulomb's
            law for hard contacts, to check the default with; slow beyond some hundred contacts).
        contact_solver: with "lagged", who solves its quadratic problems: "active_set" (the papers' method), "clarabel"
            or "piqp" (from libraries); None = "active_set".
        extra_force: whatever else acts on the cloth (wind, a magnet, `ic.AirDrag(mesh)`): a function of time (s),
            positions (n, 3) in m and velocities (n, 3) in m/s that returns forces (n, 3) on the nodes in N. It is
            evaluated at least once per step, where the state before leads to expect its end, and must depend on its
            arguments only; stiff forces need short steps.
        solver_options: a `NewtonOptions` or `ProjectionOptions`.
        contact_options: a `ContactOptions`, the constants of contact.
        resolve_start: push a cloth that starts inside an obstacle, or nearer than it keeps, out of it, with all lengths
            kept and without speed, and untangle layers that cross, where that can be done; False refuses such a start.
    """

    def __init__(
        self,
        mesh: Mesh | Sequence[Mesh],
        fabric: Fabric | Sequence[Fabric] | None = None,
        *,
        model: str | Model = "isometric",
        timestep: float = 0.01,
        gravity: float = 9.81,
        rest: Mesh | ArrayLike | None = None,
        units: str | None = None,
        integrator: str = "bdf2",
        solver: str | None = None,
        discretisation: str | None = None,
        bending_model: str | None = None,
        obstacles: Sequence[Obstacle] = (),
        self_collision: bool = False,
        contact: str = "coulomb",
        contact_solver: str | None = None,
        extra_force: ExtraForce | None = None,
        solver_options: Any = None,
        contact_options: ContactOptions | None = None,
        resolve_start: bool = False,
    ) -> None:
        chosen = as_model(model)
        if bending_model is not None:
            chosen = chosen.with_bending(bending_model)
        if extra_force is not None and not callable(extra_force):
            raise InputTypeError(
                f"extra_force is {type(extra_force).__name__}: expected a function of time, positions and velocities, "
                "e.g. ic.AirDrag(mesh)"
            )
        given, mesh = mesh, as_mesh(mesh)
        shape = as_corners(mesh, rest, units)
        rest = as_rest(mesh, rest, units) if shape is None else mesh
        obstacles = as_obstacles(obstacles)
        check_flag(self_collision, "self_collision")
        check_flag(resolve_start, "resolve_start")
        self._turn = Turn()
        self.mesh, self.extra_force = mesh, extra_force
        self._timestep, self._gravity = as_timestep(timestep), as_gravity(gravity)
        surrounded = bool(len(obstacles) or self_collision)
        if solver is None and not surrounded and chosen.stepper == "newton":
            solver = chosen.solver
        self.method = steppers.Method(integrator, solver, contact, contact_solver, solver_options, contact_options)
        steppers.check_method(chosen, self.method)
        self._discretisation = discretisation
        self.cloth: Cloth = discretise(
            rest,
            as_fabrics(given, fabric),
            gravity=self._gravity,
            discretisation=discretisation,
            model=chosen,
            shape=shape,
        )
        world = None
        if surrounded:
            world = CollisionWorld(rest, self.fabrics, obstacles, self_collision, contact_options)
            if not resolve_start:
                check_start(world, mesh.vertices, 0.0)
        self.world: CollisionWorld | None = world
        self._make_stepper()
        memory = self.stepper.remember(mesh.vertices, np.zeros_like(mesh.vertices))
        self._state = at_rest(mesh.vertices, memory, self._numbers)
        if resolve_start and world is not None:
            self._state = resolved_start(self, world)
        self.hands = Hands(mesh.n_vertices, float(np.linalg.norm(np.ptp(rest.vertices, axis=0))))
        self.hands.stay(self._state)

    @property
    def _numbers(self) -> IntArray:
        return np.zeros(0, dtype=np.int64) if self.world is None else self.world.numbers

    def _make_stepper(self) -> None:
        self.stepper: steppers.FreeStepper | steppers.ParticleStepper = steppers.make_stepper(
            self.cloth, self.method, self._timestep, self._gravity, self.world
        )

    # ---------------------------------------------------------------- what it is

    @property
    def fabric(self) -> Fabric:
        """What the cloth, or its first piece, is made of; fixed, because the discrete cloth was built from it."""
        return self.cloth.fabric

    @property
    def fabrics(self) -> tuple[Fabric, ...]:
        """One for the whole cloth, or one for every piece (`mesh.piece`)."""
        return self.cloth.fabrics

    @property
    def rest(self) -> Mesh:
        """The rest shape; of a shell whose faces have rest corners of their own, where it starts (`cloth.shape`)."""
        return self.cloth.mesh

    @property
    def model(self) -> Model:
        """How the cloth resists stretching, shearing and bending, with its parameters."""
        return self.cloth.model

    @property
    def gravity(self) -> float:
        """m/s^2, along -z."""
        return self._gravity

    @property
    def integrator(self) -> str:
        """By name."""
        return self.stepper.integrator

    @property
    def solver(self) -> Any:
        """What solves a step."""
        return self.stepper.solver

    @property
    def settings(self) -> dict[str, Any]:
        """How it was asked to discretise and to solve."""
        return {"discretisation": self._discretisation, "model": self.model, **self.method._asdict()}

    @property
    def timestep(self) -> float:
        """s; may be changed between steps."""
        return self._timestep

    @timestep.setter
    def timestep(self, value: float) -> None:
        self._turn.check("timestep")
        self._timestep = as_timestep(value)
        if not self.stepper.suits(self._timestep):
            old = self.stepper
            self._make_stepper()
            if isinstance(old, steppers.ContactStepper) and isinstance(self.stepper, steppers.ContactStepper):
                self.stepper.contact.on_problem = old.contact.on_problem
            self.stepper.restore(self._state.memory)

    @property
    def problem(self) -> Cloth:
        """Version 0.1's name of `cloth`."""
        warnings.warn("Simulation.problem is now Simulation.cloth", DeprecationWarning, stacklevel=2)
        return self.cloth

    # ---------------------------------------------------------------- state

    @property
    def positions(self) -> FloatArray:
        """Node positions (n, 3) m. Assign to move the cloth; the history of the integrator then starts anew.

        Grasps without a path then hold their nodes where they were put, and so do grippers.
        """
        return read_only(self._state.positions)

    @positions.setter
    def positions(self, value: ArrayLike) -> None:
        self._turn.check("positions")
        positions = nodal("positions", value, self.mesh.n_vertices)
        memory = self.stepper.moved(self._state.memory, positions, self._state.velocities)
        moved = replace(self._state, positions=positions, memory=memory, previous_timestep=0.0)
        self._state = repinch(self.hands.grippers, moved)
        for grasp in self.hands.grasps:
            grasp.stay(self._state.positions)

    @property
    def velocities(self) -> FloatArray:
        """Node velocities (n, 3) m/s. Assign to set them; the history of the integrator then starts anew."""
        return read_only(self._state.velocities)

    @velocities.setter
    def velocities(self, value: ArrayLike) -> None:
        self._turn.check("velocities")
        velocities = nodal("velocities", value, self.mesh.n_vertices)
        memory = self.stepper.moved(self._state.memory, None, velocities)
        self._state = replace(self._state, velocities=velocities, memory=memory, previous_timestep=0.0)

    @property
    def time(self) -> float:
        """Simulated time, s."""
        return self._state.time

    @property
    def state(self) -> State:
        """The state; `state.copy()` saves it, assigning restores it: the same state goes on with the same bits."""
        return self._state

    @state.setter
    def state(self, value: State) -> None:
        self._turn.check("state")
        state = restored(self, value)
        self.stepper.restore(state.memory)
        self._state = state
        self.hands.stay(self._state)
        self._show_forces()

    @property
    def energy(self) -> Mapping[str, float]:
        """Kinetic and potential energy, J."""
        return self.stepper.energy(self._state)

    @property
    def forces(self) -> Forces:
        """Of the cloth on every grasp, gripper and obstacle in the last step; see `Report.forces`."""
        hands = self.hands
        return forces_in(self._state, hands.grasps, hands.grippers, self.obstacles)

    # ------------------------------------------------------------ obstacles

    @property
    def obstacles(self) -> tuple[Obstacle, ...]:
        """What the cloth cannot pass."""
        return () if self.world is None else self.world.obstacles

    @property
    def self_collision(self) -> bool:
        """Whether layers of the cloth keep apart."""
        return self.world is not None and self.world.self_collision

    def add(self, obstacle: Obstacle) -> None:
        """Put a further obstacle into the world, from the next step on."""
        check_obstacle(obstacle, self.obstacles)
        self.expect_contact()
        self._state = add_obstacle(self, obstacle)

    def remove(self, obstacle: Obstacle) -> None:
        """Take an obstacle out of the world; what lay on it falls."""
        self._state = remove_obstacle(self, obstacle)

    def move_to(self, obstacle: Obstacle, position: ArrayLike, rotation: ArrayLike | None = None) -> None:
        """Send an obstacle's centre to a position (3,) m, and its frame to a rotation (3, 3), if given, at the end of
        the next step. The motion belongs to this simulation: the obstacle itself, and others that share it, stay."""
        self.hands.send(index_of(self, obstacle), obstacle, self._state, position, rotation)

    def expect_contact(self) -> None:
        """A world and a stepper that knows contact, if there were none so far."""
        if self.world is None:
            self.world = CollisionWorld(self.rest, self.fabrics, (), False, self.method.contact_options)
            try:
                self._make_stepper()
            except BaseException:
                self.world = None
                raise
            self.stepper.restore(self._state.memory)

    def record_contact(self, receive: Callable[[ContactQP], None] | None) -> None:
        """Hand the contact problem of every coming linearisation to a function; None stops it.

        With `problems = []`, `sim.record_contact(problems.append)` keeps them all; `problem.save(file)` writes one.
        Friction is a known force in them.
        """
        if not isinstance(self.stepper, steppers.ContactStepper):
            raise InputError("there is no contact to record: give the simulation obstacles, or self_collision=True")
        if receive is not None and not callable(receive):
            raise InputTypeError(f"receive is {receive!r}: expected a function of a ContactQP, or None")
        self.stepper.contact.on_problem = receive

    # ----------------------------------------------------------------- step

    def step(self) -> Report:
        """Advance by one time step and return its certificate."""
        self._turn.begin()
        try:
            self._state, report = take_step(self)
        finally:
            self._turn.end()
        self._show_forces()
        return report

    def force_on(self, obstacle: Obstacle) -> FloatArray:
        """(3,) N: total force of the cloth on an obstacle in the last step; what `obstacle.force` shows."""
        return np.array(self._state.obstacle_wrenches[index_of(self, obstacle), :3])

    def _show_forces(self) -> None:
        for obstacle in self.obstacles:
            obstacle._seen_by(self)

    def run(
        self,
        duration: float,
        *,
        every: float | None = None,
        progress: bool = False,
        checkpoint: str | Path | None = None,
        checkpoint_seconds: float = 10.0,
        keep_checkpoint: bool = False,
        on_frame: Callable[[Simulation], None] | None = None,
    ) -> Trajectory:
        """Advance by `duration` seconds and return the frames, the first one being now.

        Args:
            duration: s. Where it is no multiple of the timestep, the last step is shorter (or longer, by less than a
                tenth), so that the run ends when it was asked to.
            every: s between frames, a multiple of the timestep; None = every step.
            progress: show a line on standard error.
            checkpoint: a file in which the run is saved now and then (and on Ctrl-C); if it exists, the run resumes
                from it with the same bits; it is removed when the run is complete.
            checkpoint_seconds: s of computing between two checkpoints.
            keep_checkpoint: leave the complete checkpoint for the caller to remove once the frames are safe elsewhere.
            on_frame: called after each frame; it may grasp, release and move. A resumed run calls it for the new frames
                only: let it depend on `sim.time`.

        Steps that did not converge are marked in `trajectory.reports` and warned of (`ConvergenceWarning`).
        """
        return run(
            self, duration, every=every, progress=progress, checkpoint=checkpoint,
            checkpoint_seconds=checkpoint_seconds, keep_checkpoint=keep_checkpoint, on_frame=on_frame,
        )  # fmt: skip

    def __deepcopy__(self, memo: dict[int, Any]) -> Simulation:
        """A copy that goes on with the same bits, among the same obstacles."""
        memo.update({id(obstacle): obstacle for obstacle in self.obstacles})  # values, by which forces are asked for
        other = object.__new__(type(self))
        memo[id(self)] = other
        other.__dict__.update(copy.deepcopy(self.__dict__, memo))
        return other

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._show_forces()

    def __repr__(self) -> str:
        return (
            f"<Simulation of {self.mesh!r}, t = {self.time:.4g} s, {self.integrator} {self.timestep:g} s, "
            f"{self.stepper.name}, {int(self.hands.held.sum())} nodes held>"
        )
