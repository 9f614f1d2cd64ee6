"""Flat panels of cloth that does not stretch: its shape alone says what they are.

A cloth that does not stretch is as long everywhere as it hangs, so its panels are those that unroll with the least
stretch; forces are not needed. What stretch is left says how well they fit: of an exact shape it goes to zero, of a
captured one it is its errors. A shape that does not unroll, a ball, leaves much of it.

Errors of a mesh lengthen its edges, by s^2 / l each way that is across; so a mesh that is said to be noisy is smoothed
before (`smoothing.py`). Points are made a surface first (`ic.reconstruct`), which fits them as well. Where the surface
ends is known as well as points lie near its end: what is beyond the outermost ones is not seen.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from isocloth.base.errors import InputError
from isocloth.base.numeric import shown
from isocloth.base.typing import FloatArray
from isocloth.fabric import Fabric
from isocloth.meshes import Mesh
from isocloth.models import Model
from isocloth.patterns.cut import Cut, cut_open
from isocloth.patterns.flatten import flatten
from isocloth.patterns.panels import Panels
from isocloth.patterns.smoothing import smoothed
from isocloth.reconstruction import Reconstruction, reconstruct
from isocloth.simulation import Simulation

#: root mean square of the stretch that is left, above which a shape counts as one that does not unroll
UNROLLS = 0.01


class UnrolledPattern(Panels):
    """Panels of cloth that does not stretch. Made by `pattern`."""

    def __init__(
        self, target: Mesh, cut: Cut, flat: FloatArray, stretch: FloatArray, model: Model, fabric: Fabric | None,
        scan: Reconstruction | None,
    ) -> None:  # fmt: skip
        super().__init__(target, cut, flat)
        self.stretch = stretch
        """(e,) of `cut.edges`: (length in the panel - length in the target) / length in the target."""
        self.scan = scan
        """The surface through the points that were given; None of a mesh."""
        self.model, self._fabric = model, fabric

    @property
    def positions(self) -> FloatArray:
        """(n, 3) m: the target, or the smoothed one."""
        return self.target.vertices

    @cached_property
    def error(self) -> float:
        """Root mean square of the stretch that is left."""
        return float(np.sqrt(np.mean(self.stretch**2)))

    @property
    def reached(self) -> bool:
        """Whether the target unrolls, to a stretch of a hundredth."""
        return self.error <= UNROLLS

    @property
    def unseen(self) -> float:
        """m, how far from the outline the end of a cloth of points may be: half of the mean distance of points."""
        return 0.0 if self.scan is None else self.scan.spacing / 2.0

    @property
    def problem(self) -> str:
        """Empty, or what is wrong and what would help."""
        said = []
        if not self.reached:
            worst = float(np.abs(self.stretch).max())
            said.append(
                f"the target does not unroll: its panels are stretched by {self.error:.2g} in the mean and {worst:.2g} "
                "at most; more seams, or a noise if it was captured, may help; else the cloth does stretch"
            )
        if self.scan is not None:
            said += [doubt.message for doubt in self.scan.doubts]
        return "; ".join(said)

    def lines(self) -> list[tuple[str, str]]:
        """What was found, as names and texts."""
        worst = float(np.abs(self.stretch).max())
        out = [("unrolls", "yes" if self.reached else "no")]
        out.append(("stretch left", f"{self.error:.2g} rms, {worst:.2g} at most"))
        if self.scan is not None:
            out.append(("points", f"{len(self.scan.points)} of {len(self.scan.given)}"))
            out.append(("not seen", f"ends beyond the outermost points, about {1e3 * self.unseen:.2g} mm"))
        return [*out, *self.size_lines()]

    def simulation(self, *, timestep: float = 0.01, **options: Any) -> Simulation:
        """A simulation that begins in the target, of a cloth whose rest shape is the panel."""
        if self.cut.seams:
            raise InputError(
                f"the pattern has {len(self.cut.seams)} seams: expected none to simulate cloth that does not stretch, "
                "which has one rest shape; sew it by a shell, model=ic.models.DiscreteShell(...)"
            )
        return Simulation(
            self.target, self._fabric, model=self.model, rest=self.target.with_vertices(self.mesh.vertices),
            timestep=timestep, **options,
        )  # fmt: skip

    def __repr__(self) -> str:
        return f"<UnrolledPattern of {self.cut.n_panels} panels for {self.target!r}, stretch {self.error:.2g}>"


def unrolled(
    target: Mesh | ArrayLike, fabric: Fabric | None, model: Model, seams: Any, noise: float | None
) -> UnrolledPattern:
    """The panels of a mesh, or of points (n, 3) in m, of cloth that does not stretch."""
    scan = None
    if not isinstance(target, Mesh):
        if np.ndim(seams) and len(seams):
            raise InputError(
                f"seams = {shown(seams)}: points have no edges to cut along; give scan.mesh of scan = "
                "ic.reconstruct(points) as the target, and seams of its nodes"
            )
        scan = reconstruct(target, sheet=True)
        target = scan.mesh
    if target.element != "triangle":
        target = target.triangulated()
    cut = cut_open(target, seams)
    flat = flatten(target, cut)
    if noise is not None and scan is None:
        target = target.with_vertices(smoothed(target, cut, flat.points).points)
        flat = flatten(target, cut)
    return UnrolledPattern(target, cut, flat.points, flat.stretch, model, fabric, scan)
