"""Damaged, foreign and missing files of every kind that isocloth reads."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import isocloth as ic
from isocloth.friction.contact_qp import ContactQP
from isocloth.reconstruction.files import read_points
from isocloth.states.files import read_state

from .clear import Case
from .geometry import SHEET, recording, trajectory

CUBE = """OFF is not OBJ
"""


def checkpointed(folder: Path, name: str, duration: float = 0.03) -> object:
    """A run that keeps its checkpoint."""
    sim = ic.Simulation(SHEET)
    sim.grasp([0])
    return sim.run(duration, checkpoint=folder / name, keep_checkpoint=True)


def prepare(folder: Path) -> None:
    """Good files, to be damaged."""
    for suffix in ("obj", "ply", "stl", "gltf", "glb"):
        SHEET.save(folder / f"mesh.{suffix}")
    trajectory().save(folder / "run.npz")
    trajectory().save(folder / "run.h5")
    recording().save(folder / "motion.npz")
    recording().save(folder / "motion.h5")
    np.savez(folder / "cloud.npz", points=np.random.default_rng(0).random((60, 3)))
    np.savez(folder / "state.npz", positions=SHEET.vertices)
    np.savez(folder / "states.npz", format="isocloth-states-1", positions=SHEET.vertices[None])
    ContactQP(sp.eye(3, format="csc"), np.ones(3), sp.csr_matrix(np.ones((1, 3))), np.ones(1)).save(folder / "qp.npz")
    checkpointed(folder, "run.checkpoint.npz")


#: what reads a kind of file, and good files of it
READERS: dict[str, tuple[Callable[[Path], Any], tuple[str, ...]]] = {
    "mesh": (ic.Mesh.load, ("mesh.obj", "mesh.ply", "mesh.stl", "mesh.gltf", "mesh.glb")),
    "cloud": (read_points, ("cloud.npz", "cloud.ply", "cloud.pcd", "cloud.xyz", "cloud.npy")),
    "trajectory": (ic.Trajectory.load, ("run.npz", "run.h5")),
    "recording": (ic.Recording.load, ("motion.npz", "motion.h5", "motion.csv")),
    "state": (read_state, ("state.npz", "run.h5")),
    "database": (ic.states.Database.load, ("states.npz",)),
    "contact problem": (ContactQP.load, ("qp.npz",)),
    "checkpoint": (lambda path: checkpointed(path.parent, path.name), ("run.checkpoint.npz",)),
}

#: what is left of a file
DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda data: b"",
    "ten bytes": lambda data: data[:10],
    "zeros": lambda data: bytes(500),
    "noise": lambda data: np.random.default_rng(0).integers(0, 256, 500, dtype=np.uint8).tobytes(),
    "a text": lambda data: b"these are not the numbers that you are looking for\n" * 20,
    "HTML": lambda data: b"<!DOCTYPE html><html><body>404 not found</body></html>",
}
#: damages that leave a part of a file: only where no part of it is whole
CUTS: dict[str, Callable[[bytes], bytes]] = {
    "half": lambda data: data[: len(data) // 2],
    "all but a byte": lambda data: data[:-1],
    "a hole": lambda data: data[:40] + bytes(len(data) - 80) + data[-40:],
}
WHOLE = (".npz", ".h5", ".glb")


def damaged(folder: Path, name: str, damage: Callable[[bytes], bytes], read: Callable[[Path], Any]) -> object:
    """Read a file after it was damaged."""
    good, bad = folder / name, folder / f"bad.{name}"
    content = good.read_bytes() if good.exists() else b""
    bad.write_bytes(damage(content))
    return read(bad)


def _damaged() -> list[Case]:
    found = []
    for kind, (read, names) in READERS.items():
        for name in names:
            suffix = Path(name).suffix
            cuts = CUTS if suffix in WHOLE else {}
            for how, damage in {**DAMAGES, **cuts}.items():
                if (suffix, how) in ((".h5", "all but a byte"), (".h5", "a hole")) and kind == "state":
                    continue  # the same reader as of trajectories
                found.append(
                    Case(
                        f"{kind} {name}, {how}",
                        lambda folder, spot=(name, damage, read): damaged(folder, *spot),  # type: ignore[misc]
                        ((name, "bad." + name.partition(".")[0], kind),),
                    )
                )
    return found


def _nowhere() -> list[Case]:
    """Names that lead to no file, or to one that never ends."""
    found = []
    for kind, (read, names) in READERS.items():
        suffix = Path(names[0]).suffix

        def device(folder: Path, read: Any = read, suffix: str = suffix) -> object:
            link = folder / f"endless{suffix}"
            link.unlink(missing_ok=True)
            link.symlink_to("/dev/zero")
            return read(link)

        def pipe(folder: Path, read: Any = read, suffix: str = suffix) -> object:
            path = folder / f"pipe{suffix}"
            path.unlink(missing_ok=True)
            os.mkfifo(path)
            return read(path)

        def folder_for_file(folder: Path, read: Any = read, suffix: str = suffix) -> object:
            path = folder / f"folder{suffix}"
            path.mkdir(exist_ok=True)
            return read(path)

        found += [
            Case(f"{kind}, a device", device, (("endless",),)),
            Case(f"{kind}, a pipe", pipe, (("pipe",),)),
            Case(f"{kind}, a folder", folder_for_file, (("folder",),)),
        ]
        if kind != "checkpoint":  # which is made where there is none
            found += [
                Case(f"{kind}, missing", lambda folder, read=read, suffix=suffix: read(folder / f"none{suffix}"),
                     (("none",),)),  # type: ignore[misc]
                Case(f"{kind}, None", lambda _, read=read: read(None), (("None",),)),  # type: ignore[misc]
                Case(f"{kind}, a number", lambda _, read=read: read(3), (("3",),)),  # type: ignore[misc]
            ]  # fmt: skip
    return found


OBJ = {
    "no faces": "v 0 0 0\nv 1 0 0\nv 0 1 0\n",
    "face of two": "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2\n",
    "face out of range": "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n",
    "face of letters": "v 0 0 0\nv 1 0 0\nv 0 1 0\nf a b c\n",
    "vertex of letters": "v a b c\nv 1 0 0\nv 0 1 0\nf 1 2 3\n",
    "NaN": "v nan 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n",
    "mixed": "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 2 0 0\nf 1 2 3 4\nf 2 5 3\n",
    "pentagon": "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv -1 0 0\nf 1 2 3 4 5\n",
    "two pieces": "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 5 0 0\nv 6 0 0\nv 5 1 0\nf 1 2 3\nf 4 5 6\n",
    "vertices of two": "v 0 0\nv 1 0\nv 0 1\nf 1 2 3\n",
}
XYZ = {
    "two columns": "0 0\n1 1\n",
    "letters": "0 0 0\na b c\n",
    "nothing": "\n\n",
}
CSV = {
    "one column": "time\n0\n1\n",
    "no numbers": "time,x,y,z\na,b,c,d\n",
    "time runs back": "time,a_x,a_y,a_z\n1,0,0,0\n0,0,0,0\n",
    "a header alone": "time,a_x,a_y,a_z\n",
    "Motive, header alone": "Format Version,1.23,Take Name,a\n\n",
}
ARRAYS: dict[str, tuple[str, dict[str, Any]]] = {
    "recording without times": ("recording", {"positions": np.zeros((3, 4, 3))}),
    "recording without positions": ("recording", {"times": np.arange(3.0)}),
    "recording of one frame": ("recording", {"times": np.zeros(1), "positions": np.zeros((1, 4, 3))}),
    "recording of other lengths": ("recording", {"times": np.arange(3.0), "positions": np.zeros((2, 4, 3))}),
    "recording of texts": ("recording", {"times": np.array(["a", "b"]), "positions": np.zeros((2, 4, 3))}),
    "recording of a point": ("recording", {"times": np.arange(3.0), "positions": np.zeros((3, 4, 3))}),
    "recording of nothing": ("recording", {"times": np.arange(3.0), "positions": np.full((3, 4, 3), np.nan)}),
    "cloud without points": ("cloud", {"a": np.zeros(3), "b": np.zeros(3)}),
    "cloud of two columns": ("cloud", {"points": np.zeros((30, 2))}),
    "cloud of objects": ("cloud", {"points": np.array([None, 3], dtype=object)}),
    "trajectory without a mark": ("trajectory", {"times": np.arange(3.0)}),
    "trajectory without parts": ("trajectory", {"format": "isocloth-trajectory-1", "times": np.arange(3.0)}),
    "state of nothing": ("state", {"a": np.zeros(3)}),
    "database of nothing": ("database", {"a": np.zeros(3)}),
    "database without parts": ("database", {"format": "isocloth-states-1"}),
    "contact problem without parts": ("contact problem", {"g": np.zeros(3)}),
    "contact problem of other sizes": ("contact problem", {
        "g": np.zeros(3), "H": np.zeros(1), "A_data": np.ones(1), "A_indices": np.array([99]),
        "A_indptr": np.array([0, 1]), "A_shape": np.array([1, 1]), "J_data": np.ones(1), "J_indices": np.array([0]),
        "J_indptr": np.array([0, 1]), "J_shape": np.array([1, 1]),
    }),
    "checkpoint of nothing": ("checkpoint", {"a": np.zeros(3)}),
    "checkpoint of another version": ("checkpoint", {"run": "x", "format": 1}),
    "checkpoint of another run": ("checkpoint", {"run": "x", "format": 2}),
}  # fmt: skip


def _contents() -> list[Case]:
    """Files that can be read, and hold what cannot be."""
    found = []
    texts = (("mesh", ".obj", OBJ), ("cloud", ".xyz", XYZ), ("recording", ".csv", CSV))
    for kind, suffix, contents in texts:
        for what, text in contents.items():

            def written(folder: Path, text: str = text, name: str = f"bad{suffix}", kind: str = kind) -> object:
                (folder / name).write_text(text)
                return READERS[kind][0](folder / name)

            found.append(Case(f"{kind} {suffix}, {what}", written, (("bad",),)))
    for what, (kind, arrays) in ARRAYS.items():

        def saved(folder: Path, arrays: Any = arrays, kind: str = kind) -> object:
            np.savez(folder / "bad.npz", **arrays)
            return READERS[kind][0](folder / "bad.npz")

        found.append(Case(what, saved))
    return found


def _writes() -> list[Case]:
    """Places where nothing can be written."""
    writers = {
        "mesh": (SHEET.save, ".obj"), "trajectory": (trajectory().save, ".h5"), "recording": (recording().save, ".h5"),
        "picture": (lambda path: ic.pictures.render(trajectory(), path, width=64, height=64), ".html"),
    }  # fmt: skip
    found = []
    for kind, (write, suffix) in writers.items():

        def into_folder(folder: Path, write: Any = write, suffix: str = suffix) -> object:
            (folder / f"folder{suffix}").mkdir(exist_ok=True)
            return write(folder / f"folder{suffix}")

        def nowhere(folder: Path, write: Any = write, suffix: str = suffix) -> object:
            return write(folder / "none" / f"a{suffix}")

        found += [
            Case(f"save a {kind} into a folder's place", into_folder, (("folder",),)),
            Case(f"save a {kind} into no folder", nowhere, (("none",),)),
        ]
    return found


CASES = [*_damaged(), *_nowhere(), *_contents(), *_writes()]
