"""Trajectories: validation, slicing, interpolation, and files that come back bit for bit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from isocloth.base.files import atomic_path
from isocloth.trajectory import Trajectory

REST = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])
QUAD = np.array([[0, 1, 2, 3]])


def make(frames: int = 5, **changes: Any) -> Trajectory:
    rng = np.random.default_rng(3)
    parts: dict[str, Any] = {
        "times": np.linspace(0.0, 0.1, frames),
        "positions": REST + rng.normal(size=(frames, 4, 3)),
        "faces": QUAD,
        "rest": REST,
        "velocities": rng.normal(size=(frames, 4, 3)),
        "reports": {
            "iterations": np.arange(frames),
            "isometry_error": np.r_[np.nan, rng.random(frames - 1)],
            "converged": np.ones(frames, dtype=bool),
        },
        "obstacles": [(REST, QUAD), (REST + rng.normal(size=(frames, 4, 3)), [[0, 1, 2], [0, 2, 3]])],
        "metadata": {"title": "a tëst", "fabric": {"density": 0.144}, "seeds": [1, 2]},
    }
    return Trajectory(**(parts | changes))


def assert_same_bits(a: np.ndarray, b: np.ndarray) -> None:
    assert a.dtype == b.dtype
    assert a.shape == b.shape
    assert a.tobytes() == b.tobytes()


@pytest.mark.parametrize("suffix", [".npz", ".h5", ".hdf5", ".NPZ"])
def test_round_trip_is_bit_exact(tmp_path: Path, suffix: str) -> None:
    saved = make()
    saved.save(tmp_path / f"run{suffix}")
    loaded = Trajectory.load(tmp_path / f"run{suffix}")
    for name in ("times", "positions", "faces", "rest", "velocities"):
        assert_same_bits(getattr(saved, name), getattr(loaded, name))
    assert set(saved.reports.keys()) == set(loaded.reports.keys())
    for name, report in saved.reports.items():
        assert_same_bits(report, loaded.reports[name])
    assert len(loaded.obstacles) == 2
    for body, other in zip(saved.obstacles, loaded.obstacles, strict=True):
        assert_same_bits(body[0], other[0])
        assert_same_bits(body[1], other[1])
    assert loaded.metadata == saved.metadata
    assert [p.name for p in tmp_path.iterdir()] == [f"run{suffix}"]


@pytest.mark.parametrize("suffix", [".npz", ".h5"])
def test_round_trip_without_options(tmp_path: Path, suffix: str) -> None:
    bare = Trajectory(times=[0.0], positions=REST[None], faces=[[0, 1, 2], [0, 2, 3]], rest=REST)
    bare.save(tmp_path / f"bare{suffix}")
    loaded = Trajectory.load(tmp_path / f"bare{suffix}")
    assert loaded.velocities is None
    assert len(loaded.reports) == 0
    assert loaded.metadata == {}
    assert loaded.obstacles == ()
    assert_same_bits(bare.positions, loaded.positions)


@pytest.mark.parametrize("suffix", [".npz", ".h5"])
@pytest.mark.parametrize("keep", [0.0, 0.02, 0.5, 0.98])
def test_truncated_files_are_named(tmp_path: Path, suffix: str, keep: float) -> None:
    path = tmp_path / f"run{suffix}"
    make(frames=50).save(path)
    data = path.read_bytes()
    path.write_bytes(data[: int(keep * len(data))])
    with pytest.raises(ValueError, match="empty" if keep == 0 else "truncated") as caught:
        Trajectory.load(path)
    assert path.name in str(caught.value)


def test_foreign_files_are_named(tmp_path: Path) -> None:
    np.savez(tmp_path / "foreign.npz", x=np.zeros(3))
    with pytest.raises(ValueError, match="not a trajectory of isocloth"):
        Trajectory.load(tmp_path / "foreign.npz")
    with h5py.File(tmp_path / "foreign.h5", "w") as file:
        file["x"] = np.zeros(3)
    with pytest.raises(ValueError, match="not a trajectory of isocloth"):
        Trajectory.load(tmp_path / "foreign.h5")
    (tmp_path / "text.npz").write_text("not an archive")
    with pytest.raises(ValueError, match="another format"):
        Trajectory.load(tmp_path / "text.npz")
    (tmp_path / "text.h5").write_text("not an archive")
    with pytest.raises(ValueError, match="another format"):
        Trajectory.load(tmp_path / "text.h5")


def test_missing_parts_are_named(tmp_path: Path) -> None:
    path = tmp_path / "run.h5"
    make().save(path)
    with h5py.File(path, "a") as file:
        del file["rest"]
    with pytest.raises(ValueError, match=r"damaged trajectory.*rest"):
        Trajectory.load(path)


def test_wrong_names_of_files(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no trajectory"):
        Trajectory.load(tmp_path / "absent.h5")
    with pytest.raises(ValueError, match=r"\.npz, \.h5 or \.hdf5"):
        Trajectory.load(tmp_path / "run.csv")
    with pytest.raises(ValueError, match=r"\.npz, \.h5 or \.hdf5"):
        make().save(tmp_path / "run")
    with pytest.raises(FileNotFoundError, match="does not exist; create it"):
        make().save(tmp_path / "absent" / "run.npz")
    (tmp_path / "folder.h5").mkdir()
    with pytest.raises(ValueError, match="not a file"):
        Trajectory.load(tmp_path / "folder.h5")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"times": [0.0, 1, 1, 2, 3]}, "strictly increasing"),
        ({"times": []}, "T >= 1"),
        ({"positions": np.zeros((5, 3, 3))}, r"\(5, 4, 3\).*\(5, 3, 3\)"),
        ({"positions": np.full((5, 4, 3), np.nan)}, r"positions\[0, 0, 0\] is nan"),
        ({"velocities": np.zeros((4, 4, 3))}, "velocities"),
        ({"rest": REST[:, :2]}, "rest"),
        ({"faces": [[0, 1, 2, 4]]}, "0 to 3"),
        ({"faces": [[0.0, 1, 2]]}, "integers"),
        ({"faces": np.zeros((0, 3), int)}, "m >= 1"),
        ({"reports": {"iterations": [1, 2]}}, "one number or truth value per frame"),
        ({"reports": {"a/b": np.zeros(5)}}, "without '/'"),
        ({"metadata": {"x": np.zeros(2)}}, "JSON"),
    ],
)
def test_wrong_parts_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make(**changes)


def test_slices_are_trajectories() -> None:
    whole = make()
    part = whole[1:4]
    assert len(part) == 3
    np.testing.assert_array_equal(part.times, whole.times[1:4])
    np.testing.assert_array_equal(part.positions, whole.positions[1:4])
    np.testing.assert_array_equal(part.reports["iterations"], [1, 2, 3])
    assert part.velocities is not None
    assert len(part.velocities) == 3
    with pytest.raises(TypeError, match=r"trajectory\.positions\[i\]"):
        whole[2]  # type: ignore[index]
    with pytest.raises(ValueError, match="T >= 1"):
        whole[5:]


def test_interpolation_in_time() -> None:
    whole = make()
    for i, t in enumerate(whole.times):
        np.testing.assert_array_equal(whole.at(t), whole.positions[i])
    middle = whole.times[1] + 0.25 * (whole.times[2] - whole.times[1])
    np.testing.assert_allclose(whole.at(middle), 0.75 * whole.positions[1] + 0.25 * whole.positions[2])
    np.testing.assert_array_equal(whole.at(0.1 + 1e-12), whole.positions[-1])
    np.testing.assert_array_equal(whole[:1].at(0.0), whole.positions[0])
    for outside in (-0.01, 0.11, float("nan")):
        with pytest.raises(ValueError, match="outside the trajectory"):
            whole.at(outside)


def test_quads_split_along_corners_0_2() -> None:
    np.testing.assert_array_equal(make().triangles, [[0, 1, 2], [0, 2, 3]])
    triangles = np.array([[0, 1, 2]])
    np.testing.assert_array_equal(make(faces=triangles).triangles, triangles)


def test_a_failed_write_leaves_the_previous_file(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("before")

    def fail() -> None:
        with atomic_path(path) as temporary:
            assert temporary.suffix == ".txt"
            assert temporary.parent == tmp_path
            temporary.write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert path.read_text() == "before"
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]
    with atomic_path(path) as temporary:
        temporary.write_text("after")
    assert path.read_text() == "after"


def test_obstacles_stand_still_or_move_with_the_frames() -> None:
    trajectory = make()
    still, moving = trajectory.obstacles
    np.testing.assert_array_equal(trajectory.obstacles_at(0.0375)[0], still[0])
    middle = 0.5 * (moving[0][1] + moving[0][2])
    np.testing.assert_allclose(trajectory.obstacles_at(0.0375)[1], middle, atol=1e-12)
    np.testing.assert_array_equal(trajectory.obstacles_at(0.1)[1], moving[0][-1])
    part = trajectory[1:3]
    np.testing.assert_array_equal(part.obstacles[0][0], still[0])
    np.testing.assert_array_equal(part.obstacles[1][0], moving[0][1:3])


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (3, "obstacle 0 of a trajectory must be a pair"),
        ((REST[:, :2], QUAD), r"vertices of obstacle 0 .* must have shape \(n, 3\)"),
        ((np.zeros((4, 4, 3)), QUAD), r"vertices of obstacle 0 .* must have shape \(5, n, 3\)"),
        ((REST, [[0, 1, 4]]), "obstacle 0: faces .* must index its 4 vertices"),
        ((REST * np.nan, QUAD), "vertices of obstacle 0 .* must be finite"),
    ],
)
def test_wrong_obstacles_are_named(body: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make(obstacles=[body])
