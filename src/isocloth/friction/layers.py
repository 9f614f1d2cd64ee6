"""The order in which contacts are visited: outwards from obstacles, layer by layer.

In a stack of layers the lowest one rests on an obstacle, the next one on it, and so on. A sweep over contacts that
follows the stack carries the support of the obstacle to its top at once; one that changes all contacts together lets
every layer fall as if nothing held the one below.
"""

from __future__ import annotations

import numpy as np

from isocloth.base.compiled import kernel
from isocloth.base.typing import IntArray
from isocloth.contact.contact_set import ContactSet, chosen_contacts

#: of contacts whose layers no obstacle holds
FLOATING = 1 << 30


@kernel
def layers(c: ContactSet, nodes: int) -> IntArray:
    """Layer (c,) of contacts: 0 with obstacles, 1 between what rests on these and what lies on it, and so on.

    Stacks that float have FLOATING in common: any side is as good as the other to begin with.
    """
    count = len(c.gap)
    level = np.full(nodes, FLOATING)
    out = np.full(count, FLOATING)
    for k in range(count):
        if c.body[k] > 0:
            out[k] = 0
            for a in range(4):
                if c.weights[k, a] != 0.0:
                    level[c.nodes[k, a]] = 0
    for reached in range(count):
        changed = False
        for k in range(count):
            if out[k] < FLOATING:
                continue
            for a in range(4):
                if c.weights[k, a] != 0.0 and level[c.nodes[k, a]] == reached:
                    out[k] = reached + 1
        for k in range(count):
            if out[k] != reached + 1:
                continue
            for a in range(4):
                i = c.nodes[k, a]
                if c.weights[k, a] != 0.0 and level[i] == FLOATING:
                    level[i], changed = reached + 1, True
        if not changed:
            break
    return out


def outwards(c: ContactSet, nodes: int) -> ContactSet:
    """The same contacts of a cloth of so many nodes, layer by layer."""
    return chosen_contacts(c, np.argsort(layers(c, nodes), kind="stable"))
