"""Master curves against their limits, the numbers of the specification, and conserved quantities."""

import numpy as np
import pytest

from isocloth import protocols
from isocloth.protocols.master_curves import COLUMN

HANGING = {
    0.1: 0.01250, 1: 0.12456, 2: 0.24667, 5: 0.58572, 10: 1.06680, 20: 1.86393, 50: 3.70556, 100: 5.88811, 200: 8.90677,
    500: 14.7688, 1e3: 21.3354, 1e4: 69.7088, 1e5: 222.611,
}  # fmt: skip
PUSHED = {
    0.01: 0.04485, 0.05: 0.10354, 0.10: 0.15279, 0.15: 0.19592, 0.20: 0.23777, 0.25: 0.28071, 0.30: 0.32649,
    0.33: 0.35608,
}  # fmt: skip


def test_hanging_strips_are_those_of_the_specification():
    found = protocols.cantilever_curve(list(HANGING))
    assert found == pytest.approx(list(HANGING.values()), rel=5e-5)


def test_a_stiff_strip_drops_by_an_eighth_of_gamma_and_a_soft_one_by_its_root():
    assert protocols.hanging(1e-3).aspect == pytest.approx(1e-3 / 8, rel=1e-4)
    assert protocols.hanging(1e6).aspect == pytest.approx(np.sqrt(1e6 / 2), rel=3e-3)


def test_gamma_is_found_back():
    for gamma in (0.02, 3.0, 700.0):
        assert protocols.gamma_of(protocols.hanging(gamma).aspect) == pytest.approx(gamma, rel=1e-5)


def test_pushed_strips_are_those_of_the_specification():
    found = protocols.stick_slip_curve(list(PUSHED))
    assert found == pytest.approx(list(PUSHED.values()), rel=1e-4)


def test_a_small_push_needs_the_load_that_buckles_a_column_and_friction_like_its_root():
    found = protocols.pushed(1e-4)
    assert found.along == pytest.approx(COLUMN**2, rel=1e-3)
    assert np.tan(COLUMN) == pytest.approx(COLUMN, rel=1e-12)
    assert found.friction == pytest.approx(0.44510 * np.sqrt(1e-4), rel=1e-3)


def test_the_tip_lies_flat_at_the_triple_point():
    assert protocols.pushed(0.33).tip == pytest.approx(np.pi, abs=2e-3)


def test_a_pushed_strip_keeps_its_length_and_ends_where_it_is_held():
    shape = protocols.pushed(0.2).shape
    lengths = np.linalg.norm(np.diff(shape[:, 1:], axis=0), axis=1)
    assert lengths.sum() == pytest.approx(1.0, abs=1e-4)
    assert shape[-1, 1:] == pytest.approx([0.0, 0.8], abs=1e-7)


def test_the_push_is_found_back():
    assert protocols.push_of(protocols.pushed(0.12).friction) == pytest.approx(0.12, rel=1e-6)


def test_a_narrow_strip_buckles_where_prandtl_says():
    """12.85 sqrt(B C) of a beam under its weight, with B = D (1 - nu^2) w and C = 2 D (1 - nu) w."""
    for nu in (0.0, 0.35):
        assert protocols.buckling_threshold(1e-9, nu) == pytest.approx(
            12.85 * np.sqrt(2.0 * (1 - nu) * (1 - nu**2)), rel=3e-3
        )
    assert protocols.buckling_threshold(0.5, 0.35) == pytest.approx(13.75 + 7.25, abs=0.01)


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: protocols.hanging(1e7), "Gamma = .*expected 0.001 to 1e"),
        (lambda: protocols.gamma_of(1e9), "drop / reach"),
        (lambda: protocols.pushed(0.5), "lies on the floor"),
        (lambda: protocols.push_of(0.6), "lies on the floor before it slips"),
        (lambda: protocols.buckling_threshold(2.0, 0.3), "range of the fit"),
        (lambda: protocols.buckling_threshold(0.5, 0.9), "expected -1 to 0.5"),
    ],
)
def test_numbers_beyond_the_curves_are_refused(call, match):
    with pytest.raises(ValueError, match=match):
        call()
