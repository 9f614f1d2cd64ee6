"""Developable surfaces bounded by a closed curve in space."""

from isocloth.developable.curve import SpaceCurve, space_curve
from isocloth.developable.ruled import RuledSurface
from isocloth.developable.solve import developables, follow

__all__ = ["RuledSurface", "SpaceCurve", "developables", "follow", "space_curve"]
