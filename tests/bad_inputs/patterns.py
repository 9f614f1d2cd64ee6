"""Bad arguments of sewing patterns, and of `isocloth pattern`: each a clear error, and nothing is written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

import isocloth as ic
from isocloth.patterns import Panels, cut_open, flatten, load_seams, shortest_path

from .clear import Case, each
from .commands import CommandLineError, told
from .inverse import EDGE, FLAT, PAGE, WAVY
from .values import NAN, NOT_NEGATIVE

ACROSS = shortest_path(FLAT, *(FLAT.nearest([0.1, y, 0.0]) for y in (0.0, 0.2))).tolist()
BALL = np.array([[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1.0]])
OCTAHEDRON = ic.Mesh(BALL, [[0, 2, 4], [2, 1, 4], [1, 3, 4], [3, 0, 4], [2, 0, 5], [1, 2, 5], [3, 1, 5], [0, 3, 5]])


def patterned(target: Any = WAVY, **options: Any) -> object:
    """`pattern` of a page that is held at an edge, but for the options."""
    return ic.pattern(target, **({"held": EDGE, "model": PAGE, "fabric": ic.Fabric(density=0.1)} | options))


def panels() -> Panels:
    cut = cut_open(WAVY, [ACROSS])
    return Panels(WAVY, cut, flatten(WAVY, cut).points)


def file_of_seams(folder: Path, content: str) -> object:
    (folder / "seams.json").write_text(content)
    return load_seams(folder / "seams.json", WAVY)


def arguments() -> list[Case]:
    """Of the functions."""
    seams = [3, "A", None, [1, 2], [[1]], [[0.5, 1]], [[99, 1]], [[-1, 1]], [["a", "b"]], [None], {1: [1, 4]},
             [ACROSS, ACROSS], [[*ACROSS, ACROSS[-2]]]]  # fmt: skip
    far = [int(FLAT.boundary_nodes[0]), int(FLAT.boundary_nodes[-1])]
    texts = {
        "empty": "", "cut": '{"seams": [', "a list": "[1, 2]", "other keys": '{"paths": []}',
        "a number": '{"seams": 3}',
        "no path": '{"seams": {"A": 3}}', "strings": '{"seams": {"A": ["x", "y"]}}',
        "a far node": '{"seams": [[0, 99]]}',
        "half a way": '{"seams": [{"from": 0}]}', "no way": '{"seams": [{"from": 0, "to": 0}]}',
        "a short way": '{"seams": [{"through": [1]}]}', "nothing": '{"seams": [{}]}', "null": "null",
        "a name twice": '{"seams": {"A": [1, 4], "A": [1, 4]}}',
        "a name of a number": '{"seams": [{"name": 3, "nodes": [1, 4]}]}',
        "NaN": '{"seams": [[NaN, 1]]}', "deep": "[" * 100000,
    }  # fmt: skip
    return [
        *each("cut_open", "seam", lambda v: cut_open(WAVY, v), seams, also=("node", "edge")),
        *each("cut_open", "target", cut_open, [None, 3, "hat.obj", WAVY.vertices]),
        Case("cut_open, quads", lambda _: cut_open(ic.meshes.rectangle(0.3, 0.2, (4, 3))), (("quads",), ("triang",))),
        Case("cut_open, along the border", lambda _: cut_open(WAVY, [WAVY.boundary_loops[0][:3]]), (("border",),)),
        Case("cut_open, no edge", lambda _: cut_open(WAVY, [far]), (("no edge",), (str(far[0]),))),
        Case("cut_open, a closed target", lambda _: cut_open(OCTAHEDRON), (("closed",),)),
        Case("cut_open, one edge inside", lambda _: cut_open(OCTAHEDRON, [[0, 2]]), (("single edge",),)),
        *each("flatten", "up", lambda v: flatten(WAVY, cut_open(WAVY), up=v),
              [None, "z", 1.0, [0, 0, 0], [0, 1], [0, NAN, 1]]),
        *each("shortest_path", "node", lambda v: shortest_path(WAVY, 0, v), ["x", 99, -1, 0.5, None], also=("path",)),
        Case("shortest_path, to itself", lambda _: shortest_path(WAVY, 3, 3), (("itself",), ("3",))),
        *[Case(f"load_seams, {name}", lambda folder, text=text: file_of_seams(folder, text), (("seams.json",),))
          for name, text in texts.items()],
        Case("load_seams, none", lambda _: load_seams("none.json", WAVY), (("none.json",),)),
        Case("load_seams, of a number", lambda _: load_seams(3, WAVY), (("seams file",), ("3",))),  # type: ignore[arg-type]
        *each("save", "pattern", lambda v: panels().save(v), [None, 3, "", "a\0b.svg", "a.pdf", "a"], also=("file",)),
        Case("save, no folder", lambda _: panels().save("none/a.svg"), (("none",),)),
        *each("save", "allowance", lambda v: panels().save("a.svg", allowance=v), [*NOT_NEGATIVE, 1e4]),
        *each("save", "title", lambda v: panels().save("a.svg", title=v), [None, 3, ["x"]]),
        Case("save, a mesh with an allowance", lambda _: panels().save("a.obj", allowance=5.0), (("allowance = 5",),)),
        *each("pattern", "seam", lambda v: patterned(seams=v), seams[:6], also=("node", "edge")),
    ]  # fmt: skip


GOOD = "wavy.obj --scene i_good.toml"
#: words after `isocloth pattern`, and what the message must name
COMMANDS = [
    ("", "target"), (GOOD, "--output"), ("wavy.obj -o p.svg", "--scene"),
    ("none.obj --scene i_good.toml -o p.svg", "none.obj"), ("quads.obj --scene i_good.toml -o p.svg", "--triangulate"),
    *[(f"{GOOD} -o {more}", named) for more, named in (
        ("p.pdf", "p.pdf"), ("p", "'p'"), ("none/p.svg", "none"), ("folder.svg", "folder.svg"),
        ("p.obj --allowance 5", "--allowance"), ("p.svg --allowance -1", "--allowance"),
        ("p.svg --allowance x", "--allowance"), ("p.svg --allowance nan", "--allowance"),
        ("p.svg --mesh m.svg", "m.svg"), ("p.svg --mesh none/m.obj", "none"), ("p.svg --report page.pdf", "page.pdf"),
        ("p.svg --seams none.json", "none.json"), ("p.svg --seams text.csv", "text.csv"),
        ("p.svg --seams far.json", "99"), ("p.svg --seams apart.json", "no edge"), ("p.svg --noise x", "--noise"),
        ("p.svg --noise 0", "--noise"), ("p.svg --noise nan", "--noise"), ("p.svg --unknown colour", "colour"),
        ("p.svg --refine x", "--refine"), ("p.svg --refine -1", "--refine"), ("p.svg --refine 99", "--refine"),
        ("p.svg --density x", "--density"), ("p.svg --density -1", "density"), ("p.svg --contacts 99", "--contacts"),
        ("p.svg --resume --restart", "--restart"), ("p.svg --checkpoint text.csv", "text.csv"),
    )],
]  # fmt: skip


def prepare(folder: Path) -> None:
    """Files of seams, beside the targets and scenes of inverse design."""
    (folder / "far.json").write_text(json.dumps({"seams": [[0, 99]]}))
    (folder / "apart.json").write_text(json.dumps({"seams": {"A": [0, 11]}}))
    (folder / "folder.svg").mkdir(exist_ok=True)


def command(folder: Path, line: str) -> object:
    """What `isocloth pattern` says; it must not have written anything."""
    before = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    try:
        return told("pattern", *line.split())
    except CommandLineError:
        if changed := {path: path.stat().st_mtime_ns for path in folder.iterdir()}.items() ^ before.items():
            return f"it wrote {sorted(str(path) for path, _ in changed)}"
        raise


CASES = [
    *arguments(),
    *[Case(f"isocloth pattern {line}", lambda folder, line=line: command(folder, line), ((named,),))  # type: ignore[misc]
      for line, named in COMMANDS],
]  # fmt: skip
