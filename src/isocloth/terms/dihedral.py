"""The signed dihedral angle of two triangles with a common edge, and its first and second derivatives.

theta is 0 where the two triangles lie flat and positive where they bend away from their normals, in (-pi, pi]. It is
taken from its cosine n1.n2 and its sine (n1 x n2).u together, so that it keeps all digits near +-pi as well, where the
cosine alone would lose half of them; the derivatives know theta only through the frames of the two triangles and are
as good at pi as at 0. At +-pi itself, where the triangles lie on each other, theta jumps by 2 pi.

Triangle q = 1, 2 with the edge from x_i along the unit vector u and the apex a has the foot t = (a - x_i).u / L, the
height h, the unit vector m across the edge to the apex, and the unit normal n. With the factors of the nodes i, j, apex

    c = (t - 1, -t, 1),    s = (-1, 1, 0) / L,

and c (x) n the vector of all coordinates whose part at node p is c_p n,

    grad theta = - sum_q (c (x) n) / h
    Hess theta =   sum_q (U V^T + V U^T),    U = [c (x) n, s (x) n],    V = [c (x) m / h^2, c (x) u / h + s (x) m / 2]

(R. Tamstorf and E. Grinspun, Discrete bending forces and their Jacobians, 2013, in a frame of our own). The height
itself, which mid-edge normals need, has

    grad h = c (x) m
    Hess h = (c (x) n) (c (x) n)^T / h - (c (x) u) (s (x) m)^T - (s (x) m) (c (x) u)^T - h (s (x) m) (s (x) m)^T.

Heights and edges count as at least `FLATTEST` times the size of the hinge. In a triangle that is flatter, m and n are
shorter than 1 and vanish with it: values stay finite, and a triangle without any area has the angle 0.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from isocloth.base.compiled import inlined, kernel
from isocloth.base.typing import BoolArray, FloatArray, IntArray
from isocloth.meshes import Mesh

Vector = tuple[float, float, float]

#: least height of a triangle and length of an edge that the derivatives see, relative to the size of the hinge
FLATTEST = 1e-6


class HingeArrays(NamedTuple):
    """What kernels read of a term with one stencil per interior edge."""

    stencils: IntArray
    weight: FloatArray
    stiffness: FloatArray
    target: FloatArray
    rate: FloatArray
    past: FloatArray


@inlined
def dot(a: Vector, b: Vector) -> float:
    """a.b"""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@inlined
def cross(a: Vector, b: Vector) -> Vector:
    """a x b"""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@inlined
def offset(x: FloatArray, p: int, o: int) -> Vector:
    """x_p - x_o"""
    return x[p, 0] - x[o, 0], x[p, 1] - x[o, 1], x[p, 2] - x[o, 2]


@inlined
def flap(a: Vector, u: Vector, length: float, least: float) -> tuple[float, float, Vector]:
    """Foot t, height h and direction m across the edge of a triangle with the apex a, relative to node i."""
    along = dot(a, u)
    across = (a[0] - along * u[0], a[1] - along * u[1], a[2] - along * u[2])
    height = max(np.sqrt(dot(across, across)), least)
    return along / length, height, (across[0] / height, across[1] / height, across[2] / height)


@inlined
def frame(
    x: FloatArray, nodes: IntArray
) -> tuple[float, Vector, float, float, Vector, Vector, float, float, Vector, Vector]:
    """L, u, then t, h, m, n of the first and of the second triangle."""
    i = nodes[0]
    e, a, b = offset(x, nodes[1], i), offset(x, nodes[2], i), offset(x, nodes[3], i)
    # 1e-150 keeps a hinge that is a single point from dividing by zero
    least = FLATTEST * np.sqrt(dot(e, e) + dot(a, a) + dot(b, b)) + 1e-150
    length = max(np.sqrt(dot(e, e)), least)
    u = (e[0] / length, e[1] / length, e[2] / length)
    t1, h1, m1 = flap(a, u, length, least)
    t2, h2, m2 = flap(b, u, length, least)
    return length, u, t1, h1, m1, cross(u, m1), t2, h2, m2, cross(m2, u)


@inlined
def spread(factor: float, t1: float, h1: float, n1: Vector, t2: float, h2: float, n2: Vector, out: FloatArray) -> None:
    """out (4, 3) = factor grad theta."""
    f1, f2 = -factor / h1, -factor / h2
    for d in range(3):
        g1, g2 = f1 * n1[d], f2 * n2[d]
        out[0, d] = (t1 - 1.0) * g1 + (t2 - 1.0) * g2
        out[1, d] = -t1 * g1 - t2 * g2
        out[2, d] = g1
        out[3, d] = g2


@inlined
def factors(
    apex: int, moment: float, length: float, u: Vector, t: float, h: float, m: Vector, n: Vector, out: FloatArray
) -> None:
    """U^T and moment V^T of one triangle, below each other (4, 12); `apex` is its place in the stencil, 2 or 3."""
    across, along = moment / (h * h), moment / h
    out[:] = 0.0
    for p, c, s in ((0, t - 1.0, -1.0 / length), (1, -t, 1.0 / length), (apex, 1.0, 0.0)):
        for d in range(3):
            out[0, 3 * p + d] = c * n[d]
            out[1, 3 * p + d] = s * n[d]
            out[2, 3 * p + d] = across * c * m[d]
            out[3, 3 * p + d] = along * c * u[d] + 0.5 * moment * s * m[d]


def hinge_stencils(mesh: Mesh) -> IntArray:
    """(e, 4) nodes of the hinges of a triangle mesh: an edge i, j, the apex of the triangle i, j, ., the other apex."""
    within = mesh.edge_faces[:, 1] >= 0
    ends, pairs = mesh.edges[within], mesh.faces[mesh.edge_faces[within]]  # (e, 2), (e, 2, 3)
    apex = pairs.sum(axis=2) - ends.sum(axis=1)[:, None]
    # the first triangle of the pair has the edge from i to j if j comes after i in it
    runs = np.any((pairs[:, 0] == ends[:, :1]) & (np.roll(pairs[:, 0], -1, axis=1) == ends[:, 1:]), axis=1)
    apex = np.where(runs[:, None], apex, apex[:, ::-1])
    return np.ascontiguousarray(np.concatenate([ends, apex], axis=1), dtype=np.int64)


@inlined
def angle(m1: Vector, n1: Vector, n2: Vector) -> float:
    """theta from cos(theta) = n1.n2 and sin(theta) = (n1 x n2).u = -m1.n2."""
    theta: float = np.arctan2(-dot(m1, n2), dot(n1, n2))
    return theta


@inlined
def add_products(z: FloatArray, out: FloatArray) -> None:
    """out (12, 12) = sum of U V^T + V U^T of both triangles, from the lines of z (8, 12) that `factors` writes."""
    for i in range(12):  # the whole block and not half of it: the inner loop is then one of vectors
        a0, a1, a2, a3 = z[0, i], z[1, i], z[2, i], z[3, i]
        b0, b1, b2, b3 = z[4, i], z[5, i], z[6, i], z[7, i]
        for j in range(12):
            first = a0 * z[2, j] + a2 * z[0, j] + a1 * z[3, j] + a3 * z[1, j]
            out[i, j] = first + b0 * z[6, j] + b2 * z[4, j] + b1 * z[7, j] + b3 * z[5, j]


@kernel
def angles(stencils: IntArray, x: FloatArray, theta: FloatArray, gradient: FloatArray) -> None:
    """theta (e,) in rad and its derivative (e, 4, 3) in 1/m at positions x (n, 3)."""
    for e in range(len(stencils)):
        _, _, t1, h1, m1, n1, t2, h2, _, n2 = frame(x, stencils[e])
        theta[e] = angle(m1, n1, n2)
        spread(1.0, t1, h1, n1, t2, h2, n2, gradient[e])


@kernel
def angle_hessians(stencils: IntArray, x: FloatArray, factor: FloatArray, out: FloatArray) -> None:
    """factor (e,) times the second derivative of theta, (e, 12, 12)."""
    z = np.empty((8, 12))
    for e in range(len(stencils)):
        length, u, t1, h1, m1, n1, t2, h2, m2, n2 = frame(x, stencils[e])
        factors(2, factor[e], length, u, t1, h1, m1, n1, z[:4])
        factors(3, factor[e], length, u, t2, h2, m2, n2, z[4:8])
        add_products(z, out[e])


class Hinges(NamedTuple):
    """Pairs of triangles (e, 3, 3), each given by its own copies of the ends i, j of the edge and its apex."""

    angle: FloatArray  # (e,) rad
    first: FloatArray  # (e, 3, 3) derivative of the angle in the corners of the first triangle, 1/m
    second: FloatArray  # (e, 3, 3) in those of the second
    height: FloatArray  # (e,) m, of the first triangle
    height_gradient: FloatArray  # (e, 3, 3) in the corners of the first triangle


def hinges_of(first: FloatArray, second: FloatArray, joined: BoolArray) -> Hinges:
    """Angles of pairs of triangles that need not share their corners in memory, as in a rest shape that was cut.

    Args:
        first: (e, 3, 3) m, the ends i, j of the edge and the apex of the triangle that runs from i to j.
        second: (e, 3, 3) m, i, j and the apex of the other one.
        joined: (e,) whether both have their edge in the same place; where not, the angle is 0 and stays so.
    """
    n1, h1, c1, m1 = _flaps(first, 1.0)
    n2, h2, c2, _ = _flaps(second, -1.0)
    theta = np.arctan2(-np.sum(m1 * n2, axis=1), np.sum(n1 * n2, axis=1))
    slopes = [-(c / h[:, None])[:, :, None] * n[:, None, :] for c, h, n in ((c1, h1, n1), (c2, h2, n2))]
    off = ~joined
    theta[off] = 0.0
    for slope in slopes:
        slope[off] = 0.0
    return Hinges(theta, slopes[0], slopes[1], h1, c1[:, :, None] * m1[:, None, :])


def _flaps(p: FloatArray, side: float) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Unit normals, heights, factors c (e, 3) and directions m of triangles (e, 3, 3) at the edge of their first two
    corners; `side` is -1 of triangles that run from j to i."""
    e, a = p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]
    length = np.linalg.norm(e, axis=1, keepdims=True)
    u = e / length
    along = np.sum(a * u, axis=1, keepdims=True)
    across = a - along * u
    height = np.linalg.norm(across, axis=1, keepdims=True)
    m = across / height
    t = along / length
    return side * np.cross(u, m), height[:, 0], np.concatenate([t - 1.0, -t, np.ones_like(t)], axis=1), m
