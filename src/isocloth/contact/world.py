"""What the cloth can touch, obstacles and itself, and its contacts at an iterate of a step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from isocloth.base.typing import FloatArray, IntArray
from isocloth.contact import (
    Feature,
    Surface,
    build_surface,
    piercings,
)
from isocloth.contact.contact_set import ContactSet, forces_on_bodies
from isocloth.fabric import Fabric
from isocloth.meshes import Mesh
from isocloth.obstacles import Features, Obstacle, Solid
from isocloth.simulation.gripper import Gripper

#: the papers' proximity parameter: a pair counts as colliding when it comes within 2 omega of its separation
PROXIMITY = 0.5

#: of the thickness: contacts are found while their gap is below the first; pairs that are further away than iterates
#: move are looked at again only if a node has gone by the second
FOUND, NEAR = 0.2, 1.0

#: iterates of a step after which normals and nearest points follow more and more slowly. Those of two edges that are
#: almost parallel jump along the edges when these move by micrometres, and an iteration that takes them as they are may
#: go to and fro for ever
RESTLESS = 6


class CollisionWorld:
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
