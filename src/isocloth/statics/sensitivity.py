"""The gradient of a loss of an equilibrium: L(x), with x at rest, in all that the equilibrium depends on.

At rest R(x; p) = G - F = 0 at the free nodes, with the gradient G of the energy and the forces F of contacts. With
A = dR/dx there, v solves A^T v = -dL/dx at the free nodes, and v = 0 at held ones; then

    dL/dp = v . dR/dp,    dL/dx_held = (dL/dx + A^T v) at the held nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
import scipy.sparse as sp

from isocloth.adjoint import Products, Transposed
from isocloth.adjoint.transposed import neutral
from isocloth.base.errors import ConvergenceError, InputError, InputTypeError
from isocloth.base.numeric import as_float, shown
from isocloth.base.typing import FloatArray, IntArray
from isocloth.obstacles import Obstacle
from isocloth.simulation.arguments import read_only
from isocloth.statics.angles import hessian_of
from isocloth.statics.contact_slopes import ContactSlopes
from isocloth.statics.hessian import Hessian
from isocloth.statics.polish import NEUTRAL, SOLVED, Polisher, residual_of
from isocloth.statics.problem import Problem
from isocloth.statics.touching import Touching

#: of the weight: forces left, beyond those to which equilibria are solved, with which nothing is differentiated
UNSETTLED = 10.0 * SOLVED

#: a loss: positions (n, 3) m -> its value and its derivative (n, 3) in them; or the derivative alone
Loss = Callable[[FloatArray], tuple[float, Any]]


class Gradient:
    """Derivatives of a loss of an equilibrium, in its unit over that of what they are derivatives in.

    Made by `Equilibrium.gradient`. What costs time is computed when it is looked at.
    """

    def __init__(
        self, value: float, held: FloatArray, products: Products, friction: Mapping[Obstacle, float],
        more: Mapping[str, float], remarks: list[str],
    ) -> None:  # fmt: skip
        self.value = value
        """The loss; nan where only its derivative was given."""
        self._held, self._products, self._friction = held, products, friction
        self._more, self._remarks = more, remarks

    @cached_property
    def rest(self) -> FloatArray:
        """(n, 3) 1/m: in the nodes of the rest shape, masses included; (faces, 3, 3) where faces have corners of their
        own."""
        found = self._products.rest
        shape = self._products.cloth.shape
        return read_only(found if shape is None or not shape.torn else found[shape.corners])

    @property
    def held(self) -> FloatArray:
        """(k, 3) 1/m: in the places of the held nodes, in the order in which they were named."""
        return read_only(self._held)

    @cached_property
    def parameters(self) -> Mapping[str, float]:
        """By name: "gravity", and the numbers of fabric and model that act on a cloth at rest."""
        return MappingProxyType(self._products.parameters | dict(self._more))

    @property
    def friction(self) -> Mapping[Obstacle, float]:
        """By obstacle: in its coefficient of friction; zero where all contacts stick."""
        return MappingProxyType(dict(self._friction))

    @cached_property
    def remarks(self) -> tuple[str, ...]:
        """Where the derivative is one-sided, or to be doubted; empty where it is neither. Looks at `rest` too."""
        kinks = self._products.kinks
        found = list(self._remarks)
        if len(kinks):
            found.append(
                f"the rest shape is on a kink of its discretisation at {len(kinks)} nodes, node {kinks[0]} say"
            )
        return tuple(found)

    def __repr__(self) -> str:
        names = ", ".join(self.parameters)
        return f"<Gradient of a loss of {self.value:.6g} in rest, held, friction and {names}>"


def loss_at(loss: Any, x: FloatArray) -> tuple[float, FloatArray]:
    """Value and derivative (n, 3) of a loss at positions x (n, 3), checked."""
    value, slope = float("nan"), loss
    if callable(loss):
        result = loss(x.copy())
        if not isinstance(result, tuple) or len(result) != 2:
            raise InputTypeError(
                f"the loss returned {shown(result)}: expected its value and its derivative in the positions, {x.shape}"
            )
        number, slope = as_float(result[0]), result[1]
        if number is None:
            raise InputTypeError(f"the loss has the value {shown(result[0])}: expected a number")
        value = number
    try:
        out = np.array(slope, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        raise InputTypeError(
            f"loss is {shown(loss)}: expected a function of positions {x.shape} that returns its value and its "
            "derivative in them, or this derivative alone"
        ) from None
    if out.shape != x.shape:
        raise InputError(f"the derivative of the loss has shape {out.shape}: expected {x.shape}, one row per node")
    if not np.isfinite(out).all():
        node = int(np.argwhere(~np.isfinite(out).all(axis=1))[0, 0])
        raise InputError(f"the derivative of the loss is {out[node].tolist()} at node {node}: expected finite numbers")
    return value, out


def gradient_of(
    problem: Problem, solver: Polisher, x: FloatArray, tension: FloatArray, touching: Touching | None, loss: Any, *,
    slides: bool, stable: Callable[[], bool],
) -> Gradient:  # fmt: skip
    """The derivatives of a loss at the equilibrium x (n, 3) with multipliers (r,) and contacts.

    slides: whether contacts that slid slide on, or stick where they are; stable: asked where the energy is not convex.
    """
    value, slope = loss_at(loss, x)
    cloth, held, n = solver.cloth, solver.held, len(x)
    solver.potential.move(x)
    hessian = hessian_of(cloth, held)
    hessian.fill(solver.potential, tension)
    whole = hessian.whole()
    contact = None
    if touching is not None and touching.active.any():
        contact = ContactSlopes(touching, x, None if slides else np.zeros(len(touching.active), dtype=bool))
        size = whole.shape[0]
        part = sp.coo_matrix(contact.matrix)
        whole = sp.csr_matrix(whole - sp.csr_matrix((part.data, (part.row, part.col)), shape=(size, size)))
    moves = np.append(np.repeat(~held, 3), np.ones(whole.shape[0] - 3 * n, dtype=bool))
    free: IntArray = np.flatnonzero(moves)
    definite = contact is None and len(moves) == 3 * n and hessian.factorise(0.0)
    transposed = _by_factor(hessian, free, n) if definite else Transposed.of_matrix(whole, free)
    slowest = transposed.smallest(cloth.mass)
    if slowest < NEUTRAL:
        raise neutral(slowest)
    found = transposed(-slope)
    way = found[: 3 * n].reshape(-1, 3)
    remarks = [] if contact is None else contact.remarks()
    left = residual_of(solver.potential, tension, held, touching)
    if left > UNSETTLED:
        raise ConvergenceError(
            f"forces of {left:.1e} of the weight are left: the cloth came to rest by motion alone, among contacts that "
            "Newton's method does not settle, and its derivative cannot be relied on; expected an equilibrium to "
            f"{UNSETTLED:.0e}: start from another shape, or with less friction at sharp edges"
        )
    if not definite and not stable():
        remarks.append("the equilibrium is unstable: a cloth that is changed does not stay on this branch")
    pulled = slope + np.asarray(whole.T @ found)[: 3 * n].reshape(-1, 3)
    pulled = pulled[problem.nodes]
    by_mass = None if contact is None else -contact.by_mass(way)
    products = Products(cloth, x, way, problem.gravity, by_mass)
    rubs = (
        np.zeros(1 + len(problem.obstacles)) if contact is None else -contact.by_friction(way, len(problem.obstacles))
    )
    friction = dict(zip(problem.obstacles, rubs[1:].tolist(), strict=True))
    more = {"friction": float(rubs[0])} if problem.self_collision and len(problem.fabrics) == 1 else {}
    return Gradient(float(value), pulled, products, friction, more, remarks)


def _by_factor(hessian: Hessian, free: IntArray, n: int) -> Transposed:
    """Solves by the last factor of a symmetric A."""

    def solve(right: FloatArray) -> FloatArray:
        force = np.zeros(3 * n)
        force[free] = right
        return np.asarray(hessian.solve(force.reshape(-1, 3)).ravel()[free])

    return Transposed(solve, free, 3 * n)
