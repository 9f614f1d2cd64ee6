"""Derivatives of an energy of the second fundamental form: the kernels of `terms/koiter_bending.py`.

A face has the values u = (II_0, II_1, II_2) of `terms/mid_edge.py`, their derivatives J = du/dx (3, 18) over its patch
of six nodes, and the moments q = W r (N), r the change of u. Then grad E = J^T q and, with the angles phi held,

    Hess E = c J^T W J + sum_i q_i Hess II_i,    c = 1 + r / D

    d^2E / dx dphi_i = s_i (2 h_i f'_i c (J^T W)_i + q_i (2 f'_i grad h_i + h_i f''_i grad theta_i))
"""

from __future__ import annotations

import numpy as np

from isocloth.base.compiled import kernel
from isocloth.base.typing import FloatArray
from isocloth.terms.dihedral import angle, frame, spread
from isocloth.terms.mid_edge import Patches, add_curvature, form_slopes, height_slope, hinge_nodes, patch_place, turned


@kernel
def form_jacobians(patches: Patches, x: FloatArray, phi: FloatArray, tangent: bool, out: FloatArray) -> None:
    """J (f, 3, 18)."""
    hinge, of_height, of_angle = np.empty(4, dtype=np.int64), np.empty((4, 3)), np.empty((4, 3))
    for f in range(len(out)):
        form_slopes(patches, f, x, phi, tangent, hinge, out[f], of_height, of_angle)


@kernel
def form_gradients(
    patches: Patches, x: FloatArray, phi: FloatArray, tangent: bool, lines: FloatArray, out: FloatArray
) -> None:
    """J^T q (f, 6, 3); q is the first of the lines (f, 4, 3) of `terms/edge_angles.py`."""
    hinge, of_height, of_angle = np.empty(4, dtype=np.int64), np.empty((4, 3)), np.empty((4, 3))
    slopes = np.empty((3, 18))
    for f in range(len(out)):
        form_slopes(patches, f, x, phi, tangent, hinge, slopes, of_height, of_angle)
        a, b, c = lines[f, 0, 0], lines[f, 0, 1], lines[f, 0, 2]
        for p in range(6):
            for d in range(3):
                k = 3 * p + d
                out[f, p, d] = a * slopes[0, k] + b * slopes[1, k] + c * slopes[2, k]


@kernel
def form_hessians(
    patches: Patches, x: FloatArray, phi: FloatArray, tangent: bool, lines: FloatArray, form: FloatArray,
    scale: FloatArray, psd: bool, out: FloatArray,
) -> None:  # fmt: skip
    """c J^T W J (f, 18, 18) and, unless `psd`, the second derivatives of u."""
    hinge, of_height, of_angle = np.empty(4, dtype=np.int64), np.empty((4, 3)), np.empty((4, 3))
    slopes, weighted = np.empty((3, 18)), np.empty((3, 18))
    z, local = np.empty((8, 12)), np.empty((12, 12))
    for f in range(len(out)):
        form_slopes(patches, f, x, phi, tangent, hinge, slopes, of_height, of_angle)
        for i in range(3):
            for k in range(18):
                one = form[f, i, 0] * slopes[0, k] + form[f, i, 1] * slopes[1, k] + form[f, i, 2] * slopes[2, k]
                weighted[i, k] = scale[f] * one
        block = out[f]
        for j in range(18):
            a, b, c = slopes[0, j], slopes[1, j], slopes[2, j]
            for k in range(18):
                block[j, k] = a * weighted[0, k] + b * weighted[1, k] + c * weighted[2, k]
        if not psd:
            for i in range(3):
                add_curvature(
                    patches, f, i, x, phi, tangent, lines[f, 0, i], hinge, z, local, of_height, of_angle, block
                )  # fmt: skip


@kernel
def form_couplings(
    patches: Patches, x: FloatArray, phi: FloatArray, tangent: bool, lines: FloatArray, form: FloatArray,
    scale: FloatArray, out: FloatArray,
) -> None:  # fmt: skip
    """d^2E / dx dphi (f, 18, 3)."""
    hinge, of_height, of_angle = np.empty(4, dtype=np.int64), np.empty((4, 3)), np.empty((4, 3))
    slopes = np.empty((3, 18))
    for f in range(len(out)):
        form_slopes(patches, f, x, phi, tangent, hinge, slopes, of_height, of_angle)
        for i in range(3):
            side = patches.side[f, i]
            stiff = side * scale[f] * lines[f, 1, i]
            for k in range(18):
                one = form[f, i, 0] * slopes[0, k] + form[f, i, 1] * slopes[1, k] + form[f, i, 2] * slopes[2, k]
                out[f, k, i] = stiff * one
            inner = patches.inner[f, i]
            hinge_nodes(patches.nodes[f], inner, i, hinge)
            _, _, t1, h1, m1, n1, t2, h2, _, n2 = frame(x, hinge)
            theta = angle(m1, n1, n2) if inner == 1 else 0.0
            _, slope, curve = turned(tangent, 0.5 * theta + side * phi[patches.edges[f, i]])
            height_slope(t1, m1, of_height)
            if inner == 1:
                spread(1.0, t1, h1, n1, t2, h2, n2, of_angle)
            else:
                of_angle[:] = 0.0
            moment = side * lines[f, 0, i]
            for p in range(4):
                place = 3 * patch_place(i, p)
                for d in range(3):
                    change = 2.0 * slope * of_height[p, d] + h1 * curve * of_angle[p, d]
                    out[f, place + d, i] += moment * change


@kernel
def turn_all(a: FloatArray, tangent: bool, value: FloatArray, slope: FloatArray) -> None:
    """f and f' of angles (e,)."""
    for e in range(len(a)):
        value[e], slope[e], _ = turned(tangent, a[e])
