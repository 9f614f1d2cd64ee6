"""`isocloth pattern`: what it writes, says and returns."""

from __future__ import annotations

import json
import os
import signal
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

import isocloth as ic
from isocloth.cli import main
from isocloth.patterns import shortest_path
from isocloth.patterns.checkpoint import Checkpoint

SCENE = """
title = "a <page>"

[fabric]
density = 0.3

[simulation]
model = { name = "discrete_shell", stretch = 50.0, bending = 5e-3 }

[[grasp]]
at = [0, 0.075, 0.0]
radius = 0.12
"""
SHELL_OF_SCENE = '{ name = "discrete_shell", stretch = 50.0, bending = 5e-3 }'
SHELL = ic.models.DiscreteShell(stretch=50.0, bending=5e-3)
FLAT = ic.meshes.rectangle(0.4, 0.15, (9, 4), element="triangle")
HELD = np.flatnonzero(np.linalg.norm(FLAT.vertices - [0, 0.075, 0.0], axis=1) <= 0.12)
WORDS = ["pattern", "target.ply", "--scene", "scene.toml", "-o", "pattern.svg", "--noise", "1e-06"]


@pytest.fixture(scope="module")
def hung() -> ic.Mesh:
    """A sheet of 0.2 kg/m^2 that hangs from one of its ends."""
    found = ic.equilibrium(FLAT, ic.Fabric(density=0.2), model=SHELL, held=HELD)
    assert found.stable
    return FLAT.with_vertices(found.positions)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hung: ic.Mesh) -> Path:
    monkeypatch.chdir(tmp_path)
    hung.save("target.ply")
    (tmp_path / "scene.toml").write_text(SCENE)
    return tmp_path


def test_it_writes_the_panel_from_which_the_target_was_made(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*WORDS, "--mesh", "panels.obj", "--report", "page.html", "--allowance", "10"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert out.splitlines()[0] == "a <page>"
    assert out.splitlines()[-3].split() == ["pattern", "pattern.svg"]
    density = next(line.split()[1] for line in out.splitlines() if line.startswith("density"))
    assert float(density) == pytest.approx(0.2, rel=1e-3)
    panels = ic.Mesh.load("panels.obj")
    told = ~np.isin(FLAT.edges, HELD).any(axis=1)  # hands bear any force, so that lengths between them are not told
    np.testing.assert_allclose(panels.edge_lengths[told], FLAT.edge_lengths[told], rtol=1e-4)
    np.testing.assert_array_equal(panels.vertices[:, 2], 0.0)
    groups = {g.get("id"): g for g in ET.parse("pattern.svg").getroot().iter("{http://www.w3.org/2000/svg}g")}
    assert len(groups["cut"]) == len(groups["seam"]) == 1
    assert {p.name for p in folder.iterdir()} == {
        "target.ply", "scene.toml", "pattern.svg", "panels.obj", "page.html"
    }  # fmt: skip
    page = (folder / "page.html").read_text()
    assert "a &lt;page&gt;" in page
    assert "reached</th><td>yes" in page


def test_seams_are_read_from_a_file(folder: Path, hung: ic.Mesh, capsys: pytest.CaptureFixture[str]) -> None:
    across = shortest_path(hung, FLAT.nearest([0.2, 0.0, 0.0]), FLAT.nearest([0.2, 0.15, 0.0]))
    (folder / "seams.json").write_text(json.dumps({"seams": {"waist": across.tolist()}}))
    assert main([*WORDS, "--seams", "seams.json", "--unknown"]) in (0, 1)
    out = capsys.readouterr().out
    assert "panel 2" in out
    assert "seam waist" in out
    assert "waist a to " in (folder / "pattern.svg").read_text(encoding="utf-8")


@pytest.mark.parametrize(("words", "match"), [
    (["-o", "pattern.pdf"], "pattern.pdf"), (["-o", "none/pattern.svg"], "does not exist"),
    (["--mesh", "panels.svg"], "panels.svg"), (["--report", "page.txt"], "page.txt"),
    (["--allowance", "-1"], "from 0 to 200"), (["-o", "panels.obj", "--allowance", "5"], "--allowance 5"),
    (["--seams", "none.json"], "none.json"), (["--unknown", "colour"], "colour"), (["--noise", "-1"], "noise"),
])  # fmt: skip
def test_what_cannot_be_is_said_at_once(folder: Path, words, match: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*WORDS, *words]) == 2
    assert match in capsys.readouterr().err
    assert {p.name for p in folder.iterdir()} == {"target.ply", "scene.toml"}


def test_ctrl_c_saves_and_says_how_to_go_on(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*WORDS, "--quiet", "--mesh", "panels.ply"]) == 0
    whole = ic.Mesh.load("panels.ply").vertices.tobytes()
    for name in ("pattern.svg", "panels.ply"):
        (folder / name).unlink()
    save, left = Checkpoint.save, [2]

    def save_and_press(self, stage):
        save(self, stage)
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGINT)

    with monkeypatch.context() as patch:
        patch.setattr(Checkpoint, "save", save_and_press)
        assert main([*WORDS, "--mesh", "panels.ply"]) == 130
    told = capsys.readouterr().err.splitlines()[-1].strip()
    assert (
        told == "isocloth pattern target.ply --scene scene.toml -o pattern.svg --mesh panels.ply --noise 1e-06 --resume"
    )
    assert main([*WORDS]) == 2
    assert "--resume" in capsys.readouterr().err
    assert main(told.split()[1:]) == 0
    assert ic.Mesh.load("panels.ply").vertices.tobytes() == whole
    assert not list(folder.glob("*checkpoint*"))


def test_cloth_that_does_not_stretch_is_unrolled(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bent = FLAT.vertices.copy()
    bent[:, 0], bent[:, 2] = 0.1 * np.cos(FLAT.vertices[:, 0] / 0.1), 0.1 * np.sin(FLAT.vertices[:, 0] / 0.1)
    FLAT.with_vertices(bent).save("target.ply")
    (folder / "scene.toml").write_text(SCENE.replace(SHELL_OF_SCENE, '"isometric"'))
    assert main([*WORDS[:6], "--mesh", "panels.obj"]) == 0
    assert "unrolls" in capsys.readouterr().out
    chord = 0.2 * np.sin(0.05 / 0.2)
    size = np.sort(np.ptp(ic.Mesh.load("panels.obj").vertices, axis=0))
    np.testing.assert_allclose(size, [0.0, 0.15, 8 * chord], atol=1e-9)
    assert main([*WORDS[:6], "--unknown", "density"]) == 2
    assert "--unknown" in capsys.readouterr().err
