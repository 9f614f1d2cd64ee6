"""Contact: which parts of the cloth and of obstacles come close during a step, and how that is linearised.

`candidates` finds pairs by their boxes, `contacts` decides which of them matter and on which side.
"""

from isocloth.contact.surface import Feature, Pairs, Surface, build_surface

__all__ = ["Feature", "Pairs", "Surface", "build_surface"]
