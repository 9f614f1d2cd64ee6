"""The error of contact forces in the draped cloth: its derivative in the rest shape through the draping function."""

import numpy as np
import pytest

import isocloth as ic
from isocloth.inverse.thesis import mass_continuation
from isocloth.inverse.thesis.objective import contact_error
from isocloth.inverse.thesis.sought import Sought

SHELL = ic.models.KoiterShell(young=1e6, poisson=0.3, thickness=1e-3)


def on_a_pole():
    """A strip over a cylinder, its ends hanging; where it touches it is at half its thickness."""
    mesh = ic.meshes.rectangle(0.3, 0.1, (9, 3), element="triangle")
    fabric = ic.Fabric(density=0.3, thickness=2e-3)
    pole = ic.Cylinder([0.15, -0.5, 0.0], [0.15, 1.0, 0.0], 0.08, friction=0.3)
    radius = 0.08 + 0.5 * fabric.thickness
    x = mesh.vertices.copy()
    turn = np.clip((x[:, 0] - 0.15) / radius, -0.9, 0.9)
    left = (x[:, 0] - 0.15) - turn * radius
    x[:, 0] = 0.15 + radius * np.sin(turn) + left * np.cos(turn)
    x[:, 2] = radius * np.cos(turn) - np.abs(left) * np.sin(np.abs(turn))
    return mesh.with_vertices(x), fabric, pole


def sought():
    target, fabric, pole = on_a_pole()
    return Sought.of(target, fabric, SHELL, None, [pole], None, None, 4.0, False)


def test_the_whole_derivative_of_the_error():
    problem = sought()
    assert len(problem.draping.fixed) >= 6
    draping = problem.draping.at_density(0.3)
    rng = np.random.default_rng(0)
    points = problem.mesh.vertices + 1e-3 * rng.normal(size=problem.mesh.vertices.shape)
    here = draping(points, 4.0)
    assert here.stable
    value, slope = contact_error(draping, here, problem.cones)
    assert value > 0.0
    step = 1e-7
    for _ in range(3):
        way = rng.normal(size=points.shape)
        sides = [contact_error(draping, draping(points + k * step * way, 4.0, here.positions), problem.cones)[0]
                 for k in (-2, -1, 1, 2)]  # fmt: skip
        found = (sides[0] - 8 * sides[1] + 8 * sides[2] - sides[3]) / (12 * step)
        assert found == pytest.approx(np.sum(slope * way), rel=1e-5)


def test_the_sum_of_all_terms_has_the_gradient_of_differences():
    problem = sought()
    objective = problem.objective(0.3, problem.mesh.vertices, True)
    objective.weight, objective.smoothness, objective.friction = 1e-2, 1e-3, 0.1
    rng = np.random.default_rng(1)
    objective.multipliers = 1e-3 * rng.normal(size=len(problem.mesh.interior_nodes))
    flat = problem.mesh.vertices.ravel() + 1e-3 * rng.normal(size=problem.mesh.vertices.size)
    slope, step = objective(flat)[1], 1e-6
    for _ in range(3):
        way = rng.normal(size=flat.shape)
        sides = [objective(flat + k * step * way)[0] for k in (-2, -1, 1, 2)]
        found = (sides[0] - 8 * sides[1] + 8 * sides[2] - sides[3]) / (12 * step)
        assert found == pytest.approx(slope @ way, rel=1e-5)


def test_forces_are_brought_towards_their_cones():
    target, fabric, pole = on_a_pole()
    found = [
        mass_continuation(
            target, fabric, model=SHELL, obstacles=[pole], densities=[0.3], developability=0.0, friction=weight,
            attraction=4.0, iterations=30, progress=False,
        ).stages[0]
        for weight in (1e-9, 10.0)
    ]  # fmt: skip
    assert found[1].friction < 0.3 * found[0].friction
