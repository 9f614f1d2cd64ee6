"""Runs of a cloth held by a robot's tool and seen by a depth camera as a grid of nodes.

The arrays are those of the runs made with a Barrett WAM arm (`t`, `nodes` (T, n, n, 3), `outlier`, `held`,
`held_tool_run`, ...): nodes that are impossible for the cloth are flagged, the camera is late, and where the held
corners are is known from the tool as well.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from isocloth.base.errors import RecordingError
from isocloth.fabric import Fabric
from isocloth.recordings.fields import RecordingFields
from isocloth.recordings.grid import sheet

#: arrays without which a file is no robot run
NEEDED = ("t", "nodes", "held", "cloth_size")
#: arrays kept for who scores predictions, one value per frame
PER_FRAME = ("good", "phase", "tool_covers")


def is_robot_run(arrays: dict[str, np.ndarray]) -> bool:
    """Whether the arrays of a file are those of a robot run."""
    return all(name in arrays for name in NEEDED) and np.ndim(arrays["nodes"]) == 4


def robot_fields(arrays: dict[str, np.ndarray], name: str, fabric: Fabric | None = None) -> RecordingFields:
    """Fields of a recording from a robot run; corners from the tool are its `held_path`."""
    nodes = np.array(arrays["nodes"], dtype=np.float64)
    frames, rows, columns, _ = nodes.shape
    if frames < 2:
        raise RecordingError(f"{name!r} has {frames} frames; a motion needs two")
    notes = []
    if "outlier" in arrays:
        bad = np.asarray(arrays["outlier"], dtype=bool) & np.isfinite(nodes[..., 0])
        nodes[bad] = np.nan
        if bad.any():
            notes.append(f"{int(bad.sum())} nodes flagged as impossible are left out")
    held = np.asarray(arrays["held"], dtype=np.int64)
    labels = [f"{i},{j}" for i in range(rows) for j in range(columns)]
    size = np.asarray(arrays["cloth_size"], dtype=np.float64)
    path = arrays.get("held_tool_run", arrays.get("held_tool"))
    about: dict[str, Any] = {k: np.asarray(arrays[k]).astype(int).tolist() for k in PER_FRAME if k in arrays}
    if "lag" in arrays:
        about["lag"] = float(arrays["lag"])
    if "meta" in arrays:
        about["meta"] = json.loads(str(arrays["meta"]))
    return RecordingFields(
        times=arrays["t"], positions=nodes.reshape(frames, rows * columns, 3), labels=labels,
        mesh=sheet((rows, columns), (float(size[0]), float(size[1]))), held=held[:, 0] * columns + held[:, 1],
        held_path=None if path is None else np.asarray(path, dtype=np.float64), fabric=fabric, name=name, notes=notes,
        metadata={"grid": [rows, columns], **about},
    )  # fmt: skip
