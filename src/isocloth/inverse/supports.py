"""What carries a cloth in its target: hands, obstacles that it touches, and layers that lie on each other."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from isocloth.base.errors import ConvergenceError, InputError, InputTypeError
from isocloth.base.numeric import shown
from isocloth.base.typing import FloatArray, IntArray
from isocloth.contact.contact_set import ContactSet
from isocloth.contact.detector import ContactDetector
from isocloth.friction.gauss_seidel import projected_gauss_seidel
from isocloth.inverse.balance import Cones
from isocloth.meshes import Mesh
from isocloth.simulation import Simulation
from isocloth.statics.problem import Problem

#: the body of a support that is a hand
HAND = -1

#: part of the thickness by which the distance of what touches may differ from what obstacles keep
TOUCHING = 0.05
#: thicknesses from which nodes that are said to touch are laid on an obstacle
NAMED = 10.0
#: rounds in which a target is laid on bodies, and the part of the thickness to which it is
ROUNDS, SETTLED = 30, 1e-9
#: part of the thickness within which what was laid on a body touches it
ON = 1e-4


class Supports(NamedTuple):
    """Places at which forces act on the cloth: k of them.

    nodes: (k, 4) and weights (k, 4) of them; 0 where a place is not used.
    cones: in which the forces must be.
    body: (k,) 0: layers of the cloth; b: obstacle b - 1; HAND: a hand.
    gap: (k,) m, off the distance that is kept.
    """

    nodes: IntArray
    weights: FloatArray
    cones: Cones
    body: IntArray
    gap: FloatArray

    def spread(self, n: int) -> sp.csr_matrix:
        """(3n, 3k): forces at the supports -> forces on the nodes."""
        k = len(self.body)
        rows = (3 * self.nodes[:, :, None] + np.arange(3)).ravel()
        columns = np.broadcast_to(3 * np.arange(k)[:, None, None] + np.arange(3), (k, 4, 3)).ravel()
        values = np.repeat(self.weights.ravel(), 3)
        return sp.csr_matrix((values, (rows, columns)), shape=(3 * n, 3 * k))


def lay_on(problem: Problem, sim: Simulation, contacts: object = None) -> FloatArray:
    """The target (n, 3) with what is meant to touch at just the distance that is kept, moved as little as possible.

    Nodes and centres of faces that are nearer than they may, or farther by a twentieth of the thickness at most, are
    moved onto the surface; what is deeper is refused. Nodes that are said to touch, `contacts`, are moved onto the
    nearest solid from up to `NAMED` thicknesses on either side.
    """
    x, world = problem.mesh.vertices.copy(), sim.world
    if world is None:
        return x
    if contacts is not None:
        _lay_named(problem, sim, _as_nodes(contacts, len(x)), x)
    held, slack = sim.hands.held, TOUCHING * problem.fabrics[0].thickness
    for sweep in range(ROUNDS):
        found = ContactDetector(world, x, held, 0.0, 0.0).find(x)
        if sweep == 0:
            refuse_deep(problem, found, slack)
            lone = (found.weights == 1.0).any(axis=1) & (found.gap > 0.0) & (found.gap <= slack)
            node = found.nodes[lone, np.argmax(found.weights[lone], axis=1)]
            x[node] -= found.gap[lone, None] * found.normal[lone]
            continue
        if not len(found.gap) or found.gap.min() >= -SETTLED * problem.fabrics[0].thickness:
            break
        smooth = found._replace(friction=np.zeros_like(found.friction), slip=np.zeros_like(found.slip))
        moved, push = np.zeros_like(x), np.zeros((len(found.gap), 3))
        projected_gauss_seidel(smooth, np.ones(len(x)), held, 2000, 1e-3 * SETTLED * slack, moved, push)
        x += moved
    return x


def find_supports(
    problem: Problem, sim: Simulation, x: FloatArray, contacts: object, load: float, within: float = ON
) -> Supports:
    """Hands, and what touches in the target x (n, 3); contacts: nodes that do, or None to measure their distances.

    load: N, the least force with which what touches is pressed on. within: part of the thickness by which distances of
    what touches are off the one that is kept.
    """
    parts = [hands_at(problem.nodes)]
    if sim.world is None and contacts is not None:
        named = _as_nodes(contacts, problem.mesh.n_vertices)
        raise InputError(
            f"contacts: node {int(named[0])} is near no obstacle, there is none: expected None, or give obstacles"
        )
    if sim.world is not None:
        found = ContactDetector(sim.world, x, sim.hands.held, 0.0, 0.0).find(x)
        near = np.abs(found.gap) <= within * problem.fabrics[0].thickness
        if contacts is not None:
            named = _as_nodes(contacts, problem.mesh.n_vertices)
            # of a face whose centre touches, one corner that is named will do
            near &= (np.isin(found.nodes, named) & (found.weights != 0.0)).any(axis=1)
        least = np.where(found.body[near] > 0, load, 0.0)
        parts.append(Supports(
            found.nodes[near], found.weights[near], Cones(found.normal[near], found.friction[near], least),
            found.body[near], found.gap[near],
        ))  # fmt: skip
    return together(*parts)


def check_supports(supports: Supports, target: Mesh, name: str = "the target") -> None:
    """Raise where a piece of cloth falls, or turns, whatever its rest shape is."""
    for piece in range(int(target.piece.max()) + 1):
        own = (target.piece[supports.nodes] == piece) & (supports.weights != 0.0)
        nodes = np.unique(supports.nodes[own])
        if len(nodes) >= 2:
            continue
        which = f"piece {piece} of {name}" if target.piece.max() > 0 else name
        how = "touches nothing, so it falls" if len(nodes) == 0 else f"is carried at node {nodes[0]} alone, and turns"
        raise ConvergenceError(
            f"{which} {how}: expected at least two nodes that are held, or that touch an obstacle at half the "
            "thickness of the cloth"
        )


def _lay_named(problem: Problem, sim: Simulation, nodes: IntArray, x: FloatArray) -> None:
    """Move nodes onto the solid that is nearest; those near none must touch a mesh, or another layer, already."""
    assert sim.world is not None
    thickness = problem.fabrics[0].thickness
    gap, normal = np.full(len(nodes), np.inf), np.zeros((len(nodes), 3))
    for _, solid in sim.world.solids:
        off, along = solid.gaps(x[nodes], 0.0)
        nearer = np.abs(off - sim.world.half) < np.abs(gap)
        gap[nearer], normal[nearer] = off[nearer] - sim.world.half, along[nearer]
    laid = np.abs(gap) <= NAMED * thickness
    x[nodes[laid]] -= gap[laid, None] * normal[laid]
    others = ContactDetector(sim.world, x, sim.hands.held, 0.0, 0.0).find(x)
    missing = np.setdiff1d(nodes[~laid], others.nodes[others.weights != 0.0])
    if len(missing):
        raise InputError(
            f"contacts: node {int(missing[0])} is near no obstacle: expected nodes within {NAMED:g} thicknesses, "
            f"{1e3 * NAMED * thickness:g} mm, of the place where they touch one"
        )


def refuse_deep(problem: Problem, found: ContactSet, slack: float) -> None:
    """Raise where nodes are nearer than they may, by more than slack (m)."""
    deep = np.flatnonzero((found.gap < -slack) & (found.weights == 1.0).any(axis=1))
    if len(deep) == 0:
        return
    k = deep[np.argmin(found.gap[deep])]
    what = "another layer" if found.body[k] == 0 else repr(problem.obstacles[found.body[k] - 1])
    kept = 0.5e3 * problem.fabrics[0].thickness
    raise InputError(
        f"target: node {int(found.nodes[k, np.argmax(np.abs(found.weights[k]))])} is {-1e3 * found.gap[k]:.3g} mm too "
        f"near to {what}, {len(deep)} nodes are: expected at least {kept:g} mm between the mid-surface of the cloth "
        "and a body; move the target out of it"
    )


def together(*parts: Supports) -> Supports:
    """All of several."""
    return Supports(
        np.concatenate([part.nodes for part in parts]), np.concatenate([part.weights for part in parts]),
        Cones(*(np.concatenate(columns) for columns in zip(*(part.cones for part in parts), strict=True))),
        np.concatenate([part.body for part in parts]), np.concatenate([part.gap for part in parts]),
    )  # fmt: skip


def hands_at(nodes: IntArray) -> Supports:
    """Hands that hold nodes (k,)."""
    k = len(nodes)
    all_nodes, weights = np.zeros((k, 4), dtype=np.int64), np.zeros((k, 4))
    all_nodes[:, 0], weights[:, 0] = nodes, 1.0
    up = np.tile([0.0, 0.0, 1.0], (k, 1))
    return Supports(
        all_nodes, weights, Cones(up, np.full(k, np.inf), np.zeros(k)), np.full(k, HAND, dtype=np.int64), np.zeros(k)
    )


def _as_nodes(contacts: object, n: int) -> IntArray:
    try:
        nodes = np.atleast_1d(np.asarray(contacts))
    except ValueError:
        nodes = np.empty((0, 0))
    if nodes.ndim != 1 or nodes.size == 0 or not np.issubdtype(nodes.dtype, np.integer):
        raise InputTypeError(f"contacts = {shown(contacts)}: expected indices of nodes that touch, or None")
    if nodes.min() < 0 or nodes.max() >= n:
        raise InputError(f"contacts = {shown(contacts)}: expected indices from 0 to {n - 1}")
    return np.unique(nodes).astype(np.int64)
