"""Contact with Coulomb friction as stiff rows of Newton's own system.

A contact pushes apart two points of the cloth, or a point and an obstacle. With B the weights of its nodes, nu its
normal, g its gap and s the relative displacement over the step (its tangential part is the slip), the law is

    g >= 0,  r_N >= 0,  g r_N = 0;    |r_T| <= mu r_N,  and  r_T = -mu r_N s_T/|s_T| where s_T is not zero.

It is written as r = P(r - rho (g, s_T)) with P the projection on the disk of radius mu r_N (Alart and Curnier 1991),
and each iteration linearises P at the last forces: a contact is open, sticks, or slides along a direction. Open ones
drop out; the others are springs in the matrix, w along the normal and, where they stick, along the surface, w being so
stiff (a nanometre under the weight of the cloth) that sticking neither creeps nor loses digits. So redundant contacts
need no care: all share the load, and the matrix stays as it is, definite. A contact with an obstacle touches one node
and costs nothing; contacts between layers couple nodes, and the pattern of the factor must hold these couplings.

The threshold mu r_N is taken from the last iteration: the matrix remains symmetric.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from isocloth.compiled import kernel
from isocloth.solver.fronts import Fronts, Lookup, find_block
from isocloth.solver.system import Assembly
from isocloth.typing import BoolArray, FloatArray, IntArray

#: spring of a closed contact relative to the inertia m/h^2 it moves: a load of 1 g yields 1e-6 g h^2
STIFFNESS = 1e6

OPEN, STICK, SLIDE = 0, 1, 2


class ContactSet(NamedTuple):
    """Contacts linearised at one iterate."""

    nodes: IntArray  # (c, 4) nodes of the cloth
    weights: FloatArray  # (c, 4) of their displacements; 0 where a place is not used
    normal: FloatArray  # (c, 3)
    gap: FloatArray  # (c,) m
    slip: FloatArray  # (c, 3) m, relative displacement since the start of the step
    friction: FloatArray  # (c,)
    key: IntArray  # (c,) who touches whom; sorted
    body: IntArray  # (c,) 0: cloth on cloth; k: obstacle k


class Law(NamedTuple):
    """What an iteration makes of the contacts."""

    force: FloatArray  # (c, 3) N, on the side with positive weights
    threshold: FloatArray  # (c,) N, mu r_N as it entered the last solve
    status: IntArray  # (c,)
    direction: FloatArray  # (c, 3) of sliding friction
    stiffness: FloatArray  # (c, 3) N/m: along the normal, along and across the direction of friction
    scale: FloatArray  # (c,) N/m, inertia m/h^2 that the contact moves


@kernel
def scales(c: ContactSet, inertia: FloatArray, held: BoolArray, law: Law) -> None:
    """Inertia that each contact moves, 1 / (B diag(h^2/m) B^T); of held nodes only it is that of its nodes."""
    for k in range(len(c.gap)):
        mobility = rigid = 0.0
        for a in range(4):
            w = c.weights[k, a]
            if w != 0.0:
                i = c.nodes[k, a]
                rigid = max(rigid, inertia[i])
                if not held[i]:
                    mobility += w * w / inertia[i]
        law.scale[k] = 1.0 / mobility if mobility > 0.0 else rigid


@kernel
def classify(c: ContactSet, law: Law, fresh: BoolArray) -> tuple[float, float]:
    """Linearise the law at the present forces and gaps; returns the largest residuals, m and N.

    The first is the penetration that the law forbids, the second the distance of the force from where the projection
    puts it. `fresh` contacts have no force yet and start sticking.
    """
    depth = error = 0.0
    for k in range(len(c.gap)):
        rho = law.scale[k]
        n0, n1, n2 = c.normal[k, 0], c.normal[k, 1], c.normal[k, 2]
        r0, r1, r2 = law.force[k, 0], law.force[k, 1], law.force[k, 2]
        s0, s1, s2 = c.slip[k, 0], c.slip[k, 1], c.slip[k, 2]
        normal = r0 * n0 + r1 * n1 + r2 * n2
        along = s0 * n0 + s1 * n1 + s2 * n2
        depth = max(depth, -c.gap[k])
        w = STIFFNESS * rho
        pressed = normal - rho * c.gap[k]
        if pressed <= 0.0:
            law.status[k] = OPEN
            law.stiffness[k, 0] = law.stiffness[k, 1] = law.stiffness[k, 2] = 0.0
            law.threshold[k] = 0.0
            error = max(error, np.sqrt(r0 * r0 + r1 * r1 + r2 * r2))
            continue
        law.stiffness[k, 0] = w
        if normal < 0.0:
            error = max(error, -normal)
        threshold = c.friction[k] * max(normal, 0.0)
        law.threshold[k] = threshold
        if c.friction[k] == 0.0:
            law.status[k] = SLIDE
            law.direction[k, 0] = law.direction[k, 1] = law.direction[k, 2] = 0.0
            law.stiffness[k, 1] = law.stiffness[k, 2] = 0.0
            continue
        # tangential parts: of the force and of the slip
        t0, t1, t2 = r0 - normal * n0, r1 - normal * n1, r2 - normal * n2
        q0 = t0 - rho * (s0 - along * n0)
        q1 = t1 - rho * (s1 - along * n1)
        q2 = t2 - rho * (s2 - along * n2)
        size = np.sqrt(q0 * q0 + q1 * q1 + q2 * q2)
        if fresh[k] or size <= threshold:
            law.status[k] = STICK
            law.stiffness[k, 1] = law.stiffness[k, 2] = w
            if not fresh[k]:
                error = max(error, np.sqrt((t0 - q0) ** 2 + (t1 - q1) ** 2 + (t2 - q2) ** 2))
            continue
        law.status[k] = SLIDE
        q0, q1, q2 = q0 / size, q1 / size, q2 / size
        law.direction[k, 0], law.direction[k, 1], law.direction[k, 2] = q0, q1, q2
        error = max(
            error,
            np.sqrt((t0 - threshold * q0) ** 2 + (t1 - threshold * q1) ** 2 + (t2 - threshold * q2) ** 2),
        )
        law.stiffness[k, 1] = 0.0
        law.stiffness[k, 2] = min(w, rho * threshold / max(size - threshold, 1e-300))
    return depth, error


@kernel
def spring(c: ContactSet, law: Law, k: int, matrix: FloatArray, load: FloatArray) -> None:
    """matrix (3, 3), load (3,): the force of contact k on its positive side is load - matrix d, d = B (y' - y)."""
    n = c.normal[k]
    kn, kt, kq = law.stiffness[k, 0], law.stiffness[k, 1], law.stiffness[k, 2]
    along = c.slip[k, 0] * n[0] + c.slip[k, 1] * n[1] + c.slip[k, 2] * n[2]
    if law.status[k] == STICK:
        for a in range(3):
            for b in range(3):
                unit = 1.0 if a == b else 0.0
                matrix[a, b] = kn * n[a] * n[b] + kt * (unit - n[a] * n[b])
            load[a] = -kn * c.gap[k] * n[a] - kt * (c.slip[k, a] - along * n[a])
        return
    t = law.direction[k]
    # across: the tangent that is perpendicular to the direction of friction
    q0 = n[1] * t[2] - n[2] * t[1]
    q1 = n[2] * t[0] - n[0] * t[2]
    q2 = n[0] * t[1] - n[1] * t[0]
    across = c.slip[k, 0] * q0 + c.slip[k, 1] * q1 + c.slip[k, 2] * q2
    q = (q0, q1, q2)
    for a in range(3):
        for b in range(3):
            matrix[a, b] = kn * n[a] * n[b] + kq * q[a] * q[b]
        load[a] = -kn * c.gap[k] * n[a] - kq * across * q[a] + law.threshold[k] * t[a]


@kernel
def add_contacts(
    s: Assembly, look: Lookup, f: Fronts, c: ContactSet, law: Law, held: BoolArray, x: FloatArray,
) -> bool:  # fmt: skip
    """Add the springs of closed contacts to the matrix and the right-hand side; False if a coupling has no place."""
    panel = f.panel
    matrix, load = np.empty((3, 3)), np.empty(3)
    for k in range(len(c.gap)):
        if law.status[k] == OPEN:
            continue
        spring(c, law, k, matrix, load)
        for a in range(4):
            wa = c.weights[k, a]
            i = c.nodes[k, a]
            if wa == 0.0 or held[i]:
                continue
            for d in range(3):
                x[3 * i + d] += wa * load[d]
            at, stride = s.nodes[i, 0], s.nodes[i, 1]
            for d in range(3):
                for e in range(3):
                    panel[at + d * stride + e] += wa * wa * matrix[d, e]
            for b in range(4):
                j = c.nodes[k, b]
                wb = c.weights[k, b]
                if wb == 0.0 or held[j] or look.rank[j] <= look.rank[i]:
                    continue
                at = find_block(look, f, i, j)
                if at < 0:
                    return False
                stride = s.nodes[i, 1]
                for d in range(3):
                    for e in range(3):
                        panel[at + d * stride + e] += wa * wb * matrix[d, e]
    return True


@kernel
def contact_forces(c: ContactSet, law: Law, x: FloatArray) -> None:
    """Forces of the linearised contacts after the displacement x (3n scalars)."""
    matrix, load = np.empty((3, 3)), np.empty(3)
    for k in range(len(c.gap)):
        if law.status[k] == OPEN:
            law.force[k, 0] = law.force[k, 1] = law.force[k, 2] = 0.0
            continue
        spring(c, law, k, matrix, load)
        d0 = d1 = d2 = 0.0
        for a in range(4):
            w, p = c.weights[k, a], 3 * c.nodes[k, a]
            d0 += w * x[p]
            d1 += w * x[p + 1]
            d2 += w * x[p + 2]
        for d in range(3):
            law.force[k, d] = load[d] - matrix[d, 0] * d0 - matrix[d, 1] * d1 - matrix[d, 2] * d2


@kernel
def subtract_forces(c: ContactSet, law: Law, residual: FloatArray) -> None:
    """residual -= B^T r, (n, 3)."""
    for k in range(len(c.gap)):
        for a in range(4):
            w, i = c.weights[k, a], c.nodes[k, a]
            if w != 0.0:
                for d in range(3):
                    residual[i, d] -= w * law.force[k, d]
