"""Strips of the protocols: graded meshes with a clamp, materials of a given rigidity, and how they come to rest.

A protocol asks for the equilibrium of a `Problem` and does not care who finds it: any function from a `Problem` to a
`Settled` will do. By default statics does (`follow.py`). `settle` finds it by the simulation's own steps, each from
rest, so that a step of length h minimises

    energy + sum over nodes of m |y - x|^2 / (2 h^2),

the strongest damping there is, and h grows as long as the steps converge.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import NamedTuple

import numpy as np

from isocloth.base.errors import InputError, MeshError
from isocloth.base.typing import FloatArray, IntArray
from isocloth.fabric import Fabric
from isocloth.meshes import Mesh, rectangle
from isocloth.models import BY_NAME, Model, as_model
from isocloth.simulation import ConvergenceWarning, Simulation
from isocloth.solvers import NewtonOptions

#: equilibrium is a matter of forces, so they are solved further than motion needs
_OPTIONS = NewtonOptions(strain_gap=1e-5, force=0.0, force_floor=1e-4, max_iterations=60)
#: growth of h after a step that converged at once, and what is left of it after one that did not
_GROWTH, _CUT = 2.0, 0.25
#: s, the longest step that a simulation takes
_LONGEST = 0.1
#: what a strip is made of: quads, triangles cut crosswise, triangles all cut alike
ELEMENTS = ("quad", "triangle", "alike")


class Settled(NamedTuple):
    """An equilibrium, and how good it is."""

    positions: FloatArray  # (n, 3) m
    converged: bool
    residual: float  # largest unbalanced acceleration of a node, relative to that of the load
    steps: int = 0
    stable: bool = True  # whether it is known not to be unstable; who moves to rest does not ask


@dataclass(frozen=True, kw_only=True)
class Problem:
    """A cloth whose equilibrium is asked for.

    mesh: where it is now; the nodes `held` stay there.
    rest: its rest shape.
    load: m/s^2, the acceleration by which residuals are measured; None = gravity.
    """

    mesh: Mesh
    rest: Mesh
    model: Model
    fabric: Fabric
    held: IntArray
    gravity: float = 9.81
    load: float | None = None


Solver = Callable[[Problem], Settled]


class Strip(NamedTuple):
    """A flat strip along x, its first column of elements in the clamp."""

    mesh: Mesh
    held: IntArray  # nodes in the clamp
    clamp: float  # m, x of where it ends: the slope is held over an element, so half an element before its end
    tip: IntArray  # nodes of the far end
    free: float  # m, length from there on


def make_strip(length: float, width: float, elements: int, across: int, *, finest: float = 1.0, element: str) -> Strip:
    """A strip whose free length is `length`; its elements grow from the clamp on by so much that the first has `finest`
    times the length of those of an even strip.

    element: one of `ELEMENTS`. Averaged normals of a Koiter shell are right on triangles all cut alike only.
    """
    if not (length > 0 and width > 0 and elements >= 4 and across >= 1 and 0 < finest <= 1):
        raise InputError(
            f"a strip of {length!r} x {width!r} m, {elements!r} x {across!r} elements, the finest {finest!r}: expected "
            "positive lengths, at least 4 x 1 elements, and a part of an even element"
        )
    share = _graded(elements, finest)
    first = share[0]
    columns = np.concatenate([[-0.5 * first], 0.5 * first + np.cumsum(np.concatenate([[0.0], share[1:]]))])
    columns *= length / columns[-1]
    kind = "triangle" if element == "triangle" else "quad"
    flat = rectangle(1.0, width, shape=(len(columns), across + 1), element=kind)  # type: ignore[arg-type]
    at = np.rint(flat.vertices[:, 0] * (len(columns) - 1)).astype(int)
    vertices = flat.vertices.copy()
    vertices[:, 0] = columns[at]
    vertices[:, 1] -= 0.5 * width
    mesh = flat.with_vertices(vertices)
    if element == "alike":
        cut = flat.faces[:, [0, 1, 2, 0, 2, 3]].reshape(-1, 3)
        mesh = Mesh(vertices, cut, name="strip")
    return Strip(mesh, np.flatnonzero(at <= 1), 0.0, np.flatnonzero(at == len(columns) - 1), length)


def length_of(model: str | Model) -> float:
    """m, of the strip of a protocol: short, so that steps are long beside its own time; longer if they cannot be."""
    return 0.1 if kind_of(model).stepper == "newton" else 0.5


def kind_of(model: str | Model) -> type[Model]:
    """The class of a model, or of its name."""
    kind = type(model) if isinstance(model, Model) else BY_NAME.get(model) if isinstance(model, str) else None
    if kind is None:
        raise InputError(f"model {model!r} is unknown; choose one of {', '.join(BY_NAME)}")
    return kind


def _graded(elements: int, finest: float) -> FloatArray:
    """Lengths (elements,) of elements that grow evenly, of sum 1, the first `finest` / elements."""
    low, high = 0.0, 50.0 / elements
    for _ in range(80):
        rate = 0.5 * (low + high)
        share = np.exp(rate * np.arange(elements))
        low, high = (rate, high) if share[0] / share.sum() > finest / elements else (low, rate)
    return share / share.sum()


def material(
    model: str | Model, *, rigidity: float, thickness: float, poisson: float, fabric: Fabric, rest: Mesh | None = None
) -> tuple[Model, Fabric, float]:
    """A model with the bending rigidity D (N m), its fabric, and its Poisson's ratio in bending.

    By what a model offers, not by its name. One with a Young's modulus, a Poisson's ratio and a thickness gets the
    modulus E = 12 (1 - nu^2) D / h^3. One with stiffnesses of warp and weft gets E h of Poisson's ratio 0 for both. One
    with `from_rigidity` is made by that, its membrane with E h on the mesh `rest`, if that is given. To all others
    rigidity comes from the fabric, whose bending has Poisson's ratio 0.
    """
    kind = kind_of(model)
    names = {field.name for field in fields(kind)}
    given = {n: getattr(model, n) for n in names} if isinstance(model, Model) else {}
    bare = replace(fabric, bending=0.0)
    membrane = 12.0 * rigidity / thickness**2  # E h, N/m
    if {"young", "poisson", "thickness"} <= names:
        young = (1.0 - poisson**2) * membrane / thickness
        return kind(**{**given, "young": young, "poisson": poisson, "thickness": thickness}), bare, poisson
    if {"warp", "weft", "bending_weft", "twist"} <= names:
        stiff = {"warp": membrane, "weft": membrane, "shear": 0.5 * membrane, "poisson": 0.0}
        return kind(**{**given, **stiff, "bending": rigidity, "bending_weft": None, "twist": None}), bare, 0.0
    make = getattr(kind, "from_rigidity", None)
    if make is not None:
        if rest is None:
            return make(rigidity), bare, 0.0
        # springs k_l along edges of the length l are a membrane of 2 k_l / (sqrt(3) l)
        springs = 0.5 * np.sqrt(3.0) * float(rest.edge_lengths.mean()) * membrane
        return make(rigidity, stretch=springs), bare, 0.0
    return as_model(model), replace(fabric, bending=rigidity), 0.0


def element_of(model: str | Model, element: str | None, rigidity: float = 1e-3) -> str:
    """The element that was asked for; else triangles cut alike for shells, quads for others, or triangles."""
    if element is not None:
        if element not in ELEMENTS:
            raise InputError(f"element = {element!r}: expected one of {', '.join(map(repr, ELEMENTS))}")
        return element
    if kind_of(model).shell:
        return "alike"
    mesh = rectangle(0.2, 0.1, shape=(3, 2), element="quad")
    chosen, fabric, _ = material(model, rigidity=rigidity, thickness=1e-3, poisson=0.3, fabric=Fabric())
    try:
        Simulation(mesh, fabric, model=chosen)
    except MeshError:
        return "triangle"
    return "quad"


def settle(problem: Problem, *, tolerance: float = 1e-5, most: int = 400) -> Settled:
    """The equilibrium by steps from rest; converged where no node is out of balance by more than `tolerance` of the
    load. A model with a stepper of its own is damped and simulated in its own steps instead."""
    load = problem.load if problem.load is not None else problem.gravity
    if problem.model.stepper != "newton":
        return _damped(problem, load, tolerance, most)
    h = problem.model.timestep
    sim = Simulation(
        problem.mesh, problem.fabric, rest=problem.rest, model=problem.model, gravity=problem.gravity, timestep=h,
        integrator="euler", solver="newton", solver_options=_OPTIONS,
    )  # fmt: skip
    sim.grasp(problem.held)
    still = np.zeros_like(sim.positions)
    residual = np.inf
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for step in range(most):
            before, state = sim.positions.copy(), sim.state.copy()
            sim.velocities = still
            report = sim.step()
            if not report.converged or report.substeps > 1:
                if h < 1e-3 * problem.model.timestep:
                    return Settled(before, False, residual, step)
                sim.state = state
                h *= _CUT
                sim.timestep = h
                continue
            residual = float(np.linalg.norm(sim.positions - before, axis=1).max()) / (h**2 * load)
            if residual < tolerance:
                return Settled(sim.positions.copy(), True, residual, step + 1)
            h = min(h * _GROWTH, _LONGEST)
            sim.timestep = h
    return Settled(sim.positions.copy(), False, residual, most)


def _damped(problem: Problem, load: float, tolerance: float, most: int) -> Settled:
    """Damped motion until its acceleration is small; `most` is in units of five steps."""
    length = float(np.ptp(problem.rest.vertices, axis=0).max())
    rate = 2.0 * np.sqrt(load / length)
    fabric = replace(problem.fabric, damping=rate * problem.fabric.density)
    h = problem.model.timestep
    sim = Simulation(problem.mesh, fabric, rest=problem.rest, model=problem.model, gravity=problem.gravity, timestep=h)
    sim.grasp(problem.held)
    residual = np.inf
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for step in range(5 * most):
            sim.step()
            residual = float(np.linalg.norm(sim.velocities, axis=1).max()) * rate / load
            if step > 20 and residual < 100.0 * tolerance:
                return Settled(sim.positions.copy(), True, residual, step + 1)
    return Settled(sim.positions.copy(), False, residual, 5 * most)
