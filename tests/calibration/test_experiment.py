"""Recordings made ready: smooth paths, unstretched starts, errors, baselines."""

from __future__ import annotations

import numpy as np
import pytest

import isocloth as ic
from calibration.made import FABRIC, recording
from isocloth.calibration import baselines
from isocloth.calibration.errors import errors, residuals
from isocloth.calibration.preparation import prepare
from isocloth.calibration.smooth import (
    limit_distance,
    set_distance,
    sighting_weights,
    smooth_path,
    with_smooth_distance,
)
from isocloth.calibration.start import filled, on_finer_grid, unstretched
from isocloth.recordings.grid import sheet


def test_the_errors_are_those_of_the_papers_by_hand() -> None:
    recorded = np.zeros((2, 3, 3))
    simulated = np.zeros((2, 3, 3))
    simulated[0, :, 0] = [0.1, 0.2, 0.3]
    recorded[1, 2] = np.nan
    simulated[1, :, 1] = [0.3, 0.1, 9.9]
    w = np.array([0.5, 0.25, 0.25])
    found = errors(np.array([0.0, 1.0]), simulated, recorded, w)
    assert found.e[0] == pytest.approx(np.sqrt(0.5 * 0.01 + 0.25 * 0.04 + 0.25 * 0.09))
    assert found.s[0] == pytest.approx(np.std([0.1, 0.2, 0.3]))
    assert found.d[0] == pytest.approx(found.e[0] + 2 * found.s[0])
    # a missing marker is left out, and the others stand for the whole sheet
    assert found.e[1] == pytest.approx(np.sqrt((0.5 * 0.09 + 0.25 * 0.01) / 0.75))
    assert (residuals(simulated, recorded, w) ** 2).sum() == pytest.approx((found.e**2).mean())
    assert found.within(0.5, 1.0).mean == pytest.approx(found.e[1])


def test_a_smoothed_path_is_nearer_to_the_truth_and_much_calmer() -> None:
    random = np.random.default_rng(0)
    times = np.arange(600) / 120.0
    truth = np.stack([0.1 * np.sin(4.0 * times), 0.05 * np.cos(2.0 * times), 0.02 * times], axis=1)[:, None]
    seen = truth + 1e-3 * random.standard_normal(truth.shape)
    seen[100:110] = np.nan
    path = smooth_path(times, seen, times)
    assert np.sqrt(((path - truth) ** 2).mean()) < 4e-4
    jerk = np.abs(np.diff(path, n=2, axis=0)).max() * 120.0**2
    assert jerk < 5.0  # m/s^2; of the noise alone it would be about 50
    exact = smooth_path(times, truth, times)
    assert np.abs(exact - truth).max() < 2e-5  # nothing to smooth: nothing is


def test_corners_are_brought_together_where_the_cloth_is_too_short() -> None:
    path = np.array([[[0.0, 0, 0], [0.31, 0, 0]], [[0.0, 0, 0], [0.2, 0, 0]]])
    mended, most = limit_distance(path, 0.3)
    assert np.linalg.norm(mended[0, 1] - mended[0, 0]) == pytest.approx(0.3)
    assert most == pytest.approx(0.005)
    assert np.array_equal(mended[1], path[1])


def test_a_rough_start_becomes_one_without_stretch() -> None:
    mesh = sheet((5, 4), (0.3, 0.4))
    random = np.random.default_rng(1)
    hung = mesh.vertices[:, [0, 2, 1]] + 3e-3 * random.standard_normal((20, 3))
    held = np.array([0, 3])
    found = unstretched(mesh, hung, held, mesh.vertices[held][:, [0, 2, 1]])
    assert float(ic.measure.edge_stretch(mesh, found).max) < 2e-3
    assert np.linalg.norm(found - hung, axis=1).mean() < 8e-3


def test_missing_markers_are_put_between_their_neighbours() -> None:
    mesh = sheet((5, 4), (0.3, 0.4))
    bent = mesh.vertices[:, [0, 2, 1]].copy()
    bent[:, 1] = 0.3 * (0.4 - bent[:, 2]) ** 2
    holes = bent.copy()
    holes[[6, 13, 19]] = np.nan
    assert np.linalg.norm(filled(mesh, holes) - bent, axis=1).max() < 0.012
    finer = on_finer_grid(bent, (5, 4), (9, 7))
    assert finer.reshape(9, 7, 3)[::2, ::2].reshape(-1, 3) == pytest.approx(bent, abs=1e-12)


def test_with_the_true_parameters_only_the_noise_is_left() -> None:
    experiment = prepare(recording(noise=0.0, missing=0.0))
    assert experiment.mesh.n_vertices == 35  # 4 x 3 markers, a node between every two
    clean = experiment.errors(experiment.simulate(FABRIC))
    assert clean.mean < 1.5e-3
    wrong = experiment.errors(experiment.simulate(ic.Fabric(density=0.2, gravity_density=0.06, damping=0.2)))
    assert wrong.mean > 5 * clean.mean
    noisy = prepare(recording())
    assert noisy.errors(noisy.simulate(FABRIC)).mean < 3e-3


def test_frames_after_the_end_are_not_simulated() -> None:
    experiment = prepare(recording())
    half = experiment.simulate(FABRIC, 1.0)
    whole = experiment.simulate(FABRIC)
    times = experiment.recording.times
    assert np.isnan(half.positions[times > 1.03]).all()
    assert half.positions[times <= 1.0] == pytest.approx(whole.positions[times <= 1.0], abs=0)


def test_the_baselines_do_what_their_names_say() -> None:
    experiment = prepare(recording(noise=0.0, missing=0.0))
    still = baselines.frozen(experiment)
    assert still[-1] == pytest.approx(still[0])
    moved = baselines.rigid_translation(experiment)
    middle = experiment.recording.positions[:, experiment.recording.held].mean(axis=1)
    assert (moved - moved[0]).mean(axis=1) == pytest.approx(middle - middle[0], abs=2e-3)
    board = baselines.damped_pendulum(experiment, 3.0)
    apart = np.linalg.norm(board[:, 0] - board[:, -1], axis=1)
    assert np.ptp(apart) < 2e-3  # rigid
    rate, _ = baselines.fitted_pendulum(experiment, experiment.halves()[0])
    assert rate in baselines.RATES


def test_a_small_swing_of_the_pendulum_has_its_period() -> None:
    """A board of height L swings with 2 pi sqrt(2 L / (3 g)) after its edge was jerked and is let alone."""
    times = np.arange(400) / 100.0
    mesh = sheet((5, 4), (0.3, 0.4))
    hung = mesh.vertices[:, [0, 2, 1]]
    shift = 0.02 * np.clip((times - 0.5) / 0.2, 0.0, 1.0)
    points = hung[None] + shift[:, None, None] * np.array([0.0, 1.0, 0.0])
    made = ic.Recording(
        times=times, positions=points, mesh=mesh, held=np.array([0, 3]), fabric=ic.Fabric(density=0.2)
    )  # fmt: skip
    swung = baselines.damped_pendulum(prepare(made), 0.0)[:, -1, 1] - 0.02
    late = times > 1.0
    crossings = times[late][1:][np.diff(np.sign(swung[late])) != 0]
    assert 2 * np.diff(crossings).mean() == pytest.approx(2 * np.pi * np.sqrt(2 * 0.4 / (3 * 9.81)), rel=0.02)


def test_a_sheet_may_start_hanging_and_keep_the_bias_of_its_camera() -> None:
    biased = recording(noise=0.0, missing=0.0)
    points = biased.positions + np.array([0.0, 0.01, 0.0]) * (np.arange(12) >= 3)[:, None]
    shifted = biased.with_(positions=points)
    plain = prepare(shifted, start="hanging")
    kept = prepare(shifted, start="hanging", keep_bias=True)
    assert np.abs(plain.start - kept.start).max() == 0.0
    assert np.linalg.norm(kept.bias[3:] - [0.0, 0.01, 0.0], axis=1).max() < 2e-3
    assert kept.errors(kept.simulate(FABRIC)).mean < 0.3 * plain.errors(plain.simulate(FABRIC)).mean


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda r: r.with_(fabric=None), "made of"),
        (lambda r: r.with_(mesh=None), "no mesh"),
        (lambda r: r.with_(held=[]), "which markers are held"),
        (lambda r: r.with_(positions=_without_corner(r)), "held marker '1' is not seen from"),
    ],
)
def test_what_is_missing_is_named(change, message: str) -> None:
    with pytest.raises(ic.RecordingError, match=message):
        prepare(change(recording()))


def test_wrong_arguments_are_named() -> None:
    with pytest.raises(ValueError, match="drive = 'wire'"):
        prepare(recording(), drive="wire")
    with pytest.raises(ic.RecordingError, match="no path of a tool"):
        prepare(recording(), drive="tool")
    with pytest.raises(ValueError, match="markers have shape"):
        prepare(recording(), markers=np.zeros((2, 3)))
    with pytest.raises(ValueError, match="start = 'flat'"):
        prepare(recording(), start="flat")


def _without_corner(r: ic.Recording) -> np.ndarray:
    points = r.positions.copy()
    points[60:120, 0] = np.nan
    return points


def test_noise_in_the_distance_of_two_corners_does_not_make_slack() -> None:
    random = np.random.default_rng(2)
    times = np.arange(900) / 120.0
    corners = np.array([[0.0, 0.0, 1.0], [0.4, 0.0, 1.0]])
    truth = corners + 0.1 * np.sin(4.0 * times)[:, None, None] * np.array([0.0, 1.0, 0.0])
    seen = truth + 1e-3 * random.standard_normal(truth.shape)
    path = smooth_path(times, seen, times)
    mended = with_smooth_distance(times, seen, times, path)
    assert np.abs(np.linalg.norm(mended[:, 1] - mended[:, 0], axis=1) - 0.4).max() < 1.5e-4
    assert np.abs(mended.mean(axis=1) - path.mean(axis=1)).max() < 1e-12
    # and what really changes stays
    apart = truth.copy()
    apart[:, 1, 0] -= 0.05 * (1.0 + np.sin(2.0 * times))
    seen = apart + 1e-3 * random.standard_normal(truth.shape)
    mended = with_smooth_distance(times, seen, times, smooth_path(times, seen, times))
    assert np.abs(mended - apart).max() < 2e-3


def test_bad_sightings_count_less_where_nothing_moves_too() -> None:
    random = np.random.default_rng(1)
    times = np.arange(60) / 10.0
    seen = np.tile([[0.0, 0.0, 1.0], [0.4, 0.0, 1.0]], (60, 1, 1)) + 1e-4 * random.standard_normal((60, 2, 3))
    bad = random.random(60) < 0.3
    seen[bad, 1, 0] -= 0.06 * random.uniform(0.7, 1.3, int(bad.sum()))
    plain, weighted = (smooth_path(times, seen, times, w) for w in (None, sighting_weights(seen, 0.4)))
    assert np.abs(plain[:, 1, 0] - 0.4).mean() > 0.015
    assert np.abs(weighted[:, 1, 0] - 0.4).mean() < 0.5 * np.abs(plain[:, 1, 0] - 0.4).mean()


def test_a_frame_that_shows_a_rigid_bar_too_short_is_trusted_less() -> None:
    bar = np.repeat(np.array([[[0.0, 0.0, 1.0], [0.4, 0.0, 1.0]]]), 4, axis=0)
    seen = bar.copy()
    seen[1, 1, 0] = 0.36
    seen[2, 0] = np.nan
    squared = 0.04**2 / 3  # mean over the frames that show both
    found = sighting_weights(seen, 0.4)
    expected = 1.0 / np.array([squared, squared + 0.04**2, 2 * squared, squared])
    assert found == pytest.approx(expected / expected.mean())
    assert sighting_weights(bar, 0.4) == pytest.approx(np.ones(4))  # all as good as each other
    assert sighting_weights(bar, 0.38) == pytest.approx(np.ones(4))
    assert np.linalg.norm(np.diff(set_distance(seen[:2], 0.4), axis=1), axis=2) == pytest.approx(0.4)
    assert set_distance(seen[:2], 0.4).mean(axis=1) == pytest.approx(seen[:2].mean(axis=1))


def test_corners_that_a_camera_rounds_off_are_held_apart_as_they_are() -> None:
    """A corner that is seen to slide inwards by up to 3 cm would make the sheet bow out; a rigid bar does not."""
    exact = recording(noise=0.0, missing=0.0)
    points = exact.positions.copy()
    slide = 0.03 * np.abs(np.sin(1.7 * exact.times))
    points[:, exact.held[1], 0] -= slide
    rounded = exact.with_(positions=points)
    width = exact.size[0]
    path = prepare(rounded, apart=width).path
    assert np.linalg.norm(path[:, 1] - path[:, 0], axis=1) == pytest.approx(width)
    free = np.setdiff1d(np.arange(12), exact.held)

    def error(**options: float) -> float:
        made = prepare(rounded, **options)
        return float(np.linalg.norm(made.simulate(FABRIC).positions - exact.positions, axis=2)[:, free].mean())

    # the middle of the bar is seen too far inwards by half of the slide
    assert error(apart=width) == pytest.approx(0.5 * slide.mean(), rel=0.1)
    assert error() > 1.8 * error(apart=width)


@pytest.mark.parametrize("apart", [0.0, -0.1, 0.5, float("nan")])
def test_a_distance_the_cloth_does_not_allow_is_refused(apart: float) -> None:
    with pytest.raises(ValueError, match=r"up to 0\.297, the length of the cloth"):
        prepare(recording(), apart=apart)


def test_a_distance_needs_two_held_markers() -> None:
    with pytest.raises(ValueError, match="two held markers"):
        prepare(recording().with_(held=[0]), apart=0.2)


def test_a_lighter_pendulum_swings_more_slowly() -> None:
    """Period 2 pi sqrt(2 L / (3 w g)): a weight of a quarter doubles it."""
    times = np.arange(600) / 100.0
    mesh = sheet((5, 4), (0.3, 0.4))
    shift = 0.02 * np.clip((times - 0.5) / 0.2, 0.0, 1.0)
    points = mesh.vertices[:, [0, 2, 1]][None] + shift[:, None, None] * np.array([0.0, 1.0, 0.0])
    made = ic.Recording(
        times=times, positions=points, mesh=mesh, held=np.array([0, 3]), fabric=ic.Fabric(density=0.2)
    )  # fmt: skip
    swung = baselines.damped_pendulum(prepare(made), 0.0, weight=0.25)[:, -1, 1] - 0.02
    late = times > 1.0
    crossings = times[late][1:][np.diff(np.sign(swung[late])) != 0]
    assert 2 * np.diff(crossings).mean() == pytest.approx(4 * np.pi * np.sqrt(2 * 0.4 / (3 * 9.81)), rel=0.02)
