"""The convex problem of one linearisation with contact: Newton's method with a line search along contacts only.

The cloth is linearised, its potential a quadratic with matrix K, and the contacts add convex potentials of their
relative displacements u = B d (coulomb.py). Each round adds the contacts' stiffness at d to K, solves for the d' at
which the linearised forces balance, and walks towards it as far as the potential falls. Its slope on the way needs no
matrix: at d' the cloth's forces K d' + g equal the linearised contact forces r', at d they are r, known from the round
before, and in between they are linear; so

    slope(a) = sum over contacts of  B(d' - d) . ((1 - a) r + a r' - F(u + a B(d' - d))),

with F the law. The first round takes the full step, because its g does not come from contacts.
"""

from __future__ import annotations

import numpy as np

from isocloth.compiled import kernel
from isocloth.problem import StepProblem
from isocloth.solver.cholesky import back_substitute, factorise, reduce
from isocloth.solver.coulomb import ContactSet, Law, add_spring, distance, follow, respond
from isocloth.solver.fronts import Fronts, Lookup
from isocloth.solver.newton import Cloth, Workspace, _right_hand_side
from isocloth.solver.system import assemble
from isocloth.typing import FloatArray

#: how often the thresholds of friction may follow the pressure between two factorisations
CORRECTIONS = 8

#: a step is taken in full if the slope at its end is at most this part of the slope at its begin
FULL = 0.1


@kernel
def descend(
    cloth: Cloth, step: StepProblem, inertia: FloatArray, f: Fronts, look: Lookup, work: Workspace, c: ContactSet,
    law: Law, lam: FloatArray, tolerance: float, most: int, lawful: float,
) -> int:  # fmt: skip
    """Displacement in work.solution, forces and status in law; returns the factorisations spent.

    Ends when no force is further from its law than `tolerance` times the largest, or after `most` rounds; -1 if a
    coupling of contacts has no place in the factor.
    """
    count, x = len(c.gap), work.solution
    force, matrix, load = np.empty(3), np.empty((3, 3)), np.empty(3)
    u, target, balance, towards = np.zeros((count, 3)), np.zeros((count, 3)), np.zeros((count, 3)), np.zeros((count, 3))
    matrices = np.zeros((count, 3, 3))
    before = np.zeros(len(x))
    rounds = 0
    while rounds < most:
        before[:] = x
        assemble(cloth.assembly, f, cloth.rows, work.jacobian, lam, inertia, 1.0, step.bending_factor, step.held, False)
        _right_hand_side(cloth, step, work)
        for k in range(count):
            _model(c, law, k, u, rounds == 0, load, matrix)
            matrices[k] = matrix
            if not add_spring(cloth.assembly, look, f, c, k, load, matrix, step.held, x):
                return -1
        factorise(f, x)
        back_substitute(f, x)
        rounds += 1
        off = largest = 0.0
        for k in range(count):
            _relative(c, k, x, target)
            _model(c, law, k, u, rounds == 1, load, matrix)
            for d in range(3):
                towards[k, d] = (
                    load[d] - matrix[d, 0] * target[k, 0] - matrix[d, 1] * target[k, 1] - matrix[d, 2] * target[k, 2]
                )
            respond(c, law, k, target[k, 0], target[k, 1], target[k, 2], False, force, matrix)
            off = max(off, distance(c, law, k, target[k], towards[k], False))
            for d in range(3):
                largest = max(largest, abs(towards[k, d]), abs(force[d]))
        if rounds == 1 or off <= tolerance * largest:
            share = 1.0
        else:
            share = _walk(c, law, u, target, balance, towards, force, matrix)
        for k in range(count):
            for d in range(3):
                u[k, d] += share * (target[k, d] - u[k, d])
                balance[k, d] += share * (towards[k, d] - balance[k, d])
        if share < 1.0:
            for i in range(len(x)):
                x[i] = before[i] + share * (x[i] - before[i])
        law.force[:] = balance
        if off <= tolerance * largest:
            break
    _settle(c, law, f, step, x, u, balance, matrices, lawful)
    for k in range(count):
        law.status[k] = respond(c, law, k, u[k, 0], u[k, 1], u[k, 2], False, force, matrix)
    return rounds


@kernel
def _settle(
    c: ContactSet, law: Law, f: Fronts, step: StepProblem, x: FloatArray, u: FloatArray, balance: FloatArray,
    matrices: FloatArray, lawful: float,
) -> None:  # fmt: skip
    """Let the thresholds of friction follow the pressure, with the factor as it is; as long as that brings them nearer.
    """
    count = len(c.gap)
    force, matrix = np.empty(3), np.empty((3, 3))
    change, rhs = np.empty((count, 3)), np.empty(len(x))
    moved = np.empty((count, 3))
    old_threshold, old_trial = law.threshold.copy(), law.trial.copy()
    best = _unlawful(c, law, u, balance)
    for turn in range(CORRECTIONS):
        if best <= lawful:
            break
        old_threshold[:] = law.threshold
        old_trial[:] = law.trial
        rhs[:] = 0.0
        for k in range(count):
            follow(c, law, k, balance[k])
            respond(c, law, k, u[k, 0], u[k, 1], u[k, 2], False, force, matrix)
            for d in range(3):
                change[k, d] = force[d] - balance[k, d]
            for a in range(4):
                w, i = c.weights[k, a], c.nodes[k, a]
                if w != 0.0 and not step.held[i]:
                    for d in range(3):
                        rhs[3 * i + d] += w * change[k, d]
        reduce(f, rhs)
        back_substitute(f, rhs)
        for k in range(count):
            _relative(c, k, rhs, moved)
            for d in range(3):
                change[k, d] -= (
                    matrices[k, d, 0] * moved[k, 0] + matrices[k, d, 1] * moved[k, 1] + matrices[k, d, 2] * moved[k, 2]
                )
                u[k, d] += moved[k, d]
                balance[k, d] += change[k, d]
        error = _unlawful(c, law, u, balance)
        if not error < best:
            u -= moved
            balance -= change
            law.threshold[:] = old_threshold
            law.trial[:] = old_trial
            break
        best = error
        x += rhs
    law.force[:] = balance


@kernel
def _unlawful(c: ContactSet, law: Law, u: FloatArray, balance: FloatArray) -> float:
    """Largest distance of a force from Coulomb's law, its threshold that of its own pressure, relative to the largest."""
    off = largest = 0.0
    for k in range(len(c.gap)):
        off = max(off, distance(c, law, k, u[k], balance[k], True))
        for d in range(3):
            largest = max(largest, abs(balance[k, d]))
    return off / largest if largest > 0.0 else 0.0


@kernel
def _model(
    c: ContactSet, law: Law, k: int, u: FloatArray, by_force: bool, load: FloatArray, matrix: FloatArray
) -> None:
    """Linearised force load - matrix u' of contact k in this round."""
    u0, u1, u2 = u[k, 0], u[k, 1], u[k, 2]
    respond(c, law, k, u0, u1, u2, by_force, load, matrix)
    for d in range(3):
        load[d] += matrix[d, 0] * u0 + matrix[d, 1] * u1 + matrix[d, 2] * u2


@kernel
def _walk(
    c: ContactSet, law: Law, u: FloatArray, target: FloatArray, balance: FloatArray, towards: FloatArray,
    force: FloatArray, matrix: FloatArray,
) -> float:  # fmt: skip
    """How far to go towards the target: in full, or to where the slope of the potential is small."""
    begin = _slope(c, law, u, target, balance, towards, 0.0, force, matrix)
    end = _slope(c, law, u, target, balance, towards, 1.0, force, matrix)
    if end <= -FULL * begin or begin >= 0.0:
        return 1.0
    low, high, at_low, at_high = 0.0, 1.0, begin, end
    share = 1.0
    for turn in range(30):
        # the secant, and every third time the middle: the slope may jump
        share = 0.5 * (low + high) if turn % 3 == 2 else low - at_low * (high - low) / (at_high - at_low)
        slope = _slope(c, law, u, target, balance, towards, share, force, matrix)
        if abs(slope) <= -FULL * begin:
            break
        if slope < 0.0:
            low, at_low = share, slope
        else:
            high, at_high = share, slope
    return share


@kernel
def _slope(
    c: ContactSet, law: Law, u: FloatArray, target: FloatArray, balance: FloatArray, towards: FloatArray, share: float,
    force: FloatArray, matrix: FloatArray,
) -> float:  # fmt: skip
    total = 0.0
    for k in range(len(c.gap)):
        p0, p1, p2 = target[k, 0] - u[k, 0], target[k, 1] - u[k, 1], target[k, 2] - u[k, 2]
        respond(c, law, k, u[k, 0] + share * p0, u[k, 1] + share * p1, u[k, 2] + share * p2, False, force, matrix)
        total += p0 * (balance[k, 0] + share * (towards[k, 0] - balance[k, 0]) - force[0])
        total += p1 * (balance[k, 1] + share * (towards[k, 1] - balance[k, 1]) - force[1])
        total += p2 * (balance[k, 2] + share * (towards[k, 2] - balance[k, 2]) - force[2])
    return total


@kernel
def _relative(c: ContactSet, k: int, x: FloatArray, out: FloatArray) -> None:
    """Relative displacement B x of contact k."""
    d0 = d1 = d2 = 0.0
    for a in range(4):
        w, p = c.weights[k, a], 3 * c.nodes[k, a]
        d0 += w * x[p]
        d1 += w * x[p + 1]
        d2 += w * x[p + 2]
    out[k, 0], out[k, 1], out[k, 2] = d0, d1, d2
