"""Small versions of the scenes with contact, from which contact problems are recorded."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from isocloth import meshes
from isocloth.base.typing import FloatArray
from isocloth.fabric import Fabric
from isocloth.friction.contact_qp import ContactQP
from isocloth.obstacles import Floor, Sphere
from isocloth.simulation import Simulation
from validation import cylinder, stick_hits, tablecloth, turning_sphere
from validation.encounters import centred
from validation.scenes import smooth_ramp


class Excerpt(NamedTuple):
    """A part of a scene, in s, in which much touches."""

    make: Callable[[], Simulation]
    begin: float
    end: float


def napkin(nodes: int) -> Simulation:
    """A napkin of 1 x 1 m on the floor; one edge is carried over to the other by its corners within 1.5 s."""
    thick = Fabric().thickness
    mesh = centred(meshes.rectangle(1.0, 1.0, shape=(nodes, nodes)), [0.0, 0.0, 0.5 * thick])
    sim = Simulation(mesh, Fabric(density=0.2, damping=0.2), obstacles=[Floor(friction=0.4)], self_collision=True)
    held = np.array([mesh.nearest([-0.5, y, 0.0]) for y in (-0.5, 0.5)])

    def path(t: float) -> FloatArray:
        angle = 0.98 * np.pi * smooth_ramp(t, 1.5)
        x, z = -0.01 - 0.49 * np.cos(angle), 0.5 * thick + 0.49 * np.sin(angle)
        return np.stack([np.full(2, x), mesh.vertices[held, 1], np.full(2, z)], axis=1)

    sim.grasp(held, path)
    return sim


def drape(nodes: int) -> Simulation:
    """A napkin of 60 cm that falls on a sphere off its centre and on the floor, with itself in the way."""
    mesh = centred(meshes.rectangle(0.6, 0.6, shape=(nodes, nodes)), [0.05, 0.02, 0.23])
    obstacles = [Sphere([0.0, 0.0, 0.1], 0.1, friction=0.4), Floor(friction=0.3)]
    return Simulation(mesh, Fabric(density=0.2), obstacles=obstacles, self_collision=True)


def excerpts(quick: bool) -> dict[str, Excerpt]:
    """The scenes by name."""
    n = 7 if quick else 11
    turning = turning_sphere.Scene(turning_sphere.SIDE, n, None, turning_sphere.SPHERE)
    hit = 0.5 + 2.0 * stick_hits.REACH / stick_hits.HITS[0][2]  # s, when the stick comes to where the sheet hangs
    return {
        "tablecloth": Excerpt(
            lambda: tablecloth.scene(1.0, (5, 7) if quick else (7, 9))[0], 1.0, 2.0 if quick else 4.0
        ),
        "cylinder": Excerpt(lambda: cylinder.scene(0.4, n)[0], 0.0, 0.4 if quick else 1.0),
        "turning sphere": Excerpt(lambda: turning_sphere.sheet_above(turning, True)[0], 0.0, 0.3 if quick else 1.0),
        "stick hits": Excerpt(lambda: stick_hits.scene("denim", True)[0], hit - 0.1, hit + (0.2 if quick else 9.0)),
        "fold": Excerpt(lambda: napkin(n), 0.0, 0.2 if quick else 2.0),
        "drape with self-collision": Excerpt(lambda: drape(n), 0.1, 0.3 if quick else 0.8),
    }


class Sample:
    """At most `count` of the problems that come by, evenly spread over all of them."""

    def __init__(self, count: int) -> None:
        self.count, self.stride, self.seen = count, 1, 0
        self._kept: list[ContactQP] = []

    def __call__(self, problem: ContactQP) -> None:
        """Take one, or let it pass."""
        if self.seen % self.stride == 0:
            self._kept.append(problem)
            if len(self._kept) >= 4 * self.count:
                self._kept = self._kept[::2]
                self.stride *= 2
        self.seen += 1

    def __iter__(self) -> Iterator[ContactQP]:
        size = len(self._kept)
        chosen = np.arange(size) if size <= self.count else np.linspace(0, size - 1, self.count).round().astype(int)
        return (self._kept[k] for k in chosen)


def record(excerpt: Excerpt, count: int) -> list[ContactQP]:
    """Problems from an excerpt of a scene, as many as asked for if there are so many."""
    sim, sample = excerpt.make(), Sample(count)
    while sim.time < excerpt.end - 1e-9:
        if sim.time >= excerpt.begin - 1e-9:
            sim.record_contact(sample)
        sim.step()
    return list(sample)
