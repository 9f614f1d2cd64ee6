"""A napkin of 1 x 1 m on a floor that is folded in half by two of its corners: many layers, few nodes."""

from __future__ import annotations

import numpy as np

import isocloth as ic

FABRIC = ic.Fabric(density=0.2, damping=0.4, bending=1e-5, friction=0.3)
CARRIED = 2.0  # s, until the corners are laid down
SECONDS = 2.5
DOWN, LOW = 0.75, 0.02  # share of the way after which the carried edge is down to so many m


def folded_napkin(nodes: int) -> ic.Simulation:
    """Two corners of a napkin of nodes x nodes are carried over to the opposite ones, low over the last stretch."""
    flat = ic.meshes.rectangle(1.0, 1.0, (nodes, nodes))
    thick = FABRIC.thickness
    start = flat.vertices + np.array([0.0, 0.0, 0.5 * thick])
    floor = ic.Plane([0.0, 0.0, 0.0], [0.0, 0.0, 1.0], friction=0.5)
    sim = ic.Simulation(flat.with_vertices(start), FABRIC, rest=flat, obstacles=[floor], self_collision=True)
    held = np.array([flat.nearest([1.0, y, 0.0]) for y in (0.0, 1.0)])

    def path(t: float) -> np.ndarray:
        share = min(max(t / CARRIED, 0.0), 1.0)
        share = share * share * (3.0 - 2.0 * share)
        at = start[held].copy()
        at[:, 0] -= 0.495 * (1.0 - np.cos(np.pi * share))
        at[:, 2] += 0.495 * np.sin(np.pi * min(share / DOWN, 1.0))
        at[:, 2] += 2.0 * thick * share + LOW * min(share / DOWN, (1.0 - share) / (1.0 - DOWN))
        return at

    sim.grasp(held, path)
    return sim
