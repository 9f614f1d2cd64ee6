"""Equilibria whose answers are known: a hanging strip, a standing one, an arch that snaps, and a cantilever."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import jn_zeros

import isocloth as ic


def strip(length: float, width: float, along: int, across: int = 3) -> ic.Mesh:
    """A strip along x."""
    return ic.meshes.rectangle(length, width, shape=(along, across))


def at_end(mesh: ic.Mesh, x: float, within: float) -> np.ndarray:
    return np.flatnonzero(np.abs(mesh.vertices[:, 0] - x) < within)


def upright(mesh: ic.Mesh, sign: float) -> ic.Mesh:
    """x becomes height, up or down."""
    x, y, z = mesh.vertices.T
    return mesh.with_vertices(np.stack([z, y, sign * x], axis=1))


def test_the_softest_mode_of_a_hanging_strip_has_the_frequency_of_a_hanging_chain() -> None:
    flat = strip(1.0, 0.1, 31)
    hung = ic.equilibrium(upright(flat, -1.0), ic.Fabric(density=0.2), held=at_end(flat, 0.0, 1e-9))
    assert hung.converged
    assert hung.stable
    exact = (jn_zeros(0, 1)[0] / 2.0) ** 2 * 9.81
    assert hung.smallest_eigenvalue == pytest.approx(exact, rel=0.01)
    assert np.abs(hung.softest_mode[:, 0]).max() == 1.0  # out of its plane


def test_a_strip_stands_up_to_greenhills_height_and_no_further() -> None:
    flat, density, bending = strip(0.3, 0.05, 31), 0.1, 1e-4
    mesh, held = upright(flat, 1.0), at_end(flat, 0.0, 0.0101)
    length = 0.3 - 0.005  # from the middle of the held element

    def eigenvalue(gravity: float) -> float:
        fabric = ic.Fabric(density=density, bending=bending)
        standing = ic.equilibrium(mesh, fabric, held=held, gravity=gravity)
        assert standing.converged
        assert np.abs(standing.positions - mesh.vertices).max() < 1e-5
        assert standing.stable == (standing.smallest_eigenvalue > -1e-4)
        return standing.smallest_eigenvalue

    exact = 7.837 * bending / (density * length**3)
    critical = brentq(eigenvalue, 0.8 * exact, 1.2 * exact, xtol=1e-4 * exact)
    assert critical == pytest.approx(exact, rel=0.01)


def test_a_cantilever_droops_as_the_heavy_elastica_does() -> None:
    flat, density, bending = strip(0.2, 0.04, 41), 0.2, 1e-3
    length = 0.2 - 0.0025
    gravity = 10.0 * bending / (density * length**3)
    fabric = ic.Fabric(density=density, bending=bending)
    bent = ic.equilibrium(flat, fabric, held=at_end(flat, 0.0, 0.0051), gravity=gravity)
    assert bent.converged
    assert bent.stable
    tip = bent.positions[at_end(flat, 0.2, 1e-9)].mean(axis=0)
    assert -tip[2] / (tip[0] - 0.0025) == pytest.approx(1.06680, rel=0.01)
    weight = density * gravity * 0.2 * 0.04
    assert bent.grasp is not None
    assert bent.forces[bent.grasp].force == pytest.approx([0.0, 0.0, -weight], abs=1e-6 * weight)


@pytest.fixture(scope="module")
def arch() -> ic.Equilibrium:
    """A strip between two clamps that are nearer than it is long, bent upwards in little gravity."""
    flat = strip(0.3, 0.03, 31)
    held = np.concatenate([at_end(flat, 0.0, 0.0101), at_end(flat, 0.3, 0.0101)])
    places = flat.vertices[held] - 0.005 * np.sign(flat.vertices[held] - 0.15) * [1.0, 0.0, 0.0]
    x = flat.vertices[:, 0]
    start = flat.vertices + 0.03 * np.sin(np.pi * x / 0.3)[:, None] ** 2 * [0.0, 0.0, 1.0]
    fabric = ic.Fabric(density=0.2, bending=1e-3)
    return ic.equilibrium(flat, fabric, held=dict(zip(held.tolist(), places, strict=True)), start=start, gravity=1.0)


def middle(found: ic.Equilibrium) -> float:
    return float(found.positions[np.abs(found.positions[:, 0] - 0.15) < 0.006, 2].mean())


def test_a_branch_is_followed_around_the_point_where_an_arch_snaps(arch: ic.Equilibrium) -> None:
    assert arch.converged
    assert arch.stable
    assert middle(arch) > 0.02
    branch = arch.branch("gravity", step=1.0 - 1e-9, count=14)
    assert branch.turns
    turn = branch.turns[0]
    assert branch.values[turn] == branch.values[: turn + 2].max()
    assert all(e.converged for e in branch.equilibria)
    # before it turns it sways: from where the arch would snap askew, the branch of those that are symmetric is unstable
    assert [e.stable for e in (branch.equilibria[1], branch.equilibria[turn], branch.equilibria[-1])] == [
        True, False, False,
    ]  # fmt: skip
    heights = [middle(e) for e in branch.equilibria]
    assert heights[-1] < heights[0]


def test_an_arch_snaps_through_where_its_branch_ends(arch: ic.Equilibrium) -> None:
    followed = arch.continued("gravity", [4.0, 400.0])
    assert [e.snapped for e in followed] == [False, True]
    assert all(e.converged and e.stable for e in followed)
    assert middle(followed[0]) > 0.02
    assert middle(followed[1]) < -0.02
    with pytest.raises(ic.ConvergenceError, match=r"branch was lost at 400.*\.branch"):
        arch.continued("gravity", [400.0], stable=False)


def test_a_flat_strip_that_is_pressed_together_buckles() -> None:
    flat = strip(0.3, 0.03, 31)
    held = np.concatenate([at_end(flat, 0.0, 0.0101), at_end(flat, 0.3, 0.0101)])
    places = flat.vertices[held] - 0.005 * np.sign(flat.vertices[held] - 0.15) * [1.0, 0.0, 0.0]
    fabric = ic.Fabric(density=0.2, bending=1e-3)
    found = ic.equilibrium(flat, fabric, held=dict(zip(held.tolist(), places, strict=True)), gravity=0.0)
    assert found.converged
    assert found.stable
    assert abs(middle(found)) > 0.02
