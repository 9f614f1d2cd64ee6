"""Where the time of a step of projective dynamics goes, and how far it meets the law of friction."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

import numpy as np

from isocloth.base.typing import FloatArray
from isocloth.contact.contact_set import ContactSet, chosen_contacts
from isocloth.contact.detector import ContactDetector
from isocloth.contact.world import CollisionWorld
from isocloth.friction.gauss_seidel import alart_curnier, mobility, sweep
from isocloth.simulation import Simulation
from isocloth.solvers.projective import Projective, Solved
from isocloth.solvers.projective_iteration import slope
from isocloth.sparse.multi_rhs import solve_eight


def seconds(run: Callable[[], object], repeats: int = 3) -> float:
    """The shortest of some runs, s."""
    spent = []
    for _ in range(repeats):
        begin = time.perf_counter()
        run()
        spent.append(time.perf_counter() - begin)
    return min(spent)


def of_bodies(c: ContactSet, own: bool) -> ContactSet:
    """Contacts between layers, or those with bodies, in their order."""
    return chosen_contacts(c, (c.body == 0) == own)


def phases(solver: Projective, last: Solved) -> dict[str, float]:
    """s: what an iteration of the last step spends on its parts, each run by itself."""
    p, y, n = last.potential, last.positions, len(last.positions)
    gradient, moved, room = np.empty((n, 3)), np.zeros((n, 3)), solver.matrix.room
    spent = {"right-hand side": seconds(lambda: slope(p, y, gradient))}
    for name, own in (("forces of the body", False), ("forces between layers", True)):
        c = of_bodies(last.contacts, own)
        loose, push = mobility(c, p.inertia, p.held), np.zeros((len(c.gap), 3))
        spent[name] = seconds(partial(sweep, c, loose, p.inertia, p.held, moved, moved, push))
    matrix = solver.matrix
    spent["solve"] = seconds(lambda: solve_eight(matrix.fronts, room, matrix.work, matrix.wanted))
    return spent


def detection(sim: Simulation, before: FloatArray, led: FloatArray) -> tuple[float, float]:
    """s: finding the contacts of a step with the body, and those between layers beside."""
    assert sim.world is not None
    bodies = CollisionWorld(sim.rest, sim.fabric, sim.obstacles, False)
    nobody = np.zeros(len(before), dtype=bool)

    def find(world: CollisionWorld) -> float:
        return seconds(lambda: ContactDetector(world, before, nobody, sim.time - sim.timestep, sim.time).find(led))

    apart, both = find(bodies), find(sim.world)
    return apart, max(both - apart, 0.0)


def law(last: Solved) -> float:
    """Alart and Curnier's error of Coulomb's law, mean over contacts, relative to their mean force."""
    p = last.potential
    moved = last.positions - last.start
    off, size = alart_curnier(last.contacts, p.inertia, p.held, moved, last.force)
    return float(off / size) if size > 0.0 else 0.0
