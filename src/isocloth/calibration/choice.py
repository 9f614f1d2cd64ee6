"""The parameters that are fitted to recordings: checked against the fabric, model and obstacles that these have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from isocloth.base.errors import InputError
from isocloth.calibration.experiment import Experiment
from isocloth.calibration.parameters import OBSTACLE, Parameter, as_parameters


def parameters_of(given: Sequence[Any] | Mapping[str, Any], experiments: Sequence[Experiment]) -> tuple[Parameter, ...]:
    """Parameters that these experiments have; one without any effect, or a range out of bounds, is an error.

    A search would take such a parameter to any value, and who asked for it would believe that value.
    """
    chosen = as_parameters(given, experiments[0].fabric, experiments[0].model)
    for p in chosen:
        if p.name.startswith(OBSTACLE):
            _check_obstacle(p.name, experiments)
        elif p.name == "friction" and not any(e.options.get("self_collision") for e in experiments):
            raise InputError(
                "parameter 'friction' is that of the cloth on itself, which no simulation looks for: it would change "
                f"nothing; fit that of an obstacle, {_obstacles(experiments)}, or give self_collision=True"
            )
        for bound in (p.low, p.high):
            experiments[0].at({p.name: bound})  # fabric, model and obstacle say what is wrong with it
    return chosen


def _check_obstacle(name: str, experiments: Sequence[Experiment]) -> None:
    wanted = name.removeprefix(OBSTACLE)
    counts = [sum(o.name == wanted for o in e.obstacles) for e in experiments]
    if not any(counts):
        raise InputError(f"parameter {name!r} is that of no obstacle; choose one of {_obstacles(experiments)}")
    if max(counts) > 1:
        raise InputError(
            f"parameter {name!r}: {max(counts)} obstacles are called {wanted!r}; give them different names, "
            "obstacle.replace(name=...)"
        )


def _obstacles(experiments: Sequence[Experiment]) -> str:
    names = dict.fromkeys(OBSTACLE + o.name for e in experiments for o in e.obstacles)
    return ", ".join(map(repr, names)) or "none, as the recordings have no obstacles (give obstacles=[...])"
