import numpy as np
import pytest

import isocloth as ic

SHEET = ic.meshes.rectangle(0.3, 0.4, shape=(5, 6))


@pytest.mark.parametrize("timestep", [0.0, -0.01, 1.0, 10, float("nan"), float("inf")])
def test_a_timestep_out_of_range_is_refused(timestep):
    with pytest.raises(ValueError, match="timestep"):
        ic.Simulation(SHEET, timestep=timestep)


@pytest.mark.parametrize(
    ("options", "kind", "text"),
    [
        ({"integrator": "rk4"}, ValueError, "bdf2, euler"),
        ({"solver": "magic"}, ValueError, "newton, projection"),
        ({"discretisation": "fine"}, ValueError, "net, nodal, stabilised"),
        ({"bending_model": "spring"}, ValueError, "hessian"),
        ({"gravity": "down"}, TypeError, "gravity"),
        ({"gravity": -9.81}, ValueError, "magnitude"),
        ({"timestep": "fast"}, TypeError, "timestep"),
        ({"rest": np.zeros((3, 3))}, ValueError, "vertices"),
        ({"rest": ic.meshes.rectangle(1, 1, shape=(3, 3))}, ValueError, "other faces"),
        ({"solver_options": 3}, TypeError, "NewtonOptions"),
    ],
)
def test_options_are_checked_and_the_choices_named(options, kind, text):
    with pytest.raises(kind, match=text):
        ic.Simulation(SHEET, ic.Fabric(bending=1e-5), **options)


def test_a_typo_is_found_even_where_it_would_not_matter():
    with pytest.raises(ValueError, match="bending model"):
        ic.Simulation(SHEET, ic.Fabric(bending=0.0), bending_model="x")


def test_a_rest_shape_is_checked_like_a_mesh():
    with pytest.raises(ic.MeshError):
        ic.Simulation(SHEET, rest=np.zeros((30, 3)))


def test_arguments_that_are_not_a_mesh_or_a_fabric_are_named():
    with pytest.raises(TypeError, match=r"expected an isocloth\.Mesh"):
        ic.Simulation("shirt.obj")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"expected an isocloth\.Fabric"):
        ic.Simulation(SHEET, "denim")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("nodes", "kind", "text"),
    [
        ([99], ValueError, "node 99 does not exist"),
        ([-1], ValueError, "node -1"),
        ([0.5], TypeError, "integers"),
        ([], TypeError, "integers"),
        ([2, 2], ValueError, "twice"),
    ],
)
def test_nodes_to_grasp_are_checked(nodes, kind, text):
    with pytest.raises(kind, match=text):
        ic.Simulation(SHEET).grasp(nodes)


def test_a_node_is_held_once():
    sim = ic.Simulation(SHEET)
    sim.grasp([0, 1])
    with pytest.raises(ValueError, match="node 1 is held already"):
        sim.grasp([1, 2])


@pytest.mark.parametrize(
    ("path", "kind", "text"),
    [
        (lambda t: np.zeros(3), ValueError, r"expected \(2, 3\)"),
        (lambda t: np.full((2, 3), np.nan), ValueError, "not finite"),
        (np.zeros((10, 3, 3)), ValueError, r"expected \(steps, 2, 3\)"),
        ((np.arange(3.0), np.zeros((4, 2, 3))), ValueError, r"expected \(3, 2, 3\)"),
        ((np.array([0.0, 0.0]), np.zeros((2, 2, 3))), ValueError, "increasing"),
        ("circle", TypeError, "path = 'circle'"),
    ],
)
def test_paths_are_checked_when_they_are_given(path, kind, text):
    with pytest.raises(kind, match=text):
        ic.Simulation(SHEET).grasp([0, 5], path)


def test_a_path_that_jumps_further_than_the_cloth_is_long_is_refused_and_nothing_is_lost():
    sim = ic.Simulation(SHEET)
    grasp = sim.grasp(0)
    sim.step()
    before = sim.positions.copy()
    grasp.move_to([3.0, 0, 0])
    with pytest.raises(ValueError, match="node 0 is sent 3 m away"):
        sim.step()
    np.testing.assert_array_equal(sim.positions, before)


def test_positions_and_states_are_checked():
    sim = ic.Simulation(SHEET)
    with pytest.raises(ValueError, match="positions have shape"):
        sim.positions = np.zeros((3, 3))
    with pytest.raises(ValueError, match="velocities of node 0 are not finite"):
        sim.velocities = np.full((30, 3), np.nan)
    with pytest.raises(TypeError, match=r"sim\.state\.copy\(\)"):
        sim.state = {"positions": SHEET.vertices}  # type: ignore[assignment]
    other = ic.Simulation(SHEET, discretisation="nodal")
    with pytest.raises(ValueError, match="another mesh or discretisation"):
        sim.state = other.state


@pytest.mark.parametrize(("duration", "every"), [(0, None), (-1, None), (1.0, 0.015), (1.0, -0.1), (0.001, None)])
def test_runs_of_impossible_length_are_refused(duration, every):
    with pytest.raises(ValueError, match=r"duration|every"):
        ic.Simulation(SHEET).run(duration, every=every)
