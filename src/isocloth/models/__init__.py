"""Cloth models by name: the isometric one and its rivals, with the same parameters of mass, bending and contact."""

from __future__ import annotations

from isocloth.base.errors import InputError, InputTypeError
from isocloth.models.elastic import Elastic
from isocloth.models.isometric import Isometric
from isocloth.models.mass_spring import MassSpring
from isocloth.models.model import BENDINGS, Model, Terms
from isocloth.models.nonconforming import Nonconforming
from isocloth.models.quasi_inextensible import QuasiInextensible

__all__ = ["BENDINGS", "BY_NAME", "MODELS", "Elastic", "Isometric", "MassSpring", "Model", "Nonconforming",
           "QuasiInextensible", "Terms", "as_model"]  # fmt: skip

_ALL: tuple[type[Model], ...] = (Isometric, QuasiInextensible, Elastic, MassSpring, Nonconforming)
BY_NAME: dict[str, type[Model]] = {model.name: model for model in _ALL}
MODELS = tuple(BY_NAME)


def as_model(given: str | Model) -> Model:
    """A model from its name, with its default parameters, or from itself."""
    if isinstance(given, Model):
        return given
    if not isinstance(given, str):
        raise InputTypeError(
            f"model is {type(given).__name__}: expected a name, one of {', '.join(MODELS)}, or parameters such as "
            "ic.models.Elastic(stretch=2000)"
        )
    if given not in BY_NAME:
        raise InputError(f"model {given!r} is unknown; choose one of {', '.join(MODELS)}")
    return BY_NAME[given]()
