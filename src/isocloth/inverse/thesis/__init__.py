"""The thesis' own ways (M. Ly, Static inverse modelling of cloth, 2021): inversion in two steps of chapter 5, and of
chapter 6 the continuation in the mass by which it finds developable rest shapes and densities. Names are loaded when
they are used: what `ic.invert` needs of the two steps is little."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from isocloth.inverse.thesis.continuation import Adaptive, MassContinuation, Stage, mass_continuation
    from isocloth.inverse.thesis.two_step import TwoSteps

__all__ = ["Adaptive", "MassContinuation", "Stage", "TwoSteps", "mass_continuation"]


if not TYPE_CHECKING:  # for type checkers a misspelt name would be anything

    def __getattr__(name: str) -> object:
        """Load a public name; from then on it is an ordinary attribute."""
        import importlib

        if name not in __all__:
            raise AttributeError(f"module 'isocloth.inverse.thesis' has no attribute {name!r}")
        home = "two_step" if name == "TwoSteps" else "continuation"
        found = globals()[name] = getattr(importlib.import_module(f"isocloth.inverse.thesis.{home}"), name)
        return found


def __dir__() -> list[str]:
    """The public names."""
    return sorted({*__all__, *(name for name in globals() if name.startswith("__") and name.endswith("__"))})
