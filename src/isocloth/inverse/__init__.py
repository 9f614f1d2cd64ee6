"""Inverse design: the rest shape with which a cloth hangs as it should."""

from isocloth.inverse.inversion import Inversion, invert

__all__ = ["Inversion", "invert"]
