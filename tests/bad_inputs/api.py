"""Bad arguments of what Python programs call: cloth, fabric, obstacles, hands, runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import cache
from typing import Any

import numpy as np

import isocloth as ic

from .clear import Case, each
from .values import (
    FLAGS,
    FUNCTIONS,
    NAMES,
    NAN,
    NOT_FINITE,
    NOT_NEGATIVE,
    NOT_NUMBERS,
    OR_NONE,
    POINTS,
    POSITIVE,
    ROTATIONS,
)

SHEET = ic.meshes.rectangle(0.3, 0.4, (4, 5))


def sim(**options: Any) -> ic.Simulation:
    """A small simulation that nothing is wrong with."""
    return ic.Simulation(SHEET, **options)


@cache
def still() -> ic.Simulation:
    """One that no case changes."""
    return sim(obstacles=[ic.Sphere([0, 0, -1], 0.1)])


def option(name: str) -> Callable[[Any], object]:
    """Of a simulation."""
    return lambda value: sim(**{name: value})


def fabrics() -> list[Case]:
    """Physical parameters."""
    found = []
    for name in ("density", "gravity_density", "bending", "damping", "bending_damping", "shear", "thickness",
                 "friction", "membrane"):  # fmt: skip
        values = OR_NONE if name in ("gravity_density", "shear", "membrane") else NOT_NEGATIVE
        found += each("Fabric", name, lambda v, name=name: ic.Fabric(**{name: v}), values)  # type: ignore[misc]
    return [*found, *each("fabrics[]", "fabric", lambda v: ic.fabrics[v], ["steel", 3, None])]


def simulations() -> list[Case]:
    """Arguments of `Simulation`."""
    big = SHEET.with_vertices(1000 * SHEET.vertices)
    return [
        *each("Simulation", "timestep", option("timestep"), [*POSITIVE, True, 1.0, 10, 1e-9]),
        *each("Simulation", "gravity", option("gravity"), [*NOT_NEGATIVE, [0, 0, -9.81]]),
        *each("Simulation", "mesh", ic.Simulation, [None, "a.obj", 3, SHEET.vertices]),
        *each("Simulation", "fabric", option("fabric"), ["denim", 0.2, {"density": 1}]),
        *each("Simulation", "model", option("model"), [*NAMES, None, ic.models.Elastic]),
        *each("Simulation", "integrator", option("integrator"), [*NAMES, None]),
        *each("Simulation", "solver", option("solver"), NAMES),
        *each("Simulation", "contact", option("contact"), [*NAMES, None]),
        *each("Simulation", "contact_solver", option("contact_solver"), NAMES, also=("contact solver",)),
        *each("Simulation", "discretisation", option("discretisation"), NAMES),
        *each("Simulation", "bending_model", option("bending_model"), NAMES, also=("bending",)),
        *each("Simulation", "obstacles", option("obstacles"), [None, 3, ic.Floor(), "floor", {}]),
        *each("Simulation", "obstacle", option("obstacles"), [[3], ["floor"], [None], [SHEET], [{}]]),
        *each("Simulation", "self_collision", option("self_collision"), FLAGS),
        *each("Simulation", "resolve_start", option("resolve_start"), FLAGS),
        *each("Simulation", "extra_force", option("extra_force"), FUNCTIONS),
        *each("Simulation", "solver_options", option("solver_options"), [3, "fast", {}], also=("NewtonOptions",)),
        *each("Simulation", "contact_options", option("contact_options"), [3, "fast", {}], also=("ContactOptions",)),
        *each("Simulation", "units", option("units"), ["mm", 3, "M", ""]),
        *each("Simulation", "rest", option("rest"), ["x", 3, np.zeros((2, 3)), np.full((20, 3), NAN), [[1, 2]]],
              also=("vertices", "vertex")),
        Case("Simulation of a mesh in mm", lambda _: ic.Simulation(big), (("300", "400"), ("20 m",), ("units",))),
        Case("Simulation, rest ten times too small", lambda _: sim(rest=0.1 * SHEET.vertices), (("10",), ("rest",))),
        Case("Simulation, rest ten times too large", lambda _: sim(rest=10 * SHEET.vertices), (("0.1",), ("rest",))),
        Case("Simulation, rest of one point", lambda _: sim(rest=np.zeros((20, 3))), (("vert", "node"),)),
        Case("Simulation, rest of other faces", lambda _: sim(rest=ic.meshes.rectangle(1, 1, (3, 3))), (("faces",),)),
        Case("Simulation, hinges of quads", lambda _: sim(bending_model="hinge", fabric=ic.Fabric(bending=1e-4)),
             (("triangle",),)),
        Case("Simulation, particles of quads", lambda _: sim(model="nonconforming"), (("triangle",),)),
        Case("Simulation, thick layers", lambda _: sim(self_collision=True, fabric=ic.Fabric(thickness=0.5)),
             (("0.5",),)),
        Case("Simulation, an obstacle twice", lambda _: sim(obstacles=[ball := ic.Sphere([0, 0, 9], 1), ball]),
             (("Sphere", "sphere"),)),
    ]  # fmt: skip


def models() -> list[Case]:
    """Parameters of models and options of solvers."""
    found = []
    for model in ("Isometric", "QuasiInextensible", "Elastic", "MassSpring", "Nonconforming"):
        kind = getattr(ic.models, model)
        for field in fields(kind):
            name, default = field.name, field.default
            values = NAMES if isinstance(default, str) else NOT_NEGATIVE if default is not None else OR_NONE
            found += each(model, name, lambda v, kind=kind, name=name: kind(**{name: v}), values)  # type: ignore[misc]
    for kind in (ic.NewtonOptions, ic.ProjectionOptions, ic.ContactOptions):
        for name in (field.name for field in fields(kind) if isinstance(field.default, int | float | tuple)):
            values = ["x", None, NAN, -1.0]
            found += each(kind.__name__, name, lambda v, kind=kind, name=name: kind(**{name: v}), values)  # type: ignore[misc]
    capped = each("ContactOptions", "max_work", lambda v: ic.ContactOptions(max_work=v), ["x", NAN, -1.0, 0, []])
    return [*found, *capped]


def bodies() -> list[Case]:
    """Arguments of obstacles."""
    square = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    return [
        *each("Sphere", "centre", lambda v: ic.Sphere(v, 0.1), POINTS),
        *each("Sphere", "radius", lambda v: ic.Sphere([0, 0, 0], v), POSITIVE),
        *each("Sphere", "friction", lambda v: ic.Sphere([0, 0, 0], 1, friction=v), NOT_NEGATIVE),
        *each("Sphere", "velocity", lambda v: ic.Sphere([0, 0, 0], 1, velocity=v), POINTS[1:]),
        *each("Sphere", "spin", lambda v: ic.Sphere([0, 0, 0], 1, spin=v), POINTS[1:]),
        *each("Sphere", "path", lambda v: ic.Sphere([0, 0, 0], 1, path=v), [3, "x", ([0.0], [[0, 0, 0]])][:2]),
        *each("Box", "size", lambda v: ic.Box([0, 0, 0], v), [*POINTS, [1, 1, 0], [1, -1, 1]]),
        *each("Box", "rotation", lambda v: ic.Box([0, 0, 0], [1, 1, 1], rotation=v), ROTATIONS),
        *each("Plane", "normal", lambda v: ic.Plane([0, 0, 0], v), [*POINTS, [0, 0, 0]]),
        *each("Plane", "point", lambda v: ic.Plane(v, [0, 0, 1]), POINTS),
        *each("Floor", "height", lambda v: ic.Floor(v), [*NOT_NUMBERS, *NOT_FINITE]),
        *each("Cylinder", "radius", lambda v: ic.Cylinder([0, 0, 0], [1, 0, 0], v), POSITIVE),
        *each("Capsule", "a", lambda v: ic.Capsule(v, [1, 0, 0], 0.1), POINTS),
        *each("Capsule", "b", lambda v: ic.Capsule([1, 0, 0], v, 0.1), [*POINTS, [1, 0, 0]]),
        *each("Stick", "radius", lambda v: ic.Stick([0, 0, 0], [1, 0, 0], v), POSITIVE),
        *each("Points", "points", lambda v: ic.Points(v), [None, "x", 3, [], [0, 0, 0], [[0, 0, NAN]]]),
        *each("TriangleMesh", "vertices", lambda v: ic.TriangleMesh(v, [[0, 1, 2]]), [None, "x", 3, [[0, 0, NAN]] * 3],
              also=("mesh",)),
        *each("TriangleMesh", "faces", lambda v: ic.TriangleMesh(square, v), [None, "x", 3, [[0, 1, 7]], [[0, 1]]],
              also=("face",)),
        *each("Implicit", "distance", lambda v: ic.Implicit(v, lambda x: x), FUNCTIONS, also=("h is",)),
    ]  # fmt: skip


def hands() -> list[Case]:
    """Grasps, grippers, obstacles at run time, states."""

    def pinch(**changes: Any) -> object:
        good = {"centre": [0, 0, 0], "size": [0.1, 0.1, 0.1], "normal": [0, 0, 1], "force": 5.0, "friction": 0.5}
        return sim().pinch(**(good | changes))

    def assign(name: str) -> Callable[[Any], object]:
        return lambda value: setattr(sim(), name, value)

    nodal = [None, "x", 3, np.zeros((3, 3)), np.full((20, 3), NAN), np.zeros((20, 2))]
    paths = [3, "circle", np.zeros((10, 3, 3)), (0, 1, 2), ("a", "b")]
    return [
        *each("grasp", "node", lambda v: sim().grasp(v), [None, "x", [99], [-1], [0.5], [], [2, 2], NAN, [[0, 1]],
                                                         [True, False], {}]),
        *each("grasp", "path", lambda v: sim().grasp([0, 5], v), paths),
        *each("grasp", "max_force", lambda v: sim().grasp([0], max_force=v), [v for v in POSITIVE if v is not None]),
        *each("grasp", "max_force", lambda v: sim().grasp([0], max_force=v), [True, np.ones(1), np.inf * np.ones(2)]),
        Case("grasp, a path of other lengths", lambda _: sim().grasp([0, 5], (np.arange(3.0), np.zeros((4, 2, 3)))),
             (("path",), ("(4, 2, 3)",))),
        Case("grasp, a path of one time", lambda _: sim().grasp([0, 5], (0, 1)), (("path",), ("()",))),
        *each("move_to", "move_to", lambda v: sim().grasp([0]).move_to(v), [v for v in POINTS if v != [[0, 0, 0]]]),
        *each("pinch", "centre", lambda v: pinch(centre=v), POINTS),
        *each("pinch", "size", lambda v: pinch(size=v), [*POINTS, [0, 1, 1]]),
        *each("pinch", "normal", lambda v: pinch(normal=v), [*POINTS, [0, 0, 0]]),
        *each("pinch", "force", lambda v: pinch(force=v), POSITIVE),
        *each("pinch", "friction", lambda v: pinch(friction=v), NOT_NEGATIVE),
        *each("pinch", "rotation", lambda v: pinch(rotation=v), ROTATIONS),
        Case("pinch of no cloth", lambda _: pinch(centre=[5, 5, 5]), (("node", "cloth"),)),
        *each("positions=", "positions", assign("positions"), nodal),
        *each("velocities=", "velocities", assign("velocities"), nodal),
        *each("state=", "state", assign("state"), [None, 3, {}, "x"]),
        *each("timestep=", "timestep", assign("timestep"), POSITIVE),
        Case("state of another mesh", lambda _: setattr(sim(), "state", ic.Simulation(
            ic.meshes.rectangle(1, 1, (3, 3))).state), (("(9, 3)", "shape", "mesh"),)),
        *each("add", "obstacle", lambda v: sim().add(v), [None, 3, "floor", SHEET]),
        *each("remove", "obstacle", lambda v: still().remove(v), [None, 3, ic.Floor()], also=("Floor",)),
        *each("move_to", "position", lambda v: still().move_to(still().obstacles[0], v), POINTS),
        *each("move_to", "rotation", lambda v: still().move_to(still().obstacles[0], [0, 0, 0], v), ROTATIONS),
        Case("record_contact of a free cloth", lambda _: sim().record_contact(print), (("contact",),)),
        *each("record_contact", "receive", lambda v: still().record_contact(v), FUNCTIONS),
        *each("AirDrag", "mesh", lambda v: ic.AirDrag(v), [None, 3, "x"]),
    ]  # fmt: skip


def runs() -> list[Case]:
    """Arguments of `run`."""
    return [
        *each("run", "duration", lambda v: sim().run(v), [*POSITIVE, 0.001, 1e15, True]),
        *each("run", "every", lambda v: sim().run(0.1, every=v), [*POSITIVE[1:], 0.015, True]),
        *each("run", "progress", lambda v: sim().run(0.1, progress=v), FLAGS),
        *each("run", "keep_checkpoint", lambda v: sim().run(0.1, keep_checkpoint=v), FLAGS),
        *each("run", "on_frame", lambda v: sim().run(0.1, on_frame=v), FUNCTIONS),
        *each("run", "checkpoint", lambda v: sim().run(0.1, checkpoint=v), [3, [], b"x", "", "no/such/folder/a.npz"]),
        *each("run", "checkpoint_seconds", lambda v: sim().run(0.1, checkpoint="a.npz", checkpoint_seconds=v),
              NOT_NEGATIVE),
        Case("run with a folder as checkpoint", lambda folder: sim().run(0.1, checkpoint=folder), (("folder",),)),
        Case("step within a step", lambda _: _stepped_within(), (("in the middle of a step",),)),
        Case("positions within a step", lambda _: _assigned_within(), (("positions",), ("in the middle of a step",))),
        *each("extra_force()", "force", _pushed, [None, "x", 3.0, np.zeros((2, 3)), np.full((20, 3), NAN)]),
        *each("path()", "path", _sent, [None, "x", 3.0, np.zeros((2, 3)), [[NAN] * 3]]),
        Case("a path that jumps", lambda _: _sent([[50.0, 0, 0]]), (("node 0",), ("50",))),
    ]  # fmt: skip


def _stepped_within() -> object:
    made = sim(extra_force=lambda t, x, v: made.step() and 0 * x)
    return made.step()


def _assigned_within() -> object:
    def push(t: float, x: np.ndarray, v: np.ndarray) -> np.ndarray:
        made.positions = SHEET.vertices
        return 0 * x

    made = sim(extra_force=push)
    return made.step()


def _pushed(value: Any) -> object:
    return sim(extra_force=lambda t, x, v: value).step()


def _sent(value: Any) -> object:
    made = sim()
    made.grasp([0], lambda t: value)
    return made.step()


CASES = [*fabrics(), *simulations(), *models(), *bodies(), *hands(), *runs()]
