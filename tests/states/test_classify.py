"""Databases, how well their classes are apart, and the names of states."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from isocloth import Trajectory, meshes
from isocloth.cli import main
from isocloth.states import (
    Classifier,
    Database,
    boundary_of,
    classify,
    corner_segments,
    davies_bouldin,
    distance_matrix,
    ideal_states,
)
from isocloth.states.boundary import resampled
from isocloth.states.clusters import leave_one_out, representatives
from isocloth.states.database import make
from isocloth.states.files import read_state
from isocloth.states.representations import ALL, DGLI, Representation


@cache
def database() -> Database:
    return ideal_states(5)


@cache
def ready() -> Classifier:
    return Classifier(database())


@cache
def fresh() -> Database:
    return ideal_states(2, seed=11)


# ------------------------------------------------------------------- clusters


def plain(distance):
    """Vectors with a given distance, as a representation."""
    return Representation("plain", lambda b: b.points, distance, lambda x: x.mean(axis=0))


def euclid(x, y):
    return np.linalg.norm(x[:, None] - y[None], axis=-1)


def test_the_index_of_two_pairs_is_computed_by_hand():
    x = np.array([[0.0, 0.0], [2.0, 0.0], [10.0, 0.0], [10.0, 6.0]])
    # spreads 1 and 3, centres (1, 0) and (10, 3)
    assert davies_bouldin(x, [0, 0, 1, 1], plain(euclid)) == pytest.approx(4.0 / np.hypot(9.0, 3.0))
    assert davies_bouldin(5.0 * x, [3, 3, 7, 7], plain(euclid)) == pytest.approx(4.0 / np.hypot(9.0, 3.0))
    assert davies_bouldin(x[[0, 3, 1, 2]], [0, 1, 0, 1], plain(euclid)) == pytest.approx(4.0 / np.hypot(9.0, 3.0))
    same = np.array([[0.0, 1.0], [0.0, -1.0], [1.0, 0.0], [-1.0, 0.0]])
    assert davies_bouldin(same, [0, 0, 1, 1], plain(euclid)) == np.inf


def test_the_index_is_the_plain_double_loop():
    rng = np.random.default_rng(0)
    x, labels = rng.standard_normal((40, 3)) + 3.0 * rng.integers(0, 4, 40)[:, None], np.arange(40) % 4
    centres = [x[labels == k].mean(axis=0) for k in range(4)]
    spread = [np.mean([np.linalg.norm(p - centres[k]) for p in x[labels == k]]) for k in range(4)]
    worst = [
        max((spread[i] + spread[j]) / np.linalg.norm(centres[i] - centres[j]) for j in range(4) if j != i)
        for i in range(4)
    ]
    assert davies_bouldin(x, labels, plain(euclid)) == pytest.approx(np.mean(worst))


def test_a_compact_class_has_one_representative_and_a_spread_one_several():
    x = np.array([0.0, 0.1, 0.2, 5.0, 7.0, 9.0])
    table = np.abs(x[:, None] - x)
    chosen = representatives(table, [0, 0, 0, 1, 1, 1], 0.5)
    assert chosen.tolist() == [1, 3, 4, 5]
    assert representatives(table, [0, 0, 0, 1, 1, 1], 2.0).tolist() == [1, 4]
    for reach in (0.0, 0.3, 2.5):
        chosen = representatives(table, [0, 0, 0, 1, 1, 1], reach)
        near = np.where(
            np.array([0, 0, 0, 1, 1, 1])[:, None] == np.array([0, 0, 0, 1, 1, 1])[chosen], table[:, chosen], 9
        )
        assert near.min(axis=1).max() <= reach


def test_leaving_one_out_counts_by_class():
    x = np.array([0.0, 0.1, 5.0, 5.1, 0.2])
    assert leave_one_out(np.abs(x[:, None] - x), [0, 0, 1, 1, 1]).tolist() == [1.0, pytest.approx(2 / 3)]


def test_bad_labels_are_named():
    with pytest.raises(ValueError, match="labels have shape"):
        davies_bouldin(np.zeros((3, 2)), [0, 1], plain(euclid))
    with pytest.raises(ValueError, match="at least two"):
        davies_bouldin(np.zeros((3, 2)), [0, 0, 0], plain(euclid))
    with pytest.raises(ValueError, match="table has shape"):
        representatives(np.zeros((2, 3)), [0, 1], 0.1)


def test_dgli_separates_the_ideal_folds_best():
    index = {by.name: davies_bouldin(by.all(database().boundaries), database().labels, by) for by in ALL}
    assert min(index, key=lambda name: index[name]) == "dGLI"
    assert index["dGLI"] < 0.5


# ------------------------------------------------------------------- database


def test_a_database_comes_back_from_its_file(tmp_path):
    database().save(tmp_path / "states.npz")
    again = Database.load(tmp_path / "states.npz")
    assert again.positions.tobytes() == database().positions.tobytes()
    assert again.checksum == database().checksum
    assert again.names() == database().names()
    assert again.metadata == database().metadata
    assert again.mesh.corners.tolist() == database().mesh.corners.tolist()
    assert "60 states in 12 classes" in repr(again)


def test_databases_can_be_cut_and_joined():
    whole = database()
    some = whole.only(whole.labels >= 10)
    assert some.classes == ("half past the edge", "quarter")
    rest = whole.only(whole.labels < 11)
    both = rest.joined(some)
    assert both.classes == (*rest.classes, "quarter")
    assert both.names().count("half past the edge") == 10
    with pytest.raises(ValueError, match="different meshes"):
        whole.joined(ideal_states(1, shape=(5, 5)))


def test_bad_databases_are_named(tmp_path):
    mesh = meshes.rectangle(1.0, 1.0, (3, 3))
    x = mesh.vertices
    for arguments, said in (
        ((x, [0], ["a"]), r"expected \(s, 9, 3\)"),
        ((x[None], [0, 0], ["a"]), "one class for every state"),
        ((x[None], [1], ["a", "b"]), "expected each of 0 to 1"),
        ((np.array([x, x]), [0, 1], ["a", "a"]), "not all different"),
        ((np.full((1, 9, 3), np.nan), [0], ["a"]), "state 0 is not finite"),
    ):
        with pytest.raises(ValueError, match=said):
            Database(mesh, *arguments)
    good = make(mesh, [("flat", x)])
    with pytest.raises(ValueError, match=r"ends in \.npz"):
        good.save(tmp_path / "states.txt")
    np.savez(tmp_path / "other.npz", positions=x)
    with pytest.raises(ValueError, match="no database of states"):
        Database.load(tmp_path / "other.npz")
    (tmp_path / "broken.npz").write_bytes(b"PK\x03\x04nothing")
    with pytest.raises(ValueError, match="damaged"):
        Database.load(tmp_path / "broken.npz")
    with pytest.raises(FileNotFoundError):
        Database.load(tmp_path / "none.npz")


# ------------------------------------------------------------- classification


def rate(states, names, **options):
    return np.mean([ready().classify(x, **options).name == name for x, name in zip(states, names, strict=True)])


def test_states_never_seen_get_their_names():
    assert rate(fresh().positions, fresh().names()) >= 0.95


def test_one_centimetre_of_noise_leaves_the_name():
    rng = np.random.default_rng(0)
    noisy = [x + 0.01 * rng.standard_normal(x.shape) for x in fresh().positions]
    assert rate(noisy, fresh().names()) >= 0.9


def test_leaving_one_out_finds_the_class():
    assert leave_one_out(distance_matrix(ready().coordinates), database().labels).mean() >= 0.95


def test_where_it_lies_how_large_it_is_and_how_it_is_meshed_do_not_matter():
    for x in fresh().positions[::5]:
        first = ready().classify(x)
        turned = Rotation.from_rotvec([0.0, 0.0, 1.2]).apply(0.3 * x) + np.array([3.0, -2.0, 0.7])
        assert ready().classify(turned).name == first.name
        assert ready().classify(turned).distance == pytest.approx(first.distance, abs=1e-9)
    for n in (10, 40):
        other = ideal_states(1, seed=11, shape=(n, n))
        assert rate(other.positions, other.names(), mesh=other.mesh) == 1.0


def test_positions_boundary_points_and_segments_say_the_same():
    x = fresh().positions[7]
    whole = boundary_of(fresh().mesh, x)
    expected = ready().classify(x)
    assert expected == classify(x, database())
    assert expected == ready().classify(whole)
    assert expected == ready().classify(whole.points)
    assert expected == ready().classify(np.roll(whole.points, 3, axis=0), corners=whole.corners + 3)
    assert expected == ready().classify(corner_segments(whole))
    fine = ready().classify(resampled(whole, 190).points)
    assert fine.name == expected.name


def test_hidden_segments_are_done_without():
    right = 0
    for k, (x, name) in enumerate(zip(fresh().positions, fresh().names(), strict=True)):
        segments = corner_segments(boundary_of(fresh().mesh, x))
        segments[k % 8] = np.nan
        found = ready().classify(segments)
        right += found.name == name
        assert found.pairs == 21
    assert right / len(fresh()) >= 0.9
    segments[:6] = np.nan
    with pytest.raises(ValueError, match="only 0 pairs of segments are seen"):
        ready().classify(segments)


def test_a_class_that_the_database_lacks_is_unknown():
    unknown = []
    for name in ("flat", "half", "four corners in"):
        k = database().classes.index(name)
        others = Classifier(database().only(database().labels != k))
        unknown += [others.classify(x) for x in database().positions[database().labels == k]]
    assert np.mean([not u.known for u in unknown]) >= 0.8
    one = next(u for u in unknown if not u.known)
    assert one.name == "unknown"
    assert one.distance > one.threshold
    assert one.nearest in database().classes


def test_a_state_of_the_database_is_itself():
    chosen = ready().representatives[3]
    found = ready().classify(database().positions[chosen])
    assert found.distance == pytest.approx(0.0, abs=1e-12)
    assert found.margin == pytest.approx(1.0)
    assert found.runner_up != found.name
    assert found.runner_up_distance > found.distance


def test_bad_questions_are_named():
    with pytest.raises(ValueError, match=r"expected \(8, 2, 3\)"):
        ready().classify(np.zeros((7, 2, 3)))
    with pytest.raises(ValueError, match="boundary points have shape"):
        ready().classify(np.zeros((5, 3)))
    with pytest.raises(ValueError, match="reach is -1"):
        Classifier(database(), reach=-1)
    with pytest.raises(ValueError, match="threshold is 0"):
        Classifier(database(), threshold=0.0)
    with pytest.raises(ValueError, match="every class has one state"):
        Classifier(ideal_states(1))
    assert Classifier(ideal_states(1), threshold=0.5).threshold == 0.5
    alone = database().only(database().labels == 0)
    found = Classifier(alone, threshold=0.3).classify(alone.positions[0])
    assert (found.runner_up, found.runner_up_distance, found.margin) == ("", np.inf, 1.0)
    assert DGLI.name == "dGLI"


# ---------------------------------------------------------------- the command


def test_the_command_names_states_of_all_kinds_of_files(tmp_path, capsys):
    mesh, x = fresh().mesh, fresh().positions[2]
    whole = boundary_of(mesh, x)
    run = Trajectory(times=[0.0, 1.0], positions=np.array([mesh.vertices, x]), faces=mesh.faces, rest=mesh.vertices)
    run.save(tmp_path / "run.h5")
    run.save(tmp_path / "run.npz")
    np.savez(tmp_path / "positions.npz", positions=x, rest=mesh.vertices, faces=mesh.faces)
    np.savez(tmp_path / "plain.npz", positions=x)
    np.savez(tmp_path / "boundary.npz", boundary=whole.points, corners=whole.corners)
    np.savez(tmp_path / "segments.npz", segments=corner_segments(whole))
    database().save(tmp_path / "database.npz")
    for name in ("run.h5", "run.npz", "positions.npz", "plain.npz", "boundary.npz", "segments.npz"):
        assert main(["classify", str(tmp_path / name), "--database", str(tmp_path / "database.npz")]) == 0
        assert "state      corner in" in capsys.readouterr().out
    assert main(["classify", str(tmp_path / "run.h5"), "--frame", "0"]) == 0
    assert "state      flat" in capsys.readouterr().out
    assert main(["classify", str(tmp_path / "run.h5"), "--threshold", "1e-6"]) == 0
    out = capsys.readouterr().out
    assert "state      unknown" in out
    assert "corner in (too far)" in out


def test_the_command_explains_what_is_wrong(tmp_path, capsys):
    np.savez(tmp_path / "two.npz", positions=np.zeros((4, 3)), boundary=np.zeros((8, 3)))
    (tmp_path / "empty.npz").write_bytes(b"")
    mesh = meshes.rectangle(1.0, 1.0, (5, 5))
    Trajectory(times=[0.0], positions=mesh.vertices[None], faces=mesh.faces, rest=mesh.vertices).save(tmp_path / "r.h5")
    for words, said in (
        (["none.npz"], "no state at"),
        (["two.npz"], "expected one of 'positions'"),
        (["empty.npz"], "damaged"),
        (["what.obj"], "no file with a state"),
        (["r.h5", "--frame", "3"], "has frames 0 to 0"),
    ):
        assert main(["classify", str(tmp_path / words[0]), *words[1:]]) == 2
        assert said in capsys.readouterr().err
    assert read_state(tmp_path / "r.h5").state.shape == (25, 3)
