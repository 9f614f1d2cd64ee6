"""One sheet: what is made of a cloud that is known to be a disc, such as a towel seen by a camera.

Points alone cannot tell a hole in the cloth from a part that a fold hides. Who knows that the cloth is one sheet knows
the answer: what is open within its outline was not seen, and is closed; a piece apart from the rest belongs to it in a
way that was not seen, and is left out.
"""

from __future__ import annotations

import numpy as np

from isocloth.base.typing import FloatArray, IntArray
from isocloth.reconstruction.triangulation import complex, fill


def as_sheet(points: FloatArray, triangles: IntArray) -> tuple[IntArray, FloatArray, int]:
    """Triangles of the largest piece with the holes within its outline closed.

    Also how far the holes reach from their middles (holes,) in m, and how many pieces were left out.
    """
    largest = complex.largest_component(triangles)
    pieces = complex.compact(points, triangles)[0].components
    surface, used = complex.compact(points, largest)
    curves = sorted(surface.boundary_curves, key=lambda curve: _length(surface.points[curve]))
    holes = curves[:-1]  # the longest is the outline
    filled = fill.closed(surface.points, surface.triangles, surface.edges, holes)
    reach = [np.linalg.norm(p - p.mean(axis=0), axis=1).max() for p in (surface.points[hole] for hole in holes)]
    return used[filled], np.array(reach, dtype=np.float64), pieces - 1


def _length(curve: FloatArray) -> float:
    """Of a closed curve of points (n, N), in m."""
    return float(np.linalg.norm(np.roll(curve, -1, axis=0) - curve, axis=1).sum())
