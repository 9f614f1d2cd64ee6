"""Whether an equilibrium is stable: the smallest eigenvalue of the second derivative, relative to mass.

A v = lambda M v over the free nodes, contacts that press included as springs: lambda, 1/s^2, is the squared angular
frequency of the softest small oscillation, and negative where the cloth leaves the equilibrium. Whether A is positive
definite is known from its factor; the eigenvalue itself comes from some steps of Lanczos' method on the inverse of
A + s M, with an s that makes it positive definite.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from isocloth.base.typing import BoolArray, FloatArray
from isocloth.statics.hessian import Hessian
from isocloth.statics.polish import NEUTRAL, Polisher
from isocloth.statics.touching import Touching

#: 1/s^2, the first shift that is tried, and the largest
FIRST, LARGEST = 1.0, 1e12

#: part of the largest of |lambda| and the shift to which the eigenvalue is found
ACCURACY = 1e-6


def smallest_mode(hessian: Hessian) -> tuple[float, FloatArray]:
    """The smallest eigenvalue, 1/s^2, and its mode (n, 3), its largest component one; infinite if nothing moves."""
    free, shift = hessian.free, 0.0
    n = hessian.cloth.n
    if len(free) == 0:
        return np.inf, np.zeros((n, 3))
    while not hessian.factorise(shift) and shift < LARGEST:
        shift = max(10.0 * shift, FIRST)
    root = np.sqrt(np.repeat(hessian.mass, 3)[free])

    def inverse(x: FloatArray) -> FloatArray:
        force = np.zeros(3 * n)
        force[free] = root * x
        return np.asarray(root * hessian.solve(force.reshape(n, 3)).ravel()[free])

    count = len(free)
    start = np.cos(1.0 + np.arange(count))  # any vector that no symmetry makes orthogonal to the mode
    operator = LinearOperator((count, count), matvec=inverse, dtype=np.float64)
    try:
        size, vectors = eigsh(operator, k=1, which="LA", v0=start, tol=ACCURACY, ncv=min(count, 20), maxiter=200)
    except ArpackNoConvergence as unfinished:
        size, vectors = unfinished.eigenvalues, unfinished.eigenvectors
        if len(size) == 0:
            return np.nan, np.zeros((n, 3))
    mode = np.zeros(3 * n)
    mode[free] = vectors[:, -1] / root
    mode /= np.abs(mode).max()
    mode *= np.sign(mode[np.argmax(np.abs(mode))])
    return float(1.0 / size[-1] - shift), mode.reshape(n, 3)


def softest(solver: Polisher, tension: FloatArray, touching: Touching | None) -> tuple[float, FloatArray]:
    """The smallest eigenvalue, 1/s^2, and its mode (n, 3), where contacts that slid slide on only the way they did.

    A contact at the edge of its cone lets a cloth slide on, but not back: friction sticks there. If none of them stuck,
    any cloth on a ball would count as unstable. So contacts that the softest mode moves back are made to stick, one
    after the other, until that mode moves all others on, or is none that grows.
    """
    hessian = solver.hessian(tension, touching)
    eigenvalue, mode = smallest_mode(hessian)
    if touching is None:
        return eigenvalue, mode
    slides = touching.sliding
    while eigenvalue < 0.0:
        fewer = sliding_on(touching, slides, mode)
        if fewer is None:
            break
        slides = fewer
        eigenvalue, mode = smallest_mode(solver.hessian(tension, touching, slides))
    return eigenvalue, mode


def sliding_on(touching: Touching, slides: BoolArray, mode: FloatArray) -> BoolArray | None:
    """Of sliding contacts (c,) all but the one that a mode (n, 3) moves back most; None where it moves none back."""
    way = np.where(slides, touching.along_slides(mode), 0.0)
    way *= np.sign(way.sum()) or 1.0
    return np.asarray(slides & (way > way.min())) if (slides & (way < 0.0)).any() else None


def lasts(solver: Polisher, tension: FloatArray, touching: Touching | None) -> bool:
    """Whether an equilibrium where the potential is comes back after a small push."""
    if solver.hessian(tension, touching).factorise(NEUTRAL):
        return True
    return bool(softest(solver, tension, touching)[0] >= -NEUTRAL) if touching is not None else False
