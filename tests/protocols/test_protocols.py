"""Models on the protocols, small; verdicts, plots, and solvers of one's own."""

import numpy as np
import pytest
from PIL import Image

import isocloth as ic
from isocloth import protocols
from isocloth.protocols.strip import make_strip, material
from isocloth.protocols.upright import turn

GAMMAS = [1.0, 10.0, 100.0]


@pytest.mark.parametrize("model", ["isometric", "quasi_inextensible", "elastic", "mass_spring"])
def test_a_cantilever_hangs_as_the_elastica(model):
    verdict = protocols.cantilever(model, gammas=GAMMAS, elements=24)
    assert verdict.ok, verdict.table()
    assert verdict.worst < 0.01
    assert verdict.good == "1 to 100"


def test_a_cantilever_hangs_as_the_elastica_over_six_decades():
    verdict = protocols.cantilever(gammas=np.geomspace(0.1, 1e5, 7))
    assert verdict.ok, verdict.table()
    assert verdict.worst < 0.005
    assert verdict.unsolved == 0


def test_the_error_of_a_cantilever_falls_with_its_elements():
    errors = [protocols.cantilever(gammas=[100.0], elements=n, finest=1.0).worst for n in (10, 20, 40)]
    assert errors[0] > 2.0 * errors[1] > 4.0 * errors[2]


def test_a_model_with_other_bending_is_ko():
    """The papers' bending of the interior alone leaves a strip that is one element wide without any."""
    verdict = protocols.cantilever(ic.models.Isometric(bending="interior"), gammas=[10.0, 20.0], elements=16)
    assert not verdict.ok
    assert verdict.line().startswith("KO")
    assert verdict.good == "nowhere"


def test_who_finds_equilibria_is_up_to_the_user():
    asked = []

    def solver(problem):
        asked.append(problem.fabric.bending)
        return protocols.Settled(problem.mesh.vertices, False, 1.0)

    verdict = protocols.cantilever(gammas=GAMMAS, elements=8, solver=solver, name="nobody")
    assert np.diff(asked) == pytest.approx(-0.9 * np.array(asked[:2]))
    assert verdict.unsolved == 3
    assert not verdict.ok
    assert "nobody" in verdict.table()


@pytest.mark.parametrize("contact", ["coulomb", "gauss_seidel"])
def test_a_tip_slips_where_the_master_curve_says(contact):
    verdict = protocols.stick_slip(frictions=[0.10354, 0.32649], contact=contact, elements=40)
    assert verdict.ok, verdict.table()
    assert verdict.worst < 0.02


def test_a_strip_buckles_sideways_where_the_fit_says():
    verdict = protocols.lateral_buckling("elastic", widths=[0.5], elements=12)
    assert verdict.ok, verdict.table()


def test_a_strip_and_its_clamp():
    strip = make_strip(0.3, 0.05, 20, 2, finest=0.2, element="quad")
    x = np.unique(strip.mesh.vertices[:, 0].round(12))
    assert len(x) == 21
    assert x[-1] == pytest.approx(0.3)
    assert x[:2].sum() == pytest.approx(0.0, abs=1e-12)  # the clamp ends in the middle of the held element
    sizes = np.diff(x)
    assert np.all(np.diff(sizes) > 0.0)
    assert sizes[0] == pytest.approx(0.2 * 0.3 / 20, rel=0.02)
    assert len(strip.held) == 6
    upright = turn(strip.mesh.vertices, 0.0)
    assert np.abs(upright[:, 1]).max() < 1e-15
    assert np.ptp(upright[:, 2]) == pytest.approx(0.05)


def test_rigidity_comes_from_what_a_model_offers():
    model, fabric, poisson = material("isometric", rigidity=2e-3, thickness=1e-3, poisson=0.3, fabric=ic.Fabric())
    assert (model.name, fabric.bending, poisson) == ("isometric", 2e-3, 0.0)
    with pytest.raises(ValueError, match="choose one of isometric"):
        material("silk", rigidity=1.0, thickness=1e-3, poisson=0.3, fabric=ic.Fabric())


def test_verdicts_are_drawn(tmp_path):
    x = np.geomspace(1.0, 100.0, 5)
    verdict = protocols.Verdict("cantilever", "some", "Gamma", "H/W", x, 1.01 * x, x, 0.02, log=True)
    other = protocols.Verdict("cantilever", "other", "Gamma", "H/W", x, 2.0 * x, x, 0.02, log=True)
    protocols.plot([verdict, other], tmp_path / "curves.png")
    picture = np.asarray(Image.open(tmp_path / "curves.png"))
    assert picture.shape == (600, 900, 3)
    assert 0.02 < (picture < 250).any(axis=2).mean() < 0.4
    assert verdict.ok
    assert not other.ok
    assert other.worst == pytest.approx(1.0)


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="gammas"):
        protocols.cantilever(gammas=[-1.0])
    with pytest.raises(ValueError, match="widths"):
        protocols.lateral_buckling(widths=[3.0])
    with pytest.raises(ValueError, match="frictions"):
        protocols.stick_slip(frictions=[])
    with pytest.raises(ValueError, match="'quad', 'triangle', 'alike'"):
        protocols.cantilever(element="hexagon")
    with pytest.raises(ValueError, match="at least 4 x 1 elements"):
        make_strip(0.1, 0.1, 2, 1, element="quad")


def test_a_missing_rival_is_named(monkeypatch):
    monkeypatch.setattr("isocloth.protocols.mujoco_flex.find_spec", lambda name: None)
    with pytest.raises(ImportError, match="pip install"):
        protocols.cantilever(gammas=[1.0], elements=8, solver=protocols.settle_mujoco)


def test_mujoco_hangs_a_strip_where_it_is_installed():
    pytest.importorskip("mujoco")
    verdict = protocols.cantilever(
        gammas=[10.0], elements=10, element="triangle", solver=protocols.settle_mujoco, name="mujoco_flex", finest=1.0
    )
    assert np.isfinite(verdict.worst)
    assert 0.2 < verdict.computed[0] < 5.0
