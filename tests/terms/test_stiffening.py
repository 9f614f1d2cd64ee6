"""What stiffens in folds: derivatives, convexity, closed forms; the same in kernels, in matrices and as stencils."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad

import isocloth as ic
from isocloth.base.errors import InputError
from isocloth.base.typing import FloatArray
from isocloth.cloth.cloth import discretise, potential_energy
from isocloth.cloth.step import Past, Scheme, build_step
from isocloth.cloth.system import EXACT, NewtonSystem, assemble
from isocloth.models import Isometric
from isocloth.sparse.block_index import find_block
from isocloth.terms.bending import bending
from isocloth.terms.stiffening import Stiffening, at_nodes, bends, bends_along, joined, measures, room, stiffen
from isocloth.terms.term import assembled_blocks, assembled_gradient, total_energy

MESHES = {
    "quads": ic.meshes.rectangle(0.4, 0.3, shape=(6, 5)),
    "long quads": ic.meshes.rectangle(0.8, 0.3, shape=(6, 7)),
    "triangles": ic.meshes.irregular_rectangle(0.4, 0.3, nodes=30, seed=2),
}


def psi(u: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """psi and its derivatives."""
    found = np.empty((3, len(u)))
    measures(np.asarray(u, dtype=np.float64), found)
    return found[0] + u, found[1] + 1.0, found[2]


def crumpled(mesh: ic.Mesh, seed: int, spread: float = 0.03) -> FloatArray:
    return mesh.vertices + spread * np.random.default_rng(seed).standard_normal(mesh.vertices.shape)


def test_small_turns_cost_their_angle_squared() -> None:
    theta = np.array([0.05, 0.1, 0.2])
    off = psi((2.0 * np.sin(theta / 2.0)) ** 2)[0] - theta**2
    assert np.abs(off).max() < 2e-2 * theta.max() ** 6
    assert np.log2(off[2] / off[1]) == pytest.approx(6.0, abs=0.1)


def test_psi_rises_ever_faster_and_its_derivatives_are_those() -> None:
    u = np.linspace(0.0, 8.0, 4001)
    value, slope, _ = psi(u)
    assert (slope >= 1.0).all()
    assert (np.diff(slope) >= 0.0).all()
    at = 7.3
    assert quad(lambda w: float(psi(np.array([w]))[1][0]), 0.0, at, points=[4.0])[0] == pytest.approx(
        psi(np.array([at]))[0][0]
    )
    middle = (u[1:] + u[:-1]) / 2.0
    np.testing.assert_allclose(np.diff(value) / np.diff(u), psi(middle)[1], rtol=1e-4)
    np.testing.assert_allclose(np.diff(slope) / np.diff(u), psi(middle)[2], rtol=2e-3)


@pytest.mark.parametrize("name", MESHES)
def test_derivatives_are_those_of_finite_differences(name: str) -> None:
    mesh = MESHES[name]
    term, x, n = Stiffening(bends(mesh, 1e-3)), crumpled(mesh, 0), mesh.n_vertices
    way, h = np.random.default_rng(1).standard_normal(x.shape), 1e-7
    slope = assembled_gradient(term, x, n)
    rise = (total_energy(term, x + h * way) - total_energy(term, x - h * way)) / (2.0 * h)
    assert float(np.sum(slope * way)) == pytest.approx(rise, rel=1e-6)
    m = 3 * term.stencils.shape[1]
    blocks = np.empty((n, m, m))
    term.hessian(x, blocks, psd=False)
    turned = (assembled_blocks(term, blocks, n) @ way.ravel()).reshape(-1, 3)
    change = (assembled_gradient(term, x + h * way, n) - assembled_gradient(term, x - h * way, n)) / (2.0 * h)
    np.testing.assert_allclose(turned, change, atol=1e-6 * np.abs(change).max())
    assert np.linalg.eigvalsh(blocks).min() > -1e-9 * np.abs(blocks).max()  # convex as it is


@given(seed=st.integers(0, 1000), spread=st.floats(1e-4, 0.3), part=st.floats(0.0, 1.0))
@settings(max_examples=30, deadline=None)
def test_it_is_convex_in_the_positions(seed: int, spread: float, part: float) -> None:
    mesh = MESHES["triangles"]
    term, a, b = Stiffening(bends(mesh, 1e-3)), crumpled(mesh, seed, spread), crumpled(mesh, seed + 1, 0.05)
    between, ends = total_energy(term, part * a + (1.0 - part) * b), (total_energy(term, a), total_energy(term, b))
    assert between <= (part * ends[0] + (1.0 - part) * ends[1]) * (1.0 + 1e-9) + 1e-15


@pytest.mark.parametrize("name", MESHES)
def test_kernel_and_stencils_agree_and_rigid_motions_cost_nothing(name: str) -> None:
    mesh = MESHES[name]
    found, x = bends(mesh, 1e-3), crumpled(mesh, 3)
    term, force = Stiffening(found), np.zeros_like(x)
    energy = stiffen(found, room(found), x, force)
    assert energy == pytest.approx(total_energy(term, x))
    np.testing.assert_allclose(force, assembled_gradient(term, x, mesh.n_vertices), atol=1e-12 * np.abs(force).max())
    assert np.abs(force.sum(axis=0)).max() < 1e-9 * np.abs(force).max()
    q, _ = np.linalg.qr(np.random.default_rng(4).standard_normal((3, 3)))
    assert total_energy(term, x @ q + [1.0, -2.0, 3.0]) == pytest.approx(energy)
    assert total_energy(term, mesh.vertices @ q) == pytest.approx(0.0, abs=1e-25)
    half = (bends_along(mesh, x, x) * 1e-3).sum()  # along x the gradient of an energy that knows no place
    assert half == pytest.approx(float(np.sum(force * x)))


def test_a_strip_that_turns_by_an_angle_at_every_line_costs_what_psi_says() -> None:
    """The whole energy of bending, matrix and stiffening together, of a polygon of equal turns."""
    theta, h, width, kappa = 1.3, 0.02, 0.06, 1e-4
    mesh = ic.meshes.rectangle(h * 12, width, shape=(13, 4))
    turn = theta * np.arange(12)
    at = np.concatenate([np.zeros((1, 2)), np.cumsum(h * np.stack([np.cos(turn), np.sin(turn)], axis=1), axis=0)])
    line = np.rint(mesh.vertices[:, 0] / h).astype(int)
    x = np.stack([at[line, 0], mesh.vertices[:, 1], at[line, 1]], axis=1)
    model = Isometric(bending="stiffening")
    bent = discretise(mesh, ic.Fabric(density=0.2, bending=kappa), gravity=0.0, model=model)
    energy = potential_energy(bent, x) - 0.5 * float(np.sum(bent.rows.weight * bent.rows.values(x) ** 2))
    u = (2.0 * np.sin(theta / 2.0)) ** 2
    lines = 11  # that have curvature: those of the ends have none
    assert energy == pytest.approx(lines * width * kappa / (2.0 * h) * float(psi(np.array([u]))[0][0]), rel=1e-9)


def test_pieces_have_their_own() -> None:
    mesh = MESHES["quads"]
    n = mesh.n_vertices
    found = bends(mesh, 1e-3)
    both = joined([found, at_nodes(bends(mesh, 2e-3), np.arange(n, 2 * n))])
    x = np.concatenate([crumpled(mesh, 5), crumpled(mesh, 6)])
    force = np.zeros_like(x)
    whole = stiffen(both, room(both), x, force)
    parts = [stiffen(found, room(found), part.copy(), np.zeros((n, 3))) for part in (x[:n], x[n:])]
    assert whole == pytest.approx(parts[0] + 2.0 * parts[1])
    above = mesh.transformed(translation=[0.0, 0.0, 1.0])
    cloth = ic.Simulation(
        [mesh, above], [ic.Fabric(bending=1e-3), ic.Fabric(bending=2e-3)],
        bending_model="stiffening",
    ).cloth  # fmt: skip
    np.testing.assert_allclose(cloth.bends.scale, both.scale)
    np.testing.assert_array_equal(cloth.bends.ring, both.ring)


@pytest.mark.parametrize("whole", [True, False], ids=["room for all", "room within elements"])
@pytest.mark.parametrize("name", ["quads", "triangles"])
def test_newtons_matrix_has_it_or_bounds_it(name: str, whole: bool) -> None:
    mesh = MESHES[name]
    fabric = ic.Fabric(density=0.2, bending=1e-3)
    cloth = discretise(mesh, fabric, gravity=9.81, model=Isometric(bending="stiffening"))
    x = crumpled(mesh, 7)
    still, held = np.zeros_like(x), np.zeros(mesh.n_vertices, dtype=bool)
    step = build_step(cloth, Scheme(0.01, 1.0, 0.0), Past(x, still, x, still), x, held)
    system = NewtonSystem(cloth, None if whole else cloth.near_bending[0])
    bent = room(cloth.bends)
    stiffen(cloth.bends, bent, x, np.zeros_like(x))
    none = np.zeros((len(cloth.rows.nodes), 3))
    panels = []
    for folds in (cloth.bends, bends(mesh, 0.0)):
        assemble(
            system.assembly, system.factor.fronts, cloth.rows.arrays, none, np.zeros(len(cloth.rows)), step.inertia,
            step.arrays.bending, np.zeros(0), folds, bent if folds is cloth.bends else room(folds), held, EXACT,
        )  # fmt: skip
        panels.append(system.factor.fronts.panel.copy())
    index, n = system.assembly.block_index, mesh.n_vertices
    found = np.zeros((3 * n, 3 * n))
    for i in range(n):
        for j in range(n):
            if index.rank[i] <= index.rank[j] and (at := find_block(index, i, j)) >= 0:
                where = at + index.stride[i] * np.arange(3)[:, None] + np.arange(3)
                block = panels[0][where] - panels[1][where]
                found[3 * i : 3 * i + 3, 3 * j : 3 * j + 3] = block
                found[3 * j : 3 * j + 3, 3 * i : 3 * i + 3] = block.T
    m = 3 * cloth.folds.stencils.shape[1]
    blocks = np.empty((n, m, m))
    cloth.folds.hessian(x, blocks, psd=True)
    exact = assembled_blocks(cloth.folds, blocks, n).toarray()
    if whole:
        np.testing.assert_allclose(found, exact, atol=1e-9 * np.abs(exact).max())
    else:
        assert np.linalg.eigvalsh(found - exact).min() > -1e-9 * np.abs(exact).max()


def test_forces_of_the_matrix_are_not_counted_twice() -> None:
    """Of a cloth that is hardly bent, both ways to bend are one."""
    mesh = MESHES["quads"]
    x = crumpled(mesh, 8, 1e-5)
    force = np.zeros_like(x)
    stiffen(bends(mesh, 1.0), room(bends(mesh, 1.0)), x, force)
    assert np.abs(force).max() < 1e-3 * np.abs(bending(mesh) @ x).max()


def test_a_sharp_crease_opens() -> None:
    """A strip folded flat along a line of nodes: with the matrix alone it stays so."""
    mesh = ic.meshes.rectangle(0.2, 0.05, shape=(17, 5))
    x = mesh.vertices.copy()
    middle = 0.1
    x[:, 0] = middle - np.abs(x[:, 0] - middle)
    x[:, 2] = np.where(mesh.vertices[:, 0] > middle + 1e-9, 1.5e-3, 0.0)
    heights = {}
    for way in ("hessian", "stiffening"):
        sim = ic.Simulation(
            mesh, ic.Fabric(density=0.2, bending=1e-5, damping=0.4, thickness=1e-3), obstacles=[ic.Floor(height=-6e-4)],
            self_collision=True, bending_model=way,
        )  # fmt: skip
        sim.positions = x
        reports = sim.run(0.6).reports
        assert reports["converged"].all()
        heights[way] = float(sim.positions[:, 2].max())
    assert heights["hessian"] < 5e-3
    assert heights["stiffening"] > 1.0e-2  # 0.907 c is 1.56 cm


def test_projective_dynamics_refuses_it() -> None:
    mesh = ic.meshes.rectangle(0.2, 0.2, shape=(5, 5))
    with pytest.raises(InputError, match="constant"):
        ic.Simulation(
            mesh, ic.Fabric(bending=1e-5), model="mass_spring", solver="projective", bending_model="stiffening"
        )  # fmt: skip
