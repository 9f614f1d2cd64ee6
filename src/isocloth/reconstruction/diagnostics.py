"""Diagnostics: when points do not determine a surface, and what speaks against one that was found."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from isocloth.base.errors import SamplingError
from isocloth.base.typing import FloatArray, IntArray
from isocloth.reconstruction.triangulation import boundary
from isocloth.reconstruction.triangulation.complex import Complex
from isocloth.reconstruction.triangulation.handles import SMALL, small_handles
from isocloth.reconstruction.triangulation.triangulate import Stages

#: half of the points are less flat than this on a surface that is sampled well enough
FLAT = 0.35
#: a hole whose size is within this factor of the largest gap may be one or not
MARGIN = 1.15
#: share of points that may be left out without a doubt
LEFT_OUT = 0.02
#: share of edges of the net that may be removed as twisted without a doubt
TWISTED = 0.005
#: share of points of which the neighbours do not lie near a plane, above which there is a doubt
BENT = 0.05
#: and what is not near a plane
STEEP = 0.5


@dataclass(frozen=True)
class Diagnostic:
    """One diagnostic: something that speaks against the result.

    what: a word for programs: "gap", "left out", "twisted", "handle", "bent", "hidden", "sheet".
    message: what was found, and what helps.
    """

    what: str
    message: str

    def __str__(self) -> str:
        return self.message


def require_surface(count: int, flatness: FloatArray, triangles: IntArray) -> None:
    """Raise `SamplingError` if there is no surface to speak of."""
    typical = float(np.median(flatness))
    if typical > FLAT:
        raise SamplingError(
            f"around half of the {count} points the others deviate from a plane by more than {typical:.2f} of their "
            f"spread (at most {FLAT} on a surface): they are too few for its curvature, too noisy, or no surface; "
            "sample more densely, smooth the points, or thin them out with isocloth.reconstruction.box_grid"
        )
    used = len(np.unique(triangles))
    if used < 0.7 * count:
        raise SamplingError(
            f"only {used} of {count} points fit together to a surface; sample more densely and evenly, remove what is "
            "no part of the surface, or thin the points out with isocloth.reconstruction.box_grid"
        )


def diagnose(surface: Complex, used: IntArray, stages: Stages, largest_gap: float) -> tuple[Diagnostic, ...]:
    """Everything that speaks against a surface."""
    doubts = []
    count = len(stages.spacing)
    radii, opened = stages.gap_radii, stages.opened
    # the largest gap among n random points grows like sqrt(ln n); measured, it stays below this
    usual = 1.05 * float(np.sqrt(np.log(count)))
    near = radii[np.where(opened, radii < largest_gap * MARGIN, radii > usual)]
    if len(near):
        doubts.append(
            Diagnostic(
                "gap",
                f"{_gaps(near)}; above {largest_gap:g} a gap is taken for a hole. Sample more evenly, or set "
                "largest_gap",
            )
        )
    curves = boundary.curve_radii(surface.points, stages.spacing[used], surface.boundary_curves)
    stuck = int((curves <= largest_gap).sum())
    if stuck:
        doubts.append(
            Diagnostic(
                "gap",
                f"gaps between points could not be filled and became holes: {stuck}. Sample more evenly",
            )
        )
    left_out = 1.0 - len(used) / count
    if left_out > LEFT_OUT:
        doubts.append(
            Diagnostic(
                "left out",
                f"{100 * left_out:.1f} % of the points are no part of the surface; if they should be, sample evenly",
            )
        )
    twisted = stages.untwisted / max(len(stages.net), 1)
    if twisted > TWISTED:
        doubts.append(
            Diagnostic(
                "twisted",
                f"{100 * twisted:.1f} % of the edges between neighbours contradicted others and were removed: noise, "
                "or layers closer than the spacing. Sample more densely or smooth the points",
            )
        )
    bent = float(np.mean(stages.flatness > STEEP))
    if bent > BENT:
        doubts.append(
            Diagnostic(
                "bent",
                f"around {100 * bent:.1f} % of the points the others do not lie near a plane: sharp folds, layers "
                "close to each other, or too few points. Sample more densely there",
            )
        )
    if small_handles(surface, SMALL * float(np.median(stages.spacing[used]))):
        doubts.append(
            Diagnostic(
                "handle",
                f"the surface has a handle or a twist within {SMALL:g} spacings of a point, which may be two layers "
                "that come close. Sample more densely",
            )
        )
    elif stages.mended:
        doubts.append(
            Diagnostic(
                "handle",
                f"{stages.mended} edges between neighbours made a handle or a twist within {SMALL:g} spacings of a "
                "point and were removed: a sharp fold, or layers that come close. If the surface has a handle so "
                "small, sample more densely",
            )
        )
    return tuple(doubts)


def diagnose_sheet(surface: Complex, closed: FloatArray, left: int) -> tuple[Diagnostic, ...]:
    """What speaks against a sheet: holes (n,) that were closed, reaches in spacings, and pieces that were left out."""
    doubts = []
    if len(closed):
        doubts.append(
            Diagnostic("hidden", f"{_gaps(closed)}: closed because this is one sheet; no point shows it there")
        )
    if left:
        doubts.append(
            Diagnostic(
                "hidden", f"pieces that nothing seen connects to the sheet were left out: {left}. Look from more sides"
            )
        )
    if (surface.components, surface.euler_characteristic, len(surface.boundary_curves)) != (1, 1, 1):
        doubts.append(Diagnostic("sheet", "a sheet is a disc, but this surface is not: folds too close to each other"))
    return tuple(doubts)


def _gaps(reach: FloatArray) -> str:
    """How many gaps, and how far they reach."""
    if len(reach) == 1:
        return f"a gap reaches {reach[0]:.1f} spacings from its middle"
    return f"{len(reach)} gaps reach {reach.min():.1f} to {reach.max():.1f} spacings from their middles"
