"""Bad arguments of inverse design, and of `isocloth invert`: each a clear error, and nothing is written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import isocloth as ic

from .clear import Case, each
from .commands import CommandLineError, told
from .values import FLAGS, NAMES, NAN, NOT_NEGATIVE, POSITIVE

FLAT = ic.meshes.rectangle(0.3, 0.2, (4, 3), element="triangle")
WAVY = FLAT.with_vertices(FLAT.vertices + np.outer(0.01 * np.sin(20.0 * FLAT.vertices[:, 0]), [0, 0, 1]))
EDGE = np.flatnonzero(FLAT.vertices[:, 0] < 0.11)
HIGHEST = int(np.argmax(WAVY.vertices[:, 2]))
FLOOR = ic.Floor(float(WAVY.vertices[:, 2].min()) - 0.0005)
MOVING = ic.Sphere([0, 0, -1], 0.2, velocity=[0, 0, 1])
PAGE = ic.models.DiscreteShell(stretch=50.0, bending=1e-2)


def inverted(target: Any = WAVY, **options: Any) -> object:
    """`invert` of a page that is held at an edge, but for the options."""
    return ic.invert(target, **({"held": EDGE, "model": PAGE, "fabric": ic.Fabric(density=0.1)} | options))


def damaged(folder: Path, content: bytes) -> object:
    """From a checkpoint that is none, which has to stay as it is."""
    path = folder / "inverse.npz"
    path.write_bytes(content)
    try:
        return inverted(checkpoint=path)
    finally:
        assert path.read_bytes() == content
        path.unlink()


def arguments() -> list[Case]:
    """Of `invert`."""
    held = ["x", [99], [-1], [0.5], [2, 2], {0: [1, 2]}, {99: [0, 0, 0]}, {0: [0, NAN, 0]}, 3.5]
    quads = ic.meshes.rectangle(0.3, 0.2, (4, 3))
    pair = ic.meshes.together([WAVY, WAVY.transformed(translation=[0, 0, 1])])
    return [
        *each("invert", "target", inverted, [None, 3, "hat.obj", WAVY.vertices, {}]),
        *each("invert", "fabric", lambda v: inverted(fabric=v), ["denim", 0.2, {}]),
        *each("invert", "model", lambda v: inverted(model=v), [*NAMES, "isometric", "elastic", "mass_spring"]),
        *each("invert", "obstacles", lambda v: inverted(obstacles=v), [None, 3, "floor", [3]], also=("obstacle",)),
        *each("invert", "held", lambda v: inverted(held=v), held, also=("node",)),
        *each("invert", "contacts", lambda v: inverted(obstacles=[FLOOR], contacts=v),
              ["x", [99], [-1], [0.5], 3.5, [], [[0, 1]], {}, [NAN]]),
        *each("invert", "self_collision", lambda v: inverted(self_collision=v), FLAGS),
        *each("invert", "margin", lambda v: inverted(margin=v), [*(v for v in POSITIVE if v is not None), 1.0, 2]),
        *each("invert", "gravity", lambda v: inverted(gravity=v), [*(v for v in NOT_NEGATIVE if v is not None), 0.0]),
        *each("invert", "method", lambda v: inverted(method=v), [*NAMES, None]),
        *each("invert", "checkpoint", lambda v: inverted(checkpoint=v), [3, b"a", [], "", "a\0b", "none/a.npz"],
              also=("path", "folder")),
        *each("invert", "progress", lambda v: inverted(progress=v), FLAGS),
        *[Case(f"invert from a checkpoint that is {name}", lambda folder, text=text: damaged(folder, text),
               (("checkpoint",), ("inverse.npz",)))
          for name, text in (("empty", b""), ("text", b"these are no numbers"), ("cut", b"PK\3\4" + bytes(60)))],
        Case("invert, nothing held and nothing touched", lambda _: inverted(held=None), (("held",),)),
        Case("invert, above a floor", lambda _: inverted(held=None, obstacles=[ic.Floor(-1.0)]),
             (("touches nothing",),)),
        Case("invert, held at one node", lambda _: inverted(held=[0]), (("node 0 alone",),)),
        Case("invert, a piece that nothing carries", lambda _: inverted(pair), (("piece 1",),)),
        Case("invert, fabric without weight", lambda _: inverted(fabric=ic.Fabric(density=0.1, gravity_density=0.0)),
             (("gravity_density = 0",),)),
        Case("invert, density 0", lambda _: inverted(fabric=ic.Fabric(density=0.0)), (("density",), ("0",))),
        Case("invert, quads", lambda _: inverted(quads), (("quad",), ("triangulated",))),
        Case("invert, an obstacle that moves", lambda _: inverted(obstacles=[MOVING]), (("moves",), ("Sphere",))),
        Case("invert, a target in an obstacle", lambda _: inverted(obstacles=[ic.Sphere([0.15, 0.1, 0.0], 0.05)]),
             (("target:",), ("inside", "too near"), ("Sphere",))),
        Case("invert, free angles", lambda _: inverted(model=ic.models.KoiterShell(normals="tan")), (("'tan'",),)),
        Case("invert, contacts with nothing near", lambda _: inverted(obstacles=[FLOOR], contacts=[0, HIGHEST]),
             ((f"contacts: node {HIGHEST}", "contacts: node 0"),)),
        Case("invert, contacts and no obstacle", lambda _: inverted(contacts=[3]), (("contacts: node 3",),)),
        *[Case(f"invert, {name}", lambda _, x=x, f=f: inverted(ic.Mesh(x, f)), (("face", "node", "vert"),))
          for name, x, f in WRONG],
    ]  # fmt: skip


SQUARE = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0.0]])
SPOILT = np.array([[0, 0, 0], [1, 0, 0], [1, NAN, 0], [0, 1, 0.0]])
LINE = np.array([[0, 0, 0], [1, 0, 0], [2, 0, 0], [0, 1, 0.0]])
TWO = np.array([[0, 1, 2], [0, 2, 3]])
WRONG = [
    ("NaN", SPOILT, TWO),
    ("a degenerate triangle", LINE, TWO),
    ("a triangle folded onto itself", SQUARE, np.array([[0, 1, 1], [0, 2, 3]])),
    ("a triangle twice", SQUARE, np.array([[0, 1, 2], [0, 1, 2]])),
]


def unreached(case: Callable[[], ic.inverse.Inversion]) -> object:
    """What cannot be is no error: it is said in words. Here these are looked at as those of an error."""
    found = case()
    if found.reached or not found.problem:
        return found
    raise ic.IsoclothError(found.problem)


def smooth() -> ic.inverse.Inversion:
    """A page that leans on a slope without friction."""
    lean = np.radians(30.0)
    turn = [[np.cos(lean), 0, np.sin(lean)], [0, 1, 0], [-np.sin(lean), 0, np.cos(lean)]]
    slope = ic.Plane([0, 0, 0], np.array(turn) @ [0, 0, 1], friction=0.0)
    lying = FLAT.transformed(translation=[0, 0, 0.0005]).transformed(rotation=turn)
    return ic.invert(lying, ic.Fabric(density=0.1), model=PAGE, obstacles=[slope])


# ------------------------------------------------------------------- the command

SCENE = """
[fabric]
density = 0.1
[simulation]
model = { name = "discrete_shell", stretch = 50.0, bending = 1e-2 }
[[grasp]]
nodes = [0, 1, 2, 3, 4, 5]
"""
SPHERE = '[[obstacle]]\nkind = "sphere"\nradius = 0.05\n'
#: name of a scene -> its text
SCENES = {
    "good": SCENE,
    "unmade": SCENE.replace("[fabric]\ndensity = 0.1\n", ""),
    "weightless": SCENE.replace("density = 0.1", "density = 0"),
    "floating": SCENE.split("[[grasp]]")[0],
    "isometric": SCENE.replace('{ name = "discrete_shell", stretch = 50.0, bending = 1e-2 }', '"isometric"'),
    "lost": SCENE.replace("[0, 1, 2, 3, 4, 5]", "[99]"),
    "pulled": SCENE + 'motion = "line"\nby = [0, 0, 1]\nstop = 1.0\n',
    "inside": SCENE + SPHERE + "centre = [0.15, 0.1, 0.0]\n",
    "moving": SCENE + SPHERE + "centre = [0, 0, -1]\nvelocity = [0, 0, 1]\n",
    "cut": SCENE[:30],
}

GOOD = "wavy.obj --scene i_good.toml -o r.obj"

#: words after `isocloth invert`, and what the message must name
COMMANDS = [
    ("", "target"), ("wavy.obj -o r.obj", "--scene"), ("wavy.obj --scene i_good.toml", "--output"),
    ("none.obj --scene i_good.toml -o r.obj", "none.obj"), ("wavy.obj --scene none.toml -o r.obj", "none.toml"),
    ("zero.obj --scene i_good.toml -o r.obj", "zero.obj"), ("text.csv --scene i_good.toml -o r.obj", "text.csv"),
    ("i_good.toml --scene i_good.toml -o r.obj", "i_good.toml"), ("wavy.obj --scene wavy.obj -o r.obj", "wavy.obj"),
    ("quads.obj --scene i_good.toml -o r.obj", "--triangulate"), ("nan.obj --scene i_good.toml -o r.obj", "nan.obj"),
    ("line.obj --scene i_good.toml -o r.obj", "line.obj"), ("twice.obj --scene i_good.toml -o r.obj", "twice.obj"),
    ("wavy.obj --scene i_unmade.toml -o r.obj", "fabric"), ("wavy.obj --scene i_weightless.toml -o r.obj", "density"),
    ("wavy.obj --scene i_floating.toml -o r.obj", "held"), ("wavy.obj --scene i_isometric.toml -o r.obj", "isometric"),
    ("wavy.obj --scene i_lost.toml -o r.obj", "99"), ("wavy.obj --scene i_pulled.toml -o r.obj", "grasp[0].motion"),
    ("wavy.obj --scene i_inside.toml -o r.obj", "target:"), ("wavy.obj --scene i_moving.toml -o r.obj", "moves"),
    ("wavy.obj --scene i_cut.toml -o r.obj", "i_cut.toml"), ("wavy.obj --scene i_good.toml -o r.stl", "r.stl"),
    ("wavy.obj --scene i_good.toml -o none/r.obj", "none"),
    ("wavy.obj --scene i_good.toml -o folder.obj", "folder.obj"),
    *[(f"{GOOD} {more}", named) for more, named in (
        ("--report page.pdf", "page.pdf"), ("--report none/page.html", "none"), ("--positions p.stl", "p.stl"),
        ("--margin 0", "--margin"), ("--margin 2", "--margin"), ("--margin nan", "--margin"),
        ("--margin x", "--margin"), ("--density 0", "density"), ("--density -1", "density"),
        ("--density nan", "density"), ("--density x", "--density"),
        ("--contacts 99", "--contacts"), ("--contacts x", "--contacts"), ("--contacts 0", "near no obstacle"),
        ("--scale 0", "scale"), ("--scale x", "--scale"), ("--scale nan", "scale"), ("--up w", "--up"),
        ("--resume --restart", "--restart"), ("--checkpoint none/c.npz", "none"), ("--checkpoint text.csv", "text.csv"),
        ("--checkpoint text.csv --resume", "text.csv"), ("--method adjoint", "--method"), ("--speed 3", "--speed"),
    )],
]  # fmt: skip


def prepare(folder: Path) -> None:
    """Targets and scenes that are inverted."""
    for name, text in SCENES.items():
        (folder / f"i_{name}.toml").write_text(text)
    (folder / "folder.obj").mkdir(exist_ok=True)
    WAVY.save(folder / "wavy.obj")
    ic.meshes.rectangle(0.3, 0.2, (4, 3)).save(folder / "quads.obj")
    for name, points, faces in (("nan", SPOILT, TWO), ("line", LINE, TWO), ("twice", SQUARE, WRONG[3][2])):
        vertices = "".join(f"v {x} {y} {z}\n" for x, y, z in points)
        (folder / f"{name}.obj").write_text(vertices + "".join(f"f {i + 1} {j + 1} {k + 1}\n" for i, j, k in faces))


def command(folder: Path, line: str) -> object:
    """What `isocloth invert` says; it must not have written anything."""
    before = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    try:
        return told("invert", *line.split())
    except CommandLineError:
        if changed := {path: path.stat().st_mtime_ns for path in folder.iterdir()}.items() ^ before.items():
            return f"it wrote {sorted(str(path) for path, _ in changed)}"
        raise


CASES = [
    *arguments(),
    Case("invert, a slope without friction", lambda _: unreached(smooth), (("friction",),)),
    *[Case(f"isocloth invert {line}", lambda folder, line=line: command(folder, line), ((named,),))  # type: ignore[misc]
      for line, named in COMMANDS],
]  # fmt: skip
