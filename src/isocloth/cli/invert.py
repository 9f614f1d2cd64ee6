"""`isocloth invert`: the rest shape with which a cloth hangs as its target does."""

from __future__ import annotations

import argparse
import shlex
import sys
import time
from dataclasses import replace
from pathlib import Path

from isocloth.base.errors import InputError
from isocloth.base.files import check_place
from isocloth.base.locks import locked
from isocloth.cli.columns import columns
from isocloth.meshes import Mesh
from isocloth.scenes import load_surroundings

INTERRUPTED = 130

#: formats that keep the numbers of nodes and all digits of where they are
SUFFIXES = (".obj", ".ply")


def invert(options: argparse.Namespace) -> int:
    """Find the rest shape, write it and the report, and say what was found."""
    output = Path(options.output)
    _check_files(output, options.positions, options.report)
    checkpoint = Path(options.checkpoint or f"{output}.checkpoint.npz")
    check_place(checkpoint)
    target = Mesh.load(options.target, scale=options.scale, up=options.up)
    if options.triangulate:
        target = target.triangulated()
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
    _prepare(checkpoint, options)
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
        print(f"\nisocloth: interrupted; go on with\n  {_command(options)}", file=sys.stderr)
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
    if report is not None:
        if Path(report).suffix.lower() != ".html":
            raise InputError(f"a report ends in .html, but {report!r} was given; rename it")
        check_place(report)


def _prepare(checkpoint: Path, options: argparse.Namespace) -> None:
    """Make ready to go on, or to begin; never discards work without being told to."""
    if checkpoint.exists() and options.restart:
        checkpoint.unlink()
    elif checkpoint.exists() and not options.resume:
        raise InputError(
            f"{str(checkpoint)!r} is left from an interrupted search; add --resume to go on or --restart to discard it"
        )
    elif options.resume and not checkpoint.exists() and not options.quiet:
        print(f"no checkpoint {str(checkpoint)!r}; starting from the beginning", file=sys.stderr)


def _command(options: argparse.Namespace) -> str:
    """The command that goes on."""
    words = ["isocloth", "invert", options.target, "--scene", options.scene, "-o", options.output]
    for name in ("positions", "report", "checkpoint", "margin", "density", "scale", "up"):
        value = getattr(options, name)
        if value is not None and value != DEFAULTS.get(name):
            words += [f"--{name}", f"{value:g}" if isinstance(value, float) else str(value)]
    if options.contacts is not None:
        words += ["--contacts", *map(str, options.contacts)]
    if options.triangulate:
        words.append("--triangulate")
    return " ".join([shlex.quote(word) for word in [*words, "--resume"]])


#: of options that need not be given
DEFAULTS = {"margin": 0.8, "scale": 1.0, "up": "z"}


def add_invert(parser: argparse.ArgumentParser) -> None:
    """The options of `isocloth invert`."""
    parser.description = (
        "Find the rest shape with which a cloth hangs, or lies, as its target does. See docs/inverse.md. The exit code "
        "is 0 if the target is reached, and 1 if it is not: then the rest shape is that of the nearest shape that is."
    )
    parser.add_argument("target", help="how it should hang: a mesh of triangles, .obj, .ply, .stl, .gltf or .glb, in m")
    parser.add_argument("--scene", required=True, metavar="FILE", help="scene file (.toml) with all but the cloth")
    parser.add_argument("-o", "--output", required=True, help="the rest shape: .obj or .ply")
    parser.add_argument("--positions", metavar="FILE", help="where it comes to rest, laid on what it touches: a mesh")
    parser.add_argument("--report", metavar="FILE", help="page (.html) that shows what was found")
    parser.add_argument("--margin", type=float, default=DEFAULTS["margin"], metavar="PART",
                        help="of the friction, inside which forces are aimed (default: 0.8)")  # fmt: skip
    parser.add_argument("--density", type=float, metavar="RHO", help="kg/m^2, in place of the scene's")
    parser.add_argument("--contacts", type=int, nargs="+", metavar="NODE", help="that touch (default: those that do)")
    parser.add_argument("--scale", type=float, default=DEFAULTS["scale"], help="m per unit of the file (default: 1)")
    parser.add_argument("--up", choices=("x", "y", "z"), default=DEFAULTS["up"], help="axis of the file (default: z)")
    parser.add_argument("--triangulate", action="store_true", help="cut quads of the target into triangles")
    parser.add_argument("--checkpoint", metavar="FILE", help="of the search (default: beside the output)")
    again = parser.add_mutually_exclusive_group()
    again.add_argument("--resume", action="store_true", help="go on with an interrupted search")
    again.add_argument("--restart", action="store_true", help="discard the checkpoint of an interrupted search")
    parser.add_argument("--quiet", action="store_true", help="print errors, and why it is not reached, only")
    parser.set_defaults(command=invert)
