"""The cloth model of a scene: its name, or a table with its name and parameters."""

from __future__ import annotations

from dataclasses import fields, replace

from isocloth.errors import FabricError
from isocloth.models import BY_NAME, MODELS, Isometric, Model
from isocloth.scenes.table import Table, as_number


def read_model(settings: Table) -> Model:
    """The field `model` of the [simulation] table."""
    given = settings.data.get("model")
    if not isinstance(given, dict):
        return BY_NAME.get(settings.choice("model", MODELS, Isometric.name), Isometric)()
    settings.take("model")
    table = Table(given, f"{settings.name}.model", settings.problems)
    name = table.choice("name", MODELS, None)
    if name not in BY_NAME:
        return Isometric()
    model = BY_NAME[name]()
    for field in fields(model):
        value = table.take(field.name)
        if value is None:
            continue
        number = as_number(value)
        whole = isinstance(field.default, int)
        if number is None or (whole and number != round(number)):
            table.complain(field.name, f"expected a {'whole' if whole else 'finite'} number in SI units")
            continue
        try:
            model = replace(model, **{field.name: number})
        except FabricError as error:
            # its message starts with the name of the field and the value
            table.problems.add(f"{table.name}.{field.name}", str(error).removeprefix(field.name))
    table.close()
    return model
