import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import isocloth as ic


@settings(max_examples=20, deadline=None)
@given(st.floats(0.5, 2.0))
def test_a_uniform_stretch_has_known_errors(s):
    mesh = ic.meshes.rectangle(0.4, 0.3, shape=(5, 4))
    y = mesh.vertices * np.array([s, 1.0, 1.0])
    area = ic.measure.area_errors(mesh, y)
    assert area.total == pytest.approx(abs(s - 1), abs=1e-12)
    assert area.mean == pytest.approx(abs(s - 1), abs=1e-12)
    assert area.dispersion == pytest.approx(abs(s - 1), abs=1e-7)
    assert ic.measure.edge_stretch(mesh, y).max == pytest.approx(abs(s - 1), abs=1e-12)
    metric = ic.measure.metric_errors(mesh, y)
    # the frame of a node may start along either direction of the net
    assert max(metric.E, metric.G) == pytest.approx(abs(s**2 - 1), abs=1e-10)
    assert pytest.approx(0.0, abs=1e-10) == metric.F


def test_the_papers_formulas_by_hand():
    mesh = ic.meshes.rectangle(2.0, 1.0, shape=(3, 2))
    y = mesh.vertices.copy()
    y[mesh.vertices[:, 0] == 1.0, 0] = 1.2  # elements of area 1.2 and 0.8
    area = ic.measure.area_errors(mesh, y)
    assert area.total == pytest.approx(0.0, abs=1e-12)
    assert area.mean == pytest.approx(0.2)
    assert area.dispersion == pytest.approx(0.2, abs=1e-7)  # both elements err alike: no variance


def test_motions_give_one_number_per_frame():
    mesh = ic.meshes.rectangle(0.4, 0.3, shape=(5, 4))
    frames = np.stack([mesh.vertices, 1.1 * mesh.vertices])
    assert ic.measure.area_errors(mesh, frames).total == pytest.approx([0.0, 0.21])
    assert ic.measure.edge_stretch(mesh, frames).rms == pytest.approx([0.0, 0.1])
    assert ic.measure.metric_errors(mesh, frames).E.shape == (2,)


def test_the_wrong_number_of_nodes_is_named():
    mesh = ic.meshes.rectangle(0.4, 0.3, shape=(5, 4))
    with pytest.raises(ValueError, match=r"\(3, 3\).*expected \(20, 3\)"):
        ic.measure.area_errors(mesh, np.zeros((3, 3)))


def test_a_quad_folded_along_a_diagonal_keeps_its_area_and_a_sheared_one_does_not():
    mesh = ic.meshes.rectangle(1.0, 1.0, shape=(2, 2))
    folded = mesh.vertices.copy()
    folded[1] = folded[2]  # flat along the other diagonal: both triangles on top of each other
    assert ic.measure.area_change(mesh, folded) == pytest.approx(0.0, abs=1e-12)
    assert ic.measure.area_errors(mesh, folded).total == pytest.approx(2 / 3, abs=0.1)  # as a bilinear patch
    x, y, z = mesh.vertices.T
    sheared = np.stack([x + 0.6 * y, 0.8 * y, z], axis=1)
    assert ic.measure.area_change(mesh, sheared) == pytest.approx(-0.2)


@pytest.mark.parametrize("element", ["quad", "triangle"])
def test_the_change_of_area_is_that_of_a_uniform_stretch(element):
    mesh = ic.meshes.rectangle(0.4, 0.3, shape=(5, 4), element=element)
    assert ic.measure.area_change(mesh, 1.1 * mesh.vertices) == pytest.approx(0.21)
    assert ic.measure.area_change(mesh, mesh.vertices) == pytest.approx(0.0, abs=1e-15)
