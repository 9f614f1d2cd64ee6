"""The [cloth] table, or one of several [[cloth]] tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from isocloth.fabric import Fabric
from isocloth.meshes.arguments import MOST_NODES
from isocloth.scenes.model import Cloth
from isocloth.scenes.read_fabric import read_fabric
from isocloth.scenes.read_rotation import read_rotation
from isocloth.scenes.table import Table

ELEMENTS = ("quad", "triangle")

#: fields of every shape and what they are; a * marks a required one
SHAPES: dict[str, dict[str, str]] = {
    "rectangle": {"width": "length*", "height": "length*", "nodes": "grid", "element": "element"},
    "irregular_rectangle": {"width": "length*", "height": "length*", "nodes": "count"},
    "ring": {"inner_radius": "length*", "outer_radius": "length*", "nodes": "grid", "element": "element"},
    "tank_top": {
        "width": "length", "height": "length", "neck_width": "length", "neck_depth": "length",
        "back_neck_depth": "length", "strap": "length", "arm_depth": "length", "depth": "length",
        "triangles": "count", "element": "element",
    },
    "dress": {
        "width": "length", "waist": "length", "hem": "length", "height": "length", "waist_height": "length",
        "neck_width": "length", "neck_depth": "length", "back_neck_depth": "length", "strap": "length",
        "arm_depth": "length", "depth": "length", "triangles": "count",
    },
    "shorts": {
        "waist": "length", "hem": "length", "length": "length", "rise": "length", "gap": "length",
        "depth": "length", "triangles": "count", "element": "element",
    },
    "file": {"path": "path", "scale": "scale"},
}  # fmt: skip


def read_cloth(table: Table, folder: Path, fabric: Fabric) -> Cloth:
    """Read the table; paths in it are relative to `folder`, and `fabric` is that of all pieces."""
    shape = table.choice("shape", tuple(SHAPES), "rectangle")
    if not shape:  # the other fields depend on it: reading them would only add noise
        return Cloth(shape="rectangle")
    sizes = {key: value for key, kind in SHAPES[shape].items() if (value := _size(table, key, kind)) is not None}
    path, scale = sizes.pop("path", None), sizes.pop("scale", 1.0)
    if "nodes" in sizes and shape != "irregular_rectangle":
        sizes["shape"] = sizes.pop("nodes")
    cloth = Cloth(
        shape=shape,
        sizes=sizes,
        file=folder / path if path else None,
        scale=scale,
        position=table.vector("position", "m") or (0.0, 0.0, 0.0),
        rotation=read_rotation(table),
        noise=table.number("noise", 0.0, unit="m", least=0.0, most=0.1, hint="0.001 is a good choice"),
        seed=table.integer("seed", 0),
        rest=folder / table.text("rest") if table.has("rest") else None,
        fabric=_fabric(table, fabric),
        name=table.text("name", ""),
    )
    table.take("rest")
    _foreign_sizes(table, shape)
    table.close()
    return cloth


def _fabric(table: Table, fabric: Fabric) -> Fabric:
    """What the piece is made of: the fabric of all, with what the piece has of its own."""
    value = table.take("fabric")
    if isinstance(value, str):
        value = {"name": value}
    if isinstance(value, dict):
        return read_fabric(Table(value, f"{table.name}.fabric", table.problems), fabric)
    if value is not None:
        table.complain("fabric", 'expected the name of a fabric, or a table such as { name = "wool", bending = 1e-5 }')
    return fabric


def _size(table: Table, key: str, kind: str) -> Any:
    """The value of a size, or None where the file leaves it to the default."""
    required = kind.endswith("*")
    if kind == "path":
        return table.text(key)
    if kind == "scale":
        return table.number(key, 1.0, unit="m per unit of the file", above=0.0)
    if not table.has(key) and not required:
        table.take(key)
        return None
    if kind.startswith("length"):
        return table.length(key)
    if kind == "element":
        return table.choice(key, ELEMENTS, "quad")
    if kind == "count":
        count = table.integer(key, 1, least=1)
        if count > MOST_NODES:
            table.complain(key, f"expected at most {MOST_NODES}")
        return count
    return _grid(table, key)


def _grid(table: Table, key: str) -> tuple[int, int] | None:
    value = table.take(key)
    whole = isinstance(value, list) and all(isinstance(n, int) and not isinstance(n, bool) for n in value)
    if not whole or len(value) != 2 or min(value) < 2 or value[0] * value[1] > MOST_NODES:
        table.complain(
            key, f"expected two whole numbers, at least 2, such as [17, 17], at most {MOST_NODES} nodes in all"
        )
        return None
    return value[0], value[1]


def _foreign_sizes(table: Table, shape: str) -> None:
    """A size of another shape deserves a better message than "unknown"."""
    for key in table.data:
        owners = [name for name, sizes in SHAPES.items() if key in sizes]
        if owners and shape not in owners:
            table.take(key)
            mine = ", ".join(SHAPES[shape])
            table.complain(
                key, f"belongs to shape {' or '.join(map(repr, owners))}; {shape!r} has {mine}: leave it out"
            )
