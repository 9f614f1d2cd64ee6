"""Inverse design from several poses of one garment: its rest shape, and ratios of its stiffnesses to its density."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from isocloth.base.errors import InputError
from isocloth.base.numeric import as_float, shown
from isocloth.base.typing import FloatArray, IntArray
from isocloth.contact.detector import ContactDetector
from isocloth.inverse.arguments import as_shell, as_stiffnesses
from isocloth.inverse.balance import outside
from isocloth.inverse.force_first import ForceFirst, Progress
from isocloth.inverse.joint import Fit, Search, View
from isocloth.inverse.pose import aligned, as_poses, downwards, turned_obstacle
from isocloth.inverse.rest_coordinates import RestCoordinates
from isocloth.inverse.rest_forces import RestForces
from isocloth.inverse.supports import HAND, TOUCHING, check_supports, find_supports, refuse_deep
from isocloth.meshes import Mesh
from isocloth.models import Shell
from isocloth.simulation import Simulation
from isocloth.statics import Equilibrium, equilibrium
from isocloth.statics.problem import Problem, as_problem

#: m: how far equilibria may be off the poses, root mean square of coordinates
WITHIN = 1e-6
#: weights m with which the rest shape is kept near its start, one after the other where poses do not fit each other
KEPT = (1e-6, 1e-4, 1e-2, 1.0)
#: factor of a stiffness: it is not determined if with so many times of it another rest shape has the same equilibria
OTHER = 3.0


class PosesInversion:
    """One rest shape for several poses, and its certificate. Made by `invert` from a list of `Pose`."""

    def __init__(
        self, problems: Sequence[Problem], turns: Sequence[FloatArray], search: Search, fit: Fit,
        undetermined: Sequence[str], iterations: int,
    ) -> None:  # fmt: skip
        self._problems, self._search, self._fit = tuple(problems), search, fit
        self.turns = tuple(turns)
        """Of every pose, the rotation (3, 3) after which its gravity is along -z, as it is in a simulation."""
        self.undetermined = tuple(undetermined)
        """Stiffnesses that were asked for and that these poses do not tell; they are left as they were given.

        With three times as much of any of them another rest shape, and other values of what else was asked for, has
        the same equilibria: it was found."""
        self.iterations = iterations
        """Linear systems solved."""

    # ------------------------------------------------------------------- what was sought

    @cached_property
    def rest(self) -> Mesh:
        """The rest shape, laid on the first pose."""
        first = self._problems[0].mesh
        return first.with_vertices(aligned(self._fit.points, first.vertices) @ self.turns[0])

    @cached_property
    def model(self) -> Shell:
        """The shell with the stiffnesses that were found, at the density of the fabric."""
        return self._search.model_at(self._fit.logs)

    @property
    def ratios(self) -> dict[str, float]:
        """Name -> stiffness over the density that weighs, of those the poses tell: shapes at rest tell no more."""
        return {name: float(getattr(self.model, name)) / self._search.density for name in self._search.names}

    # ------------------------------------------------------------------- the poses

    @cached_property
    def positions(self) -> tuple[FloatArray, ...]:
        """(n, 3) m of every pose: the equilibrium nearest to it, or where the cloth comes to rest from it."""
        found = self._fit.positions if all(self._balanced) else tuple(one.positions for one in self.equilibria)
        return tuple(x @ turn for x, turn in zip(found, self.turns, strict=True))

    @property
    def targets(self) -> tuple[FloatArray, ...]:
        """(n, 3) m of every pose, as it was given."""
        return tuple(p.mesh.vertices @ turn for p, turn in zip(self._problems, self.turns, strict=True))

    @cached_property
    def distances(self) -> tuple[float, ...]:
        """m: of every pose, how far the node is that is farthest from where it should be."""
        pairs = zip(self.positions, self.targets, strict=True)
        return tuple(float(np.linalg.norm(x - p, axis=1).max()) for x, p in pairs)

    @cached_property
    def forces(self) -> tuple[FloatArray, ...]:
        """(n, 3) N of every pose, with which hands and bodies push its nodes in the equilibrium."""
        return tuple(self._search.forces(self._fit, a) @ turn for a, turn in enumerate(self.turns))

    @property
    def contact_nodes(self) -> tuple[IntArray, ...]:
        """(k,) nodes of every pose that bodies, layers or hands push."""
        every = np.arange(3 * self._search.n)
        return tuple(np.unique(np.setdiff1d(every, free) // 3) for free in self._search.free)

    @property
    def contact_forces(self) -> tuple[FloatArray, ...]:
        """(k, 3) N with which they are pushed."""
        return tuple(force[nodes] for force, nodes in zip(self.forces, self.contact_nodes, strict=True))

    # ------------------------------------------------------------------- how good it is

    @cached_property
    def target_error(self) -> float:
        """J = sum over poses of |x - pose|^2 / 2, m^2."""
        return float(sum(0.5 * np.sum((x - p) ** 2) for x, p in zip(self.positions, self.targets, strict=True)))

    @cached_property
    def friction_error(self) -> float:
        """G, N^2: half the square of forces out of balance, and out of the cones of friction, in the equilibria."""
        total = 0.0
        for a, bodies in enumerate(self._search.bodies):
            left = self._search.unbalanced(self._fit, a)
            out = outside(bodies.cones, self._fit.pushes[a])
            total += 0.5 * float(left @ left + out @ out)
        return total

    @cached_property
    def imbalance(self) -> tuple[float, ...]:
        """N: of every pose as it was given, the largest force left on a free node by this rest shape."""
        start = self._fit._replace(positions=tuple(p.mesh.vertices for p in self._problems))
        out = []
        for a, free in enumerate(self._search.free):
            left = np.zeros(3 * self._search.n)
            left[free] = self._search.forces(start, a).ravel()[free]
            out.append(float(np.linalg.norm(left.reshape(-1, 3), axis=1).max()))
        return tuple(out)

    @cached_property
    def stable(self) -> tuple[bool, ...]:
        """Of every pose, whether it comes back after a small push, with what touches held: no pivot is negative."""
        return tuple(self._search.stable(self._fit, a) for a in range(len(self._problems)))

    @property
    def reached(self) -> bool:
        """Whether all poses are stable equilibria of the rest shape, with forces in the cones of friction."""
        return self._fits and all(self.stable)

    @property
    def _fits(self) -> bool:
        return all(self._balanced) and _off(self.targets, self.positions) <= WITHIN

    @cached_property
    def _balanced(self) -> tuple[bool, ...]:
        """Of every pose, whether its positions are an equilibrium."""
        return tuple(self._search.balanced(self._fit, a) for a in range(len(self._problems)))

    @property
    def problem(self) -> str:
        """Empty, or what is wrong and what would help."""
        said = []
        if not self._fits:
            far = ", ".join(f"{1e3 * d:.3g}" for d in self.distances)
            left = ", ".join(f"{f:.2g}" for f in self.imbalance)
            said.append(
                "no one rest shape was found that has all poses as equilibria: those of the best compromise are off by "
                f"{far} mm, and in the poses as given it leaves up to {left} N on free nodes; check faces, gravity, "
                "held nodes, bodies and stiffnesses; poses are taken as exact"
            )
        unstable = [str(a) for a, stands in enumerate(self.stable) if not stands]
        if unstable:
            said.append(f"pose {', '.join(unstable)} is not stable: the cloth is too soft for it")
        said.extend(
            f"{name} is not determined by these poses, and is left as it was given: with {OTHER:g} times of it another "
            "rest shape has the same equilibria; give further poses, under gravity from elsewhere"
            for name in self.undetermined
        )
        return "; ".join(said)

    # ------------------------------------------------------------------- what comes next

    @cached_property
    def equilibria(self) -> tuple[Equilibrium, ...]:
        """Where a cloth of this rest shape comes to rest from every pose, by `ic.equilibrium`; turned by `turns`."""
        out = []
        for p, x in zip(self._problems, self._fit.positions, strict=True):
            out.append(equilibrium(
                p.mesh, p.fabrics[0], model=self.model, rest=self._rest_points, obstacles=p.obstacles,
                held=p.nodes if len(p.nodes) else None, self_collision=p.self_collision, gravity=p.gravity, start=x,
            ))  # fmt: skip
        return tuple(out)

    @property
    def _rest_points(self) -> Mesh:
        return self._problems[0].mesh.with_vertices(self._fit.points)

    def simulation(self, pose: int = 0, *, timestep: float = 0.01, **options: Any) -> Simulation:
        """A simulation that begins at rest in a pose, turned by `turns[pose]`, as gravity is along -z."""
        number = as_float(pose)
        if isinstance(pose, bool) or number is None or number not in range(len(self._problems)):
            raise InputError(f"pose = {shown(pose)}: expected a number from 0 to {len(self._problems) - 1}")
        found = self.equilibria[int(number)]
        if found.converged:
            return found.simulation(timestep=timestep, **options)
        problem = replace(self._problems[int(number)], rest=self._rest_points, model=self.model)
        return problem.simulation(self._fit.positions[int(number)].copy(), timestep=timestep, **options)

    def __repr__(self) -> str:
        known = ", ".join(f"{name} {getattr(self.model, name):.4g}" for name in self._search.names)
        state = "reached" if self.reached else "not reached"
        text = f"<PosesInversion of {len(self._problems)} poses of {self._problems[0].mesh!r}, {state}"
        return f"{text}, J {self.target_error:.1e} m^2{', ' + known if known else ''}>"


def invert_poses(
    target: Sequence[Any], fabric: Any, *, model: Any, self_collision: bool, unknown: Any, progress: Progress
) -> PosesInversion:
    """The rest shape whose equilibria are several poses; see `invert`."""
    poses, shell = as_poses(target), as_shell(model)
    names = as_stiffnesses(unknown, shell)
    problems, views, turns = [], [], []
    for k, pose in enumerate(poses):
        which = f"target[{k}]"
        turn, gravity = downwards(pose, which)
        same = np.array_equal(turn, np.eye(3))
        mesh = pose.mesh if same else pose.mesh.with_vertices(pose.mesh.vertices @ turn.T)
        bodies = pose.obstacles
        if isinstance(bodies, list | tuple):
            bodies = [turned_obstacle(body, turn) for body in bodies]
        problem = as_problem(mesh, fabric, shell, None, pose.held, bodies, self_collision, gravity)
        if len(problem.fabrics) > 1:
            raise InputError("fabric: expected one for all pieces of the garment")
        if problem.fabrics[0].weight_density == 0.0:
            raise InputError("gravity_density = 0: expected a weight; without one a shape says nothing of stiffness")
        sim = problem.simulation(mesh.vertices.copy())
        if sim.world is not None:
            found = ContactDetector(sim.world, mesh.vertices, sim.hands.held, 0.0, 0.0).find(mesh.vertices)
            refuse_deep(problem, found, TOUCHING * problem.fabrics[0].thickness)
        supports = find_supports(problem, sim, mesh.vertices, pose.contacts, 0.0, TOUCHING)
        check_supports(supports, mesh, which)
        problems.append(problem)
        turns.append(turn)
        views.append(View(mesh, gravity, supports))

    return _Poses(problems, turns, views, shell, progress).invert(names)


class _Poses:
    """Poses that were checked, and searches in them."""

    def __init__(
        self, problems: list[Problem], turns: list[FloatArray], views: list[View], model: Shell, tell: Progress
    ) -> None:
        self.problems, self.turns, self.views, self.model, self.tell = problems, turns, views, model, tell
        first = views[0].mesh.vertices
        self.start = np.mean([aligned(view.mesh.vertices, first) for view in views], axis=0)
        self.iterations = 0

    def invert(self, names: tuple[str, ...]) -> PosesInversion:
        """With what is not determined left as it is."""
        search, fit, fits = self.compromise(names)
        model = search.model_at(fit.logs)
        silent = [name for name in names if fits and self.alike(model, name, names, fit)]
        if silent:
            search, fit, _ = self.compromise(tuple(name for name in names if name not in silent))
        return PosesInversion(self.problems, self.turns, search, fit, silent, self.iterations)

    def alike(self, model: Shell, name: str, names: tuple[str, ...], fit: Fit) -> bool:
        """Whether with OTHER times a stiffness the poses are equilibria too, of another rest shape: it is sought at
        once, and where that fails in four steps."""
        others = tuple(one for one in names if one != name)
        for steps in (1, 4):
            own, points, fits = model, fit.points, True
            for _ in range(steps):
                own = replace(own, **{name: OTHER ** (1.0 / steps) * getattr(own, name)})
                self.tell(f"whether {name} of {getattr(own, name):.4g} does as well")
                search, found, fits = self.fitted(own, others, points, 0.0)
                if not fits:
                    break
                own, points = search.model_at(found.logs), found.points
            if fits:
                return True
        return False

    def compromise(self, names: tuple[str, ...]) -> tuple[Search, Fit, bool]:
        """What all poses are equilibria of; where there is no such thing, what comes near, not far from the start."""
        found = self.fitted(self.model, names, self.start, 0.0)
        for kept in () if found[2] else KEPT:
            self.tell(f"poses do not fit each other: the rest shape is kept near its start, {kept:g}")
            search, fit, ended = self.fitted(self.model, names, self.start, kept)
            if ended and all(search.stable(fit, a) for a in range(len(self.views))):
                return search, fit, False
        return found

    def fitted(self, model: Shell, names: tuple[str, ...], points: FloatArray, kept: float) -> tuple[Search, Fit, bool]:
        """The search with these unknowns from a rest shape (n, 3), and whether it came to an end: with nothing kept, at
        equilibria that are the poses."""
        rest = RestCoordinates.of_shape(self.views[0].mesh, self.start)
        search = Search(self.views, model, self.problems[0].fabrics[0].weight_density, names, rest, kept)
        fit, ended = search.run(search.begin(self.admissible(model, points)), self.tell)
        self.iterations += search.iterations
        if kept == 0.0:
            near = _off([view.mesh.vertices for view in self.views], fit.positions) <= WITHIN
            ended = ended and near and all(search.balanced(fit, a) for a in range(len(self.views)))
        return search, fit, ended

    def admissible(self, model: Shell, points: FloatArray) -> FloatArray:
        """A rest shape (n, 3) to begin with: of one pose on bodies, where there are many with forces out of the cones
        and steps towards these are poor, one that was found force first."""
        view = self.views[0]
        if len(self.views) > 1 or np.all(view.supports.body == HAND):
            return points
        density = self.problems[0].fabrics[0].weight_density
        search = ForceFirst(RestForces(view.mesh, model, density, view.gravity), view.supports, 0.8)
        found = search.run(self.tell, search.start())
        self.iterations += found.iterations
        return found.points if found.load == 1.0 else points


def _off(targets: Sequence[FloatArray], positions: Sequence[FloatArray]) -> float:
    """m: root mean square of the coordinates, of positions off the poses."""
    return float(np.sqrt(np.mean([(x - p) ** 2 for x, p in zip(positions, targets, strict=True)])))
