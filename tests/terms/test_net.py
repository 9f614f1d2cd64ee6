"""The angles of a net: no stretch along the crease of any fold, no force from flat shears they should not see."""

from __future__ import annotations

import numpy as np
import pytest

from isocloth import meshes
from isocloth.terms.isometry import discretisation_for, edges
from isocloth.terms.net import net_angles


def rolled(points: np.ndarray, angle: float, radius: float) -> np.ndarray:
    """Points (n, 3) of the plane on a cylinder whose axis is across the direction `angle`."""
    c, s = np.cos(angle), np.sin(angle)
    across, along = c * points[:, 0] + s * points[:, 1], c * points[:, 1] - s * points[:, 0]
    x, z = radius * np.sin(across / radius), radius * (1.0 - np.cos(across / radius))
    return np.stack([c * x - s * along, s * x + c * along, z], axis=1)


def stretch_along_the_crease(mesh, angle: float, radius: float) -> float:
    """Stretch along the axis of an exact cylinder as edges and angles together see it, over (h / radius)^2."""
    x = rolled(mesh.vertices, angle, radius)
    a, b = mesh.edges.T
    lengths = edges(mesh, mesh.edges).values(x)
    horizontal = np.abs(mesh.vertices[a, 1] - mesh.vertices[b, 1]) < 1e-9
    e, g = lengths[horizontal].mean(), lengths[~horizontal].mean()
    f = net_angles(mesh, mesh.interior_nodes).values(x).mean()
    c, s = np.cos(angle), np.sin(angle)
    h = mesh.edge_lengths.max()
    return float(0.5 * (s * s * e + c * c * g - 2.0 * s * c * f) * (radius / h) ** 2)


@pytest.mark.parametrize("shape", [(31, 31), (41, 21)])
@pytest.mark.parametrize("degrees", [0.0, 20.0, 45.0, -45.0, 70.0, 90.0])
def test_a_fold_of_any_direction_does_not_stretch_along_its_crease(degrees: float, shape: tuple[int, int]) -> None:
    mesh = meshes.rectangle(1.0, 1.0, shape=shape)
    # central differences alone give h^2 / 32 R^2 at 45 degrees
    assert abs(stretch_along_the_crease(mesh, np.radians(degrees), 0.5)) < 3e-4


def test_central_differences_alone_would_stretch_by_a_thirty_second() -> None:
    mesh = meshes.rectangle(1.0, 1.0, shape=(31, 31))
    x = rolled(mesh.vertices, np.pi / 4, 0.5).reshape(31, 31, 3)
    h = 1.0 / 30.0
    f = np.einsum("ijk,ijk->ij", x[2:, 1:-1] - x[:-2, 1:-1], x[1:-1, 2:] - x[1:-1, :-2]) / (4 * h * h)
    chord = edges(mesh, mesh.edges).values(x.reshape(-1, 3)).mean()
    assert 0.5 * (chord - f.mean()) * (0.5 / h) ** 2 == pytest.approx(1 / 32, rel=0.01)


def test_a_flat_shear_is_seen_as_its_angle_and_nothing_else() -> None:
    mesh = meshes.rectangle(0.4, 0.3, shape=(9, 7))
    v = mesh.vertices
    sheared = np.stack([v[:, 0] + 0.1 * v[:, 1], v[:, 1], v[:, 2]], axis=1)
    rows = net_angles(mesh, np.concatenate([mesh.interior_nodes, mesh.corners]))
    assert rows.values(sheared) == pytest.approx(0.1, abs=1e-12)


def test_the_default_is_chosen_by_element_and_unknown_names_are_refused() -> None:
    quads = meshes.rectangle(1.0, 1.0, shape=(3, 3))
    triangles = meshes.rectangle(1.0, 1.0, shape=(3, 3), element="triangle")
    assert discretisation_for(quads) == "net"
    assert discretisation_for(triangles) == "stabilised"
    assert discretisation_for(quads, "nodal") == "nodal"
    with pytest.raises(ValueError, match="needs quads"):
        discretisation_for(triangles, "net")
    with pytest.raises(ValueError, match="choose one of net"):
        discretisation_for(quads, "nets")
