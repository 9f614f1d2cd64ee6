"""`invert`: the rest shape with which a cloth hangs as its target does, and what is known of it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from functools import cached_property
from typing import Any, overload

import numpy as np
from scipy.sparse.linalg import splu

from isocloth.base.errors import InputError, InputTypeError, MeshError
from isocloth.base.numeric import as_float, check_flag, shown
from isocloth.base.typing import FloatArray, IntArray
from isocloth.fabric import Fabric
from isocloth.inverse.arguments import as_shell, check_method
from isocloth.inverse.balance import Cones, outside
from isocloth.inverse.carried import Carried
from isocloth.inverse.checkpoint import kept_in, marks_of, resumed
from isocloth.inverse.force_first import USABLE, ForceFirst, Found, Progress
from isocloth.inverse.nearest import Nearest, NearestSearch
from isocloth.inverse.outcome import Outcome, of_force_first
from isocloth.inverse.pose import Pose
from isocloth.inverse.poses import PosesInversion, invert_poses
from isocloth.inverse.progress import Meter
from isocloth.inverse.pushes import Pushes, pushes_of
from isocloth.inverse.rest_forces import RestForces
from isocloth.inverse.started import GRAVITY, started
from isocloth.inverse.supports import Supports, check_supports, find_supports, hands_at, lay_on, together
from isocloth.inverse.thesis.method import PART, inverted
from isocloth.inverse.thesis.two_step import Pass, TwoSteps
from isocloth.meshes import Mesh
from isocloth.models import Model
from isocloth.obstacles import Obstacle
from isocloth.simulation import Simulation
from isocloth.statics import Equilibrium, equilibrium
from isocloth.statics.problem import Problem, as_problem
from isocloth.terms.dihedral import hinges_of

#: part of the friction inside which forces are aimed, where none is given
MARGIN = 0.8
#: least force with which what touches is pressed on, of the mean weight of a node
LEAST = 0.02
#: the law of contacts that are hard
HARD = "gauss_seidel"


class Inversion:
    """A rest shape and its certificate. Made by `invert`."""

    def __init__(
        self, problem: Problem, carried: Carried, outcome: Outcome, margin: float, nearest: Nearest | None = None
    ) -> None:  # fmt: skip
        self._problem, self._carried, self._outcome = problem, carried, outcome
        self.nearest = nearest
        """Where the target was not reached: a shape near it that the cloth can take, with its certificate."""
        self.margin = margin
        """Part of the friction inside which forces were aimed."""

    # ------------------------------------------------------------------- the shape

    @property
    def target(self) -> Mesh:
        """The target, with what touches bodies at just the distance that is kept."""
        return self._problem.mesh

    @cached_property
    def rest(self) -> Mesh:
        """The rest shape: of the target if that was reached, else of the nearest shape, or of the load that was."""
        return self.target.with_vertices(self._outcome.points if self.nearest is None else self.nearest.points)

    @property
    def positions(self) -> FloatArray:
        """(n, 3) m: where the cloth is in balance, the target if that was reached; else the nearest shape."""
        return self.target.vertices if self.reached else self.equilibrium.positions

    @cached_property
    def stretch(self) -> FloatArray:
        """(e,) of the edges: (length at rest - length in the target) / length in the target."""
        return np.asarray(self.rest.edge_lengths / self.target.edge_lengths - 1.0)

    @cached_property
    def bend(self) -> FloatArray:
        """(e,) rad of the inner edges: the dihedral angle at rest less that in the target."""
        forces = self._carried.forces
        angles = []
        for points in (self.rest.vertices, self.target.vertices):
            corners = forces.shape(points).hinge_corners
            joined = np.ones(len(corners), dtype=np.bool_)
            angles.append(hinges_of(points[corners[:, :3]], points[corners[:, 3:]], joined).angle)
        return np.asarray((angles[0] - angles[1] + np.pi) % (2.0 * np.pi) - np.pi)

    @property
    def obstacles(self) -> tuple[Obstacle, ...]:
        """What the cloth may lie on."""
        return self._problem.obstacles

    # ------------------------------------------------------------------- the forces

    @cached_property
    def forces(self) -> FloatArray:
        """(n, 3) N that hands and bodies push the nodes with; what is left on others is the residual.

        In the target, at the load that was reached; where there is a nearest shape, in this one.
        """
        if self.nearest is None:
            return self._carried.forces(self._outcome.points, self._outcome.load)
        return self._carried.forces.at(self.positions)(self.rest.vertices)

    @property
    def contact_nodes(self) -> IntArray:
        """(k,) nodes that bodies, layers or hands push."""
        if self.nearest is None:
            return np.flatnonzero(self._carried.touched[::3])
        supports, _ = self._at_rest
        return np.unique(supports.nodes[supports.weights != 0.0])

    @property
    def contact_forces(self) -> FloatArray:
        """(k, 3) N with which they are pushed."""
        return self.forces[self.contact_nodes]

    @cached_property
    def pushes(self) -> Pushes:
        """The same by places where hands and bodies touch, centres of faces too, with normals and friction."""
        if self.nearest is not None:
            supports, forces = self._at_rest
            return pushes_of(supports, self.positions, forces)
        forces = self._carried.at_supports(self.forces.ravel(), self._outcome.forces)
        return pushes_of(self._carried.supports, self.target.vertices, forces)

    @cached_property
    def _at_rest(self) -> tuple[Supports, FloatArray]:
        """Of the nearest shape: hands and contacts, and their forces (k, 3) N."""
        hands, touching = hands_at(self._problem.nodes), self.equilibrium.touching
        forces = self.forces[self._problem.nodes]
        if touching is None:
            return hands, forces
        own, on = touching.contacts, touching.active
        return (
            together(hands, Supports(
                own.nodes[on], own.weights[on], Cones(own.normal[on], own.friction[on], np.zeros(int(on.sum()))),
                own.body[on], own.gap[on],
            )),
            np.concatenate([forces, touching.forces()[on]]),
        )  # fmt: skip

    # ------------------------------------------------------------------- how good it is

    @property
    def load_reached(self) -> float:
        """Part of gravity, 0 to 1, up to which the target is a stable equilibrium with forces in the cones."""
        return self._outcome.up_to

    @property
    def reached(self) -> bool:
        """Whether the target is an equilibrium, stable and with forces in the cones of friction."""
        return self._outcome.reached

    @property
    def iterations(self) -> int:
        """Linear systems solved; by the thesis' method iterations of BFGS, in both steps of all passes."""
        return self._outcome.iterations

    @property
    def passes(self) -> tuple[Pass, ...]:
        """Of the thesis' method: lambda, and what came of either step, pass by pass."""
        return self._outcome.passes

    @cached_property
    def target_error(self) -> float:
        """J = |x - target|^2 / 2, m^2, of the balance x nearby: one Newton step from the target."""
        carried, free = self._carried, self._carried.free
        if not self.reached:
            return float(0.5 * np.sum((self.positions - self.target.vertices) ** 2))
        stiffness = carried.forces.stiffness(self._outcome.points)[free][:, free].tocsc()
        step = splu(stiffness).solve(self.forces.ravel()[free])
        return float(0.5 * step @ step)

    @cached_property
    def friction_error(self) -> float:
        """G, N^2: half the square of the forces left on free nodes, and of what is out of the cones of 0.975 mu.

        Of the nearest shape, which may use all of its friction, the forces left alone.
        """
        if self.nearest is not None:
            rest = np.delete(self.forces, self.contact_nodes, axis=0)
            return float(0.5 * np.sum(rest * rest))
        left = self.forces.ravel()[self._carried.free]
        at = self._carried.at_supports(self.forces.ravel(), self._outcome.forces)
        out = outside(self._carried.supports.cones, at, USABLE)
        return float(0.5 * (left @ left + out @ out))

    @cached_property
    def equilibrium(self) -> Equilibrium:
        """Where a cloth of this rest shape comes to rest from the target, by `ic.equilibrium`; or the nearest shape."""
        p = self._problem
        if self.nearest is not None:
            return Equilibrium(replace(p, rest=self.rest), self.nearest.found)
        return equilibrium(
            p.mesh, p.fabrics[0], model=p.model, rest=self.rest, held=p.nodes if len(p.nodes) else None,
            obstacles=p.obstacles, self_collision=p.self_collision, gravity=p.gravity,
        )  # fmt: skip

    @property
    def stable(self) -> bool:
        """Whether the target comes back after a small push, with what touches held: no pivot is negative."""
        return self._outcome.stable

    @property
    def smallest_eigenvalue(self) -> float:
        """1/s^2, of the equilibrium with contacts as springs: see `Equilibrium.smallest_eigenvalue`."""
        return self.equilibrium.smallest_eigenvalue

    @property
    def problem(self) -> str:
        """Empty, or what is wrong and what would help."""
        said = self._outcome.problem
        if self.nearest is None:
            return said
        off = np.linalg.norm(self.positions - self.target.vertices, axis=1)
        return f"{said}; the nearest shape that was found is off by {1e3 * off.max():.3g} mm at most"

    def simulation(self, *, timestep: float = 0.01, **options: Any) -> Simulation:
        """A simulation of the cloth with its rest shape, at rest in the target.

        Contacts of the default law are springs, which bear nothing in the target itself: it begins where they bear
        their forces, `equilibrium`. With contact="gauss_seidel" nothing gives way, and it begins in the target.
        """
        hard = self.reached and options.get("contact") == HARD
        if not hard and self.equilibrium.converged:
            return self.equilibrium.simulation(timestep=timestep, **options)
        found = replace(self._problem, rest=self.rest)
        return found.simulation(self.target.vertices.copy(), timestep=timestep, **options)

    def naive(self, *, timestep: float = 0.01, **options: Any) -> Simulation:
        """A simulation that begins in the target, of a cloth with the target as its rest shape: it sags."""
        return self._problem.simulation(self.target.vertices.copy(), timestep=timestep, **options)

    def report(self, path: str | os.PathLike[str], *, title: str = "Inverse design", seconds: float = 1.0) -> None:
        """Write a page (.html), one file that needs no other: the numbers, and views that can be turned of the target
        with the forces that carry it, of a naive cloth and this one simulated for some seconds, and of the rest shape.
        """
        from isocloth.inverse.report import save_report

        save_report(self, path, title=title, seconds=seconds)

    def __repr__(self) -> str:
        if self.reached:
            errors = f"J {self.target_error:.1e} m^2, G {self.friction_error:.1e} N^2"
            return f"<Inversion of {self.target!r}, reached, {errors}>"
        return f"<Inversion of {self.target!r}, reached at {self.load_reached:.3g} of the load>"


@overload
def invert(
    target: Mesh, fabric: Fabric | None = None, *, model: str | Model | None = None, obstacles: Any = (),
    held: Any = None, contacts: Any = None, self_collision: bool = False, margin: float | None = None,
    gravity: float | None = None, nearest: bool | None = None, method: str | TwoSteps = "force_first",
    checkpoint: str | os.PathLike[str] | None = None,
    progress: bool = True,
) -> Inversion: ...  # fmt: skip


@overload
def invert(
    target: Sequence[Pose], fabric: Fabric | None = None, *, model: str | Model | None = None,
    self_collision: bool = False, unknown: str | Sequence[str] = (), progress: bool = True,
) -> PosesInversion: ...  # fmt: skip


def invert(
    target: Mesh | Sequence[Pose],
    fabric: Fabric | None = None,
    *,
    model: str | Model | None = None,
    obstacles: Any = (),
    held: Any = None,
    contacts: Any = None,
    self_collision: bool = False,
    margin: float | None = None,
    gravity: float | None = None,
    unknown: str | Sequence[str] = (),
    nearest: bool | None = None,
    method: str | TwoSteps = "force_first",
    checkpoint: str | os.PathLike[str] | None = None,
    progress: bool = True,
) -> Inversion | PosesInversion:
    """The rest shape of a cloth that hangs, or lies, as its target does, in stable balance with contact and friction.

    Args:
        target: triangles; how it should hang. Or several poses of one garment, [ic.Pose(mesh, gravity, held=...), ...],
            of which one rest shape is sought that has all of them as equilibria.
        fabric: density, friction between layers and the thickness that contacts keep; a shell has its own stiffnesses.
        model: a shell, `ic.models.DiscreteShell(...)` by default.
        obstacles: on which it lies, with their friction; they stand still.
        held: nodes that hands hold where the target has them.
        contacts: nodes that touch, which are laid on the nearest obstacle from up to ten thicknesses, as those of a
            noisy scan must be; None: those at the distance from bodies that is kept, to a twentieth of the
            thickness. What else is nearer is refused.
        self_collision: whether layers touch each other.
        margin: part of the friction inside which forces are aimed; the rest of it is what a push may ask for. None:
            0.8, or the thesis' 0.975 with its method.
        gravity: m/s^2, along -z; None: 9.81.
        unknown: with poses only: names of stiffnesses of the model that are sought too, beginning with those it has.
            Shapes at rest tell them relative to the density alone, which is that of the fabric.
        nearest: whether the nearest shape that the cloth can take is sought where it cannot take the target; None:
            yes with "force_first", which alone can.
        method: "force_first": forces are chosen first, then the rest shape that asks for them. "thesis", to compare: J,
            then G, are brought down by BFGS, with less and less attraction to the target; thousands of iterations.
            `ic.inverse.TwoSteps(seconds=60)` is the same with an end.
        checkpoint: file in which the search is kept while it goes on. One that was interrupted goes on from there, and
            ends in the same bits; the file is removed at the end.
        progress: say what happens, on standard error if that is a terminal.

    With poses, obstacles, held nodes, contacts and gravity belong to each of them; `margin` is not used, as forces are
    what the poses say.

    Raises:
        ConvergenceError: nothing holds the cloth and it touches nothing.
    """
    check_flag(progress, "progress")
    effort = check_method(method, isinstance(target, list | tuple), nearest, checkpoint)
    if isinstance(target, list | tuple):
        for name, value in (("obstacles", obstacles), ("held", held), ("contacts", contacts), ("gravity", gravity)):
            if value is not None and not (isinstance(value, list | tuple) and len(value) == 0):
                raise InputError(f"{name} with several poses: expected it in each of them, ic.Pose(mesh, {name}=...)")
        with closing(Meter(progress)) as meter:
            return invert_poses(
                target, fabric, model=model, self_collision=self_collision, unknown=unknown, progress=meter.say
            )
    if not isinstance(unknown, list | tuple) or len(unknown):
        raise InputError(
            "unknown goes with several poses: one shape tells no stiffness; give a list, [ic.Pose(...), ...]"
        )
    if not isinstance(target, Mesh):
        raise InputTypeError(f"target is {type(target).__name__}: expected an isocloth.Mesh, Mesh.load('hat.obj') say")
    if target.element != "triangle":
        raise MeshError(f"target is {target!r}: expected triangles; give it `target.triangulated()`")
    chosen = as_shell(model)
    number = (MARGIN if effort is None else PART) if margin is None else as_float(margin)
    if number is None or not 0.0 < number <= USABLE:
        raise InputError(f"margin = {shown(margin)}: expected a part of the friction, more than 0 and at most {USABLE}")
    problem = as_problem(target, fabric, chosen, None, held, obstacles, self_collision,
                         GRAVITY if gravity is None else gravity)  # fmt: skip
    if problem.gravity * problem.fabrics[0].weight_density == 0.0:
        raise InputError(
            f"gravity = {problem.gravity:g}, gravity_density = {problem.fabrics[0].weight_density:g}: expected a "
            "weight; without one every target is its own rest shape"
        )
    if len(problem.fabrics) > 1:
        raise InputError("fabric: expected one for all pieces of the target")
    sim = started(problem, contacts)
    laid = target.with_vertices(lay_on(problem, sim, contacts))
    problem = replace(problem, mesh=laid)
    forces = RestForces(laid, chosen, problem.fabrics[0].weight_density, problem.gravity)
    least = LEAST * float(forces.weight(laid.vertices).mean())
    supports = find_supports(problem, sim, laid.vertices, contacts, least)
    check_supports(supports, laid)
    if effort is not None:
        carried = Carried(forces, supports)
        with closing(Meter(progress)) as meter:
            return Inversion(problem, carried, inverted(carried, number, effort, meter.say), number)
    search = ForceFirst(forces, supports, number)
    marks = marks_of(problem, contacts, number, "force_first") if checkpoint is not None else {}
    with kept_in(checkpoint, marks) as kept, closing(Meter(progress)) as meter:
        found = resumed(search, meter.say, kept)
        near = None if found.load == 1.0 or nearest is False else _nearest(problem, forces, found, meter.say)
    return Inversion(problem, search, of_force_first(found, forces.density), number, near)


def _nearest(problem: Problem, forces: RestForces, found: Found, tell: Progress) -> Nearest | None:
    """The nearest shape, from the rest shape of the load that was reached, and from the target itself."""
    target = problem.mesh.vertices
    return NearestSearch(problem, forces, target, tell).run([found.points, target] if found.load > 0.0 else [target])
