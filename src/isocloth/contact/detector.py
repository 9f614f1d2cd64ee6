"""The contacts of one step, found at each of its iterates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from isocloth.base.typing import BoolArray, FloatArray
from isocloth.contact.broad import candidates
from isocloth.contact.contact_set import ContactSet, middles, of_pairs, of_points
from isocloth.contact.jaws import Jaws
from isocloth.contact.narrow import contacts, contacts_and_near, crossings, smallest_distance
from isocloth.contact.surface import Pairs
from isocloth.contact.world import CollisionWorld
from isocloth.obstacles import Floor, Plane, Solid


class ContactDetector:
    """One step among the surroundings, between jaws or not: from positions `before` (n, 3) at `begin` to `end`, s."""

    def __init__(self, world: CollisionWorld, before: FloatArray, held: BoolArray, begin: float, end: float) -> None:
        self.world, self.before, self.held = world, before, held
        self.jaws: Sequence[Jaws] = ()
        self.pairwise = world.has_pairs
        self.begin, self.end = begin, end
        self.x0 = world.vertices(before, begin)
        self._features_at_end = world.vertices(before, end)[len(before) :]
        self.margin = max(world.fabric.thickness, 0.1 * world.spacing)
        self._pairs: Pairs | None = None
        self._swept: FloatArray | None = None
        self._near: Pairs | None = None  # those of the pairs that matter ...
        self._near_at: FloatArray | None = None  # ... near these positions
        self._found: ContactSet | None = None  # at the iterate before
        self._iterates = 0
        self._looked_at: FloatArray | None = None  # where contacts were found last ...
        self._approached = False  # ... and whether a pair came very close on the way there

    def find(self, y: FloatArray) -> ContactSet:
        """Contacts at the iterate y (n, 3); the gaps are those at y, whatever is asked how often."""
        margin = self.world.options.found * self.world.fabric.thickness
        parts = [part for k, o in self.world.solids for part in self._with_solid(k, o, y, margin)]
        if self.world.has_pairs:
            parts.append(self._calmed(self._pairwise(y, margin)))
        parts += [jaws.contacts(y) for jaws in self.jaws]
        return _join([p for p in parts if len(p.gap)])

    def _calmed(self, found: ContactSet) -> ContactSet:
        """Pairs whose normals and nearest points are averages with those of the iterates before, after many of them."""
        self._iterates += 1
        before = self._found
        self._found = found
        if before is None or self._iterates <= self.world.options.calmed:
            return found
        share = 1.0 / (self._iterates - self.world.options.calmed + 1)
        _, now, old = np.intersect1d(found.key, before.key, return_indices=True)
        for new, last in zip(found[1:5], before[1:5], strict=True):
            if new.ndim == 2:  # weights, normals and slips, but not gaps
                new[now] = last[old] + share * (new[now] - last[old])
        found.normal[now] /= np.linalg.norm(found.normal[now], axis=1)[:, None]
        return found

    def begin_again(self) -> None:
        """Forget the iterates before: those to come have nothing to do with them."""
        self._iterates, self._found = 0, None

    def precompile(self) -> None:
        """Load, or compile, what the first contact will need: a robot must not wait for it then."""
        world, x0 = self.world, self.x0
        nothing = np.zeros((0, 2), dtype=np.int64)
        if world.has_pairs:
            pairs = Pairs(nothing, nothing)
            found, near = contacts_and_near(world.surface, pairs, x0, x0, world.rest, world.options.proximity, 0.0, 0.0)
            contacts(world.surface, near, x0, x0, world.rest, world.options.proximity, 0.0)
            of_pairs(found, x0, x0, len(self.before), self.held, world.friction, world.bodies)
            crossings(world.surface, pairs, x0, x0)
        if world.solids:
            y, (corners, share) = self.before, world.nodes
            gap, normal = np.full(len(y), np.inf), np.zeros((len(y), 3))
            of_points(gap, normal, corners, share, y, y, self.held, 0.0, 0.0, 0.0, 0, 0)

    def clear(self, y: FloatArray) -> bool:
        """Whether nothing touches at y, and nothing was passed through on the straight way there."""
        return len(self.find(y).gap) == 0 and not self.crossings(y)

    def crossings(self, y: FloatArray) -> int:
        """Pairs that pass through each other on the straight way to y."""
        if not self.world.has_pairs:
            return 0
        if not self._approached and self._looked_at is not None and np.array_equal(y, self._looked_at):
            return 0  # what does not come close does not pass
        pairs = self._candidates(y)
        if len(pairs.node_face) + len(pairs.edge_edge) == 0:
            return 0
        return len(crossings(self.world.surface, pairs, self.x0, self._whole(y)))

    def stop_short(self, y: FloatArray) -> FloatArray:
        """The last positions (n, 3) on the way to y, of a few tried, that let no pair pass through each other."""
        share = 1.0
        while share > 1e-3:
            reached = self.before + share * (y - self.before)
            if not self.crossings(reached):
                return reached
            share /= 2
        return self.before.copy()

    def pace(self, y: FloatArray) -> float:
        """Speed of the obstacle that moves fastest, m/s; of a solid, where the cloth is, at y (n, 3)."""
        moved = [self._features_at_end - self.x0[len(y) :]]
        moved += [o.displacement(y, self.begin, self.end) for _, o in self.world.solids if not o.still]
        return float(np.linalg.norm(np.concatenate(moved), axis=1).max(initial=0.0)) / (self.end - self.begin)

    def smallest_gap(self, y: FloatArray) -> float:
        """Smallest distance less the separation that is to be kept, m."""
        least = np.inf
        for _, o in self.world.solids:
            least = min(least, float(o.gaps(y, self.end)[0].min()) - self.world.half)
        if self.world.has_pairs:
            whole = self._whole(y)
            least = min(least, smallest_distance(self.world.surface, self._candidates(y), whole, self.world.rest))
        return least

    def _whole(self, y: FloatArray) -> FloatArray:
        """Nodes at y, then vertices of features at the end of the step."""
        if len(self._features_at_end) == 0:
            return y
        return np.concatenate([y, self._features_at_end])

    def _candidates(self, y: FloatArray) -> Pairs:
        # found once for boxes with a margin, and again only if an iterate leaves them
        if self._pairs is None or self._swept is None or np.abs(y - self._swept).max() > 0.25 * self.margin:
            world = self.world
            self._swept = y.copy()
            self._near = None
            self._pairs = candidates(world.surface, self.x0, self._whole(y), self.margin, world.self_collision)
        return self._pairs

    def _pairwise(self, y: FloatArray, margin: float) -> ContactSet:
        world, pairs = self.world, self._candidates(y)
        if len(pairs.node_face) + len(pairs.edge_edge) == 0:
            self._looked_at, self._approached = y.copy(), False
            return NOTHING
        whole, wander = self._whole(y), world.options.looked_again * world.fabric.thickness
        if self._near is None or self._near_at is None or np.abs(y - self._near_at).max() > wander:
            found, self._near = contacts_and_near(
                world.surface, pairs, self.x0, whole, world.rest, world.options.proximity, margin, wander
            )
            self._near_at = y.copy()
        else:
            found = contacts(world.surface, self._near, self.x0, whole, world.rest, world.options.proximity, margin)
        self._looked_at, self._approached = y.copy(), bool(found.crossed.any())
        pairwise: ContactSet = of_pairs(found, self.x0, whole, len(y), self.held, world.friction, world.bodies)
        return pairwise

    def _with_solid(self, k: int, solid: Solid, y: FloatArray, margin: float) -> list[ContactSet]:
        """Contacts of nodes, and of the centres of faces where nodes outside do not keep faces outside."""
        world, key = self.world, self.world.first_key(k)
        chosen = [(y, world.nodes, key)]
        if not _is_flat(solid):
            chosen.append((middles(*world.centres, y), world.centres, key + len(y)))
        parts = []
        for points, (corners, share), first in chosen:
            gap, normal = solid.gaps(points, self.end)
            if gap.min() >= world.half + margin:
                continue
            part: ContactSet = of_points(
                gap, normal, corners, share, self.before, y, self.held, world.half, margin, solid.friction, first,
                k + 1,
            )  # fmt: skip
            if not solid.still and len(part.gap):
                at = np.einsum("ck,ckd->cd", part.weights, y[part.nodes])
                part.slip[:] -= solid.displacement(at, self.begin, self.end)
            parts.append(part)
        return parts


def _is_flat(solid: Solid) -> bool:
    """Whether nodes outside it keep faces outside."""
    return isinstance(solid, (Floor, Plane))


NOTHING = ContactSet(
    np.zeros((0, 4), dtype=np.int64), np.zeros((0, 4)), np.zeros((0, 3)), np.zeros(0), np.zeros((0, 3)), np.zeros(0),
    np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0),
)  # fmt: skip


def _join(parts: list[ContactSet]) -> ContactSet:
    if not parts:
        return NOTHING
    if len(parts) == 1:
        return parts[0]
    columns: list[Any] = [np.concatenate(arrays) for arrays in zip(*parts, strict=True)]
    return ContactSet(*columns)
