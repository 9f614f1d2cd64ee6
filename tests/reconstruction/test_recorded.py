"""A cloth that a robot lifts, seen by cameras: every frame is one sheet."""

from pathlib import Path

import pytest

import isocloth as ic
from isocloth.reconstruction.files import read_points

CLOUD = Path(__file__).parents[1] / "data" / "clouds" / "r2s_lift_fleek_metric750.npz"


@pytest.mark.parametrize("frame", range(6))
def test_a_lifted_sheet_is_a_disc(frame: int) -> None:
    found = ic.reconstruct(read_points(CLOUD, frame=frame))
    assert found.description == "disc"
    assert found.distance_to_points.mean() < 0.5 * found.spacing
    if frame == 0:  # it lies flat, 0.44 m x 0.44 m as measured
        assert found.surface.area == pytest.approx(0.436 * 0.443, rel=0.08)
