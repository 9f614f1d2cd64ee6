"""Protocols in reverse: what goes in comes out, and errors are those of repeated measurements."""

import numpy as np
import pytest

from isocloth import protocols
from isocloth.cli import main


def test_the_stiffness_of_a_strip_that_hangs_by_the_master_curve_is_found_back():
    kappa, density, length = 3e-4, 0.15, 0.12
    found = protocols.hanging(density * 9.81 * length**3 / kappa)
    measured = protocols.measure_bending(length, density, found.drop * length, found.reach * length)
    assert measured.value == pytest.approx(kappa, rel=1e-5)
    assert measured.unit == "N m"
    assert len(measured.notes) == 1  # nothing to doubt


def test_its_uncertainty_is_that_of_repeated_measurements():
    rng = np.random.default_rng(0)
    found = protocols.hanging(10.0)
    true = np.array([0.2, 0.15, 0.2 * found.drop, 0.2 * found.reach])
    errors = np.array([1e-3, 1.5e-3, 1e-3, 1e-3])
    samples = true + errors * rng.standard_normal((400, 4))
    values = samples[:, 1] * 9.81 * samples[:, 0] ** 3
    # a fine table of the master curve instead of four hundred searches
    gammas = np.geomspace(6.0, 17.0, 40)
    values /= np.interp(samples[:, 2] / samples[:, 3], protocols.cantilever_curve(gammas), gammas)
    measured = protocols.measure_bending(*true)
    assert measured.uncertainty == pytest.approx(values.std(), rel=0.15)
    assert np.hypot.reduce(list(measured.parts.values())) == pytest.approx(measured.uncertainty)


def test_a_strip_that_cannot_hang_so_is_doubted():
    assert "curled" in protocols.measure_bending(0.2, 0.15, 0.05, 0.1).notes[1]
    with pytest.raises(ValueError, match="further from the clamp than the strip is long"):
        protocols.measure_bending(0.2, 0.15, 0.2, 0.2)


def test_friction_comes_from_lengths_or_forces():
    assert protocols.measure_friction(push=0.02, length=0.2).value == pytest.approx(0.15279, rel=1e-4)
    found = protocols.measure_friction(across=0.1, along=0.5, force_error=0.01)
    assert found.value == pytest.approx(0.2)
    assert found.uncertainty == pytest.approx(0.2 * 0.01 * np.sqrt(2.0), rel=1e-3)
    with pytest.raises(ValueError, match="either push and length"):
        protocols.measure_friction(push=0.02)


def test_what_is_no_length_is_refused():
    with pytest.raises(ValueError, match="drop = -0"):
        protocols.measure_bending(0.2, 0.15, -0.1, 0.1)
    with pytest.raises(TypeError, match="expected a number"):
        protocols.measure_bending("long", 0.15, 0.1, 0.1)
    with pytest.raises(ValueError, match="standard deviation"):
        protocols.measure_bending(0.2, 0.15, 0.1, 0.1, drop_error=-1.0)


def test_the_command_measures(capsys):
    words = ["measure", "cantilever", "--length", "0.2", "--density", "0.15", "--drop", "0.08", "--reach", "0.15"]
    assert main(words) == 0
    out = capsys.readouterr().out
    assert "bending stiffness" in out
    assert "2.6" in out
    assert "e-3 N m" in out
    assert main(["measure", "stick_slip", "--across", "0.1", "--along", "0.5"]) == 0
    assert "0.2000 +- 0.0057" in capsys.readouterr().out
    assert main(["measure", "cantilever", "--length", "0.2"]) == 2
    assert "--density, --drop, --reach" in capsys.readouterr().err


def test_the_command_runs_a_protocol_and_draws_it(capsys, tmp_path):
    plot = tmp_path / "cantilever.png"
    words = ["protocol", "cantilever", "--model", "isometric", "elastic", "--gammas", "1", "10", "--elements", "16"]
    assert main([*words, "-o", str(plot)]) == 0
    out = capsys.readouterr().out
    assert out.count("OK  cantilever") == 4  # each below its table, and again together
    assert plot.stat().st_size > 1000
    assert main(["protocol", "cantilever", "--model", "silk"]) == 2
    assert "choose some of isometric" in capsys.readouterr().err
    assert main(["protocol", "cantilever", "--widths", "0.5"]) == 2
    assert "does not belong to cantilever" in capsys.readouterr().err
    assert main(["protocol", "cantilever", "-o", str(tmp_path / "plot.txt")]) == 2
    assert ".png" in capsys.readouterr().err
