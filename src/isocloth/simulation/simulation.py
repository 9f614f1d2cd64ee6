"""The simulation: a cloth, its state, its grasps, and `step()`."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import ArrayLike

from isocloth import measure
from isocloth.base.errors import ConvergenceError
from isocloth.base.typing import FloatArray
from isocloth.cloth.problem import (
    Past,
    Scheme,
    StepProblem,
    build,
    contact_step_problem,
    kinetic_energy,
    potential_energy,
    step_problem,
)
from isocloth.contact.detector import ContactDetector
from isocloth.contact.history import pressing, unknown_state
from isocloth.contact.world import CollisionWorld
from isocloth.fabric import Fabric
from isocloth.friction.contact_qp import ContactQP
from isocloth.meshes import Mesh
from isocloth.models import Model, Nonconforming, as_model
from isocloth.obstacles import Obstacle
from isocloth.simulation.announce import announce_compilation
from isocloth.simulation.diagnosis import (
    INFEASIBLE,
    diagnose,
    errors,
    limit_speed,
    overstretched,
    relaxed_targets,
    unsolved,
)
from isocloth.simulation.grasp import Grasp, prescribe
from isocloth.simulation.gripper import Gripper, forget, jaws_of, remember, repinch, sent, slid_out
from isocloth.simulation.integrators import BY_NAME, INTEGRATORS, euler
from isocloth.simulation.report import Report
from isocloth.simulation.run import run
from isocloth.simulation.state import State, at_rest
from isocloth.solvers import SOLVERS, Solver, make_solver
from isocloth.solvers.contact_methods import check_contact, make_contact_solver
from isocloth.solvers.contact_newton import ContactNewton, ContactOutcome
from isocloth.solvers.newton import Newton
from isocloth.solvers.outcome import Outcome, worst_of
from isocloth.trajectory import Trajectory

if TYPE_CHECKING:
    from isocloth.simulation.particles import Particles

#: time (s), positions (n, 3) m, velocities (n, 3) m/s -> forces (n, 3) N
ExtraForce = Callable[[float, FloatArray, FloatArray], FloatArray]

LONGEST_TIMESTEP = 0.1
#: a step is cut in two at most this many times in a row
DEEPEST_SUBSTEP = 5


class Simulation:
    """A cloth that moves without stretching.

    Args:
        mesh: where the cloth starts; also its rest shape unless `rest` is given.
        fabric: what it is made of.
        timestep: s.
        gravity: m/s^2, along -z.
        model: how the cloth resists: "isometric", "quasi_inextensible", "elastic", "mass_spring" or "nonconforming",
            or one of `ic.models` with parameters, e.g. `ic.models.Elastic(stretch=2000)`.
        rest: rest shape, a mesh of the same connectivity or its (n, 3) vertices; None = `mesh`.
        integrator: "bdf2" (second order) or "euler" (the papers').
        solver: "newton" or "projection" (the papers'); None = what the model uses: Newton, and projection for
            "quasi_inextensible" without obstacles. The nonconforming model has a solver and an integrator of its own.
        discretisation: of the isometry, "net", "nodal" or "stabilised"; None chooses by element.
        bending_model: "hessian", "laplacian" (the papers') or "interior".
        obstacles: what the cloth cannot pass: `ic.Floor()`, `ic.Sphere(...)`, ...
        self_collision: whether layers of the cloth keep `fabric.thickness` apart; False lets them pass through.
        contact: "coulomb" (what sticks does not move) or "lagged" (the papers': hard contacts, and a friction that only
            knows sliding, taken from the iterate before).
        contact_solver: with "lagged", who solves its quadratic problems: "active_set" (the papers' method), "clarabel"
            or "piqp" (from libraries); None = "active_set".
        extra_force: whatever else acts on the cloth (wind, a magnet, `ic.AirDrag(mesh)`): a function of time (s),
            positions (n, 3) in m and velocities (n, 3) in m/s that returns forces (n, 3) on the nodes in N. It is
            evaluated at least once per step, where the state before leads to expect its end, and must depend on its
            arguments only; stiff forces need short steps.
        solver_options: a `NewtonOptions` or `ProjectionOptions`.
    """

    def __init__(
        self,
        mesh: Mesh,
        fabric: Fabric | None = None,
        *,
        model: str | Model = "isometric",
        timestep: float = 0.01,
        gravity: float = 9.81,
        rest: Mesh | ArrayLike | None = None,
        integrator: str = "bdf2",
        solver: str | None = None,
        discretisation: str | None = None,
        bending_model: str = "hessian",
        obstacles: Sequence[Obstacle] = (),
        self_collision: bool = False,
        contact: str = "coulomb",
        contact_solver: str | None = None,
        extra_force: ExtraForce | None = None,
        solver_options: Any = None,
    ) -> None:
        if not isinstance(mesh, Mesh):
            raise TypeError(f"mesh is {type(mesh).__name__}: expected an isocloth.Mesh, e.g. ic.meshes.rectangle(...)")
        if fabric is None:
            fabric = Fabric()
        if not isinstance(fabric, Fabric):
            raise TypeError(f'fabric is {type(fabric).__name__}: expected an isocloth.Fabric, e.g. ic.fabrics["denim"]')
        if integrator not in INTEGRATORS:
            raise ValueError(f"integrator {integrator!r} is unknown; choose one of {', '.join(INTEGRATORS)}")
        chosen = as_model(model)
        if isinstance(chosen, Nonconforming):
            _refuse_with_impulses(solver, solver_options, contact)
        elif solver is None:
            solver = "newton" if len(obstacles) or self_collision else chosen.solver
        if solver is not None and solver not in SOLVERS:
            raise ValueError(f"solver {solver!r} is unknown; choose one of {', '.join(SOLVERS)}")
        check_contact(contact, contact_solver)
        if extra_force is not None and not callable(extra_force):
            raise TypeError(
                f"extra_force is {type(extra_force).__name__}: expected a function of time, positions and velocities, "
                "e.g. ic.AirDrag(mesh)"
            )
        self.mesh = mesh
        self.extra_force = extra_force
        self._fabric = fabric
        self._timestep = _timestep(timestep)
        self._gravity = _finite("gravity", gravity, "m/s^2")
        if self._gravity < 0.0:
            raise ValueError(
                f"gravity = {gravity!r} m/s^2: expected its magnitude, zero or positive; it acts along -z, z is up"
            )
        self.integrator = integrator
        self.rest = _rest_mesh(mesh, rest)
        self.settings = {
            "discretisation": discretisation, "bending_model": bending_model, "options": solver_options,
            "contact": (contact, contact_solver), "model": chosen,
        }  # fmt: skip
        self.problem = build(
            self.rest,
            fabric,
            gravity=self.gravity,
            discretisation=discretisation,
            bending_model=bending_model,
            model=chosen,
        )
        self._particles: Particles | None = None
        if isinstance(chosen, Nonconforming):
            from isocloth.simulation.particles import Particles

            self._particles = Particles(self.rest, fabric, self.gravity, chosen)
            self.integrator = "impulses"
            self.solver = cast(Solver, self._particles.impulses)
        else:
            self.solver = make_solver(cast(str, solver), self.problem, solver_options, self._timestep)
        self._around: CollisionWorld | None = None
        self._contact: ContactNewton | None = None
        # in need of contact always, not only while it pinches
        self._surrounded = bool(len(obstacles) or self_collision)
        if self._surrounded:
            self._expect_contact(obstacles, self_collision)
            if self._around is not None:
                self._around.check_start(mesh.vertices)
        self._scheme = BY_NAME[integrator]
        self._state = self._with_particles(at_rest(mesh.vertices, len(self.problem.rows)))
        self._grasps: list[Grasp] = []
        self._grippers: list[Gripper] = []
        self._held = np.zeros(mesh.n_vertices, dtype=bool)
        self._diameter = float(np.linalg.norm(np.ptp(self.rest.vertices, axis=0)))

    def _with_particles(self, state: State) -> State:
        """A state whose nodes were set, with particles that follow them."""
        return state if self._particles is None else self._particles.follow(state)

    def _expect_contact(self, obstacles: Sequence[Obstacle], self_collision: bool) -> None:
        if self._particles is not None:
            self._around = CollisionWorld(self.rest, self.fabric, obstacles, self_collision)
            return
        if not isinstance(self.solver, Newton):
            raise ValueError(
                f"solver {self.solver.name!r} knows no contact; use solver='newton' with obstacles and grippers"
            )
        self._around = CollisionWorld(self.rest, self.fabric, obstacles, self_collision)
        self._make_contact_solver()

    def _make_contact_solver(self) -> None:
        contact, contact_solver = self.settings["contact"]
        self._contact = make_contact_solver(
            contact, contact_solver, self.problem, self.settings["options"], self._timestep
        )
        self.solver = self._contact.newton

    @property
    def fabric(self) -> Fabric:
        """What the cloth is made of; fixed, like gravity, because the discrete cloth was built from it."""
        return self._fabric

    @property
    def model(self) -> Model:
        """How the cloth resists stretching and shearing, with its parameters."""
        return self.problem.model

    @property
    def gravity(self) -> float:
        """m/s^2, along -z."""
        return self._gravity

    @property
    def timestep(self) -> float:
        """s; may be changed between steps."""
        return self._timestep

    @timestep.setter
    def timestep(self, value: float) -> None:
        self._timestep = _timestep(value)
        if isinstance(self.solver, Newton) and self.solver.soft and not self.solver.softly_bent(self.problem, value):
            # in a longer step bending is no longer soft
            if self._contact is None:
                self.solver = make_solver("newton", self.problem, self.settings["options"], self._timestep)
            else:
                self._make_contact_solver()
                self._contact.restore(self._state.room)

    # ---------------------------------------------------------------- state

    @property
    def positions(self) -> FloatArray:
        """Node positions (n, 3) m. Assign to move the cloth; the history of the integrator then starts anew.

        Grasps without a path then hold their nodes where they were put, and so do grippers.
        """
        return _read_only(self._state.positions)

    @positions.setter
    def positions(self, value: ArrayLike) -> None:
        moved = replace(self._state, positions=self._nodal("positions", value), previous_timestep=0.0)
        self._state = self._with_particles(moved)
        self._state = repinch(self._grippers, self._state)
        for grasp in self._grasps:
            grasp.stay(self._state.positions)

    @property
    def velocities(self) -> FloatArray:
        """Node velocities (n, 3) m/s. Assign to set them; the history of the integrator then starts anew."""
        return _read_only(self._state.velocities)

    @velocities.setter
    def velocities(self, value: ArrayLike) -> None:
        moved = replace(self._state, velocities=self._nodal("velocities", value), previous_timestep=0.0)
        if self._particles is not None:
            moved = replace(moved, particle_velocities=self._particles.follow(moved).particle_velocities)
        self._state = moved

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
        if not isinstance(value, State):
            raise TypeError(f"state is {type(value).__name__}: expected what sim.state.copy() returned")
        nodal = ("positions", "velocities", "previous_positions", "previous_velocities")
        arrays: dict[str, Any] = {name: self._nodal(name, getattr(value, name)) for name in nodal}
        arrays["multipliers"] = np.array(value.multipliers, dtype=np.float64)
        arrays["held"] = np.array(value.held, dtype=bool)
        if arrays["multipliers"].shape != (len(self.problem.rows),) or arrays["held"].shape != self._held.shape:
            raise ValueError(
                f"the state has {arrays['multipliers'].shape} multipliers: expected ({len(self.problem.rows)},); it "
                "belongs to a simulation with another mesh or discretisation"
            )
        if value.particles.shape != self._state.particles.shape:
            raise ValueError(
                f"the state has {len(value.particles)} particles: expected {len(self._state.particles)}; it belongs to "
                "a simulation with another model"
            )
        if not np.isfinite(arrays["multipliers"]).all():
            raise ValueError("the state's multipliers are not finite; it was saved after a step that failed")
        if value.steps > 0 and not np.array_equal(arrays["held"], self._held):
            warnings.warn(
                "the state was saved with other nodes held than now: a state holds no grasps; grasp or release them to "
                "continue as before",
                stacklevel=2,
            )
        self._state = self._gripped(replace(value, **arrays))
        if self._contact is not None:
            self._contact.restore(value.room)
        for grasp in self._grasps:
            grasp.stay(self._state.positions)

    def _gripped(self, state: State) -> State:
        """A state that is to be assigned, with the grippers that there are."""
        chosen = np.zeros(self.mesh.n_vertices, dtype=bool)
        for gripper in self._grippers:
            chosen[gripper.chosen] = True
        if len(state.poses) == len(self._grippers) and chosen[np.isfinite(state.pinched[:, 0])].all():
            for gripper, pose in zip(self._grippers, state.poses, strict=True):
                gripper.stay(pose)
            return state
        warnings.warn(
            "the state was saved with other grippers than now: a state holds none; pinch or release to continue as "
            "before",
            stacklevel=3,
        )
        poses = np.array([g.pose for g in self._grippers]).reshape(-1, 4, 3)
        pinched = np.where(chosen[:, None], 0.0, np.full(3, np.nan))
        return repinch(self._grippers, replace(state, pinched=pinched, poses=poses))

    @property
    def energy(self) -> Mapping[str, float]:
        """Kinetic and potential energy, J."""
        if self._particles is not None:
            return self._particles.energy(self._state)
        return {
            "kinetic": kinetic_energy(self.problem, self.velocities),
            "potential": potential_energy(self.problem, self.positions),
        }

    @property
    def obstacles(self) -> tuple[Obstacle, ...]:
        """What the cloth cannot pass."""
        return () if self._around is None else self._around.obstacles

    @property
    def self_collision(self) -> bool:
        """Whether layers of the cloth keep apart."""
        return self._around is not None and self._around.self_collision

    def record_contact(self, receive: Callable[[ContactQP], None] | None) -> None:
        """Hand the contact problem of every coming linearisation to a function; None stops it.

        With `problems = []`, `sim.record_contact(problems.append)` keeps them all; `problem.save(file)` writes one.
        Friction is a known force in them.
        """
        if self._contact is None:
            raise ValueError("there is no contact to record: give the simulation obstacles, or self_collision=True")
        self._contact.on_problem = receive

    # --------------------------------------------------------------- grasps

    @property
    def grasps(self) -> tuple[Grasp, ...]:
        """The grasps that hold now."""
        return tuple(self._grasps)

    def grasp(self, nodes: ArrayLike, path: Any = None) -> Grasp:
        """Hold nodes from now on.

        Args:
            nodes: a node index or several.
            path: a function of time (s) that returns (k, 3) positions in m, evaluated at the end of each step; a pair
                (times (T,), positions (T, k, 3)), or an array (T, k, 3) with one row per time step from now on; or
                None: the nodes stay until `grasp.move_to`.
        """
        chosen = self._nodes(nodes)
        if path is not None and not callable(path) and not isinstance(path, tuple):
            path = self._sampled(path, chosen)
        grasp = Grasp(self, chosen, path, self.positions[chosen])
        self._grasps.append(grasp)
        self._hold(chosen, True)
        return grasp

    @property
    def grippers(self) -> tuple[Gripper, ...]:
        """The grippers that are closed now."""
        return tuple(self._grippers)

    def pinch(
        self,
        centre: ArrayLike | None,
        size: ArrayLike,
        *,
        normal: ArrayLike,
        force: float,
        friction: float,
        path: Any = None,
        rotation: Any = None,
    ) -> Gripper:
        """Close the two jaws of a gripper on the cloth that is between them, and hold it by friction from now on.

        Nodes in the box between the jaws stay where they are along `normal`, and along the jaws while less than
        2 friction * force pulls at them all together; beyond that they slip, and are lost once they leave the box.

        Args:
            centre: (3,) m, of the box between the jaws now; may be None with a path.
            size: (3,) m, of the box, along x, y and z before its rotation.
            normal: direction in which the jaws press now.
            force: N, with which each jaw presses.
            friction: coefficient between jaw and cloth.
            path: a function of time (s) that returns the centre (3,) in m, evaluated at the end of each step; a pair
                (times (T,), centres (T, 3)); or None: the gripper stays until `gripper.move_to`.
            rotation: (3, 3) matrix that turns the box about its centre; or a function of time that returns it.
        """
        if self.settings["contact"][0] != "coulomb":
            raise ValueError("a gripper holds by friction that sticks: use contact='coulomb', the default, to pinch")
        gripper = Gripper(
            self, centre, size, normal=normal, force=force, friction=friction, path=path, rotation=rotation
        )
        taken = self._held | np.isfinite(self._state.pinched[:, 0])
        gripper.close(self._state.positions, taken)
        if self._around is None:
            self._expect_contact((), False)
            if self._contact is not None:
                self._contact.restore(self._state.room)
        self._state = remember(gripper, self._state)
        self._grippers.append(gripper)
        return gripper

    def _open(self, gripper: Gripper) -> None:
        if gripper.active:
            gripper.active = False
            number = self._grippers.index(gripper)
            self._grippers.remove(gripper)
            self._state = forget(gripper, number, self._state)

    def _release(self, grasp: Grasp) -> None:
        if grasp.active:
            grasp.active = False
            self._grasps.remove(grasp)
            self._hold(grasp.nodes, False)
            grasp._reactions = None

    def _hold(self, nodes: np.ndarray, held: bool) -> None:
        # replaced, not written into: states keep the one they were computed with
        self._held = self._held.copy()
        self._held[nodes] = held

    def _nodes(self, nodes: ArrayLike) -> np.ndarray:
        chosen = np.atleast_1d(np.asarray(nodes))
        if chosen.ndim != 1 or len(chosen) == 0 or not np.issubdtype(chosen.dtype, np.integer):
            raise TypeError(f"nodes = {nodes!r}: expected node indices (integers), e.g. mesh.nearest([x, y, z])")
        n = self.mesh.n_vertices
        outside = (chosen < 0) | (chosen >= n)
        if outside.any():
            raise ValueError(f"node {int(chosen[outside][0])} does not exist: expected indices from 0 to {n - 1}")
        if len(np.unique(chosen)) != len(chosen):
            raise ValueError(f"nodes = {chosen.tolist()}: a node is named twice")
        taken = self._held[chosen] | np.isfinite(self._state.pinched[chosen, 0])
        if taken.any():
            raise ValueError(f"node {int(chosen[taken][0])} is held already; release that grasp before a new one")
        return chosen.astype(np.int64)

    def _sampled(self, path: ArrayLike, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(T, k, 3) sampled at the ends of the coming steps, held at its last value afterwards."""
        count = len(nodes)
        try:
            points = np.asarray(path, dtype=np.float64)
        except (TypeError, ValueError):
            raise TypeError(
                f"path = {path!r}: expected a function of time, an array (steps, {count}, 3), a pair (times, "
                "positions), or None"
            ) from None
        if count == 1 and points.ndim == 2:
            points = points[:, None, :]
        if points.ndim != 3 or points.shape[1:] != (count, 3) or len(points) < 1:
            raise ValueError(
                f"path has shape {points.shape}: expected (steps, {count}, 3), or a function of time, or a pair "
                "(times, positions)"
            )
        points = np.concatenate([self.positions[None, nodes], points])  # from where the nodes are now
        return self.time + self.timestep * np.arange(len(points)), points

    # ----------------------------------------------------------------- step

    def step(self) -> Report:
        """Advance by one time step and return its certificate."""
        parts: list[Outcome] = []
        before, fallbacks = self._state, self._fallbacks()
        try:
            iterations = self._advance(self.timestep, 0, parts, before)
        except BaseException:  # a path that raises, say: half a step must not remain
            self._state = before
            if self._contact is not None:
                self._contact.restore(before.room)
            raise
        for grasp in self._grasps:
            grasp._reactions = parts[-1].reactions
        worst = parts[0] if len(parts) == 1 else worst_of(parts)
        held = self._held | np.isfinite(before.pinched[:, 0]) if self._grippers else self._held
        problem = diagnose(self.problem, self._state.positions, held, worst.isometry_error)
        if not problem and not worst.converged:
            problem = unsolved(worst)
        return Report(
            time=self._state.time, iterations=iterations, isometry_error=worst.isometry_error, converged=not problem,
            substeps=len(parts), strain_gap=worst.strain_gap, force_residual=worst.force_residual,
            contacts=worst.contacts, min_gap=worst.min_gap, friction_residual=worst.friction_residual,
            fallbacks=self._fallbacks() - fallbacks, problem=problem,
            _measure=partial(_measures, self.rest, self._state.positions),
        )  # fmt: skip

    def _fallbacks(self) -> int:
        return 0 if self._contact is None else self._contact.fallbacks

    def _advance(self, timestep: float, depth: int, parts: list[Outcome], before: State) -> int:
        """One (sub)step; if it does not converge, two of half the length.

        What was accepted is appended to `parts`; returns the factorisations spent, failed attempts included. `before`
        is the state at the start of the whole step.
        """
        state = self._state
        # after a grasp or a release forces jump, and the step before would be extrapolated into a wrong velocity
        same = self._held is state.held or np.array_equal(self._held, state.held)
        scheme = self._scheme(timestep, state.previous_timestep if same else 0.0)
        start = state.positions + timestep * state.velocities
        for grasp in self._grasps:
            target = grasp.position(state.time + timestep)
            if depth and grasp.path is None:
                # nodes sent by move_to travel evenly through the parts of a step
                done = (state.time + timestep - before.time) / self.timestep
                begin = before.positions[grasp.nodes]
                target = begin + min(done, 1.0) * (target - begin)
            far = prescribe(start, grasp.nodes, target, state.positions, self._diameter)
            if far >= 0:
                self._refuse(grasp, int(far), target)
        encounter: ContactDetector | None = None
        if self._around is not None and (self._surrounded or self._grippers):
            encounter = ContactDetector(self._around, state.positions, self._held, state.time, state.time + timestep)
            if self._particles is None and (len(state.touch.key) or self._grippers):
                return self._advance_among(encounter, scheme, start, timestep, depth, parts, before)
        if self._particles is not None:
            return self._advance_particles(self._particles, encounter, start, timestep, depth, parts, before)
        past = Past(state.positions, state.velocities, state.previous_positions, state.previous_velocities)
        first = state.steps == 0  # no multipliers are known yet, and kernels may have to be compiled
        with announce_compilation() if first else nullcontext():
            step, base = step_problem(self.problem, scheme, past, start, self._held)
            if (push := self._push(start, timestep)) is not None:
                step.load[:] += push
            outcome = self.solver.solve(step, state.multipliers, first=first)
        if encounter is not None:
            # nothing touched before: most often nothing does now, and the step is that of a free cloth. The first step
            # goes both ways, so that all kernels are loaded
            if first or not (outcome.converged and encounter.clear(outcome.positions)):
                spent = self._advance_among(encounter, scheme, start, timestep, depth, parts, before)
                return outcome.iterations + spent
            encounter.around.record_nothing()
        if not outcome.converged and depth < DEEPEST_SUBSTEP:
            spent = self._advance(timestep / 2, depth + 1, parts, before)
            return outcome.iterations + spent + self._advance(timestep / 2, depth + 1, parts, before)
        if not outcome.converged and not np.isfinite(outcome.positions).all():
            raise ConvergenceError(
                f"the step from t = {self.time:.6g} s has no finite solution even when cut into {2**depth} parts; use "
                "a smaller timestep or gentler paths"
            )
        self._state = State(
            positions=outcome.positions,
            velocities=(outcome.positions - base) / scheme.h,
            previous_positions=state.positions,
            previous_velocities=state.velocities,
            multipliers=outcome.multipliers,
            held=self._held,
            touching=state.touching if encounter is None else np.zeros(len(base), dtype=bool),
            touch=state.touch,
            room=state.room if self._contact is None else self._contact.room,  # of a try that failed, maybe
            pinched=state.pinched,
            poses=state.poses,
            previous_timestep=timestep,
            time=state.time + timestep,
            steps=state.steps + 1,
        )
        parts.append(outcome)
        return outcome.iterations

    def _advance_among(
        self, encounter: ContactDetector, scheme: Scheme, start: FloatArray, timestep: float, depth: int,
        parts: list[Outcome], before: State,
    ) -> int:  # fmt: skip
        """`_advance` in contact with obstacles or between layers."""
        assert self._contact is not None
        state, solver = self._state, self._contact
        past = Past(state.positions, state.velocities, state.previous_positions, state.previous_velocities)
        first = state.steps == 0
        poses = self._sent(timestep, depth, before)
        encounter.jaws = jaws_of(self._grippers, state, poses, self.problem.area, len(encounter.around.obstacles) + 1)
        for pair in encounter.jaws:
            pair.carry(start, state.touch)
        with announce_compilation() if first else nullcontext():
            step, inertia, base, h = contact_step_problem(
                self.problem, scheme, euler(timestep, 0.0), state.touching, past, start, self._held
            )
            if (push := self._push(start, timestep)) is not None:
                step.load[:] += push
            if first:
                encounter.precompile()
            outcome, contacts, law = self._solve_among(step, inertia, encounter, first=first)
        if not outcome.converged and depth < DEEPEST_SUBSTEP:
            spent = self._advance(timestep / 2, depth + 1, parts, before)
            return outcome.iterations + spent + self._advance(timestep / 2, depth + 1, parts, before)
        healed = False
        if not outcome.converged:
            spent = outcome.iterations
            (outcome, contacts, law), healed = self._retry(step, inertia, encounter)
            outcome = outcome._replace(iterations=spent + outcome.iterations)
        lost = not outcome.converged and not self._sound(outcome)
        positions = outcome.positions
        if lost:
            # torn: rather than that, the cloth stays where it is, and what it is squeezed between gets into it
            positions = np.where(self._held[:, None], start, state.positions)
            error, _ = errors(self.problem, positions, state.multipliers)
            outcome = outcome._replace(multipliers=state.multipliers, isometry_error=error)
            law = unknown_state(len(contacts.key))
        elif not outcome.converged:
            positions = encounter.stop_short(positions)
        if healed:  # it was asked for less than that it be whole
            error, gap = errors(self.problem, positions, outcome.multipliers)
            outcome = outcome._replace(converged=False, isometry_error=error, strain_gap=gap)
        touched, touch = pressing(contacts, law, len(positions))
        velocities = (positions - base) / h
        velocities[touched] = (positions[touched] - state.positions[touched]) / timestep
        if lost:
            velocities[:] = 0.0
        elif not outcome.converged or overstretched(self.problem, outcome.isometry_error):
            hands = (start - state.positions)[self._held] / timestep
            moving = np.concatenate([before.velocities, hands])
            fastest = max(float(np.linalg.norm(moving, axis=1).max()), encounter.pace(positions))
            velocities = limit_speed(velocities, fastest)
        encounter.around.record(contacts, law.force, self._grippers)
        self._state = State(
            positions=positions,
            velocities=velocities,
            previous_positions=state.positions,
            previous_velocities=state.velocities,
            multipliers=outcome.multipliers,
            held=self._held,
            touching=touched,
            touch=touch,
            room=solver.room,
            pinched=slid_out(self._grippers, state.pinched, positions, poses),
            poses=poses,
            previous_timestep=timestep,
            time=state.time + timestep,
            steps=state.steps + 1,
        )
        parts.append(outcome)
        return outcome.iterations

    def _advance_particles(
        self, particles: Particles, encounter: ContactDetector | None, start: FloatArray, timestep: float, depth: int,
        parts: list[Outcome], before: State,
    ) -> int:  # fmt: skip
        """`_advance` of the nonconforming model."""
        state = self._state
        poses = self._sent(timestep, depth, before)
        jaws = jaws_of(self._grippers, state, poses, self.problem.area, len(self.obstacles) + 1)
        encounter = encounter if self._surrounded else None
        with announce_compilation() if state.steps == 0 else nullcontext():
            push = self._push(start, timestep)
            if state.steps == 0 and encounter is not None:
                encounter.precompile()
            outcome, after, forces = particles.advance(state, self._held, start, timestep, encounter, push, jaws)
        if not outcome.converged and depth < DEEPEST_SUBSTEP:
            spent = self._advance(timestep / 2, depth + 1, parts, before)
            return outcome.iterations + spent + self._advance(timestep / 2, depth + 1, parts, before)
        for gripper in self._grippers:
            gripper._record(np.zeros(3))
        for pair, force in zip(jaws, forces, strict=True):
            self._grippers[pair.body - len(self.obstacles) - 1]._record(force)
        after = after if outcome.converged else particles.keep(state, after, outcome, encounter)
        pinched = slid_out(self._grippers, state.pinched, after.positions, poses)
        self._state = replace(after, pinched=pinched, poses=poses)
        parts.append(outcome)
        return outcome.iterations

    def _solve_among(
        self,
        step: StepProblem,
        inertia: FloatArray,
        encounter: ContactDetector,
        *,
        first: bool = False,
        bold: bool = True,
    ) -> ContactOutcome:
        """A (sub)step with contacts; not converged if something was passed through."""
        assert self._contact is not None
        state = self._state
        found = self._contact.solve(step, inertia, state.multipliers, state.touch, encounter, first=first, bold=bold)
        if found.outcome.converged and encounter.crossings(found.outcome.positions):
            found = found._replace(outcome=found.outcome._replace(converged=False))
        return found

    def _retry(self, step: StepProblem, inertia: FloatArray, encounter: ContactDetector) -> tuple[ContactOutcome, bool]:
        """A part of a step that must not be cut further once more, with care; and if that tears a cloth that was torn
        already, with some of its errors forgiven. Says whether they were."""
        encounter.begin_again()
        found = self._solve_among(step, inertia, encounter, bold=False)
        if found.outcome.converged or self._sound(found.outcome):
            return found, False
        if (slack := relaxed_targets(self.problem, self._state.positions)) is None:
            return found, False
        rest, spent = self.problem.rows.rest, found.outcome.iterations
        whole = rest.copy()
        encounter.begin_again()
        try:
            rest[:] += slack
            again = self._solve_among(step, inertia, encounter, bold=False)
        finally:
            rest[:] = whole
        healed = again.outcome.converged
        found = again if healed else found
        return found._replace(outcome=found.outcome._replace(iterations=spent + again.outcome.iterations)), healed

    def _sound(self, outcome: Outcome) -> bool:
        """Whether what did not converge can be taken all the same."""
        # a model that stretches is torn at twice its length, the isometric one soon
        most = INFEASIBLE if self.problem.model.inextensible else 2.0
        return bool(np.isfinite(outcome.positions).all() and outcome.isometry_error < most)

    def _sent(self, timestep: float, depth: int, before: State) -> FloatArray:
        """Poses of the grippers at the end of a (sub)step."""
        end = self._state.time + timestep
        done = min((end - before.time) / self.timestep, 1.0) if depth else 1.0
        return sent(self._grippers, before.poses, end, done, self._diameter)

    def _push(self, start: FloatArray, timestep: float) -> FloatArray | None:
        """The extra force (n, 3), N, at the end of a (sub)step, where the cloth is expected at `start`; None if none.

        Velocities are extrapolated, so that a second-order integrator stays one.
        """
        if self.extra_force is None:
            return None
        state = self._state
        velocities = state.velocities
        if state.previous_timestep > 0.0:
            velocities = velocities + timestep / state.previous_timestep * (velocities - state.previous_velocities)
        force = np.asarray(self.extra_force(state.time + timestep, _read_only(start), _read_only(velocities)))
        if force.shape != start.shape or not np.isfinite(force).all():
            what = f"has shape {force.shape}" if force.shape != start.shape else "is not finite"
            raise ValueError(
                f"the extra force at t = {state.time + timestep:g} s {what}: expected finite forces {start.shape} in N"
            )
        return np.asarray(force, dtype=np.float64)

    def _refuse(self, grasp: Grasp, index: int, target: FloatArray) -> None:
        """Say why a prescribed position cannot be."""
        node = int(grasp.nodes[index])
        if not np.isfinite(target[index]).all():
            raise ValueError(f"the path sends node {node} to {target[index]}: expected finite positions in m")
        jump = np.linalg.norm(target[index] - self._state.positions[node])
        raise ValueError(
            f"node {node} is sent {jump:.3g} m away within one step of {self.timestep:g} s, further than the cloth is "
            "long; move it in smaller steps"
        )

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
            duration: s, rounded to whole steps.
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

    # ---------------------------------------------------------------- small

    def _nodal(self, name: str, value: ArrayLike) -> FloatArray:
        array = np.array(value, dtype=np.float64)
        if array.shape != (self.mesh.n_vertices, 3):
            raise ValueError(f"{name} have shape {array.shape}: expected ({self.mesh.n_vertices}, 3)")
        if not np.isfinite(array).all():
            raise ValueError(f"{name} of node {int(np.argwhere(~np.isfinite(array))[0, 0])} are not finite")
        return array

    def __repr__(self) -> str:
        return (
            f"<Simulation of {self.mesh!r}, t = {self.time:.4g} s, {self.integrator} {self.timestep:g} s, "
            f"{self.solver.name}, {int(self._held.sum())} nodes held>"
        )


def _read_only(array: FloatArray) -> FloatArray:
    # writing into it would leave the integrator's history behind without a word
    view = array.view()
    view.flags.writeable = False
    return view


def _measures(rest: Mesh, positions: FloatArray) -> dict[str, float]:
    area, edge = measure.area_errors(rest, positions), measure.edge_stretch(rest, positions)
    metric = measure.metric_errors(rest, positions)
    return {
        "edge_stretch": float(edge.max), "edge_stretch_rms": float(edge.rms),
        "metric_E": float(metric.E), "metric_F": float(metric.F), "metric_G": float(metric.G),
        "area_total": float(area.total), "area_mean": float(area.mean), "area_dispersion": float(area.dispersion),
    }  # fmt: skip


def _rest_mesh(mesh: Mesh, rest: Mesh | ArrayLike | None) -> Mesh:
    if rest is None:
        mesh.check_rest_shape()
        return mesh
    if isinstance(rest, Mesh):
        if rest.faces.shape != mesh.faces.shape or not np.array_equal(rest.faces, mesh.faces):
            raise ValueError("rest has other faces than mesh: expected the same connectivity in another shape")
    else:
        rest = mesh.with_vertices(np.asarray(rest, dtype=np.float64))
    rest.check_rest_shape()
    return rest


def _refuse_with_impulses(solver: str | None, options: Any, contact: str) -> None:
    """Raise if something is asked for that the nonconforming model cannot do."""
    if solver is not None or options is not None:
        raise ValueError(
            "the nonconforming model is solved by its own impulses: leave solver and solver_options out; "
            "ic.models.Nonconforming(tolerance=..., max_solves=...) says how far"
        )
    if contact != "coulomb":
        raise ValueError(f"contact = {contact!r}: the nonconforming model has a contact of its own; leave it out")


def _timestep(value: float) -> float:
    number = _finite("timestep", value, "s")
    if not 0.0 < number <= LONGEST_TIMESTEP:
        raise ValueError(
            f"timestep = {value!r} s: expected more than 0 and at most {LONGEST_TIMESTEP} s; 0.01 is a good choice (in "
            "seconds, not milliseconds)"
        )
    return number


def _finite(name: str, value: float, unit: str) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} = {value!r}: expected a number in {unit}") from None
    if not math.isfinite(number):
        raise ValueError(f"{name} = {value!r}: expected a finite number in {unit}")
    return number
