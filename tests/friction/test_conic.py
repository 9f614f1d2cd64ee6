"""The conic form of a linearisation's problem: closed forms for a point, and Newton's method for a cloth."""

import numpy as np
import pytest
import scipy.sparse as sp

import isocloth as ic
from isocloth.contact.contact_set import ContactSet
from isocloth.contact.history import unknown_state
from isocloth.friction import fallback
from isocloth.friction.conic import solve_conic, tangents
from isocloth.solvers import contact_newton
from isocloth.solvers.contact_newton import ContactNewton

pytest.importorskip("clarabel")

INERTIA, SPRING = 50.0, 4e4  # N/m


def point(load, threshold, gap=0.0, slip=(0.0, 0.0, 0.0), anchor=(0.0, 0.0, 0.0), normal=(0.0, 0.0, 1.0)):
    """A point of mass on a surface under a load (3,) N: what `solve_conic` finds."""
    one = np.ones(1)
    nodes, weights = np.zeros((1, 4), dtype=np.int64), np.array([[1.0, 0.0, 0.0, 0.0]])
    number = np.zeros(1, dtype=np.int64)
    contacts = ContactSet(
        nodes, weights, np.array([normal]), gap * one, np.array([slip]), 0.5 * one, number, number, 0 * one
    )
    law = unknown_state(1)
    law.threshold[:], law.stiffness[:], law.anchor[:] = threshold, SPRING, anchor
    matrix = sp.csc_matrix(INERTIA * np.eye(3))
    found = solve_conic(matrix, -np.array(load), contacts, law, np.zeros(1, dtype=bool), np.zeros(3))
    assert found is not None
    return found[0], found[1][0]


def test_a_point_that_sticks_shares_its_load_between_spring_and_inertia():
    d, force = point([0.3, -0.4, -2.0], threshold=1.0)
    share = SPRING / (SPRING + INERTIA)
    assert force == pytest.approx([-0.3 * share, 0.4 * share, 2.0 * share], abs=1e-6)
    assert INERTIA * d == pytest.approx(np.array([0.3, -0.4, -2.0]) + force, abs=1e-6)


def test_a_point_that_slides_is_braked_by_the_threshold_against_its_slip():
    d, force = point([3.0, -4.0, -2.0], threshold=1.0)
    assert force[:2] == pytest.approx([-0.6, 0.8], abs=1e-5)
    assert d[:2] == pytest.approx([2.4 / INERTIA, -3.2 / INERTIA], rel=1e-5)


def test_a_point_holds_on_to_the_force_of_its_anchor():
    d, force = point([0.3, -0.4, -2.0], threshold=1.0, anchor=[-0.3, 0.4, 0.0])
    assert d[:2] == pytest.approx(0.0, abs=1e-9)
    assert force[:2] == pytest.approx([-0.3, 0.4], abs=1e-5)


def test_a_point_that_flies_off_is_not_pushed():
    d, force = point([0.0, 0.0, 1.0], threshold=0.0, gap=1e-3)
    assert force == pytest.approx(0.0, abs=1e-6)
    assert d == pytest.approx([0.0, 0.0, 1.0 / INERTIA], abs=1e-8)


def test_tangents_are_orthonormal():
    normal = np.random.default_rng(0).standard_normal((20, 3))
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    first, second = tangents(normal)
    frames = np.stack([normal, first, second], axis=1)
    assert frames @ frames.transpose(0, 2, 1) == pytest.approx(np.broadcast_to(np.eye(3), (20, 3, 3)), abs=1e-14)


def test_the_conic_form_and_newtons_method_agree_on_a_cloth(monkeypatch):
    apart = []

    def both(self, step, lam, contacts, law, curvature, *_):
        # whose thresholds stay as they are: the conic form lets none follow
        spent = contact_newton.semismooth_from(
            self.args, step.arrays, lam, contacts, law, self.contact.numbers, curvature, 1e-7, 40, np.inf
        )
        work, s = self.newton.work, 3 * len(step.held)
        push = np.einsum("cd,cd->c", law.force, contacts.normal)
        opened = (law.threshold > 0.0) & (push <= 0.0)  # there both differ by intention
        if spent > 0 and len(push) and not opened.any() and fallback.unsolved(contacts, law, work.solution) < 1e-9:
            matrix, g = self.linearised.at(step, work, lam, curvature)
            _, force = solve_conic(matrix, g, contacts, law, step.held, 0.5 * work.solution[:s])
            apart.append(np.abs(force - law.force).max() / np.abs(force).max())
        return spent, 0

    monkeypatch.setattr(ContactNewton, "_solve_linearised", both)
    mesh = ic.meshes.rectangle(0.5, 0.5, shape=(6, 6)).transformed(translation=[-0.2, -0.25, 0.21])
    obstacles = [ic.Sphere([0, 0, 0.1], 0.1, friction=0.4), ic.Floor(friction=0.3)]
    sim = ic.Simulation(mesh, ic.Fabric(density=0.2), obstacles=obstacles)
    for _ in range(40):
        sim.step()
    assert len(apart) > 40
    assert np.median(apart) < 1e-6
    assert np.quantile(apart, 0.9) < 1e-3


def draped(steps=30):
    """Reports of a cloth that falls on a sphere, its problems given up after one round from the first one on."""
    options = ic.ContactOptions(thoroughness=((1e-3, 1),), patience=0)
    mesh = ic.meshes.rectangle(0.5, 0.5, shape=(6, 6)).transformed(translation=[-0.2, -0.25, 0.21])
    ball = ic.Sphere([0, 0, 0.1], 0.1, friction=0.4)
    sim = ic.Simulation(mesh, ic.Fabric(density=0.2), obstacles=[ball], contact_options=options)
    return [sim.step() for _ in range(steps)]


def test_the_library_helps_where_newton_gives_up_and_the_report_says_so():
    reports = draped()
    assert sum(r.fallbacks for r in reports) > 0
    assert all(r.converged for r in reports)
    assert max(r.friction_residual for r in reports) <= 1e-2


def test_without_the_library_steps_go_on_as_they_did(monkeypatch):
    monkeypatch.setattr(fallback, "available", lambda: False)
    reports = draped()
    assert all(r.fallbacks == 0 for r in reports)
    assert np.isfinite([r.isometry_error for r in reports]).all()
