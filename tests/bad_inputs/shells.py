"""Bad arguments of shells, rest shapes, several pieces, statics, projective dynamics and protocols."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import cache
from typing import Any

import numpy as np

import isocloth as ic
from isocloth import protocols

from .clear import Case, each
from .values import COUNTS, FLAGS, NAMES, NAN, NOT_NEGATIVE, POINTS, POSITIVE

CUT = ic.meshes.rectangle(0.3, 0.4, (4, 5), element="triangle")
CORNERS = CUT.vertices[CUT.faces]
FAR = CUT.transformed(translation=[0, 0, 1.0])


def shell(**options: Any) -> ic.Simulation:
    """A small shell that nothing is wrong with, but for the options."""
    return ic.Simulation(CUT, **({"model": ic.models.KoiterShell()} | options))


@cache
def hung() -> ic.statics.Equilibrium:
    """An equilibrium that no case changes."""
    return ic.equilibrium(CUT, ic.Fabric(bending=1e-3), held=CUT.corners[:2])


def rest_at(**options: Any) -> object:
    """`equilibrium` of a small cloth that hangs from two corners, but for the options."""
    return ic.equilibrium(CUT, **({"held": CUT.corners[:2]} | options))


def of(make: Callable[..., object], name: str, **others: Any) -> Callable[[Any], object]:
    """One argument of a function, the others being good."""
    return lambda value: make(**(others | {name: value}))


def models() -> list[Case]:
    """Parameters of shells."""
    found = []
    for kind in (ic.models.DiscreteShell, ic.models.KoiterShell, ic.models.WovenShell):
        for field in fields(kind):
            names = isinstance(field.default, str)
            values = NAMES if names else [v for v in NOT_NEGATIVE if v is not None or field.default is not None]
            if field.name == "poisson":
                values = [*[v for v in values if v != -1.0], -1.5, 2.0]
            found += each(kind.__name__, field.name, of(kind, field.name), values)
    stiff = ic.models.DiscreteShell.from_rigidity
    return [
        *found,
        *each("from_rigidity", "bending", stiff, [v for v in NOT_NEGATIVE if v is not None], also=("rigidity",)),
        Case("shell with Fabric.bending", lambda _: shell(fabric=ic.Fabric(bending=1e-5)), (("bending",),)),
        Case("shell with Fabric.shear", lambda _: shell(fabric=ic.Fabric(shear=30.0)), (("shear",),)),
        Case("shell with a bending_model", lambda _: shell(bending_model="hinge"), (("bending",),)),
        Case("shell with a discretisation", lambda _: shell(discretisation="reduced"), (("discretisation",),)),
        Case("shell of quads", lambda _: ic.Simulation(ic.meshes.rectangle(1, 1, (4, 4)), model="koiter"),
             (("triangle",),)),
    ]  # fmt: skip


def rest_shapes() -> list[Case]:
    """Rest shapes, as meshes and as corners of faces."""
    flat, torn, turned = CORNERS.copy(), CORNERS.copy(), CUT.vertices.copy()
    inner = 6  # no node of the boundary
    flat[3] = flat[3, 0]
    turned[inner, 0] += 0.15
    torn[3, 1] = NAN
    values = ["x", 3, np.zeros((2, 3)), CORNERS[:5], CORNERS[1:, :2], [[1, 2]], 1000 * CORNERS]
    return [
        *each("Shell", "rest", lambda v: shell(rest=v), values, also=("faces", "vert", "node")),
        Case("Shell, a face without area at rest", lambda _: shell(rest=flat), (("face 3",), ("area",))),
        Case("Shell, a corner that is no number at rest", lambda _: shell(rest=torn), (("face 3",), ("nan",))),
        Case("Shell, a face upside down at rest", lambda _: shell(rest=turned), (("face",),)),
        Case("Shell, rest of other faces", lambda _: shell(rest=ic.meshes.rectangle(1, 1, (3, 3), element="triangle")),
             (("faces",),)),
        Case("Isometric cloth, corners at rest", lambda _: shell(model="isometric", rest=CORNERS),
             (("isometric",), ("shell",))),
    ]  # fmt: skip


def pieces() -> list[Case]:
    """Several cloths in one simulation."""
    return [
        *each("together", "meshes", ic.meshes.together, [None, 3, "x", [3], [CUT, None]], also=("mesh", "piece")),
        Case("together of nothing", lambda _: ic.meshes.together([]), (("pieces",), ("mesh",))),
        *each("Simulation of pieces", "mesh", ic.Simulation, [[3], [CUT, "b.obj"]], also=("piece", "cloth")),
        Case("Simulation of no pieces", lambda _: ic.Simulation([]), (("pieces",), ("mesh",))),
        Case("Simulation of quads and triangles", lambda _: ic.Simulation([FAR, ic.meshes.rectangle(1, 1, (3, 3))]),
             (("quad",), ("triangle",))),
        Case("Simulation of two cloths in one place", lambda _: ic.Simulation([CUT, CUT], self_collision=True),
             (("layers", "touch", "apart", "thickness"),)),
    ]  # fmt: skip


def statics() -> list[Case]:
    """Arguments of `equilibrium` and of what follows it."""
    held = ["x", [99], [-1], [0.5], [2, 2], {0: [1, 2]}, {99: [0, 0, 0]}, {0: [0, NAN, 0]}, 3.5]
    moving = ic.Sphere([0, 0, -1], 0.2, velocity=[0, 0, 1])
    return [
        *each("equilibrium", "held", lambda v: rest_at(held=v), held, also=("node",)),
        *each("equilibrium", "mesh", ic.equilibrium, [None, 3, "x", CUT.vertices]),
        *each("equilibrium", "gravity", lambda v: rest_at(gravity=v), NOT_NEGATIVE),
        *each("equilibrium", "fabric", lambda v: rest_at(fabric=v), ["denim", 0.2]),
        *each("equilibrium", "model", lambda v: rest_at(model=v), [*NAMES, None, "nonconforming"]),
        *each("equilibrium", "obstacles", lambda v: rest_at(obstacles=v), [None, 3, "floor", [3]], also=("obstacle",)),
        *each("equilibrium", "self_collision", lambda v: rest_at(self_collision=v), FLAGS),
        *each("equilibrium", "progress", lambda v: rest_at(progress=v), FLAGS),
        *each("equilibrium", "start", lambda v: rest_at(start=v),
              ["x", 3, np.zeros((2, 3)), np.full((20, 3), NAN)]),
        Case("equilibrium, a start fifty times too large", lambda _: rest_at(start=50 * CUT.vertices),
             (("50",), ("start",))),
        *each("equilibrium", "rest", lambda v: rest_at(rest=v), ["x", 3, np.zeros((2, 3)), 100 * CUT.vertices],
              also=("vert", "node")),
        Case("equilibrium, nothing held", lambda _: ic.equilibrium(CUT), (("held", "hold"),)),
        Case("equilibrium, on a sphere without friction", lambda _: ic.equilibrium(
            FAR.transformed(translation=[3, 0, 0]), obstacles=[ic.Sphere([0, 0, 0], 0.1)]), (("hold", "held"),)),
        Case("equilibrium, an obstacle that moves", lambda _: rest_at(obstacles=[moving]), (("move", "still"),)),
        *each("continued", "parameter", lambda v: hung().continued(v, [1.0]), [None, 3, "magic", "density "]),
        *each("continued", "values", lambda v: hung().continued("gravity", v), [None, "x", [NAN], ["a"], [-1.0], 3.0],
              also=("gravity",)),
        *each("continued", "stable", lambda v: hung().continued("gravity", [9.0], stable=v), FLAGS),
        *each("continued", "held", lambda v: hung().continued("held", v),
              [[[[0, 0, 0]]], [3.0], [np.full((2, 3), NAN)]]),
        *each("branch", "parameter", lambda v: hung().branch(v), [None, 3, "magic", "held"]),
        *each("branch", "step", lambda v: hung().branch("gravity", step=v), POSITIVE),
        *each("branch", "count", lambda v: hung().branch("gravity", count=v), [*COUNTS, 0]),
        *each("branch", "forward", lambda v: hung().branch("gravity", forward=v), FLAGS),
    ]  # fmt: skip


def projective() -> list[Case]:
    """Projective dynamics and the solvers of Coulomb's law."""
    found = []
    for field in fields(ic.ProjectiveOptions):
        values = {bool: FLAGS, str: NAMES}.get(type(field.default), ["x", None, NAN, -1.0, []])
        found += each("ProjectiveOptions", field.name, of(ic.ProjectiveOptions, field.name), values)

    def springs(**options: Any) -> object:
        return ic.Simulation(CUT, model="mass_spring", solver="projective", **options)

    return [
        *found,
        *each("Projective", "solver_options", lambda v: springs(solver_options=v), [3, "fast", {}],
              also=("ProjectiveOptions", "NewtonOptions")),
        *each("Projective", "model", lambda v: ic.Simulation(CUT, model=v, solver="projective"),
              ["isometric", "koiter", "elastic", "nonconforming"], also=("projective",)),
        Case("Projective with an exact law", lambda _: springs(contact="gauss_seidel", obstacles=[ic.Floor(-1)]),
             (("projective", "gauss_seidel"),)),
    ]  # fmt: skip


def protocol() -> list[Case]:
    """Protocols and what is measured with them."""
    bending = {"length": 0.2, "density": 0.15, "drop": 0.08, "reach": 0.15}
    friction = {"push": 0.02, "length": 0.2}
    found = []
    for name in bending:
        found += each("measure_bending", name, of(protocols.measure_bending, name, **bending), POSITIVE)
    for name in ("length_error", "drop_error", "reach_error"):
        values = [v for v in NOT_NEGATIVE if v is not None]
        found += each("measure_bending", name, of(protocols.measure_bending, name, **bending), values)
    for name in friction:
        values = [v for v in POSITIVE if v is not None]
        found += each("measure_friction", name, of(protocols.measure_friction, name, **friction), values)
    short = {"gammas": [1.0], "elements": 4}
    return [
        *found,
        Case("measure_bending, a drop beyond the strip", lambda _: protocols.measure_bending(0.2, 0.1, 0.5, 0.1),
             (("drop", "0.5"),)),
        Case("measure_friction of nothing", lambda _: protocols.measure_friction(), (("push",),)),
        *each("cantilever", "gammas", of(protocols.cantilever, "gammas", elements=4),
              [[], [0.0], [-1.0], [NAN], ["x"], "x", None]),
        *each("cantilever", "elements", of(protocols.cantilever, "elements", gammas=[1.0]), [*COUNTS, 0]),
        *each("cantilever", "model", of(protocols.cantilever, "model", **short), [*NAMES, None]),
        *each("cantilever", "element", of(protocols.cantilever, "element", **short), NAMES),
        *each("lateral_buckling", "widths", of(protocols.lateral_buckling, "widths", elements=4),
              [[], [0.0], [-1.0], [NAN], ["x"], [3.0], None]),
        *each("lateral_buckling", "model", of(protocols.lateral_buckling, "model", elements=4), [*NAMES, None]),
        *each("stick_slip", "frictions", of(protocols.stick_slip, "frictions", elements=4),
              [[], [-1.0], [NAN], ["x"], [2.0], None]),
        *each("stick_slip", "contact", of(protocols.stick_slip, "contact", elements=4), NAMES),
        *each("protocols.rotation", "model", of(protocols.rotation, "model", elements=4), [*NAMES, None]),
        *each("protocols.rotation", "elements", of(protocols.rotation, "elements"), [*COUNTS, 0]),
        *each("buckling_threshold", "width", lambda v: protocols.buckling_threshold(v, 0.3), POINTS[:2]),
    ]  # fmt: skip


CASES = [*models(), *rest_shapes(), *pieces(), *statics(), *projective(), *protocol()]
