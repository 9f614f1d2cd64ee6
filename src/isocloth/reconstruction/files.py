"""Clouds of points in files: PLY, PCD, XYZ and NPZ."""

from __future__ import annotations

import os
import re
from pathlib import Path

import numpy as np

from isocloth.base.archives import DAMAGED
from isocloth.base.errors import InputError, SamplingError
from isocloth.base.files import as_path, existing_file
from isocloth.base.typing import FloatArray

EXTENSIONS = (".ply", ".pcd", ".xyz", ".txt", ".npz", ".npy")

_PLY_TYPES = {
    "char": "i1", "uchar": "u1", "short": "i2", "ushort": "u2", "int": "i4", "uint": "u4", "float": "f4",
    "double": "f8", "int8": "i1", "uint8": "u1", "int16": "i2", "uint16": "u2", "int32": "i4", "uint32": "u4",
    "float32": "f4", "float64": "f8",
}  # fmt: skip


def read_points(path: str | os.PathLike[str], *, frame: int = 0) -> FloatArray:
    """Points (n, 3) of a file, in the unit of the file, which should be m; other columns are left out.

    .ply and .pcd: ascii or binary, the properties x, y and z. .xyz, .txt: a line per point, numbers separated by
    spaces, commas or semicolons, the first three count. .npz: the array `points`, or the only array with three columns
    or more; with an array `start` that says where frames begin, the given `frame`. .npy: one array. Points with
    coordinates that are not finite, which cameras write where they saw nothing, are left out.
    """
    source = as_path(path, "point file")
    extension = source.suffix.lower()
    if extension not in EXTENSIONS:
        raise InputError(f"point file {str(source)!r} has extension {extension!r}, expected {', '.join(EXTENSIONS)}")
    existing_file(source, "point file")
    if frame and extension != ".npz":
        raise InputError(f"frame {frame} of {str(source)!r} was asked for, which holds one cloud; leave the frame out")
    try:
        if extension == ".ply":
            points = _read_ply(source.read_bytes())
        elif extension == ".pcd":
            points = _read_pcd(source.read_bytes())
        elif extension in (".npz", ".npy"):
            points = _read_numpy(source, frame)
        else:
            points = _read_text(source.read_text())
    except SamplingError as error:
        raise SamplingError(f"{source}: {error}") from error
    except (*DAMAGED, IndexError) as error:
        if isinstance(error, PermissionError):
            raise
        raise SamplingError(
            f"point file {str(source)!r} could not be read as {extension}: {error}; export it again, or use "
            "another format"
        ) from error
    points = np.asarray(points, dtype=np.float64)
    return np.ascontiguousarray(points[np.isfinite(points).all(axis=1)])


def _read_text(text: str) -> FloatArray:
    rows: list[list[float]] = []
    for number, line in enumerate(text.splitlines(), start=1):
        words = re.split(r"[\s,;]+", line.partition("#")[0].strip())
        if words == [""] or (len(words) == 1 and not rows):  # nothing, or the count of points in the first line
            continue
        try:
            rows.append([float(word) for word in words[:3]])
        except ValueError:
            if not rows:  # names of columns
                continue
            raise SamplingError(f"line {number} is {line.strip()[:60]!r}, expected numbers x y z") from None
        if len(rows[-1]) < 3:
            raise SamplingError(f"line {number} is {line.strip()[:60]!r}, expected at least three numbers x y z")
    if not rows:
        raise SamplingError("the file has no points: expected lines with three numbers x y z")
    return np.array(rows)


def _read_numpy(source: Path, frame: int) -> FloatArray:
    loaded = np.load(source, allow_pickle=False)
    if isinstance(loaded, np.ndarray):
        return _columns(loaded, "the array")
    with loaded:
        names = [name for name in loaded.files if loaded[name].ndim == 2 and loaded[name].shape[1] >= 3]
        name = "points" if "points" in loaded.files else names[0] if len(names) == 1 else None
        if name is None:
            raise SamplingError(
                f"the file holds the arrays {', '.join(loaded.files)}, expected one named points, of shape (n, 3)"
            )
        points = _columns(loaded[name], f"the array {name}")
        if "start" not in loaded.files:
            if frame:
                raise SamplingError(f"frame {frame} was asked for, but the file holds one cloud; leave the frame out")
            return points
        start = loaded["start"]
        if not 0 <= frame < len(start) - 1:
            raise SamplingError(f"frame {frame} was asked for, the file holds frames 0 to {len(start) - 2}")
        return points[int(start[frame]) : int(start[frame + 1])]


def _columns(array: np.ndarray, what: str) -> FloatArray:
    if array.ndim != 2 or array.shape[1] < 3:
        raise SamplingError(f"{what} has shape {array.shape}, expected (n, 3)")
    return np.asarray(array[:, :3], dtype=np.float64)


def _read_ply(content: bytes) -> FloatArray:
    head, mark, body = content.partition(b"end_header")
    if not mark or not content.startswith(b"ply"):
        raise SamplingError("the PLY header is missing or has no end: the file is damaged or no PLY, export it again")
    body = body.partition(b"\n")[2]
    lines = [line.split() for line in head.decode("ascii", "replace").splitlines()]
    kind = next((line[1] for line in lines if line[:1] == ["format"]), "")
    elements: list[tuple[str, int, list[list[str]]]] = []
    for line in lines:
        if line[:1] == ["element"]:
            elements.append((line[1], int(line[2]), []))
        elif line[:1] == ["property"] and elements:
            elements[-1][2].append(line[1:])
    if not elements or elements[0][0] != "vertex":
        raise SamplingError("the first element of the PLY file is not 'vertex'; export the points first")
    _, count, properties = elements[0]
    names = [p[-1] for p in properties]
    if not {"x", "y", "z"} <= set(names) or any(p[0] == "list" for p in properties):
        raise SamplingError(f"the vertices have the properties {', '.join(names)}, expected x, y and z")
    if kind == "ascii":
        rows = [line.split() for line in body.decode("ascii").splitlines() if line.strip()][:count]
        if len(rows) < count:
            raise SamplingError(f"the header promises {count} points, the file has {len(rows)}; it is truncated")
        return np.array([[float(row[names.index(axis)]) for axis in "xyz"] for row in rows]).reshape(-1, 3)
    order = {"binary_little_endian": "<", "binary_big_endian": ">"}[kind]
    layout = np.dtype([(p[-1], order + _PLY_TYPES[p[0]]) for p in properties])
    if len(body) < count * layout.itemsize:
        have = len(body) // layout.itemsize
        raise SamplingError(f"the header promises {count} points, the file has {have}; it is truncated")
    table = np.frombuffer(body, layout, count)
    return np.stack([table[axis].astype(np.float64) for axis in "xyz"], axis=1)


def _read_pcd(content: bytes) -> FloatArray:
    found = re.search(rb"^DATA (\w+)\s*?\n", content, flags=re.MULTILINE)
    if found is None:
        raise SamplingError("the PCD file has no line DATA; it is truncated or no PCD file, export it again")
    header = {}
    for line in content[: found.start()].decode("ascii", "replace").splitlines():
        words = line.split()
        if words and not words[0].startswith("#"):
            header[words[0]] = words[1:]
    body, kind = content[found.end() :], found[1].decode()
    names = header["FIELDS"]
    counts = [int(c) for c in header.get("COUNT", ["1"] * len(names))]
    total = int(header["POINTS"][0]) if "POINTS" in header else int(header["WIDTH"][0]) * int(header["HEIGHT"][0])
    if not {"x", "y", "z"} <= set(names):
        raise SamplingError(f"the points have the fields {', '.join(names)}, expected x, y and z")
    if kind == "ascii":
        first = np.concatenate([[0], np.cumsum(counts)])
        rows = [line.split() for line in body.decode("ascii").splitlines() if line.strip()][:total]
        if len(rows) < total:
            raise SamplingError(f"the header promises {total} points, the file has {len(rows)}; it is truncated")
        at = [int(first[names.index(axis)]) for axis in "xyz"]
        return np.array([[float(row[k]) for k in at] for row in rows]).reshape(-1, 3)
    if kind != "binary":
        raise SamplingError(f"the points are stored as {kind!r}, expected ascii or binary; save them uncompressed")
    letters = {"F": "f", "I": "i", "U": "u"}
    layout = np.dtype(
        [
            (f"{name}{i}", f"<{letters[kind]}{size}", (number,))
            for i, (name, kind, size, number) in enumerate(
                zip(names, header["TYPE"], header["SIZE"], counts, strict=True)
            )
        ]
    )
    if len(body) < total * layout.itemsize:
        have = len(body) // layout.itemsize
        raise SamplingError(f"the header promises {total} points, the file has {have}; it is truncated")
    table = np.frombuffer(body, layout, total)
    return np.stack([table[f"{axis}{names.index(axis)}"][:, 0].astype(np.float64) for axis in "xyz"], axis=1)
