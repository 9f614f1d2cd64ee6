"""A closed body bounded by triangles."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike

from isocloth.base.errors import InputError, MeshError
from isocloth.base.typing import FloatArray
from isocloth.meshes import Mesh
from isocloth.obstacles.arguments import array, fixed
from isocloth.obstacles.obstacle import Features, Options, Surface
from isocloth.obstacles.sharp import SharpEdges, mesh_edges


class TriangleMesh(Features):
    """A body bounded by a closed surface of triangles, moderately fine.

    vertices: (k, 3) m in the obstacle's own frame, with faces (f, 3); or a `Mesh`; or the path of a mesh file (.obj,
    .ply, .stl, .gltf, .glb). Quads are split; faces are turned outwards. centre: (3,) m, where the origin of that
    frame is at time 0; by default where the path starts, or the origin. Options are those of every `Obstacle`.
    """

    def __init__(
        self,
        vertices: ArrayLike | Mesh | str | os.PathLike[str],
        faces: ArrayLike | None = None,
        *,
        centre: ArrayLike | None = None,
        **options: Unpack[Options],
    ) -> None:
        mesh = _as_mesh(vertices, faces)
        _check_closed(mesh)
        mesh = mesh.triangulated()
        corners = mesh.vertices[mesh.faces]
        volume = float(np.einsum("fi,fi->", corners[:, 0], np.cross(corners[:, 1], corners[:, 2]))) / 6.0
        if not abs(volume) > 1e-9 * float(np.linalg.norm(np.ptp(mesh.vertices, axis=0))) ** 3:
            raise MeshError(
                f"the mesh encloses a volume of {abs(volume):.3g} m^3, almost none for its size: expected a body; "
                "give it some thickness"
            )
        self._points = fixed(np.array(mesh.vertices))
        self.edges = fixed(np.array(mesh.edges))
        self.faces = fixed(np.array(mesh.faces if volume > 0.0 else mesh.faces[:, ::-1]))
        super().__init__(None if centre is None else array(centre, "centre", (3,)), **options)

    def vertices(self, time: float) -> FloatArray:
        """(k, 3) m: where the vertices are at a time in s."""
        turn, centre = self._motion.pose(time)
        return self._points @ turn.T + centre

    def _edges(self) -> SharpEdges:
        return mesh_edges(self._points, self.faces)

    def surface(self, time: float) -> Surface:
        """The mesh itself."""
        return self.vertices(time), self.faces


def _as_mesh(vertices: Any, faces: Any) -> Mesh:
    if isinstance(vertices, Mesh | str | os.PathLike) and faces is not None:
        kind = "a Mesh" if isinstance(vertices, Mesh) else "a file"
        raise InputError(f"{kind} and faces are given: expected faces with an array of vertices only; leave them out")
    if isinstance(vertices, Mesh):
        return vertices
    if isinstance(vertices, str | os.PathLike):
        return Mesh.load(Path(vertices))
    if faces is None:
        raise InputError(
            "faces are missing (None): expected TriangleMesh(vertices, faces), a Mesh or the path of a mesh file"
        )
    return Mesh(vertices, faces, orient=True)


def _check_closed(mesh: Mesh) -> None:
    count = len(mesh.boundary_edges)
    if count:
        raise MeshError(
            f"the mesh is not watertight: {count} of its edges have one face only, the first is "
            f"{mesh.boundary_edges[0].tolist()}, in {len(mesh.boundary_loops)} hole(s): expected a closed surface; "
            "close the holes, or merge vertices that coincide (Mesh.load(path, merge=True))"
        )
