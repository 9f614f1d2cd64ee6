"""From points to triangles."""

import numpy as np

from isocloth.meshes.surfaces import surface
from isocloth.reconstruction.triangulation.complex import compact
from isocloth.reconstruction.triangulation.triangulate import manifold_components, triangulate


def test_holes_torn_by_taking_out_pinches_are_closed():
    """A fin on an edge inside makes it crowded: all its triangles go, and the hole that they leave is no hole."""
    points = surface("sphere").sample(800, seed=3)
    stages, triangles = triangulate(points, np.arange(800), 4.0)
    a, b, c = triangles[100].tolist()
    far = next(v for v in triangles[200].tolist() if v not in (a, b, c))
    clean = manifold_components(points, stages.spacing, np.concatenate([triangles, [[a, b, far]]]), 4.0, 12)
    whole, _ = compact(points, clean)
    assert (whole.components, whole.euler_characteristic, len(whole.boundary_curves)) == (1, 2, 0)


def test_small_components_are_left_out():
    points = np.concatenate([surface("sphere").sample(800, seed=0), [[9.0, 0, 0], [9.1, 0, 0], [9, 0.1, 0]]])
    stages, triangles = triangulate(points[:800], np.arange(800), 4.0)
    spacing = np.append(stages.spacing, [0.1] * 3)
    clean = manifold_components(points, spacing, np.concatenate([triangles, [[800, 801, 802]]]), 4.0, 12)
    assert clean.max() < 800
