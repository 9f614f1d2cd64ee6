"""The cloth model of a scene: its name, or a table with its name and parameters."""

from __future__ import annotations

from isocloth.models import BY_NAME, Isometric, Model
from isocloth.scenes.fields import with_fields
from isocloth.scenes.table import Table


def read_model(settings: Table) -> Model:
    """The field `model` of the [simulation] table."""
    given = settings.data.get("model")
    if not isinstance(given, dict):
        return BY_NAME.get(settings.choice("model", tuple(BY_NAME), Isometric.name), Isometric)()
    settings.take("model")
    table = Table(given, f"{settings.name}.model", settings.problems)
    name = table.choice("name", tuple(BY_NAME), None)
    if name not in BY_NAME:
        return Isometric()
    model = with_fields(table, BY_NAME[name]())
    table.close()
    return model
