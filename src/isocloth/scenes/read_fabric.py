"""The [fabric] table, and that of a single piece of cloth: a name, fields of `Fabric`, or both."""

from __future__ import annotations

from isocloth.fabric import Fabric, fabrics
from isocloth.scenes.fields import with_fields
from isocloth.scenes.problems import nearest
from isocloth.scenes.table import Table


def read_fabric(table: Table, fabric: Fabric | None = None) -> Fabric:
    """The named fabric (or the given one, or the default) with the given fields in place of its own."""
    fabric = fabric or Fabric()
    name = table.take("name")
    if isinstance(name, str) and name in fabrics:
        fabric = fabrics[name]
    elif isinstance(name, str):
        table.complain("name", f"this fabric is unknown; {nearest(name, fabrics)}")
    elif name is not None:
        table.complain("name", f"expected one of {', '.join(fabrics)}")
    fabric = with_fields(table, fabric)
    table.close()
    return fabric
