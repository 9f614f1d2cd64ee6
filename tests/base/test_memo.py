"""Results are kept by the content of their arguments, within bounds, and cannot be written to."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Barrier

import numpy as np
import pytest
import scipy.sparse as sp

import isocloth as ic
from isocloth.base import memo
from isocloth.base.memo import Memo, digest, memoised


@pytest.fixture(autouse=True)
def _forget():
    memo.clear()
    yield
    memo.clear()


def counted(function):
    """A memoised function, and the arguments of the calls that reached it."""
    calls = []

    def called(*args):
        calls.append(args)
        return function(*args)

    return memoised(called), calls


@dataclass(frozen=True)
class Pair:
    a: np.ndarray
    b: sp.csr_matrix


def test_a_result_is_found_by_the_content_of_the_arguments():
    doubled, calls = counted(lambda array, factor: factor * array)
    first = doubled(np.arange(3.0), 2.0)
    assert doubled(np.arange(3.0), 2.0) is first
    doubled(np.arange(3.0), 3.0)
    doubled(np.arange(3), 2.0)
    doubled(np.arange(3.0).reshape(3, 1), 2.0)
    assert len(calls) == 4
    memo.clear()
    assert doubled(np.arange(3.0), 2.0) is not first


def test_digests_tell_values_apart():
    quads, triangles = (ic.meshes.rectangle(1.0, 1.0, (3, 3), element=kind) for kind in ("quad", "triangle"))
    values = [
        None, True, 1, 1.0, "1", (1, 2), (1, (2,)), ((1,), 2), np.zeros(2), np.zeros((1, 2)), np.zeros(0),
        np.zeros(2, dtype=np.int64), sp.csr_matrix(np.eye(2)), sp.csr_matrix(np.ones((2, 2))),
        Pair(np.zeros(2), sp.csr_matrix((2, 2))), quads, triangles,
    ]  # fmt: skip
    assert len({digest(value) for value in values}) == len(values)
    assert digest(1, 2) != digest(12)
    assert digest(np.arange(6)[::2]) == digest(np.array([0, 2, 4]))
    with pytest.raises(TypeError, match="expected numbers, arrays"):
        digest(object())


def test_results_are_read_only():
    made = Pair(np.zeros(3), sp.csr_matrix(np.eye(3)))
    result, again = memoised(lambda: (made, np.ones(2)))()
    for array in (result.a, result.b.data, result.b.indices, again):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_the_longest_unused_goes_first():
    kept = Memo(entries=3, nbytes=10**6)
    for key in "abc":
        kept.get(key, lambda: np.zeros(1))
    kept.get("a", lambda: pytest.fail("it is known"))
    kept.get("d", lambda: np.zeros(1))
    made = []
    for key in "acdb":
        kept.get(key, lambda key=key: made.append(key))
    assert made == ["b"]
    assert len(kept) == 3
    assert (kept.hits, kept.misses) == (4, 5)


def test_bytes_are_bounded():
    kept = Memo(entries=100, nbytes=1000)
    for key in range(10):
        kept.get(key, lambda: (np.zeros(50), sp.csr_matrix((2, 2))))
        assert kept.nbytes <= 1000
    assert 1 <= len(kept) <= 2
    large = kept.get("large", lambda: np.zeros(1000))
    assert len(large) == 1000
    assert kept.nbytes <= 1000
    assert kept.get("large", lambda: None) is None  # it was not kept
    kept.clear()
    assert (len(kept), kept.nbytes) == (0, 0)


def test_threads_get_one_result():
    kept, gate = Memo(), Barrier(8)

    def ask(_):
        gate.wait()
        return kept.get("key", lambda: np.zeros(4))

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(ask, range(8)))
    assert all(result is found[0] for result in found)


def test_a_failure_is_not_kept():
    kept = Memo()
    with pytest.raises(ZeroDivisionError):
        kept.get("key", lambda: 1 // 0)
    assert kept.get("key", lambda: 3) == 3


@pytest.mark.parametrize("element", ["quad", "triangle"])
def test_a_simulation_of_an_equal_mesh_makes_nothing_anew(element):
    def sheet():
        return ic.meshes.rectangle(0.4, 0.3, (6, 5), element=element)

    fabric = ic.Fabric(bending=1e-5)
    one = ic.Simulation(sheet(), fabric, self_collision=True)
    misses = memo.memory().misses
    # what a learning loop draws at random
    other = ic.Simulation(sheet(), ic.Fabric(bending=2e-5, density=0.3, friction=0.1, damping=0.4), self_collision=True)
    assert memo.memory().misses == misses
    a, b = one.solver.system.factor, other.solver.system.factor
    assert a.symbolic is b.symbolic
    assert not np.shares_memory(a.fronts.panel, b.fronts.panel)


def run(sim, steps=12):
    sim.grasp([0])
    for _ in range(steps):
        sim.step()
    return sim.positions.copy()


@pytest.mark.parametrize("model", ["isometric", "elastic", "mass_spring", "quasi_inextensible", "nonconforming"])
def test_trajectories_have_the_same_bits_with_and_without_it(model):
    mesh = ic.meshes.rectangle(0.4, 0.3, (6, 5), element="triangle" if model == "nonconforming" else "quad")
    fabric = ic.Fabric(bending=1e-5, shear=20.0)
    cold = run(ic.Simulation(mesh, fabric, model=model))
    ic.Simulation(mesh, ic.Fabric(bending=3e-5, shear=10.0, density=0.5), model=model)
    warm = run(ic.Simulation(mesh, fabric, model=model))
    np.testing.assert_array_equal(warm, cold)


def test_simulations_that_share_do_not_disturb_each_other():
    """In turns, with contacts that lay the factor of one out anew."""
    flat = ic.meshes.rectangle(0.4, 0.4, (6, 6))
    fabric = ic.Fabric(density=0.2, bending=1e-5, friction=0.4, thickness=1e-3)

    def make(height):
        start = flat.with_vertices(flat.vertices + np.array([0.0, 0.0, height]))
        return ic.Simulation(start, fabric, rest=flat, obstacles=[ic.Floor(friction=0.4)], self_collision=True)

    heights = (0.5e-3, 0.02)
    alone = [run(make(height)) for height in heights]
    sims = [make(height) for height in heights]
    shared = sims[0].solver.system._shared
    assert sims[1].solver.system._shared is shared
    before = digest(*shared.symbolic.index, *shared.symbolic.block_index, *shared.maps, shared.stiffness)
    for sim in sims:
        sim.grasp([0])
    for _ in range(12):
        for sim in sims:
            sim.step()
    for sim, expected in zip(sims, alone, strict=True):
        np.testing.assert_array_equal(sim.positions, expected)
    assert digest(*shared.symbolic.index, *shared.symbolic.block_index, *shared.maps, shared.stiffness) == before


def test_simulations_in_threads_find_the_bits_of_one_thread():
    mesh = ic.meshes.rectangle(0.4, 0.4, (9, 9))

    def swing(density):
        return run(ic.Simulation(mesh, ic.Fabric(density=density, bending=1e-5)))

    densities = [0.1, 0.2, 0.3, 0.4]
    alone = [swing(density) for density in densities]
    memo.clear()
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(swing, densities))
    for a, b in zip(alone, together, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda sim: pickle.loads(pickle.dumps(sim))])
def test_a_copy_goes_on_with_the_same_bits_after_all_is_forgotten(duplicate):
    sim = ic.Simulation(ic.meshes.rectangle(0.4, 0.3, (6, 5)), ic.Fabric(bending=1e-5))
    sim.grasp([0])
    sim.step()
    other = duplicate(sim)
    memo.clear()
    for _ in range(5):
        sim.step()
        other.step()
    np.testing.assert_array_equal(other.positions, sim.positions)


def test_a_pickle_holds_one_simulation_and_not_the_memory():
    mesh = ic.meshes.rectangle(0.4, 0.3, (6, 5))
    size = len(pickle.dumps(ic.Simulation(mesh)))
    for nodes in (12, 14):
        ic.Simulation(ic.meshes.rectangle(0.4, 0.3, (nodes, nodes)))
    assert len(pickle.dumps(ic.Simulation(mesh))) < 1.01 * size


def test_corners_belong_to_the_content_of_a_mesh_and_its_name_does_not():
    mesh = ic.meshes.rectangle(0.4, 0.3, (6, 5))
    same = ic.Mesh(mesh.vertices, mesh.faces, corners=mesh.corners, name="another")
    assert same.digest == mesh.digest == ic.meshes.rectangle(0.4, 0.3, (6, 5)).digest
    assert ic.Mesh(mesh.vertices, mesh.faces, corners=mesh.corners[:3]).digest != mesh.digest
    assert mesh.transformed(translation=[0.0, 0.0, 1.0]).digest != mesh.digest
