"""Statics: where a cloth comes to rest, whether it stays there, and how that depends on its parameters."""

from isocloth.statics.sensitivity import Gradient
from isocloth.statics.solution import Branch, Equilibrium, equilibrium

__all__ = ["Branch", "Equilibrium", "Gradient", "equilibrium"]
