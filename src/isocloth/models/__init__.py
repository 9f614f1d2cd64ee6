"""Cloth models by name: the isometric one and its rivals, with the same parameters of mass, bending and contact."""

from __future__ import annotations

from isocloth.base.errors import InputError, InputTypeError
from isocloth.models.discrete_shell import DiscreteShell
from isocloth.models.elastic import Elastic
from isocloth.models.isometric import Isometric
from isocloth.models.koiter_shell import KoiterShell
from isocloth.models.mass_spring import MassSpring
from isocloth.models.model import BENDINGS, Model, Terms
from isocloth.models.nonconforming import Nonconforming
from isocloth.models.quasi_inextensible import QuasiInextensible
from isocloth.models.shell import Shell, StiffnessWarning
from isocloth.models.woven_shell import WovenShell

__all__ = ["BENDINGS", "BY_NAME", "MODELS", "SHELLS", "DiscreteShell", "Elastic", "Isometric", "KoiterShell",
           "MassSpring", "Model", "Nonconforming", "QuasiInextensible", "Shell", "StiffnessWarning", "Terms",
           "WovenShell", "as_model"]  # fmt: skip

_CLOTHS: tuple[type[Model], ...] = (Isometric, QuasiInextensible, Elastic, MassSpring, Nonconforming)
_SHELLS: tuple[type[Model], ...] = (DiscreteShell, KoiterShell, WovenShell)
BY_NAME: dict[str, type[Model]] = {model.name: model for model in (*_CLOTHS, *_SHELLS)}
#: models of cloth, which a recording of any cloth can be compared with, and elastic shells
MODELS = tuple(model.name for model in _CLOTHS)
SHELLS = tuple(model.name for model in _SHELLS)


def as_model(given: str | Model) -> Model:
    """A model from its name, with its default parameters, or from itself."""
    if isinstance(given, Model):
        return given
    if not isinstance(given, str):
        raise InputTypeError(
            f"model is {type(given).__name__}: expected a name, one of {', '.join(BY_NAME)}, or parameters such as "
            "ic.models.Elastic(stretch=2000)"
        )
    if given not in BY_NAME:
        raise InputError(f"model {given!r} is unknown; choose one of {', '.join(BY_NAME)}")
    return BY_NAME[given]()
