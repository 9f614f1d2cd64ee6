"""`isocloth demo`: a scene worth looking at, simulated and pictured in one go."""

from __future__ import annotations

import argparse
import dataclasses
import importlib.util
import sys
from pathlib import Path

from isocloth.base.files import atomic_path
from isocloth.cli.render import progress
from isocloth.cli.run import simulate
from isocloth.cli.stopwatch import Stopwatch
from isocloth.cli.summary import summary
from isocloth.scenes import load_scene, shipped_scenes

#: pixels of the films; the picture of six instants is larger
FILM = (640, 480)
SHEET = (960, 720)
GIF_RATE = 20.0
VIDEO_RATE = 30.0


def demo(options: argparse.Namespace) -> int:
    """Leave demo.gif, demo.mp4 (where it can be made), demo.html, demo.png, demo.h5 and summary.txt."""
    from isocloth import pictures

    folder = Path(options.output)
    folder.mkdir(parents=True, exist_ok=True)
    scene = load_scene(shipped_scenes()["demo"])
    if options.duration is not None:
        settings = dataclasses.replace(scene.settings, duration=options.duration)
        scene = dataclasses.replace(scene, settings=settings)
    clock = Stopwatch()
    if not options.quiet:
        print("simulating ...", file=sys.stderr)
    trajectory = simulate(scene, clock, quiet=options.quiet)
    made = [folder / "demo.h5"]
    trajectory.save(made[0])
    for suffix, rate in _formats():
        path = folder / f"demo{suffix}"
        if not options.quiet:
            print(f"picturing {path} ...", file=sys.stderr)
        width, height = SHEET if suffix == ".png" else FILM
        show = None if options.quiet else progress(path.name)
        pictures.render(trajectory, path, width=width, height=height, fps=rate, title=scene.title, progress=show)
        made.append(path)
    made.append(folder / "summary.txt")
    text = summary(trajectory, clock, scene, *made)
    with atomic_path(made[-1]) as temporary:
        temporary.write_text(text + "\n", encoding="utf-8")
    print(text)
    return 0


def _formats() -> list[tuple[str, float]]:
    video = [(".mp4", VIDEO_RATE)] if importlib.util.find_spec("imageio_ffmpeg") else []
    return [(".png", VIDEO_RATE), (".html", VIDEO_RATE), (".gif", GIF_RATE), *video]
