import numpy as np
import pytest
import scipy.sparse as sp
from contact_problems import sheet
from hypothesis import given, settings
from hypothesis import strategies as st

import isocloth as ic
from isocloth.cloth.cloth import discretise
from isocloth.cloth.step import Past, Scheme, build_step
from isocloth.cloth.system import BOUND, NewtonSystem, assemble
from isocloth.friction.active_set import RULES, ActiveSetOptions, solve_active_set, solve_contact
from isocloth.friction.contact_qp import ContactQP
from isocloth.friction.contact_space import ContactRows
from isocloth.friction.library_qp import solve_clarabel
from isocloth.sparse.analysis import Analysis
from isocloth.sparse.cholesky import back_substitute, factorise, solve
from isocloth.sparse.multi_rhs import LANES, solve_eight, wanted_fronts
from isocloth.terms.stiffening import room


def optimal(problem, answer, scale=1.0):
    """The conditions of an optimum, to rounding."""
    assert answer.converged
    assert answer.conflict is None
    assert np.all(answer.multipliers >= 0.0)
    assert answer.residuals.primal <= 1e-10 * scale
    assert answer.residuals.dual <= 1e-9 * scale
    assert answer.residuals.complementarity <= 1e-9 * scale


def random_problem(rng, s, m, kind):
    """Rows that are random, of low rank, of small integers, along axes, or copies; always with a feasible point."""
    root = rng.standard_normal((s, s)) * 10.0 ** rng.uniform(-2, 0, s)
    matrix = root @ root.T + 1e-3 * np.eye(s)
    rows = rng.standard_normal((m, s))
    if kind == "rank":
        rank = int(rng.integers(1, s + 1))
        rows = rng.standard_normal((m, rank)) @ rng.standard_normal((rank, s))
    elif kind == "integers":
        rows = rng.integers(-1, 2, (m, s)).astype(float)
    elif kind == "axes":
        rows = np.zeros((m, s))
        rows[np.arange(m), rng.integers(0, s, m)] = rng.choice([-1.0, 1.0], m)
    elif kind == "copies" and m:
        rows = rows[rng.integers(0, max(1, m // 3), m)]
    gaps = -rows @ rng.standard_normal(s) + rng.integers(0, 2, m) * rng.random(m)
    return ContactQP(sp.csc_matrix(matrix), matrix @ rng.standard_normal(s) * 5.0, sp.csr_matrix(rows), gaps)


@settings(max_examples=150, deadline=None)
@given(
    st.integers(0, 10**6), st.integers(1, 30), st.integers(0, 60),
    st.sampled_from(["random", "rank", "integers", "axes", "copies"]), st.booleans(),
)  # fmt: skip
def test_degenerate_problems_are_solved_from_any_start(seed, s, m, kind, warm):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, s, m, kind)
    start = rng.permutation(m)[: rng.integers(0, m + 1)] if warm else None
    answer = solve_active_set(problem, start=start)
    assert answer.converged
    assert answer.residuals.primal <= 1e-8
    other = solve_clarabel(problem)
    best = pytest.approx(problem.objective(other.displacement), rel=1e-6, abs=1e-6)
    found = problem.objective(answer.displacement)
    if other.converged:
        assert found == best
    else:  # it says itself that it did not arrive: ours, which is feasible, may only be lower
        assert found == best or found < best.expected


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 12), st.integers(1, 40))
def test_no_feasible_point_is_proved_and_the_other_rows_hold(seed, s, m):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, s, m, "integers")._replace(H=rng.standard_normal(m))
    answer = solve_active_set(problem)
    if answer.conflict is None:
        assert answer.converged or answer.residuals.primal < 1e-8  # so close to a contradiction that rounding decides
        return
    proof = answer.conflict
    assert not answer.converged
    assert np.all(proof >= 0.0)
    assert problem.H @ proof < 0.0
    np.testing.assert_allclose(problem.J.T @ proof, 0.0, atol=1e-6 * proof.max())
    assert not solve_clarabel(problem).converged
    assert answer.residuals.dual < 1e-7 * max(1.0, answer.multipliers.max())
    # bounded: rows yield by a thousandth, so forces are at most a thousand, and gaps sqrt(1000), times those at rest
    assert answer.residuals.primal < 32.0 * np.abs(problem.H).max() * np.sqrt(m)


def test_squeezed_between_two_walls_both_yield_and_others_hold():
    rows = sp.csr_matrix(np.array([[1.0, 0, 0], [-1, 0, 0], [0, 1, 0]]))
    problem = ContactQP(sp.eye(3, format="csc"), np.zeros(3), rows, np.array([-1.0, 0.0, -1.0]))
    answer = solve_active_set(problem)
    assert not answer.converged
    np.testing.assert_allclose(answer.displacement, [0.5, 1.0, 0.0], atol=1e-3)
    assert answer.residuals.primal == pytest.approx(0.5, rel=1e-2)
    assert answer.displacement[1] == pytest.approx(1.0, abs=1e-9)
    np.testing.assert_allclose(answer.conflict, [1.0, 1.0, 0.0])


def test_a_pressed_and_squeezed_sheet_keeps_its_size():
    """Layers that cannot all be met: many contradictions at once, near-dependent rows, yet forces stay bounded."""
    problem, points = sheet((5, 6), "plane", fabric=ic.Fabric(density=0.2, bending=1e-4, membrane=1e7))
    rng = np.random.default_rng(2)
    lid = -problem.J + sp.csr_matrix(1e-6 * rng.standard_normal(problem.J.shape) * (problem.J.toarray() != 0))
    squeezed = problem._replace(
        J=sp.vstack([problem.J, lid], format="csr"), H=np.concatenate([problem.H, -problem.H - 1e-3])
    )
    answer = solve_active_set(squeezed, points=points)
    assert not answer.converged
    assert answer.conflict is not None
    assert answer.residuals.primal < 1.5e-3
    assert np.abs(answer.displacement).max() < 0.1


def test_a_row_without_a_gradient_holds_or_contradicts():
    problem = ContactQP(sp.eye(3, format="csc"), np.ones(3), sp.csr_matrix((1, 3)), np.ones(1))
    assert solve_active_set(problem).converged
    answer = solve_active_set(problem._replace(H=-np.ones(1)))
    assert not answer.converged
    assert answer.conflict[0] == 1.0
    np.testing.assert_allclose(answer.displacement, -1.0)


def test_without_rows_it_is_the_free_step():
    problem, points = sheet((5, 6), "plane")
    free = problem._replace(J=problem.J[:0], H=problem.H[:0])
    answer = solve_active_set(free, points=points)
    assert answer.iterations == 0
    optimal(free, answer)
    np.testing.assert_allclose(free.A @ answer.displacement, -free.g, atol=1e-10)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("shape", [(7, 9), (20, 20)])
@pytest.mark.parametrize("obstacle", ["plane", "sphere", "corner"])
def test_a_sheet_on_an_obstacle(shape, obstacle, rule):
    problem, points = sheet(shape, obstacle, reach=0.05)
    answer = solve_active_set(problem, points=points, options=ActiveSetOptions(rule=rule))
    optimal(problem, answer)
    active = np.flatnonzero(answer.multipliers > 0.0)
    assert len(active) > 0

    again = solve_active_set(problem, points=points, start=active, options=ActiveSetOptions(rule=rule))
    assert again.iterations == 0
    np.testing.assert_allclose(again.displacement, answer.displacement, atol=1e-12)

    garbage = np.random.default_rng(0).permutation(len(problem.H))[::2]
    again = solve_active_set(problem, points=points, start=garbage, options=ActiveSetOptions(rule=rule))
    optimal(problem, again)
    np.testing.assert_allclose(again.displacement, answer.displacement, atol=1e-10)


def test_a_flat_sheet_pressed_on_a_table_touches_everywhere():
    problem, points = sheet((9, 9), "plane")
    flat = problem._replace(H=np.zeros(len(problem.H)), g=np.where(np.arange(len(problem.g)) % 3 == 2, 0.1, 0.0))
    twice = flat._replace(J=sp.vstack([flat.J, flat.J], format="csr"), H=np.zeros(2 * len(flat.H)))
    one, two = solve_active_set(flat, points=points), solve_active_set(twice, points=points)
    for problem, answer in ((flat, one), (twice, two)):
        optimal(problem, answer)
        # nothing moves, so the contact forces carry the whole load
        assert answer.multipliers.sum() == pytest.approx(flat.g.sum(), rel=1e-6)
        assert np.abs(answer.displacement).max() < 1e-12
    np.testing.assert_allclose(one.displacement, two.displacement, atol=1e-12)


def test_more_rows_than_unknowns():
    rng = np.random.default_rng(3)
    normals = rng.standard_normal((400, 3))
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    problem = ContactQP(sp.eye(3, format="csc"), np.array([9.0, -3.0, 1.0]), sp.csr_matrix(normals), np.ones(400))
    answer = solve_active_set(problem)
    optimal(problem, answer)
    assert np.sum(answer.multipliers > 0.0) <= 3
    other = solve_clarabel(problem)
    np.testing.assert_allclose(answer.displacement, other.displacement, atol=1e-6)


def test_self_contact_rows_of_twelve_entries():
    """Two layers of one sheet: a row couples four nodes, neighbouring rows nearly depend on each other."""
    problem, points = sheet((9, 9), "plane")
    rng = np.random.default_rng(1)
    n = len(points)
    rows = np.zeros((200, 3 * n))
    for row in rows:
        nodes, weights = rng.choice(n, 4, replace=False), rng.dirichlet(np.ones(3))
        for node, w in zip(nodes, [1.0, *(-weights)], strict=True):
            row[3 * node : 3 * node + 3] = w * np.array([0.1, 0.0, 1.0])
    crowd = problem._replace(J=sp.csr_matrix(rows), H=rng.uniform(0.0, 1e-3, 200))
    answer = solve_active_set(crowd, points=points)
    optimal(crowd, answer)
    other = solve_clarabel(crowd)
    assert crowd.objective(answer.displacement) == pytest.approx(crowd.objective(other.displacement), rel=1e-6)


def test_the_limit_of_changes_is_kept_and_reported():
    problem, points = sheet((7, 9), "plane")
    answer = solve_active_set(problem, points=points, options=ActiveSetOptions(rule="paper", max_changes=5))
    assert not answer.converged
    assert answer.iterations == 5
    assert np.all(answer.multipliers >= 0.0)
    assert not solve_active_set(problem, points=points, options=ActiveSetOptions(max_changes=0)).converged


def test_the_same_problem_gives_the_same_bits():
    problem, points = sheet((9, 9), "corner", reach=0.05)
    analysis = Analysis(problem.A, points)
    answers = [solve_active_set(problem, analysis=analysis) for _ in range(3)]
    for answer in answers[1:]:
        np.testing.assert_array_equal(answer.displacement, answers[0].displacement)
        np.testing.assert_array_equal(answer.multipliers, answers[0].multipliers)


def test_the_order_of_elimination_needs_no_points():
    problem, points = sheet((9, 9), "sphere", reach=0.05)
    without, given_points = Analysis(problem.A), Analysis(problem.A, points)
    assert without.factor.flops < 3 * given_points.factor.flops
    np.testing.assert_allclose(
        solve_active_set(problem, analysis=without).displacement,
        solve_active_set(problem, analysis=given_points).displacement,
        atol=1e-11,
    )


def test_bad_input_is_refused():
    problem, points = sheet((4, 4), "plane")
    with pytest.raises(ValueError, match="start names row 99"):
        solve_active_set(problem, start=[0, 99])
    with pytest.raises(ValueError, match="not positive definite"):
        solve_active_set(problem._replace(A=-problem.A))
    with pytest.raises(ValueError, match="another pattern"):
        solve_active_set(problem, analysis=Analysis(sp.eye(len(problem.g), format="csc")))
    with pytest.raises(ValueError, match="one per node"):
        Analysis(problem.A, points[:3])
    with pytest.raises(ValueError, match="rule = 'bland'"):
        ActiveSetOptions(rule="bland")
    with pytest.raises(ValueError, match="positive tolerances"):
        ActiveSetOptions(tolerance=0.0)


def test_it_runs_on_newtons_own_factor_with_kept_multipliers():
    """With some multipliers kept as unknowns the factor is only quasi-definite, and has further scalars."""
    mesh = ic.meshes.rectangle(0.3, 0.3, shape=(6, 6))
    problem = discretise(mesh, ic.Fabric(density=0.2, bending=1e-4), gravity=9.81)
    assert problem.rows.kept.any()
    x = mesh.vertices
    v = np.zeros_like(x)
    held = np.zeros(problem.n, dtype=bool)
    held[mesh.corners[0]] = True
    step = build_step(problem, Scheme(0.01, 1.0, 0.0), Past(x, v, x, v), x, held)
    system = NewtonSystem(problem)
    rows = problem.rows
    entries = rows.jacobian(x).reshape(len(rows), -1, 3)
    slots = entries[np.repeat(np.arange(len(rows)), rows.sizes), rows.nodes]
    assemble(
        system.assembly, system.factor.fronts, rows.arrays, slots, np.zeros(len(rows)), step.inertia,
        step.arrays.bending, np.zeros(0), problem.bends, room(problem.bends), step.held, BOUND,
    )  # fmt: skip
    right = np.zeros(system.scalars)
    right[: 3 * problem.n] = np.where(np.repeat(held, 3)[:, None].ravel(), 0.0, problem.weight.ravel())
    d = right.copy()
    f = system.factor.fronts
    assert factorise(f, d)
    back_substitute(f, d)
    again = right.copy()
    solve(f, again)
    np.testing.assert_allclose(again, d, atol=1e-12)

    nodes = np.flatnonzero(~held)
    m = len(nodes)
    contact = ContactRows(np.arange(m + 1), 3 * nodes + 2, np.ones(m), np.full(m, 1e-4))
    gamma, conflict = np.empty(m), np.empty(m)
    answer = solve_contact(f, contact, d, gamma, np.empty(0, dtype=np.int64), conflict, 1e-10, 1e-13, 1000, None)
    assert answer.converged
    gaps = contact.gap + d[contact.indices]
    assert gaps.min() >= -1e-10
    assert np.all(gamma * gaps < 1e-12)
    assert gamma.max() > 0.0
    # A of the displacements alone, from the factor: columns of its inverse
    inverse = np.zeros((3 * problem.n, 3 * problem.n))
    for k in range(3 * problem.n):
        column = np.zeros(system.scalars)
        column[k] = 1.0
        solve(f, column)
        inverse[:, k] = column[: 3 * problem.n]
    inverse[np.diag(np.repeat(held, 3))] = 1.0  # held nodes do not move; any stiffness of theirs alone will do
    matrix = np.linalg.inv(inverse)
    rows_of = sp.csr_matrix((contact.data, contact.indices, contact.indptr), shape=(m, 3 * problem.n))
    same = ContactQP(sp.csc_matrix((matrix + matrix.T) / 2), -right[: 3 * problem.n], rows_of, contact.gap)
    other = solve_clarabel(same)
    np.testing.assert_allclose(d[: 3 * problem.n], other.displacement, atol=1e-7)


def test_what_is_not_a_number_does_not_converge():
    problem, points = sheet((4, 4), "plane")
    analysis = Analysis(problem.A, points)
    analysis.factorise(problem.A, np.zeros(len(problem.g)))
    rows = ContactRows(problem.J.indptr.astype(np.int64), problem.J.indices.astype(np.int64), problem.J.data, problem.H)
    m = len(problem.H)
    for d, start in ((np.full(len(problem.g), np.nan), []), (np.full(len(problem.g), np.inf), [0, 3])):
        chosen = np.array(start, dtype=np.int64)
        answer = solve_contact(
            analysis.factor.fronts, rows, d, np.empty(m), chosen, np.empty(m), 1e-10, 1e-13, 200, None
        )
        assert not answer.converged


def test_rows_that_nearly_depend_on_each_other_are_exchanged():
    """Parallel up to 1e-5, with gaps that only one of them can meet without an enormous force."""
    rng = np.random.default_rng(0)
    problem, points = sheet((5, 6), "plane")
    tilted = problem.J.toarray() + 1e-5 * rng.standard_normal(problem.J.shape) * (problem.J.toarray() != 0)
    shifted = np.roll(tilted, 1, axis=1) * 1e-5 + tilted
    crowd = problem._replace(
        J=sp.vstack([problem.J, sp.csr_matrix(shifted)], format="csr"),
        H=np.concatenate([problem.H, problem.H - 3e-4 * rng.random(len(problem.H))]),
    )
    for start in (None, np.arange(len(problem.H))):
        answer = solve_active_set(crowd, points=points, start=start)
        optimal(crowd, answer)
        other = solve_clarabel(crowd)
        assert crowd.objective(answer.displacement) == pytest.approx(crowd.objective(other.displacement), rel=1e-6)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 60), st.booleans())
def test_eight_right_hand_sides_at_once(seed, n, sparse):
    rng = np.random.default_rng(seed)
    points = rng.random((n, 2))
    near = np.argsort(((points[:, None] - points[None]) ** 2).sum(axis=2), axis=1)[:, : min(5, n)]
    pattern = sp.csr_matrix((np.ones(near.size), (np.repeat(np.arange(n), near.shape[1]), near.ravel())), shape=(n, n))
    half = sp.kron(pattern, np.ones((3, 3))).tocsr()
    half.data = rng.standard_normal(half.nnz)
    matrix = sp.csc_matrix(half + half.T + sp.diags_array(np.asarray(abs(half + half.T).sum(axis=1)).ravel() + 1.0))
    analysis = Analysis(matrix, points)
    f = analysis.factor.fronts
    analysis.factorise(matrix, np.zeros(3 * n))
    right = rng.standard_normal((3 * n, LANES))
    if sparse:
        right *= rng.random(right.shape) < 2.0 / (3 * n)
    touched = rng.random(3 * n) < 0.2
    wanted = np.zeros(len(f.size), dtype=bool)
    wanted_fronts(f, touched, wanted)
    x = right.copy()
    solve_eight(f, x, np.full((f.size.max() + LANES, LANES), np.nan), wanted)
    exact = np.linalg.solve(matrix.toarray(), right)
    np.testing.assert_allclose(x[touched], exact[touched], atol=1e-11)
    one = right[:, 0].copy()
    solve(f, one)
    np.testing.assert_allclose(one, exact[:, 0], atol=1e-11)
