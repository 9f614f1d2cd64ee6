"""Named places on a cloth: corners and boundary loops."""

from __future__ import annotations

import re

import numpy as np

from isocloth.base.errors import InputError
from isocloth.base.typing import IntArray
from isocloth.meshes import Mesh
from isocloth.scenes.problems import nearest

PLACES = ("corners", "top corners", "bottom corners", "corner i", "boundary", "boundary loop i")
_NUMBERED = re.compile(r"(corner|boundary loop) (\d{1,9})")


def check_place(name: str) -> str:
    """Empty, or what is wrong with the name of a place."""
    if _NUMBERED.fullmatch(name) or (name in PLACES and not name.endswith(" i")):
        return ""
    return f"this place is unknown; {nearest(name, PLACES)} (i is a number, counted from 0)"


def find_place(name: str, mesh: Mesh) -> IntArray:
    """Nodes of a place on the placed cloth; ValueError says why there are none."""
    numbered = _NUMBERED.fullmatch(name)
    if name == "boundary":
        return _some(mesh.boundary_nodes, "the cloth has no boundary")
    if numbered and numbered[1] == "boundary loop":
        return mesh.boundary_loops[_index(int(numbered[2]), len(mesh.boundary_loops), "boundary loops")]
    corners = _some(mesh.corners, "this cloth has no corners; name the nodes with `at` or `nodes`")
    if name == "corners":
        return corners
    if numbered:
        return corners[[_index(int(numbered[2]), len(corners), "corners")]]
    return _two_highest(mesh, corners) if name == "top corners" else _two_highest(mesh, corners, sign=-1.0)


def _two_highest(mesh: Mesh, corners: IntArray, sign: float = 1.0) -> IntArray:
    if len(corners) < 3:
        return corners
    height = sign * mesh.vertices[corners, 2]
    order = np.argsort(-height, kind="stable")
    size = float(np.linalg.norm(np.ptp(mesh.vertices, axis=0)))
    if height[order[1]] - height[order[2]] < 1e-6 * size:
        raise InputError(
            "which two corners are at the top or the bottom is not clear: three or more have the same height; "
            'name them, such as where = ["corner 0", "corner 3"]'
        )
    return np.sort(corners[order[:2]])


def _some(nodes: IntArray, otherwise: str) -> IntArray:
    if len(nodes) == 0:
        raise InputError(otherwise)
    return nodes


def _index(i: int, count: int, what: str) -> int:
    if i >= count:
        raise InputError(f"the cloth has {count} {what}, counted from 0, but number {i} is asked for: choose another")
    return i
