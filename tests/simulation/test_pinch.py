"""Grippers that hold cloth by friction, as a user meets them."""

import warnings

import numpy as np
import pytest

import isocloth as ic

FABRIC = ic.Fabric(density=0.2)
WIDTH, HEIGHT = 0.3, 0.4
WEIGHT = FABRIC.density * WIDTH * HEIGHT * 9.81
MU = 0.5
CENTRE, JAWS = [0.15, 0.0, -0.05], [0.16, 0.02, 0.12]


def shifted(*by):
    return np.add(CENTRE, by)


def hanging(nodes=7, **options):
    """A sheet that hangs in the plane y = 0, its upper border at z = 0."""
    mesh = ic.meshes.rectangle(WIDTH, HEIGHT, shape=(nodes, nodes), element=options.pop("element", "quad"))
    x, y, _ = mesh.vertices.T
    return ic.Simulation(
        mesh.with_vertices(np.stack([x, 0 * x, y - HEIGHT], axis=1)), options.pop("fabric", FABRIC), rest=mesh,
        **options,
    )  # fmt: skip


def pinched(share, *, centre=CENTRE, size=JAWS, **options):
    """A gripper whose friction bears `share` times the weight."""
    sim = hanging(**options.pop("cloth", {}))
    force = share * WEIGHT / (2 * MU)
    return sim, sim.pinch(centre, size, normal=[0, 1, 0], force=force, friction=MU, **options)


def advance(sim, duration):
    for _ in range(round(duration / sim.timestep)):
        report = sim.step()
        assert report.converged, report.problem
        assert report.substeps == 1


@pytest.mark.parametrize("element", ["quad", "triangle"])
@pytest.mark.parametrize("share", [1.01, 2.0])
def test_a_sheet_is_held_while_friction_bears_its_weight(share, element):
    sim, gripper = pinched(share, cloth={"element": element})
    advance(sim, 1.0)
    before = sim.positions.copy()
    advance(sim, 1.0)
    assert gripper.holding
    assert gripper.lost == 0
    assert gripper.slip.max() < 1e-4
    assert np.abs(sim.positions - before).max() < 1e-9
    assert gripper.force == pytest.approx([0.0, 0.0, -WEIGHT], abs=1e-3 * WEIGHT)


@pytest.mark.parametrize("share", [0.0, 0.5, 0.95, 0.99])
def test_a_sheet_slips_with_the_acceleration_that_friction_leaves(share):
    sim = hanging()
    gripper = sim.pinch(CENTRE, JAWS, normal=[0, 1, 0], force=max(share, 1e-9) * WEIGHT / (2 * MU), friction=MU)
    area = sim.cloth.area / sim.cloth.area.sum()
    speed = []
    while gripper.lost == 0 and len(speed) < 40:
        advance(sim, sim.timestep)
        speed.append(-float(area @ sim.velocities[:, 2]))
    acceleration = np.diff(speed[1:-1]).mean() / sim.timestep
    assert acceleration == pytest.approx(9.81 * (1 - share), rel=1e-2)
    assert gripper.force[2] == pytest.approx(-share * WEIGHT, rel=1e-3, abs=1e-6)


def test_slip_is_measured_and_what_slides_out_is_lost_until_nothing_is_left():
    sim, gripper = pinched(0.5)
    chosen = gripper.nodes
    start = sim.positions[chosen].copy()
    advance(sim, 0.05)
    assert gripper.slip == pytest.approx(start[:, 2] - sim.positions[chosen, 2], rel=1e-9)
    counts = []
    while gripper.holding:
        advance(sim, sim.timestep)
        counts.append(len(gripper.nodes))
        assert gripper.lost == len(chosen) - counts[-1]
    assert (np.diff(counts) <= 0).all()
    advance(sim, 0.05)
    assert not gripper.force.any()
    assert len(gripper.slip) == 0
    area = sim.cloth.area / sim.cloth.area.sum()
    falling = area @ sim.velocities[:, 2]
    advance(sim, 0.1)
    assert area @ sim.velocities[:, 2] - falling == pytest.approx(-0.981, rel=1e-3)


def test_the_remaining_nodes_bear_the_whole_force():
    sim, gripper = pinched(0.9)
    while gripper.lost == 0:
        advance(sim, sim.timestep)
    advance(sim, 0.03)
    assert gripper.force[2] == pytest.approx(-0.9 * WEIGHT, rel=1e-3)


@pytest.mark.parametrize("share", [1.7, 1.4])
def test_a_gripper_that_accelerates_upwards_needs_more_friction(share):
    # at g/2 the grip has to bear 1.5 times the weight
    rise = np.array([0.0, 0.0, 0.5 * 9.81])
    sim, gripper = pinched(2.0, path=lambda t: np.array(CENTRE) + 0.5 * max(t - 0.2, 0.0) ** 2 * rise)
    advance(sim, 0.2)
    gripper.press = share * WEIGHT / (2 * MU)
    advance(sim, 0.1)
    slip = [gripper.slip.max()]
    for _ in range(2):
        advance(sim, 0.05)
        slip.append(gripper.slip.max())
    if share > 1.5:
        assert gripper.force[2] == pytest.approx(-1.5 * WEIGHT, rel=1e-3)
        assert max(slip) < 1e-4
    else:
        assert gripper.force[2] == pytest.approx(-1.4 * WEIGHT, rel=1e-3)
        assert np.diff(slip, 2)[0] / 0.05**2 == pytest.approx(0.1 * 9.81, rel=1e-2)  # it stays behind


def test_two_grippers_share_the_weight_and_one_alone_loses_the_sheet():
    sim = hanging()
    options = {"normal": [0, 1, 0], "force": 0.6 * WEIGHT / (2 * MU), "friction": MU}
    left = sim.pinch([0.0, 0.0, -0.05], [0.12, 0.02, 0.12], **options)
    right = sim.pinch([0.3, 0.0, -0.05], [0.12, 0.02, 0.12], **options)
    assert sim.grippers == (left, right)
    advance(sim, 1.0)
    assert left.force + right.force == pytest.approx([0.0, 0.0, -WEIGHT], abs=1e-3 * WEIGHT)
    assert left.force[2] == pytest.approx(right.force[2], rel=1e-6)
    left.release()
    assert sim.grippers == (right,)
    assert not left.holding
    for _ in range(60):
        sim.step()
    assert not right.holding


def test_a_released_sheet_falls_freely_and_can_be_pinched_again():
    sim, gripper = pinched(2.0)
    advance(sim, 0.3)
    gripper.release()
    gripper.release()  # once more does no harm
    assert len(gripper.nodes) == 0
    advance(sim, 0.2)
    assert sim.velocities[:, 2] == pytest.approx(-9.81 * 0.2, rel=1e-3)
    again = sim.pinch(sim.positions[45], [0.12, 0.02, 0.12], normal=[0, 1, 0], force=50.0, friction=1.0)
    advance(sim, 0.3)
    assert np.abs(sim.velocities[again.nodes]).max() < 1e-2


def test_a_gripper_takes_the_cloth_along_and_around():
    sim = hanging(gravity=0.0, fabric=ic.Fabric(density=0.2, damping=1.0))

    def turn(t):
        angle = 0.8 * np.sin(2.0 * t) ** 2
        c, s = np.cos(angle), np.sin(angle)
        return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])

    def path(t):
        return shifted(0.0, 0.1 * np.sin(2.0 * t) ** 2, 0.0)

    gripper = sim.pinch(None, JAWS, normal=[0, 1, 0], force=20.0, friction=MU, path=path, rotation=turn)
    local = sim.positions[gripper.nodes] - CENTRE
    advance(sim, 0.7)
    expected = path(sim.time) + local @ turn(sim.time).T
    assert sim.positions[gripper.nodes] == pytest.approx(expected, abs=1e-4)
    assert gripper.slip.max() < 1e-4


def test_move_to_sends_a_gripper_and_turns_it():
    sim, gripper = pinched(10.0)
    for k in range(1, 21):
        gripper.move_to(shifted(0.0, 0.0, 0.002 * k))
        advance(sim, sim.timestep)
    assert gripper.pose[3] == pytest.approx(shifted(0.0, 0.0, 0.04))
    assert sim.positions[gripper.nodes, 2].max() == pytest.approx(0.04, abs=1e-4)
    quarter = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    gripper.move_to(gripper.pose[3], quarter)
    sim.step()
    assert gripper.pose[:3] == pytest.approx(quarter)


def test_a_gripper_that_jerks_arrives_and_a_restored_state_repeats_it():
    # few iterations allowed, so that the step is cut
    sim, gripper = pinched(50.0, cloth={"solver_options": ic.NewtonOptions(max_iterations=3)})
    advance(sim, 0.1)
    saved = sim.state.copy()
    c, s = np.cos(0.3), np.sin(0.3)
    turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    ends = []
    for _ in range(2):
        sim.state = saved
        gripper.move_to(shifted(0.0, 0.0, 0.03), turn)
        report = sim.step()
        ends.append(sim.positions.copy())
        assert np.array_equal(gripper.pose, np.vstack([turn, shifted(0.0, 0.0, 0.03)]))
    assert report.substeps > 1
    assert np.isfinite(ends[0]).all()
    assert np.array_equal(*ends)


def test_a_pinched_node_cannot_leave_along_the_normal_however_weak_the_friction():
    sim = hanging(gravity=0.0)
    gripper = sim.pinch(CENTRE, JAWS, normal=[0, 1, 0], force=1.0, friction=0.0)
    sim.velocities = np.tile([0.0, 0.3, 0.0], (sim.mesh.n_vertices, 1))
    for _ in range(10):
        sim.step()
    assert np.abs(sim.positions[gripper.nodes, 1]).max() < 0.1 * FABRIC.thickness
    assert sim.positions[0, 1] > 0.01


def test_a_gripper_works_among_obstacles_and_with_layers():
    floor = ic.Floor(-0.45, friction=0.4)
    sim = hanging(obstacles=[floor], self_collision=True, fabric=ic.Fabric(density=0.2, bending=1e-4, damping=0.5))
    gripper = sim.pinch(
        CENTRE, JAWS, normal=[0, 1, 0], force=4.0, friction=MU,
        path=lambda t: shifted(0.0, 0.0, -min(0.2 * t, 0.15)),
    )  # fmt: skip
    for _ in range(200):
        report = sim.step()
    assert report.min_gap > -1e-4
    assert -(gripper.force + floor.force)[2] == pytest.approx(WEIGHT, rel=2e-2)
    assert floor.force[2] < -0.01 * WEIGHT


def test_positions_may_be_assigned_while_a_gripper_holds():
    sim, gripper = pinched(2.0)
    advance(sim, 0.1)
    sim.positions = np.add(sim.positions, [0.0, 0.004, 0.001])
    advance(sim, 0.2)
    assert sim.positions[gripper.nodes, 1] == pytest.approx(0.004, abs=1e-4)
    assert gripper.slip.max() < 1e-4


# ------------------------------------------------------------------ saving and resuming


def slipping():
    sim = hanging(fabric=ic.Fabric(density=0.2, bending=1e-5))
    path = (np.array([0.0, 1.0]), np.array([CENTRE, shifted(0.1, 0.05, 0.02)]))
    gripper = sim.pinch(CENTRE, JAWS, normal=[0, 1, 0], force=0.93 * WEIGHT / (2 * MU), friction=MU, path=path)
    return sim, gripper


def test_a_restored_state_goes_on_with_the_same_bits_even_after_nodes_were_lost():
    whole, first = slipping()
    for _ in range(60):
        whole.step()
    saved, lost, slip = whole.state.copy(), first.lost, first.slip
    assert lost > 0
    for _ in range(20):
        whole.step()
    other, second = slipping()
    other.state = saved
    assert second.lost == lost
    assert np.array_equal(second.slip, slip)
    for _ in range(20):
        other.step()
    assert np.array_equal(whole.positions, other.positions)
    assert np.array_equal(first.force, second.force)


def test_a_gripper_without_a_path_returns_to_where_a_state_had_it():
    sim, gripper = pinched(5.0)
    for k in range(1, 6):
        gripper.move_to(shifted(0.0, 0.0, 0.001 * k))
        sim.step()
    saved, pose = sim.state.copy(), gripper.pose
    gripper.move_to(np.array(CENTRE))
    sim.step()
    once = sim.positions.copy()
    sim.state = saved
    assert np.array_equal(gripper.pose, pose)
    gripper.move_to(np.array(CENTRE))
    sim.step()
    assert np.array_equal(sim.positions, once)


def test_an_interrupted_run_resumes_with_the_same_bits(tmp_path):
    def stop(sim):
        if sim.time > 0.45:
            raise KeyboardInterrupt

    whole, _ = slipping()
    expected = whole.run(0.8, every=0.05)
    broken, _ = slipping()
    with pytest.raises(KeyboardInterrupt):
        broken.run(0.8, every=0.05, checkpoint=tmp_path / "run.npz", on_frame=stop)
    resumed, _ = slipping()
    found = resumed.run(0.8, every=0.05, checkpoint=tmp_path / "run.npz")
    assert np.array_equal(expected.positions, found.positions)


def test_a_resumed_run_releases_what_the_first_part_released_and_misses_what_is_not_pinched(tmp_path):
    def stop(sim):
        if sim.time > 0.25:
            raise KeyboardInterrupt
        if sim.time > 0.15:
            for gripper in sim.grippers:
                gripper.release()

    def start():
        return pinched(2.0, cloth={"fabric": ic.Fabric(density=0.2, bending=1e-5)})[0]

    whole = start()
    whole.run(0.2, every=0.05, on_frame=lambda sim: stop(sim) if sim.time > 0.15 else None)
    whole.run(0.2)
    broken = start()
    with pytest.raises(KeyboardInterrupt):
        broken.run(0.4, every=0.05, checkpoint=tmp_path / "run.npz", on_frame=stop)
    resumed = start()
    resumed.run(0.4, every=0.05, checkpoint=tmp_path / "run.npz")
    assert resumed.grippers == ()
    assert np.array_equal(whole.positions, resumed.positions)

    def stop_early(sim):
        raise KeyboardInterrupt

    held = start()
    with pytest.raises(KeyboardInterrupt):
        held.run(0.4, every=0.05, checkpoint=tmp_path / "held.npz", on_frame=stop_early)
    with pytest.raises(ValueError, match=r"was pinched.*pinch the same"):
        hanging(fabric=ic.Fabric(density=0.2, bending=1e-5)).run(0.4, every=0.05, checkpoint=tmp_path / "held.npz")


def test_a_state_of_other_grippers_is_warned_of():
    sim, gripper = pinched(2.0)
    before = sim.state.copy()
    sim.step()
    fresh = hanging()
    with pytest.warns(UserWarning, match="other grippers"):
        fresh.state = sim.state.copy()
    fresh.step()
    gripper.release()
    sim.pinch(CENTRE, [0.1, 0.02, 0.05], normal=[0, 1, 0], force=1.0, friction=1.0)
    with pytest.warns(UserWarning, match="other grippers"):
        sim.state = before
    sim.step()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sim.state = sim.state.copy()


# ------------------------------------------------------------------ bad input


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"force": -1.0}, "force = -1.0 N: expected a finite number, positive"),
        ({"force": 0.0}, "force = 0.0 N"),
        ({"force": np.inf}, "force = inf N"),
        ({"friction": -0.1}, "friction = -0.1"),
        ({"friction": np.inf}, "friction = inf"),
        ({"friction": np.nan}, "friction = nan"),
        ({"centre": [0.0, 0.0, 5.0]}, "no node is between the jaws.*m away"),
        ({"centre": [0.0, 0.0]}, "centre has shape"),
        ({"centre": None}, "centre is None and there is no path"),
        ({"size": [0.1, 0.0, 0.1]}, "three positive lengths"),
        ({"normal": [0.0, 0.0, 0.0]}, "normal.*not zero"),
        ({"rotation": 2 * np.eye(3)}, "rotation matrix"),
        ({"path": lambda t: [1.0, 0.0, 0.0]}, "the path is at .* now"),
    ],
)
def test_a_wrong_gripper_is_refused_and_leaves_nothing_behind(change, message):
    sim = hanging()
    given = {"centre": CENTRE, "size": JAWS, "normal": [0, 1, 0], "force": 1.0, "friction": MU, **change}
    state = sim.state
    with pytest.raises(ValueError, match=message):
        sim.pinch(given.pop("centre"), given.pop("size"), **given)
    assert sim.grippers == ()
    assert sim.state is state


def test_no_node_is_held_twice():
    sim, gripper = pinched(2.0)
    node = int(gripper.nodes[0])
    with pytest.raises(ValueError, match=f"node {node} is held already"):
        sim.grasp(node)
    with pytest.raises(ValueError, match=f"node {node} between the jaws is held already"):
        sim.pinch(CENTRE, JAWS, normal=[0, 1, 0], force=1.0, friction=MU)
    gripper.release()
    sim.grasp(node)
    with pytest.raises(ValueError, match=f"node {node} between the jaws is held already"):
        sim.pinch(CENTRE, JAWS, normal=[0, 1, 0], force=1.0, friction=MU)


def test_misuse_of_a_gripper_is_explained():
    sim, gripper = pinched(2.0, path=lambda t: shifted(0.0, 0.0, 5.0 * (t > 0.015)))
    with pytest.raises(ValueError, match="follows a path"):
        gripper.move_to(CENTRE)
    sim.step()
    state = sim.state
    with pytest.raises(ValueError, match="sent 5 m away"):
        sim.step()
    assert sim.state is state
    with pytest.raises(ValueError, match="press = -1"):
        gripper.press = -1
    sim, gripper = pinched(2.0)
    gripper.release()
    with pytest.raises(ValueError, match="was released"):
        gripper.move_to(CENTRE)
    with pytest.raises(ValueError, match="knows no contact"):
        hanging(solver="projection").pinch(CENTRE, JAWS, normal=[0, 1, 0], force=1.0, friction=MU)
