"""What obstacles look like at the frames of a recording."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from isocloth.obstacles.obstacle import Obstacle, Surface


def recorded(obstacles: Iterable[Obstacle], times: ArrayLike) -> list[Surface]:
    """Surfaces to draw, as a `Trajectory` keeps them: vertices (v, 3) m, or (T, v, 3) of what moves, and faces.

    times: (T,) s. Obstacles that are not drawn are left out.
    """
    instants = np.asarray(times, dtype=np.float64).tolist()
    found: list[Surface] = []
    for obstacle in obstacles:
        first = obstacle.surface(instants[0])
        if first is None:
            continue
        vertices, faces = first
        if not obstacle.still:
            vertices = np.stack([surface[0] for t in instants if (surface := obstacle.surface(t)) is not None])
        found.append((vertices, faces))
    return found
