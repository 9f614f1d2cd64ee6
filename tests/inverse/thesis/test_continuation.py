"""Continuation in the mass: a small sheet whose density is known, and the rules of its weight."""

import numpy as np
import pytest

import isocloth as ic
from isocloth.inverse.thesis import Adaptive, MassContinuation, Stage, mass_continuation
from isocloth.inverse.thesis.constrained import constrained_rest

SHELL = ic.models.DiscreteShell(stretch=5.0, bending=1e-2, area=2.0)
DENSITY = 0.25
FLAT = ic.meshes.rectangle(1.0, 1.0, (5, 5), element="triangle")
PINS = FLAT.corners


@pytest.fixture(scope="module")
def target():
    hung = ic.equilibrium(FLAT, ic.Fabric(density=DENSITY), model=SHELL, held=PINS)
    assert hung.stable
    return FLAT.with_vertices(hung.positions)


def search(target, densities, **options):
    options = {"developability": 1e-4, "iterations": 50, **options}
    return mass_continuation(target, densities=densities, model=SHELL, held=PINS, progress=False, **options)


@pytest.mark.parametrize("method", ["gauss-newton", "newton"])
def test_the_density_and_the_square_come_back(target, method):
    found = search(target, [0.2, 0.25, 0.3], method=method, iterations=15)
    assert found.density == 0.25
    assert found.clear
    assert found.zone == (0.25, 0.25)
    assert found.best.distance < 1e-20
    assert np.abs(found.rest.vertices - FLAT.vertices).max() < 1e-6
    assert found.stages[0].developability > 1e-4
    assert found.stages[-1].distance > 1e-6
    assert len(str(found).splitlines()) == 4


@pytest.mark.parametrize("method", ["bfgs", "l-bfgs"])
def test_gradients_alone_come_near(target, method):
    found = search(target, [0.2, 0.25, 0.3], method=method, iterations=150)
    assert found.density == 0.25
    assert np.abs(found.rest.vertices - FLAT.vertices).max() < 0.02


def test_without_developability_shells_of_many_densities_hang_so(target):
    found = search(target, [0.1, 0.25], developability=0.0, method="gauss-newton")
    assert all(stage.distance < 1e-18 for stage in found.stages)
    assert found.stages[0].developability > 1e-4
    # a plate without a weight is not at rest in its target, so that the first density is no easier than another
    plate = search(target, [1e-6], developability=0.0, iterations=1, plate=True)
    assert plate.stages[0].distance > 1e-9
    assert search(target, [1e-6], developability=0.0, iterations=1).stages[0].distance < 1e-12


def told(distances, curvatures):
    """A continuation with these J and C_DGC, at the densities 1, 2, ..."""
    none = np.zeros((25, 3))
    stages = [Stage(k + 1.0, j, c, np.nan, 0.0, 0.0, False, 1, 1, "", 0.0, none, none)
              for k, (j, c) in enumerate(zip(distances, curvatures, strict=True))]  # fmt: skip
    return MassContinuation(FLAT, tuple(stages), "")


def test_the_best_density_is_where_both_turn_and_not_the_lightest():
    found = told([1e-9, 1e-6, 1e-7, 1e-4], [1.0, 0.1, 0.01, 0.1])
    assert (found.density, found.clear, found.zone) == (3.0, True, (3.0, 3.0))
    # one of the two turns elsewhere: their product turns all the same
    found = told([1e-9, 1e-8, 1e-9, 1e-3], [1.0, 0.1, 0.2, 0.1])
    assert (found.density, found.clear, found.zone) == (3.0, False, (1.0, 3.0))
    # nothing turns
    found = told([1e-9, 1e-8, 1e-7], [1.0, 1.0, 1.0])
    assert (found.density, found.clear, found.zone) == (1.0, False, (1.0, 1.0))


def test_the_weight_grows_until_the_slope_is_one_of_the_penalty(target):
    found = search(target, [0.1, 0.2], developability=Adaptive(every=5), iterations=40)
    assert found.stages[0].weight > 0.0
    for halved, stage, before in zip(
        [s.halved for s in found.stages], found.stages, [0.0, found.stages[0].weight], strict=True
    ):
        assert halved or stage.weight >= before
    kept = search(target, [0.1, 0.15, 0.2, 0.22], developability=Adaptive(every=5, for_good=True), iterations=40)
    first = next(k for k, s in enumerate(kept.stages) if s.halved)
    assert len({s.weight for s in kept.stages[first:]}) == 1


def test_a_constraint_is_met(target):
    options = {"model": SHELL, "held": PINS, "satisfied": 1e-3, "weight": 1e-2, "progress": False}
    # a density for which no developable sheet hangs so
    other = constrained_rest(target, ic.Fabric(density=0.2), **options)
    true = constrained_rest(target, ic.Fabric(density=DENSITY), **options)
    for found in (other, true):
        assert found.violation < 1e-3
        assert np.abs(ic.measure.gauss_curvature(found.rest)).max() == pytest.approx(found.violation)
    assert len(other.rounds) > 1
    assert other.distance > 1e-5
    assert true.distance < 1e-8


def test_a_regular_square_is_a_net_of_geodesics_and_found_as_one(target):
    net = ic.meshes.rectangle(1.0, 1.0, (5, 5))
    shell, fabric = {"model": SHELL, "held": PINS, "progress": False}, ic.Fabric(density=DENSITY)
    regular = constrained_rest(target, fabric, net=net, rounds=4, **shell)
    assert regular.distance < 1e-8
    assert ic.measure.orthogonal_geodesics(net, regular.points).max() < 1e-3


def test_what_cannot_be_is_refused(target):
    for wrong, message in (
        ({"densities": [0.1, -1.0]}, "densities"),
        ({"densities": 0.1}, "densities"),
        ({"densities": [0.1], "method": "adam"}, "gauss-newton"),
        ({"densities": [0.1], "developability": -1.0}, "developability"),
        ({"densities": [0.1], "iterations": 0}, "iterations"),
        ({"densities": [0.1], "smallest": 0.0}, "smallest"),
        ({"densities": [0.1], "attraction": -1.0}, "attraction"),
        ({"densities": [0.1], "start": np.zeros((3, 3))}, "start"),
    ):
        with pytest.raises(ic.IsoclothError, match=message):
            search(target, **wrong)
    with pytest.raises(ic.IsoclothError, match="triangulated"):
        mass_continuation(ic.meshes.rectangle(1.0, 1.0, (3, 3)), densities=[0.1], held=[0, 2])
    with pytest.raises(ic.IsoclothError, match="quads"):
        constrained_rest(target, ic.Fabric(density=0.2), net=target, model=SHELL, held=PINS)
