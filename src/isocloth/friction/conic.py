"""The convex problem of one linearisation (semismooth.py) as a conic problem, for Clarabel.

With B the weights of a contact, n its normal, T two directions along its surface, w its spring and l its threshold,

    minimise    1/2 d^T A d + g^T d + sum over contacts of  w/2 q^2 + w/2 |e|^2 + l t
    subject to  q + gap + n B d >= 0,    e = T (slip + B d) - T anchor / w - z,    t >= |z|:

q is how far the spring along the normal is compressed, e how far the one along the surface is strained, and z what has
yielded. The multipliers of the two rows are the forces r_N = w q and r_T = -w e, with |r_T| <= l.

Friction keeps its threshold where a contact opens, or else the problem would not be convex.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from isocloth.base.typing import BoolArray, FloatArray
from isocloth.contact.contact_set import ContactSet
from isocloth.contact.history import ContactState
from isocloth.friction.library_qp import load_library
from isocloth.friction.linearised import directed_rows, normal_rows

#: in units of the largest force and of what it compresses a spring by
TOLERANCE = 1e-8


def solve_conic(
    matrix: sp.csc_matrix, g: FloatArray, c: ContactSet, law: ContactState, held: BoolArray, near: FloatArray
) -> tuple[FloatArray, FloatArray] | None:
    """Displacement d (3n,) m and contact forces (c, 3) N; None if Clarabel did not solve it.

    The problem is solved for d - near: the forces of the membrane, which dwarf those of the contacts, then nearly
    vanish, and with them the rounding that they leave.
    """
    normal = normal_rows(c, held)
    gripping = np.flatnonzero(law.threshold > 0.0)
    strain = c.slip - law.anchor / law.stiffness[:, None]
    axes = [axis[gripping] for axis in tangents(c.normal)]
    along = [directed_rows(c, held, axis)[gripping] for axis in tangents(c.normal)]
    start = [np.einsum("fd,fd->f", strain[gripping], a) + rows @ near for a, rows in zip(axes, along, strict=True)]
    found = _solve(
        matrix, g + matrix @ near, normal, c.gap + normal @ near, law.stiffness, sp.csr_matrix(sp.vstack(along)),
        np.concatenate(start), law.stiffness[gripping], law.threshold[gripping],
    )  # fmt: skip
    if found is None:
        return None
    d, push, (first, second) = found
    force = push[:, None] * c.normal
    force[gripping] += first[:, None] * axes[0] + second[:, None] * axes[1]
    return near + d, force


def tangents(normal: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Two unit vectors (c, 3) each, normal to each other and to the normals."""
    axis = np.eye(3)[np.abs(normal).argmin(axis=1)]
    first = np.cross(normal, axis)
    first /= np.linalg.norm(first, axis=1)[:, None]
    return first, np.cross(normal, first)


def _solve(
    matrix: sp.csc_matrix, g: FloatArray, normal: sp.csr_matrix, gap: FloatArray, spring: FloatArray,
    along: sp.csr_matrix, start: FloatArray, hold: FloatArray, threshold: FloatArray,
) -> tuple[FloatArray, FloatArray, FloatArray] | None:  # fmt: skip
    """d (3n,), r_N (m,) and r_T (2, f) of m contacts, f of them with friction; unknowns d, q, e, z, t in this order."""
    clarabel = load_library("clarabel")
    s, m, f = len(g), len(gap), len(threshold)
    weight = float(np.median(spring)) if m else 1.0
    unit = float(np.abs(g).max(initial=0.0)) or 1.0  # N
    length = unit / weight  # m: energies of contacts would be lost in the tolerance in joule
    quadratic = sp.block_diag([
        sp.triu(matrix) * (length / unit), sp.diags_array(spring * (length / unit)),
        sp.diags_array(np.tile(hold, 2) * (length / unit)), sp.csc_matrix((3 * f, 3 * f)),
    ], format="csc")  # fmt: skip
    linear = np.concatenate([g / unit, np.zeros(m + 4 * f), threshold / unit])
    one = sp.eye_array(2 * f)
    yielded = sp.eye_array(3 * f, format="csr")[_interleaved(f)]  # (t, z) of one contact beside each other
    blocks: list[list[Any]] = [
        [-along, sp.csr_matrix((2 * f, m)), one, one, sp.csr_matrix((2 * f, f))],
        [-normal, -sp.eye_array(m), None, None, None],
        [sp.csr_matrix((3 * f, s)), None, sp.csr_matrix((3 * f, 2 * f)), -yielded[:, : 2 * f], -yielded[:, 2 * f :]],
    ]  # fmt: skip
    rows = sp.bmat(blocks, format="csc")
    right = np.concatenate([start, gap, np.zeros(3 * f)]) / length
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    settings.tol_feas = settings.tol_gap_abs = settings.tol_gap_rel = TOLERANCE
    cones = [clarabel.ZeroConeT(2 * f), clarabel.NonnegativeConeT(m), *[clarabel.SecondOrderConeT(3)] * f]
    answer = clarabel.DefaultSolver(quadratic, linear, rows, right, cones, settings).solve()
    if "Solved" not in str(answer.status):
        return None
    x, z = np.asarray(answer.x), np.asarray(answer.z)
    return x[:s] * length, z[2 * f : 2 * f + m] * unit, z[: 2 * f].reshape(2, f) * unit


def _interleaved(f: int) -> np.ndarray:
    """BlockIndex of (t, z_1, z_2) of each contact in (z_1 of all, z_2 of all, t of all)."""
    k = np.arange(f)
    return np.stack([2 * f + k, k, f + k], axis=1).ravel()
