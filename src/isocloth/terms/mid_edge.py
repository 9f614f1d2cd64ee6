"""Mid-edge normals and the second fundamental form of a triangle (Chen et al., Physical simulation of environmentally
induced thin shell deformation, 2018).

Every edge has a unit normal across it. In the triangle with corners 0, 1, 2 the edge i lies opposite to corner i, and
its normal is turned about it by the angle a_i against that of the triangle. With the altitude h_i of corner i the form
is

    B = [[II_0 + II_1, II_0], [II_0, II_0 + II_2]],    II_i = 2 h_i f(a_i),    a_i = theta_i / 2 + s_i phi_i

in the basis d1, d2. theta is the dihedral angle of the edge, 0 at the border. Three choices of the normals:

- "average": the normalised mean of the two triangles' normals, and the triangle's own at the border. It halves the
  dihedral angle exactly, so that f = sin and phi = 0.
- "sin", "tan": the normal of an edge may turn by an angle phi of its own, towards one of its triangles (s = 1) and away
  from the other (s = -1); f = sin or f = tan. The phi are further unknowns, and take the values of least energy.

The sine has its largest value at a = 90 degrees. Where triangles turn against each other by so much that their energy
asks for more, normals of "sin" turn over, beyond 90 degrees, and mean nothing; this has been seen from dihedral angles
of 110 degrees on, in crumpled random meshes. Folds that sharp want a finer mesh, or "average" or "tan".

Which normals. On a mesh that looks the same from either side of every edge (equilateral triangles, squares all cut
along the same diagonal) the mean of two normals is right, and "average" bends as a plate does. On others it is too
stiff, and does not converge under refinement: by 8 % on an irregular mesh, by up to 65 % across the diagonals of
squares that are cut alternately, as `rectangle(element="triangle")` has them. "sin" and "tan" are right on all of them.

Beyond |a| = 75 degrees the tangent goes on as its own Taylor polynomial of second order, as in `terms/hinge.py`: it is
infinite at 90 degrees, where a fold is closed.

Derivatives: with the first and second derivatives of theta and of the altitude from `terms/dihedral.py`,

    grad II = 2 f grad h + h f' grad theta
    Hess II = 2 f Hess h + f' (grad h grad theta^T + grad theta grad h^T)
              + h (f'' / 2 grad theta grad theta^T + f' Hess theta)

over the ends of the edge, its own corner and the corner beyond: a triangle knows six nodes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from isocloth.base.compiled import inlined, kernel
from isocloth.base.typing import FloatArray, IntArray
from isocloth.terms.dihedral import Vector, add_products, angle, factors, frame, spread
from isocloth.terms.rest_shape import RestShape

NORMALS = ("average", "sin", "tan")

#: angle in rad beyond which tan(a) goes on as a polynomial
SHARPEST = float(np.deg2rad(75.0))
_TAN = float(np.tan(SHARPEST))
_SLOPE = 1.0 + _TAN * _TAN
_CURVATURE = 2.0 * _TAN * _SLOPE


class Patches(NamedTuple):
    """The triangles of a mesh with their neighbours; where there is none, at the border, a corner stands in for it."""

    nodes: IntArray  # (f, 6) own corners, and the corners beyond the edges opposite to them
    inner: IntArray  # (f, 3) 1 where there is a neighbour, 0 at the border
    edges: IntArray  # (f, 3) edge opposite to every corner
    side: FloatArray  # (f, 3) s, 1 or -1


class PatchCorners(NamedTuple):
    """The rest points of patches."""

    points: IntArray  # (f, 12) own corners; then of every edge its ends and the corner beyond, as the other face has it
    joined: IntArray  # (f, 3) 1 where both faces have the edge in the same place


def patches_of(rest: RestShape) -> tuple[Patches, PatchCorners]:
    """Triangles and their neighbours, in the mesh and in the rest shape."""
    mesh, faces = rest.mesh, rest.mesh.faces
    count = len(faces)
    edges = rest.face_edges
    pairs = mesh.edge_faces[edges]  # (f, 3, 2)
    own = np.arange(count)[:, None]
    other = np.where(pairs[..., 0] == own, pairs[..., 1], pairs[..., 0])
    inner = other >= 0
    near = np.where(inner, other, own)
    ends = np.stack([np.roll(faces, -1, axis=1), np.roll(faces, -2, axis=1)], axis=2)  # (f, 3, 2)
    beyond = faces[near]  # (f, 3, 3)
    places = rest.corners[near]
    is_end = (beyond[..., :, None] == ends[..., None, :]).any(axis=3)
    apex = np.take_along_axis(beyond, np.argmin(is_end, axis=2)[..., None], 2)[..., 0]
    points = np.empty((count, 12), dtype=np.int64)
    points[:, :3] = rest.corners
    for i in range(3):
        for k in range(2):
            at = np.argmax(beyond[:, i] == ends[:, i, k : k + 1], axis=1)
            points[:, 3 + 3 * i + k] = places[np.arange(count), i, at]
        points[:, 5 + 3 * i] = places[np.arange(count), i, np.argmin(is_end[:, i], axis=1)]
    joined = np.zeros(len(mesh.edges), dtype=np.int64)
    joined[mesh.edge_faces[:, 1] >= 0] = rest.joined
    side = np.where(pairs[..., 0] == own, 1.0, -1.0)
    nodes = np.ascontiguousarray(np.concatenate([faces, apex], axis=1), dtype=np.int64)
    return Patches(nodes, inner.astype(np.int64), edges, side), PatchCorners(points, joined[edges])


@inlined
def turned(tangent: bool, a: float) -> tuple[float, float, float]:
    """f, f' and f'' at the angle a: of the sine, or of the tangent."""
    if not tangent:
        sin = np.sin(a)
        return sin, np.cos(a), -sin
    size = abs(a)
    if size <= SHARPEST:
        tan = np.tan(a)
        slope = 1.0 + tan * tan
        return tan, slope, 2.0 * tan * slope
    beyond = size - SHARPEST
    sign = 1.0 if a >= 0.0 else -1.0
    value = _TAN + beyond * (_SLOPE + 0.5 * beyond * _CURVATURE)
    return sign * value, _SLOPE + beyond * _CURVATURE, sign * _CURVATURE


@inlined
def hinge_nodes(nodes: IntArray, inner: int, i: int, out: IntArray) -> None:
    """Ends of the edge i of a patch, own corner, corner beyond it; at the border its own corner again."""
    out[0], out[1], out[2] = nodes[(i + 1) % 3], nodes[(i + 2) % 3], nodes[i]
    out[3] = nodes[3 + i] if inner == 1 else nodes[i]


@kernel
def altitudes(patches: Patches, x: FloatArray, height: FloatArray, theta: FloatArray) -> None:
    """h (f, 3) m and theta (f, 3) rad at positions x (n, 3)."""
    hinge = np.empty(4, dtype=np.int64)
    for f in range(len(patches.nodes)):
        for i in range(3):
            hinge_nodes(patches.nodes[f], patches.inner[f, i], i, hinge)
            _, _, _, h1, m1, n1, _, _, _, n2 = frame(x, hinge)
            height[f, i] = h1
            theta[f, i] = angle(m1, n1, n2) if patches.inner[f, i] == 1 else 0.0


@inlined
def height_slope(t: float, m: Vector, out: FloatArray) -> None:
    """grad h (4, 3) over the nodes of a hinge."""
    for d in range(3):
        out[0, d], out[1, d], out[2, d], out[3, d] = (t - 1.0) * m[d], -t * m[d], m[d], 0.0


@inlined
def form_slopes(
    patches: Patches, f: int, x: FloatArray, phi: FloatArray, tangent: bool, hinge: IntArray, slopes: FloatArray,
    of_height: FloatArray, of_angle: FloatArray,
) -> None:  # fmt: skip
    """slopes (3, 18): derivatives of II_0, II_1, II_2 in the six nodes of a patch."""
    slopes[:] = 0.0
    for i in range(3):
        inner = patches.inner[f, i]
        hinge_nodes(patches.nodes[f], inner, i, hinge)
        _, _, t1, h1, m1, n1, t2, h2, _, n2 = frame(x, hinge)
        theta = angle(m1, n1, n2) if inner == 1 else 0.0
        value, slope, _ = turned(tangent, 0.5 * theta + patches.side[f, i] * phi[patches.edges[f, i]])
        height_slope(t1, m1, of_height)
        if inner == 1:
            spread(1.0, t1, h1, n1, t2, h2, n2, of_angle)
        else:
            of_angle[:] = 0.0
        for p in range(4):
            place = 3 * patch_place(i, p)
            for d in range(3):
                slopes[i, place + d] += 2.0 * value * of_height[p, d] + h1 * slope * of_angle[p, d]


@inlined
def patch_place(i: int, p: int) -> int:
    """Where the node p of the hinge i is in a patch."""
    if p == 0:
        return (i + 1) % 3
    if p == 1:
        return (i + 2) % 3
    return i if p == 2 else 3 + i


@inlined
def add_curvature(
    patches: Patches, f: int, i: int, x: FloatArray, phi: FloatArray, tangent: bool, moment: float, hinge: IntArray,
    z: FloatArray, local: FloatArray, of_height: FloatArray, of_angle: FloatArray, out: FloatArray,
) -> None:  # fmt: skip
    """out (18, 18) += moment times the second derivative of II_i."""
    inner = patches.inner[f, i]
    hinge_nodes(patches.nodes[f], inner, i, hinge)
    length, u, t1, h1, m1, n1, t2, h2, m2, n2 = frame(x, hinge)
    theta = angle(m1, n1, n2) if inner == 1 else 0.0
    value, slope, curve = turned(tangent, 0.5 * theta + patches.side[f, i] * phi[patches.edges[f, i]])
    height_slope(t1, m1, of_height)
    if inner == 1:
        spread(1.0, t1, h1, n1, t2, h2, n2, of_angle)
        factors(2, moment * h1 * slope, length, u, t1, h1, m1, n1, z[:4])
        factors(3, moment * h1 * slope, length, u, t2, h2, m2, n2, z[4:8])
        add_products(z, local)
    else:
        of_angle[:] = 0.0
        local[:] = 0.0
    bent, mixed, twice = 2.0 * moment * value, moment * slope, 0.5 * moment * h1 * curve
    for p in range(4):
        c_p = t1 - 1.0 if p == 0 else -t1 if p == 1 else 1.0 if p == 2 else 0.0
        s_p = -1.0 / length if p == 0 else 1.0 / length if p == 1 else 0.0
        for q in range(4):
            c_q = t1 - 1.0 if q == 0 else -t1 if q == 1 else 1.0 if q == 2 else 0.0
            s_q = -1.0 / length if q == 0 else 1.0 / length if q == 1 else 0.0
            row, column = 3 * patch_place(i, p), 3 * patch_place(i, q)
            for d in range(3):
                for e in range(3):
                    bump = c_p * c_q * n1[d] * n1[e] / h1 - h1 * s_p * s_q * m1[d] * m1[e]
                    bump -= c_p * s_q * u[d] * m1[e] + s_p * c_q * m1[d] * u[e]
                    both = of_height[p, d] * of_angle[q, e] + of_angle[p, d] * of_height[q, e]
                    total = bent * bump + mixed * both + twice * of_angle[p, d] * of_angle[q, e]
                    out[row + d, column + e] += total + local[3 * p + d, 3 * q + e]
