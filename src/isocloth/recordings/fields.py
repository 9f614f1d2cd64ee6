"""What readers of files hand over: columns of markers, and the fields of a recording."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Required, TypedDict

from isocloth.base.typing import FloatArray, IntArray
from isocloth.fabric import Fabric
from isocloth.meshes import Mesh
from isocloth.recordings.bodies import Body


class Columns(NamedTuple):
    """Columns of a file, in m and s, axes of the file."""

    times: FloatArray  # (T,)
    positions: FloatArray  # (T, c, 3), NaN where a marker was not seen
    names: Sequence[str]
    units: str  # of lengths in the file
    up: str | None  # axis that points up; None = unknown
    notes: Sequence[str] = ()
    metadata: Mapping[str, Any] = {}


class LoadOptions(NamedTuple):
    """What the caller of `Recording.load` says about the cloth; None = what the file says or shows."""

    held: Sequence[str] | None = None  # labels
    size: tuple[float, float] | None = None  # m, width and height
    grid: tuple[int, int] | None = None  # rows and columns of markers
    cloth: Sequence[str] | None = None  # labels of the markers on the cloth
    fabric: Fabric | None = None
    bodies: Mapping[str, Body] | None = None  # what the cloth met
    clean: bool = True  # whether labels are mended and the grid is looked for


class RecordingFields(TypedDict, total=False):
    """Arguments of `Recording`, which says what they mean and checks them."""

    times: Required[FloatArray]
    positions: Required[FloatArray]
    labels: Sequence[str]
    mesh: Mesh | None
    held: IntArray
    held_path: FloatArray | None
    fabric: Fabric | None
    others: Mapping[str, FloatArray]
    bodies: Mapping[str, Body]
    units: str
    up: str
    name: str
    notes: Sequence[str]
    metadata: Mapping[str, Any]
