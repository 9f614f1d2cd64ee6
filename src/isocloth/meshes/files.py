"""Reading and writing surfaces: OBJ, PLY and STL through meshio, glTF through trimesh."""

from __future__ import annotations

import contextlib
import io
import logging
import os
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from isocloth.base.errors import InputError, MeshError, MissingFileError
from isocloth.base.files import as_path, atomic_path, existing_file
from isocloth.base.typing import FloatArray, IntArray
from isocloth.meshes.geometry import triangulate
from isocloth.meshes.merge import merge_vertices

KEEPS_QUADS = (".obj", ".ply")
DUPLICATES_VERTICES = (".stl", ".gltf", ".glb")
EXTENSIONS = KEEPS_QUADS + DUPLICATES_VERTICES

FLOAT32_MERGE = 1e-6
"""STL and glTF round to single precision: vertices this close, relative to the size, are one."""


def read(path: str | os.PathLike[str], *, merge: bool | None = None) -> tuple[FloatArray, IntArray]:
    """Vertices (n, 3) in m and faces (m, 3) or (m, 4) of the surface in a file.

    Coordinates are taken as they are: no unit or axis is converted. `merge` joins coincident vertices;
    None does so for the formats that duplicate them.
    """
    extension = _extension(as_path(path, "mesh file"))
    source = existing_file(path, "mesh file")
    if source.stat().st_size == 0:
        raise MeshError(f"mesh file {str(source)!r} is empty; export the mesh again")
    try:
        with _silence():
            gltf = extension in (".gltf", ".glb")
            vertices, faces = _read_gltf(source) if gltf else _read_meshio(source, extension)
    except MeshError as error:
        raise MeshError(f"{source}: {error}") from error
    except (Exception, SystemExit) as error:
        # The libraries raise whatever their parsers stumble on, and meshio may even exit.
        raise MeshError(
            f"mesh file {str(source)!r} could not be read as {extension}: {type(error).__name__} {error}; "
            "export the mesh again or use another format"
        ) from error
    if len(faces) and not 0 <= faces.min() <= faces.max() < len(vertices):
        raise MeshError(
            f"{source}: faces name the nodes {faces.min()} to {faces.max()}, expected 0 to {len(vertices) - 1} for "
            f"{len(vertices)} vertices; the file is damaged, export the mesh again"
        )
    if merge if merge is not None else extension in DUPLICATES_VERTICES:
        vertices, faces = merge_vertices(vertices, faces, tolerance=FLOAT32_MERGE)
    return vertices, faces


def write(path: str | os.PathLike[str], vertices: FloatArray, faces: IntArray) -> None:
    """Write a surface; STL and glTF hold triangles only, so quads are split for them.

    The file is written under a temporary name in the same folder and then renamed, so that a reader never
    meets half a file.
    """
    target = as_path(path, "mesh file")
    extension = _extension(target)
    if not target.parent.is_dir():
        raise MissingFileError(f"folder {str(target.parent)!r} does not exist; create it before saving a mesh")
    if extension not in KEEPS_QUADS:
        faces = triangulate(faces)
    with atomic_path(target) as temporary, _silence():
        if extension in (".gltf", ".glb"):
            _write_gltf(temporary, extension, vertices, faces)
        else:
            _write_meshio(temporary, extension, vertices, faces)


def _extension(path: Path) -> str:
    extension = path.suffix.lower()
    if extension not in EXTENSIONS:
        raise InputError(f"mesh file {str(path)!r} has extension {extension!r}, expected {', '.join(EXTENSIONS)}")
    return extension


def _read_meshio(source: Path, extension: str) -> tuple[FloatArray, IntArray]:
    import meshio

    readers: dict[str, Any] = {".obj": meshio.obj.read, ".ply": meshio.ply.read, ".stl": meshio.stl.read}
    cleaned: dict[str, Any] = {".obj": _obj_stream, ".ply": _ply_stream}
    surface = readers[extension](cleaned[extension](source) if extension in cleaned else source)
    # Lines and points in the file are no part of the surface.
    blocks = [block for block in surface.cells if block.type not in ("vertex", "line") and len(block.data)]
    kinds = sorted({block.type for block in blocks})
    if not kinds:
        raise MeshError("the file has no faces; export the mesh with its faces")
    if "polygon" in kinds:
        raise MeshError("the file has faces with more than 4 nodes; split them into triangles or quads")
    if len(kinds) > 1:
        counts = {kind: sum(len(b.data) for b in blocks if b.type == kind) for kind in kinds}
        raise MeshError(
            f"the file mixes elements ({', '.join(f'{n} {kind}s' for kind, n in counts.items())}); "
            "split the quads into triangles, or remesh with one kind of element"
        )
    points = np.asarray(surface.points, dtype=np.float64)
    # OBJ may carry colours in columns 4 to 6.
    return points[:, :3], np.concatenate([block.data for block in blocks]).astype(np.int64)


def _obj_stream(source: Path) -> io.StringIO:
    """The vertices and faces of the file, without what meshio stumbles on.

    meshio insists on one texture coordinate and one normal per vertex, and takes negative indices, which
    count back from the latest vertex, for wrong ones.
    """
    kept, vertices = [], 0
    for line in source.read_text().replace("\\\n", " ").splitlines():
        words = line.split()
        if words[:1] == ["v"]:
            vertices += 1
            kept.append(line)
        elif words[:1] == ["f"]:
            nodes = [int(word.partition("/")[0]) for word in words[1:]]
            kept.append("f " + " ".join(str(i + vertices + 1 if i < 0 else i) for i in nodes))
    return io.StringIO("\n".join(kept))


def _ply_stream(source: Path) -> io.BytesIO:
    """The file with a header that meshio understands."""
    content = source.read_bytes()
    head, mark, body = content.partition(b"end_header")
    if not mark:
        # meshio would look for the end of the header for ever.
        raise MeshError("the PLY header has no end; the file is truncated, export the mesh again")
    # Both spellings of the face property are common, meshio knows only the plural.
    head = re.sub(rb"(property\s+list\s+\S+\s+\S+\s+)vertex_index(?=\s)", rb"\1vertex_indices", head)
    return io.BytesIO(head.replace(b"\r\n", b"\n") + mark + body)


def _read_gltf(source: Path) -> tuple[FloatArray, IntArray]:
    import trimesh

    surface = trimesh.load_scene(source, file_type=source.suffix[1:].lower(), process=False).to_mesh()
    if len(surface.faces) == 0:
        raise MeshError("the file has no triangles; export the mesh with its faces")
    return np.asarray(surface.vertices, dtype=np.float64), np.asarray(surface.faces, dtype=np.int64)


def _write_meshio(path: Path, extension: str, vertices: FloatArray, faces: IntArray) -> None:
    import meshio

    kind = "triangle" if faces.shape[1] == 3 else "quad"
    # PLY has no 64-bit indices.
    surface = meshio.Mesh(vertices, [(kind, faces.astype(np.int32))])
    writers: dict[str, Any] = {".obj": meshio.obj.write, ".ply": meshio.ply.write, ".stl": meshio.stl.write}
    writers[extension](path, surface)


def _write_gltf(path: Path, extension: str, vertices: FloatArray, faces: IntArray) -> None:
    import trimesh
    from trimesh.exchange import gltf

    scene = trimesh.Scene(trimesh.Trimesh(vertices, faces, process=False))
    if extension == ".glb":
        content = gltf.export_glb(scene)
    else:
        # Buffers inside the file: one file is easier to move around, and to replace at once, than two.
        content = gltf.export_gltf(scene, embed_buffers=True)["model.gltf"]
    path.write_bytes(content)


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    """Keep the libraries from printing, warning and logging."""
    logger = logging.getLogger("trimesh")
    was_disabled = logger.disabled
    logger.disabled = True
    try:
        with (
            contextlib.redirect_stdout(io.StringIO()),
            contextlib.redirect_stderr(io.StringIO()),
            warnings.catch_warnings(),
        ):
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.disabled = was_disabled
