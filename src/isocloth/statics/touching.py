"""Contacts of a cloth at rest: stiff springs that push only, and along the surface stick where they are.

A contact with B the weights of its nodes, normal nu, gap g and slip s since it was anchored bears

    r_N = max(0, -W g),    r_T = anchor - W s_T    while  |r_T| <= mu r_N,

as in a step of the simulation (`friction/coulomb.py`), with the springs W that it would have at its default time step
(where nodes that touch take the first-order scheme): a cloth handed over neither sinks in further nor is pushed out.
What leaves the cone slides until it is in balance again, with a friction of mu r_N along what pulled at it. With
friction an equilibrium is not unique; this one is near where the cloth was.

The second derivative has W nu nu^T, of what sticks W along the surface too, and -r_N times the curvature of a solid:
what lies on a ball is less stable than on a table. How normals between layers turn is left out.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from isocloth.base.typing import BoolArray, FloatArray, IntArray
from isocloth.contact.contact_set import ContactSet
from isocloth.contact.detector import ContactDetector
from isocloth.contact.history import SLIDE, STICK, ContactHistory, unknown_state
from isocloth.contact.world import CollisionWorld
from isocloth.obstacles import Solid
from isocloth.statics.hessian import Hessian

#: s, the time step whose springs contacts have
TIMESTEP = 0.01

#: how often friction of which nothing was known is anchored anew, and the part of the thickness to which contacts then
#: stay where they were
ANCHORED, STAYS = 6, 1e-4

#: part by which a spring may differ from that of a step: what it does is what a cloth handed over moves by at contacts
SAME = 1e-3

#: part of the thickness over which the normals of a solid are compared
CLOSE = 1e-2

#: part of the largest force by which a contact may be out of the cone of friction: that of steps, where they end
CONE = 1e-3


class Known(NamedTuple):
    """What is known of contacts, by key."""

    key: IntArray  # (c,)
    push: FloatArray  # (c,) N
    pull: FloatArray  # (c, 3) N, along the surface
    anchor: FloatArray  # (c, 3) N, what the contact bore where it was anchored
    slides: BoolArray  # (c,)
    stiffness: FloatArray  # (c,) W, N/m


class Touching:
    """The contacts of a cloth about positions `before` (n, 3), where it bore the forces of a history."""

    def __init__(
        self, world: CollisionWorld, held: BoolArray, before: FloatArray, history: ContactHistory, mass: FloatArray
    ) -> None:
        """mass: (n,) kg, of the nodes."""
        self.world = world
        options = world.options
        self._yielding = options.yielding * options.penetration * world.fabric.thickness
        self._rigidity = options.stiffness * np.where(held, np.inf, mass) / TIMESTEP**2
        self._detector = ContactDetector(world, before, held, 0.0, 1.0)
        self._free, self._before, self._positions, self._mass = ~held, before, before, mass
        self._history, self._anchored = history, 0
        self.contacts: ContactSet = self._detector.find(before)
        self.known = self._first(self.contacts)

    def _first(self, c: ContactSet) -> Known:
        force, known = np.zeros((len(c.key), 3)), self._history
        _, new, old = np.intersect1d(c.key, known.key, return_indices=True)
        force[new] = known.law.force[old]
        push = np.maximum(np.einsum("cd,cd->c", force, c.normal), 0.0)
        pull = _along(c.normal, force)
        pull[c.friction == 0.0] = 0.0
        return Known(c.key, push, pull, pull.copy(), np.zeros(len(c.key), dtype=bool), self._springs(c, push))

    def _springs(self, c: ContactSet, push: FloatArray) -> FloatArray:
        """(c,) N/m: stiff against the inertia that a contact moves, and so that it gives way by little."""
        mobility = np.where(c.weights == 0.0, 0.0, c.weights**2 / self._rigidity[c.nodes]).sum(axis=1)
        return np.asarray(np.maximum(1.0 / np.maximum(mobility, 1e-300), push / self._yielding))

    def stiffen(self) -> bool:
        """Give springs the stiffness that a step gives them under what they bear; says whether any had another."""
        wanted = self._springs(self.contacts, self.known.push)
        changes = self.active & (np.abs(wanted - self.known.stiffness) > SAME * wanted)
        self.known.stiffness[changes] = wanted[changes]
        return bool(changes.any())

    def anchor_again(self) -> bool:
        """Where nothing was known of friction: let contacts that stick bear what they do where they were at the begin.

        Says whether there were any that slipped to bear it.
        """
        if len(self._history.key) or self._anchored == ANCHORED:
            return False
        self._anchored += 1
        sticks = self._sticks(self.active)
        slip = np.linalg.norm(_along(self.contacts.normal, self.contacts.slip), axis=1)
        self.known.anchor[sticks] = self.known.pull[sticks]
        return bool(slip[sticks].max(initial=0.0) > STAYS * self.world.fabric.thickness)

    @property
    def active(self) -> BoolArray:
        """(c,) which contacts press."""
        return np.asarray(self.known.push - self.known.stiffness * self.contacts.gap > 0.0)

    def move(self, y: FloatArray) -> None:
        """Find the contacts at y (n, 3); those that were there keep their forces, along their new normals."""
        self._detector.begin_again()  # of averaged normals the residual would never vanish
        c, old, self._positions = self._detector.find(y), self.known, y
        first = self._first(c)
        _, new, was = np.intersect1d(c.key, old.key, return_indices=True)
        first.push[:], first.pull[:] = 0.0, 0.0
        first.push[new], first.slides[new], first.anchor[new] = old.push[was], old.slides[was], old.anchor[was]
        first.pull[new], first.stiffness[new] = _along(c.normal[new], old.pull[was]), old.stiffness[was]
        self.contacts, self.known = c, first

    def contacts_at(self, y: FloatArray, *, friction: float = 1.0) -> ContactSet:
        """Contacts at other positions (n, 3), with so many times the friction of obstacles; changes nothing here."""
        detector = self._detector
        if friction != 1.0:
            detector = ContactDetector(self.world.rubbing(friction), self._before, ~self._free, 0.0, 1.0)
        detector.begin_again()
        found = detector.find(y)
        detector.begin_again()
        return found

    @property
    def sticking(self) -> BoolArray:
        """(c,) which contacts press, and stick."""
        return self._sticks(self.active)

    def stiffness_by_mass(self) -> FloatArray:
        """(c, 4) N/(m kg): derivative of the springs in the masses of their nodes; zero of those that the force made
        stiffer than that."""
        c, w = self.contacts, self.known.stiffness
        own = np.where(c.weights == 0.0, 0.0, c.weights**2 / self._rigidity[c.nodes])
        by_inertia = np.isclose(w * own.sum(axis=1), 1.0, rtol=1e-6, atol=0.0)
        # rigidity is proportional to mass
        return np.where(by_inertia[:, None], w[:, None] ** 2 * own / np.maximum(self._mass[c.nodes], 1e-300), 0.0)

    def forces(self) -> FloatArray:
        """(c, 3) N, on the side of positive weights."""
        return np.asarray(self.known.push[:, None] * self.contacts.normal + self.known.pull)

    def on_nodes(self, n: int) -> FloatArray:
        """(n, 3) N: what all contacts together do to the nodes."""
        return self._spread(self.forces(), n)

    def springs_on_nodes(self, n: int) -> FloatArray:
        """(n, 3) N: the same if each contact bore what its spring says where it is now."""
        c, active, w = self.contacts, self.active, self.known.stiffness
        push = np.where(active, -w * c.gap, 0.0)
        pull = _along(c.normal, self.known.anchor - w[:, None] * c.slip)
        pull = np.where(self._sticks(active)[:, None], pull, np.where(active[:, None], self.known.pull, 0.0))
        return self._spread(push[:, None] * c.normal + pull, n)

    def _spread(self, force: FloatArray, n: int) -> FloatArray:
        out = np.zeros((n, 3))
        np.add.at(out, self.contacts.nodes, self.contacts.weights[:, :, None] * force[:, None, :])
        return out

    def _sticks(self, active: BoolArray, slides: BoolArray | None = None) -> BoolArray:
        return np.asarray(active & (self.contacts.friction > 0.0) & ~(self.known.slides if slides is None else slides))

    @property
    def sliding(self) -> BoolArray:
        """(c,) which contacts press, slid, and bear all the friction they can."""
        return np.asarray(self.active & self.known.slides & (self.contacts.friction > 0.0))

    def along_slides(self, step: FloatArray) -> FloatArray:
        """(c,) m/N: how far a displacement (n, 3) takes contacts the way they slid, against their friction."""
        moved = np.einsum("ck,ckd->cd", self.contacts.weights, step[self.contacts.nodes])
        return np.asarray(-np.einsum("cd,cd->c", self.known.pull, moved))

    def add_to(self, hessian: Hessian, slides: BoolArray | None = None) -> None:
        """Add the second derivative of the springs that press; slides: (c,) which do not stick, those that slid."""
        c, active, w = self.contacts, self.active, self.known.stiffness[:, None, None]
        normal = np.einsum("cd,ce->cde", c.normal, c.normal)
        matrix = w * normal - self.known.push[:, None, None] * self._curvature()
        sticks = self._sticks(active, slides)
        matrix[sticks] += w[sticks] * (np.eye(3) - normal[sticks])
        a, b = np.triu_indices(4)
        i, j = c.nodes[active][:, a], c.nodes[active][:, b]
        share = c.weights[active][:, a] * c.weights[active][:, b]
        used = (share != 0.0) & self._free[i] & self._free[j]
        blocks = share[:, :, None, None] * matrix[active][:, None]
        hessian.add(i[used], j[used], blocks[used])

    def _curvature(self) -> FloatArray:
        """(c, 3, 3) 1/m: derivative of the normals of solids, by differences; zero of other contacts."""
        c, out = self.contacts, np.zeros((len(self.contacts.gap), 3, 3))
        step = CLOSE * self.world.fabric.thickness
        # sharp edges and corners have keys of their own; of nodes and centres on solids, weights add up to one
        whole = np.isclose(c.weights.sum(axis=1), 1.0)
        at = np.einsum("ck,ckd->cd", c.weights, self._positions[c.nodes])
        for k, obstacle in enumerate(self.world.actors):
            on = np.flatnonzero((c.body == k + 1) & whole)
            if not isinstance(obstacle, Solid) or len(on) == 0:
                continue
            for d in range(3):
                shift = np.zeros(3)
                shift[d] = step
                _, plus = obstacle.gaps(at[on] + shift, 0.0)
                _, minus = obstacle.gaps(at[on] - shift, 0.0)
                out[on, :, d] = (plus - minus) / (2.0 * step)
        bent = np.abs(out).max(axis=(1, 2), initial=0.0)
        out[bent > 0.5 / step] = 0.0  # across an edge
        return 0.5 * (out + out.transpose(0, 2, 1))

    def linearised(self, step: FloatArray) -> None:
        """The forces after a displacement (n, 3), as the springs say to first order."""
        c, old, active, w = self.contacts, self.known, self.active, self.known.stiffness
        moved = np.einsum("ck,ckd->cd", c.weights, step[c.nodes])
        push = np.where(active, -w * (c.gap + np.einsum("cd,cd->c", moved, c.normal)), 0.0)
        push = np.maximum(push, 0.0)
        pull = _along(c.normal, old.anchor - w[:, None] * (c.slip + moved))
        pull = np.where(old.slides[:, None], _shortened(old.pull, c.friction * push), pull)
        pull[(c.friction == 0.0) | ~active] = 0.0
        self.known = old._replace(push=push, pull=pull)

    def yield_to_friction(self) -> float:
        """Let contacts that are out of the cone slide; returns by how much the worst one is, of the largest force."""
        c, old = self.contacts, self.known
        limit, size = c.friction * old.push, np.linalg.norm(old.pull, axis=1)
        largest = float(old.push.max(initial=0.0))
        off = np.where(old.slides, 0.0, size - limit)
        worst = float(off.max(initial=0.0)) / max(largest, 1e-300)
        lost = off > CONE * largest
        pull = np.where(lost[:, None], _shortened(old.pull, limit), old.pull)
        self.known = old._replace(pull=pull, slides=old.slides | lost)
        return worst

    def crossings(self, y: FloatArray) -> int:
        """Pairs, and points of solids, that were passed through on the straight way from where it began to y (n, 3)."""
        return self._detector.crossings(y)

    def mismatch(self) -> float:
        """m: by how much a contact that presses is off where its spring bears its force, in any direction."""
        c, known, active = self.contacts, self.known, self.active
        off = np.abs(c.gap + known.push / known.stiffness)[active]
        sticks = self._sticks(active)
        give = (known.anchor - known.pull) / known.stiffness[:, None] - c.slip
        askew = np.linalg.norm(_along(c.normal, give), axis=1)[sticks]
        return float(max(off.max(initial=0.0), askew.max(initial=0.0)))

    def history(self) -> ContactHistory:
        """The contacts that press, as steps know them: they go on with just these forces."""
        chosen = np.flatnonzero(self.known.push > 0.0)
        law = unknown_state(len(chosen))
        law.force[:] = self.forces()[chosen]
        law.threshold[:] = self.contacts.friction[chosen] * self.known.push[chosen]
        law.anchor[:] = self.known.pull[chosen]
        law.status[:] = np.where(self.known.slides[chosen], SLIDE, STICK)
        law.stiffness[:] = self.known.stiffness[chosen]
        return ContactHistory(self.contacts.key[chosen].copy(), law)


def _along(normal: FloatArray, vector: FloatArray) -> FloatArray:
    """The parts (c, 3) of vectors (c, 3) along the surface."""
    return np.asarray(vector - np.einsum("cd,cd->c", normal, vector)[:, None] * normal)


def _shortened(vector: FloatArray, length: FloatArray) -> FloatArray:
    """Vectors (c, 3) of given lengths (c,); zero where one has no direction."""
    size = np.linalg.norm(vector, axis=1)
    share = np.divide(length, size, out=np.zeros_like(size), where=size > 0.0)
    return np.asarray(vector * share[:, None])
