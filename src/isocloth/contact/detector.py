"""The contacts of one step, found at each of its iterates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from isocloth.base.typing import BoolArray, FloatArray, IntArray
from isocloth.contact.bends import bends, pieces_near
from isocloth.contact.broad import candidates
from isocloth.contact.contact_set import ContactSet, middles, of_pairs, of_points
from isocloth.contact.corners import CornersOfStep
from isocloth.contact.jaws import Jaws
from isocloth.contact.narrow import contacts, contacts_and_near, crossings, smallest_distance
from isocloth.contact.passing import Way
from isocloth.contact.surface import Pairs
from isocloth.contact.world import CollisionWorld
from isocloth.obstacles import Floor, Plane, Solid
from isocloth.obstacles.sharp import SharpEdges

#: share of the way to what a bend over an edge is at an iterate, from what it was at the one before
EASED = 0.5


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
        self._bent: ContactSet | None = None  # over edges, at the iterate before
        self._bends = 0
        self._found_at: FloatArray | None = None  # where contacts were looked for last ...
        self._entered = 0  # ... and how many points pass through a solid on the way there
        self._ways: dict[int, Way] = {}  # of points, by the key of the first of them
        self._sharp: tuple[SharpEdges, SharpEdges] | None = None  # edges at the begin and at the end
        self._bending = np.zeros((0, 2), dtype=np.int64)  # pieces of the cloth near sharp edges, and these ...
        self._bending_at: FloatArray | None = None  # ... near these positions
        self._corners: CornersOfStep | None = None
        if world.has_corners:
            here = world.sharp_corners(begin)
            there = here if all(o.still for o in world.actors) else world.sharp_corners(end)
            self._corners = CornersOfStep(world.corners, here, there, before, self.margin)
        self._looked_at: FloatArray | None = None  # where contacts were found last ...
        self._approached = False  # ... and whether a pair came very close on the way there

    def find(self, y: FloatArray) -> ContactSet:
        """Contacts at the iterate y (n, 3); the gaps are those at y, whatever is asked how often."""
        margin = self.world.options.found * self.world.fabric.thickness
        self._found_at, self._entered = y.copy(), 0
        parts = [part for k, o in self.world.solids for part in self._with_solid(k, o, y, margin)]
        pairs = [self._pairwise(y, margin)] if self.world.has_pairs else []
        pairs += self._at_corners(y, margin)
        if pairs:
            parts.append(self._calmed(_join(pairs)))
        if self.world.has_edges:
            parts.append(self._eased(self._over_edges(y, margin)))
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
        _average(found, now, before, old, share)
        return found

    def _eased(self, found: ContactSet) -> ContactSet:
        """Bends over edges whose normals and nearest points are averages with those of the iterates before, always.

        They turn with what they push: an iteration that takes them as they are overshoots by as much as it was off.
        """
        self._bends += 1
        before, self._bent = self._bent, found
        if before is None or len(found.key) == 0:
            return found
        share = min(EASED, 1.0 / max(self._bends - self.world.options.calmed + 1, 1))
        _, now, old = np.intersect1d(found.key, before.key, return_indices=True)
        same = (found.nodes[now] == before.nodes[old]).all(axis=1)
        _average(found, now[same], before, old[same], share)
        return found

    def begin_again(self) -> None:
        """Forget the iterates before: those to come have nothing to do with them."""
        self._iterates, self._found = 0, None
        self._bends, self._bent = 0, None

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
        if self._corners is not None:
            self._corners.precompile(self.held, world.rest, world.corner_friction)
        if world.solids:
            y, (corners, share) = self.before, world.nodes
            gap, normal = np.full(len(y), np.inf), np.zeros((len(y), 3))
            of_points(gap, normal, corners, share, y, y, self.held, 0.0, 0.0, 0.0, 0, 0)

    def clear(self, y: FloatArray) -> bool:
        """Whether nothing touches at y, and nothing was passed through on the straight way there."""
        return len(self.find(y).gap) == 0 and not self.crossings(y)

    def crossings(self, y: FloatArray) -> int:
        """Pairs that pass through each other on the straight way to y, and points that pass through a solid."""
        passed = self._passed(y) if self.world.solids else 0
        if self._corners is not None:
            passed += self._corners.crossings(y)
        if passed or not self.world.has_pairs:
            return passed
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
        if self._corners is not None:
            least = min(least, self._corners.smallest_gap(y, self.world.rest))
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
        world.rub(pairwise)
        return pairwise

    def _at_corners(self, y: FloatArray, margin: float) -> list[ContactSet]:
        """Contacts of faces of the cloth with sharp corners."""
        if self._corners is None:
            return []
        world = self.world
        sets, corner, face = self._corners.find(
            y, self.held, world.rest, world.options.proximity, margin, world.corner_friction
        )
        for found, c, f in zip(sets, corner, face, strict=True):
            found.key[:] = world.corner_keys(c, f)
        return sets

    def _over_edges(self, y: FloatArray, margin: float) -> ContactSet:
        """Contacts of lines of the cloth with sharp edges."""
        world, half = self.world, self.world.half
        if self._sharp is None:
            self._sharp = world.sharp_edges(self.begin), world.sharp_edges(self.end)
        lines, (begin, end) = world.lines, self._sharp
        if self._bending_at is None or np.abs(y - self._bending_at).max() > 0.25 * self.margin:
            self._bending_at = y.copy()
            self._bending = pieces_near(lines, begin, end, self.before, y, half + margin + self.margin)
        if len(self._bending) == 0:
            return NOTHING
        found: ContactSet
        found, edge, at = bends(
            lines, begin, end, self._bending, self.before, y, self.held, world.edge_friction, half, margin,
            world.options.found * 2 * half,
        )  # fmt: skip
        if len(found.gap) == 0:
            return NOTHING
        owner = world.edge_owner[edge]
        found.body[:] = owner + 1
        found.key[:] = world.edge_keys(edge, found.key)
        for k in np.unique(owner):
            if not (body := world.actors[k]).still:
                found.slip[owner == k] -= body.displacement(at[owner == k], self.begin, self.end)
        return found

    def _way(self, k: int, solid: Solid, first: int) -> Way:
        """Of the nodes, or of the centres of faces: that of the points whose keys start at `first`."""
        if first not in self._ways:
            nodes = first == self.world.first_key(k)
            start = self.before if nodes else middles(*self.world.centres, self.before)
            self._ways[first] = Way(solid, start, self.begin, self.end)
        return self._ways[first]

    def _passed(self, y: FloatArray) -> int:
        """Points that pass through a solid on the straight way to y."""
        if self._found_at is None or not np.array_equal(y, self._found_at):
            self.find(y)
        return self._entered

    def _with_solid(self, k: int, solid: Solid, y: FloatArray, margin: float) -> list[ContactSet]:
        """Contacts of nodes, and of the centres of faces where nodes outside do not keep faces outside."""
        world, key = self.world, self.world.first_key(k)
        chosen, flat = [(y, world.nodes, key)], _is_flat(solid)
        if not flat:
            chosen.append((middles(*world.centres, y), world.centres, key + len(y)))
        parts = []
        for points, (corners, share), first in chosen:
            gap, normal = solid.gaps(points, self.end)
            if not flat:
                entries = self._way(k, solid, first).entries(points, normal)
                if entries is not None:
                    self._entered += len(entries.point)
                    gap[entries.point], normal[entries.point] = entries.gap, entries.normal
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


def _average(found: ContactSet, now: IntArray, before: ContactSet, old: IntArray, share: float) -> None:
    """Bring weights, normals and slips of some contacts, but not their gaps, only by a share to what they are now."""
    for new, last in zip(found[1:5], before[1:5], strict=True):
        if new.ndim == 2:
            new[now] = last[old] + share * (new[now] - last[old])
    found.normal[now] /= np.linalg.norm(found.normal[now], axis=1)[:, None]


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
