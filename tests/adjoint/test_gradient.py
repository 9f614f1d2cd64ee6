"""`Equilibrium.gradient` against equilibria that are found again with everything a little different."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import isocloth as ic
from isocloth.models import DiscreteShell, Isometric, KoiterShell
from isocloth.statics.find import Found
from isocloth.statics.polish import Polisher
from isocloth.statics.problem import Problem, Scene
from isocloth.statics.touching import Touching

CLOSE = 1e-6
SQUARES = ic.meshes.rectangle(0.3, 0.3, (7, 7))
TRIANGLES = SQUARES.triangulated()
HELD = {0: np.array([0.0, 0.0, 0.0]), 6: np.array([0.28, -0.01, 0.005])}
BALL = ic.Sphere((0.15, 0.15, -0.12), 0.1, friction=0.5)
BOX = ic.Box((0.07, 0.06, -0.051), (0.2, 0.3, 0.1), friction=0.6)


def crumpled(mesh: ic.Mesh) -> ic.Mesh:
    rng = np.random.default_rng(7)
    return mesh.with_vertices(mesh.vertices + 5e-4 * rng.uniform(-1.0, 1.0, mesh.vertices.shape))


def loss(x: np.ndarray) -> tuple[float, np.ndarray]:
    wish = np.random.default_rng(3).standard_normal(x.shape)
    return float(np.sum(wish * x) + 0.5 * np.sum(x * x)), wish + x


class Hung:
    """A scene, and its equilibrium with contacts anchored where they are."""

    def __init__(self, mesh: ic.Mesh, fabric: ic.Fabric, **options: Any) -> None:
        self.given: dict[str, Any] = {"mesh": mesh, "fabric": fabric, "rest": crumpled(mesh), **options}
        self.found = self.solved({}, None)
        for _ in range(2):
            self.found = self.solved({}, self.found)

    def solved(self, changes: dict[str, Any], start: ic.Equilibrium | None) -> ic.Equilibrium:
        given = {**self.given, **changes}
        mesh, fabric = given.pop("mesh"), given.pop("fabric")
        return ic.equilibrium(mesh, fabric, start=start, **given)

    def slope(self, change: Callable[[float], dict[str, Any]], step: float) -> float:
        """dL/dh. Found twice: a start that is almost an equilibrium is improved until it is good enough, not more."""
        sides = []
        for sign in (1.0, -1.0):
            once = self.solved(change(sign * step), self.found)
            again = self.solved(change(sign * step), once)
            assert again.converged
            sides.append(loss(again.positions)[0])
        return (sides[0] - sides[1]) / (2.0 * step)


STIFFENING = ic.models.Isometric(bending="stiffening")
SCENES: dict[str, Callable[[], Hung]] = {
    "shell": lambda: Hung(
        TRIANGLES, ic.Fabric(density=0.2), model=DiscreteShell(stretch=20.0, bending=1e-5, area=5.0), held=HELD
    ),
    "quads": lambda: Hung(SQUARES, ic.Fabric(density=0.2, bending=1e-4), held=HELD),
    "stiffening": lambda: Hung(SQUARES, ic.Fabric(density=0.2, bending=1e-4), model=STIFFENING, held=HELD),
    "triangles": lambda: Hung(TRIANGLES, ic.Fabric(density=0.2, bending=1e-4, shear=20.0), held=HELD),
    "ball": lambda: Hung(
        TRIANGLES, ic.Fabric(density=0.2), model=DiscreteShell(stretch=20.0, bending=1e-5, area=1.0), obstacles=[BALL]
    ),
    "edge": lambda: Hung(
        ic.meshes.rectangle(0.3, 0.12, (11, 5)), ic.Fabric(density=0.2, bending=1e-4, membrane=500.0), obstacles=[BOX]
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SCENES)
def test_gradients_of_equilibria(name: str) -> None:
    scene = SCENES[name]()
    given = scene.given
    found = scene.found.gradient(loss, slides=False)
    assert found.value == loss(scene.found.positions)[0]
    turn = np.random.default_rng(5).standard_normal(found.rest.shape)
    rest, size = given["rest"], 1e-8 if given.get("obstacles") else 1e-7
    slope = scene.slope(lambda h: {"rest": rest.with_vertices(rest.vertices + h * turn)}, size)
    assert float(np.sum(found.rest * turn)) == pytest.approx(slope, rel=CLOSE)
    if "held" in given:
        turn = np.random.default_rng(6).standard_normal((2, 3))
        slope = scene.slope(
            lambda h: {"held": {k: p + h * t for (k, p), t in zip(HELD.items(), turn, strict=True)}}, 1e-6
        )
        assert float(np.sum(found.held * turn)) == pytest.approx(slope, rel=CLOSE)
    slope = scene.slope(lambda h: {"gravity": 9.81 + h}, 1e-4)
    assert found.parameters["gravity"] == pytest.approx(slope, rel=CLOSE)
    fabric, model = given["fabric"], given.get("model", Isometric())
    slope = scene.slope(lambda h: {"fabric": replace(fabric, density=fabric.density + h)}, 1e-5)
    assert found.parameters["density"] == pytest.approx(slope, rel=CLOSE)
    bending = model.bending if model.shell else fabric.bending
    step = 1e-4 * bending
    if model.shell:
        slope = scene.slope(lambda h: {"model": replace(model, bending=bending + h)}, step)
    else:
        slope = scene.slope(lambda h: {"fabric": replace(fabric, bending=bending + h)}, step)
    assert found.parameters["bending"] == pytest.approx(slope, rel=CLOSE)
    assert all(value == 0.0 for value in found.friction.values())  # what sticks does not know its friction


def sliding(found: ic.Equilibrium, problem: Problem) -> ic.Equilibrium:
    """An equilibrium of a changed problem whose contacts are those of another one, sliding where those slide."""
    old = found._found
    scene = Scene(problem, old.positions)
    solver = Polisher(scene.cloth, scene.held)
    assert old.touching is not None
    assert scene.sim.world is not None
    touching = Touching(scene.sim.world, scene.held, old.positions, found.history, scene.cloth.mass)
    slid = old.touching.contacts.key[old.touching.sliding]
    touching.known = touching.known._replace(slides=np.isin(touching.known.key, slid))
    y, tension = old.positions, old.tension
    for _ in range(4):
        polished = solver.solve(y, tension, touching, most=60, patience=20, indefinite=True)
        y, tension = polished.positions, polished.tension
    assert polished.converged
    return ic.Equilibrium(problem, Found(y, tension, touching, polished.residual, True, "", 0))


@pytest.mark.parametrize("kind", ["floor", "edge"])
def test_contacts_that_slide_bear_the_friction_of_what_presses_them(kind: str) -> None:
    if kind == "floor":
        mesh = ic.meshes.rectangle(0.3, 0.3, (9, 9)).triangulated().transformed(translation=(0.0, 0.0, 0.05))
        model, floor = DiscreteShell(stretch=20.0, bending=3e-5), ic.Floor(-0.05, friction=0.4)
        found = ic.equilibrium(
            mesh, ic.Fabric(density=0.2), model=model, held=mesh.corners[:2], obstacles=[floor]
        )  # fmt: skip
    else:
        mesh = ic.meshes.rectangle(0.3, 0.12, (16, 7)).triangulated()
        shell = KoiterShell(young=1e6, thickness=6e-4)
        found = ic.equilibrium(mesh, ic.Fabric(density=0.2), model=shell, obstacles=[BOX])
    problem = found._problem
    for _ in range(3):
        found = sliding(found, problem)
    touching = found._found.touching
    assert touching is not None
    assert touching.sliding.any()
    gradient = found.gradient(loss)
    assert any("sliding" in remark for remark in gradient.remarks)
    body = problem.obstacles[0]

    def slope(change: Callable[[float], Problem], step: float) -> float:
        sides = [loss(sliding(found, change(sign * step)).positions)[0] for sign in (1.0, -1.0)]
        return (sides[0] - sides[1]) / (2.0 * step)

    rubbed = slope(lambda h: replace(problem, obstacles=(body.replace(friction=body.friction + h),)), 1e-4)
    assert gradient.friction[body] == pytest.approx(rubbed, rel=3e-6)
    assert gradient.friction[body] != 0.0
    heavier = slope(lambda h: problem.changed("density", 0.2 + h), 2e-5)
    assert gradient.parameters["density"] == pytest.approx(heavier, rel=3e-6)
    stuck = found.gradient(loss, slides=False)
    assert stuck.friction[body] == 0.0
    assert stuck.parameters["density"] != pytest.approx(gradient.parameters["density"], rel=1e-4)


def test_an_array_is_the_derivative_of_the_loss() -> None:
    hung = ic.equilibrium(SQUARES, ic.Fabric(bending=1e-4), held=HELD)
    one, other = hung.gradient(loss), hung.gradient(loss(hung.positions)[1])
    assert np.isnan(other.value)
    assert one.parameters == other.parameters
    assert np.array_equal(one.rest, other.rest)
    assert not one.rest.flags.writeable


def test_moving_the_whole_scene_moves_the_cloth() -> None:
    """The sum over x of the derivatives in held places is that of the loss: nothing else knows where the scene is."""
    hung = ic.equilibrium(TRIANGLES, ic.Fabric(density=0.2), model="koiter", held=HELD)
    slope = loss(hung.positions)[1]
    found = hung.gradient(slope)
    assert np.allclose(found.held.sum(axis=0), slope.sum(axis=0), rtol=1e-8)
    assert np.allclose(found.rest.sum(axis=0), 0.0, atol=1e-8 * np.abs(found.rest).max())


def test_wrong_losses_are_refused() -> None:
    hung = ic.equilibrium(SQUARES, ic.Fabric(bending=1e-4), held=HELD)
    n = SQUARES.n_vertices
    with pytest.raises(ic.IsoclothError, match="shape"):
        hung.gradient(np.zeros(n))
    with pytest.raises(ic.IsoclothError, match="node 3"):
        hung.gradient(np.where(np.arange(n)[:, None] == 3, np.nan, np.zeros((n, 3))))
    with pytest.raises(ic.IsoclothError, match="expected its value"):
        hung.gradient(lambda x: x)
    with pytest.raises(ic.IsoclothError, match="expected a function"):
        hung.gradient("x")
    with pytest.raises(ic.IsoclothError, match="expected a number"):
        hung.gradient(lambda x: ("much", x))


def test_what_is_no_equilibrium_or_neutral_has_no_gradient() -> None:
    free = ic.equilibrium(TRIANGLES, ic.Fabric(), model="koiter", gravity=0.0)
    with pytest.raises(ic.ConvergenceError, match="neutral"):
        free.gradient(np.ones((TRIANGLES.n_vertices, 3)))
    lost = ic.Equilibrium(free._problem, free._found._replace(converged=False, problem="torn"))
    with pytest.raises(ic.ConvergenceError, match="torn"):
        lost.gradient(np.ones((TRIANGLES.n_vertices, 3)))
