"""`isocloth pattern`: the flat panels of a cloth that hangs as its target does."""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from isocloth.base.errors import InputError
from isocloth.base.files import as_path
from isocloth.base.locks import locked
from isocloth.base.typing import IntArray
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

#: options beside those of every search, and their defaults
OWN = ("seams", "mesh", "noise", "unknown", "refine", "allowance")
DEFAULTS: dict[str, Any] = {"allowance": 0.0, "refine": 0}


def pattern(options: argparse.Namespace) -> int:
    """Find the panels, write them, the page and the mesh, and say what was found."""
    from isocloth.patterns import load_seams
    from isocloth.patterns.write import MESHES, as_allowance, check_pattern_file

    output = Path(options.output)
    check_pattern_file(output)
    if as_allowance(options.allowance) and output.suffix.lower() in MESHES:
        raise InputError(f"--allowance {options.allowance:g}: {str(output)!r} is a mesh, which has none; write .svg")
    if options.mesh is not None:
        check_pattern_file(options.mesh)
        if as_path(options.mesh, "mesh").suffix.lower() not in MESHES:
            raise InputError(f"panels are written as {' or '.join(MESHES)}, but {options.mesh!r} was given; rename it")
    check_report(options.report)
    checkpoint = checkpoint_of(output, options)
    target = load_target(options)
    seams = {} if options.seams is None else load_seams(options.seams, target)
    with locked(output, f"writing {str(output)!r}"):
        return _found(target, seams, output, checkpoint, options)


def _found(
    target: Mesh, seams: dict[str, IntArray], output: Path, checkpoint: Path, options: argparse.Namespace
) -> int:
    """The panels of a target into the output; nobody else writes it meanwhile."""
    from isocloth.patterns import pattern as search

    scene = load_surroundings(options.scene)
    title = scene.title or f"Pattern of {Path(options.target).name}"
    fabric = scene.fabric
    if options.density is not None:
        fabric = replace(fabric, density=options.density, gravity_density=None)
    given: dict[str, Any] = {"unknown": options.unknown, "contacts": options.contacts}
    if scene.model is None or not scene.model.inextensible:
        # what does not stretch unrolls to its panels at once, whatever holds it
        given |= {
            "held": scene.held(target), "obstacles": scene.obstacles, "self_collision": scene.self_collision,
            "gravity": scene.gravity, "refine": options.refine, "checkpoint": checkpoint, "progress": not options.quiet,
        }  # fmt: skip
    prepare(checkpoint, options)
    begin = time.monotonic()
    try:
        found = search(target, fabric, model=scene.model, seams=seams, noise=options.noise, **given)
    except KeyboardInterrupt:
        if not checkpoint.exists():
            raise
        again = resuming("pattern", options, OWN, DEFAULTS)
        print(f"\nisocloth: interrupted; go on with\n  {again}", file=sys.stderr)
        return INTERRUPTED
    sheet = {"allowance": options.allowance, "title": title}
    found.save(output, **sheet)
    elapsed = time.monotonic() - begin
    outputs = [("pattern", str(output))]
    try:
        if options.mesh is not None:
            found.save(options.mesh)
            outputs.append(("panels", str(options.mesh)))
        if options.report is not None:
            found.report(options.report, title=title)
            outputs.append(("report", str(options.report)))
    except KeyboardInterrupt:
        print(f"\nisocloth: interrupted; the pattern is in {str(output)!r}, not all else is written", file=sys.stderr)
        return INTERRUPTED
    if not options.quiet:
        took = ("elapsed", f"{elapsed:.1f} s, compilation included")
        print(columns([*found.lines(), took, *outputs], title))
    if found.reached:
        if found.problem:
            print(f"isocloth: {found.problem}", file=sys.stderr)
        return 0
    print(f"isocloth: not reached: {found.problem}\nisocloth: {str(output)!r} is the nearest pattern", file=sys.stderr)
    return 1


def add_pattern(parser: argparse.ArgumentParser) -> None:
    """The options of `isocloth pattern`."""
    parser.description = (
        "Find flat panels, and what the cloth is made of, so that it hangs, or lies, as its target does. The exit code "
        "is 0 if the target is reached, and 1 if it is not: then the panels are those that come nearest."
    )
    add_search(parser)
    parser.add_argument("-o", "--output", required=True,
                        help="the pattern: .svg or .dxf, a sheet in mm, or .obj or .ply, flat panels in m")  # fmt: skip
    parser.add_argument("--seams", metavar="FILE", help="paths along which it is cut open (.json; default: none)")
    parser.add_argument("--mesh", metavar="FILE", help="the flat panels too: .obj or .ply")
    parser.add_argument("--noise", type=float, metavar="M",
                        help="error of a coordinate of a captured target, in m (default: it is exact)")  # fmt: skip
    parser.add_argument("--unknown", nargs="*", metavar="NAME",
                        help="density, and stiffnesses of the model (default: density)")  # fmt: skip
    parser.add_argument("--refine", type=int, default=DEFAULTS["refine"], metavar="N",
                        help="split faces in four so often, to compute the cloth more finely (default: 0)")  # fmt: skip
    parser.add_argument("--allowance", type=float, default=DEFAULTS["allowance"], metavar="MM",
                        help="around every panel of a sheet, in mm (default: 0)")  # fmt: skip
    parser.set_defaults(command=pattern)
