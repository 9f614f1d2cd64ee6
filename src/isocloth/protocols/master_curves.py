"""Master curves of the protocols (Romero and others 2021, chapter 3 of the thesis): what a strip has to do, as numbers.

Lengths are in units of the strip's length L, forces in units of EI / L^2.

Cantilever: theta'' + Gamma (1 - s) cos theta = 0, theta(0) = 0, theta'(1) = 0, x' = cos theta, y' = sin theta, with
Gamma = rho h g L^3 / D; what is observed is the drop over the reach of the tip, H/W: Gamma / 8 where it is small and
sqrt(Gamma / 2) where it is large.

Stick-slip: theta'' = p cos theta + q sin theta, theta(0) = pi/2, theta'(1) = 0, x' = cos theta, y' = sin theta, x(0) =
y(0) = x(1) = 0 and y(1) = 1 - epsilon, with q = P L^2/EI the push along the strip and p = Q L^2/EI the force across it
that friction has to bear: the tip sticks while Q/P < mu.

Lateral buckling: Gamma_c = 18.2 (1 - nu) sqrt(1 + nu) + 14.5 w/L, a fit to computations for nu = 0.35, 0 < w/L <= 1.

All boundary value problems are continued from an easy one: shooting finds unphysical answers beyond Gamma of 200.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.integrate import cumulative_trapezoid, solve_bvp, trapezoid
from scipy.optimize import brentq

from isocloth.base.errors import InputError, InputTypeError
from isocloth.base.numeric import as_float, shown
from isocloth.base.typing import FloatArray

#: of the boundary value problems
_TOLERANCE = 1e-8
#: ends of the curves
SOFTEST, STIFFEST = 1e6, 1e-3
#: push at which the tip lies flat on the floor and more of the strip begins to touch it, and the friction there
TRIPLE_POINT = (0.33, 0.356)


class Hanging(NamedTuple):
    """A strip clamped level at one end that hangs under its weight."""

    gamma: float
    aspect: float  # H/W
    drop: float  # H/L
    reach: float  # W/L


class Pushed(NamedTuple):
    """A strip clamped upright that is pushed against a floor."""

    push: float  # epsilon, shortening / L
    along: float  # P L^2/EI
    across: float  # Q L^2/EI
    friction: float  # Q/P
    tip: float  # angle of the tip from the floor, rad
    shape: FloatArray  # (k, 3): s, x (across) and y (along) of points of the strip, in L


@cache
def _continued(step: int) -> tuple[FloatArray, FloatArray]:
    """Mesh (k,) and (theta, theta', x, y) (4, k) of the cantilever at Gamma = STIFFEST 10^(step/4)."""
    gamma = STIFFEST * 10.0 ** (step / 4)
    if step == 0:
        s = np.linspace(0.0, 1.0, 41)
        guess = np.zeros((4, 41))
        guess[2] = s
    else:
        s, guess = _continued(step - 1)
    return _hang(gamma, s, guess)


def _hang(gamma: float, s: FloatArray, guess: FloatArray) -> tuple[FloatArray, FloatArray]:
    def slopes(s: FloatArray, y: FloatArray) -> FloatArray:
        return np.vstack([y[1], -gamma * (1.0 - s) * np.cos(y[0]), np.cos(y[0]), np.sin(y[0])])

    def ends(a: FloatArray, b: FloatArray) -> FloatArray:
        return np.array([a[0], b[1], a[2], a[3]])

    found = solve_bvp(slopes, ends, s, guess, tol=_TOLERANCE, max_nodes=200_000)
    if not found.success:
        raise InputError(f"Gamma = {gamma:g}: the elastica was not found ({found.message}); choose another Gamma")
    return found.x, found.y


@cache
def hanging(gamma: float) -> Hanging:
    """The cantilever at one Gamma, from 1e-3 to 1e6."""
    if not STIFFEST <= gamma <= SOFTEST:
        raise InputError(f"Gamma = {gamma!r}: expected {STIFFEST:g} to {SOFTEST:g}, the range of the master curve")
    before = int(np.floor(4.0 * np.log10(gamma / STIFFEST) + 1e-9))
    for step in range(0, before, 16):
        _continued(step)  # not all at once: each asks for the one before
    _, y = _hang(gamma, *_continued(before))
    return Hanging(gamma, float(y[3, -1] / y[2, -1]), float(y[3, -1]), float(y[2, -1]))


def cantilever_curve(gammas: ArrayLike) -> FloatArray:
    """H/W at every Gamma."""
    given = np.asarray(gammas, dtype=np.float64)
    return np.array([hanging(float(gamma)).aspect for gamma in given.ravel()]).reshape(given.shape)


def gamma_of(aspect: float) -> float:
    """The Gamma at which a strip hangs with H/W = aspect."""
    low, high = hanging(STIFFEST).aspect, hanging(SOFTEST).aspect
    if not low < aspect < high:
        raise InputError(
            f"drop / reach = {aspect:g}: expected {low:.2g} to {high:.3g}; a longer strip hangs down more, a "
            "shorter one less"
        )

    def off(logarithm: float) -> float:
        return float(np.log(hanging(float(np.exp(logarithm))).aspect / aspect))

    return float(np.exp(brentq(off, np.log(STIFFEST), np.log(SOFTEST), xtol=1e-7)))


#: pushes through which the strip is continued
_PUSHES = np.concatenate([np.geomspace(1e-4, 0.06, 19), np.arange(0.08, 0.35, 0.02)])
_FIRST_PUSH, _LAST_PUSH = float(_PUSHES[0]), float(_PUSHES[-1])
#: smallest root of tan k = k: a column clamped at one end and hinged at the other buckles under k^2 EI/L^2
COLUMN = 4.493409457909064


@cache
def _pushed(step: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Mesh (k,), (theta, theta', x, y) (4, k) and (p, q) of the pushed strip, continued to one of the pushes."""
    push = float(_PUSHES[step])
    if step > 0:
        return _push(push, *_pushed(step - 1))
    # the first mode of the column, as large as shortens it by the push
    k, s = COLUMN, np.linspace(0.0, 1.0, 201)
    slope = k * (np.cos(k * s) - 1.0) + (np.sin(k) - k) / (np.cos(k) - 1.0) * k * np.sin(k * s)
    tilt = np.sqrt(2.0 * push / trapezoid(slope**2, s)) * slope
    theta = 0.5 * np.pi - tilt
    x, y = (cumulative_trapezoid(rate, s, initial=0) for rate in (np.cos(theta), np.sin(theta)))
    guess = np.vstack([theta, np.gradient(theta, s), x, y])
    return _push(push, s, guess, np.array([k**2, 0.445 * np.sqrt(push) * k**2]))


def _push(
    push: float, s: FloatArray, guess: FloatArray, forces: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    def slopes(_: FloatArray, y: FloatArray, f: FloatArray) -> FloatArray:
        return np.vstack([y[1], f[0] * np.cos(y[0]) + f[1] * np.sin(y[0]), np.cos(y[0]), np.sin(y[0])])

    def ends(a: FloatArray, b: FloatArray, f: FloatArray) -> FloatArray:
        return np.array([a[0] - 0.5 * np.pi, b[1], a[2], a[3], b[2], b[3] - (1.0 - push)])

    found = solve_bvp(slopes, ends, s, guess, p=forces, tol=1e-7, max_nodes=200_000)
    if not found.success:
        raise InputError(f"push = {push:g}: the elastica was not found ({found.message}); choose another push")
    even = np.linspace(0.0, 1.0, 201)  # the mesh of one is too fine for the next
    return even, found.sol(even), np.asarray(found.p)


@cache
def pushed(push: float) -> Pushed:
    """The strip that sticks to the floor while its clamp comes nearer by push L, from 1e-4 to 0.34."""
    if not _FIRST_PUSH <= push <= _LAST_PUSH:
        raise InputError(
            f"push = {push!r}: expected {_FIRST_PUSH:g} to {_LAST_PUSH:g} of the length; beyond {TRIPLE_POINT[0]} the "
            "strip lies on the floor"
        )
    before = int(np.searchsorted(_PUSHES, push, side="right")) - 1
    s, y, (along, across) = _push(push, *_pushed(before))
    shape = np.stack([s, y[2], y[3]], axis=1)
    return Pushed(push, float(along), float(across), float(across / along), float(y[0, -1]), shape)


def stick_slip_curve(pushes: ArrayLike) -> FloatArray:
    """Q/P at every push: the friction at which the tip slips there."""
    given = np.asarray(pushes, dtype=np.float64)
    return np.array([pushed(float(push)).friction for push in given.ravel()]).reshape(given.shape)


def slipping() -> tuple[float, float]:
    """The least and the largest coefficient of friction of the master curve."""
    return pushed(_FIRST_PUSH).friction, pushed(_LAST_PUSH).friction


def push_of(friction: float) -> float:
    """The push at which a tip with this coefficient of friction slips."""
    low, high = slipping()
    if not low < friction < high:
        raise InputError(
            f"friction = {friction!r}: expected {low:.2g} to {high:.2g}; beyond {TRIPLE_POINT[1]} the strip lies on "
            "the floor before it slips"
        )
    return float(brentq(lambda push: pushed(push).friction - friction, _FIRST_PUSH, _LAST_PUSH, xtol=1e-9))


def buckling_threshold(width: float, poisson: float) -> float:
    """Gamma_c of a strip whose width is so many of its lengths (at most 1), with Poisson's ratio."""
    for name, value in (("width", width), ("poisson", poisson)):
        if as_float(value) is None:
            raise InputTypeError(f"{name} = {shown(value)}: expected a number")
    if not 0.0 < width <= 1.0:
        raise InputError(f"width = {width!r} lengths: expected more than 0 and at most 1, the range of the fit")
    if not -1.0 <= poisson <= 0.5:
        raise InputError(f"poisson = {poisson!r}: expected -1 to 0.5")
    return float(18.2 * (1.0 - poisson) * np.sqrt(1.0 + poisson) + 14.5 * width)
