"""`isocloth reconstruct`."""

import numpy as np
import pytest

import isocloth as ic
from isocloth.cli import main
from isocloth.meshes.surfaces import surface


@pytest.fixture
def cloud(tmp_path):
    np.savetxt(tmp_path / "cloud.xyz", surface("annulus").sample(900, seed=0))
    return tmp_path / "cloud.xyz"


def test_a_cloud_becomes_a_mesh_and_a_report(cloud, tmp_path, capsys):
    mesh, report = tmp_path / "mesh.obj", tmp_path / "report.html"
    assert main(["reconstruct", str(cloud), "-o", str(mesh), "--report", str(report), "--edge", "0.2"]) == 0
    assert ic.Mesh.load(mesh).euler_characteristic == 0
    assert "boundary curves" in report.read_text()
    out = capsys.readouterr().out
    assert "surface                ring" in out
    assert "Euler characteristic   0" in out


def test_of_several_pieces_the_largest_becomes_the_mesh(tmp_path, capsys):
    points = np.vstack([surface("disk").sample(900, seed=0), surface("disk").sample(500, seed=1) + 5.0])
    np.save(tmp_path / "two.npy", points)
    assert main(["reconstruct", str(tmp_path / "two.npy"), "-o", str(tmp_path / "m.ply"), "--quiet"]) == 0
    assert "2 pieces" in capsys.readouterr().err
    assert ic.Mesh.load(tmp_path / "m.ply").vertices[:, 0].max() < 2.0


def test_quads_and_a_grid(cloud, tmp_path):
    out = tmp_path / "mesh.obj"
    words = ["--element", "quad", "--grid", "0.05", "--direction", "0", "0", "1", "--quiet"]
    assert main(["reconstruct", str(cloud), "-o", str(out), *words]) == 0
    assert ic.Mesh.load(out).element == "quad"


def test_a_ring_taken_as_a_sheet_is_closed_and_says_so(cloud, tmp_path, capsys):
    out = tmp_path / "mesh.obj"
    assert main(["reconstruct", str(cloud), "-o", str(out), "--edge", "0.2", "--sheet"]) == 0
    assert ic.Mesh.load(out).euler_characteristic == 1
    told = capsys.readouterr()
    assert "closed because this is one sheet" in told.err


def test_charts_are_glued_on_request(cloud, tmp_path, capsys):
    meshes = []
    for meshing in ("spread", "charts"):
        out = tmp_path / f"{meshing}.obj"
        assert main(["reconstruct", str(cloud), "-o", str(out), "--meshing", meshing, "--edge", "0.2"]) == 0
        meshes.append(ic.Mesh.load(out))
    assert all(mesh.euler_characteristic == 0 and len(mesh.boundary_loops) == 2 for mesh in meshes)
    assert meshes[0].n_vertices != meshes[1].n_vertices
    assert "smallest angle" in capsys.readouterr().out


def test_errors_are_short(tmp_path, capsys):
    assert main(["reconstruct", str(tmp_path / "none.ply")]) == 2
    assert "does not exist" in capsys.readouterr().err
    np.save(tmp_path / "ball.npy", np.random.default_rng(0).normal(size=(400, 3)))
    assert main(["reconstruct", str(tmp_path / "ball.npy")]) == 2
    assert "no surface" in capsys.readouterr().err
    assert main(["reconstruct", str(tmp_path / "ball.npy"), "--edge", "-1"]) == 2
