"""Isometry: what has to stay constant for a cloth not to stretch, as quadratic rows.

Three discretisations (Coltraro et al., An inextensible model for the robotic manipulation of textiles, section 5):

- "nodal", the papers': E, F, G at interior nodes by weighted residuals, every boundary edge, F at the corners. Its
  average does not see neighbouring elements that stretch and shrink in turn (a checkerboard).
- "net", the default on quads: every edge, and F at interior nodes and corners. No checkerboard, no locking; soft
  diagonals (`terms/diagonals.py`) keep the area where lines of the net zigzag.
- "stabilised", the default on triangles: "nodal" with the metric along the border at its nodes in place of its edges
  (`terms/border.py`), and a soft energy on every edge that removes the checkerboard. Edges that were enforced would
  lock: a triangle has no freedom left.

`terms/net.py` says how F of a net is taken. Edges and angles of a net are equally stiff: E h = 4 k along the threads,
and k is the shear modulus times the thickness.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from isocloth.base.errors import InputError
from isocloth.base.memo import memoised
from isocloth.base.numeric import is_one_of
from isocloth.base.typing import BoolArray, FloatArray, IntArray
from isocloth.meshes import Mesh
from isocloth.terms.border import border_metric
from isocloth.terms.diagonals import STIFFNESS, diagonals, partners
from isocloth.terms.elements import gauss
from isocloth.terms.mass import lumped_areas
from isocloth.terms.metric import at_nodes, element_metric
from isocloth.terms.net import net_angles
from isocloth.terms.rows import Rows, pack, stack, weighted

DISCRETISATIONS = ("net", "nodal", "stabilised")

#: stiffness of the edges of "stabilised" relative to the enforced rows; chosen with the locking test of a square in
#: view (docs/validation/locking.md says what was tried, and what other scenes then showed)
STABILISER = 0.02

#: part of the area of an inner edge that one of the border stands for: the sheet goes on at one side only ...
BORDER_OF_NET = 0.5
#: ... and in "nodal" a part of that is in the averages of the nodes next to it. On regular triangles a line of nodes
#: gets 1/6, 4/6 and 1/6 of its stiffness from its own rows and those beside it: next to the border 5/6 of what it
#: stands for, and the border as little if its edges have 5/12 - 1/6. What is stiffer than its share takes weight from
#: its neighbours, and the strips between them are squeezed. `terms/border.py` does without
BORDER_OF_NODAL = 0.25


def discretisation_for(mesh: Mesh, name: str | None = None) -> str:
    """The discretisation called `name`, or the default for the elements of the mesh if that is None."""
    if name is None:
        return "net" if mesh.element == "quad" else "stabilised"
    if not is_one_of(name, DISCRETISATIONS):
        raise InputError(f"discretisation {name!r} is unknown; choose one of {', '.join(DISCRETISATIONS)}")
    if name == "net" and mesh.element == "triangle":
        raise InputError(
            'the "net" discretisation needs quads: on triangles all edges leave no freedom to bend. '
            'Use "stabilised" or "nodal", or a quad mesh'
        )
    return name


def isometry(
    mesh: Mesh, stiffness: float, discretisation: str | None = None, *, shear: bool = True, softest: float = np.inf
) -> Rows:
    """All rows of a discretisation, weighted by stiffness (J/m^2) times the area each one stands for.

    Args:
        mesh: the rest shape.
        stiffness: k of the energy k C^2 / 2 per area; C is about twice the strain, so E h = 4 k.
        discretisation: "net", "nodal" or "stabilised"; None chooses by element.
        shear: whether F is enforced (else shearing is left to an energy).
        softest: stiffness that the stabiliser must not exceed, J/m^2; its edges run in all directions and resist shear.
    """
    discretisation = discretisation_for(mesh, discretisation)
    stabilised = discretisation == "stabilised" and softest > 0.0
    rows, share, soft = _unweighted(mesh, "net" if discretisation == "net" else "nodal", shear, stabilised)
    gentle = min(STABILISER * stiffness, softest) if stabilised else STIFFNESS * stiffness
    return weighted(rows, np.where(soft, gentle, stiffness) * share)


@memoised
def _unweighted(mesh: Mesh, kind: str, shear: bool, stabilised: bool) -> tuple[Rows, FloatArray, BoolArray]:
    """Rows of a discretisation, the area (r,) m^2 that each one stands for, and which (r,) are soft."""
    sheared = np.concatenate([mesh.interior_nodes, mesh.corners]) if shear else np.empty(0, dtype=np.int64)
    share = _share(mesh)
    inside = mesh.interior_nodes
    if stabilised:
        hats, (along, on) = lumped_areas(mesh.vertices, mesh.faces), border_metric(mesh)
        parts = [(nodal_metric(mesh, "E", inside), hats[inside]), (nodal_metric(mesh, "G", inside), hats[inside]),
                 (nodal_metric(mesh, "F", sheared), hats[sheared]), (along, hats[on])]  # fmt: skip
    elif kind == "net":
        parts = [(edges(mesh, mesh.edges), _edge_share(mesh, mesh.edges, share, BORDER_OF_NET)),
                 (net_angles(mesh, sheared), share[sheared])]  # fmt: skip
    else:
        border = mesh.boundary_edges
        parts = [
            (nodal_metric(mesh, "E", inside), share[inside]),
            (nodal_metric(mesh, "G", inside), share[inside]),
            (nodal_metric(mesh, "F", sheared), share[sheared]),
            (edges(mesh, border), _edge_share(mesh, border, share, BORDER_OF_NODAL)),
        ]
    enforced = sum(len(rows) for rows, _ in parts)
    if kind == "net" and shear:
        parts.append((partners(edges(mesh, diagonals(mesh))), np.repeat(mesh.face_areas, 2)))
    if stabilised:
        soft = edges(mesh, mesh.edges)
        area = _edge_share(mesh, mesh.edges, share, BORDER_OF_NET)
        parts.append((replace(soft, enforced=np.zeros(len(soft), dtype=bool)), area))
    rows = stack(*[part for part, _ in parts])
    return rows, np.concatenate([area for _, area in parts]), np.arange(len(rows)) >= enforced


def edges(mesh: Mesh, pairs: IntArray) -> Rows:
    """|p_i - p_j|^2 / l^2 - 1 for each pair of nodes (e, 2) (eq. 7, made dimensionless)."""
    return weighted(_edges(mesh, pairs), np.ones(len(pairs)))


@memoised
def _edges(mesh: Mesh, pairs: IntArray) -> Rows:
    a, b = pairs.T
    k = np.arange(len(pairs))
    scale = 1.0 / np.sum((mesh.vertices[a] - mesh.vertices[b]) ** 2, axis=1)
    return pack(
        np.concatenate([k, k, k, k]),
        np.concatenate([a, b, a, b]),
        np.concatenate([a, b, b, a]),
        np.concatenate([scale, scale, -scale, -scale]),
        mesh.vertices,
        len(pairs),
    )


def nodal_metric(mesh: Mesh, component: str, nodes: IntArray) -> Rows:
    """E, F or G at the given nodes by weighted residuals with the lumped mass (eq. 11)."""
    local = element_metric(mesh, component, gauss(mesh.faces.shape[1]))
    return pack(*at_nodes(mesh, local, nodes), mesh.vertices, len(nodes))


def _share(mesh: Mesh) -> FloatArray:
    """Area (n,) that an interior node would have among elements like its own."""
    faces = mesh.faces
    count = np.bincount(faces.ravel(), minlength=mesh.n_vertices)
    total = np.bincount(faces.ravel(), np.repeat(mesh.face_areas, faces.shape[1]), minlength=mesh.n_vertices)
    per_node = 1.0 if mesh.element == "quad" else 2.0
    return per_node * total / count


def _edge_share(mesh: Mesh, pairs: IntArray, share: FloatArray, border: float = 1.0) -> FloatArray:
    """Area (e,) of edges; those of the border have the part `border` of what they would have inside."""
    area: FloatArray = 0.5 * (share[pairs[:, 0]] + share[pairs[:, 1]])
    n = mesh.n_vertices
    keys = [low * n + high for low, high in (np.sort(p, axis=1).T for p in (pairs, mesh.boundary_edges))]
    area[np.isin(*keys)] *= border
    return area
