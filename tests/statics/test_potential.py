"""The energy of a cloth at rest: its derivatives against differences, the factor against dense algebra."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import isocloth as ic
from isocloth.cloth.cloth import Cloth, potential_energy
from isocloth.statics.hessian import Hessian
from isocloth.statics.potential import Potential

CASES: dict[str, tuple[str, Any, dict[str, float]]] = {
    "net of quads": ("quad", "isometric", {}),
    "triangles": ("triangle", "isometric", {}),
    "sheared": ("quad", "isometric", {"shear": 20.0}),
    "elastic with hinges": ("triangle", ic.models.Elastic(bending="hinge"), {}),
    "springs": ("quad", "mass_spring", {}),
}


@pytest.fixture(params=CASES.values(), ids=CASES.keys())
def bent(request: pytest.FixtureRequest) -> tuple[Cloth, np.ndarray, np.ndarray]:
    """A cloth, positions where it is bent and stretched, and a direction."""
    element, model, more = request.param
    mesh = ic.meshes.rectangle(0.3, 0.3, shape=(5, 5), element=element)
    cloth = ic.Simulation(mesh, ic.Fabric(bending=1e-4, **more), model=model).cloth
    random = np.random.default_rng(1)
    y = mesh.vertices * [1.01, 0.99, 1.0] + 2e-3 * random.normal(size=mesh.vertices.shape)
    y[:, 2] += 0.05 * np.sin(8.0 * y[:, 0])
    return cloth, y, random.normal(size=y.shape)


def test_the_gradient_is_that_of_the_energy(bent: tuple[Cloth, np.ndarray, np.ndarray]) -> None:
    cloth, y, way = bent
    potential, e = Potential(cloth), 1e-5
    potential.move(y)
    # of the fourth order: the membrane is stiff, and its energy changes with the fourth power of a displacement
    energies = [potential_energy(cloth, y + k * e * way) for k in (-2, -1, 1, 2)]
    slope = (energies[0] - 8 * energies[1] + 8 * energies[2] - energies[3]) / (12 * e)
    assert np.sum(potential.gradient() * way) == pytest.approx(slope, rel=1e-7)


def test_the_second_derivative_is_that_of_the_gradient(bent: tuple[Cloth, np.ndarray, np.ndarray]) -> None:
    cloth, y, way = bent
    potential, e = Potential(cloth), 1e-7
    ends = []
    for side in (e, -e):
        potential.move(y + side * way)
        ends.append(potential.gradient())
    slope = (ends[0] - ends[1]) / (2 * e)
    potential.move(y)
    hessian = Hessian(cloth, cloth.nobody)
    hessian.fill(potential, potential.tension)
    matrix = hessian.matrix()
    assert abs(matrix - matrix.T).max() == 0.0
    assert np.abs(matrix @ way.ravel() - slope.ravel()).max() < 1e-7 * np.abs(slope).max()


def test_a_displacement_is_that_of_dense_algebra_and_held_nodes_stay(
    bent: tuple[Cloth, np.ndarray, np.ndarray],
) -> None:
    cloth, y, force = bent
    held = np.arange(cloth.n) < 5
    potential, hessian = Potential(cloth), Hessian(cloth, held)
    potential.move(y)
    hessian.fill(potential, potential.tension)
    free, mass = np.repeat(~held, 3), np.repeat(hessian.mass, 3)
    dense = hessian.matrix().toarray()[np.ix_(free, free)]
    for shift in (0.0, 1e9):
        whole = dense + shift * np.diag(mass[free])
        assert hessian.factorise(shift) == bool(np.linalg.eigvalsh(whole)[0] > 0.0)
        wanted = np.linalg.solve(whole, force.ravel()[free])
        found = hessian.solve(force) if hessian.factorise(shift) else hessian.solve_indefinite(force)
        assert np.abs(found.ravel()[free] - wanted).max() < 1e-7 * np.abs(wanted).max()
        assert not found[held].any()


def test_multipliers_follow_a_displacement_to_first_order(bent: tuple[Cloth, np.ndarray, np.ndarray]) -> None:
    cloth, y, way = bent
    potential = Potential(cloth)
    potential.move(y)
    plain, slack = potential.tension, cloth.rows.partner != 0
    ahead = potential.linearised_tension(1e-7 * way) - plain
    potential.move(y + 1e-7 * way)
    change = potential.tension - plain
    assert np.abs(ahead - change)[~slack].max() < 1e-5 * np.abs(change[~slack]).max()
    assert potential.strain_gap(potential.tension) < 1e-15
