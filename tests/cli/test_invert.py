"""`isocloth invert`: what it writes, says and returns; interrupted it goes on to the same bits."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import isocloth as ic
from isocloth.cli import main
from isocloth.inverse.checkpoint import Checkpoint

SCENE = """
title = "a wavy page"

[fabric]
density = {density}

[simulation]
model = {{ name = "discrete_shell", stretch = {stretch}, bending = {bending} }}

[[grasp]]
at = [0, 0.075, 0.3]
radius = 0.12
"""
STIFF = {"density": 0.2, "stretch": 50.0, "bending": 5e-3}
#: with it many steps of the load are taken and refused
SOFT = {"density": 1.0, "stretch": 6.0, "bending": 1e-3}
WORDS = ["invert", "target.obj", "--scene", "scene.toml", "-o", "rest.obj"]


def target(wave: float = 0.04) -> ic.Mesh:
    flat = ic.meshes.rectangle(0.4, 0.15, (9, 4), element="triangle")
    x = flat.vertices.copy()
    x[:, 2] = 0.3 + wave * np.sin(2 * np.pi * x[:, 0] / 0.4)
    return flat.with_vertices(x)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    target().save("target.obj")
    (tmp_path / "scene.toml").write_text(SCENE.format(**STIFF))
    return tmp_path


def rest() -> bytes:
    """The bits of the rest shape; its file has a date as well."""
    return ic.Mesh.load("rest.obj").vertices.tobytes()


def soft(folder: Path) -> None:
    (folder / "scene.toml").write_text(SCENE.format(**SOFT))


def test_it_writes_the_rest_shape_that_python_finds(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*WORDS, "--positions", "hung.ply", "--report", "page.html"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    mesh = ic.Mesh.load("target.obj")
    held = np.flatnonzero(np.linalg.norm(mesh.vertices - [0, 0.075, 0.3], axis=1) <= 0.12)
    shell = ic.models.DiscreteShell(stretch=50.0, bending=5e-3)
    found = ic.invert(mesh, ic.Fabric(density=0.2), model=shell, held=held)
    np.testing.assert_array_equal(ic.Mesh.load("rest.obj").vertices, found.rest.vertices)
    np.testing.assert_array_equal(ic.Mesh.load("hung.ply").vertices, mesh.vertices)
    assert (folder / "page.html").stat().st_size > 20_000
    assert out.splitlines()[0] == "a wavy page"
    table = dict(line.split("  ", 1) for line in out.splitlines()[2:])
    table = {name.strip(): value.strip() for name, value in table.items()}
    assert table["reached"].startswith("yes")
    assert table["load reached"] == "all of the weight"
    assert float(table["target error J"].split()[0]) < 1e-18
    assert float(table["friction error G"].split()[0]) < 1e-18
    assert table["carried by"] == f"0 contacts, {len(held)} held nodes"
    assert table["rest shape"] == "rest.obj"
    assert {p.name for p in folder.iterdir()} == {"target.obj", "scene.toml", "rest.obj", "hung.ply", "page.html"}


def test_what_is_not_reached_is_said_and_written(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    soft(folder)
    assert main([*WORDS, "--quiet"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert "not reached: the target is stable up to" in err
    assert "the nearest shape that was found is off by" in err
    assert "'rest.obj' is the rest shape of the nearest shape" in err
    assert (folder / "rest.obj").exists()
    assert not list(folder.glob("*checkpoint*"))


def test_options_take_the_place_of_the_scene(folder: Path) -> None:
    soft(folder)
    assert main([*WORDS, "--quiet", "--density", "0.02"]) == 0
    light = rest()
    (folder / "scene.toml").write_text(SCENE.format(**SOFT | {"density": 0.02}))
    assert main([*WORDS, "--quiet"]) == 0
    assert rest() == light
    mm = target().vertices * 1000.0
    target().with_vertices(mm[:, [0, 2, 1]] * [1, 1, -1]).save("target.obj")
    assert main([*WORDS, "--quiet", "--scale", "0.001", "--up", "y"]) == 0
    np.testing.assert_allclose(ic.Mesh.load("rest.obj").edge_lengths, target().edge_lengths, rtol=0.05)


def test_quads_are_cut_if_it_is_said(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ic.Mesh(target().vertices, ic.meshes.rectangle(0.4, 0.15, (9, 4)).faces).save("target.obj")
    assert main(WORDS) == 2
    assert "--triangulate" in capsys.readouterr().err
    assert not (folder / "rest.obj").exists()
    assert main([*WORDS, "--triangulate", "--quiet"]) == 0
    assert ic.Mesh.load("rest.obj").element == "triangle"


def interrupted(folder: Path, monkeypatch: pytest.MonkeyPatch, *words: str) -> Path:
    """A search that Ctrl-C ends in its fourth step."""
    save, left = Checkpoint.save, [4]

    def save_and_press(self, at):
        save(self, at)
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGINT)

    with monkeypatch.context() as patch:
        patch.setattr(Checkpoint, "save", save_and_press)
        assert main([*WORDS, *words]) == 130
    assert not (folder / "rest.obj").exists()
    return folder / "rest.obj.checkpoint.npz"


def test_ctrl_c_saves_and_says_how_to_go_on(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    soft(folder)
    assert main([*WORDS, "--margin", "0.7", "--quiet"]) == 1
    whole = rest()
    (folder / "rest.obj").unlink()
    checkpoint = interrupted(folder, monkeypatch, "--margin", "0.7")
    assert checkpoint.exists()
    told = capsys.readouterr().err.splitlines()[-1].strip()
    assert told == "isocloth invert target.obj --scene scene.toml -o rest.obj --margin 0.7 --resume"
    # without being told, nothing is discarded
    assert main([*WORDS, "--margin", "0.7"]) == 2
    message = capsys.readouterr().err
    assert "--resume" in message
    assert "--restart" in message
    # nor used for anything else
    assert main([*WORDS, "--margin", "0.6", "--resume"]) == 2
    assert "another problem (other margin)" in capsys.readouterr().err
    assert checkpoint.exists()
    assert main(told.split()[1:]) == 1
    assert rest() == whole
    assert not list(folder.glob("*checkpoint*"))


def test_a_damaged_checkpoint_is_refused_and_may_be_discarded(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    soft(folder)
    checkpoint = interrupted(folder, monkeypatch)
    checkpoint.write_bytes(checkpoint.read_bytes()[:300])
    capsys.readouterr()
    assert main([*WORDS, "--resume"]) == 2
    assert "is no checkpoint" in capsys.readouterr().err
    assert main([*WORDS, "--restart", "--quiet"]) == 1
    assert not checkpoint.exists()


def test_resume_without_a_checkpoint_says_so(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*WORDS, "--resume", "--checkpoint", "mine.npz"]) == 0
    assert "no checkpoint 'mine.npz'; starting from the beginning" in capsys.readouterr().err


def test_a_killed_search_goes_on_to_the_same_bits(folder: Path) -> None:
    soft(folder)
    assert main([*WORDS, "--quiet"]) == 1
    whole = rest()
    (folder / "rest.obj").unlink()
    process = subprocess.Popen([sys.executable, "-m", "isocloth", *WORDS], stderr=subprocess.PIPE, text=True)
    checkpoint, end = folder / "rest.obj.checkpoint.npz", time.monotonic() + 60.0
    while not checkpoint.exists():
        assert process.poll() is None, "it ended before it could be killed"
        assert time.monotonic() < end
        time.sleep(0.002)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate(timeout=30)
    assert not (folder / "rest.obj").exists()
    assert main([*WORDS, "--resume", "--quiet"]) == 1
    assert rest() == whole
