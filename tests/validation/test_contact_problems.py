"""Recorded contact problems: solvers are compared, and a sample is spread over what comes by."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from isocloth.friction.contact_qp import ContactQP
from validation.contact_problems import compare
from validation.recorded_scenes import Sample

RECORDED = sorted((Path(__file__).parents[1] / "friction" / "recorded").glob("*.npz"))


def test_the_comparison_counts_failures_and_times():
    pytest.importorskip("clarabel")
    pytest.importorskip("piqp")
    tried = compare([ContactQP.load(RECORDED[0])])
    assert set(tried) == {"active set", "active set, paper's rule", "Clarabel", "PIQP"}
    assert all(t.failures == 0 and t.disagreement < 1e-6 and t.median > 0.0 for t in tried.values())
    assert tried["active set"].disagreement == 0.0


def test_a_sample_is_spread_evenly():
    sample = Sample(10)
    for k in range(1000):
        sample(k)
    kept = list(sample)
    assert len(kept) == 10
    assert np.diff(kept).min() > 60
    few = Sample(10)
    few(1)
    assert list(few) == [1]
