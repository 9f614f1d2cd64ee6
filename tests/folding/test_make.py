"""Databases are the same with any number of processes, go on where they were left, and are cached."""

from __future__ import annotations

import json

import numpy as np
import pytest

from isocloth.cli import main
from isocloth.folding import cache, make, simulated_states
from isocloth.folding.fingerprint import committed, corner_distances_of, fingerprint
from isocloth.folding.library import Made, labels_from_above
from isocloth.states import Database, ideal_states
from isocloth.states.napkin import CLASSES
from isocloth.trajectory import Trajectory

SMALL = {"shape": (6, 6), "classes": ("flat", "corner in")}


@pytest.fixture
def counted(monkeypatch):
    """States that cost nothing, and which were made."""
    calls = []

    def state(name, number=0, *, seed=0, shape=(20, 20)):
        calls.append((name, number))
        x = ideal_states(number + 1, seed=seed, shape=shape)
        chosen = x.positions[x.labels == list(CLASSES).index(name)][number]
        report = {"steps": 1, "unconverged": 0, "isometry_error": 0.0, "min_gap": 0.0, "speed": 0.0}
        return Made(chosen, 0, 0.01, report)

    monkeypatch.setattr(make, "simulated_state", state)
    return calls


def test_processes_do_not_change_the_bits():
    flat = {"shape": (6, 6), "classes": ["flat"]}
    alone = simulated_states(2, **flat)
    lines = []
    together = simulated_states(2, workers=2, say=lines.append, **flat)
    assert np.array_equal(alone.positions, together.positions)
    assert alone.checksum == together.checksum
    assert alone.names() == ["flat", "flat"]
    assert len(lines) == 2
    assert all(r["unconverged"] == 0 and r["seconds"] >= 0.0 for r in alone.metadata["reports"])


def test_a_killed_run_goes_on(counted, tmp_path, monkeypatch):
    whole = simulated_states(2, **SMALL)
    assert len(counted) == 4
    counted.clear()
    some = make.simulated_state

    def dies(name, number=0, **options):
        if len(counted) == 3:
            raise KeyboardInterrupt
        return some(name, number, **options)

    monkeypatch.setattr(make, "simulated_state", dies)
    with pytest.raises(KeyboardInterrupt):
        simulated_states(2, folder=tmp_path, **SMALL)
    assert len(list(tmp_path.glob("*.npz"))) == 3
    monkeypatch.setattr(make, "simulated_state", some)
    assert simulated_states(2, folder=tmp_path, **SMALL).checksum == whole.checksum
    assert len(counted) == 4  # one more
    simulated_states(2, folder=tmp_path, seed=1, **SMALL)
    assert len(counted) == 8  # another seed is other states
    next(iter(tmp_path.glob("*.npz"))).write_bytes(b"damaged")
    simulated_states(2, folder=tmp_path, seed=1, **SMALL)
    assert len(counted) == 9


def test_a_database_is_taken_from_the_cache_unless_it_was_made_with_other_numbers(counted, tmp_path, monkeypatch):
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path / "cache"))
    first = cache.cached_states(1, **SMALL)
    assert len(counted) == 2
    assert cache.cached_states(1, **SMALL).checksum == first.checksum
    assert len(counted) == 2
    assert [p.suffix for p in (tmp_path / "cache").iterdir()] == [".npz"]  # no parts are left
    monkeypatch.setattr(make.stage, "TABLE", 0.6)
    lines = []
    cache.cached_states(1, say=lines.append, **SMALL)
    assert len(counted) == 4
    assert lines[0].startswith("making")
    monkeypatch.setattr(make, "code_of_states", lambda: "another")
    cache.cached_states(1, **SMALL)
    assert len(counted) == 6, "made by other code"
    elsewhere = tmp_path / "out"
    cache.cached_states(1, folder=elsewhere, **SMALL)
    assert len(list(elsewhere.iterdir())) == 1


def test_a_sequence_is_cached_too(tmp_path, monkeypatch):
    frames = ideal_states(1, shape=(6, 6))
    calls = []

    def sequence(name, *, seed=0, shape=(20, 20)):
        calls.append(name)
        return frames.mesh, frames.positions[:4], np.array([0, 0, 1, 2])

    monkeypatch.setattr(cache, "simulated_sequence", sequence)
    for _ in range(2):
        _, positions, labels = cache.cached_sequence("in half", shape=(6, 6), folder=tmp_path)
        assert np.array_equal(positions, frames.positions[:4])
        assert labels.tolist() == labels_from_above(frames.mesh, frames.positions[:4]).tolist()
    assert calls == ["in half"]


def test_the_cache_is_in_the_folder_of_the_user(monkeypatch, tmp_path):
    monkeypatch.delenv(cache.VARIABLE, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache.cache_folder() == tmp_path / "isocloth"


def test_the_committed_fingerprint_is_of_the_documented_database():
    kept = committed()
    assert len(kept["checksum"]) == 64
    assert np.shape(kept["corner_distances_mm"]) == (120, 6)
    few = ideal_states(1)
    assert json.loads(json.dumps(fingerprint(few)))["checksum"] == few.checksum
    assert 1e-3 * np.array(fingerprint(few)["corner_distances_mm"]) == pytest.approx(corner_distances_of(few), abs=6e-4)
    # a flat napkin has four sides and two diagonals
    assert sorted(fingerprint(few)["corner_distances_mm"][0]) == pytest.approx([1000] * 4 + [1414] * 2, abs=10)


def test_bad_arguments_are_refused():
    with pytest.raises(KeyError, match="choose from 'flat'"):
        simulated_states(1, classes=["corner"])
    with pytest.raises(ValueError, match="workers is 0"):
        simulated_states(1, workers=0)


def test_the_command_makes_resumes_and_restarts(counted, tmp_path, capsys):
    file, parts = tmp_path / "states.npz", tmp_path / "states.parts"
    words = ["fold", str(file), "--per-class", "1", "--nodes", "6", "--classes", "flat", "corner in"]
    assert main(words) == 0
    assert "2 in 2 classes" in capsys.readouterr().out
    assert Database.load(file).names() == ["flat", "corner in"]
    assert not parts.exists()
    simulated_states(1, folder=parts, shape=(6, 6), classes=["flat"])
    counted.clear()
    assert main(words) == 2
    assert "--resume" in capsys.readouterr().err
    assert main([*words, "--resume", "--quiet"]) == 0
    assert counted == [("corner in", 0)]
    simulated_states(1, folder=parts, shape=(6, 6), classes=["flat"])
    counted.clear()
    assert main([*words, "--restart"]) == 0
    assert len(counted) == 2


def test_the_command_refuses_bad_files(tmp_path, capsys):
    assert main(["fold", str(tmp_path / "states.h5")]) == 2
    assert "ends in .npz" in capsys.readouterr().err
    assert main(["fold", str(tmp_path / "nowhere" / "states.npz")]) == 2
    assert "create it first" in capsys.readouterr().err
    assert main(["fold", str(tmp_path / "run.txt"), "--sequence", "in half"]) == 2
    assert "trajectory" in capsys.readouterr().err
    (tmp_path / "folder.npz").mkdir()
    assert main(["fold", str(tmp_path / "folder.npz")]) == 2
    assert "a folder has this name" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--per-class", "3"], "--per-class: of a database"),
        (["--classes", "flat", "--workers", "2"], "--classes and --workers: of a database"),
        (["--resume"], "--resume: of a database"),
        (["--restart"], "--restart: of a database"),
    ],
)
def test_the_command_says_which_options_a_sequence_has_not(words, said, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("isocloth.folding.simulated_sequence", lambda *_, **__: pytest.fail("work was done"))
    assert main(["fold", str(tmp_path / "run.h5"), "--sequence", "in half", *words]) == 2
    assert said in capsys.readouterr().err


def test_the_command_checks_name_and_folder_of_a_sequence_before_any_work(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("isocloth.folding.simulated_sequence", lambda *_, **__: pytest.fail("work was done"))
    assert main(["fold", str(tmp_path / "nowhere" / "run.h5"), "--sequence", "in half"]) == 2
    assert "create it first" in capsys.readouterr().err
    assert main(["fold", str(tmp_path / "run.h5"), "--sequence", "in thirds"]) == 2
    assert "choose one of" in capsys.readouterr().err


def test_a_finished_file_is_not_made_again_by_resume(counted, tmp_path, capsys):
    words = ["fold", str(tmp_path / "few.npz"), "--per-class", "1", "--nodes", "6", "--classes", "flat"]
    assert main(words) == 0
    made = len(counted)
    assert main([*words, "--resume"]) == 0
    assert "is finished: nothing to do" in capsys.readouterr().err
    assert main([*words, "--resume", "--seed", "1"]) == 2
    assert "holds states of other options" in capsys.readouterr().err
    assert len(counted) == made
    assert main(words) == 0, "without --resume it is made again"
    assert len(counted) == 2 * made


def test_the_command_writes_a_sequence(tmp_path, capsys):
    file = tmp_path / "run.h5"
    assert main(["fold", str(file), "--sequence", "in half", "--nodes", "6"]) == 0
    assert "labels" in capsys.readouterr().out
    trajectory = Trajectory.load(file)
    assert len(trajectory) == len(trajectory.metadata["labels"]) == 14
