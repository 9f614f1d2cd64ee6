"""Contact: which parts of the cloth and of obstacles come close during a step, and how that is linearised.

`candidates` finds pairs by their boxes, `contacts` decides which of them matter and on which side, `crossings` and
`smallest_distance` check the result.
"""

from isocloth.contact.broad import candidates
from isocloth.contact.ccd import time_of_approach
from isocloth.contact.narrow import Contacts, contacts, contacts_and_near, crossings, pair_key, smallest_distance
from isocloth.contact.surface import Feature, Pairs, Surface, build_surface
from isocloth.contact.tangled import piercings

__all__ = [
    "Contacts",
    "Feature",
    "Pairs",
    "Surface",
    "build_surface",
    "candidates",
    "contacts",
    "contacts_and_near",
    "crossings",
    "pair_key",
    "piercings",
    "smallest_distance",
    "time_of_approach",
]
