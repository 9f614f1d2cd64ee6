"""Garments on a torso of capsules, as targets of inverse design: a top, and a scan of a shirt.

Both have a slit along the shoulders for the neck, lie on these and hang down around the trunk. The scan is a shirt that
was simulated until it all but rests, seen with noise and by points that are not those of the cloth; which of them touch
is read off the distance from the body, as far as the noise lets one.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from isocloth import Capsule, Mesh, Obstacle, Simulation
from isocloth.base.typing import FloatArray
from isocloth.models import DiscreteShell
from validation.targets import THICKNESS, Target, cloth_of, revolved

#: half the length of the shoulders and their radius, of the trunk its radius, m
HALF, RADIUS, TRUNK = 0.13, 0.07, 0.06
#: part of the points of a ring that go round the ends of the shoulders
ENDS = 0.66

#: m, of a scan: its noise, and the distance from the body within which a point of it touches
NOISE, TOUCHES = 2e-3, 4e-3

#: 1/s, and how many steps, in which the shirt comes to rest
DAMPING, STEPS = 10.0, 15


def torso(friction: float) -> tuple[Obstacle, ...]:
    """Shoulders, and a trunk below that nothing touches at first."""
    shoulders = Capsule([-HALF, 0, 0], [HALF, 0, 0], RADIUS - THICKNESS / 2, friction=friction)
    return shoulders, Capsule([0, 0, -0.5], [0, 0, -0.1], TRUNK - THICKNESS / 2, friction=friction)


def _hung(rings: int, around: int, on: int, angles: tuple[float, float], length: float, folds: float) -> FloatArray:
    """(rings * around, 3) m: `on` rings on the shoulders between two angles from above, degrees, the others below."""
    s = 2.0 * np.pi * (np.arange(around)[None, :] + 0.5 * (np.arange(rings)[:, None] % 2)) / around
    # round about the ends in ENDS of the points, along the shoulders in the others
    part = s / (2.0 * np.pi)
    side, at = np.divmod(part % 1.0, 0.5)
    turn = np.minimum(at / (0.5 * ENDS), 1.0) - 0.5
    straight = np.maximum(at / 0.5 - ENDS, 0.0) / (1.0 - ENDS)
    angle = np.pi * (turn + side)
    along = np.where(side == 0.0, 1.0, -1.0) * HALF * (1.0 - 2.0 * straight)
    level = np.radians(np.linspace(*angles, on))
    below = np.arange(1, rings - on + 1) / (rings - on)
    out = np.concatenate([np.sin(level), np.sin(level[-1]) + 0.15 + 0.3 * below])[:, None] * RADIUS
    fold = np.concatenate([np.zeros(on), below**2 * folds])[:, None]
    out = out + fold * (1.0 + np.cos(7.0 * s))
    height = np.concatenate([RADIUS * np.cos(level), RADIUS * np.cos(level[-1]) - length * below])
    return np.stack(
        [along + out * np.cos(angle), out * np.sin(angle), np.broadcast_to(height[:, None], s.shape)], axis=2
    ).reshape(-1, 3)


def _faces(rings: int, around: int) -> np.ndarray:
    return revolved([(1.0, float(-i)) for i in range(rings)], around).faces


def top() -> Target:
    """A top that lies on the shoulders along its neck."""
    mesh = Mesh(_hung(25, 36, 4, (38.0, 62.0), 0.4, 0.012), _faces(25, 36))
    shell = DiscreteShell(stretch=0.2, bending=0.1)
    return Target("top", mesh, cloth_of(0.5), shell, torso(0.2), 382.0)


def scanned_shirt(*, rings: int = 51, around: int = 50, on: int = 18) -> Target:
    """A simulated shirt, with noise and with other points than it was simulated with."""
    shell, cloth, body = DiscreteShell(stretch=3.0, bending=5e-4), cloth_of(1.0), torso(0.2)
    cut = Mesh(_hung(rings + 1, around, on, (30.0, 80.0), 0.36, 0.008), _faces(rings + 1, around))
    damped = replace(cloth, damping=DAMPING * cloth.density)
    sim = Simulation(cut, damped, model=shell, obstacles=body)
    for _ in range(STEPS):
        sim.step()
    grid = sim.positions.reshape(rings + 1, around, 3)
    # points of the scan are inside faces of the cloth, half a ring below its nodes
    beside = np.stack([np.roll(ring, 1 if i % 2 == 0 else -1, axis=0) for i, ring in enumerate(grid[1:])])
    points = (0.5 * grid[:-1] + 0.25 * (grid[1:] + beside)).reshape(-1, 3)
    # of every direction a third of the square of the noise
    points += NOISE / 3**0.5 * np.random.default_rng(0).normal(size=points.shape)
    gap = np.min([solid.gaps(points, 0.0)[0] for solid in body], axis=0) - THICKNESS / 2  # type: ignore[attr-defined]
    touch = np.flatnonzero(gap < TOUCHES)
    return Target(
        "scanned shirt", Mesh(points, _faces(rings, around)), cloth, shell, body, 750.0, too_soft=True, contacts=touch
    )  # fmt: skip
