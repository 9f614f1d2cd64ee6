"""Several cloths as one mesh of separate pieces, which one simulation moves, with contact and friction between them;
and such a mesh taken apart."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from isocloth.base.errors import InputTypeError, MeshError
from isocloth.base.typing import IntArray
from isocloth.meshes.mesh import Mesh


def together(meshes: Sequence[Mesh], *, name: str | None = None) -> Mesh:
    """One mesh of all the given ones, in their order: nodes, faces and corners of one behind those of the other.

    `Mesh.piece` says which of them a node belongs to. All have triangles, or all have quads.
    """
    given: list[Mesh] = list(meshes) if isinstance(meshes, (list, tuple)) else [meshes]  # type: ignore[list-item]
    for k, mesh in enumerate(given):
        if not isinstance(mesh, Mesh):
            raise InputTypeError(f"piece {k} is {type(mesh).__name__}: expected a list of isocloth.Mesh")
    if not given:
        raise MeshError("no pieces are given: expected at least one mesh")
    kinds = [mesh.element for mesh in given]
    if len(set(kinds)) > 1:
        raise MeshError(
            f"piece 0 has {kinds[0]}s and piece {next(k for k, kind in enumerate(kinds) if kind != kinds[0])} others: "
            "expected the same elements; `mesh.triangulated()` makes triangles of quads"
        )
    first = [sum(mesh.n_vertices for mesh in given[:k]) for k in range(len(given))]
    return Mesh(
        np.concatenate([mesh.vertices for mesh in given]),
        np.concatenate([mesh.faces + begin for mesh, begin in zip(given, first, strict=True)]),
        corners=np.concatenate([mesh.corners + begin for mesh, begin in zip(given, first, strict=True)]),
        name=name, pieces=True,
    )  # fmt: skip


def apart(mesh: Mesh) -> list[tuple[Mesh, IntArray]]:
    """Every separate piece as a mesh of its own, in the order of `Mesh.piece`, and which nodes of all it has."""
    found = []
    for k in range(int(mesh.piece.max()) + 1):
        nodes = np.flatnonzero(mesh.piece == k).astype(np.int64)
        number = np.full(mesh.n_vertices, -1, dtype=np.int64)
        number[nodes] = np.arange(len(nodes))
        faces = number[mesh.faces[mesh.piece[mesh.faces[:, 0]] == k]]
        corners = number[mesh.corners]
        found.append((Mesh(mesh.vertices[nodes], faces, corners=corners[corners >= 0]), nodes))
    return found
