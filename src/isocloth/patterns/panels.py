"""Flat panels that are sewn together: what patterns of shells and of cloth that does not stretch have in common."""

from __future__ import annotations

import os
from functools import cached_property
from typing import Any

import numpy as np

from isocloth.base.typing import FloatArray
from isocloth.meshes import Mesh
from isocloth.patterns.cut import Cut
from isocloth.patterns.flatten import smallest_box


class Panels:
    """Panels in the plane, laid out side by side, and how they are sewn."""

    def __init__(self, target: Mesh, cut: Cut, flat: FloatArray) -> None:
        self.target, self.cut = target, cut
        self.flat = flat
        """(p, 2) m, points of the panels in the plane: `cut.node` says which node of the target each is."""

    @cached_property
    def mesh(self) -> Mesh:
        """All panels in the plane z = 0, in the order of `cut`; not sewn."""
        points = np.concatenate([self.flat, np.zeros((len(self.flat), 1))], axis=1)
        return Mesh(points, self.cut.corners, pieces=self.cut.n_panels > 1)

    @cached_property
    def panels(self) -> tuple[Mesh, ...]:
        """Every panel in the plane z = 0."""
        out = []
        for number in range(self.cut.n_panels):
            own = np.flatnonzero(self.cut.panel == number)
            place = np.full(len(self.flat), -1)
            place[own] = np.arange(len(own))
            faces = place[self.cut.corners[self.cut.face_panel == number]]
            out.append(Mesh(self.mesh.vertices[own], faces))
        return tuple(out)

    @property
    def rest(self) -> FloatArray:
        """(f, 3, 3) m, corners of every face in its panel: the rest shape of the sewn cloth, for `Simulation`."""
        return np.asarray(self.mesh.vertices[self.cut.corners])

    @cached_property
    def seam_lengths(self) -> dict[str, tuple[float, float]]:
        """Name -> lengths of both sides, m."""
        out = {}
        for seam in self.cut.seams:
            one, other = (float(np.linalg.norm(np.diff(self.flat[p], axis=0), axis=1).sum()) for p in (seam.a, seam.b))
            out[seam.name] = (one, other)
        return out

    @cached_property
    def area(self) -> float:
        """m^2 of cloth, without allowance."""
        return float(self.mesh.area)

    def lines(self) -> list[tuple[str, str]]:
        """What is to be said, as names and texts."""
        raise NotImplementedError

    @property
    def problem(self) -> str:
        """Empty, or what is wrong and what would help."""
        raise NotImplementedError

    @property
    def positions(self) -> FloatArray:
        """(n, 3) m of the sewn cloth where it hangs."""
        raise NotImplementedError

    @cached_property
    def distances(self) -> FloatArray:
        """(n,) m, of the nodes where the sewn cloth hangs, from the target."""
        return np.asarray(np.linalg.norm(self.positions - self.target.vertices, axis=1))

    @cached_property
    def boxes(self) -> tuple[tuple[float, float], ...]:
        """m, of every panel the shorter and the longer side of the smallest rectangle around it."""
        return tuple(smallest_box(panel.vertices[:, :2]) for panel in self.panels)

    def size_lines(self) -> list[tuple[str, str]]:
        """Sizes of panels and seams."""
        out = []
        for number, panel in enumerate(self.panels):
            wide, high = (1e3 * side for side in self.boxes[number])
            out.append(
                (f"panel {number + 1}", f"in a box of {wide:.1f} mm x {high:.1f} mm, {1e4 * panel.area:.1f} cm^2")
            )
        for name, (one, other) in self.seam_lengths.items():
            out.append((f"seam {name}", f"{1e3 * one:.2f} mm to {1e3 * other:.2f} mm"))
        return out

    def save(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Write the pattern: .svg in millimetres, .dxf, or the panels as a mesh, .obj or .ply, in m."""
        from isocloth.patterns.write import write

        write(self, path, **options)

    def report(self, path: str | os.PathLike[str], *, title: str = "Pattern") -> None:
        """Write a page (.html), one file that needs no other: numbers, the panels, and views that can be turned."""
        from isocloth.patterns.report import save_report

        save_report(self, path, title)
