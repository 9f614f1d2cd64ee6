"""What the recorded cloth met: tables and sticks, checked, inferred, saved, and seen with noise."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import isocloth as ic
from isocloth.recordings import StickMarkers, TableTop
from isocloth.recordings.bodies import stick_among

from .motive_files import export


def swung_stick(times: np.ndarray) -> dict[str, np.ndarray]:
    """Two markers 0.75 m apart that swing about a height of 1 m."""
    angle = 0.4 * np.sin(3.0 * times)
    middle = np.stack([0.0 * times, 0.3 * np.sin(2.0 * times), 1.0 + 0.0 * times], axis=1)
    along = 0.375 * np.stack([np.cos(angle), np.sin(angle), 0.0 * times], axis=1)
    return {"21": middle - along, "22": middle + along}


def test_a_recording_of_hits_finds_the_stick_beside_the_cloth(tmp_path: Path) -> None:
    hit = ic.Recording.load(export("extra").write(tmp_path / "denim_A2_hit.csv"))
    assert hit.bodies == {"stick": StickMarkers(ends=("21", "22"), radius=0.0075, friction=0.0)}
    assert any("ends of a stick" in note for note in hit.notes)
    shaken = ic.Recording.load(export("extra").write(tmp_path / "denim_A2_shake.csv"))
    assert shaken.bodies == {}
    without = ic.Recording.load(export("extra").write(tmp_path / "wool_A2_hit.csv"), bodies={})
    assert without.bodies == {}


def test_a_stick_is_two_markers_that_move_and_stay_as_far_apart() -> None:
    times = np.arange(200) / 100.0
    stick = swung_stick(times)
    still = np.repeat([[0.5, 0.5, 0.1]], 200, axis=0)
    found = stick_among({**stick, "lamp": still, "lamp 2": still + np.array([0.4, 0.0, 0.0])})
    assert found is not None
    assert found.ends == ("21", "22")
    assert stick_among({"21": stick["21"], "lamp": still}) is None
    third = {"23": stick["21"] + np.array([0.0, 0.0, 0.3])}
    assert stick_among({**stick, **third}) is None  # two pairs: nobody can tell which is the stick


def test_bodies_are_saved_and_read_again(tmp_path: Path) -> None:
    times = np.arange(50) / 100.0
    points = np.random.default_rng(0).random((50, 4, 3))
    bodies = {
        "table": TableTop(height=0.7, extent=(-1.0, 1.0, -0.5, 0.5), friction=0.4),
        "stick": StickMarkers(ends=("21", "22"), radius=0.01),
    }
    made = ic.Recording(times=times, positions=points, others=swung_stick(times), bodies=bodies)
    for name in ("r.npz", "r.h5"):
        made.save(tmp_path / name)
        assert ic.Recording.load(tmp_path / name).bodies == bodies
    other = {"floor": TableTop(height=0.0)}
    assert ic.Recording.load(tmp_path / "r.npz", bodies=other).bodies == other
    assert made.window(0.1, 0.3).bodies == bodies
    assert set(made.without(["21"]).bodies) == {"table"}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: TableTop(height=float("nan")), "height = nan"),
        (lambda: TableTop(height="high"), "height = 'high'"),
        (lambda: TableTop(height=0.0, extent=(1.0, 0.0, 0.0, 1.0)), "least x, largest x"),
        (lambda: TableTop(height=0.0, extent=(0.0, 1.0)), "least x, largest x"),
        (lambda: TableTop(height=0.0, friction=-0.1), "zero or positive"),
        (lambda: StickMarkers(ends="21"), "two end markers"),
        (lambda: StickMarkers(ends=("21", "21")), "two end markers"),
        (lambda: StickMarkers(ends=("21", "22"), radius=0.0), "positive length"),
    ],
)
def test_a_wrong_body_is_refused(make, message: str) -> None:
    with pytest.raises(ic.RecordingError, match=message):
        make()


def test_a_body_that_does_not_belong_to_the_recording_is_refused() -> None:
    times = np.arange(50) / 100.0
    points = np.random.default_rng(0).random((50, 4, 3))
    with pytest.raises(ic.RecordingError, match="end '21' of the stick 'rod' was not recorded beside the cloth"):
        ic.Recording(times=times, positions=points, bodies={"rod": StickMarkers(ends=("21", "22"))})
    with pytest.raises(ic.RecordingError, match="body 'table' is Floor: expected"):
        ic.Recording(times=times, positions=points, bodies={"table": ic.Floor()})  # type: ignore[dict-item]


def test_times_in_milliseconds_are_refused_and_can_be_named(tmp_path: Path) -> None:
    times = 1e3 * np.arange(50) / 120.0
    points = np.random.default_rng(0).random((50, 4, 3))
    with pytest.raises(ic.RecordingError, match=r"8\.33333 s apart.*time_units='ms'"):
        ic.Recording(times=times, positions=points)
    np.savez(tmp_path / "ms.npz", times=times, positions=points, up="z")
    with pytest.raises(ic.RecordingError, match="time_units='ms'"):
        ic.Recording.load(tmp_path / "ms.npz")
    assert ic.Recording.load(tmp_path / "ms.npz", time_units="ms").rate == pytest.approx(120.0)
    with pytest.raises(ic.RecordingError, match="time_units='ms'"):  # a thousand frames a second
        ic.Recording(times=np.arange(500.0), positions=np.random.default_rng(0).random((500, 4, 3)))
    with pytest.raises(ic.RecordingError, match="unit of time 'h' is unknown"):
        ic.Recording.load(tmp_path / "ms.npz", time_units="h")


def test_markers_beside_a_simulated_cloth_are_seen_as_badly_as_those_on_it() -> None:
    times = np.arange(101) / 100.0
    flat = ic.meshes.rectangle(0.3, 0.3, (3, 3)).vertices
    faces = ic.meshes.rectangle(0.3, 0.3, (3, 3)).faces
    swung = ic.Trajectory(times=times, positions=np.repeat(flat[None], 101, axis=0), faces=faces, rest=flat)
    stick = swung_stick(times)
    options = {"noise": 1e-3, "missing": 0.05, "longest_loss": 0.1, "rate": 50.0, "seed": 3}
    alone = ic.recordings.from_trajectory(swung, **options)
    both = ic.recordings.from_trajectory(
        swung, **options, others=stick, bodies={"stick": StickMarkers(ends=("21", "22"))}
    )
    assert np.array_equal(both.positions, alone.positions, equal_nan=True)
    seen = np.stack([both.others["21"], both.others["22"]], axis=1)
    true = np.stack([stick["21"], stick["22"]], axis=1)[::2]
    assert 0.05 <= np.isnan(seen[:, :, 0]).mean() < 0.15
    assert np.nanstd(seen - true) == pytest.approx(1e-3, rel=0.3)
