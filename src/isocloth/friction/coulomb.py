"""Coulomb's law of a contact as a potential whose force and stiffness enter Newton's own system.

A contact pushes apart two points of the cloth, or a point and an obstacle. With B the weights of its nodes, nu its
normal, g its gap and s the relative displacement over the step (its tangential part is the slip), the law is

    g >= 0,  r_N >= 0,  g r_N = 0;    |r_T| <= mu r_N,  and  r_T = -mu r_N s_T/|s_T| where s_T is not zero.

Contacts are stiff springs, w along the normal and along the surface. Along the surface a spring starts from the force
it bore at the end of the step before (`anchor`), so that what rests under a load does not creep, and it bears at most
the threshold mu r_N, beyond which it yields, as metal does in plasticity:

    r_N = max(0, -w g),    r_T = P(anchor - w s_T),    P the projection on the disk of radius mu r_N.

With the threshold taken from the last iteration both are gradients of convex functions (of a spring that pushes only,
and of Huber's function), so that each iteration is a convex problem: `descent.py` solves it, redundant contacts or not.
A contact with an obstacle touches one node and costs nothing; contacts between layers couple nodes, and the factor must
have room for these.

A node between two jaws that press it with a force p each (`press`) is a contact on both sides at once: its spring acts
both ways, and as what one jaw bears more the other bears less, its threshold is 2 mu p whatever pulls at it.
"""

from __future__ import annotations

import numpy as np

from isocloth.base.compiled import inlined, kernel
from isocloth.base.typing import BoolArray, FloatArray, IntArray
from isocloth.cloth.system import Assembly
from isocloth.contact.contact_set import ContactSet
from isocloth.contact.history import OPEN, SLIDE, STICK, ContactState
from isocloth.contact.options import ContactNumbers
from isocloth.sparse.block_index import BlockIndex, find_block
from isocloth.sparse.fronts import Fronts

Vector = tuple[float, float, float]


@kernel
def prepare(
    c: ContactSet, inertia: FloatArray, held: BoolArray, o: ContactNumbers, yielding: float, softening: float,
    begin: bool, law: ContactState,
) -> None:  # fmt: skip
    """Scale, spring, threshold and anchor of each contact from its last force; `begin`: that of the step before.

    The inertia that a contact moves is 1 / (B diag(h^2/m) B^T); if its nodes are held, that of its nodes. Its spring is
    stiff enough to give way by at most `yielding`, m, under the force it bore.
    """
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
        n0, n1, n2 = c.normal[k, 0], c.normal[k, 1], c.normal[k, 2]
        r0, r1, r2 = law.force[k, 0], law.force[k, 1], law.force[k, 2]
        normal = r0 * n0 + r1 * n1 + r2 * n2
        if c.press[k] == 0.0:
            normal = max(0.0, normal)
        limit = _bearable(c.friction[k], c.press[k], normal)
        if begin or c.press[k] > 0.0:
            law.trial[k, 0] = law.trial[k, 1] = np.nan
            law.threshold[k] = limit
        else:
            update_threshold(c, law, k, law.force)
        least = softening * max(o.stiffness * law.scale[k], abs(normal) / yielding)
        if c.press[k] > 0.0:
            least = max(least, limit / yielding)  # few nodes may carry a whole cloth: not their own inertia counts
        law.stiffness[k] = min(least if begin else max(law.stiffness[k], least), o.stiffest * law.scale[k])
        if begin:
            law.anchor[k, 0], law.anchor[k, 1], law.anchor[k, 2] = r0 - normal * n0, r1 - normal * n1, r2 - normal * n2


@inlined
def update_threshold(c: ContactSet, law: ContactState, k: int, r: FloatArray) -> None:
    """Bring the threshold of contact k towards what its force r (c, 3) allows.

    By the secant: where a contact wedges, more friction means less pressure, and taking mu r_N would go to and fro.
    """
    normal = r[k, 0] * c.normal[k, 0] + r[k, 1] * c.normal[k, 1] + r[k, 2] * c.normal[k, 2]
    limit = _bearable(c.friction[k], c.press[k], normal)
    change = law.threshold[k] - law.trial[k, 0]
    slope = (limit - law.trial[k, 1]) / change if abs(change) > 1e-9 * limit else 0.0
    slope = min(max(slope, -4.0), 0.0) if np.isfinite(slope) else 0.0
    law.trial[k, 0], law.trial[k, 1] = law.threshold[k], limit
    law.threshold[k] = max(0.0, law.threshold[k] + (limit - law.threshold[k]) / (1.0 - slope))


@kernel
def law_residual(c: ContactSet, law: ContactState, forgiven: float) -> tuple[float, float, float, float, float]:
    """Deepest penetration, m; largest distance of a force from where the law puts it, largest force, the distance less
    what slip forgives, and the distance less what springs give way, N.

    Between jaws a gap of either sign counts as a penetration: one of them gives way. In a cloth at rest the law must be
    met closely, or it creeps; if something slides, a force may be wrong by `forgiven` of what would stop it within the
    step.

    The distance is that of Alart and Curnier (1991), |r - P(r - rho (g, s_T))|, with rho the scale of the contact. What
    sticks while its load changes slips by (anchor - r_T) / w, which no iteration takes away; the last distance is that
    of the rest of the slip.
    """
    depth = error = excess = plastic = largest = furthest = 0.0
    for k in range(len(c.gap)):
        n0, n1, n2 = c.normal[k, 0], c.normal[k, 1], c.normal[k, 2]
        s0, s1, s2 = c.slip[k, 0], c.slip[k, 1], c.slip[k, 2]
        along = s0 * n0 + s1 * n1 + s2 * n2
        if law.status[k] != OPEN:
            furthest = max(furthest, s0 * s0 + s1 * s1 + s2 * s2 - along * along)
    furthest = np.sqrt(furthest)
    for k in range(len(c.gap)):
        rho = law.scale[k]
        n0, n1, n2 = c.normal[k, 0], c.normal[k, 1], c.normal[k, 2]
        r0, r1, r2 = law.force[k, 0], law.force[k, 1], law.force[k, 2]
        normal = r0 * n0 + r1 * n1 + r2 * n2
        size = np.sqrt(r0 * r0 + r1 * r1 + r2 * r2)
        depth, largest = max(depth, -c.gap[k]), max(largest, size)
        start, grip = (r0, r1, r2), rho
        if c.press[k] > 0.0:
            depth = max(depth, c.gap[k])
            start, grip = (law.anchor[k, 0], law.anchor[k, 1], law.anchor[k, 2]), law.stiffness[k]
        elif normal - rho * c.gap[k] <= 0.0:
            # not forgiven: what pulls back, as if glued, keeps a cloth from coming to rest
            error, excess, plastic = max(error, size), max(excess, size), max(plastic, size)
            continue
        slip, limit = (c.slip[k, 0], c.slip[k, 1], c.slip[k, 2]), _bearable(c.friction[k], c.press[k], normal)
        off = rest = _off((n0, n1, n2), (r0, r1, r2), start, grip, slip, limit)
        if c.press[k] == 0.0:
            anchor = (law.anchor[k, 0], law.anchor[k, 1], law.anchor[k, 2])
            yielded = _yielded(slip, (r0, r1, r2), anchor, law.stiffness[k])
            rest = _off((n0, n1, n2), (r0, r1, r2), start, grip, yielded, limit)
            off, rest = max(off, -normal), max(rest, -normal)
        error, excess = max(error, off), max(excess, off - forgiven * rho * furthest)
        plastic = max(plastic, rest)
    return depth, error, largest, excess, plastic


# The next three are inlined into loops over contacts and take numbers only: handing on named tuples of arrays costs
# more, in counted references, than the formulas do.


@inlined
def _bearable(friction: float, press: float, normal: float) -> float:
    """Largest force along the surface that a contact bears while its normal force is `normal`, N."""
    return 2.0 * friction * press if press > 0.0 else friction * max(normal, 0.0)


@inlined
def _off(n: Vector, r: Vector, start: Vector, rho: float, s: Vector, limit: float) -> float:
    """|r_T - P(start_T - rho s_T)| of a contact with normal n, force r and slip s; start is r, and rho its scale.

    Between jaws start is the anchor and rho the spring: the distance is that from their own law. Few nodes may hold a
    whole cloth, and against its weight rho s_T, with the inertia rho of a node, would leave a wrong slip unseen.
    """
    normal = r[0] * n[0] + r[1] * n[1] + r[2] * n[2]
    q0, q1, q2 = start[0] - rho * s[0], start[1] - rho * s[1], start[2] - rho * s[2]
    along = q0 * n[0] + q1 * n[1] + q2 * n[2]
    q0, q1, q2 = q0 - along * n[0], q1 - along * n[1], q2 - along * n[2]
    size = np.sqrt(q0 * q0 + q1 * q1 + q2 * q2)
    share = limit / size if size > limit else 1.0
    t0, t1, t2 = r[0] - normal * n[0], r[1] - normal * n[1], r[2] - normal * n[2]
    return float(np.sqrt((t0 - share * q0) ** 2 + (t1 - share * q1) ** 2 + (t2 - share * q2) ** 2))


@inlined
def _yielded(s: Vector, r: Vector, anchor: Vector, w: float) -> Vector:
    """The slip s without what a spring of stiffness w gives way, from its anchor to the force r."""
    return s[0] - (anchor[0] - r[0]) / w, s[1] - (anchor[1] - r[1]) / w, s[2] - (anchor[2] - r[2]) / w


@kernel
def distance(c: ContactSet, law: ContactState, u: FloatArray, r: FloatArray, own: bool) -> float:
    """How far forces r (c, 3) are from those of their springs after the further displacements u (c, 3): the largest,
    relative to the largest force.

    own: the threshold is that of the force itself, and not the one that enters the solve.
    """
    off = largest = 0.0
    for k in range(len(c.gap)):
        n0, n1, n2 = c.normal[k, 0], c.normal[k, 1], c.normal[k, 2]
        u0, u1, u2, r0, r1, r2 = u[k, 0], u[k, 1], u[k, 2], r[k, 0], r[k, 1], r[k, 2]
        normal = r0 * n0 + r1 * n1 + r2 * n2
        push = -law.stiffness[k] * (c.gap[k] + u0 * n0 + u1 * n1 + u2 * n2)
        start, grip = (r0, r1, r2), law.scale[k]
        if c.press[k] > 0.0:
            start, grip = (law.anchor[k, 0], law.anchor[k, 1], law.anchor[k, 2]), law.stiffness[k]
        else:
            push = max(push, 0.0)
        limit = 0.0
        if push > 0.0 or c.press[k] > 0.0:
            limit = _bearable(c.friction[k], c.press[k], normal) if own else law.threshold[k]
        slip = (c.slip[k, 0] + u0, c.slip[k, 1] + u1, c.slip[k, 2] + u2)
        if c.press[k] == 0.0:
            slip = _yielded(
                slip, (r0, r1, r2), (law.anchor[k, 0], law.anchor[k, 1], law.anchor[k, 2]), law.stiffness[k]
            )
        off = max(off, abs(normal - push), _off((n0, n1, n2), (r0, r1, r2), start, grip, slip, limit))
        largest = max(largest, abs(r0), abs(r1), abs(r2))
    if off == 0.0:
        return 0.0
    return off / largest if largest > 0.0 else np.inf


@inlined
def return_map(
    c: ContactSet, law: ContactState, k: int, u0: float, u1: float, u2: float, by_force: bool, force: FloatArray,
    matrix: FloatArray,
) -> int:  # fmt: skip
    """Force (c, 3) of contact k after the further relative displacement u, and minus its derivative (c, 3, 3).

    `by_force` decides whether the contact is closed by r_N - rho g of the last force, as Alart and Curnier do, and not
    by the gap, which is only micrometres away from zero where the contact presses.
    """
    n0, n1, n2 = c.normal[k, 0], c.normal[k, 1], c.normal[k, 2]
    w, limit = law.stiffness[k], law.threshold[k]
    push = -w * (c.gap[k] + u0 * n0 + u1 * n1 + u2 * n2)
    closed = push > 0.0
    if by_force:
        closed = law.force[k, 0] * n0 + law.force[k, 1] * n1 + law.force[k, 2] * n2 > law.scale[k] * c.gap[k]
    if not closed and c.press[k] == 0.0:
        force[k, 0] = force[k, 1] = force[k, 2] = 0.0
        _across(k, n0, n1, n2, 0.0, 0.0, 0.0, 0.0, 0.0, matrix)
        return OPEN
    s0, s1, s2 = c.slip[k, 0] + u0, c.slip[k, 1] + u1, c.slip[k, 2] + u2
    t0, t1, t2 = law.anchor[k, 0] - w * s0, law.anchor[k, 1] - w * s1, law.anchor[k, 2] - w * s2
    along = t0 * n0 + t1 * n1 + t2 * n2
    t0, t1, t2 = t0 - along * n0, t1 - along * n1, t2 - along * n2
    pull = np.sqrt(t0 * t0 + t1 * t1 + t2 * t2)
    if pull <= limit:
        force[k, 0], force[k, 1], force[k, 2] = push * n0 + t0, push * n1 + t1, push * n2 + t2
        _across(k, n0, n1, n2, 0.0, 0.0, 0.0, w, w, matrix)
        return STICK
    share = limit / pull
    force[k, 0], force[k, 1], force[k, 2] = push * n0 + share * t0, push * n1 + share * t1, push * n2 + share * t2
    _across(k, n0, n1, n2, t0 / pull, t1 / pull, t2 / pull, w, share * w, matrix)
    return SLIDE


@inlined
def _across(
    k: int, n0: float, n1: float, n2: float, t0: float, t1: float, t2: float, w: float, grip: float, matrix: FloatArray
) -> None:
    """w along the normal n, grip along the surface across t."""
    matrix[k, 0, 0] = w * n0 * n0 + grip * (1.0 - n0 * n0 - t0 * t0)
    matrix[k, 1, 1] = w * n1 * n1 + grip * (1.0 - n1 * n1 - t1 * t1)
    matrix[k, 2, 2] = w * n2 * n2 + grip * (1.0 - n2 * n2 - t2 * t2)
    matrix[k, 0, 1] = matrix[k, 1, 0] = w * n0 * n1 - grip * (n0 * n1 + t0 * t1)
    matrix[k, 0, 2] = matrix[k, 2, 0] = w * n0 * n2 - grip * (n0 * n2 + t0 * t2)
    matrix[k, 1, 2] = matrix[k, 2, 1] = w * n1 * n2 - grip * (n1 * n2 + t1 * t2)


@kernel
def locate(p: BlockIndex, c: ContactSet, held: BoolArray, place: IntArray) -> None:
    """Where the blocks that contacts couple start in the panel, and the stride of their rows: place (c, 6, 2).

    -1: a pair of nodes of which one is held, or not used; -2: the pattern has no such block.
    """
    for k in range(len(c.gap)):
        q = 0
        for a in range(4):
            for b in range(a):
                i, j = c.nodes[k, a], c.nodes[k, b]
                place[k, q, 0] = -1
                if c.weights[k, a] != 0.0 and c.weights[k, b] != 0.0 and not held[i] and not held[j]:
                    if p.rank[i] > p.rank[j]:
                        i, j = j, i
                    at = find_block(p, i, j)
                    place[k, q, 0], place[k, q, 1] = at if at >= 0 else -2, p.stride[i]
                q += 1


@kernel
def has_room(place: IntArray, matrix: FloatArray) -> bool:
    """Whether the factor has a place for every coupling; a contact that is open needs none."""
    for k in range(len(place)):
        if matrix[k, 0, 0] != 0.0 or matrix[k, 1, 1] != 0.0 or matrix[k, 2, 2] != 0.0:
            for q in range(6):
                if place[k, q, 0] == -2:
                    return False
    return True


@kernel
def add_springs(
    s: Assembly, f: Fronts, c: ContactSet, place: IntArray, u: FloatArray, force: FloatArray, matrix: FloatArray,
    held: BoolArray, x: FloatArray,
) -> None:  # fmt: skip
    """Add B^T matrix B to the matrix and B^T (force + matrix u) to the right-hand side; place is that of `locate`."""
    panel = f.panel
    for k in range(len(c.gap)):
        m00, m01, m02 = matrix[k, 0, 0], matrix[k, 0, 1], matrix[k, 0, 2]
        m11, m12, m22 = matrix[k, 1, 1], matrix[k, 1, 2], matrix[k, 2, 2]
        if m00 == 0.0 and m11 == 0.0 and m22 == 0.0:
            continue
        p0 = force[k, 0] + m00 * u[k, 0] + m01 * u[k, 1] + m02 * u[k, 2]
        p1 = force[k, 1] + m01 * u[k, 0] + m11 * u[k, 1] + m12 * u[k, 2]
        p2 = force[k, 2] + m02 * u[k, 0] + m12 * u[k, 1] + m22 * u[k, 2]
        q = 0
        for a in range(4):
            w, i = c.weights[k, a], c.nodes[k, a]
            if w != 0.0 and not held[i]:
                x[3 * i] += w * p0
                x[3 * i + 1] += w * p1
                x[3 * i + 2] += w * p2
                _add_block(panel, s.nodes[i, 0], s.nodes[i, 1], w * w, (m00, m01, m02, m11, m12, m22))
            for b in range(a):
                at = place[k, q, 0]
                if at >= 0:
                    _add_block(panel, at, place[k, q, 1], w * c.weights[k, b], (m00, m01, m02, m11, m12, m22))
                q += 1


@inlined
def _add_block(
    panel: FloatArray, at: int, stride: int, w: float, m: tuple[float, float, float, float, float, float]
) -> None:
    """Add w times a symmetric matrix of 3 x 3, given by its upper triangle."""
    panel[at] += w * m[0]
    panel[at + 1] += w * m[1]
    panel[at + 2] += w * m[2]
    at += stride
    panel[at] += w * m[1]
    panel[at + 1] += w * m[3]
    panel[at + 2] += w * m[4]
    at += stride
    panel[at] += w * m[2]
    panel[at + 1] += w * m[4]
    panel[at + 2] += w * m[5]


@kernel
def subtract_forces(c: ContactSet, law: ContactState, residual: FloatArray) -> None:
    """residual -= B^T r, (n, 3)."""
    for k in range(len(c.gap)):
        for a in range(4):
            w, i = c.weights[k, a], c.nodes[k, a]
            if w != 0.0:
                for d in range(3):
                    residual[i, d] -= w * law.force[k, d]
