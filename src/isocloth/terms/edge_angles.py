"""The angles phi of mid-edge normals, eliminated: for given positions they have the values of least energy.

Heights and dihedral angles given, the energy of bending is

    E(phi) = 1/2 sum_f (u - ubar)^T W (u - ubar) + rho (u - past)^T W (u - past)
    u_i = 2 h_i f(theta_i / 2 + s_i phi_i),

a sum over faces, in which the angle of an edge meets those of the four other edges of its two faces only: no angle
resists for itself alone, none is far from any other, and the second derivative has a condition number that does not
depend on the mesh. Newton's method with conjugate gradients takes three or four iterations of some tens of products.

It begins at phi = 0 every time, and not where the last evaluation ended: an energy must not depend on what was asked
before, or the same input would not give the same bits.
"""

from __future__ import annotations

import numpy as np

from isocloth.base.compiled import inlined, kernel
from isocloth.base.typing import FloatArray, IntArray
from isocloth.terms.mid_edge import turned

#: rad, what is left of the error of an angle
LEFT = 1e-12
#: rad, the largest change of an angle in the last iteration of Newton's method, which converges quadratically
LAST_CHANGE = 1e-6
#: largest and smallest residual of conjugate gradients relative to the right-hand side; in between it follows the last
#: change, because a direction need not be better than the iteration it belongs to
ROUGHEST, FINEST = 1e-3, 1e-11
MOST_ITERATIONS, MOST_PRODUCTS = 50, 400


@inlined
def _change(
    edges: IntArray, side: FloatArray, height: FloatArray, theta: FloatArray, form: FloatArray, target: FloatArray,
    ratio: FloatArray, past: FloatArray, tangent: bool, phi: FloatArray, f: int, out: FloatArray,
) -> float:  # fmt: skip
    """Energy of a face; out (4, 3) = W r, 2 h f', 2 h f'', and r = u - ubar + rho (u - past)."""
    for i in range(3):
        a = 0.5 * theta[f, i] + side[f, i] * phi[edges[f, i]]
        value, slope, curve = turned(tangent, a)
        out[1, i], out[2, i] = 2.0 * height[f, i] * slope, 2.0 * height[f, i] * curve
        out[3, i] = 2.0 * height[f, i] * value
    total = 0.0
    for i in range(3):
        for j in range(3):
            one = (out[3, i] - target[f, i]) * (out[3, j] - target[f, j])
            total += form[f, i, j] * (one + ratio[f] * (out[3, i] - past[f, i]) * (out[3, j] - past[f, j]))
    for i in range(3):
        out[3, i] = out[3, i] - target[f, i] + ratio[f] * (out[3, i] - past[f, i])
    for i in range(3):
        out[0, i] = form[f, i, 0] * out[3, 0] + form[f, i, 1] * out[3, 1] + form[f, i, 2] * out[3, 2]
    return 0.5 * total


@kernel
def face_states(
    edges: IntArray, side: FloatArray, height: FloatArray, theta: FloatArray, form: FloatArray, target: FloatArray,
    ratio: FloatArray, past: FloatArray, tangent: bool, phi: FloatArray, energy: FloatArray, out: FloatArray,
) -> None:  # fmt: skip
    """Energies (f,) J and, for every face, the lines (f, 4, 3) of `_change`."""
    for f in range(len(edges)):
        energy[f] = _change(edges, side, height, theta, form, target, ratio, past, tangent, phi, f, out[f])


@kernel
def _multiply(edges: IntArray, block: FloatArray, v: FloatArray, out: FloatArray) -> None:
    """out (edges,) = sum over faces of their blocks (f, 3, 3) times v."""
    out[:] = 0.0
    for f in range(len(edges)):
        a, b, c = edges[f, 0], edges[f, 1], edges[f, 2]
        for i in range(3):
            out[edges[f, i]] += block[f, i, 0] * v[a] + block[f, i, 1] * v[b] + block[f, i, 2] * v[c]


@kernel
def _conjugate_gradients(
    edges: IntArray, block: FloatArray, g: FloatArray, diagonal: FloatArray, residual: float, d: FloatArray
) -> None:
    """d with H d = -g, or, where H is not positive, the part of the way on which it is."""
    r, p, ap = -g, np.empty_like(g), np.empty_like(g)
    d[:] = 0.0
    z = r / diagonal
    p[:] = z
    rz = np.dot(r, z)
    enough = residual * residual * rz
    for k in range(MOST_PRODUCTS):
        if rz <= enough:
            return
        _multiply(edges, block, p, ap)
        curvature = np.dot(p, ap)
        if not curvature > 0.0:
            if k == 0:
                d[:] = p
            return
        step = rz / curvature
        d += step * p
        r -= step * ap
        z = r / diagonal
        before, rz = rz, np.dot(r, z)
        p[:] = z + (rz / before) * p


@kernel
def relax(
    edges: IntArray, side: FloatArray, height: FloatArray, theta: FloatArray, form: FloatArray, target: FloatArray,
    ratio: FloatArray, past: FloatArray, tangent: bool, phi: FloatArray,
) -> float:  # fmt: skip
    """Write the angles (edges,) rad of least energy into phi, beginning from those in it; returns the last change."""
    count = len(edges)
    g, diagonal, d, tried = np.empty_like(phi), np.empty_like(phi), np.empty_like(phi), np.empty_like(phi)
    block, state, energy = np.empty((count, 3, 3)), np.empty((count, 4, 3)), np.empty(count)
    largest = np.inf
    face_states(edges, side, height, theta, form, target, ratio, past, tangent, phi, energy, state)
    now = energy.sum()
    for _ in range(MOST_ITERATIONS):
        g[:] = 0.0
        diagonal[:] = 0.0
        for f in range(count):
            for i in range(3):
                slope = side[f, i] * state[f, 1, i]
                g[edges[f, i]] += state[f, 0, i] * slope
                for j in range(3):
                    block[f, i, j] = (1.0 + ratio[f]) * form[f, i, j] * slope * side[f, j] * state[f, 1, j]
                diagonal[edges[f, i]] += block[f, i, i]
                block[f, i, i] += state[f, 0, i] * state[f, 2, i]
        # of an edge whose angle has no hold at all (f' = 0) nothing is known
        diagonal[:] = np.maximum(diagonal, 1e-12 * diagonal.max() + 1e-300)
        residual = min(ROUGHEST, max(FINEST, 0.1 * largest))
        _conjugate_gradients(edges, block, g, diagonal, residual, d)
        largest = np.abs(d).max()
        descent, scale = np.dot(g, d), 1.0
        while True:
            tried[:] = phi + scale * d
            face_states(edges, side, height, theta, form, target, ratio, past, tangent, tried, energy, state)
            after = energy.sum()
            # near the end differences of energies are rounding, and Newton's step is trusted
            if after <= now + 1e-4 * scale * descent or largest < 1e-6 or scale < 1e-6:
                break
            scale *= 0.5
        phi[:] = tried
        now = after
        if largest <= LAST_CHANGE and largest * residual <= LEFT:
            break
    return largest
