"""Bookkeeping of contacts from one iterate to the next."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from isocloth.cloth.system import BOUND, TENSION
from isocloth.contact.contact_set import ContactSet
from isocloth.contact.history import ContactHistory, unknown_state, warm_start
from isocloth.contact.options import ContactOptions
from isocloth.solvers.contact_newton import ContactNewton
from isocloth.solvers.coupling import each_once, pairs_of
from shapes.napkin import SECONDS, folded_napkin


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 10_000), st.integers(0, 60), st.integers(1, 40))
def test_pairs_are_kept_once_and_in_order(seed, count, nodes):
    pairs = np.random.default_rng(seed).integers(0, nodes, (count, 2))
    np.testing.assert_array_equal(each_once(pairs), np.unique(pairs, axis=0).reshape(-1, 2))


def test_pairs_of_contacts_are_those_of_the_nodes_that_are_used():
    contacts = ContactSet(
        np.array([[7, 2, 4, 5], [4, 7, 0, 0]]), np.array([[1.0, -0.5, -0.5, 0.0], [1.0, -1.0, 0.0, 0.0]]),
        np.zeros((2, 3)), np.zeros(2), np.zeros((2, 3)), np.zeros(2), np.zeros(2, dtype=np.int64),
        np.zeros(2, dtype=np.int64), np.zeros(2),
    )  # fmt: skip
    assert pairs_of(contacts).tolist() == [[2, 4], [2, 7], [4, 7]]


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 10_000), st.integers(0, 40), st.integers(0, 40))
def test_what_is_known_of_a_contact_is_found_by_its_key(seed, before, now):
    rng = np.random.default_rng(seed)
    names = np.concatenate([rng.integers(0, 2**40, 40), -rng.integers(0, 2**40, 10), 2**62 + rng.integers(0, 9, 10)])
    names = np.unique(names)
    old, new = rng.permutation(names)[:before], rng.permutation(names)[:now]
    known = unknown_state(len(old))
    known.threshold[:], known.force[:] = rng.normal(size=len(old)), rng.normal(size=(len(old), 3))
    found = warm_start(new, ContactHistory(old, known))
    for k, key in enumerate(new):
        there = np.flatnonzero(old == key)
        assert found.threshold[k] == (known.threshold[there[0]] if there.size else 0.0)
        np.testing.assert_array_equal(found.force[k], known.force[there[0]] if there.size else np.zeros(3))
        assert np.isnan(found.trial[k]).all()


def test_what_springs_give_way_while_a_load_changes_is_not_iterated_on():
    """A cloth that is folded: sticking springs carry ever other loads, and another iteration finds the same.

    How it lands decides as much as the tolerance, so every step is taken both ways from the same state.
    """
    sim = folded_napkin(6)
    solver, both = sim.stepper.contact, []
    for _ in range(round(0.72 * SECONDS / sim.timestep)):
        state = sim.state
        solver.contact = ContactOptions(loaded=0.0)
        eager, reached = sim.step(), sim.positions
        sim.state = state
        solver.contact = ContactOptions()
        both.append((sim.step(), eager, np.abs(sim.positions - reached).max()))
        assert both[-1][0].converged
    spared = np.array([eager.iterations - patient.iterations for patient, eager, _ in both])
    apart = np.array([apart for *_, apart in both])
    assert spared.min() >= 0
    assert np.median(apart[spared > 0]) < 1e-5
    assert spared.sum() > 0.05 * sum(eager.iterations for _, eager, _ in both)
    assert np.median([patient.friction_residual for patient, *_ in both]) < 1e-4  # most steps meet the law as closely


def test_the_factor_has_room_for_contacts_that_are_there_and_not_for_many_others():
    sim = folded_napkin(8)
    solver, seen = sim.stepper.contact, []
    lay_out = solver.lay_out

    def watched(pairs, positions):
        lay_out(pairs, positions)
        seen.append((len(pairs), solver.system.factor.flops, solver.coupling.flops))

    solver.lay_out = watched
    for _ in range(190):
        assert sim.step().converged
    pairs, flops, ordered = np.array(seen).T
    assert pairs.max() > 50  # the upper half lies on the lower one
    assert (flops <= solver.contact.reordered * ordered).all()
    assert (flops >= ordered / solver.contact.reordered).all()
    lying, free = sim.state.memory.coupling, solver.system._free[0].flops
    assert free < solver.system.factor.flops < 6 * free
    assert np.array_equal(lying.pairs, solver.coupling.pairs)
    # lifted off the lower half: nothing is left to make room for
    state = sim.state.copy()
    upper = state.positions[:, 2] > 1e-3
    state.positions[upper, 2] += 0.02
    sim.state = state
    sim.step()
    assert len(sim.state.memory.coupling.pairs) < 0.5 * len(lying.pairs)
    solver.restore(lying)
    assert np.array_equal(solver.system.order.variables, lying.order)
    assert np.array_equal(solver.system.order.group_ptr, lying.groups)


def test_an_order_made_for_other_pairs_gives_the_same_answer():
    sim = folded_napkin(8)
    for _ in range(180):
        sim.step()
    state, solver, ends = sim.state.copy(), sim.stepper.contact, []
    for anew in (False, True):
        sim.state = state
        if anew:
            solver.lay_out(np.zeros((0, 2), dtype=np.int64), sim.positions)
        sim.step()
        ends.append((sim.positions.copy(), solver.system.order.variables.copy()))
        assert len(solver.coupling.pairs) > 50
    assert not np.array_equal(ends[0][1], ends[1][1])
    np.testing.assert_allclose(ends[0][0], ends[1][0], atol=1e-9)


def test_steps_begin_without_the_stiffness_of_angles_and_go_on_with_it(monkeypatch):
    sim = folded_napkin(6)
    sim.stepper.contact.contact = ContactOptions(without_angles=2)
    solve_linearised, seen = ContactNewton._solve_linearised, []

    def watched(self, step, lam, contacts, law, curvature, *rest):
        seen.append(curvature)
        return solve_linearised(self, step, lam, contacts, law, curvature, *rest)

    def solve_watched(self, *given, **named):
        seen.clear()  # a step with an impact is solved again
        return solve_step(self, *given, **named)

    solve_step = ContactNewton.solve
    monkeypatch.setattr(ContactNewton, "_solve_linearised", watched)
    monkeypatch.setattr(ContactNewton, "solve", solve_watched)
    longest = []
    for _ in range(150):
        report = sim.step()
        if report.substeps == 1:
            longest = max(longest, list(seen), key=len)
    assert len(longest) > 3
    assert longest[0] == TENSION
    assert set(longest[4:]) <= {BOUND}  # where there is no room in the factor, a linearisation is tried twice
    assert BOUND in longest
    solve = sim.stepper.contact.solve
    careful = lambda *given, careful, **named: solve(*given, careful=True, **named)  # noqa: E731
    monkeypatch.setattr(sim.stepper.contact, "solve", careful)
    seen.clear()
    sim.step()
    assert set(seen) == {BOUND}
