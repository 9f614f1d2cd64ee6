"""`isocloth render`: pictures of a trajectory."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from isocloth.trajectory import Trajectory


def render(options: argparse.Namespace) -> int:
    """Picture a trajectory in the format that the output's suffix names."""
    from isocloth import pictures

    trajectory = Trajectory.load(options.trajectory)
    pictures.render(
        trajectory,
        options.output,
        width=options.width,
        height=options.height,
        fps=options.fps,
        colour=options.colour,
        wireframe=options.wireframe,
        title=trajectory.metadata.get("title") or None,
        progress=None if options.quiet else progress(Path(options.output).name),
    )
    if not options.quiet:
        print(options.output)
    return 0


def progress(name: str) -> Callable[[int, int], None] | None:
    """A line on standard error for people, nothing for log files."""
    if not sys.stderr.isatty():
        return None

    def show(done: int, total: int) -> None:
        end = "\n" if done == total else ""
        print(f"\r{name}: picture {done} of {total}", end=end, file=sys.stderr, flush=True)

    return show
