"""Energies of shells: every derivative by finite differences, rigid motions, matrices without negative eigenvalues."""

import numpy as np
import pytest
from shell_cases import DEFAULTS, LOCAL, MAKERS, close, crumpled, differences, moved_rest

from isocloth.terms.koiter_bending import angle_system, condensed_hessian, condensed_rest_gradient
from isocloth.terms.rest_shape import RestShape, assembled_rest_gradient
from isocloth.terms.term import DampedTerm, Term, assembled_gradient, assembled_hessian, total_energy

TORN = [False, True]
#: how crumpled; normals of "sin" turn over where faces meet at more than a right angle, and have no derivative there
SPREAD = {name: 0.03 if name == "koiter sin" else 0.06 for name in MAKERS}


def rotation(rng):
    q, _ = np.linalg.qr(rng.standard_normal((3, 3)))
    return q * np.sign(np.linalg.det(q))


def damped(term, x, rng):
    """The term as it acts in a step, if it is damped in one."""
    if not isinstance(term, DampedTerm):
        return term
    return term.damped(0.3, term.strain(x + 0.02 * rng.standard_normal(x.shape)))


@pytest.mark.parametrize("torn", TORN)
@pytest.mark.parametrize("name", MAKERS)
def test_gradients_are_derivatives_of_energies(name, torn):
    rest, x = crumpled(1, torn, spread=SPREAD[name])
    rng = np.random.default_rng(3)
    term = damped(MAKERS[name](rest), x, rng)
    assert isinstance(term, Term)
    for _ in range(3):
        d = rng.standard_normal(x.shape)
        slope = differences(lambda s, d=d: total_energy(term, x + s * d), 5e-5)
        assert np.sum(assembled_gradient(term, x, len(x)) * d) == pytest.approx(slope, rel=1e-7)


@pytest.mark.parametrize("name", LOCAL)
def test_hessians_are_derivatives_of_gradients(name):
    rest, x = crumpled(2, spread=SPREAD[name])
    rng = np.random.default_rng(4)
    term = damped(MAKERS[name](rest), x, rng)
    d = rng.standard_normal(x.shape)
    matrix = assembled_hessian(term, x, len(x), False)
    slope = differences(lambda s: assembled_gradient(term, x + s * d, len(x)).ravel(), 5e-5)
    assert close(matrix @ d.ravel(), slope, 1e-7)
    assert abs(matrix - matrix.T).max() <= 1e-12 * abs(matrix).max()


@pytest.mark.parametrize("name", ["koiter sin", "koiter tan"])
def test_hessians_with_the_angles_eliminated_are_derivatives_of_gradients(name):
    rest, x = crumpled(2, spread=SPREAD[name])
    rng = np.random.default_rng(4)
    term = damped(MAKERS[name](rest), x, rng)
    d = rng.standard_normal(x.shape)
    slope = differences(lambda s: assembled_gradient(term, x + s * d, len(x)).ravel(), 5e-5)
    full = condensed_hessian(term, x)
    assert close(full @ d.ravel(), slope, 1e-6)
    held = assembled_hessian(term, x, len(x), False).toarray()
    assert close(angle_system(term, x).positions.toarray(), held, 1e-12)
    # what gives way is softer than what is held
    assert np.linalg.eigvalsh(held - full).min() > -1e-9 * np.abs(held).max()


@pytest.mark.parametrize("name", MAKERS)
def test_matrices_for_newton_have_no_negative_eigenvalues(name):
    rest, x = crumpled(3, spread=0.15)
    term = MAKERS[name](rest)
    m = term.stencils.shape[1]
    blocks = np.empty((len(term.stencils), 3 * m, 3 * m))
    term.hessian(x, blocks, True)
    values = np.linalg.eigvalsh(blocks)
    assert values.min() >= -1e-12 * np.abs(values).max()
    assert values.max() > 0.0


@pytest.mark.parametrize("name", [name for name in LOCAL if name != "excess"])  # which has none at rest
def test_matrices_for_newton_are_the_second_derivative_at_rest(name):
    rest, _ = crumpled(3, spread=SPREAD[name])
    term, x = MAKERS[name](rest), rest.points.copy()
    raw, psd = (assembled_hessian(term, x, len(x), kind).toarray() for kind in (False, True))
    assert close(psd, raw, 1e-9)


@pytest.mark.parametrize("torn", TORN)
@pytest.mark.parametrize("name", MAKERS)
def test_derivatives_in_the_rest_shape(name, torn):
    rest, x = crumpled(4, torn, spread=SPREAD[name])
    rng = np.random.default_rng(5)
    term = MAKERS[name](rest)
    d = rng.standard_normal(rest.points.shape)
    if torn:  # what is joined stays joined
        d = d[: len(x)][rest.mesh.faces].reshape(-1, 3)
    slope = differences(
        lambda s: assembled_gradient(MAKERS[name](moved_rest(rest, rest.points + s * d)), x, len(x)).ravel(), 1e-4
    )
    if name in LOCAL:
        matrix = assembled_rest_gradient(term, x, len(x), len(rest.points))
        if not torn:
            assert term.rest_gradient(x).shape[1:] == (3 * term.stencils.shape[1],) * 2
    else:
        matrix = condensed_rest_gradient(term, x)
    assert close(matrix @ d.ravel(), slope, 1e-6)


@pytest.mark.parametrize("name", MAKERS)
def test_derivatives_in_the_parameters(name):
    rest, x = crumpled(5, spread=SPREAD[name])
    term = MAKERS[name](rest)
    found = term.parameter_gradient(x)
    assert set(DEFAULTS[name]) == set(found) - {"rate"}
    for parameter, value in DEFAULTS[name].items():
        slope = differences(
            lambda s, p=parameter, v=value: assembled_gradient(MAKERS[name](rest, **{p: v * (1 + s)}), x, len(x)), 1e-3
        )
        total = np.zeros_like(x)
        np.add.at(total, term.stencils, found[parameter])
        assert close(value * total, slope, 1e-7)


@pytest.mark.parametrize("name", MAKERS)
def test_rigid_motions_cost_nothing_and_forces_balance(name):
    rest, x = crumpled(6, spread=SPREAD[name])
    rng = np.random.default_rng(7)
    term = MAKERS[name](rest)
    turn, shift = rotation(rng), rng.standard_normal(3)
    scale = total_energy(term, x)
    assert total_energy(term, x @ turn.T + shift) == pytest.approx(scale, rel=1e-12)
    assert total_energy(term, rest.points @ turn.T + shift) <= 1e-24 * abs(scale)
    force = assembled_gradient(term, x, len(x))
    assert np.abs(force.sum(axis=0)).max() <= 1e-12 * np.abs(force).sum()
    assert np.abs(np.cross(x, force).sum(axis=0)).max() <= 1e-12 * np.abs(force).sum()
    turned = MAKERS[name](moved_rest(rest, rest.points @ turn.T + shift))
    assert total_energy(turned, x) == pytest.approx(scale, rel=1e-11)


@pytest.mark.parametrize("name", MAKERS)
def test_a_mesh_given_by_corners_is_the_same_mesh(name):
    rest, x = crumpled(8, spread=SPREAD[name])
    cut = RestShape.of(rest.mesh, rest.points[rest.mesh.faces])
    assert cut.torn
    assert not rest.torn
    one, other = MAKERS[name](rest), MAKERS[name](cut)
    assert total_energy(other, x) == pytest.approx(total_energy(one, x), rel=1e-12)
    assert close(assembled_gradient(other, x, len(x)), assembled_gradient(one, x, len(x)), 1e-10)
