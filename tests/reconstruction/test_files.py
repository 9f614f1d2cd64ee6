import struct

import numpy as np
import pytest

import isocloth as ic
from isocloth.reconstruction.files import read_points

POINTS = np.array([[0.5, -1.25, 2.0], [1.0, 0.0, 3.5], [-4.0, 0.25, 0.125]])


def ply(kind):
    head = f"ply\nformat {kind} 1.0\ncomment made by hand\nelement vertex 3\nproperty float x\nproperty float y\n"
    head += "property float z\nproperty uchar red\nelement face 0\nproperty list uchar int vertex_indices\nend_header\n"
    if kind == "ascii":
        return (head + "".join(f"{x} {y} {z} 7\n" for x, y, z in POINTS)).encode()
    order = "<" if "little" in kind else ">"
    return head.encode() + b"".join(struct.pack(order + "fffB", *p, 7) for p in POINTS)


def pcd(kind):
    head = "# .PCD v0.7\nVERSION 0.7\nFIELDS rgb x y z\nSIZE 4 4 4 4\nTYPE U F F F\nCOUNT 1 1 1 1\nWIDTH 3\nHEIGHT 1\n"
    head += f"VIEWPOINT 0 0 0 1 0 0 0\nPOINTS 3\nDATA {kind}\n"
    if kind == "ascii":
        return (head + "".join(f"9 {x} {y} {z}\n" for x, y, z in POINTS)).encode()
    return head.encode() + b"".join(struct.pack("<Ifff", 9, *p) for p in POINTS)


@pytest.mark.parametrize("kind", ["ascii", "binary_little_endian", "binary_big_endian"])
def test_ply(tmp_path, kind):
    (tmp_path / "a.ply").write_bytes(ply(kind))
    np.testing.assert_array_equal(read_points(tmp_path / "a.ply"), POINTS)


@pytest.mark.parametrize("kind", ["ascii", "binary"])
def test_pcd(tmp_path, kind):
    (tmp_path / "a.pcd").write_bytes(pcd(kind))
    np.testing.assert_array_equal(read_points(tmp_path / "a.pcd"), POINTS)


@pytest.mark.parametrize("text", ["x y z\n", "3\n", "# made by hand\n\n", ""])
@pytest.mark.parametrize("mark", [" ", ", ", ";", "\t"])
def test_xyz(tmp_path, text, mark):
    rows = "".join(mark.join(map(str, [*p, 0.5])) + "\n" for p in POINTS)
    (tmp_path / "a.xyz").write_text(text + rows)
    np.testing.assert_array_equal(read_points(tmp_path / "a.xyz"), POINTS)


def test_npz_with_frames_and_npy(tmp_path):
    np.savez(tmp_path / "a.npz", points=np.vstack([POINTS, 2 * POINTS]), start=[0, 3, 6], frame=[4, 9])
    np.testing.assert_array_equal(read_points(tmp_path / "a.npz", frame=1), 2 * POINTS)
    np.savez(tmp_path / "b.npz", cloud=POINTS)
    np.testing.assert_array_equal(read_points(tmp_path / "b.npz"), POINTS)
    np.save(tmp_path / "c.npy", POINTS)
    np.testing.assert_array_equal(read_points(tmp_path / "c.npy"), POINTS)


def test_a_mesh_file_can_be_read_as_points(tmp_path):
    mesh = ic.meshes.rectangle(1.0, 1.0, (4, 5))
    mesh.save(tmp_path / "mesh.ply")
    np.testing.assert_allclose(read_points(tmp_path / "mesh.ply"), mesh.vertices)


def test_places_where_a_camera_saw_nothing_are_left_out(tmp_path):
    np.save(tmp_path / "a.npy", np.vstack([POINTS, [[np.nan, 0, 0]], [[0, np.inf, 0]]]))
    np.testing.assert_array_equal(read_points(tmp_path / "a.npy"), POINTS)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.ply", ply("binary_little_endian")[:-10], "promises 3 points, the file has 2"),
        ("a.ply", ply("ascii")[:-12], "promises 3 points|could not be read"),
        ("a.ply", b"solid", "header"),
        ("a.ply", ply("ascii").replace(b"property float z\n", b""), "expected x, y and z"),
        ("a.pcd", pcd("binary")[:-3], "promises 3 points"),
        ("a.pcd", b"VERSION 0.7\n", "no line DATA"),
        ("a.pcd", pcd("ascii").replace(b"DATA ascii", b"DATA binary_compressed"), "binary_compressed"),
        ("a.xyz", b"1 2 3\n1 2\n", "line 2"),
        ("a.xyz", b"1 2 3\n1 2 c\n", "line 2"),
        ("a.xyz", b"", "no points"),
        ("a.npy", b"", "could not be read"),
    ],
)
def test_broken_files_are_refused(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ic.SamplingError, match=message):
        read_points(tmp_path / name)


def test_wrong_names_and_frames_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"extension '\.obj'"):
        read_points("a.obj")
    with pytest.raises(FileNotFoundError, match="does not exist"):
        read_points(tmp_path / "a.ply")
    np.savez(tmp_path / "a.npz", points=POINTS, start=[0, 3])
    with pytest.raises(ic.SamplingError, match="frames 0 to 0"):
        read_points(tmp_path / "a.npz", frame=2)
    np.savez(tmp_path / "b.npz", a=POINTS, b=POINTS)
    with pytest.raises(ic.SamplingError, match="one named points"):
        read_points(tmp_path / "b.npz")
