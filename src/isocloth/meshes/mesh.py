"""The mesh: an immutable value made of nodes in space and triangles or quads between them."""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NoReturn, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isocloth.base import memo
from isocloth.base.errors import InputError, MeshError
from isocloth.base.numeric import as_array, check_flag
from isocloth.base.typing import FloatArray, IntArray
from isocloth.meshes import geometry, topology, units, validate

Element = Literal["triangle", "quad"]

CORNER_TURN = np.deg2rad(50.0)
"""A boundary node is a corner when the boundary turns there by more than this, in rad."""

_Scalar = TypeVar("_Scalar", bound=np.generic)


class Mesh:
    """Rest shape of a cloth: one connected, orientable surface of triangles or of quads, or several such pieces.

    Parameters
    ----------
    vertices : (n, 3) floats, positions of the nodes in m.
    faces : (m, 3) or (m, 4) integers, nodes of each element in order around it.
    corners : nodes to report as `corners` in place of those found from the angles.
    name : a name shown by `repr`.
    orient : turn faces over where neighbours disagree, in place of raising.
    pieces : several separate pieces are meant, as `ic.meshes.together` makes them; else they are refused.

    Arrays are copied, kept read-only and validated: `MeshError` names the offending node or face.
    """

    def __init__(
        self,
        vertices: ArrayLike,
        faces: ArrayLike,
        *,
        corners: ArrayLike | None = None,
        name: str | None = None,
        orient: bool = False,
        pieces: bool = False,
    ) -> None:
        check_flag(orient, "orient")
        check_flag(pieces, "pieces")
        points = validate.as_vertices(vertices)
        nodes = validate.as_faces(faces, len(points))
        validate.check_geometry(points, nodes)
        table = topology.edge_table(nodes)
        validate.check_manifold(nodes, table, pieces=pieces)
        nodes = validate.oriented(nodes, table, repair=orient)
        validate.check_flat_orientation(points, nodes)
        chosen = None if corners is None else validate.check_corners(corners, len(points))
        self._fill(points, nodes, chosen, name)

    def _fill(self, vertices: FloatArray, faces: IntArray, corners: IntArray | None, name: str | None) -> None:
        self.__dict__["vertices"] = _frozen(vertices)
        self.__dict__["faces"] = _frozen(faces)
        self.__dict__["name"] = name
        if corners is not None:
            self.__dict__["corners"] = _frozen(corners)

    vertices: FloatArray
    """(n, 3) positions of the nodes, in m."""
    faces: IntArray
    """(m, 3) or (m, 4) nodes of each element, counter-clockwise seen from the side of the normal."""
    name: str | None

    def __setattr__(self, key: str, value: object) -> NoReturn:
        raise AttributeError(f"a Mesh cannot be changed (tried to set {key!r}); build a new one")

    def __delattr__(self, key: str) -> NoReturn:
        raise AttributeError(f"a Mesh cannot be changed (tried to delete {key!r}); build a new one")

    def __reduce__(self) -> tuple[Any, ...]:
        # Pickling restores plain attributes, which would leave the arrays writeable.
        return _restore, (self.vertices, self.faces, self.__dict__.get("corners"), self.name)

    def __repr__(self) -> str:
        kind = "triangles" if self.element == "triangle" else "quads"
        label = f"{self.name!r}, " if self.name else ""
        return f"Mesh({label}{self.n_vertices} vertices, {self.n_faces} {kind})"

    # Counts and connectivity

    @property
    def n_vertices(self) -> int:
        """Number of nodes."""
        return len(self.vertices)

    @property
    def n_faces(self) -> int:
        """Number of elements."""
        return len(self.faces)

    @property
    def element(self) -> Element:
        """Kind of element, the same for all faces."""
        return "triangle" if self.faces.shape[1] == 3 else "quad"

    @cached_property
    def _edge_table(self) -> topology.EdgeTable:
        return topology.edge_table(self.faces)

    @cached_property
    def edges(self) -> IntArray:
        """(ne, 2) nodes of the edges, smaller first, in lexicographic order; diagonals are not edges."""
        return _frozen(self._edge_table.edges)

    @cached_property
    def edge_faces(self) -> IntArray:
        """(ne, 2) faces at each edge, smaller first; the second is -1 on the boundary."""
        return _frozen(topology.edge_faces(self._edge_table, self.faces.shape[1]))

    @cached_property
    def piece(self) -> IntArray:
        """(n,) which of the separate pieces, from 0, a node belongs to, in the order of their first nodes."""
        return _frozen(topology.component_labels(self.n_vertices, self.edges)[1].astype(np.int64))

    @cached_property
    def boundary_edges(self) -> IntArray:
        """(nb, 2) edges with one face, smaller node first."""
        return _frozen(self.edges[self.edge_faces[:, 1] < 0])

    @cached_property
    def boundary_loops(self) -> list[IntArray]:
        """Closed loops of boundary nodes, the surface to the left, without repeating the first node."""
        directed = topology.boundary_sides(self.faces, self._edge_table)
        return [_frozen(loop) for loop in topology.boundary_loops(directed)]

    @cached_property
    def boundary_nodes(self) -> IntArray:
        """Nodes on the boundary, in increasing order."""
        return _frozen(np.unique(self.boundary_edges))

    @cached_property
    def interior_nodes(self) -> IntArray:
        """Nodes off the boundary, in increasing order."""
        return _frozen(np.setdiff1d(np.arange(self.n_vertices), self.boundary_nodes))

    @cached_property
    def corners(self) -> IntArray:
        """Boundary nodes, increasing, where the boundary turns by more than 50 degrees in the rest shape.

        The turn is pi minus the angles of the incident elements; a rectangle has its four corners, a ring
        has none. Given to the constructor, they are kept as given.
        """
        angles = geometry.node_angles(self.vertices, self.faces)[self.boundary_nodes]
        return _frozen(self.boundary_nodes[np.abs(np.pi - angles) > CORNER_TURN])

    @cached_property
    def triangles(self) -> IntArray:
        """Triangles for drawing and collision; quad f gives rows 2 f and 2 f + 1, split from node 0 to 2."""
        return _frozen(geometry.triangulate(self.faces))

    @property
    def euler_characteristic(self) -> int:
        """Nodes minus edges plus faces: 1 for a disc, 0 for a ring, 2 - k for a sphere with k holes."""
        return self.n_vertices - len(self.edges) + self.n_faces

    @cached_property
    def digest(self) -> bytes:
        """Names the content, nodes, faces and corners: equal meshes have equal digests, whatever they are called."""
        return memo.digest(self.vertices, self.faces, self.corners)

    # Measures

    @cached_property
    def face_areas(self) -> FloatArray:
        """(m,) areas in m^2; a quad is a bilinear patch integrated with 3 x 3 Gauss points."""
        return _frozen(geometry.face_areas(self.vertices, self.faces))

    @cached_property
    def area(self) -> float:
        """Total area in m^2."""
        return float(self.face_areas.sum())

    @cached_property
    def edge_lengths(self) -> FloatArray:
        """(ne,) lengths of `edges`, in m."""
        ends = self.vertices[self.edges]
        return _frozen(np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1))

    @cached_property
    def bounds(self) -> FloatArray:
        """(2, 3) smallest and largest coordinates, in m."""
        return _frozen(np.stack([self.vertices.min(axis=0), self.vertices.max(axis=0)]))

    @cached_property
    def vertex_normals(self) -> FloatArray:
        """(n, 3) unit normals, weighted by the area of the incident faces."""
        return _frozen(geometry.vertex_normals(self.vertices, self.faces))

    @overload
    def nearest(self, point: list[float] | tuple[float, float, float]) -> int: ...

    @overload
    def nearest(self, point: ArrayLike) -> Any: ...

    def nearest(self, point: ArrayLike) -> int | IntArray:
        """Node closest to a point: (3,) in m gives an int, (k, 3) an array; ties go to the smaller node."""
        points = as_array(point, "point", "(3,) or (k, 3)")
        if points.ndim not in (1, 2) or points.shape[-1] != 3:
            given = f"has shape {points.shape}" if points.ndim else f"is {point!r}"
            raise InputError(f"point {given}, expected (3,) or (k, 3) coordinates in m")
        if not np.isfinite(points).all():
            raise InputError(f"point {points.tolist()} is not finite; give finite coordinates in m")
        # Exhaustive search: a tree is faster but breaks ties arbitrarily, and grids are full of ties.
        found = [int(np.argmin(((self.vertices - p) ** 2).sum(axis=1))) for p in points.reshape(-1, 3)]
        return found[0] if points.ndim == 1 else np.array(found, dtype=np.int64)

    # New meshes from this one

    def with_vertices(self, vertices: ArrayLike) -> Mesh:
        """Same connectivity, corners and name at new positions (n, 3), in m.

        Meant for cloth that has moved: positions must be finite, but a fold may bring nodes together or
        turn elements over, so the rest-shape checks are not repeated (see `check_rest_shape`).
        """
        points = validate.as_vertices(vertices)
        if points.shape != self.vertices.shape:
            raise MeshError(
                f"vertices have shape {points.shape}, expected {self.vertices.shape}: one row per node of this mesh"
            )
        moved = _restore(points, self.faces, self.corners, self.name)
        moved.__dict__.update({name: self.__dict__[name] for name in _CONNECTIVITY if name in self.__dict__})
        return moved

    def check_rest_shape(self) -> None:
        """Raise `MeshError` if these positions cannot be a rest shape: coincident nodes, bad elements."""
        validate.check_geometry(self.vertices, self.faces)
        validate.check_flat_orientation(self.vertices, self.faces)

    def transformed(self, rotation: ArrayLike | None = None, translation: ArrayLike | None = None) -> Mesh:
        """Rigidly moved copy, x -> R x + t, with a (3, 3) rotation matrix and a (3,) translation in m."""
        moved: FloatArray = self.vertices
        if rotation is not None:
            matrix = as_array(rotation, "rotation", "(3, 3)")
            if matrix.shape != (3, 3) or not np.allclose(matrix @ matrix.T, np.eye(3), atol=1e-8):
                raise InputError(f"rotation is {matrix.tolist()}, expected an orthogonal (3, 3) matrix")
            if np.linalg.det(matrix) < 0.0:
                raise InputError(
                    f"rotation is a reflection (determinant -1), {matrix.tolist()}, expected determinant +1"
                )
            moved = moved @ matrix.T
        if translation is not None:
            shift = as_array(translation, "translation", "(3,)")
            if shift.shape != (3,) or not np.isfinite(shift).all():
                raise InputError(f"translation is {shift.tolist()}, expected 3 finite numbers in m")
            moved = moved + shift
        return self.with_vertices(moved)

    def triangulated(self) -> Mesh:
        """Triangle mesh with the same nodes and corners; itself if it has triangles already."""
        if self.element == "triangle":
            return self
        return Mesh(self.vertices, self.triangles, corners=self.corners, name=self.name)

    # Files

    @classmethod
    def load(
        cls, path: str | os.PathLike[str], *, scale: float = 1.0, up: str = "z", merge: bool | None = None
    ) -> Mesh:
        """Read .obj, .ply, .stl, .gltf or .glb; faces are oriented consistently.

        `scale` is metres per unit of the file, 0.001 for mm; `up` is the axis of the file that points up: "x", "y" or
        "z", which it is here. `merge` joins coincident vertices; by default only where the format duplicates them
        (STL, glTF).
        """
        from isocloth.meshes import files

        factor, turn = units.check_scale(scale), units.check_axis(up)
        if merge is not None:
            check_flag(merge, "merge")
        vertices, faces = files.read(path, merge=merge)
        if factor != 1.0:
            vertices = factor * vertices
        if turn is not units.TURNS["z"]:
            vertices = vertices @ turn.T
        try:
            return cls(vertices, faces, name=Path(path).stem, orient=True)
        except MeshError as error:
            raise MeshError(f"{os.fspath(path)}: {error}") from error

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write .obj or .ply (quads kept), .stl, .gltf or .glb (quads split); never leaves half a file."""
        from isocloth.meshes import files

        files.write(path, self.vertices, self.faces)


#: what depends on the faces alone, and stays known when a mesh moves
_CONNECTIVITY = (
    "_edge_table", "edges", "edge_faces", "piece", "boundary_edges", "boundary_loops", "boundary_nodes",
    "interior_nodes", "triangles",
)  # fmt: skip


def _restore(vertices: FloatArray, faces: IntArray, corners: IntArray | None, name: str | None) -> Mesh:
    """Build a mesh from arrays already known to be valid."""
    mesh = Mesh.__new__(Mesh)
    mesh._fill(vertices, faces, corners, name)
    return mesh


def _frozen(array: NDArray[_Scalar]) -> NDArray[_Scalar]:
    array = np.ascontiguousarray(array)
    array.setflags(write=False)
    return array
