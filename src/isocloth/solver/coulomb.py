"""Contact with Coulomb friction as stiff rows of Newton's own system.

A contact pushes apart two points of the cloth, or a point and an obstacle. With B the weights of its nodes, nu its
normal, g its gap and s the relative displacement over the step (its tangential part is the slip), the law is

    g >= 0,  r_N >= 0,  g r_N = 0;    |r_T| <= mu r_N,  and  r_T = -mu r_N s_T/|s_T| where s_T is not zero.

It is written as r = P(r - rho (g, s_T)) with P the projection on the disk of radius mu r_N (Alart and Curnier 1991),
and each iteration decides by the last forces: a contact is open, sticks, or slides along a direction. Open ones drop
out; the others are springs in the matrix, w along the normal and, where they stick, along the surface. A spring that
sticks starts from the force it bore at the end of the step before, so that what rests under a load does not creep. So
redundant contacts need no care: all share the load, and the matrix stays as it is, definite. A contact with an obstacle
touches one node and costs nothing; contacts between layers couple nodes, and the factor must have room for these.

The threshold mu r_N is taken from the last iteration: the matrix remains symmetric.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from isocloth.compiled import kernel
from isocloth.solver.fronts import Fronts, Lookup, find_block
from isocloth.solver.system import Assembly
from isocloth.typing import BoolArray, FloatArray, IntArray

#: spring of a closed contact relative to the inertia m/h^2 it moves: under 1 g it gives way by 1e-3 g h^2, a micrometre
#: at 10 ms. A thousand times stiffer, and the closed contacts between layers change back and forth without end
STIFFNESS = 1e3

#: how much stiffer the spring of a contact becomes that seems to stick
GROWTH = 30.0

OPEN, STICK, SLIDE = 0, 1, 2


class ContactSet(NamedTuple):
    """Contacts linearised at one iterate."""

    nodes: IntArray  # (c, 4) nodes of the cloth
    weights: FloatArray  # (c, 4) of their displacements; 0 where a place is not used
    normal: FloatArray  # (c, 3)
    gap: FloatArray  # (c,) m
    slip: FloatArray  # (c, 3) m, relative displacement since the start of the step
    friction: FloatArray  # (c,)
    key: IntArray  # (c,) who touches whom
    body: IntArray  # (c,) 0: cloth on cloth; k: obstacle k


class Law(NamedTuple):
    """What an iteration makes of the contacts."""

    force: FloatArray  # (c, 3) N, on the side with positive weights
    threshold: FloatArray  # (c,) N, mu r_N as it enters the solve
    status: IntArray  # (c,) OPEN, STICK or SLIDE
    grip: FloatArray  # (c,) N/m, spring along the surface; of a sliding contact across its direction
    direction: FloatArray  # (c, 3) of sliding friction
    anchor: FloatArray  # (c, 3) N, force along the surface that a sticking contact bears without slip
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
def classify(c: ContactSet, law: Law, calm: bool, begin: bool) -> tuple[float, float]:
    """Decide for each contact how it enters the next solve; returns how far the law is from being met, m and N.

    The first is the deepest penetration. The second is the largest distance of a force from where the law puts it, with
    mu r_N as it is now; the threshold of friction that enters the solve stays what it was.

    A contact sticks or slides; one that was pushed past rest is held by a spring that gives the right force at the slip
    it had, and which grows stiffer while it seems to hold. If `calm`, all that do not stick firmly are held by such
    springs: these can only brake, where a constant force of friction from a step before, or with a wrong direction,
    drives. That converges slowly, but always. `begin`: the forces are those of the step before.
    """
    depth = error = 0.0
    for k in range(len(c.gap)):
        rho = law.scale[k]
        n0, n1, n2 = c.normal[k, 0], c.normal[k, 1], c.normal[k, 2]
        r0, r1, r2 = law.force[k, 0], law.force[k, 1], law.force[k, 2]
        normal = r0 * n0 + r1 * n1 + r2 * n2
        depth = max(depth, -c.gap[k])
        w = STIFFNESS * rho
        if normal - rho * c.gap[k] <= 0.0:
            law.status[k] = OPEN
            law.anchor[k, 0] = law.anchor[k, 1] = law.anchor[k, 2] = 0.0
            error = max(error, np.sqrt(r0 * r0 + r1 * r1 + r2 * r2))
            continue
        limit = law.threshold[k]
        along = c.slip[k, 0] * n0 + c.slip[k, 1] * n1 + c.slip[k, 2] * n2
        s0, s1, s2 = c.slip[k, 0] - along * n0, c.slip[k, 1] - along * n1, c.slip[k, 2] - along * n2
        t0, t1, t2 = r0 - normal * n0, r1 - normal * n1, r2 - normal * n2
        error = max(error, -normal, _off(t0, t1, t2, s0, s1, s2, rho, c.friction[k] * max(normal, 0.0)))
        if limit == 0.0:
            law.anchor[k, 0] = law.anchor[k, 1] = law.anchor[k, 2] = 0.0
            law.status[k] = SLIDE
            law.direction[k, 0] = law.direction[k, 1] = law.direction[k, 2] = 0.0
            law.grip[k] = 0.0
            continue
        slip = np.sqrt(s0 * s0 + s1 * s1 + s2 * s2)
        pull = np.sqrt(t0 * t0 + t1 * t1 + t2 * t2)
        if begin:
            # a spring that bore less than friction can, or hardly moved, was on its way to stick
            firm = law.grip[k] >= 0.99 * w or pull < 0.9 * limit or (pull < limit and law.grip[k] > 0.1 * w)
            stuck = law.status[k] == STICK and firm
            if stuck:
                law.grip[k] = w
            law.anchor[k, 0], law.anchor[k, 1], law.anchor[k, 2] = (t0, t1, t2) if stuck else (0.0, 0.0, 0.0)
        if law.status[k] == STICK and law.grip[k] >= 0.99 * w:
            law.grip[k] = w
            if pull <= limit:
                continue
            law.anchor[k, 0] = law.anchor[k, 1] = law.anchor[k, 2] = 0.0
            # it does not hold: it slides against the force that held it, and across that is held the less the further
            # the force was off
            law.status[k] = SLIDE
            law.direction[k, 0], law.direction[k, 1], law.direction[k, 2] = t0 / pull, t1 / pull, t2 / pull
            law.grip[k] = min(w, rho * limit / (pull - limit))
            continue
        if slip * w <= limit:
            law.status[k], law.grip[k] = STICK, w
            continue
        u0, u1, u2 = -s0 / slip, -s1 / slip, -s2 / slip
        if calm and not (begin and limit < 0.5 * rho * slip):  # no fear that friction stops what slides so fast
            law.status[k], law.grip[k] = STICK, limit / slip
            continue
        if law.status[k] == SLIDE:
            same = law.direction[k, 0] * u0 + law.direction[k, 1] * u1 + law.direction[k, 2] * u2
            if same > 0.0:
                law.direction[k, 0], law.direction[k, 1], law.direction[k, 2] = u0, u1, u2
                law.grip[k] = min(w, limit / slip)
                continue
            law.status[k], law.grip[k] = STICK, min(w, limit / slip)
        elif law.grip[k] * slip < 0.5 * limit:
            law.grip[k] = min(w, GROWTH * law.grip[k])
        else:
            law.status[k] = SLIDE
            law.direction[k, 0], law.direction[k, 1], law.direction[k, 2] = u0, u1, u2
            law.grip[k] = min(w, limit / slip)
    return depth, error


@kernel
def _off(
    t0: float, t1: float, t2: float, s0: float, s1: float, s2: float, rho: float, limit: float
) -> float:  # fmt: skip
    """|t - P(t - rho s)|: distance of a tangential force from the law, N (Alart and Curnier)."""
    q0, q1, q2 = t0 - rho * s0, t1 - rho * s1, t2 - rho * s2
    size = np.sqrt(q0 * q0 + q1 * q1 + q2 * q2)
    if size > limit:
        q0, q1, q2 = q0 * limit / size, q1 * limit / size, q2 * limit / size
    return float(np.sqrt((t0 - q0) ** 2 + (t1 - q1) ** 2 + (t2 - q2) ** 2))


@kernel
def spring(c: ContactSet, law: Law, k: int, matrix: FloatArray, load: FloatArray) -> None:
    """matrix (3, 3), load (3,): the force of contact k on its positive side is load - matrix d, d = B (y' - y)."""
    n = c.normal[k]
    w, grip = STIFFNESS * law.scale[k], law.grip[k]
    along = c.slip[k, 0] * n[0] + c.slip[k, 1] * n[1] + c.slip[k, 2] * n[2]
    if law.status[k] == STICK:
        for a in range(3):
            for b in range(3):
                unit = 1.0 if a == b else 0.0
                matrix[a, b] = w * n[a] * n[b] + grip * (unit - n[a] * n[b])
            load[a] = -w * c.gap[k] * n[a] - grip * (c.slip[k, a] - along * n[a]) + law.anchor[k, a]
        return
    t = law.direction[k]
    # across: the tangent that is perpendicular to the direction of friction
    q = (n[1] * t[2] - n[2] * t[1], n[2] * t[0] - n[0] * t[2], n[0] * t[1] - n[1] * t[0])
    across = c.slip[k, 0] * q[0] + c.slip[k, 1] * q[1] + c.slip[k, 2] * q[2]
    for a in range(3):
        for b in range(3):
            matrix[a, b] = w * n[a] * n[b] + grip * q[a] * q[b]
        load[a] = -w * c.gap[k] * n[a] - grip * across * q[a] + law.threshold[k] * t[a]


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
