"""The simulated database whose numbers are documented, in short: its checksum, and where its corners are.

Folding is chaotic where layers slide on each other: another processor, compiler or a changed solver moves some states
by centimetres. On one machine the bits, and so the checksum, are the same every time; elsewhere the distances between
the corners of every state are compared to a tolerance.
"""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

import numpy as np

from isocloth.base.typing import FloatArray
from isocloth.states import Database
from isocloth.states.representations import corner_distances

SAME = 0.02  # m: half of all distances between corners change by less


def fingerprint(database: Database) -> dict[str, Any]:
    """What is committed of a database."""
    return {
        "checksum": database.checksum,
        "corner_distances_mm": np.rint(1e3 * corner_distances_of(database)).astype(int).tolist(),
    }


def corner_distances_of(database: Database) -> FloatArray:
    """(s, 6) distances in m between the four corners of every state."""
    return np.array([corner_distances(b) for b in database.boundaries])


def committed() -> dict[str, Any]:
    """That of the documented database: ten states of each class, 20 x 20 nodes, seed 0."""
    kept: dict[str, Any] = json.loads((files("isocloth.folding") / "fingerprint.json").read_text(encoding="utf-8"))
    return kept
