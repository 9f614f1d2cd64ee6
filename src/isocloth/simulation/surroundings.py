"""What the cloth can touch, obstacles and itself, and its contacts at an iterate of a step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from isocloth.contact import Feature, Pairs, Surface, build_surface, candidates, contacts, crossings, smallest_distance
from isocloth.fabric import Fabric
from isocloth.meshes import Mesh
from isocloth.obstacles import Features, Floor, Obstacle, Plane, Solid
from isocloth.simulation.gripper import Gripper
from isocloth.simulation.jaws import Jaws
from isocloth.solver.coulomb import ContactSet
from isocloth.typing import BoolArray, FloatArray, IntArray

#: the papers' proximity parameter: a pair counts as colliding when it comes within 2 omega of its separation
PROXIMITY = 0.5


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
        self._centres = _centre_weights(rest) if not all(_is_flat(o) for _, o in self.solids) else None

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
        total = np.zeros((len(bodies) + 1, 3))
        np.add.at(total, c.body, -c.weights.sum(axis=1)[:, None] * force)
        for k, body in enumerate(bodies):
            body._record(total[k + 1])


class Encounter:
    """One step among the surroundings, between jaws or not: from positions `before` (n, 3) at `begin` to `end`, s."""

    def __init__(
        self, around: Surroundings, before: FloatArray, held: BoolArray, begin: float, end: float,
        jaws: Sequence[Jaws] = (),
    ) -> None:  # fmt: skip
        self.around, self.before, self.held, self.jaws = around, before, held, jaws
        self.begin, self.end = begin, end
        self.x0 = around.vertices(before, begin)
        self.margin = max(around.fabric.thickness, 0.1 * around.spacing)
        self._pairs: Pairs | None = None
        self._swept: FloatArray | None = None

    def find(self, y: FloatArray) -> ContactSet:
        """Contacts at the iterate y (n, 3)."""
        parts = [self._with_solid(k, o, y) for k, o in self.around.solids]
        if self.around.has_pairs:
            parts.append(self._pairwise(y, 0.2 * self.around.fabric.thickness))
        parts += [jaws.contacts(y) for jaws in self.jaws]
        return _join([p for p in parts if len(p.gap)])

    def couplings(self, y: FloatArray) -> IntArray:
        """Pairs of nodes (p, 2) that contacts may couple soon."""
        nodes = [self._pairwise(y, 0.5 * self.around.spacing)] if self.around.has_pairs else []
        return _pairs_of(_join(nodes)) if nodes else np.empty((0, 2), dtype=np.int64)

    def crossings(self, y: FloatArray) -> int:
        """Pairs that pass through each other on the straight way to y."""
        if not self.around.has_pairs:
            return 0
        return len(crossings(self.around.surface, self._candidates(y), self.x0, self.around.vertices(y, self.end)))

    def stop_short(self, y: FloatArray) -> FloatArray:
        """The last positions (n, 3) on the way to y, of a few tried, that let no pair pass through each other."""
        share = 1.0
        while share > 1e-3:
            reached = self.before + share * (y - self.before)
            if not self.crossings(reached):
                return reached
            share /= 2
        return self.before.copy()

    def smallest_gap(self, y: FloatArray) -> float:
        """Smallest distance less the separation that is to be kept, m."""
        least = np.inf
        for _, o in self.around.solids:
            least = min(least, float(o.gaps(y, self.end)[0].min()) - self.around.half)
        if self.around.has_pairs:
            whole = self.around.vertices(y, self.end)
            least = min(least, smallest_distance(self.around.surface, self._candidates(y), whole, self.around.rest))
        return least

    def _candidates(self, y: FloatArray) -> Pairs:
        # found once for boxes with a margin, and again only if an iterate leaves them
        if self._pairs is None or self._swept is None or np.abs(y - self._swept).max() > 0.25 * self.margin:
            around = self.around
            self._swept = y.copy()
            pairs = candidates(around.surface, self.x0, around.vertices(y, self.end), self.margin)
            if not around.self_collision:
                pairs = _with_features(around.surface, pairs)
            self._pairs = pairs
        return self._pairs

    def _pairwise(self, y: FloatArray, margin: float) -> ContactSet:
        around = self.around
        whole = around.vertices(y, self.end)
        found = contacts(around.surface, self._candidates(y), self.x0, whole, around.rest, PROXIMITY, margin)
        moved = whole - self.x0
        slip = np.einsum("ck,ckd->cd", found.weights, moved[found.nodes])
        mine = found.nodes < len(y)
        nodes, weights = np.where(mine, found.nodes, 0), np.where(mine, found.weights, 0.0)
        free = (mine & ~self.held[nodes]).any(axis=1)
        whole_set = ContactSet(
            nodes, weights, found.normal, found.gap, slip, around._friction[found.body], found.key,
            around._number[found.body], np.zeros(len(nodes)),
        )  # fmt: skip
        return whole_set if free.all() else _select(whole_set, free)

    def _with_solid(self, k: int, solid: Solid, y: FloatArray) -> ContactSet:
        around = self.around
        points, nodes, weights = y, None, None
        gap, normal = solid.gaps(y, self.end)
        gap = gap - around.half
        near = np.flatnonzero((gap < 0.2 * around.fabric.thickness) & ~self.held)
        nodes = np.zeros((len(near), 4), dtype=np.int64)
        nodes[:, 0] = near
        weights = np.zeros((len(near), 4))
        weights[:, 0] = 1.0
        points, gap, normal = y[near], gap[near], normal[near]
        slip = points - self.before[near]
        key = -((k + 1) << 40) + near
        if around._centres is not None and not _is_flat(solid):
            corners, share = around._centres
            centre = np.einsum("fk,fkd->fd", share, y[corners])
            height, outward = solid.gaps(centre, self.end)
            height = height - around.half
            inside = np.flatnonzero((height < 0.2 * around.fabric.thickness) & ~self.held[corners].all(axis=1))
            nodes = np.concatenate([nodes, corners[inside]])
            weights = np.concatenate([weights, share[inside]])
            gap, normal = np.concatenate([gap, height[inside]]), np.concatenate([normal, outward[inside]])
            points = np.concatenate([points, centre[inside]])
            begin = np.einsum("fk,fkd->fd", share[inside], self.before[corners[inside]])
            slip = np.concatenate([slip, centre[inside] - begin])
            key = np.concatenate([key, -((k + 1) << 40) + len(y) + inside])
        if not solid.still and len(points):
            slip = slip - solid.displacement(points, self.begin, self.end)
        count = len(gap)
        return ContactSet(
            nodes, weights, normal, gap, slip, np.full(count, solid.friction), key,
            np.full(count, k + 1, dtype=np.int64), np.zeros(count),
        )  # fmt: skip


def _is_flat(solid: Solid) -> bool:
    """Whether nodes outside it keep faces outside."""
    return isinstance(solid, (Floor, Plane))


def _centre_weights(rest: Mesh) -> tuple[IntArray, FloatArray]:
    """Corners (f, 4) and weights of the centre of every face."""
    faces = rest.faces.astype(np.int64)
    if faces.shape[1] == 4:
        return faces, np.full(faces.shape, 0.25)
    corners, share = np.zeros((len(faces), 4), dtype=np.int64), np.zeros((len(faces), 4))
    corners[:, :3], share[:, :3] = faces, 1.0 / 3.0
    return corners, share


def _with_features(surface: Surface, pairs: Pairs) -> Pairs:
    """Without the pairs of the cloth with itself."""
    body = surface.body
    node_face, edge_edge = pairs
    with_face = (body[node_face[:, 0]] > 0) | (body[surface.faces[node_face[:, 1], 0]] > 0)
    with_edge = (body[surface.edges[edge_edge[:, 0], 0]] > 0) | (body[surface.edges[edge_edge[:, 1], 0]] > 0)
    return Pairs(np.ascontiguousarray(node_face[with_face]), np.ascontiguousarray(edge_edge[with_edge]))


def _pairs_of(c: ContactSet) -> IntArray:
    """Pairs of different nodes (p, 2) of each contact, smaller first, each once."""
    a, b = np.triu_indices(4, 1)
    first, second = c.nodes[:, a].ravel(), c.nodes[:, b].ravel()
    used = ((c.weights[:, a] != 0.0) & (c.weights[:, b] != 0.0)).ravel()
    pairs = np.stack([np.minimum(first, second), np.maximum(first, second)], axis=1)[used]
    return np.unique(pairs, axis=0)


def _select(c: ContactSet, chosen: BoolArray) -> ContactSet:
    columns: list[Any] = [a[chosen] for a in c]
    return ContactSet(*columns)


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
