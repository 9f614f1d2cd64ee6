"""The contact set: contacts linearised at one iterate, of pairs and of points with solids, and the forces of bodies."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from isocloth.base.compiled import kernel
from isocloth.base.typing import BoolArray, FloatArray, IntArray
from isocloth.contact.narrow import Contacts


class ContactSet(NamedTuple):
    """Contacts linearised at one iterate."""

    nodes: IntArray  # (c, 4) nodes of the cloth
    weights: FloatArray  # (c, 4) of their displacements; 0 where a place is not used
    normal: FloatArray  # (c, 3)
    gap: FloatArray  # (c,) m
    slip: FloatArray  # (c, 3) m, relative displacement since the start of the step
    friction: FloatArray  # (c,)
    key: IntArray  # (c,) who touches whom
    body: IntArray  # (c,) 0: cloth on cloth; k: obstacle k; beyond these, grippers
    press: FloatArray  # (c,) N, with which each of two jaws presses; 0: no jaws, a contact that pushes only


@kernel
def empty_contacts(count: int) -> ContactSet:
    """Arrays for so many contacts."""
    return ContactSet(
        np.zeros((count, 4), dtype=np.int64), np.zeros((count, 4)), np.zeros((count, 3)), np.zeros(count),
        np.zeros((count, 3)), np.zeros(count), np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64),
        np.zeros(count),
    )  # fmt: skip


def chosen_contacts(c: ContactSet, which: BoolArray | IntArray) -> ContactSet:
    """Some of the contacts, or all in another order: a mask (c,), or indices."""
    columns = [column[which] for column in c]
    return ContactSet(*columns)  # type: ignore[arg-type]


@kernel
def of_pairs(
    found: Contacts, x0: FloatArray, whole: FloatArray, cloth: int, held: BoolArray, friction: FloatArray,
    number: IntArray,
) -> ContactSet:  # fmt: skip
    """Contacts of the cloth, the first `cloth` vertices, with itself and with features; those of held nodes left out.

    friction, number: coefficient and number of the obstacle by the body of the surface.
    """
    count = len(found.gap)
    chosen = np.zeros(count, dtype=np.bool_)
    kept = 0
    for c in range(count):
        for q in range(4):
            i = found.nodes[c, q]
            if i < cloth and not held[i]:
                chosen[c] = True
        kept += chosen[c]
    out = empty_contacts(kept)
    new = 0
    for c in range(count):
        if not chosen[c]:
            continue
        for q in range(4):
            i, w = found.nodes[c, q], found.weights[c, q]
            for d in range(3):
                out.slip[new, d] += w * (whole[i, d] - x0[i, d])
            if i < cloth:
                out.nodes[new, q], out.weights[new, q] = i, w
        for d in range(3):
            out.normal[new, d] = found.normal[c, d]
        out.gap[new], out.key[new] = found.gap[c], found.key[c]
        out.friction[new], out.body[new] = friction[found.body[c]], number[found.body[c]]
        new += 1
    return out


@kernel
def middles(corners: IntArray, share: FloatArray, y: FloatArray) -> FloatArray:
    """Centres (f, 3) of faces with corners (f, 4)."""
    out = np.zeros((len(corners), 3))
    for f in range(len(corners)):
        for q in range(4):
            for d in range(3):
                out[f, d] += share[f, q] * y[corners[f, q], d]
    return out


@kernel
def of_points(
    gap: FloatArray, normal: FloatArray, corners: IntArray, share: FloatArray, before: FloatArray, y: FloatArray,
    held: BoolArray, kept_off: float, margin: float, friction: float, key: int, body: int,
) -> ContactSet:  # fmt: skip
    """Contacts of points of the cloth with a solid, from their signed distances (p,) and normals (p, 3).

    Point p is the mean of nodes corners[p] (4,) with weights share[p]; those nearer than kept_off + margin, m, count,
    and their keys follow `key`.
    """
    count = len(gap)
    chosen = np.zeros(count, dtype=np.bool_)
    kept = 0
    for p in range(count):
        if gap[p] < kept_off + margin:
            for q in range(4):
                if share[p, q] != 0.0 and not held[corners[p, q]]:
                    chosen[p] = True
            kept += chosen[p]
    out = empty_contacts(kept)
    new = 0
    for p in range(count):
        if not chosen[p]:
            continue
        for q in range(4):
            i, w = corners[p, q], share[p, q]
            out.nodes[new, q], out.weights[new, q] = i, w
            for d in range(3):
                out.slip[new, d] += w * (y[i, d] - before[i, d])
        for d in range(3):
            out.normal[new, d] = normal[p, d]
        out.gap[new], out.key[new] = gap[p] - kept_off, key + p
        out.friction[new], out.body[new] = friction, body
        new += 1
    return out


@kernel
def wrenches_on_bodies(c: ContactSet, force: FloatArray, y: FloatArray, bodies: int) -> FloatArray:
    """With what force and torque (1 + bodies, 6), N and N m, the cloth acts on each body; the first row, itself, is 0.

    force: (c, 3) N on the side of a contact with positive weights. It acts where the cloth is, at y (n, 3), so that
    what a body receives is just what the cloth loses; torques are about the origin.
    """
    out = np.zeros((1 + bodies, 6))
    for k in range(len(c.gap)):
        b = c.body[k]
        if b == 0:
            continue
        px = py = pz = share = 0.0
        for a in range(4):
            w, i = c.weights[k, a], c.nodes[k, a]
            share += w
            px += w * y[i, 0]
            py += w * y[i, 1]
            pz += w * y[i, 2]
        fx, fy, fz = force[k, 0], force[k, 1], force[k, 2]
        out[b, 0] -= share * fx
        out[b, 1] -= share * fy
        out[b, 2] -= share * fz
        out[b, 3] -= py * fz - pz * fy
        out[b, 4] -= pz * fx - px * fz
        out[b, 5] -= px * fy - py * fx
    return out
