"""Files: round trips in every format, and refusals."""

from __future__ import annotations

import numpy as np
import pytest

from isocloth.base.errors import MeshError
from isocloth.meshes import Mesh, files, irregular_rectangle, rectangle, ring

EXTENSIONS = [".obj", ".ply", ".stl", ".gltf", ".glb"]


@pytest.mark.parametrize("extension", EXTENSIONS)
def test_triangles_come_back(tmp_path, extension):
    mesh = irregular_rectangle(0.7, 1.3, nodes=60)
    mesh.save(tmp_path / f"cloth{extension}")
    back = Mesh.load(tmp_path / f"cloth{extension}")
    assert (back.n_vertices, back.n_faces) == (mesh.n_vertices, mesh.n_faces)
    assert sorted(back.face_areas) == pytest.approx(sorted(mesh.face_areas), rel=1e-5)
    assert len(back.corners) == 4
    assert back.name == "cloth"


@pytest.mark.parametrize("extension", [".obj", ".ply"])
@pytest.mark.parametrize("element", ["quad", "triangle"])
def test_obj_and_ply_keep_every_bit_and_the_order(tmp_path, extension, element):
    mesh = ring(0.1, 1.0 / 3.0, (3, 11), element)
    mesh.save(tmp_path / f"ring{extension}")
    back = Mesh.load(tmp_path / f"ring{extension}")
    assert np.array_equal(back.vertices, mesh.vertices)
    assert np.array_equal(back.faces, mesh.faces)


@pytest.mark.parametrize("extension", [".stl", ".gltf", ".glb"])
def test_formats_for_triangles_split_quads_and_merge_what_they_duplicate(tmp_path, extension):
    mesh = rectangle(0.7, 1.3, (4, 5))
    mesh.save(tmp_path / f"cloth{extension}")
    back = Mesh.load(tmp_path / f"cloth{extension}")
    assert (back.n_vertices, back.n_faces, back.element) == (20, 24, "triangle")
    assert back.area == pytest.approx(mesh.area, rel=1e-6)
    assert len(back.boundary_loops) == 1


def test_saving_is_silent_and_leaves_one_file(tmp_path, capfd, recwarn):
    for extension in EXTENSIONS:
        rectangle(1.0, 1.0, (3, 3)).save(tmp_path / f"cloth{extension}")
        Mesh.load(str(tmp_path / f"cloth{extension}"))
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(f"cloth{e}" for e in EXTENSIONS)
    assert capfd.readouterr() == ("", "")
    assert len(recwarn) == 0


@pytest.mark.parametrize("extension", EXTENSIONS)
def test_a_failed_save_leaves_the_old_file_and_no_other(tmp_path, monkeypatch, extension):
    target = tmp_path / f"cloth{extension}"
    target.write_text("old")

    def broken(*args):
        raise OSError("disk full")

    monkeypatch.setattr(files.os, "replace", broken)
    with pytest.raises(OSError, match="disk full"):
        rectangle(1.0, 1.0, (2, 2)).save(target)
    assert [p.name for p in tmp_path.iterdir()] == [target.name]
    assert target.read_text() == "old"


def test_extensions_are_read_in_any_case(tmp_path):
    for name in ("a.OBJ", "a.GLB", "a.Ply"):
        rectangle(1.0, 1.0, (2, 2)).save(tmp_path / name)
        assert Mesh.load(tmp_path / name).n_vertices == 4


@pytest.mark.parametrize("extension", EXTENSIONS)
def test_a_missing_file_is_named(tmp_path, extension):
    with pytest.raises(FileNotFoundError, match=r"nowhere.*does not exist"):
        Mesh.load(tmp_path / f"nowhere{extension}")


def test_a_folder_is_no_file(tmp_path):
    (tmp_path / "folder.obj").mkdir()
    with pytest.raises(FileNotFoundError, match="is a folder"):
        Mesh.load(tmp_path / "folder.obj")


def test_saving_into_a_missing_folder_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="create it"):
        rectangle(1.0, 1.0, (2, 2)).save(tmp_path / "missing" / "cloth.obj")


@pytest.mark.parametrize("name", ["cloth.txt", "cloth", "cloth.vtk"])
def test_an_unknown_extension_lists_the_known_ones(tmp_path, name):
    for action in (Mesh.load, rectangle(1.0, 1.0, (2, 2)).save):
        with pytest.raises(ValueError, match=r"\.obj, \.ply, \.stl, \.gltf, \.glb"):
            action(tmp_path / name)


@pytest.mark.parametrize("extension", EXTENSIONS)
@pytest.mark.parametrize(
    "content", [b"", b"nonsense\n", b"\x00\xff\xfe" * 100, b"ply\nformat ascii 1.0\n", b"{}", b"v 1\n"]
)
def test_an_empty_or_broken_file_is_refused(tmp_path, capfd, extension, content):
    path = tmp_path / f"broken{extension}"
    path.write_bytes(content)
    with pytest.raises(MeshError, match="broken"):
        Mesh.load(path)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("extension", EXTENSIONS)
def test_a_truncated_file_is_refused(tmp_path, extension):
    path = tmp_path / f"cut{extension}"
    rectangle(1.0, 1.0, (6, 6)).save(path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(MeshError, match="cut"):
        Mesh.load(path)


def test_mixed_elements_in_a_file_are_counted(tmp_path):
    path = tmp_path / "mixed.obj"
    path.write_text("v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 2 0 0\nf 1 2 3 4\nf 2 5 3\n")
    with pytest.raises(MeshError, match=r"mixes elements.*1 quads, 1 triangles"):
        Mesh.load(path)


def test_polygons_in_a_file_are_refused(tmp_path):
    path = tmp_path / "five.obj"
    path.write_text("v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv -1 0.5 0\nf 1 2 3 4 5\n")
    with pytest.raises(MeshError, match="more than 4 nodes"):
        Mesh.load(path)


def test_an_obj_with_colours_textures_groups_and_lines_is_read(tmp_path):
    path = tmp_path / "rich.obj"
    path.write_text(
        "# rich\no cloth\nv 0 0 0 1 0 0\nv 1 0 0 1 0 0\nv 1 1 0 1 0 0\nv 0 1 0 1 0 0\nvt 0 0\nvn 0 0 1\n"
        "g one\nf 1/1/1 2/1/1 3/1/1\ng two\nf 1//1 3//1 4//1\nl 1 2\n"
    )
    assert Mesh.load(path).faces.tolist() == [[0, 1, 2], [0, 2, 3]]


def test_an_obj_may_count_vertices_backwards_and_continue_lines(tmp_path):
    path = tmp_path / "backwards.obj"
    path.write_text("v 0 0 0\nv 1 0 0\nv 1 1 0\nf -3 -2 \\\n -1\nv 0 1 0\nf -4 -2 -1\n")
    assert Mesh.load(path).faces.tolist() == [[0, 1, 2], [0, 2, 3]]


@pytest.mark.parametrize("name", ["vertex_index", "vertex_indices"])
def test_a_text_ply_is_read_with_either_name_of_its_faces(tmp_path, name):
    path = tmp_path / "text.ply"
    path.write_text(
        "ply\nformat ascii 1.0\ncomment by hand\nelement vertex 4\nproperty float x\nproperty float y\n"
        f"property float z\nelement face 2\nproperty list uchar int {name}\nend_header\n"
        "0 0 0\n1 0 0\n1 1 0\n0 1 0\n3 0 1 2\n3 0 2 3\n"
    )
    assert Mesh.load(path).faces.tolist() == [[0, 1, 2], [0, 2, 3]]


def test_a_binary_stl_is_read(tmp_path):
    mesh = rectangle(1.0, 1.0, (4, 4), "triangle")
    record = np.zeros(mesh.n_faces, dtype=[("normal", "<f4", 3), ("points", "<f4", (3, 3)), ("attribute", "<u2")])
    record["points"] = mesh.vertices[mesh.faces]
    path = tmp_path / "binary.stl"
    path.write_bytes(b"solid".ljust(80) + np.uint32(mesh.n_faces).tobytes() + record.tobytes())
    assert Mesh.load(path).n_vertices == 16


def test_loading_turns_faces_over_where_needed(tmp_path):
    path = tmp_path / "turned.obj"
    path.write_text("v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3\nf 1 4 3\n")
    assert Mesh.load(path).faces.tolist() == [[0, 1, 2], [0, 2, 3]]


def test_coincident_vertices_are_merged_on_request_only(tmp_path):
    path = tmp_path / "doubled.obj"
    path.write_text("v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3\nf 4 5 6\n")
    with pytest.raises(MeshError, match=r"doubled\.obj: .*merge=True"):
        Mesh.load(path)
    assert Mesh.load(path, merge=True).n_vertices == 4
