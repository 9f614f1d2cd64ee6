"""The collision world: what the cloth can touch, obstacles and itself."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from functools import cached_property
from typing import Any

import numpy as np

from isocloth.base.errors import InputError, InputTypeError
from isocloth.base.typing import BoolArray, FloatArray, IntArray
from isocloth.contact.contact_set import ContactSet
from isocloth.contact.corners import CornerSurface, build_corners
from isocloth.contact.history import ContactHistory, chosen_history
from isocloth.contact.lines import Lines, build_lines
from isocloth.contact.options import ContactOptions
from isocloth.contact.surface import Feature, Surface, build_surface
from isocloth.fabric import Fabric, as_tuple
from isocloth.meshes import Mesh
from isocloth.obstacles import Features, Obstacle, Solid
from isocloth.obstacles.corners import NO_CORNERS, SharpCorners
from isocloth.obstacles.motion import Commanded
from isocloth.obstacles.sharp import NO_EDGES, SharpEdges

#: keys of contacts with a solid start at -(its number << SHIFT)
SHIFT = 40


class CollisionWorld:
    """Obstacles and layers around a cloth. A `ContactDetector` finds the contacts of a step among them.

    Bodies are numbered by their place among the obstacles, from 1; 0 is the cloth. Keys of contacts come from a number
    that an obstacle keeps when others come and go, so that the contact history of those that stay remains valid.
    """

    def __init__(
        self, rest: Mesh, fabric: Fabric | Sequence[Fabric], obstacles: Sequence[Any], self_collision: bool,
        options: ContactOptions | None = None,
    ) -> None:  # fmt: skip
        self.options = options or ContactOptions()
        self.self_collision = bool(self_collision)
        fabrics = as_tuple(fabric)
        #: the only one, or that of the first piece: all have the same thickness
        self.fabric = fabric = fabrics[0]
        #: (n, 3) m, by which distances of neighbours at rest are told
        self.rest, self.half = _pieces_apart(rest), fabric.thickness / 2
        self._of_piece = np.array([one.friction for one in fabrics])
        self._mesh = rest
        self.nodes, self.centres = _node_weights(rest.n_vertices), _centre_weights(rest)
        #: as they were given, and as they move: a copy takes the place of one that is moved at run time
        self.obstacles: tuple[Obstacle, ...] = ()
        self.actors: tuple[Obstacle, ...] = ()
        self._numbers: tuple[int, ...] = ()
        self._next = 1
        for obstacle in obstacles:
            self._append(obstacle)
        self._build()
        if self.self_collision and fabric.thickness > self.spacing:
            raise InputError(
                f"the cloth is {fabric.thickness:g} m thick and its edges are {self.spacing:.3g} m long on average: "
                "expected elements longer than the cloth is thick; use a coarser mesh or a thinner fabric"
            )

    @property
    def empty(self) -> bool:
        """Whether there is nothing to touch."""
        return not self.obstacles and not self.self_collision

    def add(self, obstacle: Any) -> None:
        """A further obstacle, behind the others."""
        self._append(obstacle)
        self._build()

    def remove(self, index: int, history: ContactHistory) -> ContactHistory:
        """Take an obstacle out; returns what is left of the contact history."""
        number, features = self._numbers[index], isinstance(self.obstacles[index], Features)
        left = [k for k in range(len(self.obstacles)) if k != index]
        kept = self._of_others(history.key, number, features)
        self.obstacles = tuple(self.obstacles[k] for k in left)
        self.actors = tuple(self.actors[k] for k in left)
        self._numbers = tuple(self._numbers[k] for k in left)
        self._build()
        return chosen_history(history, kept)

    def rubbing(self, factor: float) -> CollisionWorld:
        """The same with so many times the friction of every obstacle."""
        other = copy(self)
        for name in ("obstacles", "actors"):
            bodies = tuple(o.replace(friction=factor * o.friction) for o in getattr(self, name))
            setattr(other, name, bodies)
        other._build()
        return other

    @property
    def numbers(self) -> IntArray:
        """(o,) by which keys of contacts know the obstacles."""
        return np.array(self._numbers, dtype=np.int64)

    def renumber(self, numbers: IntArray) -> bool:
        """Take the numbers that a state was computed with, if these may be the same obstacles; says whether."""
        if np.array_equal(numbers, self.numbers):
            return True
        untouched = self._next == len(self._numbers) + 1  # none was ever taken out, so places tell who is who
        if not untouched or len(numbers) != len(self._numbers):
            return False
        self._numbers, self._next = tuple(int(k) for k in numbers), int(max(numbers, default=0)) + 1
        return True

    def _of_others(self, keys: IntArray, number: int, features: bool) -> BoolArray:
        """Which keys stay valid without an obstacle. Features count their vertices one after the other: all shift."""
        others = (keys < -(number << SHIFT)) | (keys >= -((number - 1) << SHIFT))
        if not features:
            return others
        a, b = (keys >> 31) & (2**31 - 1), keys & (2**31 - 1)
        edge_edge, faces = keys >> 62 != 0, int((self.surface.body[self.surface.faces[:, 0]] == 0).sum())
        ours = np.where(edge_edge, (a < self.cloth_edges) & (b < self.cloth_edges), (a < len(self.rest)) & (b < faces))
        return np.asarray(others & ((keys < 0) | ours))

    def _append(self, obstacle: Any) -> None:
        check_obstacle(obstacle, self.obstacles)
        self.obstacles, self.actors = (*self.obstacles, obstacle), (*self.actors, obstacle)
        self._numbers, self._next = (*self._numbers, self._next), self._next + 1

    def _build(self) -> None:
        """What follows from the obstacles that there are."""
        self.solids = [(k, o) for k, o in enumerate(self.actors) if isinstance(o, Solid)]
        self.features = [(k, o) for k, o in enumerate(self.actors) if isinstance(o, Features)]
        self.surface: Surface = build_surface(
            len(self.rest), self._mesh.triangles, self.fabric.thickness,
            [Feature(len(o.vertices(0.0)), o.edges, o.faces, self.half + o.radius) for _, o in self.features],
        )  # fmt: skip
        self.cloth_edges = int((self.surface.body[self.surface.edges[:, 0]] == 0).sum())
        edges = self.rest[self.surface.edges[: self.cloth_edges]]
        self.spacing = float(np.linalg.norm(edges[:, 1] - edges[:, 0], axis=1).mean())
        self.bodies = np.array([0] + [k + 1 for k, _ in self.features], dtype=np.int64)
        self.has_pairs = self.self_collision or bool(self.features)
        sizes = [len(o.sharp_edges().radius) for o in self.actors]
        self.has_edges = sum(sizes) > 0
        #: (e,) which of the obstacles a sharp edge belongs to, and which of its edges it is
        self.edge_owner = np.repeat(np.arange(len(sizes)), sizes)
        self.edge_number = np.concatenate([np.arange(0), *[np.arange(size) for size in sizes]])
        self._edge_count = np.array(sizes, dtype=np.int64)
        pointed = [len(o.sharp_corners().depth) for o in self.actors]
        self.has_corners = sum(pointed) > 0
        self.corners: CornerSurface = build_corners(
            len(self.rest), self._mesh.triangles, self.fabric.thickness, pointed
        )

    @cached_property
    def lines(self) -> Lines:
        """Of the cloth, for what bends over sharp edges."""
        return build_lines(self.rest, self._mesh.edges.astype(np.int64))

    def sharp_edges(self, time: float) -> SharpEdges:
        """Of all obstacles, at a time in s."""
        return SharpEdges(*_joined([NO_EDGES, *[o.sharp_edges(time) for o in self.actors]]))

    def sharp_corners(self, time: float) -> SharpCorners:
        """Of all obstacles, at a time in s."""
        return SharpCorners(*_joined([NO_CORNERS, *[o.sharp_corners(time) for o in self.actors]]))

    @property
    def friction(self) -> FloatArray:
        """Coefficient by body of the surface: the cloth itself, then features."""
        return np.array([self.fabric.friction] + [o.friction for _, o in self.features])

    def rub(self, c: ContactSet) -> None:
        """Write the coefficients of contacts between pieces of different fabrics: the geometric mean of theirs."""
        if len(self._of_piece) == 1:
            return
        own = c.body == 0
        piece, weights = self._mesh.piece[c.nodes[own]], c.weights[own]
        # both ends of a contact have a node whose weight is not small: of those above and of those below zero
        one, other = (
            self._of_piece[np.take_along_axis(piece, np.argmax(sign * weights, axis=1)[:, None], axis=1)[:, 0]]
            for sign in (1.0, -1.0)
        )
        c.friction[own] = np.where(one == other, one, np.sqrt(one * other))

    @property
    def edge_friction(self) -> FloatArray:
        """(e,) coefficients by sharp edge."""
        return np.array([o.friction for o in self.obstacles])[self.edge_owner]

    @property
    def corner_friction(self) -> FloatArray:
        """Coefficient by body of the surface with corners: the cloth itself, then obstacles that have some."""
        return np.array([self.fabric.friction] + [self.obstacles[k - 1].friction for k in self.corners.bodies[1:]])

    def first_key(self, index: int) -> int:
        """Of the contacts with a solid."""
        return -(self._numbers[index] << SHIFT)

    def edge_keys(self, index: IntArray, line: IntArray) -> IntArray:
        """Of contacts of lines (c,) of the cloth with sharp edges (c,), behind those of points."""
        numbers, first = self.numbers[self.edge_owner[index]], len(self.nodes[0]) + len(self.centres[0])
        return -(numbers << SHIFT) + first + self.edge_number[index] * len(self._mesh.edges) + line

    def corner_keys(self, corner: IntArray, face: IntArray) -> IntArray:
        """Of contacts of corners (c,) with faces (c,) of the cloth, behind those of lines with sharp edges."""
        owner, surface = self.corners.owner[corner], self.corners.surface
        first = len(self.nodes[0]) + len(self.centres[0]) + self._edge_count[owner] * len(self._mesh.edges)
        return -(self.numbers[owner] << SHIFT) + first + self.corners.number[corner] * len(surface.faces) + face

    def place(self, before: FloatArray, after: FloatArray, begin: float, end: float) -> None:
        """Let obstacles that are moved at run time go from poses to poses (o, 4, 3); NaN: follows its own motion."""
        moved = [k for k in range(len(self.obstacles)) if np.isfinite(after[k, 0, 0])]
        own = [k for k, o in enumerate(self.actors) if o is not self.obstacles[k] and k not in moved]
        if not moved and not own:
            return
        actors = list(self.actors)
        for k in own:
            actors[k] = self.obstacles[k]
        for k in moved:
            start = before[k] if np.isfinite(before[k, 0, 0]) else np.vstack(self.obstacles[k].pose(begin))
            motion = Commanded((start[:3], start[3]), (after[k, :3], after[k, 3]), begin, end)
            actors[k] = self.obstacles[k].placed(motion)
        self.actors = tuple(actors)
        self.solids = [(k, o) for k, o in enumerate(self.actors) if isinstance(o, Solid)]
        self.features = [(k, o) for k, o in enumerate(self.actors) if isinstance(o, Features)]

    def vertices(self, positions: FloatArray, time: float) -> FloatArray:
        """Nodes of the cloth, then vertices of features, (V, 3) m."""
        if not self.features:
            return positions
        return np.concatenate([positions, *[o.vertices(time) for _, o in self.features]])


def check_obstacle(obstacle: Any, others: Sequence[Obstacle]) -> None:
    """Raise if it is none, or is one of the others already."""
    if not isinstance(obstacle, Obstacle):
        raise InputTypeError(f"obstacle {obstacle!r}: expected ic.Floor(...), ic.Sphere(...) or another obstacle")
    if any(known is obstacle for known in others):
        raise InputError(f"obstacle {obstacle!r} is named twice; give each once")


def _pieces_apart(rest: Mesh) -> FloatArray:
    """(n, 3) m: at rest, with pieces so far from each other that layers of two keep their whole thickness.

    Layers that are nearer to each other at rest need not be kept farther apart than that: a fine mesh would burst. Of
    two pieces that says nothing, they lie where somebody put them.
    """
    pieces = int(rest.piece.max(initial=0)) + 1
    if pieces == 1:
        return rest.vertices
    far = 10.0 * float(np.ptp(rest.vertices, axis=0).max())
    return rest.vertices + far * np.stack([rest.piece, 0 * rest.piece, 0 * rest.piece], axis=1)


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


def _joined(parts: Sequence[tuple[FloatArray, ...]]) -> list[FloatArray]:
    """The arrays of several bodies behind each other."""
    return [np.ascontiguousarray(np.concatenate(arrays)) for arrays in zip(*parts, strict=True)]
