"""Animations: number of frames, duration, size."""

from __future__ import annotations

import builtins
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cloths import waving
from PIL import Image, ImageSequence

from isocloth.pictures import frame, render
from isocloth.pictures.animation import playback_times


def test_a_gif_plays_in_real_time_and_loops(tmp_path: Path) -> None:
    path = tmp_path / "cloth.gif"
    calls: list[tuple[int, int]] = []
    render(waving(), path, width=160, height=120, fps=20, progress=lambda *done: calls.append(done))
    with Image.open(path) as gif:
        assert gif.size == (160, 120)
        assert gif.info["loop"] == 0
        lengths = [picture.info["duration"] for picture in ImageSequence.Iterator(gif)]
    assert lengths == [50] * 11  # 0.5 s at 20 per second, both ends included
    assert calls == [(i, 11) for i in range(1, 12)]


def test_the_frames_of_a_gif_show_the_cloth(tmp_path: Path) -> None:
    path = tmp_path / "cloth.gif"
    render(waving(), path, width=160, height=120, every=5, fps=10)
    with Image.open(path) as gif:
        pictures = [np.asarray(picture.convert("RGB"), dtype=int) for picture in ImageSequence.Iterator(gif)]
    assert len(pictures) == 3
    for shown, index in zip(pictures, (0, 5, 10), strict=True):
        exact = frame(waving(), index, width=160, height=120).astype(int)
        assert np.abs(shown - exact).mean() < 3  # 255 colours are enough


def test_an_mp4_has_even_size_and_every_frame(tmp_path: Path) -> None:
    imageio_ffmpeg = pytest.importorskip("imageio_ffmpeg")
    path = tmp_path / "cloth.mp4"
    render(waving(), path, width=159, height=121, fps=24)
    reader = imageio_ffmpeg.read_frames(str(path))
    meta = next(reader)
    assert tuple(meta["size"]) == (160, 122)
    assert meta["fps"] == pytest.approx(24)
    assert meta["codec"] == "h264"
    assert "yuv420p" in meta["pix_fmt"]
    frames = [np.frombuffer(frame, dtype=np.uint8).reshape(122, 160, 3) for frame in reader]
    assert len(frames) == 13  # 0.5 s at 24 per second, both ends included
    middle = frames[0][56:66, 75:85].reshape(-1, 3).mean(axis=0)
    assert middle[2] > middle[0] + 40  # blue cloth
    assert [p.name for p in tmp_path.iterdir()] == ["cloth.mp4"]


def test_mp4_without_its_extra_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def refuse(name: str, *args: Any, **kwargs: Any) -> Any:
        if name == "imageio_ffmpeg":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(ImportError, match=r'pip install "isocloth\[video\]"'):
        render(waving(), tmp_path / "cloth.mp4", width=64, height=64)


def test_times_of_playback() -> None:
    trajectory = waving()
    np.testing.assert_allclose(playback_times(trajectory, interval=0.1), [0, 0.1, 0.2, 0.3, 0.4, 0.5])
    np.testing.assert_array_equal(playback_times(trajectory, interval=0.1, every=4), trajectory.times[::4])
    np.testing.assert_array_equal(playback_times(trajectory[:1], interval=0.1), [0.0])
    with pytest.raises(ValueError, match="every must be 1 or more"):
        playback_times(trajectory, interval=0.1, every=0)


def test_wrong_rates_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"0\.1 to 240"):
        render(waving(), tmp_path / "cloth.gif", fps=0, width=64, height=64)


def encode_with(script: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a shell script take the place of the encoder."""
    imageio_ffmpeg = pytest.importorskip("imageio_ffmpeg")
    encoder = folder / "encoder"
    encoder.write_text(f"#!/bin/sh\n{script}\n")
    encoder.chmod(0o755)
    monkeypatch.setattr(imageio_ffmpeg, "get_ffmpeg_exe", lambda: str(encoder))


def test_an_encoder_that_fails_is_told_and_leaves_no_film(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    encode_with("cat > /dev/null\necho 'No space left on device' >&2\nexit 1", tmp_path, monkeypatch)
    with pytest.raises(OSError, match=r"code 1 \(No space left on device\).*free space"):
        render(waving(), tmp_path / "cloth.mp4", width=64, height=64, fps=10)
    assert [p.name for p in tmp_path.iterdir()] == ["encoder"]


def test_an_encoder_that_hangs_up_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    encode_with("exit 0", tmp_path, monkeypatch)
    with pytest.raises(OSError, match="left no film"):
        render(waving(), tmp_path / "cloth.mp4", width=640, height=480, fps=10)


def test_what_fails_while_pictures_are_made_ends_the_encoder(tmp_path: Path) -> None:
    pytest.importorskip("imageio_ffmpeg")

    def fail(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        render(waving(), tmp_path / "cloth.mp4", width=64, height=64, fps=10, progress=fail)
    assert list(tmp_path.iterdir()) == []
