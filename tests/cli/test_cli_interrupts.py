"""An interrupted run continues with the same bits, however it was interrupted."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from isocloth.cli import main

# long enough to be interrupted, and with a release in it that the resumed run must not forget
SCENE = """
[cloth]
width = 0.3
height = 0.3
nodes = [9, 9]
rotation = [90, 0, 0]
noise = 1e-4

[fabric]
damping = 0.2

[simulation]
duration = {duration}
timestep = 0.005
every = 0.01

[[grasp]]
where = "corner 1"
motion = "oscillate"
amplitude = 0.03
axis = "y"
frequency = 2.0

[[grasp]]
where = "corner 3"
release = 0.4
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scene.toml").write_text(SCENE.format(duration=1.5))
    return tmp_path


def start(*words: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "isocloth", "run", "scene.toml", *words]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_for(path: Path, process: subprocess.Popen[str], seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not path.exists():
        assert process.poll() is None, "the run ended before it could be interrupted"
        assert time.monotonic() < end
        time.sleep(0.005)


@pytest.mark.parametrize("suffix", [".h5", ".npz"])
def test_a_killed_run_resumes_with_the_same_bits(folder: Path, suffix: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "scene.toml", "-o", f"whole{suffix}", "--quiet"]) == 0
    checkpoint = folder / f"part{suffix}.checkpoint.npz"
    process = start("-o", f"part{suffix}", "--checkpoint-seconds", "0.05")
    wait_for(checkpoint, process)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate(timeout=30)
    assert checkpoint.exists()
    assert not (folder / f"part{suffix}").exists()

    # without being told, nothing is discarded
    assert main(["run", "scene.toml", "-o", f"part{suffix}"]) == 2
    message = capsys.readouterr().err
    assert "--resume" in message
    assert "--restart" in message
    assert checkpoint.exists()

    assert main(["run", "scene.toml", "-o", f"part{suffix}", "--resume"]) == 0
    assert "resuming at t = " in capsys.readouterr().err
    assert (folder / f"part{suffix}").read_bytes() == (folder / f"whole{suffix}").read_bytes()
    assert not list(folder.glob("*checkpoint*"))


def test_ctrl_c_saves_and_says_how_to_go_on(folder: Path) -> None:
    assert main(["run", "scene.toml", "-o", "whole.h5", "--quiet"]) == 0
    process = start("-o", "part.h5", "--checkpoint-seconds", "0.05")
    wait_for(folder / "part.h5.checkpoint.npz", process)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert out == ""
    assert "Traceback" not in err
    assert "isocloth run scene.toml -o part.h5 --resume" in err
    assert main(["run", "scene.toml", "-o", "part.h5", "--resume", "--quiet"]) == 0
    assert (folder / "part.h5").read_bytes() == (folder / "whole.h5").read_bytes()


def test_ctrl_c_between_checkpoints_saves_too(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from isocloth.cli.stopwatch import Stopwatch

    lap = Stopwatch.lap

    def lap_and_press(self: Stopwatch, simulated: float) -> None:
        lap(self, simulated)
        if 0.499 < simulated < 0.501:
            os.kill(os.getpid(), signal.SIGINT)

    handler = signal.getsignal(signal.SIGINT)
    monkeypatch.setattr(Stopwatch, "lap", lap_and_press)
    assert main(["run", "scene.toml", "-o", "part.h5"]) == 130
    assert "interrupted at t = 0.5 s of 1.5 s" in capsys.readouterr().err
    monkeypatch.setattr(Stopwatch, "lap", lap)
    assert signal.getsignal(signal.SIGINT) is handler
    assert main(["run", "scene.toml", "-o", "part.h5", "--resume", "--quiet"]) == 0
    assert main(["run", "scene.toml", "-o", "whole.h5", "--quiet"]) == 0
    assert (folder / "part.h5").read_bytes() == (folder / "whole.h5").read_bytes()


def leave_checkpoint(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An interrupted run of the scene into part.h5."""
    from isocloth.cli.stopwatch import Stopwatch

    with monkeypatch.context() as patch:
        patch.setattr(Stopwatch, "lap", lambda *_: os.kill(os.getpid(), signal.SIGINT))
        assert main(["run", "scene.toml", "-o", "part.h5"]) == 130
    return folder / "part.h5.checkpoint.npz"


def test_a_changed_scene_does_not_resume(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    checkpoint = leave_checkpoint(folder, monkeypatch)
    scene = folder / "scene.toml"
    text = scene.read_text()
    scene.write_text(text.replace("amplitude = 0.03", "amplitude = 0.04"))
    capsys.readouterr()
    assert main(["run", "scene.toml", "-o", "part.h5", "--resume"]) == 2
    assert "the scene has changed" in capsys.readouterr().err
    scene.write_text('title = "another title"\n' + text)
    assert checkpoint.exists()
    assert main(["run", "scene.toml", "-o", "part.h5", "--resume", "--quiet"]) == 0


def test_another_duration_does_not_resume(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checkpoint = leave_checkpoint(folder, monkeypatch)
    assert main(["run", "scene.toml", "-o", "part.h5", "--resume", "--duration", "2"]) == 2
    assert checkpoint.exists()


def test_restart_begins_afresh(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    leave_checkpoint(folder, monkeypatch)
    words = ["-o", "part.h5", "--restart", "--quiet", "--duration", "0.05"]
    assert main(["run", "scene.toml", *words]) == 0
    assert not list(folder.glob("*checkpoint*"))


def test_a_damaged_checkpoint_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    checkpoint = leave_checkpoint(folder, monkeypatch)
    checkpoint.write_bytes(checkpoint.read_bytes()[:500])
    capsys.readouterr()
    assert main(["run", "scene.toml", "-o", "part.h5"]) == 2
    assert "cannot be read" in capsys.readouterr().err
    assert main(["run", "scene.toml", "-o", "part.h5", "--resume"]) == 2
    assert "is damaged; add --restart" in capsys.readouterr().err


def test_resume_without_a_checkpoint_says_so(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "scene.toml", "-o", "part.h5", "--resume", "--duration", "0.05"]) == 0
    assert "starting from the beginning" in capsys.readouterr().err


def test_a_terminal_sees_progress(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    assert main(["run", "scene.toml", "--duration", "0.05"]) == 0
    assert "100 %" in capsys.readouterr().err
    assert main(["render", "scene.h5", "-o", "out.gif", "--width", "32", "--height", "32"]) == 0
    assert "picture 1 of" in capsys.readouterr().err
