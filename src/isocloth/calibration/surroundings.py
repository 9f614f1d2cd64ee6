"""Obstacles of a recording: what its cloth met, as the simulation needs it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from isocloth.base.errors import InputTypeError, RecordingError
from isocloth.base.typing import FloatArray
from isocloth.calibration.smooth import set_distance
from isocloth.obstacles import Box, Floor, Obstacle, Solid, Stick
from isocloth.recordings import Recording, StickMarkers, TableTop

#: motions of the published recordings that are none without an obstacle, and what says where it was
NEEDED = {
    "tablecloth": ("table", "bodies={'table': ic.recordings.TableTop(height=...)}"),
    "hit": ("stick", "bodies={'stick': ic.recordings.StickMarkers(ends=('21', '22'))}"),
}
#: m, from the top of a table down: no cloth gets through it in a step
DEPTH = 0.5
#: m; a start deeper inside an obstacle than noise puts it shows that the obstacle is somewhere else
DEEPEST = 0.01

#: of a path (S, 2, 3) m at the times (S,) of the steps from the two ends of a stick (T, 2, 3), and their names
EndPath = Callable[[FloatArray, tuple[str, ...], FloatArray], FloatArray]


def obstacles_of(
    part: Recording, given: Sequence[Obstacle] | None, times: FloatArray, path: EndPath
) -> tuple[Obstacle, ...]:
    """Obstacles of a recording: given ones, and its own bodies that none of these takes the name of.

    times: (S,) s, of the steps on the recording's clock; obstacles live on the simulation's, which begins with 0.
    A recording that needs an obstacle and has none is refused, unless an empty list says that it is meant so.
    """
    named = () if given is None else _checked(given)
    taken = {o.name for o in named}
    own: list[Obstacle] = []
    for name, body in part.bodies.items():
        if name in taken:
            continue
        own.append(_table(name, body) if isinstance(body, TableTop) else _stick(name, body, part, times, path))
    if given is None and not own:
        _check_free(part)
    return (*own, *named)


def _check_free(part: Recording) -> None:
    """Raise if a recording says that its cloth met something, and not where that was."""
    motion = part.metadata.get("motion")
    if motion in NEEDED:
        what, remedy = NEEDED[motion]
        lowest = f" (the lowest marker is seen at z = {np.nanmin(part.positions[:, :, 2]):.3f} m)"
        raise RecordingError(
            f"the recording {part.name!r} is of a {motion}, and does not say where the {what} was: it would be "
            f"simulated as free-hanging cloth; load it with {remedy}{lowest if what == 'table' else ''}, give "
            "obstacles=[...], or obstacles=[] if there was none"
        )
    if count := part.metadata.get("obstacles"):
        raise RecordingError(
            f"the recording {part.name!r} is of a simulation with {count} obstacles, of which it knows the pictures "
            "only: it would be simulated as free-hanging cloth; give obstacles=[...], e.g. those of its scene file, "
            "ic.scenes.load_obstacles(path), or obstacles=[] if none matters"
        )


def _checked(given: Sequence[Obstacle]) -> tuple[Obstacle, ...]:
    if isinstance(given, Obstacle):
        raise InputTypeError(f"obstacles is one {type(given).__name__}: expected a list, obstacles=[...]")
    found = tuple(given)
    for item in found:
        if not isinstance(item, Obstacle):
            raise InputTypeError(
                f"obstacles hold {type(item).__name__}: expected obstacles such as ic.Box(...); those of a scene file "
                "are ic.scenes.load_obstacles(path)"
            )
    return found


def _table(name: str, body: TableTop) -> Obstacle:
    if body.extent is None:
        return Floor(body.height, friction=body.friction, name=name)
    a, b, c, d = body.extent
    centre = [0.5 * (a + b), 0.5 * (c + d), body.height - 0.5 * DEPTH]
    return Box(centre, [b - a, d - c, DEPTH], friction=body.friction, name=name)


def _stick(name: str, body: StickMarkers, part: Recording, times: FloatArray, path: EndPath) -> Obstacle:
    seen = np.stack([part.others[label] for label in body.ends], axis=1)
    length = np.linalg.norm(seen[:, 1] - seen[:, 0], axis=1)
    if not np.isfinite(length).any():
        raise RecordingError(f"the ends {body.ends} of the stick {name!r} are never seen in the same frame")
    ends = set_distance(path(seen, body.ends, times), float(np.nanmedian(length)))
    return Stick(
        ends[0, 0], ends[0, 1], body.radius, path=(times - times[0], ends), friction=body.friction, name=name
    )  # fmt: skip


def outside(obstacles: Sequence[Obstacle], start: FloatArray, thickness: float) -> FloatArray:
    """A start (n, 3) m whose nodes lie outside of solid obstacles: those inside by a little are moved out.

    Markers on cloth that lies on a table are seen below its top as often as above it.
    """
    placed = start
    for obstacle in obstacles:
        if not isinstance(obstacle, Solid):
            continue
        gaps, normals = obstacle.gaps(placed, 0.0)
        inside = np.maximum(0.5 * thickness - gaps, 0.0)
        if inside.max() > DEEPEST + 0.5 * thickness:
            k = int(np.argmax(inside))
            place = ", ".join(f"{x:.3f}" for x in placed[k])
            raise RecordingError(
                f"the cloth starts {1e3 * inside[k]:.0f} mm inside {obstacle.name!r}, at ({place}) m; is the obstacle "
                "where it was in the recording (height, units, axes)? Move it, or begin later: recording.window(...)"
            )
        if inside.any():
            placed = placed + inside[:, None] * normals
    return placed
