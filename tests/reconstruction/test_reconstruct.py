import numpy as np
import pytest

import isocloth as ic
from isocloth.base.errors import MeshError
from isocloth.meshes.surfaces import surface, turned
from isocloth.reconstruction import draw
from isocloth.reconstruction.report import page
from isocloth.reconstruction.triangulation.complex import describe

from .shapes import NAMES, found


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("noise", [0.0, 0.2])
@pytest.mark.parametrize("seed", [0, 1])
def test_random_samples_give_the_right_surface(name, noise, seed):
    result = found(name, 1500, seed, noise)
    assert result.invariants == surface(name).invariants
    assert result.homology.betti == surface(name).betti
    assert result.cell_complex.euler_characteristic == result.euler_characteristic


def test_outliers_and_uneven_density_do_not_matter():
    shape = surface("torus")
    result = ic.reconstruct(shape.sample(4000, seed=3, noise=0.1, uneven=4.0, outliers=40))
    assert result.invariants == shape.invariants


def test_the_result_does_not_depend_on_the_order_of_points_or_on_motion():
    points = surface("pair of pants").sample(2000, seed=0)
    shuffled = np.random.default_rng(0).permutation(2000)
    first = ic.reconstruct(points)
    second = ic.reconstruct(turned(points[shuffled] + [1.0, -2.0, 0.5], seed=4))
    assert first.invariants == second.invariants == surface("pair of pants").invariants


def test_the_same_input_gives_the_same_bits():
    points = surface("torus").sample(900, seed=0, noise=0.1)
    first, second = ic.reconstruct(points), ic.reconstruct(points)
    np.testing.assert_array_equal(first.surface.triangles, second.surface.triangles)
    np.testing.assert_array_equal(first.direction, second.direction)
    np.testing.assert_array_equal(first.mesh.vertices, second.mesh.vertices)


def test_two_pieces_are_two_components_and_can_be_taken_one_by_one():
    points = np.vstack([surface("sphere").sample(900, seed=0), surface("disk").sample(700, seed=0) + 5.0])
    result = ic.reconstruct(points)
    assert result.components == 2
    assert result.euler_characteristic == 3
    with pytest.raises(MeshError, match="2 pieces"):
        _ = result.mesh
    assert result.piece(0).description == "sphere"
    assert result.piece(1).description == "disc"
    with pytest.raises(ValueError, match="piece 2"):
        result.piece(2)


def test_a_regular_grid_is_a_disc():
    """Four points on a circle everywhere: the worst case for Delaunay neighbours."""
    x, y = np.meshgrid(np.linspace(0, 0.3, 16), np.linspace(0, 0.4, 21))
    points = np.column_stack([x.ravel(), y.ravel(), 0.05 * np.sin(8 * x.ravel())])
    result = ic.reconstruct(points)
    assert result.description == "disc"
    assert len(result.index) == len(points)
    assert result.sure


def test_nodes_of_a_tank_top_give_back_a_tank_top():
    mesh = ic.meshes.tank_top(triangles=4000)
    result = ic.reconstruct(mesh.vertices)
    assert result.invariants == (1, -2, 4, True)


def test_the_distance_to_the_points_is_below_half_a_spacing():
    for name in ("sphere", "torus", "pair of pants"):
        result = found(name, 1500, 0, 0.2)
        assert result.distance_to_points.mean() < 0.5 * result.spacing
        assert len(result.distance_to_points) == len(result.points)


def test_a_given_direction_is_taken():
    points = surface("torus").sample(1500, seed=0)
    result = ic.reconstruct(points, direction=[0, 2.0, 0], detail=0.2)
    np.testing.assert_allclose(result.direction, [0, 1, 0])
    assert result.critical_counts == {"minimum": 1, "saddle": 2, "maximum": 1}
    assert len(result.cells) == 4
    assert result.detail == 0.2


def test_smoothing_the_height_leaves_the_points_and_the_topology_alone():
    points = surface("annulus").sample(1500, seed=0, noise=0.2)
    result = ic.reconstruct(points, smooth=8)
    assert result.invariants == surface("annulus").invariants
    np.testing.assert_array_equal(result.points, points[result.index])


# ------------------------------------------------------------------- what it refuses


@pytest.mark.parametrize(
    ("points", "message"),
    [
        (np.zeros((5, 3)), "at least 20"),
        (np.zeros((50, 3)), "all 50 points are the same"),
        (np.zeros((50, 2)), "column of zeros"),
        (np.zeros(50), "shape"),
        ([["a", "b", "c"]] * 30, "expected numbers of shape"),
        (np.full((30, 3), np.nan), "must be finite"),
        (np.repeat(np.random.default_rng(0).normal(size=(8, 3)), 10, axis=0), "only 8 are distinct"),
        (np.random.default_rng(0).normal(size=(800, 3)), "no surface"),
        (np.column_stack([np.linspace(0, 1, 200), np.zeros(200), np.zeros(200)]), "surface"),
    ],
)
def test_what_is_no_surface_is_refused(points, message):
    with pytest.raises(ic.SamplingError, match=message):
        ic.reconstruct(points)


@pytest.mark.parametrize("count", [40, 80, 150, 300, 500])
@pytest.mark.parametrize("seed", range(3))
def test_too_few_points_are_refused_or_doubted_but_never_silently_wrong(count, seed):
    shape = surface("torus")
    try:
        result = ic.reconstruct(shape.sample(count, seed=seed, noise=0.2))
    except ic.SamplingError:
        return
    assert result.invariants == shape.invariants or result.doubts


def test_a_hole_that_may_be_a_gap_is_doubted():
    random = np.random.default_rng(0)
    points = np.column_stack([random.uniform(size=(3000, 2)), np.zeros(3000)])
    spacing = 1 / np.sqrt(3000)
    doubted = points[np.linalg.norm(points[:, :2] - 0.5, axis=1) > 3.6 * spacing]
    assert [d.what for d in ic.reconstruct(doubted).doubts] == ["gap"]
    clear = ic.reconstruct(points[np.linalg.norm(points[:, :2] - 0.5, axis=1) > 8 * spacing])
    assert clear.description == "ring"
    assert clear.sure
    assert clear.certainty == 1.0


def test_wrong_options_are_refused():
    points = surface("sphere").sample(300, seed=0)
    for option, message in (
        ({"direction": [0, 0, 0]}, "direction"),
        ({"direction": [0, 1]}, "direction"),
        ({"largest_gap": 0.5}, "largest_gap is 0.5"),
        ({"detail": -1.0}, "detail is -1"),
        ({"smooth": -1}, "smooth is -1"),
    ):
        with pytest.raises(ValueError, match=message):
            ic.reconstruct(points, **option)
    result = ic.reconstruct(points)
    with pytest.raises(ValueError, match="edge is -1"):
        result.remeshed(-1.0)
    with pytest.raises(ValueError, match="element"):
        result.remeshed(element="hexagon")


def test_one_sided_surfaces_and_higher_dimensions_have_no_mesh_but_a_surface():
    with pytest.raises(MeshError, match="one side"):
        _ = found("Moebius strip").mesh
    with pytest.raises(MeshError, match="4 coordinates"):
        _ = found("Klein bottle").mesh
    assert found("Klein bottle").surface.points.shape[1] == 4


# -------------------------------------------------------------- words and pictures


def test_surfaces_in_words():
    assert describe(1, -2, 4, True) == "sphere with 4 holes"
    assert describe(1, -2, 0, True) == "surface with 2 handles"
    assert describe(1, -1, 1, True) == "surface with 1 handle with 1 hole"
    assert describe(1, -1, 0, False) == "one-sided surface with 3 crosscaps"
    assert describe(2, 3, 1, True).startswith("2 pieces")
    assert repr(found("torus")) == "Reconstruction(1500 of 1500 points, torus, sure)"


@pytest.mark.parametrize("name", ["torus", "annulus", "Klein bottle"])
def test_pictures_show_something(name):
    result = found(name)
    for picture in (
        draw.points_picture(result, 200, 160),
        draw.cells_picture(result, 200, 160),
        draw.levels_picture(result, 8, 200, 160),
        draw.chart_picture(result.chart(0), 200, 160),
    ):
        assert picture.shape == (160, 200, 3)
        assert len(np.unique(picture.reshape(-1, 3), axis=0)) > 10


def test_the_report_tells_the_topology_and_the_doubts():
    text = page(found("annulus"), "a ring")
    assert "<h1>a ring</h1>" in text
    assert "H0 = Z, H1 = Z, H2 = 0" in text
    assert text.count("<img") == 5
    assert "http" not in text.replace("http://www.w3.org", "")
