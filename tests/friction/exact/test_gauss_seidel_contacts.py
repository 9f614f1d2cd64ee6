"""Gauss-Seidel over contacts: certificates, the recorded problems, and what is not unique."""

from pathlib import Path

import numpy as np
import pytest
from scipy.sparse.linalg import spsolve

from isocloth.friction.active_set import ActiveSetOptions, solve_active_set
from isocloth.friction.contact_qp import ContactQP
from isocloth.friction.exact.contact_space import CoulombProblem, frames_of
from isocloth.friction.exact.error import law_error
from isocloth.friction.exact.recorded import solve_recorded, touching_of
from isocloth.friction.exact.solve import GaussSeidelOptions, gauss_seidel

RECORDED = sorted((Path(__file__).parents[1] / "recorded").glob("*.npz"))


def random_contacts(seed, count, mu, rank=None):
    """Contacts on random bodies; with a rank below 3 count, forces are not unique."""
    rng = np.random.default_rng(seed)
    rank = rank or 3 * count + 2
    H = rng.standard_normal((3 * count, rank))
    b = H @ rng.standard_normal(rank)  # some motion of the bodies, so that another one opens all contacts
    b[::3] -= 0.5
    return CoulombProblem(H @ H.T, b, np.full(count, mu), np.full(count, -1.0))


def test_frames_are_right_handed_and_orthonormal():
    rng = np.random.default_rng(0)
    normal = rng.standard_normal((50, 3))
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    frames = frames_of(normal)
    assert np.einsum("kid,kjd->kij", frames, frames) == pytest.approx(np.tile(np.eye(3), (50, 1, 1)), abs=1e-14)
    assert np.linalg.det(frames) == pytest.approx(np.ones(50))
    assert frames[:, 0] == pytest.approx(normal)


@pytest.mark.parametrize("mu", [0.0, 0.3, 0.8])
@pytest.mark.parametrize("seed", range(5))
def test_forces_of_random_contacts_meet_the_law(seed, mu):
    problem = random_contacts(seed, 12, mu)
    answer = gauss_seidel(problem)
    assert answer.converged
    assert answer.error < 1e-10
    assert answer.mean_error <= answer.error
    u = problem.W @ answer.force + problem.b
    assert answer.displacement == pytest.approx(u, abs=1e-12 * np.abs(u).max())
    u, r = u.reshape(-1, 3), answer.force.reshape(-1, 3)
    scale = np.abs(r).max() * np.diag(problem.W).max()
    assert u[:, 0].min() > -1e-9 * scale
    assert np.abs(u[:, 0] * r[:, 0]).max() < 1e-8 * scale * np.abs(r).max()
    assert np.all(np.linalg.norm(r[:, 1:], axis=1) <= mu * r[:, 0] + 1e-9 * np.abs(r).max())


def test_sweeps_alone_find_the_same_as_with_newton():
    problem = random_contacts(3, 6, 0.2)
    alone = gauss_seidel(problem, options=GaussSeidelOptions(burst=0, max_sweeps=100_000))
    both = gauss_seidel(problem)
    assert alone.converged
    assert both.converged
    assert alone.newton_steps == 0
    assert both.sweeps < alone.sweeps
    assert both.force == pytest.approx(alone.force, rel=1e-5, abs=1e-6 * np.abs(alone.force).max())


def test_where_contacts_replace_each_other_displacements_are_found_all_the_same():
    once = random_contacts(1, 4, 0.0)
    twice = np.concatenate([np.arange(12), np.arange(12)])
    double = CoulombProblem(once.W[np.ix_(twice, twice)], once.b[twice], np.zeros(8), np.full(8, -1.0))
    single, both = gauss_seidel(once), gauss_seidel(double)
    assert both.converged
    assert both.displacement[:12] == pytest.approx(single.displacement, abs=1e-8)
    assert both.force[:12] + both.force[12:] == pytest.approx(single.force, abs=1e-7)


def test_contradicting_contacts_are_reported():
    W = np.kron(np.array([[1.0, -1.0], [-1.0, 1.0]]), np.eye(3))  # two walls that squeeze one point
    problem = CoulombProblem(W, np.array([-1.0, 0, 0, -1.0, 0, 0]), np.zeros(2), np.full(2, -1.0))
    answer = gauss_seidel(problem, options=GaussSeidelOptions(max_sweeps=100))
    assert not answer.converged
    assert answer.sweeps == 100
    assert answer.error > 1e-10


def test_the_error_vanishes_at_answers_and_nowhere_else():
    problem = random_contacts(2, 5, 0.4)
    answer = gauss_seidel(problem)
    mean, worst, largest = law_error(problem, answer.displacement, answer.force)
    assert mean <= worst < 1e-10 * largest
    moved = answer.force.copy()
    moved[1] += 0.1 * largest
    assert law_error(problem, problem.W @ moved + problem.b, moved)[1] > 1e-3 * largest


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_recorded_problems_have_the_same_answer_as_by_the_active_set(path):
    problem = ContactQP.load(path)
    best = solve_active_set(problem, options=ActiveSetOptions(tolerance=1e-14))
    answer = solve_recorded(problem)
    assert answer.certificate.converged
    size = max(np.abs(spsolve(problem.A, problem.g)).max(), np.abs(best.displacement).max())
    assert np.abs(answer.displacement - best.displacement).max() < 1e-6 * size
    pressing = np.flatnonzero((answer.multipliers > 0.0) | (best.multipliers > 0.0))
    values = np.linalg.eigvalsh(answer.problem.W[np.ix_(3 * pressing, 3 * pressing)])
    if answer.certificate.error * values[-1] < 1e-7 * values[0]:
        assert np.abs(answer.multipliers - best.multipliers).max() < 1e-6 * best.multipliers.max()


@pytest.mark.parametrize("path", RECORDED[:3], ids=lambda path: path.stem)
def test_recorded_problems_with_friction_meet_the_law_and_balance_the_cloth(path):
    problem = ContactQP.load(path)
    answer = solve_recorded(problem, friction=0.4)
    assert answer.certificate.converged
    touching = touching_of(problem)
    load = np.zeros(len(problem.g))
    for nodes, weights, force in zip(touching.nodes, touching.weights, answer.force, strict=True):
        for node, weight in zip(nodes, weights, strict=True):
            load[3 * node : 3 * node + 3] += weight * force
    assert np.abs(problem.A @ answer.displacement + problem.g - load).max() < 1e-8 * np.abs(load).max()
    gaps = problem.H + problem.J @ answer.displacement
    assert gaps.min() > -1e-9 * np.abs(problem.H).max()


def test_bad_options_and_problems_are_named():
    with pytest.raises(ValueError, match="positive tolerance"):
        GaussSeidelOptions(tolerance=0.0)
    with pytest.raises(ValueError, match="burst"):
        GaussSeidelOptions(burst=-1)
    with pytest.raises(ValueError, match="friction = -1"):
        solve_recorded(ContactQP.load(RECORDED[0]), friction=-1.0)
