"""Minimisation of the loss over parts (0 to 1) of the ranges: grid, simplex, CMA-ES, Gauss-Newton from many starts.

The loss is a mean distance between two motions. Far from the truth the motions get out of phase, which gives it several
minima; near it, it is a sum of squares, rough at small scales because folds form a little sooner or later.
`multistart` looks in many places first, goes on from the best ones by Gauss-Newton steps whose differences are taken
over distances larger than the roughness, and ends with a paraboloid through many points about the best, which averages
over it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.stats import qmc

from isocloth.base.errors import InputError
from isocloth.base.typing import FloatArray
from isocloth.calibration.evaluations import Evaluations, Linear


@dataclass(frozen=True, kw_only=True)
class SearchOptions:
    """How thoroughly to look.

    points: values per parameter of a sweep; places where `multistart` looks first (all together, None = 8 per
        parameter).
    rounds: a sweep is repeated so often on a narrower range; restarts of `cma`.
    starts: places from which `multistart` goes on.
    most: evaluations or iterations after which a search ends (None: what it needs).
    tolerance: change of parameters, as part of their ranges, at which a search ends.
    seed: of random places.
    """

    points: int | None = None
    rounds: int = 2
    starts: int = 2
    most: int | None = None
    tolerance: float = 1e-3
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("points", "rounds", "starts", "most"):
            value = getattr(self, name)
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
                raise InputError(f"{name} = {value!r}: expected a whole number, at least 1")
        if not 0.0 < self.tolerance < 1.0:
            raise InputError(f"tolerance = {self.tolerance!r}: expected a part of the range, between 0 and 1")


def sweep(seen: Evaluations, options: SearchOptions) -> FloatArray:
    """Grid search: all points of a grid (the papers' way), and then of finer ones about the best."""
    p = len(seen.setting.parameters)
    low, high = np.zeros(p), np.ones(p)
    count = options.points or 11
    best = 0.5 * (low + high)
    for _ in range(options.rounds):
        axes = [np.linspace(a, b, count) for a, b in zip(low, high, strict=True)]
        points = [np.array(u) for u in itertools.product(*axes)]
        losses = seen.losses(points)
        best = points[int(np.argmin(losses))]
        width = (high - low) / max(count - 1, 1)
        low, high = np.clip(best - width, 0.0, 1.0), np.clip(best + width, 0.0, 1.0)
    return best


def nelder_mead(seen: Evaluations, options: SearchOptions) -> FloatArray:
    """The simplex method from the middle of the ranges (the papers' other way)."""
    p = len(seen.setting.parameters)
    start = np.full(p, 0.5)
    simplex = np.vstack([start, start + 0.25 * np.eye(p)])
    settings: Any = {
        "initial_simplex": simplex, "xatol": options.tolerance, "fatol": 1e-7, "maxfev": options.most or 200 * p,
    }  # fmt: skip

    def loss(u: FloatArray) -> float:
        return min(seen.losses([u])[0], 1e6)

    found = minimize(loss, start, method="Nelder-Mead", bounds=[(0.0, 1.0)] * p, options=settings)
    return np.clip(found.x, 0.0, 1.0)


def cma(seen: Evaluations, options: SearchOptions) -> FloatArray:
    """Evolution of a normal distribution whose shape is learnt (CMA-ES), restarted with more points each time.

    Hansen, *The CMA Evolution Strategy: A Tutorial* (2016), with its default constants.
    """
    n = len(seen.setting.parameters)
    random = np.random.default_rng(options.seed)
    budget = options.most or 150 * n
    best, best_loss = np.full(n, 0.5), np.inf
    spent = 0
    for restart in range(options.rounds):
        size = (4 + int(3 * np.log(n))) * 2**restart
        mu = size // 2
        w = np.log(mu + 0.5) - np.log(np.arange(1, mu + 1))
        w /= w.sum()
        mass = 1.0 / (w**2).sum()
        c_sigma, d_sigma = (mass + 2) / (n + mass + 5), 1.0
        d_sigma += 2 * max(0.0, np.sqrt((mass - 1) / (n + 1)) - 1) + c_sigma
        c_c = (4 + mass / n) / (n + 4 + 2 * mass / n)
        c_1 = 2 / ((n + 1.3) ** 2 + mass)
        c_mu = min(1 - c_1, 2 * (mass - 2 + 1 / mass) / ((n + 2) ** 2 + mass))
        typical = np.sqrt(n) * (1 - 1 / (4 * n) + 1 / (21 * n**2))
        mean = np.full(n, 0.5) if restart == 0 else random.random(n)
        sigma, C = 0.3, np.eye(n)
        path_s, path_c = np.zeros(n), np.zeros(n)
        while spent < budget and sigma * np.sqrt(np.max(np.diag(C))) > options.tolerance:
            values, axes = np.linalg.eigh(C)
            root = np.sqrt(np.maximum(values, 1e-20))
            steps = (random.standard_normal((size, n)) * root) @ axes.T
            asked = mean + sigma * steps
            inside = np.clip(asked, 0.0, 1.0)
            losses = np.array(seen.losses(list(inside)))
            spent += size
            # outside the ranges: the loss at the border, and a little more the farther out
            ranked = losses + 0.1 * ((asked - inside) ** 2).sum(axis=1)
            order = np.argsort(ranked, kind="stable")
            if losses.min() < best_loss:
                best, best_loss = inside[int(np.argmin(losses))], float(losses.min())
            chosen = steps[order[:mu]]
            step = w @ chosen
            mean = np.clip(mean + sigma * step, 0.0, 1.0)
            path_s = (1 - c_sigma) * path_s + np.sqrt(c_sigma * (2 - c_sigma) * mass) * (
                axes @ ((axes.T @ step) / root)
            )
            known = float(np.linalg.norm(path_s)) / typical < 1.4 + 2 / (n + 1)
            path_c = (1 - c_c) * path_c + known * np.sqrt(c_c * (2 - c_c) * mass) * step
            C = (1 - c_1 - c_mu) * C + c_1 * (np.outer(path_c, path_c) + (not known) * c_c * (2 - c_c) * C)
            C += c_mu * (chosen.T * w) @ chosen
            sigma *= float(np.exp((c_sigma / d_sigma) * (np.linalg.norm(path_s) / typical - 1)))
            sigma = min(sigma, 1.0)
    return best


def multistart(seen: Evaluations, options: SearchOptions) -> FloatArray:
    """Many places first, then damped Gauss-Newton steps from the best few that are apart."""
    p = len(seen.setting.parameters)
    count = options.points or 8 * p
    places = qmc.Halton(p, scramble=True, rng=np.random.default_rng(options.seed)).random(count)
    places = np.vstack([np.full(p, 0.5), places[: max(count - 1, 0)]])
    losses = np.array(seen.losses(list(places)))
    starts: list[FloatArray] = []
    for k in np.argsort(losses, kind="stable"):
        if not np.isfinite(losses[k]):
            break
        if all(np.abs(places[k] - s).max() > 0.15 for s in starts):
            starts.append(places[k])
        if len(starts) == options.starts:
            break
    if not starts:
        return places[0]
    descents = [_LevenbergMarquardt(u, options.tolerance) for u in starts]
    for _ in range(options.most or 25):
        active = [c for c in descents if not c.done]
        if not active:
            break
        fresh = [c for c in active if c.linear is None]
        for descent, linear in zip(fresh, seen.linear([c.u for c in fresh]), strict=True):
            descent.linearised(linear)
        active = [c for c in active if not c.done]
        trials = [c.trial() for c in active]
        for descent, u, loss in zip(active, trials, seen.losses(trials), strict=True):
            descent.answer(u, loss**2 * len(seen.setting.experiments) if seen.loss == "rms" else None, seen)
    return _response_surface(seen, options)


#: half widths of the boxes in which a paraboloid is laid through the squared loss
RADII = (0.08, 0.04)


def _response_surface(seen: Evaluations, options: SearchOptions) -> FloatArray:
    """Response surface: the minimum of a paraboloid through points about the best one, if it is no worse than that."""
    p = len(seen.setting.parameters)
    count = 3 * (p + 1) * (p + 2) // 2
    random = np.random.default_rng(options.seed + 1)
    centre = seen.best_asked()[1]
    for radius in RADII:
        spread = qmc.Halton(p, scramble=True, rng=random).random(count)
        places = [*np.clip(centre + radius * (2.0 * spread - 1.0), 0.0, 1.0), centre]
        losses = np.array(seen.losses(places))
        minimum = paraboloid_minimum(np.array(places), losses**2, centre, radius)
        if minimum is not None:
            centre = minimum
    value = seen.losses([centre])[0]
    # within the roughness of the loss the paraboloid knows better than a lucky point
    least, best = seen.best_asked()
    return centre if value <= 1.05 * least else best


def paraboloid_minimum(places: FloatArray, squares: FloatArray, centre: FloatArray, radius: float) -> FloatArray | None:
    """The minimum of the paraboloid through values (N,) at places (N, p), within a box about the centre.

    None if it is not convex. Values far above the least count little.
    """
    found = _paraboloid(places, squares, centre, radius)
    if found is None:
        return None
    slope, H, _ = found
    step = np.clip(np.linalg.solve(H, -slope), -1.0, 1.0)
    return np.clip(centre + radius * step, 0.0, 1.0)


def paraboloid_spread(places: FloatArray, squares: FloatArray, centre: FloatArray, radius: float) -> FloatArray:
    """Covariance (p, p) of where the minimum is, by how much values scatter about the paraboloid; zero if unknown."""
    near = np.abs(places - centre).max(axis=1) <= radius
    found = _paraboloid(places[near], squares[near], centre, radius)
    p = places.shape[1]
    if found is None:
        return np.zeros((p, p))
    _, H, slopes = found
    inverse = np.linalg.inv(H)
    out: FloatArray = radius**2 * inverse @ slopes @ inverse
    return out


def _paraboloid(
    places: FloatArray, squares: FloatArray, centre: FloatArray, radius: float
) -> tuple[FloatArray, FloatArray, FloatArray] | None:
    """Slope (p,), curvature (p, p) and covariance of the slope of a paraboloid in units of the radius."""
    known = np.isfinite(squares)
    x = (places[known] - centre) / radius
    y = squares[known]
    p = x.shape[1]
    pairs = list(itertools.combinations_with_replacement(range(p), 2))
    A = np.column_stack([np.ones(len(x)), x, *[x[:, i] * x[:, j] for i, j in pairs]])
    if len(y) <= A.shape[1] or y.min() <= 0.0:
        return None
    w = np.sqrt(y.min() / y)
    weighted = A * w[:, None]
    c = np.linalg.lstsq(weighted, y * w, rcond=None)[0]
    H = np.zeros((p, p))
    for (i, j), value in zip(pairs, c[1 + p :], strict=True):
        H[i, j] += value
        H[j, i] += value
    if np.linalg.eigvalsh(H)[0] <= 1e-6 * np.abs(H).max():
        return None
    scatter = float((((A @ c - y) * w) ** 2).sum()) / (len(y) - A.shape[1])
    covariance = scatter * np.linalg.pinv(weighted.T @ weighted, hermitian=True)
    return c[1 : 1 + p], H, covariance[1 : 1 + p, 1 : 1 + p]


class _LevenbergMarquardt:
    """Levenberg-Marquardt iteration: damped Gauss-Newton steps within the ranges."""

    def __init__(self, u: FloatArray, tolerance: float) -> None:
        self.u, self._tolerance = u, tolerance
        self.linear: Linear | None = None
        self.square = np.inf
        self.done = False
        self._damping = 1e-2

    def linearised(self, linear: Linear | None) -> None:
        """Take the linearisation at the present point."""
        if linear is None:
            self.done = True
            return
        self.linear, self.square = linear, linear.square

    def trial(self) -> FloatArray:
        """Where to go next: the minimum of the damped quadratic within the ranges."""
        assert self.linear is not None
        A = self.linear.normal + self._damping * np.diag(np.maximum(np.diag(self.linear.normal), 1e-16))
        free = np.ones(len(self.u), dtype=bool)
        step = np.zeros_like(self.u)
        for _ in range(len(self.u) + 1):
            step[:] = 0.0
            if not free.any():
                break
            step[free] = np.linalg.lstsq(A[np.ix_(free, free)], -self.linear.gradient[free], rcond=None)[0]
            out = free & ((self.u + step < 0.0) & (self.u <= 0.0) | (self.u + step > 1.0) & (self.u >= 1.0))
            if not out.any():
                break
            free &= ~out
        longest = float(np.abs(step).max())
        if longest > 0.25:  # differences say nothing about what is farther
            step *= 0.25 / longest
        return np.clip(self.u + step, 0.0, 1.0)

    def answer(self, u: FloatArray, square: float | None, seen: Evaluations) -> None:
        """Take or refuse a trial."""
        if square is None:  # the search is after the mean of e; steps are judged by squares all the same
            parts = [seen._result(n, u) for n in range(len(seen.setting.experiments))]
            square = float("inf") if any(p["square"] is None for p in parts) else sum(p["square"] for p in parts)
        moved = float(np.abs(u - self.u).max())
        if square < self.square:
            self.u, self.square, self.linear = u, square, None
            self._damping = max(self._damping / 5.0, 1e-6)
            self.done = moved < self._tolerance
        else:
            self._damping *= 6.0
            self.done = moved < self._tolerance or self._damping > 1e6


METHODS: dict[str, Callable[[Evaluations, SearchOptions], FloatArray]] = {
    "multistart": multistart,
    "sweep": sweep,
    "nelder_mead": nelder_mead,
    "cma": cma,
}
