"""Equilibria: `equilibrium(mesh, ...)` and what it returns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from isocloth.base.errors import ConvergenceError, InputError
from isocloth.base.numeric import as_float, check_count, check_flag, shown
from isocloth.base.typing import FloatArray
from isocloth.cloth.cloth import potential_energy
from isocloth.contact.contact_set import wrenches_on_bodies
from isocloth.contact.history import NO_HISTORY, ContactHistory
from isocloth.fabric import Fabric
from isocloth.meshes import Mesh
from isocloth.models import Model
from isocloth.simulation import Forces, Grasp, Simulation, State
from isocloth.simulation.arguments import read_only
from isocloth.simulation.forces import forces_in
from isocloth.simulation.memory import NewtonMemory
from isocloth.statics.branch import follow_branch
from isocloth.statics.continuation import Parameter, follow
from isocloth.statics.find import Found, find
from isocloth.statics.polish import NEUTRAL, Polisher, unbalanced
from isocloth.statics.problem import Problem, as_problem, as_start
from isocloth.statics.sensitivity import Gradient, Loss, gradient_of
from isocloth.statics.stability import softest
from isocloth.statics.touching import Touching


class Equilibrium:
    """A cloth at rest. Made by `equilibrium`."""

    def __init__(self, problem: Problem, found: Found, *, snapped: bool = False) -> None:
        self._problem, self._found = problem, found
        self.snapped = snapped
        """Whether the branch that was followed had ended, and this is another one."""

    # ------------------------------------------------------------------- what it is

    @property
    def positions(self) -> FloatArray:
        """(n, 3) m."""
        return read_only(self._found.positions)

    @property
    def mesh(self) -> Mesh:
        """The cloth in its equilibrium, as a mesh."""
        return self._problem.mesh.with_vertices(self._found.positions)

    @property
    def residual(self) -> float:
        """Net force on the free nodes, relative to the weight of the cloth on earth."""
        return self._found.residual

    @property
    def converged(self) -> bool:
        """Whether it is one: forces balance, contacts obey friction, and the cloth is not torn."""
        return self._found.converged

    @property
    def problem(self) -> str:
        """Empty, or what is wrong and what to do."""
        return self._found.problem

    @property
    def iterations(self) -> int:
        """Linear systems factorised on the way."""
        return self._found.work

    @property
    def touching(self) -> Touching | None:
        """Contacts and what is known of them; None where nothing could touch."""
        return self._found.touching

    @property
    def contacts(self) -> int:
        """Contacts that carry force."""
        touching = self._found.touching
        return 0 if touching is None else int((touching.known.push > 0.0).sum())

    @cached_property
    def energy(self) -> float:
        """Potential energy, J: weight, zero height at z = 0, bending, shear and membrane."""
        return potential_energy(self._sim.cloth, self._found.positions)

    @cached_property
    def forces(self) -> Forces:
        """Body -> force and torque of the cloth on it, as in reports: obstacles, and `grasp`, who holds its nodes."""
        return forces_in(self._state, self._sim.grasps, (), self._sim.obstacles)

    @property
    def grasp(self) -> Grasp | None:
        """Who holds the held nodes; a key of `forces`."""
        return self._sim.grasps[0] if self._sim.grasps else None

    @cached_property
    def reactions(self) -> FloatArray:
        """(n, 3) N: with what force each held node is held; on free nodes what is left of the forces."""
        solver = Polisher(self._sim.cloth, self._sim.hands.held)
        solver.potential.move(self._found.positions)
        return unbalanced(solver.potential, self._found.tension, self._found.touching)

    # ------------------------------------------------------------------- whether it lasts

    @property
    def stable(self) -> bool:
        """Whether the cloth comes back after a small push: no mode has a negative eigenvalue."""
        return bool(self.smallest_eigenvalue >= -NEUTRAL)

    @property
    def smallest_eigenvalue(self) -> float:
        """1/s^2: of the second derivative of the energy relative to mass, over the free nodes; contacts
        do not open, and slide only the way they slid."""
        return self._softest[0]

    @property
    def softest_mode(self) -> FloatArray:
        """(n, 3): the displacement that belongs to it, its largest component one."""
        return read_only(self._softest[1])

    @cached_property
    def _softest(self) -> tuple[float, FloatArray]:
        solver = Polisher(self._sim.cloth, self._sim.hands.held)
        solver.potential.move(self._found.positions)
        return softest(solver, self._found.tension, self._found.touching)

    # ------------------------------------------------------------------- what comes next

    @cached_property
    def _sim(self) -> Simulation:
        return self._problem.simulation(self._found.positions)

    @property
    def history(self) -> ContactHistory:
        """Contacts and their forces, as steps know them."""
        return NO_HISTORY if self._found.touching is None else self._found.touching.history()

    @cached_property
    def _state(self) -> State:
        """At rest, with tensions and contact forces as they are."""
        sim, found = self._sim, self._found
        memory = sim.state.memory
        assert isinstance(memory, NewtonMemory)
        wrenches = sim.state.obstacle_wrenches
        touched = memory.touching.copy()
        if found.touching is not None:
            contacts = found.touching.contacts
            rows = wrenches_on_bodies(contacts, found.touching.forces(), found.positions, len(sim.obstacles))
            wrenches = rows[1:]
            pressing = found.touching.known.push > 0.0
            touched[contacts.nodes[pressing][contacts.weights[pressing] != 0.0]] = True
        memory = memory._replace(multipliers=found.tension.copy(), history=self.history, touching=touched)
        return replace(
            sim.state, held=sim.hands.held, memory=memory, reactions=self.reactions, obstacle_wrenches=wrenches, steps=1
        )  # fmt: skip

    def simulation(self, *, timestep: float = 0.01, **options: Any) -> Simulation:
        """A simulation that begins at rest here, with the same tensions and the same contact forces.

        options: further arguments of `Simulation`, `integrator` say.
        """
        sim = self._problem.simulation(self._found.positions, timestep=timestep, **options)
        sim.state = self._state
        return sim

    def continued(
        self, parameter: Parameter, values: Any, *, stable: bool = True, progress: bool = False
    ) -> list[Equilibrium]:
        """Equilibria at further values of a parameter, each found from the one before.

        Args:
            parameter: "gravity", a field of the fabric or of the model, or "held" (values are then positions (k, 3) of
                the held nodes); or a function of a value that returns such names with their values, which may turn a
                clamp: `lambda angle: {"held": turned(angle)}`.
            values: one after the other; steps between them are cut where needed.
            stable: leave a branch that ends or becomes unstable for what the cloth does then (`snapped`); False
                follows unstable equilibria too, and raises `ConvergenceError` where the branch is lost.
            progress: print what happens.
        """
        check_flag(stable, "stable")
        check_flag(progress, "progress")
        followed = follow(self._problem, self._found, parameter, values, stable=stable, progress=progress)
        return [Equilibrium(problem, found, snapped=snapped) for problem, found, snapped in followed]

    def gradient(self, loss: Loss | ArrayLike, *, slides: bool = True) -> Gradient:
        """How a loss L(x) of this equilibrium changes with all that the equilibrium depends on, by one linear solve.

        Args:
            loss: a function of positions (n, 3) m that returns its value and its derivative (n, 3) in them, or this
                derivative alone.
            slides: whether contacts that slid slide on, bearing mu times what presses them, along what pulled at them;
                False: they stick where they are, as they do when an equilibrium is found with `start` at this one.
                Contacts that stick stay anchored, and none opens or closes.

        Raises:
            ConvergenceError: this is no equilibrium, or it is neutral.
        """
        check_flag(slides, "slides")
        if not self.converged:
            raise ConvergenceError(
                f"this is no equilibrium, so that it has no derivative: {self.problem or 'forces do not balance'}"
            )
        solver = Polisher(self._sim.cloth, self._sim.hands.held)
        found = self._found
        return gradient_of(
            self._problem, solver, found.positions.copy(), found.tension, found.touching, loss, slides=slides,
            stable=lambda: self.stable,
        )  # fmt: skip

    def branch(self, parameter: str, *, step: float = 0.02, count: int = 50, forward: bool = True) -> Branch:
        """Follow the branch by its length, also where it turns in the parameter, by pseudo-arclength.

        Args:
            parameter: "gravity", or a field of the fabric or of the model.
            step: length of the first step: change of the parameter, of its value now, and of the shape, of the size of
                the cloth. Steps grow to four times this, and shrink where they must.
            count: points; less come back where the parameter reaches zero on the way.
            forward: whether the parameter grows at first.
        """
        number = as_float(step)
        if number is None or not 0.0 < number < 1.0:
            raise InputError(f"step = {shown(step)}: expected a part of the parameter between 0 and 1, 0.02 say")
        check_count(count, "count", 1)
        check_flag(forward, "forward")
        points = follow_branch(self._problem, self._found, parameter, step=number, count=count, forward=forward)
        values = np.array([self._problem.value(parameter), *[point.value for point in points]])
        return Branch(values, (self, *[Equilibrium(point.problem, point.found) for point in points]))

    def __repr__(self) -> str:
        if not self.converged:
            return f"<Equilibrium of {self._problem.mesh!r}, not converged, residual {self.residual:.1e}>"
        return f"<Equilibrium of {self._problem.mesh!r}, residual {self.residual:.1e}, {self.contacts} contacts>"


class Branch(NamedTuple):
    """Equilibria along a branch, the first one being where it began.

    values: (c,) of the parameter.
    equilibria: at each of them.
    """

    values: FloatArray
    equilibria: tuple[Equilibrium, ...]

    @property
    def turns(self) -> list[int]:
        """Points nearest to where the parameter goes back."""
        way = np.sign(np.diff(self.values))
        return [int(k) + 1 for k in np.flatnonzero(way[1:] != way[:-1])]


def equilibrium(
    mesh: Mesh | Sequence[Mesh],
    fabric: Fabric | Sequence[Fabric] | None = None,
    *,
    model: str | Model = "isometric",
    rest: Mesh | ArrayLike | None = None,
    held: Any = None,
    obstacles: Any = (),
    self_collision: bool = False,
    gravity: float = 9.81,
    start: Mesh | Equilibrium | Simulation | ArrayLike | None = None,
    progress: bool = False,
) -> Equilibrium:
    """Where a cloth comes to rest, without waiting for it.

    Args:
        mesh: the cloth, or a list of several; also its rest shape unless `rest` is given, and its start unless
            `start` is.
        fabric: what it is made of; of several pieces also a list with a fabric for each.
        model: how it resists, as in `Simulation`; not "nonconforming".
        rest: rest shape.
        held: indices of nodes that stay where `mesh` has them, or a mapping of nodes to positions (3,) m.
        obstacles: on which it may rest; they must stand still.
        self_collision: whether layers keep apart.
        gravity: m/s^2, along -z.
        start: positions (n, 3) m from which it is sought, another equilibrium, or a simulation, whose contact forces
            are known. A start that is an equilibrium is taken for one, stable or not; with friction contacts stick
            where they are unless they leave the cone.
        progress: print what happens, on standard error.

    Raises:
        ConvergenceError: nothing holds the cloth, so that it falls.
    """
    check_flag(progress, "progress")
    problem = as_problem(mesh, fabric, model, rest, held, obstacles, self_collision, gravity)
    if isinstance(start, Equilibrium):
        positions, tension = as_start(start.positions, problem), start._found.tension
        return Equilibrium(problem, find(problem, positions, tension, start.history, progress=progress))
    if isinstance(start, Simulation):
        return Equilibrium(problem, find(problem, *_where(start, problem), progress=progress))
    return Equilibrium(problem, find(problem, as_start(start, problem), progress=progress))


def _where(sim: Simulation, problem: Problem) -> tuple[FloatArray, FloatArray | None, ContactHistory]:
    """Positions (n, 3) of a simulation, and its multipliers and contact forces if they mean the same here."""
    positions, memory = as_start(sim.positions, problem), sim.state.memory
    if not isinstance(memory, NewtonMemory) or sim.model != problem.model:
        return positions, None, NO_HISTORY
    same = sim.obstacles == problem.obstacles and np.array_equal(sim.mesh.faces, problem.mesh.faces)
    return positions, memory.multipliers, memory.history if same else NO_HISTORY
