"""What the commands that search for the shape of a cloth share: their target, their checkpoint, their options."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from isocloth.base.errors import InputError
from isocloth.base.files import check_place
from isocloth.meshes import Mesh

INTERRUPTED = 130

#: of options that need not be given
DEFAULTS: dict[str, Any] = {"scale": 1.0, "up": "z"}


def add_search(parser: argparse.ArgumentParser) -> None:
    """The options of the target, of the scene, and of what happens to interrupted searches."""
    parser.add_argument("target", help="how it should hang: a mesh of triangles, .obj, .ply, .stl, .gltf or .glb, in m")
    parser.add_argument("--scene", required=True, metavar="FILE", help="scene file (.toml) with all but the cloth")
    parser.add_argument("--report", metavar="FILE", help="page (.html) that shows what was found")
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


def load_target(options: argparse.Namespace) -> Mesh:
    """The target, in m and z upwards."""
    target = Mesh.load(options.target, scale=options.scale, up=options.up)
    return target.triangulated() if options.triangulate else target


def checkpoint_of(output: Path, options: argparse.Namespace) -> Path:
    """Where the search is kept."""
    checkpoint = Path(options.checkpoint or f"{output}.checkpoint.npz")
    check_place(checkpoint)
    return checkpoint


def check_report(report: str | None) -> None:
    """Find out that a page cannot be written before computing what it shows."""
    if report is not None:
        if Path(report).suffix.lower() != ".html":
            raise InputError(f"a report ends in .html, but {report!r} was given; rename it")
        check_place(report)


def prepare(checkpoint: Path, options: argparse.Namespace) -> None:
    """Make ready to go on, or to begin; never discards work without being told to."""
    if checkpoint.exists() and options.restart:
        checkpoint.unlink()
    elif checkpoint.exists() and not options.resume:
        raise InputError(
            f"{str(checkpoint)!r} is left from an interrupted search; add --resume to go on or --restart to discard it"
        )
    elif options.resume and not checkpoint.exists() and not options.quiet:
        print(f"no checkpoint {str(checkpoint)!r}; starting from the beginning", file=sys.stderr)


def resuming(command: str, options: argparse.Namespace, own: Iterable[str], defaults: Mapping[str, object]) -> str:
    """The command line that goes on. own: options of this command beside those of `add_search`."""
    words = ["isocloth", command, options.target, "--scene", options.scene, "-o", options.output]
    for name in (*own, "report", "checkpoint", "density", "scale", "up", "contacts"):
        value = getattr(options, name)
        if value is None or value == (DEFAULTS | dict(defaults)).get(name):
            continue
        several = value if isinstance(value, list) else [value]
        words += [f"--{name}", *map(str, several)]
    if options.triangulate:
        words.append("--triangulate")
    return " ".join([shlex.quote(word) for word in [*words, "--resume"]])
