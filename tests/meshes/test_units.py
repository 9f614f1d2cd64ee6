"""Meshes in other units, and with another axis up."""

from __future__ import annotations

import numpy as np
import pytest

import isocloth as ic

SHEET = ic.meshes.rectangle(0.3, 0.4, (4, 5))


def test_a_file_in_mm_with_y_up_is_loaded_as_it_is_meant(tmp_path):
    upright = SHEET.with_vertices(1000 * SHEET.vertices)
    upright.save(tmp_path / "cloth.obj")
    loaded = ic.Mesh.load(tmp_path / "cloth.obj", scale=0.001, up="y")
    np.testing.assert_allclose(loaded.vertices, SHEET.vertices[:, [0, 2, 1]] * [1, -1, 1], atol=1e-9)
    same = ic.Mesh.load(tmp_path / "cloth.obj")
    np.testing.assert_allclose(same.vertices, upright.vertices, atol=1e-6)


def test_a_cloth_larger_than_any_is_refused_unless_it_is_meant():
    field = ic.meshes.rectangle(30.0, 1.0, (4, 3))
    with pytest.raises(ValueError, match=r"30 m large: expected at most 20 m.*scale=0\.001.*units='m'"):
        ic.Simulation(field)
    assert ic.Simulation(field, units="m").mesh is field


def test_a_rest_shape_in_another_unit_is_refused():
    with pytest.raises(ic.MeshError, match="10 times as long"):
        ic.Simulation(SHEET, rest=0.1 * SHEET.vertices)
    ic.Simulation(SHEET, rest=0.5 * SHEET.vertices, model="elastic")  # a stretched elastic sheet may be meant
