"""The video encoder, ffmpeg, as a process that is fed pictures and asked how it ended.

imageio-ffmpeg brings the program; its own writer never looks at the exit code, so that a full disk left half a film
and no word of it.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import IO

import numpy as np

from isocloth.base.errors import FileError, MissingLibraryError


def encode_h264(pictures: Iterable[np.ndarray], path: Path, size: tuple[int, int], fps: float) -> None:
    """Write pictures (height, width, 3) uint8 as H.264 (yuv420p); width and height must be even. FileError if it fails.

    size: width and height, pixels. What an encoder that failed has written is left for the caller to remove.
    """
    command = [
        _program(), "-y", "-f", "rawvideo", "-vcodec", "rawvideo", "-s", f"{size[0]}x{size[1]}", "-pix_fmt", "rgb24",
        "-r", f"{fps:.9g}", "-i", "-", "-an", "-vcodec", "libx264", "-pix_fmt", "yuv420p", "-v", "warning",
        "-crf", "20", "-preset", "medium", "-movflags", "+faststart", str(path),
    ]  # fmt: skip
    with tempfile.TemporaryFile() as said:  # a pipe that nobody reads would fill up and stop the encoder
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=said)
        broken = False
        try:
            assert process.stdin is not None
            broken = not _fed(process.stdin, pictures)
        except BaseException:
            process.kill()
            raise
        finally:
            code = process.wait()
        if code != 0 or broken:
            said.seek(0)
            words = said.read().decode("utf-8", "replace").strip().splitlines()
            raise FileError(
                f"the video encoder ended with code {code} ({words[-1] if words else 'no message'}) and left no film: "
                "expected code 0; free space on the disk, or write a .gif"
            )


def _fed(pipe: IO[bytes], pictures: Iterable[np.ndarray]) -> bool:
    """Send all pictures; False if the encoder hung up before the end."""
    try:
        for picture in pictures:
            pipe.write(np.ascontiguousarray(picture).data)
        pipe.close()
    except (BrokenPipeError, ConnectionResetError):
        with suppress(OSError):
            pipe.close()
        return False
    return True


def _program() -> str:
    try:
        import imageio_ffmpeg
    except ImportError as error:
        raise MissingLibraryError(
            'writing .mp4 needs imageio-ffmpeg, which is not installed; run pip install "isocloth[video]", '
            "or write a .gif"
        ) from error
    return str(imageio_ffmpeg.get_ffmpeg_exe())
