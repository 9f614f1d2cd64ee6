"""The first guess of a step with contact: nodes go on as they moved, but where they only tremble they stay.

The matrix of a step with contact may have as little as half of the second derivative (TENSION, `cloth/system.py`): a
linearisation then takes what the first guess is off, e, to G e with G down to -1. Iterations converge all the same. But
a cloth at rest takes one linearisation a step, and the next step begins at y + h v, which makes more of the same error:
of one that alternates, (-1)^n e, BDF2 makes 5 e and Euler 3 e, so that it grows from step to step where G is below -1/5
and -1/3, until it is as large as the tolerance of a step, which is a mean over the whole cloth: a node of a crease
trembles by a tenth of a millimetre for ever. From y itself it falls by G.

So a node whose velocity turns round within a step starts where it is, if it goes less far in a step than a twentieth of
the thickness. What grows was small once, and is caught there; what goes further was thrown back by something, and goes
on. What this costs the guess is at most what the acceleration of a step does.
"""

from __future__ import annotations

import numpy as np

from isocloth.base.compiled import kernel
from isocloth.base.typing import BoolArray, FloatArray

#: part of the thickness by which a node moves in a step, at most, if it only trembles; 1 was tried too, and left steps
#: of sheets thrown on small bodies unsolved
TREMBLE = 0.05


@kernel
def first_guess(
    start: FloatArray, positions: FloatArray, velocities: FloatArray, previous: FloatArray, held: BoolArray,
    fastest: float,
) -> FloatArray:  # fmt: skip
    """Where the iteration begins (n, 3), m: at `start` (n, 3), but free nodes (n,) whose velocity (n, 3) m/s turned
    round since the step before, `previous` (n, 3), and is less than `fastest` m/s, at their positions (n, 3)."""
    out = np.empty(start.shape)
    for i in range(len(start)):
        along = square = 0.0
        for d in range(3):
            along += velocities[i, d] * previous[i, d]
            square += velocities[i, d] ** 2
        stays = along < 0.0 and square < fastest**2 and not held[i]
        for d in range(3):
            out[i, d] = positions[i, d] if stays else start[i, d]
    return out
