"""Gradients of equilibria by one transposed solve, against equilibria that are found again."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from isocloth import Box, Equilibrium, Fabric, Mesh, Sphere, equilibrium, meshes
from isocloth.models import DiscreteShell, Isometric, KoiterShell, WovenShell
from validation.result import Result, Say, silent

TITLE = "gradients of equilibria in rest shape, held places and parameters, against equilibria found again"

TARGET = 1e-6
#: of the value of a number, and m: changes of which the best agreement counts, because the larger ones are curved and
#: of the smaller ones little is left beside rounding
PARTS, METRES = (1e-3, 1e-4, 1e-5), (1e-6, 1e-7, 1e-8, 1e-9)


def run(quick: bool = False, *, out: Path | None = None, say: Say = silent) -> Result:
    """Hanging and lying cloths."""
    result = Result("adjoint", TITLE)
    worst = 0.0
    spent: list[float] = []
    for name, given in _scenes(7 if quick else 13, quick).items():
        say(name)
        error, share = _scene(result, name, given)
        worst = max(worst, error)
        spent.append(share)
    result.below("largest relative error of all", worst, TARGET, ".1e")
    result.info("processor time of a gradient without the rest shape, of that of its equilibrium, median",
                float(np.median(spent)), ".2f")  # fmt: skip
    return result


def _scenes(side: int, quick: bool) -> dict[str, dict[str, Any]]:
    """What is given to `equilibrium`, by the name of the scene."""
    squares = meshes.rectangle(0.3, 0.3, (side, side))
    triangles = squares.triangulated()
    lying = meshes.rectangle(0.3, 0.12, (11, 5) if quick else (19, 8))
    ball = Sphere((0.15, 0.15, -0.12), 0.1, friction=0.5)
    box = Box((0.07, 0.06, -0.051), (0.2, 0.3, 0.1), friction=0.6)
    held = {0: np.zeros(3), side - 1: np.array([0.28, -0.01, 0.005])}
    plain, soft = Fabric(density=0.2), Fabric(density=0.2, bending=1e-4)
    discrete = DiscreteShell(stretch=20.0, bending=1e-5, area=1.0)
    scenes: dict[str, dict[str, Any]] = {
        "hanging, discrete shell": {"mesh": triangles, "fabric": plain, "model": discrete, "held": held},
        "hanging, isometric, quads": {"mesh": squares, "fabric": soft, "held": held},
        "on a ball, discrete shell": {"mesh": triangles, "fabric": plain, "model": discrete, "obstacles": [ball]},
        "over an edge, isometric, quads": {"mesh": lying, "fabric": replace(soft, membrane=500.0), "obstacles": [box]},
    }
    if not quick:
        sheared = replace(soft, shear=20.0)
        sin = KoiterShell(normals="sin")
        scenes |= {
            "hanging, isometric, triangles": {"mesh": triangles, "fabric": sheared, "held": held},
            "hanging, Koiter": {"mesh": triangles, "fabric": plain, "model": KoiterShell(), "held": held},
            "hanging, Koiter, sin": {"mesh": triangles, "fabric": plain, "model": sin, "held": held},
            "hanging, woven": {"mesh": triangles, "fabric": plain, "model": WovenShell(), "held": held},
        }
    return scenes


def _loss(x: np.ndarray) -> tuple[float, np.ndarray]:
    wish = np.random.default_rng(3).standard_normal(x.shape)
    return float(np.sum(wish * x) + 0.5 * np.sum(x * x)), wish + x


def _found(given: Mapping[str, Any], start: Equilibrium | None) -> Equilibrium:
    options = dict(given)
    mesh, fabric = options.pop("mesh"), options.pop("fabric")
    return equilibrium(mesh, fabric, start=start, **options)


def _scene(result: Result, name: str, given: dict[str, Any]) -> tuple[float, float]:
    """The largest error, and the time of a gradient over that of the equilibrium."""
    mesh: Mesh = given["mesh"]
    rng = np.random.default_rng(7)
    rest = mesh.with_vertices(mesh.vertices + 5e-4 * rng.uniform(-1.0, 1.0, mesh.vertices.shape))
    given = {**given, "rest": rest}
    begin = time.process_time()
    found = _found(given, None)
    seconds = time.process_time() - begin
    for _ in range(2):  # contacts are anchored where they are then, and nothing is left of the residual
        found = _found(given, found)
    if not found.converged:
        result.holds(f"{name}: an equilibrium", False)
        return np.inf, 1.0
    begin = time.process_time()
    gradient = found.gradient(_loss, slides=False)
    parameters = dict(gradient.parameters)
    brief = time.process_time() - begin
    along = gradient.rest
    longer = time.process_time() - begin

    def error(slope: float, change: Callable[[float], dict[str, Any]], steps: tuple[float, ...]) -> list[float]:
        off = []
        for step in steps:
            sides = []
            for sign in (1.0, -1.0):
                changed = {**given, **change(sign * step)}
                once = _found(changed, found)  # good enough; once more, and nothing is left
                sides.append(_loss(_found(changed, once).positions)[0])
            off.append(abs((sides[0] - sides[1]) / (2.0 * step) - slope) / abs(slope))
        return off

    turn, errors = rng.standard_normal(along.shape), {}
    errors["rest shape"] = error(
        float(np.sum(along * turn)), lambda h: {"rest": rest.with_vertices(rest.vertices + h * turn)}, METRES
    )
    if "held" in given:
        way = rng.standard_normal((len(given["held"]), 3))
        moved: dict[int, np.ndarray] = given["held"]
        errors["held places"] = error(
            float(np.sum(gradient.held * way)),
            lambda h: {"held": {k: p + h * w for (k, p), w in zip(moved.items(), way, strict=True)}}, METRES,
        )  # fmt: skip
    for key, slope in parameters.items():
        value, change = _changing(given, key)
        if slope != 0.0 and change is not None:
            errors[key] = error(slope, change, tuple(part * value for part in PARTS))
    for key, off in errors.items():
        result.below(f"{name}: {key}", min(off), TARGET, ".1e")
        result.notes.append(
            f"{name}, {key}, from the largest change to the smallest: " + " ".join(f"{o:.1e}" for o in off)
        )
    contacts = f", {found.contacts} contacts" if found.contacts else ""
    result.info(f"{name} ({mesh.n_vertices} nodes{contacts}): processor time of the equilibrium, s", seconds, ".2f")
    result.info(f"{name}: of a gradient, s", brief, ".3f")
    result.info(f"{name}: of a gradient with the rest shape, s", longer, ".3f")
    return max(min(off) for off in errors.values()), brief / max(seconds, 1e-9)


def _changing(given: dict[str, Any], key: str) -> tuple[float, Callable[[float], dict[str, Any]] | None]:
    """The value of a parameter now, and what it is changed by; None of those that have a kink where they are."""
    model, fabric = given.get("model", Isometric()), given["fabric"]
    if key == "gravity":
        return 9.81, lambda h: {"gravity": 9.81 + h}
    if key == "gravity_density" and not model.shell and fabric.membrane is None:
        return fabric.weight_density, None  # the stiffness of the isometry goes with the larger one of two densities
    if isinstance(getattr(model, key, None), float):
        own = float(getattr(model, key))
        return own, lambda h: {"model": replace(model, **{key: own + h})}
    value = {"membrane": fabric.membrane_stiffness, "gravity_density": fabric.weight_density}.get(key)
    now = float(getattr(fabric, key) if value is None else value)
    return now, lambda h: {"fabric": replace(fabric, **{key: now + h})}
