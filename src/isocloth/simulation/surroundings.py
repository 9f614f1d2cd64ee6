"""What the cloth can touch, obstacles and itself, and its contacts at an iterate of a step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from isocloth.contact import (
    Feature,
    Pairs,
    Surface,
    build_surface,
    candidates,
    contacts,
    contacts_and_near,
    crossings,
    piercings,
    smallest_distance,
)
from isocloth.fabric import Fabric
from isocloth.meshes import Mesh
from isocloth.obstacles import Features, Floor, Obstacle, Plane, Solid
from isocloth.simulation.gripper import Gripper
from isocloth.simulation.jaws import Jaws
from isocloth.simulation.touching import forces_on_bodies, middles, of_pairs, of_points
from isocloth.solver.coulomb import ContactSet
from isocloth.typing import BoolArray, FloatArray, IntArray

#: the papers' proximity parameter: a pair counts as colliding when it comes within 2 omega of its separation
PROXIMITY = 0.5

#: of the thickness: contacts are found while their gap is below the first; pairs that are further away than iterates
#: move are looked at again only if a node has gone by the second
FOUND, NEAR = 0.2, 1.0

#: iterates of a step after which normals and nearest points follow more and more slowly. Those of two edges that are
#: almost parallel jump along the edges when these move by micrometres, and an iteration that takes them as they are may
#: go to and fro for ever
RESTLESS = 6


class Surroundings:
    """Obstacles and layers around a cloth; `at(...)` opens a step among them."""

    def __init__(self, rest: Mesh, fabric: Fabric, obstacles: Sequence[Any], self_collision: bool) -> None:
        for obstacle in obstacles:
            if not isinstance(obstacle, Obstacle):
                raise TypeError(f"obstacle {obstacle!r}: expected ic.Floor(...), ic.Sphere(...) or another obstacle")
        if len({id(o) for o in obstacles}) != len(obstacles):
            raise ValueError("an obstacle is named twice; give each once")
        self.obstacles = tuple(obstacles)
        self.self_collision = bool(self_collision)
        self.fabric, self.rest = fabric, rest.vertices
        self.solids = [(k, o) for k, o in enumerate(self.obstacles) if isinstance(o, Solid)]
        self.features = [(k, o) for k, o in enumerate(self.obstacles) if isinstance(o, Features)]
        self.half = fabric.thickness / 2
        n = rest.n_vertices
        self.surface: Surface = build_surface(
            n, rest.triangles, fabric.thickness,
            [Feature(len(o.vertices(0.0)), o.edges, o.faces, self.half + o.radius) for _, o in self.features],
        )  # fmt: skip
        edges = rest.vertices[self.surface.edges[: self._cloth_edges()]]
        self.spacing = float(np.linalg.norm(edges[:, 1] - edges[:, 0], axis=1).mean())
        if self.self_collision and fabric.thickness > self.spacing:
            raise ValueError(
                f"the cloth is {fabric.thickness:g} m thick and its edges are {self.spacing:.3g} m long on average: "
                "expected elements longer than the cloth is thick; use a coarser mesh or a thinner fabric"
            )
        # coefficient by body: the cloth itself, then features
        self._friction = np.array([fabric.friction] + [o.friction for _, o in self.features])
        self._number = np.array([0] + [k + 1 for k, _ in self.features], dtype=np.int64)
        self.has_pairs = self.self_collision or bool(self.features)
        self._nodes, self._centres = _node_weights(n), _centre_weights(rest)

    def check_start(self, positions: FloatArray) -> None:
        """Raise if layers pass through each other at positions (n, 3): they would have no side to be kept on."""
        if not self.self_collision:
            return
        faces = self.surface.faces[self.surface.body[self.surface.faces[:, 0]] == 0]
        pierced = piercings(positions, self.surface.edges[: self._cloth_edges()], faces)
        if len(pierced):
            at = positions[self.surface.edges[pierced[0, 0]]].mean(axis=0)
            raise ValueError(
                f"the cloth passes through itself at the start, in {len(pierced)} places, one of them near "
                f"{np.round(at, 4).tolist()}: layers must not cross when self_collision begins; move them apart, or "
                "start from another shape"
            )

    def _cloth_edges(self) -> int:
        return int((self.surface.body[self.surface.edges[:, 0]] == 0).sum())

    def vertices(self, positions: FloatArray, time: float) -> FloatArray:
        """Nodes of the cloth, then vertices of features, (V, 3) m."""
        if not self.features:
            return positions
        return np.concatenate([positions, *[o.vertices(time) for _, o in self.features]])

    def record(self, c: ContactSet, force: FloatArray, grippers: Sequence[Gripper] = ()) -> None:
        """Tell the obstacles, and the grippers after them, with what force the cloth acts on them."""
        bodies = (*self.obstacles, *grippers)
        for body, pressed in zip(bodies, forces_on_bodies(c, force, len(bodies))[1:], strict=True):
            body._record(pressed)

    def record_nothing(self) -> None:
        """Tell the obstacles that the cloth does not touch them."""
        for obstacle in self.obstacles:
            obstacle._record(np.zeros(3))


class Encounter:
    """One step among the surroundings, between jaws or not: from positions `before` (n, 3) at `begin` to `end`, s."""

    def __init__(self, around: Surroundings, before: FloatArray, held: BoolArray, begin: float, end: float) -> None:
        self.around, self.before, self.held = around, before, held
        self.jaws: Sequence[Jaws] = ()
        self.pairwise = around.has_pairs
        self.begin, self.end = begin, end
        self.x0 = around.vertices(before, begin)
        self._features_at_end = around.vertices(before, end)[len(before) :]
        self.margin = max(around.fabric.thickness, 0.1 * around.spacing)
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
        margin = FOUND * self.around.fabric.thickness
        parts = [part for k, o in self.around.solids for part in self._with_solid(k, o, y, margin)]
        if self.around.has_pairs:
            parts.append(self._calmed(self._pairwise(y, margin)))
        parts += [jaws.contacts(y) for jaws in self.jaws]
        return _join([p for p in parts if len(p.gap)])

    def _calmed(self, found: ContactSet) -> ContactSet:
        """Pairs whose normals and nearest points are averages with those of the iterates before, after many of them."""
        self._iterates += 1
        before = self._found
        self._found = found
        if before is None or self._iterates <= RESTLESS:
            return found
        share = 1.0 / (self._iterates - RESTLESS + 1)
        _, now, old = np.intersect1d(found.key, before.key, return_indices=True)
        for new, last in zip(found[1:5], before[1:5], strict=True):
            if new.ndim == 2:  # weights, normals and slips, but not gaps
                new[now] = last[old] + share * (new[now] - last[old])
        found.normal[now] /= np.linalg.norm(found.normal[now], axis=1)[:, None]
        return found

    def begin_again(self) -> None:
        """Forget the iterates before: those to come have nothing to do with them."""
        self._iterates, self._found = 0, None

    def rehearse(self) -> None:
        """Load, or compile, what the first contact will need: a robot must not wait for it then."""
        around, x0 = self.around, self.x0
        nothing = np.zeros((0, 2), dtype=np.int64)
        if around.has_pairs:
            pairs = Pairs(nothing, nothing)
            found, near = contacts_and_near(around.surface, pairs, x0, x0, around.rest, PROXIMITY, 0.0, 0.0)
            contacts(around.surface, near, x0, x0, around.rest, PROXIMITY, 0.0)
            of_pairs(found, x0, x0, len(self.before), self.held, around._friction, around._number)
            crossings(around.surface, pairs, x0, x0)
        if around.solids:
            y, (corners, share) = self.before, around._nodes
            gap, normal = np.full(len(y), np.inf), np.zeros((len(y), 3))
            of_points(gap, normal, corners, share, y, y, self.held, 0.0, 0.0, 0.0, 0, 0)

    def clear(self, y: FloatArray) -> bool:
        """Whether nothing touches at y, and nothing was passed through on the straight way there."""
        return len(self.find(y).gap) == 0 and not self.crossings(y)

    def crossings(self, y: FloatArray) -> int:
        """Pairs that pass through each other on the straight way to y."""
        if not self.around.has_pairs:
            return 0
        if not self._approached and self._looked_at is not None and np.array_equal(y, self._looked_at):
            return 0  # what does not come close does not pass
        pairs = self._candidates(y)
        if len(pairs.node_face) + len(pairs.edge_edge) == 0:
            return 0
        return len(crossings(self.around.surface, pairs, self.x0, self._whole(y)))

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
        moved += [o.displacement(y, self.begin, self.end) for _, o in self.around.solids if not o.still]
        return float(np.linalg.norm(np.concatenate(moved), axis=1).max(initial=0.0)) / (self.end - self.begin)

    def smallest_gap(self, y: FloatArray) -> float:
        """Smallest distance less the separation that is to be kept, m."""
        least = np.inf
        for _, o in self.around.solids:
            least = min(least, float(o.gaps(y, self.end)[0].min()) - self.around.half)
        if self.around.has_pairs:
            whole = self._whole(y)
            least = min(least, smallest_distance(self.around.surface, self._candidates(y), whole, self.around.rest))
        return least

    def _whole(self, y: FloatArray) -> FloatArray:
        """Nodes at y, then vertices of features at the end of the step."""
        if len(self._features_at_end) == 0:
            return y
        return np.concatenate([y, self._features_at_end])

    def _candidates(self, y: FloatArray) -> Pairs:
        # found once for boxes with a margin, and again only if an iterate leaves them
        if self._pairs is None or self._swept is None or np.abs(y - self._swept).max() > 0.25 * self.margin:
            around = self.around
            self._swept = y.copy()
            self._near = None
            self._pairs = candidates(around.surface, self.x0, self._whole(y), self.margin, around.self_collision)
        return self._pairs

    def _pairwise(self, y: FloatArray, margin: float) -> ContactSet:
        around, pairs = self.around, self._candidates(y)
        if len(pairs.node_face) + len(pairs.edge_edge) == 0:
            self._looked_at, self._approached = y.copy(), False
            return NOTHING
        whole, wander = self._whole(y), NEAR * around.fabric.thickness
        if self._near is None or self._near_at is None or np.abs(y - self._near_at).max() > wander:
            found, self._near = contacts_and_near(
                around.surface, pairs, self.x0, whole, around.rest, PROXIMITY, margin, wander
            )
            self._near_at = y.copy()
        else:
            found = contacts(around.surface, self._near, self.x0, whole, around.rest, PROXIMITY, margin)
        self._looked_at, self._approached = y.copy(), bool(found.crossed.any())
        pairwise: ContactSet = of_pairs(found, self.x0, whole, len(y), self.held, around._friction, around._number)
        return pairwise

    def _with_solid(self, k: int, solid: Solid, y: FloatArray, margin: float) -> list[ContactSet]:
        """Contacts of nodes, and of the centres of faces where nodes outside do not keep faces outside."""
        around, key = self.around, -((k + 1) << 40)
        chosen = [(y, around._nodes, key)]
        if not _is_flat(solid):
            chosen.append((middles(*around._centres, y), around._centres, key + len(y)))
        parts = []
        for points, (corners, share), first in chosen:
            gap, normal = solid.gaps(points, self.end)
            if gap.min() >= around.half + margin:
                continue
            part: ContactSet = of_points(
                gap, normal, corners, share, self.before, y, self.held, around.half, margin, solid.friction, first,
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


def _node_weights(count: int) -> tuple[IntArray, FloatArray]:
    """Corners (n, 4) and weights of every node as a point of its own."""
    corners, share = np.zeros((count, 4), dtype=np.int64), np.zeros((count, 4))
    corners[:, 0], share[:, 0] = np.arange(count), 1.0
    return corners, share


def _centre_weights(rest: Mesh) -> tuple[IntArray, FloatArray]:
    """Corners (f, 4) and weights of the centre of every face."""
    faces = rest.faces.astype(np.int64)
    if faces.shape[1] == 4:
        return faces, np.full(faces.shape, 0.25)
    corners, share = np.zeros((len(faces), 4), dtype=np.int64), np.zeros((len(faces), 4))
    corners[:, :3], share[:, :3] = faces, 1.0 / 3.0
    return corners, share


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
