"""The mesh on which a recording is simulated, and values at markers carried over to its nodes."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from isocloth.base.errors import InputError, RecordingError
from isocloth.base.typing import FloatArray
from isocloth.calibration.start import on_finer_grid
from isocloth.meshes import Mesh
from isocloth.models import Model, Nonconforming, QuasiInextensible
from isocloth.recordings.grid import sheet
from isocloth.recordings.sampling import weights_at

#: markers up to this number are too few for a mesh: it gets a node between every two, as in the papers
FEW = 30


class SimulationMesh(NamedTuple):
    """A flat mesh over the markers, and how values (k, 3) at the markers become values (n, 3) at its nodes."""

    mesh: Mesh
    carry: Callable[[FloatArray], FloatArray]
    note: str = ""


def simulation_mesh(markers: Mesh, shape: tuple[int, int] | None, model: Model) -> SimulationMesh:
    """The mesh on which a model is simulated.

    Markers in rows and columns: quads, with `shape` nodes along width and height. Others: their own mesh, except that
    the quasi-inextensible model, which needs quads, gets a grid of about as many nodes if the markers' triangles fill a
    rectangle. What a model makes of quads is said by `with_elements`.
    """
    x, y = np.unique(np.round(markers.vertices[:, 0], 9)), np.unique(np.round(markers.vertices[:, 1], 9))
    corner, size = np.array([x[0], y[0], 0.0]), (float(x[-1] - x[0]), float(y[-1] - y[0]))
    regular = (
        markers.element == "quad"
        and len(x) * len(y) == markers.n_vertices
        and np.ptp(markers.vertices[:, 2]) < 1e-9
        and np.allclose(markers.vertices, sheet((len(y), len(x)), size).vertices + corner)
    )
    if not regular:
        return _irregular(markers, shape, model, corner, size)
    grid = (len(y), len(x))
    if shape is not None:
        finer = (int(shape[1]), int(shape[0]))
    elif markers.n_vertices <= FEW:
        finer = (2 * grid[0] - 1, 2 * grid[1] - 1)
    else:
        finer = grid
    if finer == grid:
        return SimulationMesh(markers, lambda values: values)
    made = sheet(finer, size)
    return SimulationMesh(made.with_vertices(made.vertices + corner), lambda values: on_finer_grid(values, grid, finer))


def _irregular(
    markers: Mesh, shape: tuple[int, int] | None, model: Model, corner: FloatArray, size: tuple[float, float]
) -> SimulationMesh:
    if shape is not None:
        raise InputError("shape needs markers in rows and columns; without it the recording's own mesh is simulated")
    if np.ptp(markers.vertices[:, 2]) > 1e-9:
        raise RecordingError("the rest shape of the recording is not flat along x and y")
    if not isinstance(model, QuasiInextensible) or markers.element == "quad":
        return SimulationMesh(markers, lambda values: values)
    if abs(markers.area - size[0] * size[1]) > 1e-6 * markers.area:
        raise RecordingError(
            f"the model {model.name!r} needs quads, and the recording's triangles fill {markers.area:.4g} m^2 of a "
            f"rectangle of {size[0]:.4g} x {size[1]:.4g} m: a grid can take their place in a whole rectangle only; use "
            "another model"
        )
    side = np.sqrt(markers.area / markers.n_vertices)
    rows, columns = (max(2, round(length / side)) for length in (size[1], size[0]))
    made = sheet((rows, columns), size)
    made = made.with_vertices(made.vertices + corner)
    weights, nodes = weights_at(markers.vertices[:, :2], markers.faces, made.vertices[:, :2])

    def carry(values: FloatArray) -> FloatArray:
        out: FloatArray = np.einsum("kq,kqd->kd", weights, values[nodes])
        return out

    return SimulationMesh(
        made, carry, f"triangles replaced by {columns} x {rows} nodes in quads, which {model.name} needs"
    )


def with_elements(mesh: Mesh, model: Model) -> tuple[Mesh, str]:
    """The mesh with the elements that a model needs, on the same nodes; and a note if it had others."""
    if isinstance(model, Nonconforming) and mesh.element == "quad":
        return mesh.triangulated(), f"every quad cut into two triangles, which {model.name} needs"
    return mesh, ""
