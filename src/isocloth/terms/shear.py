"""Shear as an energy, the alternative to forbidding it: (ks / 2) C_F^T M C_F over all nodes.

F is the cosine of the angle between the directions of warp and weft, so for small angles gamma the energy per area is
ks gamma^2 / 2 and ks is the shear modulus times the thickness, N/m.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from isocloth.base.memo import memoised
from isocloth.meshes import Mesh
from isocloth.terms.isometry import discretisation_for, nodal_metric
from isocloth.terms.mass import lumped_areas
from isocloth.terms.net import net_angles
from isocloth.terms.rows import Rows, weighted


def shear(mesh: Mesh, stiffness: float, discretisation: str | None = None) -> Rows:
    """Rows F at all nodes, weighted by ks times the nodes' areas; an energy, not part of the isometry."""
    rows = _unweighted(mesh, discretisation_for(mesh, discretisation) == "net")
    area = lumped_areas(mesh.vertices, mesh.faces)
    # a tiny weight keeps the row usable when the user asks for no resistance at all
    return weighted(rows, np.maximum(stiffness, 1e-9) * area)


@memoised
def _unweighted(mesh: Mesh, net: bool) -> Rows:
    nodes = np.arange(mesh.n_vertices)
    rows = net_angles(mesh, nodes) if net else nodal_metric(mesh, "F", nodes)
    return replace(rows, enforced=np.zeros(len(rows), dtype=bool))
