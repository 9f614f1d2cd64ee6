import numpy as np
import pytest

import isocloth as ic

SHEET = ic.meshes.rectangle(0.3, 0.4, shape=(5, 6))


def simulation():
    sim = ic.Simulation(SHEET, ic.Fabric(density=0.2))
    sim.grasp(SHEET.corners[:2], lambda t: SHEET.vertices[SHEET.corners[:2]] + [0, 0, 0.05 * np.sin(6 * t)])
    return sim


def killed(folder):
    """The checkpoint of a run of half a second that was killed at its first frame."""
    file = folder / "run.npz"

    def stop(sim):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        simulation().run(0.5, checkpoint=file, on_frame=stop)
    return file


def test_frames_start_now_and_come_at_the_asked_rate():
    trajectory = simulation().run(0.5, every=0.05)
    np.testing.assert_allclose(trajectory.times, np.arange(11) * 0.05, atol=1e-12)
    assert trajectory.positions.shape == (11, 30, 3)
    np.testing.assert_array_equal(trajectory.positions[0], SHEET.vertices)
    assert len(trajectory.reports) == 11
    assert all(r.converged for r in trajectory.reports)
    # the sum over the steps of a frame, the worst of their errors
    by_step = simulation().run(0.5)
    assert trajectory.reports["iterations"].sum() == by_step.reports["iterations"].sum()
    assert trajectory.reports.isometry_error.max() == by_step.reports.isometry_error.max()


def test_a_run_continues_where_the_last_one_ended():
    sim = simulation()
    first, second = sim.run(0.2), sim.run(0.2)
    whole = simulation().run(0.4)
    np.testing.assert_array_equal(second.positions[-1], whole.positions[-1])
    assert second.times[0] == first.times[-1]


def test_a_killed_run_resumes_with_the_same_bits(tmp_path):
    file = tmp_path / "run.npz"

    def stop(sim):
        if sim.time > 0.23:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        simulation().run(0.5, every=0.01, checkpoint=file, on_frame=stop)
    assert file.exists()
    resumed = simulation().run(0.5, every=0.01, checkpoint=file)
    whole = simulation().run(0.5, every=0.01)
    np.testing.assert_array_equal(resumed.positions, whole.positions)
    np.testing.assert_array_equal(resumed.times, whole.times)
    for name, column in whole.reports.items():
        np.testing.assert_array_equal(resumed.reports[name], column)
    assert not file.exists()


def test_a_resumed_run_knows_what_was_moved_and_released_in_its_first_part(tmp_path):
    def whole_or_part(stop_at, file=None):
        sim = ic.Simulation(SHEET, ic.Fabric(density=0.2))
        left, right = sim.grasp(SHEET.corners[0]), sim.grasp(SHEET.corners[1])

        def act(sim):
            if abs(sim.time - 0.05) < 1e-9:
                left.move_to(SHEET.vertices[SHEET.corners[0]] + [0, 0, 0.02])
            if abs(sim.time - 0.1) < 1e-9:
                right.release()
            if stop_at is not None and sim.time > stop_at:
                raise KeyboardInterrupt

        return sim.run(0.4, checkpoint=file, on_frame=act)

    whole = whole_or_part(None)
    for stop_at in (0.07, 0.2):
        file = tmp_path / f"{stop_at}.npz"
        with pytest.raises(KeyboardInterrupt):
            whole_or_part(stop_at, file)
        np.testing.assert_array_equal(whole_or_part(None, file).positions, whole.positions)


def test_a_checkpoint_with_other_nodes_held_is_refused(tmp_path):
    file = killed(tmp_path)
    with pytest.raises(ValueError, match="grasp the same nodes"):
        ic.Simulation(SHEET, ic.Fabric(density=0.2)).run(0.5, checkpoint=file)
    with pytest.raises(FileNotFoundError, match="create it first"):
        simulation().run(0.5, checkpoint=tmp_path / "nowhere" / "run.npz")


def test_a_checkpoint_of_another_run_is_refused_and_kept(tmp_path):
    file = killed(tmp_path)
    with pytest.raises(ValueError, match="another run"):
        simulation().run(0.7, checkpoint=file)
    assert file.exists()
    file.write_bytes(b"not a checkpoint")
    with pytest.raises(ValueError, match="not a checkpoint"):
        simulation().run(0.5, checkpoint=file)


def test_a_checkpoint_of_another_version_is_refused_in_words(tmp_path):
    file = killed(tmp_path)
    with np.load(file) as saved:
        older = {name: saved[name] for name in saved.files if name not in ("format", "state_memory_coupling_pairs")}
    np.savez(file, **older)
    with pytest.raises(ValueError, match=r"version 0\.1\.0 or before"):
        simulation().run(0.5, checkpoint=file)


def test_progress_is_shown_on_standard_error(capsys):
    simulation().run(0.3, progress=True)
    out = capsys.readouterr()
    assert out.out == ""
    assert "100 %" in out.err
    assert "x real time" in out.err


def test_an_unconverged_step_is_warned_of():
    sim = ic.Simulation(SHEET, ic.Fabric(density=0.2))
    corners = SHEET.vertices[SHEET.corners]
    sim.grasp(SHEET.corners, lambda t: corners * (1 + 2 * t))
    with pytest.warns(ic.ConvergenceWarning, match="stretched"):
        trajectory = sim.run(0.1)
    assert not trajectory.reports.converged[-1]
