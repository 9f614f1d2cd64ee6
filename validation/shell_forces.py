"""Forces of a discrete shell a second way: from the positions and the rest shape alone, in plain numbers.

    E = k_l / 2 sum_e (L - l)^2 / l + k_b / 2 sum_h 3 l^2 / A (theta - theta_0)^2 + g sum_i m_i z_i

with l, A (of the two faces of a hinge), theta_0 and the masses m of the rest shape. Nothing of the package is used.
"""

from __future__ import annotations

import numpy as np

from isocloth.base.typing import FloatArray, IntArray


def forces_on(
    points: FloatArray, rest: FloatArray, faces: IntArray, numbers: tuple[float, float, float, float]
) -> FloatArray:
    """(n, 3) N: the gradient of E at points (n, 3), what supports have to push with.

    numbers: k_l in N, k_b in N m, density in kg/m^2, gravity in m/s^2.
    """
    stretch, bending, density, gravity = numbers
    out = np.zeros_like(points)
    mass = np.zeros(len(points))
    np.add.at(mass, faces, (density * _areas(rest, faces) / 3.0)[:, None])
    out[:, 2] = gravity * mass
    edges = np.unique(np.sort(np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]), axis=1), axis=0)
    along = points[edges[:, 1]] - points[edges[:, 0]]
    long, short = np.linalg.norm(along, axis=1), np.linalg.norm(rest[edges[:, 1]] - rest[edges[:, 0]], axis=1)
    pull = (stretch * (long - short) / short / long)[:, None] * along
    np.add.at(out, edges[:, 1], pull)
    np.add.at(out, edges[:, 0], -pull)
    corners, area = _hinges(rest, faces)
    angle, slopes = _angles(points, corners)
    at_rest, _ = _angles(rest, corners)
    length = np.linalg.norm(rest[corners[:, 1]] - rest[corners[:, 0]], axis=1)
    turned = (angle - at_rest + np.pi) % (2.0 * np.pi) - np.pi
    moment = bending * 3.0 * length**2 / area * turned
    np.add.at(out, corners, moment[:, None, None] * slopes)
    return out


def _areas(points: FloatArray, faces: IntArray) -> FloatArray:
    a, b, c = (points[faces[:, k]] for k in range(3))
    return np.asarray(0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1))


def _hinges(rest: FloatArray, faces: IntArray) -> tuple[IntArray, FloatArray]:
    """(h, 4): both ends of an inner edge, and the corner of either face across it; area (h,) of both."""
    area, across, found, sums = _areas(rest, faces), {}, [], []
    for f, face in enumerate(faces.tolist()):
        for k in range(3):
            across[(face[k], face[(k + 1) % 3])] = (face[(k + 2) % 3], f)
    for (a, b), (c, f) in across.items():
        if a < b and (b, a) in across:
            d, g = across[(b, a)]
            found.append((a, b, c, d))
            sums.append(area[f] + area[g])
    return np.array(found, dtype=np.int64).reshape(-1, 4), np.array(sums)


def _angles(points: FloatArray, corners: IntArray) -> tuple[FloatArray, FloatArray]:
    """Dihedral angles (h,), and their gradients (h, 4, 3)."""
    a, b, c, d = (points[corners[:, k]] for k in range(4))
    edge = b - a
    one, two = np.cross(edge, c - a), np.cross(d - a, edge)
    length = np.linalg.norm(edge, axis=1)
    angle = np.arctan2(np.einsum("hd,hd->h", np.cross(one, two), edge) / length, np.einsum("hd,hd->h", one, two))
    up = -one * (length / np.einsum("hd,hd->h", one, one))[:, None]
    down = -two * (length / np.einsum("hd,hd->h", two, two))[:, None]
    # where the feet of the corners across are along the edge
    foot_c = (np.einsum("hd,hd->h", c - a, edge) / length**2)[:, None]
    foot_d = (np.einsum("hd,hd->h", d - a, edge) / length**2)[:, None]
    slopes = np.stack([-(1.0 - foot_c) * up - (1.0 - foot_d) * down, -foot_c * up - foot_d * down, up, down], axis=1)
    return angle, slopes
