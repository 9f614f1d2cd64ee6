"""The convex problem of one linearisation with contact: Newton's method with a line search along contacts only.

The cloth is linearised, its potential a quadratic with matrix K, and the contacts add convex potentials of their
relative displacements u = B d (coulomb.py). Each round adds the contacts' stiffness at d to K, solves for the d' at
which the linearised forces balance, and walks towards it as far as the potential falls. Its slope on the way needs no
matrix: at d' the cloth's forces K d' + g equal the linearised contact forces r', at d they are r, known from the round
before, and in between they are linear; so

    slope(a) = sum over contacts of  B(d' - d) . ((1 - a) r + a r' - F(u + a B(d' - d))),

with F the law. The first round takes the full step, because its g does not come from contacts.

A pair of substitutions takes a small part of the time of a factorisation. So if only a few contacts change, the factor
is kept and the difference in their stiffness corrected by conjugate gradients; and at the end the thresholds of the
friction follow the pressure in the same way, which spares the linearisations that would otherwise have to bring them
together.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from isocloth.base.compiled import inlined, kernel
from isocloth.base.typing import FloatArray, IntArray
from isocloth.cloth.step import StepArrays
from isocloth.cloth.system import assemble
from isocloth.cloth.tangent import ClothArrays, Workspace, right_hand_side
from isocloth.contact.contact_set import ContactSet
from isocloth.contact.history import ContactState
from isocloth.contact.options import ContactNumbers
from isocloth.friction.coulomb import add_springs, distance, has_room, locate, return_map, update_threshold
from isocloth.sparse.block_index import BlockIndex
from isocloth.sparse.cholesky import back_substitute, dot, factorise, solve
from isocloth.sparse.fronts import Fronts


class ContactLinearisation(NamedTuple):
    """Contacts during the descent, and what it needs besides."""

    u: FloatArray  # (c, 3) m, relative displacements
    balance: FloatArray  # (c, 3) N, forces with which the linearised cloth is balanced there
    target: FloatArray  # (c, 3) m, where the linearised contacts would have it ...
    towards: FloatArray  # (c, 3) N, ... and its balance there
    force: FloatArray  # (c, 3) N, of the law at u ...
    matrix: FloatArray  # (c, 3, 3) N/m, ... and minus its derivative
    factored: FloatArray  # (c, 3, 3) N/m, the same as it is in the factor
    before: FloatArray  # (scalars,) displacement at u
    residual: FloatArray  # (scalars,)
    along: FloatArray  # (scalars,) direction of the correction ...
    stiff: FloatArray  # (scalars,) ... and what the factored matrix makes of it
    part: FloatArray  # (scalars,)
    moved: FloatArray  # (c, 3) m
    place: IntArray  # (c, 6, 2) where the blocks of the matrix are which a contact couples
    anew: IntArray  # (c,) contacts whose stiffness is not that of the factor, how many says `_linearise_contacts`


@kernel
def semismooth_newton(
    cloth: ClothArrays, step: StepArrays, f: Fronts, places: BlockIndex, work: Workspace, c: ContactSet,
    law: ContactState, lam: FloatArray, o: ContactNumbers, curvature: int, tolerance: float, most: int, lawful: float,
) -> int:  # fmt: skip
    """Displacement in work.solution, forces and status in law; returns the factorisations spent.

    Ends when no force is further from its law than `tolerance` times the largest, or after `most` rounds. The
    thresholds of friction then follow the pressure until the largest distance from Coulomb's law is `lawful`, relative
    to the largest force, if that can be had without factorising again. If a coupling of contacts has no place in the
    factor, nothing is found, and -1 less the factorisations spent returned.
    """
    count, x = len(c.gap), work.solution
    m = _allocate(count, len(x))
    locate(places, c, step.held, m.place)
    rounds = spent = 0
    while rounds < most:
        m.before[:] = x
        anew = _linearise_contacts(c, law, m, o.same_stiffness, rounds == 0)
        if rounds == 0 or anew > o.correctable:
            if not has_room(m.place, m.matrix):
                return -1 - spent
            assemble(
                cloth.assembly, f, cloth.rows, work.jacobian, lam, step.inertia, step.bending, work.hessian,
                cloth.bends, work.bent, step.held, curvature,
            )  # fmt: skip
            right_hand_side(cloth, step, work)
            add_springs(cloth.assembly, f, c, m.place, m.u, m.force, m.matrix, step.held, x)
            factorise(f, x)
            back_substitute(f, x)
            spent += 1
            m.factored[:] = m.matrix
            m.towards[:] = 0.0
            _aim(c, m, x)
        else:
            _correct(c, f, step, m, anew, o.corrections, o.corrected, x)
        rounds += 1
        near = distance(c, law, m.target, m.towards, False) <= tolerance
        _go(m, x, 1.0 if rounds == 1 or near else _line_search(c, law, m, o.full))
        if near:
            break
    _update_thresholds(c, law, f, step, m, o, x, lawful)
    law.force[:] = m.balance
    _name(c, law, m)
    return spent


@kernel
def _name(c: ContactSet, law: ContactState, m: ContactLinearisation) -> None:
    """Which contacts are open, stick and slide at u."""
    for k in range(len(c.gap)):
        law.status[k] = return_map(c, law, k, m.u[k, 0], m.u[k, 1], m.u[k, 2], False, m.force, m.matrix)


@kernel
def _allocate(count: int, scalars: int) -> ContactLinearisation:
    return ContactLinearisation(
        np.zeros((count, 3)), np.zeros((count, 3)), np.zeros((count, 3)), np.zeros((count, 3)), np.zeros((count, 3)),
        np.zeros((count, 3, 3)), np.zeros((count, 3, 3)), np.zeros(scalars), np.zeros(scalars), np.zeros(scalars),
        np.zeros(scalars), np.zeros(scalars), np.zeros((count, 3)), np.zeros((count, 6, 2), dtype=np.int64),
        np.zeros(count, dtype=np.int64),
    )  # fmt: skip


@kernel
def _linearise_contacts(c: ContactSet, law: ContactState, m: ContactLinearisation, same: float, by_force: bool) -> int:
    """Force and stiffness of all contacts at u; returns how many are stiff where they were not, or the reverse."""
    anew = 0
    for k in range(len(c.gap)):
        return_map(c, law, k, m.u[k, 0], m.u[k, 1], m.u[k, 2], by_force, m.force, m.matrix)
        difference = 0.0
        for d in range(3):
            for e in range(3):
                difference = max(difference, abs(m.matrix[k, d, e] - m.factored[k, d, e]))
        if difference > same * law.stiffness[k]:
            m.anew[anew] = k
            anew += 1
    return anew


@kernel
def _aim(c: ContactSet, m: ContactLinearisation, x: FloatArray) -> None:
    """Where the solution x takes the contacts, and the balance there.

    `towards` holds the force of what the factor lacks, and receives the balance.
    """
    for k in range(len(c.gap)):
        relative(c, k, x, m.target)
        for d in range(3):
            v = m.force[k, d] - m.towards[k, d]
            for e in range(3):
                v -= m.factored[k, d, e] * (m.target[k, e] - m.u[k, e])
            m.towards[k, d] = v


@kernel
def _go(m: ContactLinearisation, x: FloatArray, share: float) -> None:
    """Move a share of the way to the target."""
    for k in range(len(m.u)):
        for d in range(3):
            m.u[k, d] += share * (m.target[k, d] - m.u[k, d])
            m.balance[k, d] += share * (m.towards[k, d] - m.balance[k, d])
    if share < 1.0:
        for i in range(len(x)):
            x[i] = m.before[i] + share * (x[i] - m.before[i])


@kernel
def _correct(
    c: ContactSet,
    f: Fronts,
    step: StepArrays,
    m: ContactLinearisation,
    anew: int,
    most: int,
    enough: float,
    x: FloatArray,
) -> None:
    """Solve with the contacts' new stiffness, by conjugate gradients on the matrix that is factored.

    What the factored matrix A makes of a direction follows from the residuals, A z = r, so that only contacts whose
    stiffness differs are multiplied. A last step with A alone leaves the cloth balanced exactly: the error is all in
    the forces `towards`, which the next round sees.
    """
    r, p, q, z, count = m.residual, m.along, m.stiff, m.part, len(c.gap)
    r[:] = 0.0
    for k in range(count):
        for a in range(4):
            w, i = c.weights[k, a], c.nodes[k, a]
            if w != 0.0 and not step.held[i]:
                for d in range(3):
                    r[3 * i + d] += w * (m.force[k, d] - m.balance[k, d])
    m.towards[:] = 0.0  # for now the force of the difference in stiffness
    p[:] = 0.0
    q[:] = 0.0
    first = before = 0.0
    for turn in range(most + 1):
        z[:] = r
        solve(f, z)
        size = dot(r, z)
        first = size if turn == 0 else first
        if turn == most or anew == 0 or not size > enough**2 * first:
            break
        ratio = size / before if turn > 0 else 0.0
        before = size
        for i in range(len(p)):
            p[i] = z[i] + ratio * p[i]
            q[i] = r[i] + ratio * q[i]
        curvature = dot(p, q)
        for b in range(anew):
            relative(c, m.anew[b], p, m.moved)
            curvature += _differ(m, m.anew[b])
        if not curvature > 0.0:
            break
        step_length = size / curvature
        for i in range(len(p)):
            x[i] += step_length * p[i]
            r[i] -= step_length * q[i]
        for b in range(anew):
            k = m.anew[b]
            for d in range(3):
                v = 0.0
                for e in range(3):
                    v += (m.matrix[k, d, e] - m.factored[k, d, e]) * m.moved[k, e]
                m.towards[k, d] += step_length * v
                for a in range(4):
                    w, i = c.weights[k, a], c.nodes[k, a]
                    if w != 0.0 and not step.held[i]:
                        r[3 * i + d] -= step_length * w * v
    for i in range(len(z)):
        x[i] += z[i]
    _aim(c, m, x)


@inlined
def _differ(m: ContactLinearisation, k: int) -> float:
    """moved . (matrix - factored) moved of contact k."""
    total = 0.0
    for d in range(3):
        for e in range(3):
            total += m.moved[k, d] * (m.matrix[k, d, e] - m.factored[k, d, e]) * m.moved[k, e]
    return total


@kernel
def _update_thresholds(
    c: ContactSet, law: ContactState, f: Fronts, step: StepArrays, m: ContactLinearisation, o: ContactNumbers,
    x: FloatArray, lawful: float,
) -> None:  # fmt: skip
    """Let the thresholds of friction follow the pressure, with the factor as it is, while that brings them nearer.

    What is right for the contacts as they were may close others that were open. Then a part of the way is taken, on
    which the cloth stays balanced, and the next time those are in.
    """
    threshold, trial = law.threshold.copy(), law.trial.copy()
    best = distance(c, law, m.u, m.balance, True)
    for _ in range(o.threshold_updates):
        if best <= lawful:
            break
        threshold[:] = law.threshold
        trial[:] = law.trial
        m.before[:] = x
        for k in range(len(c.gap)):
            update_threshold(c, law, k, m.balance)
        anew = _linearise_contacts(c, law, m, o.same_stiffness, False)
        _correct(c, f, step, m, anew, o.threshold_corrections, o.threshold_corrected, x)
        share, error = 1.0, distance(c, law, m.target, m.towards, True)
        while not error < best and share > o.shortest:
            share *= 0.5
            error = _distance_on_the_way(c, law, m, share)
        if not error < best:
            x[:] = m.before
            law.threshold[:] = threshold
            law.trial[:] = trial
            break
        best = error
        _go(m, x, share)


@kernel
def _distance_on_the_way(c: ContactSet, law: ContactState, m: ContactLinearisation, share: float) -> float:
    """Distance from Coulomb's law a share of the way to the target."""
    for k in range(len(c.gap)):
        for d in range(3):
            m.moved[k, d] = m.u[k, d] + share * (m.target[k, d] - m.u[k, d])
            m.force[k, d] = m.balance[k, d] + share * (m.towards[k, d] - m.balance[k, d])
    off: float = distance(c, law, m.moved, m.force, True)
    return off


@kernel
def _line_search(c: ContactSet, law: ContactState, m: ContactLinearisation, full: float) -> float:
    """How far to go towards the target: in full, or to where the slope of the potential is small."""
    begin, end = _slope(c, law, m, 0.0), _slope(c, law, m, 1.0)
    if end <= -full * begin or begin >= 0.0:
        return 1.0
    low, high, at_low, at_high = 0.0, 1.0, begin, end
    share = 1.0
    for turn in range(30):
        # the secant, and every third time the middle: the slope may jump
        share = 0.5 * (low + high) if turn % 3 == 2 else low - at_low * (high - low) / (at_high - at_low)
        slope = _slope(c, law, m, share)
        if abs(slope) <= -full * begin:
            break
        if slope < 0.0:
            low, at_low = share, slope
        else:
            high, at_high = share, slope
    return share


@kernel
def _slope(c: ContactSet, law: ContactState, m: ContactLinearisation, share: float) -> float:
    total = 0.0
    u, target, balance, towards, force = m.u, m.target, m.balance, m.towards, m.force
    for k in range(len(c.gap)):
        p0, p1, p2 = target[k, 0] - u[k, 0], target[k, 1] - u[k, 1], target[k, 2] - u[k, 2]
        return_map(c, law, k, u[k, 0] + share * p0, u[k, 1] + share * p1, u[k, 2] + share * p2, False, force, m.matrix)
        total += p0 * (balance[k, 0] + share * (towards[k, 0] - balance[k, 0]) - force[k, 0])
        total += p1 * (balance[k, 1] + share * (towards[k, 1] - balance[k, 1]) - force[k, 1])
        total += p2 * (balance[k, 2] + share * (towards[k, 2] - balance[k, 2]) - force[k, 2])
    return total


@inlined
def relative(c: ContactSet, k: int, x: FloatArray, out: FloatArray) -> None:
    """Relative displacement B x of contact k."""
    d0 = d1 = d2 = 0.0
    for a in range(4):
        w, p = c.weights[k, a], 3 * c.nodes[k, a]
        d0 += w * x[p]
        d1 += w * x[p + 1]
        d2 += w * x[p + 2]
    out[k, 0], out[k, 1], out[k, 2] = d0, d1, d2
