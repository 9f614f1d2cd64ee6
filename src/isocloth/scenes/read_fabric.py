"""The [fabric] table: a name, fields of `Fabric`, or both."""

from __future__ import annotations

from dataclasses import fields, replace

from isocloth.errors import FabricError
from isocloth.fabric import Fabric, fabrics
from isocloth.scenes.problems import nearest
from isocloth.scenes.table import Table, as_number


def read_fabric(table: Table) -> Fabric:
    """The named fabric (or the default one) with the given fields in place of its own."""
    fabric = Fabric()
    name = table.take("name")
    if isinstance(name, str) and name in fabrics:
        fabric = fabrics[name]
    elif isinstance(name, str):
        table.complain("name", f"this fabric is unknown; {nearest(name, fabrics)}")
    elif name is not None:
        table.complain("name", f"expected one of {', '.join(fabrics)}")
    for field in fields(Fabric):
        value = table.take(field.name)
        if value is None:
            continue
        number = as_number(value)
        if number is None:
            table.complain(field.name, "expected a finite number in SI units")
            continue
        try:
            fabric = replace(fabric, **{field.name: number})
        except FabricError as error:
            # its message starts with the name of the field and the value
            table.problems.add(f"{table.name}.{field.name}", str(error).removeprefix(field.name))
    table.close()
    return fabric
