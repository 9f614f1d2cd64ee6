"""How the forces of contacts change with the positions of the nodes, with their masses, and with friction.

A contact with weights B, normal nu, gap g, slip s and spring W bears f = r_N nu + r_T,

    r_N = -W g,    r_T = P (anchor - W s) where it sticks,    r_T = mu r_N t where it slides,

with P = 1 - nu nu^T and t the way it was pulled. Contacts neither open nor close, and neither begin nor cease to slide.
What sticks is anchored where it is, with the force it bears; what slides keeps its direction, up to the turning of the
surface. So

    d f_a = dB_a f + B_a (-W dg (nu + mu t) + r_N dnu - nu (dnu . r_T) - W P ds),

with mu t where it slides, and the last part where it sticks. How normals, gaps, weights and slips change, of solids,
edges and layers alike, is found by central differences of what finds them, many contacts at once. The springs of
contacts are proportional to the masses of their nodes, unless a force made them stiffer.

These derivatives are not symmetric: friction has no energy.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import scipy.sparse as sp

from isocloth.adjoint.variation import colours
from isocloth.base.typing import BoolArray, FloatArray, IntArray
from isocloth.contact.contact_set import ContactSet
from isocloth.statics.touching import Touching

#: part of the thickness by which nodes are moved for differences: normals at sharp edges turn about half of it
CLOSE = 3e-4

#: relative change of the friction of obstacles that is compared
RUB = 1e-5
#: of the largest push: a contact that presses, or resists to slide, by no more than this is about to change
ABOUT = 1e-3
#: part of the thickness that a gap without force may have to be about to close
CLOSING = 1e-3


class ContactSlopes:
    """Derivatives of the forces of the contacts that press, at positions x (n, 3)."""

    def __init__(self, touching: Touching, x: FloatArray, slides: BoolArray | None = None) -> None:
        """slides: (c,) which contacts slide on; None: those that slid."""
        self.touching, self.x, self.n = touching, x, len(x)
        which = np.flatnonzero(touching.active)
        self.which = which
        known, c = touching.known, touching.contacts
        chosen = touching.sliding if slides is None else slides & touching.active & (c.friction > 0.0)
        self.slides = chosen[which]
        self.sticks = (touching.active & (c.friction > 0.0) & ~chosen)[which]
        self.push, self.pull, self.stiffness = known.push[which], known.pull[which], known.stiffness[which]
        size = np.linalg.norm(self.pull, axis=1)
        self.way = np.where(self.slides[:, None], self.pull / np.maximum(size, 1e-300)[:, None], 0.0)
        self.nodes, self.weights, self.normal = c.nodes[which], c.weights[which], c.normal[which]
        self.friction, self.body, self.gap = c.friction[which], c.body[which], c.gap[which]
        #: (c, 3) by how much the force grows with the push
        self.lean = self.normal + self.friction[:, None] * self.way
        #: how many contacts become others where their nodes move by next to nothing
        self.unsteady = 0
        self.matrix = self._matrix(x)

    def _matrix(self, x: FloatArray) -> sp.csr_matrix:
        """dF/dx (3n, 3n) N/m."""
        count, force = len(self.which), self.push[:, None] * self.normal + self.pull
        used = self.weights != 0.0
        contact, node = self._beyond()
        contact = np.concatenate([np.repeat(np.arange(count), 4)[used.ravel()], contact])
        node = np.concatenate([self.nodes[used], node])
        support = sp.csr_matrix((np.ones(len(node)), (contact, node)), shape=(count, self.n))
        ptr, item, node = colours(support)
        step = CLOSE * self.touching.world.fabric.thickness
        rows: list[IntArray] = []
        columns: list[IntArray] = []
        values: list[FloatArray] = []
        for begin, end in pairwise(ptr):
            items, nodes = item[begin:end], node[begin:end]
            for d in range(3):
                change = self._differences(x, np.unique(nodes), d, step, items)
                weights, normal, gap, slip, friction = change
                f = force[items]
                turned = self.push[items, None] * normal
                turned -= np.einsum("cd,cd->c", normal, self.pull[items])[:, None] * self.normal[items]
                along = slip - np.einsum("cd,cd->c", slip, self.normal[items])[:, None] * self.normal[items]
                grip = np.where(self.sticks[items], self.stiffness[items], 0.0)
                bears = turned - (self.stiffness[items] * gap)[:, None] * self.lean[items] - grip[:, None] * along
                bears += (self.push[items] * friction)[:, None] * self.way[items]
                each = weights[:, :, None] * f[:, None] + self.weights[items][:, :, None] * bears[:, None]
                places = 3 * self.nodes[items][:, :, None] + np.arange(3)
                rows.append(places.ravel())
                columns.append(np.repeat(3 * nodes + d, 12))
                values.append(each.ravel())
        if not rows:
            return sp.csr_matrix((3 * self.n, 3 * self.n))
        whole = np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))
        return sp.csr_matrix(whole, shape=(3 * self.n, 3 * self.n))

    def _beyond(self) -> tuple[IntArray, IntArray]:
        """Pairs (q,), (q,) of contacts and nodes they know without acting on them: bends over sharp edges see how the
        cloth goes on, and have a friction for it."""
        world = self.touching.world
        if not world.has_edges or not self.slides.any():
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        lines = world.lines
        place = {tuple(nodes): k for k, nodes in enumerate(lines.nodes.tolist())}
        found = [(c, place[key]) for c, key in enumerate(map(tuple, self.nodes.tolist())) if key in place]
        pairs = [(c, int(node)) for c, k in found for node in lines.beyond[k] if node not in lines.nodes[k]]
        both = np.array(pairs, dtype=np.int64).reshape(-1, 2)
        return both[:, 0], both[:, 1]

    def _differences(
        self, x: FloatArray, moved: IntArray, d: int, step: float, items: IntArray
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]:
        """Derivatives of weights (q, 4), normals (q, 3), gaps (q,), slips (q, 3) and friction (q,) of some contacts in
        one coordinate of some nodes."""
        sides: list[ContactSet] = []
        steady = np.ones(len(items), dtype=bool)
        for sign in (1.0, -1.0):
            y = x.copy()
            y[moved, d] += sign * step
            found = self.touching.contacts_at(y)
            key = self.touching.contacts.key[self.which[items]]
            order = np.argsort(found.key, kind="stable")
            if len(order) == 0:
                steady[:] = False
                break
            place = order[np.minimum(np.searchsorted(found.key, key, sorter=order), len(order) - 1)]
            steady &= (found.key[place] == key) & (found.nodes[place] == self.nodes[items]).all(axis=1)
            sides.append(ContactSet(*[column[place] for column in found]))  # type: ignore[arg-type]
        self.unsteady += int((~steady).sum())
        if len(sides) < 2:
            q = len(items)
            return np.zeros((q, 4)), np.zeros((q, 3)), np.zeros(q), np.zeros((q, 3)), np.zeros(q)
        plus, minus = sides
        out = []
        for name in ("weights", "normal", "gap", "slip", "friction"):
            change = (getattr(plus, name) - getattr(minus, name)) / (2.0 * step)
            change[~steady] = 0.0
            out.append(change)
        return out[0], out[1], out[2], out[3], out[4]

    def _felt(self, v: FloatArray) -> FloatArray:
        """(c, 3) m: displacement of the contacts under v (n, 3)."""
        return np.asarray(np.einsum("ck,ckd->cd", self.weights, v[self.nodes]))

    def by_mass(self, v: FloatArray) -> FloatArray:
        """v . dF/dm (n,) in the masses of nodes."""
        slope = -self.gap[:, None] * self.touching.stiffness_by_mass()[self.which]
        slope *= np.einsum("cd,cd->c", self.lean, self._felt(v))[:, None]
        return np.bincount(self.nodes.ravel(), slope.ravel(), self.n).astype(np.float64)

    def by_friction(self, v: FloatArray, bodies: int) -> FloatArray:
        """v . dF/dmu (1 + bodies,) in the friction of the cloth on itself, and on every obstacle."""
        slope = self.push * self._friction_by_obstacle() * np.einsum("cd,cd->c", self.way, self._felt(v))
        return np.bincount(self.body, slope, 1 + bodies).astype(np.float64)

    def _friction_by_obstacle(self) -> FloatArray:
        """(c,) derivative of the friction of contacts in that of their obstacles; not 1 of bends over sharp edges."""
        out, world = np.ones(len(self.which)), self.touching.world
        if not world.has_edges or not self.slides.any():
            return out
        key, sides = self.touching.contacts.key[self.which], []
        for sign in (1.0, -1.0):
            found = self.touching.contacts_at(self.x, friction=1.0 + sign * RUB)
            order = np.argsort(found.key, kind="stable")
            sides.append(found.friction[order[np.searchsorted(found.key, key, sorter=order)]])
        own = np.array([0.0, *[o.friction for o in world.obstacles]])[self.body]
        return np.where(self.body > 0, (sides[0] - sides[1]) / (2.0 * RUB * np.maximum(own, 1e-300)), out)

    def remarks(self) -> list[str]:
        """What changes its state next, and what is not known exactly."""
        found, known, c = [], self.touching.known, self.touching.contacts
        largest = float(self.push.max(initial=0.0))
        thickness = self.touching.world.fabric.thickness
        opening = int((self.push < ABOUT * largest).sum())
        closing = int(((known.push <= 0.0) & (np.abs(c.gap) < CLOSING * thickness)).sum())
        limit = self.friction * self.push - np.linalg.norm(self.pull, axis=1)
        slipping = int((self.sticks & (limit < ABOUT * largest)).sum())
        for count, what in (
            (opening, "about to open"), (closing, "about to close"), (slipping, "about to slide"),
            (int(self.slides.sum()), "sliding: one-sided, for changes that let them slide on"),
            (self.unsteady, "between two features of what they touch"),
        ):  # fmt: skip
            if count:
                found.append(f"{count} contacts are {what}")
        return found
