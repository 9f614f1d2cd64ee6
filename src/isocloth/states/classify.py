"""The name of a state: that of the nearest representative in a database, or unknown."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from isocloth.base.errors import InputError
from isocloth.base.typing import FloatArray
from isocloth.meshes import Mesh
from isocloth.states.boundary import Boundary, as_boundary, boundary_of, corner_segments
from isocloth.states.clusters import representatives
from isocloth.states.coordinates import of_segments
from isocloth.states.database import Database
from isocloth.states.dgli import UP
from isocloth.states.distances import FEWEST, distance_matrix

UNKNOWN = "unknown"

#: every state of the database is within this distance of a representative of its class (Spearman's, 0 to 2)
REACH = 0.1

#: a state is unknown when it is farther from every representative than this many times the largest distance between
#: a state of the database and the nearest other one of its class
SLACK = 2.0


@dataclass(frozen=True)
class Classification:
    """What a state is.

    name: its class, or "unknown" when it is farther than `threshold` from every representative.
    nearest: the nearest class, whether near enough or not.
    distance: Spearman distance of its dGLI coordinates from the nearest representative, 0 to 2.
    runner_up: the nearest other class; empty if there is none.
    runner_up_distance: the distance from it; infinite if there is none.
    threshold: distance beyond which a state is unknown.
    pairs: how many of the pairs of segments were seen, of 28.
    """

    name: str
    nearest: str
    distance: float
    runner_up: str
    runner_up_distance: float
    threshold: float
    pairs: int

    @property
    def known(self) -> bool:
        """Whether a class was near enough."""
        return self.name != UNKNOWN

    @property
    def margin(self) -> float:
        """How clear the choice is: 0 when the runner-up is as near, 1 when the state is that of a representative."""
        if not np.isfinite(self.runner_up_distance):
            return 1.0
        return 1.0 - self.distance / self.runner_up_distance if self.runner_up_distance > 0.0 else 0.0


class Classifier:
    """A database made ready for many questions.

    reach : within which distance of a representative every state of a class is: smaller means more representatives.
    threshold : distance beyond which a state is unknown; by default taken from the spread of the classes.
    """

    def __init__(self, database: Database, *, reach: float = REACH, threshold: float | None = None) -> None:
        """Compute coordinates, representatives and the threshold."""
        if not reach >= 0.0:
            raise InputError(f"reach is {reach}, expected a distance, 0 or more")
        self.database = database
        #: dGLI coordinates (s, 28) of all states, in 1/m
        self.coordinates: FloatArray = np.array([_coordinates(b) for b in database.boundaries])
        table = distance_matrix(self.coordinates)
        #: states that stand for their classes
        self.representatives = representatives(table, database.labels, reach)
        self.threshold = _threshold(table, database) if threshold is None else float(threshold)
        if not self.threshold > 0.0:
            raise InputError(f"threshold is {threshold}, expected a positive distance")

    def classify(
        self,
        state: ArrayLike | Boundary,
        *,
        mesh: Mesh | None = None,
        corners: ArrayLike | None = None,
        direction: ArrayLike = UP,
    ) -> Classification:
        """Name a state; see `classify`."""
        seen = of_segments(self._segments(state, mesh, corners), direction=direction, touching="nan")
        known = int(np.isfinite(seen).sum())
        if known < FEWEST:
            raise InputError(
                f"only {known} pairs of segments are seen, expected at least {FEWEST}: three segments that do not touch"
            )
        return self.of_coordinates(seen)

    def of_coordinates(self, seen: FloatArray) -> Classification:
        """Name a state by its dGLI coordinates (28,), NaN where a pair was not seen."""
        chosen = self.representatives
        distances = distance_matrix(seen[None], self.coordinates[chosen])[0]
        labels, classes = self.database.labels[chosen], self.database.classes
        per_class = np.array([distances[labels == k].min() for k in range(len(classes))])
        order = np.argsort(per_class, kind="stable")
        first, distance = classes[order[0]], float(per_class[order[0]])
        second, far = (classes[order[1]], float(per_class[order[1]])) if len(classes) > 1 else ("", float("inf"))
        name = first if distance <= self.threshold else UNKNOWN
        return Classification(name, first, distance, second, far, self.threshold, int(np.isfinite(seen).sum()))

    def _segments(self, state: ArrayLike | Boundary, mesh: Mesh | None, corners: ArrayLike | None) -> FloatArray:
        if isinstance(state, Boundary):
            return corner_segments(state)
        x = np.asarray(state, dtype=np.float64)
        if x.ndim == 3:
            if x.shape != (8, 2, 3):
                raise InputError(
                    f"segments have shape {x.shape}, expected (8, 2, 3): eight segments with two ends each"
                )
            return x
        if mesh is not None:
            return corner_segments(boundary_of(mesh, x))
        if corners is None and x.shape == self.database.mesh.vertices.shape:
            return corner_segments(boundary_of(self.database.mesh, x))
        return corner_segments(as_boundary(x, corners))


def classify(
    state: ArrayLike | Boundary,
    database: Database | Classifier,
    *,
    mesh: Mesh | None = None,
    corners: ArrayLike | None = None,
    direction: ArrayLike = UP,
) -> Classification:
    """Name a state of a rectangular cloth.

    state : positions (n, 3) of the nodes of `mesh`, or of the database's mesh if none is given; or boundary points
        (b, 3) in order, with the indices `corners` of the four corners (without them, the points begin at a corner and
        all sides have equally many); or the eight segments (8, 2, 3) next to the corners in the order of the boundary,
        NaN for hidden ones. All in m. Which corner is the first matters, and so does the sense: counter-clockwise
        around the flat cloth.
    database : labelled states; make a `Classifier` of it to classify many.
    direction : normal of the table.
    """
    ready = database if isinstance(database, Classifier) else Classifier(database)
    return ready.classify(state, mesh=mesh, corners=corners, direction=direction)


def _coordinates(boundary: Boundary) -> FloatArray:
    return of_segments(corner_segments(boundary), touching="nan")


def _threshold(table: FloatArray, database: Database) -> float:
    same = database.labels[:, None] == database.labels[None, :]
    np.fill_diagonal(same, False)
    alone = ~same.any(axis=1)
    if alone.all():
        raise InputError("every class has one state, which says nothing of their spread; give threshold=...")
    return SLACK * float(np.where(same, table, np.inf).min(axis=1)[~alone].max())
