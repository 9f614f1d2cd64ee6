"""Motive exports with every known defect are read as what they show."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import isocloth as ic
from recordings.motive_files import COLUMNS, HEIGHT, KINDS, LABELS, NOISE, WIDTH, export
from recordings.shared import SHARED

DATA = SHARED / "motive"


@pytest.mark.parametrize("kind", KINDS)
def test_an_export_is_read_as_what_it_shows(kind: str, tmp_path: Path) -> None:
    made = export(kind)
    recording = ic.Recording.load(made.write(tmp_path / f"{kind}.csv"))
    assert list(recording.labels) == made.labels
    assert recording.times == pytest.approx(made.times, abs=1e-6)  # as in the file
    assert np.array_equal(np.isnan(recording.positions), np.isnan(made.seen))
    assert np.nanmax(np.abs(recording.positions - made.seen)) < 2e-6
    assert np.nanmax(np.abs(recording.positions - made.truth)) < 8 * NOISE
    assert recording.held_labels == (made.labels[0], made.labels[COLUMNS - 1])
    assert (recording.units, recording.up) == (made.units, made.up)
    assert recording.size == pytest.approx((WIDTH, HEIGHT), rel=2e-3)


def test_what_was_mended_is_told(tmp_path: Path) -> None:
    told = " ".join(ic.Recording.load(export("relabelled").write(tmp_path / "r.csv")).notes)
    assert "'7' goes on as '8' from 0.500 s" in told
    assert "'12' goes on as 'Unlabeled 1043' from 0.667 s" in told


def test_what_is_beside_the_cloth_is_kept_apart(tmp_path: Path) -> None:
    recording = ic.Recording.load(export("extra").write(tmp_path / "x.csv"))
    assert set(recording.others) == {"21", "22", "Unlabeled 1100", "Unlabeled 1200"}
    assert recording.marker("21")[0] == pytest.approx([-0.3, 0.55, 1.0], abs=1e-5)
    with pytest.raises(KeyError, match="unknown"):
        recording.marker("99")


def test_columns_can_be_had_as_they_are(tmp_path: Path) -> None:
    made = export("relabelled")
    raw = ic.Recording.load(made.write(tmp_path / "r.csv"), clean=False)
    assert list(raw.labels) == [*LABELS, "Unlabeled 1043"]
    assert raw.mesh is None
    assert np.isnan(raw.marker("12")[80:]).all()


def test_the_lone_frame_is_left_out_by_the_longest_segment(tmp_path: Path) -> None:
    recording = ic.Recording.load(export("gap").write(tmp_path / "g.csv"))
    assert [s.stop - s.start for s in recording.segments()] == [1, 120]
    assert recording.longest_segment().times[0] == pytest.approx(20.0)


def test_given_axes_units_and_sizes_are_taken(tmp_path: Path) -> None:
    made = export("unlabelled")
    path = made.write(tmp_path / "u.csv")
    assert ic.Recording.load(path, up="y").positions == pytest.approx(ic.Recording.load(path).positions, nan_ok=True)
    assert ic.Recording.load(path, size=(0.42, 0.594)).size == pytest.approx((0.42, 0.594))
    with pytest.raises(ValueError, match="up = 'w'"):
        ic.Recording.load(path, up="w")
    with pytest.raises(ic.RecordingError, match="does not fit"):
        ic.Recording.load(path, size=(0.3, 0.594))
    with pytest.raises(ic.RecordingError, match="does not fit"):
        ic.Recording.load(path, grid=(7, 3))


def test_the_names_of_the_published_set_say_what_was_recorded(tmp_path: Path) -> None:
    recording = ic.Recording.load(export("clean").write(tmp_path / "cotton_A2_shake_fast_hands.csv"))
    assert recording.size == (0.42, 0.594)
    assert recording.fabric == ic.fabrics["stiff cotton"]
    said = {k: recording.metadata[k] for k in ("fabric", "sheet", "motion", "speed", "holder")}
    assert said == {"fabric": "stiff cotton", "sheet": "A2", "motion": "shake", "speed": "fast", "holder": "hands"}
    folder = tmp_path / "Tablecloth"
    folder.mkdir()
    assert ic.recordings.from_name(folder / "wool_A2_low.csv") == {
        "fabric": "wool", "sheet": "A2", "motion": "tablecloth", "friction": "low",
    }  # fmt: skip
    assert ic.recordings.from_name("take_7.csv") == {}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t[:0], "0 bytes"),
        (lambda t: t[:7], "empty"),
        (lambda t: t[:8], "one frame"),
        (lambda t: [*t[:8], t[9], t[8], *t[10:]], "backwards"),
        (lambda t: [t[0].replace("Length Units,Meters", "Length Units,"), *t[1:]], "length units"),
        (lambda t: [t[0].replace("Meters", "Feetses"), *t[1:]], "length units"),
        (lambda t: t[:6], "no line with 'Frame'"),
    ],
)
def test_bad_files_are_refused_with_a_reason(change, message: str, tmp_path: Path) -> None:
    path = export("clean", frames=20).write(tmp_path / "bad.csv")
    lines = change(path.read_text().splitlines())
    path.write_text("\n".join(lines) + "\n" if lines else "")
    with pytest.raises(ic.RecordingError, match=message):
        ic.Recording.load(path)


def test_wrong_units_are_noticed(tmp_path: Path) -> None:
    made = export("relabelled", frames=100)
    with pytest.raises(ic.RecordingError, match=r"m wide: the units are wrong"):
        ic.Recording.load(made.write(tmp_path / "mm.csv"), units="m")
    with pytest.raises(ic.RecordingError, match="units are wrong"):
        ic.Recording.load(export("clean", frames=20).write(tmp_path / "m.csv"), units="mm")


def test_a_marker_that_is_never_seen_is_named(tmp_path: Path) -> None:
    made = export("clean", frames=20)
    made.columns[6][1][:] = np.nan
    with pytest.raises(ic.RecordingError, match="'7' is missing in all 20 frames"):
        ic.Recording.load(made.write(tmp_path / "lost.csv"))


@pytest.mark.skipif(not DATA.is_dir(), reason="the shared recordings are not at hand")
@pytest.mark.parametrize("path", sorted(DATA.glob("*.csv")), ids=lambda p: p.stem)
def test_the_shared_exports_agree_with_their_truth(path: Path) -> None:
    truth = json.loads(path.with_name(f"{path.stem}_truth.json").read_text())
    arrays = np.load(path.with_name(truth["truth_file"]))
    recording = ic.Recording.load(path)
    observed = arrays["observed"].reshape(len(arrays["t"]), -1, 3)
    assert list(recording.labels) == truth["grid_labels"]
    assert list(recording.held_labels) == truth["held_corners"]
    assert recording.up == truth["up_axis"]
    assert recording.times == pytest.approx(arrays["t"], abs=1e-6)
    assert np.array_equal(np.isnan(recording.positions), np.isnan(observed))
    assert np.nanmax(np.abs(recording.positions - observed)) < 2e-6
