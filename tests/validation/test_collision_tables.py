"""The check of the paper's tables: how its stick moves, when mu counts as determined, how its tables look."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from validation import collision_tables, stick_hits
from validation.collision_tables import HITS, Interval


def test_the_stick_hits_the_sheet_four_times_and_comes_back() -> None:
    times, ends = collision_tables.swings()
    assert np.linalg.norm(np.diff(ends, axis=1), axis=2) == pytest.approx(stick_hits.LENGTH)
    middle = ends.mean(axis=1)
    behind = middle[:, 1] > 0.0
    assert int((np.diff(behind.astype(int)) == 1).sum()) == len(HITS)
    assert not behind[[0, -1]].any()
    deepest = [middle[(times >= 3.0 * k) & (times < 3.0 * (k + 1)), 1].max() for k in range(len(HITS))]
    assert deepest == pytest.approx([depth for _, _, depth, _ in HITS], abs=1e-3)
    speed = np.linalg.norm(np.diff(middle, axis=0), axis=1) / np.diff(times)
    assert 1.8 < speed.max() < 2.0


@pytest.mark.parametrize(
    ("low", "high", "determined"), [(0.92, 1.08, True), (0.85, 1.08, False), (0.92, 1.2, False), (0.0, np.inf, False)]
)
def test_mu_is_determined_if_noise_leaves_it_little_room(low: float, high: float, determined: bool) -> None:
    assert Interval(1.0, low, high).determined is determined
    assert Interval(1.0, low, high, deviation=0.04).determined is determined
    assert not Interval(1.0, low, high, deviation=0.06).determined


def test_what_was_fitted_is_among_the_values_that_noise_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fit that a rough error led elsewhere than to the least point of the profile determines nothing."""
    monkeypatch.setattr(collision_tables, "interval", lambda *_: Interval(1.0, 0.95, 1.05))
    fits = [SimpleNamespace(experiment=None)]
    for value, determined in ((1.02, True), (1.2, False), (0.8, False)):
        found = SimpleNamespace(values={"mu": value}, uncertainty={"mu": 0.01}, fits=fits)
        known = collision_tables._known(found, "mu", None, None)  # type: ignore[arg-type]
        assert (known.low, known.high, known.deviation) == (min(0.95, value), max(1.05, value), 0.01)
        assert known.determined is determined


def test_the_end_of_an_interval_lies_where_the_error_reaches_what_noise_allows() -> None:
    values, losses = np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 5.0])
    assert collision_tables._crossing(values, losses, 1, 2, 3.0) == pytest.approx(2.0 + 2.0 / 3.0)
    # what lies between two values is not told apart
    assert collision_tables._crossing(values, losses, 0, 1, 0.0) == pytest.approx(1.5)
    assert collision_tables._crossing(values, np.array([1.0, 2.0, np.inf]), 1, 2, 1.0) == 3.0


def test_the_tables_have_the_papers_layout() -> None:
    cells = collision_tables.beside(["0.21", "0.22"], ["0", "0.60"])
    text = collision_tables.markdown("Table 2", ["material", "mu_low", "e_low, cm"], [["wool", *cells]])
    assert text.splitlines()[-1] == "| wool | 0.21 (0) | 0.22 (0.60) |"
    assert {len(row) for row in collision_tables.PAPER_2.values()} == {6}
    assert {len(row) for row in collision_tables.PAPER_3.values()} == {5}
