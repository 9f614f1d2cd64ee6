"""Physical parameters in a table: the fields of a fabric or of a cloth model, in place of their own."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any, TypeVar

from isocloth.base.errors import FabricError
from isocloth.fabric import Fabric
from isocloth.models import Model, Shell
from isocloth.scenes.table import Table, as_number

Parameters = TypeVar("Parameters", Fabric, Model)


def with_fields(table: Table, given: Parameters) -> Parameters:
    """What was given, with the fields that the table names; what it refuses becomes a problem of the file."""
    for field in fields(given):
        if isinstance(field.default, str):
            if isinstance(given, Shell) and field.name in given.choices:
                chosen = table.choice(field.name, given.choices[field.name], field.default)
                given = replace(given, **{field.name: chosen or field.default})
            continue  # else a choice of another table, `simulation.bending_model`
        value = table.take(field.name)
        if value is None:
            continue
        number, whole = as_number(value), isinstance(field.default, int)
        if number is None or (whole and number != round(number)):
            table.complain(field.name, f"expected a {'whole' if whole else 'finite'} number in SI units")
            continue
        try:
            changed: Any = {field.name: number}
            given = replace(given, **changed)
        except FabricError as error:
            # its message starts with the name of the field and the value
            table.problems.add(f"{table.name}.{field.name}", str(error).removeprefix(field.name))
    return given
