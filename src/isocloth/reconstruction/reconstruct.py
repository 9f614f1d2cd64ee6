"""From points to a surface: the pipeline of chapter 5, one stage after the other."""

from __future__ import annotations

import warnings
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from isocloth.base.errors import InputError, MeshError, SamplingError
from isocloth.base.numeric import as_float, check_count, check_flag, is_one_of, shown
from isocloth.base.typing import FloatArray, IntArray
from isocloth.meshes import Mesh
from isocloth.meshes.subdivide import triangles_to_quads
from isocloth.reconstruction import cloud, filters
from isocloth.reconstruction import distance as distances
from isocloth.reconstruction.diagnostics import Diagnostic, diagnose, diagnose_sheet, require_surface
from isocloth.reconstruction.morse import discrete_gradient, height, homology, levels
from isocloth.reconstruction.morse.cells import Cell, CellComplex, CriticalPoint, decompose
from isocloth.reconstruction.remeshing import fitting, glue, parametrise, remesh
from isocloth.reconstruction.triangulation import boundary, complex, neighbours, normals
from isocloth.reconstruction.triangulation.sheet import as_sheet
from isocloth.reconstruction.triangulation.triangulate import Stages, manifold_components, triangulate

#: nodes spread evenly over the surface, or charts of 2-cells glued together
Meshing = Literal["spread", "charts"]

#: a component with fewer points is left out
SMALLEST_COMPONENT = 12
#: and one with less than this share of the points
SMALLEST_SHARE = 0.01


@dataclass(frozen=True, eq=False)
class Reconstruction:
    """A surface through points, its cells, and how sure it is. Lengths in m; see `reconstruct`.

    given: (n, N) the cloud as it came. points: (k, N) of the surface. index: (k,) which rows of `given` these are.
    surface: the triangles between all points. direction: (N,) of the height. doubts: what may be wrong, and why.
    """

    given: FloatArray
    index: IntArray
    surface: complex.Complex
    direction: FloatArray
    detail: float
    gradient: discrete_gradient.Gradient
    cell_complex: CellComplex
    stages: Stages
    doubts: tuple[Diagnostic, ...]
    edge: float | None = None
    element: Literal["triangle", "quad"] = "triangle"
    meshing: Meshing = "spread"
    options: dict[str, object] = field(default_factory=dict)

    def __repr__(self) -> str:
        sure = "sure" if self.sure else f"{len(self.doubts)} doubts"
        return f"Reconstruction({len(self.points)} of {len(self.given)} points, {self.description}, {sure})"

    # The surface

    @property
    def points(self) -> FloatArray:
        """(k, N) points of the surface, in m."""
        return self.surface.points

    @property
    def height(self) -> FloatArray:
        """(k,) heights of the points in `direction`, in m."""
        return self.points @ self.direction

    @cached_property
    def spacing(self) -> float:
        """sqrt(area / points), in m."""
        return float(np.sqrt(self.surface.area / len(self.points)))

    # Topology

    @property
    def components(self) -> int:
        """Number of connected pieces."""
        return self.surface.components

    @property
    def euler_characteristic(self) -> int:
        """2 for a sphere, 1 for a disc, 0 for a torus, a ring or a Moebius strip; the sum over all components."""
        return self.surface.euler_characteristic

    @property
    def boundary_curves(self) -> list[IntArray]:
        """Closed curves of points of the surface."""
        return self.surface.boundary_curves

    @property
    def orientable(self) -> bool:
        """Whether the surface has two sides."""
        return self.surface.orientable

    @cached_property
    def homology(self) -> homology.Homology:
        """Betti numbers and torsion, from the attachments of the cells."""
        return homology.homology(self.cell_complex)

    @property
    def invariants(self) -> tuple[int, int, int, bool]:
        """Components, Euler characteristic, number of boundary curves, orientable: whatever the direction."""
        return self.components, self.euler_characteristic, len(self.boundary_curves), self.orientable

    @property
    def description(self) -> str:
        """What kind of surface it is, in words."""
        return complex.describe(*self.invariants)

    # Cells

    @property
    def cells(self) -> list[Cell]:
        """0-, 1- and 2-cells, in this order."""
        return self.cell_complex.all

    @property
    def critical_points(self) -> list[CriticalPoint]:
        """Critical points of the height, from the lowest to the highest."""
        return self.cell_complex.critical_points

    @property
    def critical_counts(self) -> dict[str, int]:
        """How many critical points of each kind."""
        return dict(Counter(point.kind for point in self.critical_points))

    def level_sets(self, count: int = 24) -> list[levels.LevelSet]:
        """The curves in which `count` evenly spaced hyperplanes cut the surface."""
        h = self.height
        return [levels.level_set(self.surface, h, float(c)) for c in levels.regular_levels(h, count)]

    def chart(self, number: int = 0, domain: parametrise.Domain = "disc") -> parametrise.Chart:
        """A 2-cell laid out flat."""
        return parametrise.chart(self.surface, self.cell_complex, self.gradient, number, domain)

    # The mesh

    @cached_property
    def mesh(self) -> Mesh:
        """A mesh for `Simulation`, with edges of about the length asked for, by default two spacings."""
        if self.meshing == "spread":
            return self.remeshed(self.edge, self.element)
        return _as_mesh(self.made)

    @cached_property
    def made(self) -> glue.Glued:
        """What `mesh` is made of where it is glued from charts."""
        return self.gluing(self.edge, self.element)

    def remeshed(self, edge: float | None = None, element: Literal["triangle", "quad"] = "triangle") -> Mesh:
        """A mesh of triangles or quads with edges of about `edge` m, of the same topology."""
        wanted = self._meshable(edge, element)
        # a quad is a third of a triangle, with sides of about 0.43 of its edges
        nodes, triangles = remesh.remesh(self.surface, wanted if element == "triangle" else wanted / 0.43)
        positions = fitting.relaxed(self.surface, self._fit, nodes, triangles)
        if element == "triangle":
            return Mesh(positions, triangles, name="reconstruction", orient=True)
        vertices, quads = triangles_to_quads(positions, triangles)
        try:
            return Mesh(fitting.project_onto(self._fit, vertices), quads, name="reconstruction", orient=True)
        except MeshError:  # on a coarse mesh of a curved surface a quad may lose its convexity
            return Mesh(vertices, quads, name="reconstruction", orient=True)

    def glued(self, edge: float | None = None, element: Literal["triangle", "quad"] = "triangle") -> Mesh:
        """The same glued from the charts of all 2-cells, section 5.4.9: 1-cells are edges of it.

        Quads: a cell that fits on a rectangle becomes a grid. `gluing` tells which face is of which 2-cell.
        """
        return _as_mesh(self.gluing(edge, element))

    def gluing(self, edge: float | None = None, element: Literal["triangle", "quad"] = "triangle") -> glue.Glued:
        """What `glued` is made of: vertices and faces, 2-cells of the faces, and edges on 1-cells."""
        wanted = self._meshable(edge, element)
        found = glue.glue(self.surface, self.cell_complex, self.gradient, self._fit, wanted, element)
        if found.folded:
            warnings.warn(
                f"{found.folded} of {len(found.faces)} faces glued from charts lie upside down against the surface; "
                "ask for shorter edges, or use remeshed()",
                stacklevel=3,
            )
        return found

    def _meshable(self, edge: float | None, element: str) -> float:
        """The length of edges in m; raises if there is no such Mesh of this surface."""
        if self.points.shape[1] != 3:
            raise MeshError(
                f"the points have {self.points.shape[1]} coordinates, a Mesh lives in 3; use `surface`, which has "
                "points and triangles in any dimension"
            )
        if not is_one_of(element, ("triangle", "quad")):
            raise InputError(f'element is {element!r}, expected "triangle" or "quad"')
        if edge is not None and not 0.0 < edge < np.inf:
            raise InputError(f"edge is {edge} m, expected a positive length")
        if self.components > 1:
            raise MeshError(
                f"the surface has {self.components} pieces, a Mesh is one; take one piece with `piece(number)`"
            )
        if not self.orientable:
            raise MeshError("the surface has one side only, a Mesh needs two; use `surface`, or cut it open")
        return 2.0 * self.spacing if edge is None else edge

    def piece(self, number: int) -> Reconstruction:
        """The reconstruction of the points of one component, numbered from 0, the largest first."""
        sizes = np.bincount(self.surface.component_of)
        if not 0 <= number < len(sizes):
            raise InputError(f"piece {number} does not exist; there are {len(sizes)}, numbered from 0")
        label = np.argsort(-sizes, kind="stable")[number]
        chosen = self.points[self.surface.component_of == label]
        return reconstruct(chosen, **self.options)  # type: ignore[arg-type]

    @cached_property
    def _fit(self) -> fitting.Fit:
        near, _ = neighbours.nearest(self.points, normals.FITTED)
        frames, _ = normals.tangent_frames(self.points, near)
        return fitting.fit(self.points, frames, near, self.surface.on_boundary)

    @cached_property
    def distance_to_points(self) -> FloatArray:
        """(n,) distances in m of the given points that are on the surface to the mesh."""
        mesh = self.mesh
        return distances.distances(self.points, mesh.vertices, mesh.triangles)

    # How sure

    @property
    def sure(self) -> bool:
        """Whether nothing speaks against the result."""
        return not self.doubts

    @cached_property
    def certainty(self) -> float:
        """Share of five random selections of 85 % of the points that give the same invariants. Computed when asked."""
        return certainty(self)


def _as_mesh(made: glue.Glued) -> Mesh:
    return Mesh(made.vertices, made.faces, name="reconstruction", orient=True)


def reconstruct(
    points: ArrayLike,
    *,
    direction: ArrayLike | None = None,
    detail: float | None = None,
    largest_gap: float = boundary.LARGEST_GAP,
    outliers: bool = True,
    sheet: bool = False,
    smooth: int = 0,
    edge: float | None = None,
    element: Literal["triangle", "quad"] = "triangle",
    meshing: Meshing = "spread",
    seed: int = 0,
) -> Reconstruction:
    """The surface that a cloud of points samples: its triangles, topology, cells, and a mesh for the simulator.

    Parameters
    ----------
    points : (n, N) coordinates in m, N >= 3, without order; at least 20.
    direction : (N,) direction of the height function; by default the best of 12 random ones.
    detail : m, features of less height are noise; by default 2.5 spacings or a fiftieth of the height. Changes the
        number of cells, never the topology.
    largest_gap : polygons between points that reach farther than so many spacings from their middle are holes.
    outliers : leave out points that lie apart from all others.
    sheet : the points are known to be of one sheet, a disc: holes within its outline were not seen and are closed, and
        of several pieces the largest is kept. What this changed is in `.doubts`.
    smooth : times that the discrete-curvature filter smooths the height, for wrinkled clouds; chapter 5 uses 8.
    edge, element : length of edges (m) and kind of element of `.mesh`; by default two spacings and triangles.
    meshing : how `.mesh` is made: from nodes "spread" evenly over the surface, or glued from the "charts" of 2-cells.
    seed : of the random directions.

    Raises `SamplingError` where the points do not determine a surface. What is found but not sure is in `.doubts`.
    """
    given = cloud.as_points(points)
    if not 1.0 <= (as_float(largest_gap) or np.nan) < np.inf:
        raise InputError(f"largest_gap is {shown(largest_gap)} spacings, expected at least 1")
    if detail is not None and not ((length := as_float(detail)) is not None and 0.0 <= length < np.inf):
        raise InputError(f"detail is {shown(detail)} m, expected a length of 0 or more")
    if edge is not None and not 0.0 < (as_float(edge) or np.nan) < np.inf:
        raise InputError(f"edge is {shown(edge)} m, expected a positive length, or None for two spacings")
    for name, value in (("smooth", smooth), ("seed", seed)):
        check_count(value, name)
    for name, flag in (("outliers", outliers), ("sheet", sheet)):
        check_flag(flag, name)
    if not is_one_of(meshing, ("spread", "charts")):
        raise InputError(f'meshing is {meshing!r}, expected "spread" or "charts"')
    if element not in ("triangle", "quad"):
        raise InputError(f'element is {element!r}, expected "triangle" or "quad"')
    if direction is not None:
        height.unit(direction, given.shape[1])
    kept = cloud.distinct(given)
    if outliers and len(kept) >= cloud.FEWEST:
        kept = kept[~filters.outliers(given[kept])]
    if len(kept) < cloud.FEWEST:
        raise SamplingError(
            f"of {len(given)} points only {len(kept)} are distinct and not apart from all others, a surface needs at "
            f"least {cloud.FEWEST}; sample it more densely, or pass outliers=False"
        )
    stages, triangles = triangulate(given[kept], kept, largest_gap)
    require_surface(len(kept), stages.flatness, triangles)
    least = max(SMALLEST_COMPONENT, int(SMALLEST_SHARE * len(kept)))
    clean = manifold_components(given[kept], stages.spacing, triangles, largest_gap, least)
    require_surface(len(kept), stages.flatness, clean)
    closed, left = np.empty(0), 0
    if sheet:
        clean, closed, left = as_sheet(given[kept], clean)
    surface, used = complex.compact(given[kept], clean)
    doubts = diagnose(surface, used, stages, largest_gap)
    spacing = float(np.median(stages.spacing[used]))
    if sheet:
        doubts += diagnose_sheet(surface, closed / spacing, left)
    shape = surface
    if smooth:
        moved = filters.curvature_filter(surface.points, surface.edges, times=smooth)
        shape = complex.Complex(moved, surface.triangles)
    if direction is None:
        chosen, found = height.choose_direction(shape, spacing, detail, seed=seed)
    else:
        chosen = height.unit(direction, given.shape[1])
        h = shape.points @ chosen
        found = discrete_gradient.gradient(shape, h, height.usual_detail(h, spacing) if detail is None else detail)
    h = shape.points @ chosen
    options: dict[str, object] = {
        "direction": direction, "detail": detail, "largest_gap": largest_gap, "outliers": outliers, "sheet": sheet,
        "smooth": smooth, "edge": edge, "element": element, "meshing": meshing, "seed": seed,
    }  # fmt: skip
    return Reconstruction(
        given,
        kept[used],
        surface,
        chosen,
        height.usual_detail(h, spacing) if detail is None else detail,
        found,
        decompose(surface, h, found),
        stages,
        doubts,
        edge,
        element,
        meshing,
        options,
    )


def certainty(found: Reconstruction, *, selections: int = 5, share: float = 0.85, seed: int = 0) -> float:
    """Share of random selections of the points of a surface that give the same invariants."""
    random = np.random.default_rng(seed)
    largest_gap = float(found.options.get("largest_gap", boundary.LARGEST_GAP))  # type: ignore[arg-type]
    same = 0
    for _ in range(selections):
        chosen = np.sort(random.choice(len(found.points), int(share * len(found.points)), replace=False))
        try:
            stages, triangles = triangulate(found.points[chosen], chosen, largest_gap)
            least = max(SMALLEST_COMPONENT, int(SMALLEST_SHARE * len(chosen)))
            clean = manifold_components(found.points[chosen], stages.spacing, triangles, largest_gap, least)
            if found.options.get("sheet"):
                clean, _, _ = as_sheet(found.points[chosen], clean)
            other, _ = complex.compact(found.points[chosen], clean)
        except (ValueError, IndexError):
            continue
        curves = len(other.boundary_curves)
        same += (other.components, other.euler_characteristic, curves, other.orientable) == found.invariants
    return same / selections
