"""A [[pinch]] table: a gripper that holds by friction, where it closes, how it moves and when it opens."""

from __future__ import annotations

from pathlib import Path

from isocloth.scenes.model import PinchPlan
from isocloth.scenes.read_motion import read_motion
from isocloth.scenes.read_obstacle import read_vector
from isocloth.scenes.read_rotation import read_rotation
from isocloth.scenes.table import Table

#: what stands for a vector that is missing or wrong, which has been said
NOWHERE = (0.0, 0.0, 0.0)


def read_pinch(table: Table, folder: Path, timestep: float) -> PinchPlan:
    """Read the table; paths in it are relative to `folder`."""
    plan = PinchPlan(
        centre=read_vector(table, "centre", "point") or NOWHERE,
        size=read_vector(table, "size", "size") or NOWHERE,
        normal=read_vector(table, "normal", "direction") or NOWHERE,
        force=table.number("force", unit="N", above=0.0, hint="the force with which each jaw presses"),
        friction=table.number("friction", unit="(no unit)", least=0.0, hint="0 is slippery, 0.5 is cloth on rubber"),
        rotation=read_rotation(table),
        release=table.number("release", unit="s", above=0.0) if table.has("release") else None,
        motion=read_motion(table, folder, timestep),
    )
    table.take("release")
    table.close()
    return plan
