"""Inverse design from several poses of one garment: its rest shape, and ratios of its stiffnesses to its density."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from isocloth.base.errors import InputError
from isocloth.base.numeric import as_float, shown
from isocloth.base.typing import BoolArray, FloatArray, IntArray
from isocloth.contact.detector import ContactDetector
from isocloth.inverse.arguments import as_shell, as_stiffnesses
from isocloth.inverse.balance import outside
from isocloth.inverse.joint import Fit, Search, View
from isocloth.inverse.pose import aligned, as_poses, downwards, turned_obstacle
from isocloth.inverse.supports import TOUCHING, check_supports, find_supports, refuse_deep
from isocloth.meshes import Mesh
from isocloth.models import Shell
from isocloth.simulation import Simulation
from isocloth.statics import Equilibrium, equilibrium
from isocloth.statics.problem import Problem, as_problem

#: m, of every coordinate: how exact poses are that are said to be exact
EXACT = 1e-6
#: noise over the one that is given up to which equilibria may be off the poses, root mean square of coordinates
WITHIN = 1.5
#: of the weight: forces on free nodes, and out of cones, of equilibria from poses that are exact, and from others
BALANCED, BALANCED_NOISY = 1e-9, 1e-5
#: of the size of the cloth: noise that is supposed one after the other where poses do not fit each other
SUPPOSED = (1e-4, 1e-3, 1e-2)
#: factor of a stiffness that is not determined, to show that another one does as well
OTHER = 2.0


class PosesInversion:
    """One rest shape for several poses, and its certificate. Made by `invert` from a list of `Pose`."""

    def __init__(
        self, problems: Sequence[Problem], turns: Sequence[FloatArray], search: Search, fit: Fit, noise: float,
        errors: dict[str, float], alike: dict[str, bool], iterations: int,
    ) -> None:  # fmt: skip
        self._problems, self._search, self._fit = tuple(problems), search, fit
        self._noise, self._alike = noise, alike
        self.turns = tuple(turns)
        """Of every pose, the rotation (3, 3) after which its gravity is along -z, as it is in a simulation."""
        self.ratio_errors = errors
        """Name -> relative standard error of a stiffness, from the noise of the poses; infinite: not determined."""
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
        """Name -> stiffness over the density that weighs, of those asked for: all that shapes at rest tell."""
        density = self._search.density
        return {name: float(getattr(self.model, name)) / density for name in self.ratio_errors}

    @property
    def undetermined(self) -> tuple[str, ...]:
        """Stiffnesses that were asked for and that these poses do not tell; they are those of the model."""
        return tuple(name for name, error in self.ratio_errors.items() if not np.isfinite(error))

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
        """Whether all poses are, within their noise, stable equilibria of the rest shape, with forces in the cones."""
        return all(self._balanced) and all(self.stable) and self._misfit <= WITHIN * self._noise

    @cached_property
    def _balanced(self) -> BoolArray:
        """Of every pose, whether its positions are an equilibrium."""
        search, out = self._search, []
        part = BALANCED if search.noise == 0.0 else BALANCED_NOISY
        for a, bodies in enumerate(search.bodies):
            left = float(np.abs(search.unbalanced(self._fit, a)).max())
            slip = float(outside(bodies.cones, self._fit.pushes[a]).max(initial=0.0))
            out.append(max(left, slip) <= part * search.total)
        return np.array(out, dtype=np.bool_)

    @cached_property
    def _misfit(self) -> float:
        """m: root mean square of the coordinates, of equilibria off their poses."""
        return float(np.sqrt(np.mean([(x - p) ** 2 for x, p in zip(self.positions, self.targets, strict=True)])))

    @property
    def problem(self) -> str:
        """Empty, or what is wrong and what would help."""
        said = []
        if not self.reached:
            far = ", ".join(f"{1e3 * d:.3g}" for d in self.distances)
            off = ", ".join(f"{f:.2g}" for f in self.imbalance)
            if not all(self._balanced) or self._misfit > WITHIN * self._noise:
                said.append(
                    "no one rest shape was found that has all poses as equilibria: of the best one they are off by "
                    f"{far} mm, and in the poses as given up to {off} N are left on free nodes; check faces, gravity, "
                    "held nodes and stiffnesses, or give the noise of the poses, in m"
                )
            unstable = [str(a) for a, stands in enumerate(self.stable) if not stands]
            if unstable:
                said.append(f"pose {', '.join(unstable)} is not stable: the cloth is too soft for it")
        for name in self.undetermined:
            text = f"{name} is not determined by these poses, and is left as it was given"
            if self._alike.get(name, False):
                text += f": with {OTHER:g} times of it another rest shape has the same equilibria"
            said.append(text + "; give further poses, under gravity from elsewhere")
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
        known = ", ".join(f"{name} {getattr(self.model, name):.4g}" for name in self.ratio_errors)
        state = "reached" if self.reached else "not reached"
        text = f"<PosesInversion of {len(self._problems)} poses of {self._problems[0].mesh!r}, {state}"
        return f"{text}, J {self.target_error:.1e} m^2{', ' + known if known else ''}>"


def invert_poses(
    target: Sequence[Any], fabric: Any, *, model: Any, self_collision: bool, unknown: Any, noise: Any, progress: bool
) -> PosesInversion:
    """The rest shape whose equilibria are several poses; see `invert`."""
    poses, shell = as_poses(target), as_shell(model)
    names = as_stiffnesses(unknown, shell)
    number = 0.0 if noise is None else as_float(noise)
    if number is None or not 0.0 <= number < np.inf:
        raise InputError(f"noise = {shown(noise)}: expected m, of every coordinate of the poses, or None if exact")
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

    def tell(line: str) -> None:
        if progress:
            print(f"  ... {line}", file=sys.stderr, flush=True)

    return _Poses(problems, turns, views, shell, tell).invert(names, float(number))


class _Poses:
    """Poses that were checked, and searches in them."""

    def __init__(
        self, problems: list[Problem], turns: list[FloatArray], views: list[View], model: Shell, tell: Any
    ) -> None:
        self.problems, self.turns, self.views, self.model, self.tell = problems, turns, views, model, tell
        first = views[0].mesh.vertices
        self.start = np.mean([aligned(view.mesh.vertices, first) for view in views], axis=0)
        self.iterations = 0

    def invert(self, names: tuple[str, ...], noise: float) -> PosesInversion:
        """With what is not determined left as it is, one after the other."""
        errors: dict[str, float] = {}
        alike: dict[str, bool] = {}
        sought = list(names)
        while True:
            search, fit, ended = self.fitted(tuple(sought), noise)
            found = dict(zip(sought, search.uncertainty(fit, max(noise, EXACT)).tolist(), strict=True))
            silent = [name for name in sought if not np.isfinite(found[name])]
            if not silent or not ended:
                break
            sought.remove(silent[-1])
            errors[silent[-1]] = np.inf
        for name in errors:
            other = replace(search.model_at(fit.logs), **{name: OTHER * getattr(self.model, name)})
            alike[name] = self.fits(other, fit, noise)
        every = {name: errors.get(name, found.get(name, np.inf)) for name in names}
        return PosesInversion(self.problems, self.turns, search, fit, max(noise, EXACT), every, alike, self.iterations)

    def fitted(self, names: tuple[str, ...], noise: float) -> tuple[Search, Fit, bool]:
        """With the noise that is given; where poses do not fit each other, with more."""
        size = float(np.ptp(self.start, axis=0).max())
        best = None
        for level in (noise, *[part * size for part in SUPPOSED if part * size > noise]):
            if level != noise:
                self.tell(f"poses do not fit each other: noise of {level:.1e} m supposed")
            search = Search(self.views, self.model, self._density, names, self.start, level)
            fit, ended = search.run(search.begin(self.start), self.tell)
            self.iterations += search.iterations
            if best is None or ended:
                best = search, fit, ended
            if ended:
                break
        assert best is not None
        return best

    def fits(self, model: Shell, fit: Fit, noise: float) -> bool:
        """Whether another model has a rest shape with the same equilibria."""
        search = Search(self.views, model, self._density, (), self.start, noise)
        found, ended = search.run(search.begin(fit.points), self.tell)
        self.iterations += search.iterations
        off = [x - view.mesh.vertices for x, view in zip(found.positions, self.views, strict=True)]
        return ended and float(np.sqrt(np.mean(np.square(off)))) <= WITHIN * max(noise, EXACT)

    @property
    def _density(self) -> float:
        return self.problems[0].fabrics[0].weight_density
