"""Recordings from other files and from simulations; resampling, lag, axes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import isocloth as ic
from isocloth.recordings.axes import infer_up, turned
from isocloth.recordings.sampling import weights_at
from recordings.motive_files import COLUMNS, LABELS, ROWS, export, motion
from recordings.shared import SHARED

DATA = SHARED / "wam_swing" / "open"


@pytest.fixture(scope="module")
def swung() -> ic.Trajectory:
    mesh = ic.meshes.rectangle(0.3, 0.4, (7, 9))
    upright = mesh.with_vertices(mesh.vertices[:, [0, 2, 1]])
    sim = ic.Simulation(upright, ic.Fabric(density=0.2, damping=0.3), rest=mesh)
    held = upright.nearest([[0.0, 0.0, 0.4], [0.3, 0.0, 0.4]])
    start = upright.vertices[held]
    sim.grasp(held, lambda t: start + np.array([0.0, 0.1 * np.sin(3.0 * t) ** 2, 0.0]))
    return sim.run(1.0)


# ------------------------------------------------------------------- synthetic


def test_a_simulation_becomes_a_recording_with_noise_and_gaps(swung: ic.Trajectory) -> None:
    clean = ic.recordings.from_trajectory(swung, markers=(5, 4))
    noisy = ic.recordings.from_trajectory(swung, markers=(5, 4), noise=1e-3, missing=0.05, longest_loss=0.1, seed=3)
    assert clean.mesh is not None
    assert clean.size == pytest.approx((0.3, 0.4))
    assert noisy.missing_share == pytest.approx(0.05, abs=0.01)
    assert np.nanstd(noisy.positions - clean.positions) == pytest.approx(1e-3, rel=0.05)
    # markers lie where the rest shape says: the corners are nodes of the simulation
    assert clean.positions[:, 0] == pytest.approx(swung.positions[:, 8], abs=1e-12)
    assert clean.positions[:, -1] == pytest.approx(swung.positions[:, 54], abs=1e-12)
    assert clean.held_labels == ("1", "4")
    assert clean.fabric is not None
    assert clean.fabric.damping == 0.3
    assert np.array_equal(
        noisy.positions,
        ic.recordings.from_trajectory(
            swung, markers=(5, 4), noise=1e-3, missing=0.05, longest_loss=0.1, seed=3
        ).positions,
        equal_nan=True,
    )


def test_nodes_of_a_simulation_are_markers_too(swung: ic.Trajectory) -> None:
    every = ic.recordings.from_trajectory(swung, rate=50.0)
    assert every.positions.shape == (51, 63, 3)
    assert set(every.held) == {8, 62}
    assert ic.recordings.from_trajectory(swung, markers=[0, 5]).positions.shape == (101, 2, 3)
    with pytest.raises(ValueError, match="share"):
        ic.recordings.from_trajectory(swung, missing=1.5)


def test_an_upright_rest_shape_is_laid_down() -> None:
    flat = ic.meshes.rectangle(0.3, 0.4, (3, 4))
    upright = flat.with_vertices(flat.vertices[:, [0, 2, 1]])
    moved = ic.Trajectory(
        times=[0.0, 0.1], positions=np.stack([upright.vertices] * 2), faces=flat.faces, rest=upright.vertices
    )
    assert ic.recordings.from_trajectory(moved).mesh.vertices == pytest.approx(flat.vertices)


def test_weights_between_nodes_agree_with_linear_functions() -> None:
    random = np.random.default_rng(0)
    for element in ("quad", "triangle"):
        mesh = ic.meshes.rectangle(0.3, 0.4, (5, 4), element=element)
        places = random.random((30, 2)) * [0.3, 0.4]
        weights, nodes = weights_at(mesh.vertices[:, :2], mesh.faces, places)
        linear = mesh.vertices[:, :2] @ [2.0, -3.0] + 1.0
        assert (weights * linear[nodes]).sum(axis=1) == pytest.approx(places @ [2.0, -3.0] + 1.0, abs=1e-12)
        with pytest.raises(ic.RecordingError, match="outside the cloth"):
            weights_at(mesh.vertices[:, :2], mesh.faces, np.array([[0.5, 0.1]]))


# ----------------------------------------------------------------------- files


@pytest.mark.parametrize("suffix", [".npz", ".h5"])
def test_a_recording_is_saved_and_read_back(suffix: str, tmp_path: Path) -> None:
    before = ic.Recording.load(export("extra").write(tmp_path / "denim_A2_twist_slow_hanger.csv"))
    before.save(tmp_path / f"kept{suffix}")
    after = ic.Recording.load(tmp_path / f"kept{suffix}")
    assert np.array_equal(before.positions, after.positions, equal_nan=True)
    assert (before.labels, before.fabric, before.notes, before.up) == (
        after.labels,
        after.fabric,
        after.notes,
        after.up,
    )
    assert np.array_equal(before.held, after.held)
    assert before.metadata == after.metadata
    assert set(before.others) == set(after.others)
    assert after.mesh is not None
    assert np.array_equal(before.mesh.vertices, after.mesh.vertices)
    with pytest.raises(ValueError, match="saved as"):
        before.save(tmp_path / "kept.txt")


def test_what_a_file_of_our_own_knows_cannot_be_said_otherwise_and_a_fabric_can(
    swung: ic.Trajectory, tmp_path: Path
) -> None:
    swung.save(tmp_path / "run.h5")
    ic.Recording.load(tmp_path / "run.h5").save(tmp_path / "kept.npz")
    for name in ("run.h5", "kept.npz"):
        file = tmp_path / name
        plain = ic.Recording.load(file)
        same = ic.Recording.load(file, units="metres", up="z", fabric=ic.Fabric(density=0.7))
        np.testing.assert_array_equal(same.positions, plain.positions)
        assert same.fabric == ic.Fabric(density=0.7)
        with pytest.raises(ic.RecordingError, match=r"units = 'mm' for .* in metres"):
            ic.Recording.load(file, units="mm")
        with pytest.raises(ic.RecordingError, match=r"up = 'y' for .* with z up"):
            ic.Recording.load(file, up="y")
        with pytest.raises(ic.RecordingError, match="knows its own held"):
            ic.Recording.load(file, held=["1", "2"])


def test_a_trajectory_file_is_a_recording(swung: ic.Trajectory, tmp_path: Path) -> None:
    swung.save(tmp_path / "run.h5")
    recording = ic.Recording.load(tmp_path / "run.h5")
    assert recording.positions == pytest.approx(swung.positions)
    assert recording.mesh is not None


@pytest.mark.parametrize(
    "head",
    ["{m}_{a}", "{m}.{a}", "{a}{m}", "{a}_{m} (mm)", "{m} {A} [mm]"],
    ids=["under", "dot", "prefix", "mm", "upper"],
)
@pytest.mark.parametrize("cut", [",", ";", "\t"])
def test_plain_tables_are_read(head: str, cut: str, tmp_path: Path) -> None:
    times = np.arange(12) / 30.0
    points = motion(times)
    points[3, 7] = np.nan
    scale = 1000.0 if "mm" in head else 1.0
    titles = ["time", *[head.format(m=m, a=a, A=a.upper()) for m in LABELS for a in "xyz"]]
    lines = ["# made by hand", cut.join(titles)]
    for t, frame in zip(times, points * scale, strict=True):
        cells = [f"{t:.9f}", *["" if np.isnan(x) else f"{x:.9f}" for x in frame.ravel()]]
        lines.append(cut.join(c.replace(".", ",") if cut == ";" else c for c in cells))
    (tmp_path / "t.csv").write_text("\n".join(lines))
    recording = ic.Recording.load(tmp_path / "t.csv")
    assert recording.positions == pytest.approx(points, abs=1e-8, nan_ok=True)
    assert recording.held_labels == ("1", "4")


def test_comments_of_a_table_say_units_and_axis(tmp_path: Path) -> None:
    points = motion(np.arange(4) / 30.0)[:, :, [0, 2, 1]] * [1, 1, -1] * 100.0
    text = "# units: cm\n# up: y\nt," + ",".join(f"{m}_{a}" for m in LABELS for a in "xyz")
    for f, frame in enumerate(points):
        text += f"\n{f / 30.0}," + ",".join(str(x) for x in frame.ravel())
    (tmp_path / "t.csv").write_text(text)
    recording = ic.Recording.load(tmp_path / "t.csv")
    assert (recording.units, recording.up) == ("cm", "y")
    assert recording.positions == pytest.approx(motion(np.arange(4) / 30.0), abs=1e-9)


def test_arrays_of_others_are_read(tmp_path: Path) -> None:
    times = np.arange(30) / 30.0
    points = motion(times)
    np.savez(tmp_path / "markers.npz", t=times, markers=points * 1000.0, units="mm", labels=np.array(LABELS))
    found = ic.Recording.load(tmp_path / "markers.npz")
    assert found.positions == pytest.approx(points)
    assert found.held_labels == ("1", "4")
    np.savez(tmp_path / "grid.npz", times=times, nodes=points.reshape(-1, ROWS, COLUMNS, 3), size=[0.42, 0.594])
    found = ic.Recording.load(tmp_path / "grid.npz")
    assert found.positions == pytest.approx(points)
    assert found.size == pytest.approx((0.42, 0.594))
    np.savez(tmp_path / "none.npz", x=times)
    with pytest.raises(ic.RecordingError, match="no times"):
        ic.Recording.load(tmp_path / "none.npz")
    np.savez(tmp_path / "shape.npz", times=times, positions=points[:5])
    with pytest.raises(ic.RecordingError, match="have shape"):
        ic.Recording.load(tmp_path / "shape.npz")


def test_files_that_are_none_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("width,height\n1,2\n")
    (tmp_path / "b.npz").write_bytes(b"PK\x03\x04 no archive")
    (tmp_path / "c.xlsx").write_bytes(b"x")
    with pytest.raises(ic.RecordingError, match="expected 'time'"):
        ic.Recording.load(tmp_path / "a.csv")
    with pytest.raises(ic.RecordingError, match="cannot be read"):
        ic.Recording.load(tmp_path / "b.npz")
    with pytest.raises(ic.RecordingError, match="is no recording"):
        ic.Recording.load(tmp_path / "c.xlsx")
    with pytest.raises(FileNotFoundError, match="no recording"):
        ic.Recording.load(tmp_path / "d.csv")


# ---------------------------------------------------------------- robot runs


def write_robot_run(path: Path, trajectory: ic.Trajectory, lag: float = 0.3, side: int = 5) -> None:
    """A file with the arrays of a robot run, made from a simulation."""
    seen = ic.recordings.from_trajectory(trajectory, markers=(side, side), rate=10.0, noise=3e-3)
    frames = len(seen)
    nodes = seen.positions.reshape(frames, side, side, 3)
    outlier = np.zeros(nodes.shape[:3], dtype=bool)
    outlier[4, 2, 2] = True
    nodes[4, 2, 2] += 1.0
    nodes[5, 3, 3] = np.nan
    np.savez(
        path, t=seen.times + lag, nodes=nodes.astype(np.float32), outlier=outlier, good=np.ones(frames, dtype=bool),
        held=np.array([[0, 0], [0, side - 1]]), cloth_size=np.array([0.3, 0.4]), lag=lag, phase=np.ones(frames),
        held_tool_run=nodes[:, 0, [0, -1]], tool_covers=np.ones(frames, dtype=bool), meta="{}",
    )  # fmt: skip


def test_a_robot_run_is_read(swung: ic.Trajectory, tmp_path: Path) -> None:
    write_robot_run(tmp_path / "run.npz", swung)
    run = ic.Recording.load(tmp_path / "run.npz")
    assert run.positions.shape == (11, 25, 3)
    assert run.labels[:2] == ("0,0", "0,1")
    assert run.held_labels == ("0,0", "0,4")
    assert np.isnan(run.marker("2,2")[4]).all()  # flagged as impossible
    assert run.held_path is not None
    assert run.size == pytest.approx((0.3, 0.4))
    assert run.metadata["lag"] == 0.3


@pytest.mark.skipif(not DATA.is_dir(), reason="the robot runs are not at hand")
def test_the_lag_of_the_robot_runs_is_that_of_their_makers() -> None:
    apart = []
    for path in sorted(DATA.glob("range*_rep1.npz")) + sorted(DATA.glob("n13_traj9_*.npz")):
        arrays = np.load(path)
        run = ic.Recording.load(path)
        tool = np.einsum("mij,j->mi", _rotations(arrays["tool_quat"]), arrays["grasp_in_tool_run"].mean(axis=0))
        middle = run.positions[:, run.held].mean(axis=1)
        found = ic.recordings.lag(run.times, middle, arrays["t_tool"], arrays["tool_pos"] + tool)
        apart.append(found - float(arrays["lag"]))
    assert np.median(np.abs(apart)) < 0.02
    assert np.abs(apart).max() < 0.06


def _rotations(q: np.ndarray) -> np.ndarray:
    from scipy.spatial.transform import Rotation

    return Rotation.from_quat(q).as_matrix()


# --------------------------------------------------------- resampling, lag, axes


def test_short_gaps_are_bridged_and_long_ones_stay() -> None:
    times = np.arange(100) / 100.0
    line = np.stack([times, 2 * times, 3 * times], axis=1)
    points = np.repeat(line[:, None], 2, axis=1) + np.array([[0.0], [1.0]])
    points[20:24, 0] = np.nan  # 50 ms
    points[50:80, 1] = np.nan  # 310 ms
    recording = ic.Recording(times=times, positions=points)
    finer = recording.resampled(0.004, longest_gap=0.1)
    assert np.isfinite(finer.positions[:, 0]).all()
    gone = np.isnan(finer.positions[:, 1, 0])
    assert finer.times[gone].min() == pytest.approx(0.492)
    assert finer.times[gone].max() == pytest.approx(0.796)
    known = ~gone
    assert finer.positions[known, 1, 0] == pytest.approx(finer.times[known] + 1.0, abs=1e-9)
    same = recording.resampled(0.01)
    assert np.isnan(same.positions[60, 1, 0])
    with pytest.raises(ValueError, match="timestep"):
        recording.resampled(-1.0)


@pytest.mark.parametrize("true", [-0.2, 0.0, 0.303])
def test_a_lag_is_found(true: float) -> None:
    random = np.random.default_rng(1)

    def path(t: np.ndarray) -> np.ndarray:
        return np.stack([0.1 * np.sin(2.0 * t), 0.2 * np.sin(3.1 * t + 1.0), 0.05 * np.cos(5.0 * t)], axis=1)

    t_tool = np.sort(random.random(240) * 12.0)
    t_seen = np.sort(random.random(110) * 12.0)
    seen = path(t_seen - true) + 3e-3 * random.standard_normal((110, 3))
    seen[40:43] = np.nan
    assert ic.recordings.lag(t_seen, seen, t_tool, path(t_tool)) == pytest.approx(true, abs=0.01)
    with pytest.raises(ic.RecordingError, match="stands still"):
        ic.recordings.lag(t_seen, seen, t_tool, np.zeros((240, 3)))


def test_the_up_axis_is_found_even_when_the_sheet_stands_across() -> None:
    points = motion(np.arange(120) / 120.0)
    around = points[:, :, [1, 0, 2]] * [1, -1, 1]  # turned by 90 degrees about z: the sheet spans y and z
    assert infer_up(points) == infer_up(around) == "z"
    as_y = points[:, :, [0, 2, 1]] * [1, 1, -1]
    assert infer_up(as_y) == "y"
    assert turned(as_y, "y") == pytest.approx(points)
    assert infer_up(around, held=[0, 3]) == "z"
    with pytest.raises(ic.RecordingError, match="do not lie above"):
        infer_up(points * [1, 1, -1], held=[0, 3])


def test_parts_of_a_recording(tmp_path: Path) -> None:
    recording = ic.Recording.load(export("clean").write(tmp_path / "c.csv"))
    part = recording.window(0.25, 0.5)
    assert (part.times[0], part.times[-1]) == pytest.approx((0.25, 0.5), abs=1e-5)
    assert part.mesh is recording.mesh
    fewer = recording.without(["1", "7"])
    assert len(fewer.labels) == 18
    assert fewer.mesh is None
    assert fewer.held_labels == ("4",)
    with pytest.raises(ic.RecordingError, match="0 frames between"):
        recording.window(7.0, 8.0)
    assert recording.with_(fabric=ic.fabrics["wool"]).fabric == ic.fabrics["wool"]
    with pytest.raises(TypeError, match="no 'colour'"):
        recording.with_(colour=1)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"times": [0.0, 0.0]}, "stands still"),
        ({"times": [1.0]}, "one frame"),
        ({"times": []}, "no frames"),
        ({"positions": np.zeros((2, 3, 2))}, "have shape"),
        ({"labels": ["a", "a", "b"]}, "all different"),
        ({"held": [7]}, "held markers"),
        ({"positions": np.full((2, 3, 3), np.nan)}, "no marker is seen"),
        ({"mesh": ic.meshes.rectangle(1.0, 1.0, (2, 2))}, "4 nodes for 3 markers"),
        ({"held_path": np.zeros((2, 2, 3)), "held": [0]}, "held_path"),
    ],
)
def test_a_recording_that_cannot_be_is_refused(fields, message: str) -> None:
    good = {"times": [0.0, 0.1], "positions": np.random.default_rng(0).random((2, 3, 3))}
    with pytest.raises(ic.RecordingError, match=message):
        ic.Recording(**{**good, **fields})
