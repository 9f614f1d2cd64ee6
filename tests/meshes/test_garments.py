"""Tank top, dress and shorts: topology, size, orientation and quality."""

from __future__ import annotations

import numpy as np
import pytest

from isocloth.meshes import Mesh, dress, shorts, tank_top
from isocloth.meshes.geometry import vector_areas
from isocloth.meshes.mesher import smallest_angle

GARMENTS = {
    "tank top": (tank_top, 4, 1676),
    "dress": (lambda: dress(triangles=1200), 4, 1200),
    "shorts": (shorts, 3, 1500),
}


@pytest.fixture(params=GARMENTS, scope="module")
def garment(request):
    make, openings, count = GARMENTS[request.param]
    return make(), openings, count


def test_a_garment_is_a_sphere_with_its_openings(garment):
    mesh, openings, _ = garment
    assert len(mesh.boundary_loops) == openings
    assert mesh.euler_characteristic == 2 - openings


def test_the_number_of_triangles_is_met(garment):
    mesh, _, count = garment
    assert abs(mesh.n_faces - count) <= 1


def test_triangles_are_good(garment):
    mesh, _, _ = garment
    # the sides of a dress bulge steeply, which stretches the triangles beside its seams
    angle, ratio = (10.0, 10.0) if mesh.name == "dress" else (20.0, 6.0)
    assert smallest_angle(mesh.vertices, mesh.faces) > np.deg2rad(angle)
    assert mesh.face_areas.max() / mesh.face_areas.min() < ratio


def test_front_and_back_never_touch_flat(garment):
    mesh, _, _ = garment
    normals = vector_areas(mesh.vertices, mesh.faces)
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    inner = mesh.edge_faces[mesh.edge_faces[:, 1] >= 0]
    turn = np.arccos(np.clip((normals[inner[:, 0]] * normals[inner[:, 1]]).sum(axis=1), -1.0, 1.0))
    assert turn.max() < np.deg2rad(120.0)


def test_normals_point_outwards(garment):
    mesh, _, _ = garment
    y, outward = mesh.vertices[:, 1], mesh.vertex_normals[:, 1]
    assert (outward[y < -0.01] < 0.0).all()
    assert (outward[y > 0.01] > 0.0).all()


def test_a_garment_has_no_corners(garment):
    assert garment[0].corners.tolist() == []


def test_a_garment_passes_every_check_again(garment):
    mesh, _, _ = garment
    assert Mesh(mesh.vertices, mesh.faces).n_faces == mesh.n_faces


def test_a_tank_top_has_the_asked_measures():
    mesh = tank_top(width=0.5, height=0.7, depth=0.12, triangles=600)
    assert np.ptp(mesh.vertices, axis=0) == pytest.approx([0.5, 0.12, 0.7], abs=1e-9)


def test_a_dress_has_the_asked_measures():
    mesh = dress(width=0.5, waist=0.4, hem=1.0, height=1.2, waist_height=0.7, depth=0.4, triangles=1200)
    assert np.ptp(mesh.vertices, axis=0) == pytest.approx([1.0, 0.4, 1.2], abs=1e-9)
    heights, widths = mesh.vertices[:, 2], 2.0 * np.abs(mesh.vertices[:, 0])
    assert widths[np.abs(heights - 0.7) < 0.03].max() == pytest.approx(0.4, rel=0.02)
    assert widths[np.abs(heights - 0.98) < 0.03].max() == pytest.approx(0.5, rel=0.02)


def test_shorts_have_the_asked_measures():
    mesh = shorts(hem=0.2, gap=0.1, length=0.5, depth=0.1, triangles=600)
    assert np.ptp(mesh.vertices, axis=0) == pytest.approx([0.5, 0.1, 0.5], abs=1e-9)


def test_the_neck_is_deeper_in_front():
    mesh = tank_top(triangles=800)
    neck = max(mesh.boundary_loops, key=lambda loop: mesh.vertices[loop, 2].mean())
    points = mesh.vertices[neck]
    assert points[np.argmin(points[:, 2]), 1] < 0.0


@pytest.mark.parametrize(("make", "openings"), [(tank_top, 4), (shorts, 3)])
def test_garments_come_with_quads_too(make, openings):
    mesh = make(element="quad", triangles=1500)
    assert mesh.element == "quad"
    assert mesh.n_faces == pytest.approx(750, rel=0.05)
    assert mesh.euler_characteristic == 2 - openings


@pytest.mark.parametrize("make", [tank_top, dress, shorts])
def test_the_same_seed_gives_the_same_bits(make):
    assert np.array_equal(make(triangles=300, seed=5).vertices, make(triangles=300, seed=5).vertices)


@pytest.mark.parametrize(
    ("make", "options", "message"),
    [
        (tank_top, {"width": -1.0}, "width"),
        (tank_top, {"depth": np.nan}, "depth"),
        (tank_top, {"strap": 0.2}, "less than width"),
        (tank_top, {"neck_depth": 0.7}, "less than height"),
        (tank_top, {"arm_depth": 0.01}, "arm_depth"),
        (tank_top, {"triangles": 10}, "at least 300"),
        (tank_top, {"seed": -1}, "seed"),
        (dress, {"waist_height": 0.9}, "waist between"),
        (dress, {"strap": 0.2}, "less than width"),
        (dress, {"hem": np.inf}, "hem"),
        (shorts, {"rise": 0.5}, "less than length"),
        (shorts, {"gap": 0.0}, "gap"),
        (shorts, {"triangles": 400, "element": "quad"}, "at least 1440"),
        (shorts, {"element": "line"}, "element"),
    ],
)
def test_wrong_measures_are_named(make, options, message):
    with pytest.raises(ValueError, match=message):
        make(**options)
