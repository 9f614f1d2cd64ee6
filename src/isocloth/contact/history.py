"""The state of contacts, and the contact history that warm starts the next iteration and the next step."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from isocloth.base.compiled import kernel
from isocloth.base.hashing import slot, table_size
from isocloth.base.typing import BoolArray, FloatArray, IntArray
from isocloth.contact.contact_set import ContactSet

OPEN, STICK, SLIDE = 0, 1, 2


class ContactState(NamedTuple):
    """What is known of the contacts."""

    force: FloatArray  # (c, 3) N, on the side with positive weights
    threshold: FloatArray  # (c,) N, mu r_N as it enters the solve
    status: IntArray  # (c,) OPEN, STICK or SLIDE
    anchor: FloatArray  # (c, 3) N, force along the surface that the contact bears without slip
    stiffness: FloatArray  # (c,) N/m
    scale: FloatArray  # (c,) N/m, inertia m/h^2 that the contact moves
    trial: FloatArray  # (c, 2) N, threshold of the iteration before and the mu r_N that came of it


class ContactHistory(NamedTuple):
    """Contacts and what was known of them: what the next iteration, or the next step, starts from."""

    key: IntArray  # (c,)
    law: ContactState


@kernel
def warm_start(key: IntArray, history: ContactHistory) -> ContactState:
    """What is known of contacts that were there before, by key (c,); nothing of the others."""
    count = len(key)
    law = ContactState(
        np.zeros((count, 3)), np.zeros(count), np.zeros(count, dtype=np.int64), np.zeros((count, 3)), np.zeros(count),
        np.zeros(count), np.full((count, 2), np.nan),
    )  # fmt: skip
    old, known = history.law, history.key
    size = table_size(len(known))
    table = np.zeros(size, dtype=np.int64)  # 1 + number of a contact that was there before
    for q in range(len(known)):
        at = slot(known[q], size)
        while table[at] > 0:
            at = (at + 1) & (size - 1)
        table[at] = q + 1
    for k in range(count):
        at = slot(key[k], size)
        while table[at] > 0 and known[table[at] - 1] != key[k]:
            at = (at + 1) & (size - 1)
        if table[at] == 0:
            continue
        q = table[at] - 1
        law.threshold[k], law.status[k], law.stiffness[k] = old.threshold[q], old.status[q], old.stiffness[q]
        for d in range(3):
            law.force[k, d], law.anchor[k, d] = old.force[q, d], old.anchor[q, d]
        for d in range(2):
            law.trial[k, d] = old.trial[q, d]
    return law


def unknown_state(count: int) -> ContactState:
    """Contacts of which nothing is known."""
    return ContactState(
        np.zeros((count, 3)), np.zeros(count), np.zeros(count, dtype=np.int64), np.zeros((count, 3)), np.zeros(count),
        np.zeros(count), np.full((count, 2), np.nan),
    )  # fmt: skip


NO_HISTORY = ContactHistory(np.empty(0, dtype=np.int64), unknown_state(0))


@kernel
def pressing(c: ContactSet, law: ContactState, nodes: int) -> tuple[BoolArray, ContactHistory]:
    """Which of the nodes (n,) are in contact, and the contacts that are not open."""
    touched = np.zeros(nodes, dtype=np.bool_)
    chosen = np.empty(len(c.gap), dtype=np.int64)
    count = 0
    for k in range(len(c.gap)):
        if law.status[k] != OPEN:
            chosen[count] = k
            count += 1
            for q in range(4):
                if c.weights[k, q] != 0.0:
                    touched[c.nodes[k, q]] = True
    of = chosen[:count]
    kept = ContactState(
        law.force[of], law.threshold[of], law.status[of], law.anchor[of], law.stiffness[of], law.scale[of],
        law.trial[of],
    )  # fmt: skip
    return touched, ContactHistory(c.key[of], kept)


@kernel
def sticking(c: ContactSet, law: ContactState, nodes: int) -> BoolArray:
    """Which of the nodes (n,) stick to something."""
    stuck = np.zeros(nodes, dtype=np.bool_)
    for k in range(len(c.gap)):
        if law.status[k] == STICK:
            for q in range(4):
                if c.weights[k, q] != 0.0:
                    stuck[c.nodes[k, q]] = True
    return stuck


def chosen_history(history: ContactHistory, chosen: BoolArray) -> ContactHistory:
    """The chosen contacts (c,) only."""
    columns: list[Any] = [column[chosen] for column in history.law]
    return ContactHistory(history.key[chosen], ContactState(*columns))
