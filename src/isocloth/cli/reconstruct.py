"""`isocloth reconstruct`: a mesh from a cloud of points."""

from __future__ import annotations

import argparse
import sys


def reconstruct(options: argparse.Namespace) -> int:
    """Read points, reconstruct the surface, write the mesh and the report, and say what was found."""
    from isocloth import reconstruction
    from isocloth.reconstruction.files import read_points
    from isocloth.reconstruction.report import lines, save_report

    points = read_points(options.cloud, frame=options.frame)
    if options.grid is not None:
        points = reconstruction.box_grid(points, options.grid)
    found = reconstruction.reconstruct(
        points,
        direction=options.direction,
        detail=options.detail,
        largest_gap=options.largest_gap,
        outliers=not options.keep_outliers,
        sheet=options.sheet,
        smooth=options.smooth,
        edge=options.edge,
        element=options.element,
        meshing=options.meshing,
    )
    if found.components > 1:
        print(f"isocloth: {found.components} pieces; the mesh is the largest, the report shows all", file=sys.stderr)
    if options.output is not None:
        piece = found if found.components == 1 else found.piece(0)
        piece.mesh.save(options.output)
    if options.report is not None:
        title = f"{options.cloud}, frame {options.frame}" if options.frame else str(options.cloud)
        save_report(found, options.report, title=title)
    if not options.quiet:
        for name, value in lines(found):
            print(f"{name:22s} {value}")
    for doubt in found.doubts:
        print(f"isocloth: not sure: {doubt}", file=sys.stderr)
    return 0
