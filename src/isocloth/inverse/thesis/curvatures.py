"""What a descent knows of the second derivative of its loss, and the step it makes of it.

    BFGS       an approximate inverse matrix, updated by every step: n^2 numbers
    L-BFGS     the last 15 steps and changes of the gradient, for meshes whose matrix has no room (Nocedal 1980)
    matrix     a matrix at every point, of Gauss and Newton or the second derivative itself, with a multiple of the
               identity that makes it positive definite, and grows where steps are too long (Levenberg, Marquardt)

All serve the one loop of `bfgs.py`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Protocol

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.linalg.blas import dsymv, dsyr, dsyr2

from isocloth.base.typing import FloatArray

#: steps that L-BFGS remembers, in the thesis
MEMORY = 15
#: of the largest number on the diagonal: the least shift of a matrix, the first one where that is not enough; the next
LEAST, SHIFT, MORE = 1e-14, 1e-8, 10.0
#: part of a step that was taken, below which the next one is damped more, and from which it is damped less
SHORT, WHOLE = 0.2, 0.99


class Curvature(Protocol):
    """What is known of a second derivative."""

    @property
    def known(self) -> bool:
        """Whether anything is: if not, the step is along the slope."""
        ...

    def way(self, x: FloatArray, gradient: FloatArray) -> FloatArray:
        """The step (c,) at a point (c,) with a gradient (c,)."""
        ...

    def learn(self, step: FloatArray, change: FloatArray) -> None:
        """A step was taken, and the gradient changed."""
        ...

    def forget(self) -> None:
        """Begin anew: the last step led nowhere."""
        ...


def convex(step: FloatArray, change: FloatArray) -> bool:
    """Whether the loss was convex along a step, beyond rounding."""
    return bool(float(step @ change) > 1e-14 * float(np.linalg.norm(change)) * float(np.linalg.norm(step)))


class FullBFGS:
    """An approximate inverse matrix; two products of rank one and two each step, n^2 work."""

    def __init__(self) -> None:
        self._inverse: FloatArray | None = None  # upper triangle, in Fortran's order

    @property
    def known(self) -> bool:
        """After the first step."""
        return self._inverse is not None

    def way(self, x: FloatArray, gradient: FloatArray) -> FloatArray:
        """Minus the inverse matrix times the gradient."""
        return -dsymv(1.0, self._inverse, gradient)

    def learn(self, step: FloatArray, change: FloatArray) -> None:
        """The matrix after a step, scaled to it if it is the first; left as it is where the loss is not convex."""
        if not convex(step, change):
            return
        along = float(step @ change)
        if self._inverse is None:
            self._inverse = np.asfortranarray(np.diag(np.full(len(step), along / float(change @ change))))
        turned = dsymv(1.0, self._inverse, change)
        inverse = dsyr(1.0 / along + float(change @ turned) / along**2, step, a=self._inverse, overwrite_a=True)
        self._inverse = np.asarray(dsyr2(-1.0 / along, turned, step, a=inverse, overwrite_a=True))

    def forget(self) -> None:
        """All steps."""
        self._inverse = None


class LimitedBFGS:
    """The last steps, and the gradients' changes."""

    def __init__(self, memory: int = MEMORY) -> None:
        self._pairs: deque[tuple[FloatArray, FloatArray, float]] = deque(maxlen=memory)

    @property
    def known(self) -> bool:
        """After the first step."""
        return len(self._pairs) > 0

    def way(self, x: FloatArray, gradient: FloatArray) -> FloatArray:
        """By the recursion of two loops."""
        out, shares = gradient.copy(), []
        for step, change, along in reversed(self._pairs):
            share = float(step @ out) / along
            out -= share * change
            shares.append(share)
        step, change, along = self._pairs[-1]
        out *= along / float(change @ change)
        for (step, change, along), share in zip(self._pairs, reversed(shares), strict=True):
            out += (share - float(change @ out) / along) * step
        return -out

    def learn(self, step: FloatArray, change: FloatArray) -> None:
        """The oldest step goes."""
        if convex(step, change):
            self._pairs.append((step.copy(), change.copy(), float(step @ change)))

    def forget(self) -> None:
        """All steps."""
        self._pairs.clear()


class ByMatrix:
    """Newton's method, or that of Gauss and Newton: the matrix of every point."""

    def __init__(self, matrix: Callable[[FloatArray], FloatArray]) -> None:
        """matrix: (c, c) symmetric, of a point (c,)."""
        self._matrix, self._known = matrix, True
        self._damping, self._length = LEAST, 0.0

    @property
    def known(self) -> bool:
        """Always, but after a step that led nowhere."""
        return self._known

    def way(self, x: FloatArray, gradient: FloatArray) -> FloatArray:
        """The step to the minimum of the quadratic function with this matrix, shifted as little as is tried; along the
        slope where the matrix has no number."""
        matrix = self._matrix(x)
        diagonal = matrix.diagonal().copy()
        largest = float(np.abs(diagonal).max())
        found, part = -gradient, self._damping
        while np.isfinite(matrix).all() and part <= 1.0 / SHIFT:
            np.fill_diagonal(matrix, diagonal + part * largest)
            try:
                found = -np.asarray(cho_solve(cho_factor(matrix, check_finite=False), gradient))
                break
            except LinAlgError:
                part = max(MORE * part, SHIFT)
        self._length = float(np.linalg.norm(found))
        return found

    def learn(self, step: FloatArray, change: FloatArray) -> None:
        """How much of a step was taken says how far the matrix is to be trusted."""
        share = float(np.linalg.norm(step)) / self._length if self._known and self._length > 0.0 else 1.0
        if share < SHORT:
            self._damping = max(MORE * self._damping, SHIFT)
        elif share >= WHOLE:
            self._damping = self._damping / MORE if self._damping > SHIFT else LEAST
        self._known = True

    def forget(self) -> None:
        """The next step is along the slope, and later ones are damped more."""
        self._known, self._damping = False, max(MORE * self._damping, SHIFT)
