"""Scene files with elastic shells: models by name and by table, rest shapes from files, and what is refused."""

import numpy as np
import pytest

import isocloth as ic
from isocloth.base.errors import InputError
from isocloth.scenes import build, load_scene

SCENE = """
[cloth]
width = 0.2
height = 0.2
nodes = [5, 5]
element = "triangle"
{cloth}

[simulation]
duration = 0.05
model = {model}
"""


def simulation(tmp_path, model, cloth=""):
    path = tmp_path / "scene.toml"
    path.write_text(SCENE.format(model=model, cloth=cloth))
    return build(load_scene(path))


def test_shells_are_named_or_given_with_their_parameters(tmp_path):
    assert simulation(tmp_path, '"koiter"').model == ic.models.KoiterShell()
    given = '{ name = "koiter", young = 1e6, poisson = 0.2, normals = "tan", membrane = "neo-hookean" }'
    expected = ic.models.KoiterShell(young=1e6, poisson=0.2, normals="tan", membrane="neo-hookean")
    assert simulation(tmp_path, given).model == expected
    shell = simulation(tmp_path, '{ name = "discrete_shell", stretch = 20.0, bending = 2e-5, area = 5.0 }')
    assert shell.model == ic.models.DiscreteShell(stretch=20.0, bending=2e-5, area=5.0)
    woven = simulation(tmp_path, '{ name = "woven", warp = 900.0, bending_weft = 1e-5 }')
    assert woven.model == ic.models.WovenShell(warp=900.0, bending_weft=1e-5)
    assert woven.run(0.02).reports["converged"].all()


def test_a_rest_shape_comes_from_a_mesh_or_from_corners(tmp_path):
    flat = ic.meshes.rectangle(0.2, 0.2, (5, 5), element="triangle")
    bent = flat.with_vertices(flat.vertices + [0.0, 0.0, 1.0] * flat.vertices[:, :1] ** 2)
    bent.save(tmp_path / "bent.ply")
    np.save(tmp_path / "corners.npy", bent.vertices[bent.faces])
    mesh = simulation(tmp_path, '"koiter"', 'rest = "bent.ply"')
    corners = simulation(tmp_path, '"koiter"', 'rest = "corners.npy"')
    np.testing.assert_allclose(mesh.rest.vertices, bent.vertices, atol=1e-7)
    assert corners.cloth.shape is not None
    assert corners.energy["potential"] == pytest.approx(mesh.energy["potential"], rel=1e-5)
    assert mesh.energy["potential"] > 0.0


@pytest.mark.parametrize(("model", "cloth", "message"), [
    ('{ name = "koiter", normals = "mean" }', "", "simulation.model.normals"),
    ('{ name = "koiter", young = -1.0 }', "", "simulation.model.young"),
    ('"koiter"', 'rest = "nowhere.obj"', "cloth.rest"),
    ('"koiter"', 'rest = "other.obj"', "other faces"),
    ('"isometric"', 'rest = "corners.npy"', "take a shell"),
])  # fmt: skip
def test_what_cannot_be_is_named_with_its_field(tmp_path, model, cloth, message):
    ic.meshes.rectangle(0.2, 0.2, (4, 4), element="triangle").save(tmp_path / "other.obj")
    flat = ic.meshes.rectangle(0.2, 0.2, (5, 5), element="triangle")
    np.save(tmp_path / "corners.npy", flat.vertices[flat.faces])
    with pytest.raises(InputError, match=message):
        simulation(tmp_path, model, cloth)
