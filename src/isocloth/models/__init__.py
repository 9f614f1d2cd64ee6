"""Cloth models by name: the isometric one and its rivals, all with the same mass, bending, contact and solvers."""

from __future__ import annotations

from isocloth.models.elastic import Elastic
from isocloth.models.isometric import Isometric
from isocloth.models.mass_spring import MassSpring
from isocloth.models.model import Model
from isocloth.models.quasi_inextensible import QuasiInextensible

__all__ = ["BY_NAME", "MODELS", "Elastic", "Isometric", "MassSpring", "Model", "QuasiInextensible", "as_model"]

BY_NAME: dict[str, type[Model]] = {m.name: m for m in (Isometric, QuasiInextensible, Elastic, MassSpring)}
MODELS = tuple(BY_NAME)


def as_model(given: str | Model) -> Model:
    """A model from its name, with its default parameters, or from itself."""
    if isinstance(given, Model):
        return given
    if not isinstance(given, str):
        raise TypeError(
            f"model is {type(given).__name__}: expected a name, one of {', '.join(MODELS)}, or parameters such as "
            "ic.models.Elastic(stretch=2000)"
        )
    if given not in BY_NAME:
        raise ValueError(f"model {given!r} is unknown; choose one of {', '.join(MODELS)}")
    return BY_NAME[given]()
