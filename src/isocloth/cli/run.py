"""`isocloth run`: simulate a scene into a file, so that nothing is lost when it is interrupted."""

from __future__ import annotations

import argparse
import dataclasses
import sys
from pathlib import Path

from isocloth.base.errors import InputError, MissingFileError
from isocloth.base.locks import locked
from isocloth.cli.checkpoint import Checkpoint
from isocloth.cli.interrupts import deferred_interrupts
from isocloth.cli.notices import short_warnings
from isocloth.cli.stopwatch import Stopwatch
from isocloth.cli.summary import summary
from isocloth.scenes import Scene, build, find_scene, load_scene
from isocloth.trajectory import SUFFIXES, Trajectory

INTERRUPTED = 130


def run(options: argparse.Namespace) -> int:
    """Simulate, save, and print a table."""
    file = find_scene(options.scene)
    scene = load_scene(file)
    if options.duration is not None:
        settings = dataclasses.replace(scene.settings, duration=options.duration)
        scene = dataclasses.replace(scene, settings=settings)
    output = Path(options.output or f"{file.stem}.h5")
    check_output(output)
    with locked(output, f"writing {str(output)!r}"):
        return _simulate_into(output, scene, options)


def _simulate_into(output: Path, scene: Scene, options: argparse.Namespace) -> int:
    """Simulate, keeping a checkpoint beside the output; nobody else writes either meanwhile."""
    checkpoint = Checkpoint(output, scene)
    note = checkpoint.prepare(resume=options.resume, restart=options.restart)
    if not options.quiet and note:
        print(note, file=sys.stderr)
    clock = Stopwatch()
    try:
        trajectory = simulate(
            scene,
            clock,
            quiet=options.quiet,
            checkpoint=checkpoint.path,
            checkpoint_seconds=options.checkpoint_seconds,
        )
    except KeyboardInterrupt:
        print(f"isocloth: {checkpoint.after_interrupt(_command(options))}", file=sys.stderr)
        return INTERRUPTED
    finally:
        checkpoint.tidy()
    trajectory.save(output)
    checkpoint.remove()
    if not options.quiet:
        print(summary(trajectory, clock, scene, output))
    return 0


def simulate(
    scene: Scene,
    clock: Stopwatch,
    *,
    quiet: bool = False,
    checkpoint: Path | None = None,
    checkpoint_seconds: float = 10.0,
) -> Trajectory:
    """The trajectory of a scene, its title noted in it; progress is shown to people, not to log files."""
    sim = build(scene)
    with short_warnings(), deferred_interrupts() as stop_if_asked:

        def on_frame(_: object) -> None:
            clock.lap(sim.time)
            stop_if_asked()

        trajectory = sim.run(
            scene.settings.duration,
            every=scene.settings.every,
            progress=not quiet and sys.stderr.isatty(),
            checkpoint=checkpoint,
            checkpoint_seconds=checkpoint_seconds,
            keep_checkpoint=checkpoint is not None,
            on_frame=on_frame,
        )
    named = {"scene": scene.source.stem if scene.source else "", "title": scene.title}
    return dataclasses.replace(trajectory, metadata={**trajectory.metadata, **named})


def check_output(output: Path) -> None:
    """Find out that the result cannot be saved before computing it."""
    if output.suffix.lower() not in SUFFIXES:
        raise InputError(
            f"a trajectory file ends in {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}, but {str(output)!r} was given; "
            "rename it"
        )
    if not output.absolute().parent.is_dir():
        raise MissingFileError(f"the folder of {str(output)!r} does not exist; create it first")
    if output.exists() and not output.is_file():
        raise InputError(f"{str(output)!r} exists and is not a file; give another name")


def _command(options: argparse.Namespace) -> str:
    words = ["isocloth run", str(options.scene)]
    if options.output:
        words += ["-o", str(options.output)]
    if options.duration is not None:
        words += ["--duration", f"{options.duration:g}"]
    return " ".join([*words, "--resume"])
