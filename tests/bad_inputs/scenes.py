"""Bad scene files: every field with every kind of wrong value, and texts that are no scenes."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

from isocloth import scenes
from isocloth.base.errors import IsoclothError, SceneError
from scenes.scene_texts import GOOD, OBSTACLES

from .clear import Case, short, spellings
from .values import INF, NAN

WRONG_NUMBERS: list[Any] = ["x", [1.0], {}, True, NAN, INF, -1.0]
WRONG_TEXTS: list[Any] = [3, [], {}, True]
WRONG_VECTORS: list[Any] = [3, "x", [1, 2], [1, 2, NAN], [[1, 2, 3]], {}]

#: table, field -> values
FIELDS: dict[tuple[str, str], list[Any]] = {
    ("cloth", "width"): [*WRONG_NUMBERS, 0, 30.0, 10**9],
    ("cloth", "height"): [*WRONG_NUMBERS, 0, 400],
    ("cloth", "nodes"): [3, "x", [1, 5], [3], [2.5, 3], [10**5, 10**5], [-1, 4], {}],
    ("cloth", "shape"): [*WRONG_TEXTS, "circle"],
    ("cloth", "element"): [*WRONG_TEXTS, "hexagon"],
    ("cloth", "rotation"): WRONG_VECTORS,
    ("cloth", "position"): WRONG_VECTORS,
    ("cloth", "noise"): [*WRONG_NUMBERS, 5.0],
    ("cloth", "seed"): ["x", 1.5, -1, [], True, 2**40],
    ("cloth", "widht"): [0.3],
    ("cloth", "inner_radius"): [0.1],
    ("fabric", "name"): [*WRONG_TEXTS, "steel"],
    ("fabric", "density"): [*WRONG_NUMBERS, 0, 300],
    ("fabric", "bending"): WRONG_NUMBERS,
    ("fabric", "thickness"): [*WRONG_NUMBERS, 0],
    ("fabric", "colour"): ["red"],
    ("simulation", "duration"): [*WRONG_NUMBERS, 0, 0.001, 1e12],
    ("simulation", "timestep"): [*WRONG_NUMBERS, 0, 10, 1e-9],
    ("simulation", "every"): [*WRONG_NUMBERS, 0, 0.015],
    ("simulation", "gravity"): WRONG_NUMBERS,
    ("simulation", "integrator"): [*WRONG_TEXTS, "rk4"],
    ("simulation", "model"): [3, [], True, "magic"],
    ("simulation", "solver"): [*WRONG_TEXTS, "magic"],
    ("simulation", "contact"): [*WRONG_TEXTS, "magic"],
    ("simulation", "self_collision"): ["yes", 1, []],
    ("grasp", "where"): [3, {}, True, "middle", "corner 99", []],
    ("grasp", "nodes"): ["x", [99], [-1], [0, 0], 1.5, {}, []],
    ("grasp", "at"): [3, "x", [[1, 2]], {}, [NAN, 0, 0]],
    ("grasp", "motion"): [*WRONG_TEXTS, "fly"],
    ("grasp", "release"): WRONG_NUMBERS,
    ("oscillation", "frequency"): [*WRONG_NUMBERS, 0, 1e6],
    ("oscillation", "amplitude"): ["x", NAN, {}, True, 300.0],
    ("oscillation", "axis"): [3, "w", [0, 0, 0], {}],
    ("obstacle", "kind"): [*WRONG_TEXTS, "cube"],
    ("obstacle", "centre"): [*WRONG_VECTORS, [0, 0, 500]],
    ("obstacle", "radius"): [*WRONG_NUMBERS, 0, 50],
    ("obstacle", "friction"): ["x", NAN, INF, -1, {}, True],
    ("obstacle", "velocity"): WRONG_VECTORS,
    ("obstacle", "name"): WRONG_TEXTS,
}

TEXTS = {
    "empty": b"",
    "no TOML": b"[cloth\nwidth=1",
    "binary": bytes(range(256)),
    "another table": b"[colth]\nwidth = 1\n",
    "deep": b"a = " + b"[" * 5000,
    "a long number": b"a = " + b"9" * 5000,
    "UTF-16": "[cloth]".encode("utf-16"),
    "an entry for a table": b"cloth = 3\n[simulation]\nduration = 1\n",
    "a table for an entry": b"[cloth]\nwidth = 1\nheight = 1\n[simulation]\nduration = 1\n[grasp]\nnodes = [0]\n",
}


def spoilt(table: str, key: str, value: Any) -> dict[str, Any]:
    """A good scene with one wrong field."""
    data = copy.deepcopy(GOOD)
    if table == "obstacle":
        data["obstacle"] = [copy.deepcopy(OBSTACLES[1])]
    target = {"grasp": data["grasp"][0], "oscillation": data["grasp"][1]}.get(table) or data[table]
    if isinstance(target, list):
        target = target[0]
    if table == "grasp" and key in ("nodes", "at"):
        target.pop("where")
    target[key] = value
    return data


def read(data: dict[str, Any]) -> object:
    """Read and build: one of the two says what is wrong, by a SceneError; others would name no field."""
    try:
        return scenes.build(scenes.load.read_scene(data))
    except SceneError:
        raise
    except IsoclothError as error:
        return f"no SceneError: {error!r}"


CASES = [
    Case(
        f"scene {table}.{key}={short(value)}",
        lambda _, spot=(table, key, value): read(spoilt(*spot)),  # type: ignore[misc]
        ((key, f"{table}[0]"), (*spellings(value), *str(value).split()[1:])),
    )
    for (table, key), values in FIELDS.items()
    for value in values
]


def _text(folder: Path, content: bytes) -> object:
    path = folder / "scene.toml"
    path.write_bytes(content)
    return scenes.load_scene(path)


CASES += [
    Case(f"scene file, {name}", lambda folder, text=text: _text(folder, text), (("scene.toml",),))  # type: ignore[misc]
    for name, text in TEXTS.items()
]
CASES += [
    Case(f"load_scene({short(path)})", lambda _, path=path: scenes.load_scene(path), (("scene file",),))  # type: ignore[misc]
    for path in (None, 3, "", "none.toml", "a\0.toml", "/dev/zero", "/")
]
