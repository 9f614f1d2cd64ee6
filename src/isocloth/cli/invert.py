"""`isocloth invert`: the rest shape with which a cloth hangs as its target does."""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import replace
from pathlib import Path

from isocloth.base.errors import InputError
from isocloth.base.files import check_place
from isocloth.base.locks import locked
from isocloth.cli.columns import columns
from isocloth.cli.searches import (
    INTERRUPTED,
    add_search,
    check_report,
    checkpoint_of,
    load_target,
    prepare,
    resuming,
)  # fmt: skip
from isocloth.meshes import Mesh
from isocloth.scenes import load_surroundings

#: formats that keep the numbers of nodes and all digits of where they are
SUFFIXES = (".obj", ".ply")


def invert(options: argparse.Namespace) -> int:
    """Find the rest shape, write it and the report, and say what was found."""
    output = Path(options.output)
    _check_files(output, options.positions, options.report)
    checkpoint = checkpoint_of(output, options)
    target = load_target(options)
    with locked(output, f"writing {str(output)!r}"):
        return _inverted(target, output, checkpoint, options)


def _inverted(target: Mesh, output: Path, checkpoint: Path, options: argparse.Namespace) -> int:
    """The rest shape of a target into the output; nobody else writes it meanwhile."""
    from isocloth.inverse import invert as search
    from isocloth.inverse.report import lines

    scene = load_surroundings(options.scene)
    fabric = scene.fabric
    if options.density is not None:
        fabric = replace(fabric, density=options.density, gravity_density=None)
    prepare(checkpoint, options)
    begin = time.monotonic()
    try:
        found = search(
            target, fabric, model=scene.model, obstacles=scene.obstacles, held=scene.held(target),
            contacts=options.contacts, self_collision=scene.self_collision, margin=options.margin,
            gravity=scene.gravity, checkpoint=checkpoint, progress=not options.quiet,
        )  # fmt: skip
    except KeyboardInterrupt:
        if not checkpoint.exists():
            raise
        print(f"\nisocloth: interrupted; go on with\n  {resuming('invert', options, OWN, DEFAULTS)}", file=sys.stderr)
        return INTERRUPTED
    found.rest.save(output)
    elapsed = time.monotonic() - begin
    outputs = [("rest shape", str(output))]
    try:
        if options.positions is not None:
            found.target.with_vertices(found.positions).save(options.positions)
            outputs.append(("positions", str(options.positions)))
        if options.report is not None:
            found.report(options.report, title=scene.title or f"Inverse design of {Path(options.target).name}")
            outputs.append(("report", str(options.report)))
        rows = lines(found)
    except KeyboardInterrupt:
        print(
            f"\nisocloth: interrupted; the rest shape is in {str(output)!r}, not all else is written", file=sys.stderr
        )
        return INTERRUPTED
    if not options.quiet:
        took = ("elapsed", f"{elapsed:.1f} s, compilation included")
        print(columns([*rows, took, *outputs], scene.title or Path(options.target).name))
    if found.reached:
        return 0
    what = f"for {found.load_reached:.3g} of the weight" if found.nearest is None else "of the nearest shape"
    part = f"{str(output)!r} is the rest shape {what}"
    print(f"isocloth: not reached: {found.problem}\nisocloth: {part}", file=sys.stderr)
    return 1


def _check_files(output: Path, positions: str | None, report: str | None) -> None:
    """Find out that a result cannot be written before computing it."""
    for path in (output, *([Path(positions)] if positions is not None else [])):
        if path.suffix.lower() not in SUFFIXES:
            raise InputError(
                f"a shape is written as {' or '.join(SUFFIXES)}, which keep the numbers of its nodes, but "
                f"{str(path)!r} was given; rename it"
            )
        check_place(path)
    check_report(report)


#: options beside those of every search, and their defaults
OWN, DEFAULTS = ("positions", "margin"), {"margin": 0.8}


def add_invert(parser: argparse.ArgumentParser) -> None:
    """The options of `isocloth invert`."""
    parser.description = (
        "Find the rest shape with which a cloth hangs, or lies, as its target does. See docs/inverse.md. The exit code "
        "is 0 if the target is reached, and 1 if it is not: then the rest shape is that of the nearest shape that is."
    )
    add_search(parser)
    parser.add_argument("-o", "--output", required=True, help="the rest shape: .obj or .ply")
    parser.add_argument("--positions", metavar="FILE", help="where it comes to rest, laid on what it touches: a mesh")
    parser.add_argument("--margin", type=float, default=DEFAULTS["margin"], metavar="PART",
                        help="of the friction, inside which forces are aimed (default: 0.8)")  # fmt: skip
    parser.set_defaults(command=invert)
