"""Targets of inverse design: garments of our own geometry, with the parameters of table 5.1 of the thesis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from isocloth import Capsule, Fabric, Floor, Mesh, Obstacle, Sphere
from isocloth.base.typing import IntArray
from isocloth.models import DiscreteShell

THICKNESS = 1e-3

#: ring and angle -> displacement of the radius and of the height, m
Wave = Callable[[int, float], tuple[float, float]]


class Target(NamedTuple):
    """A shape that a cloth should take.

    minutes: that the thesis took for a scene of this name.
    too_soft: whether the cloth cannot bear its weight in this shape.
    contacts: nodes that touch, where the target is too rough to be measured.
    """

    name: str
    mesh: Mesh
    fabric: Fabric
    model: DiscreteShell
    obstacles: tuple[Obstacle, ...]
    minutes: float
    too_soft: bool = False
    contacts: IntArray | None = None


def targets(quick: bool) -> list[Target]:
    """Those of this file but the skirt, or with `quick` two that are coarse."""
    if quick:
        return [hat(rings=9, around=20), book(along=15, across=7, density=2.0)]
    return [hat(), hat(wide=True), saroual(), gored_skirt(), beret(), sleeve(), book(density=5.0), book(density=10.0)]


def cloth_of(density: float) -> Fabric:
    return Fabric(density=density, thickness=THICKNESS)


def revolved(profile: Sequence[tuple[float, float]], around: int, wave: Wave | None = None) -> Mesh:
    """Rings of radii and heights (m), every second one turned by half a step."""
    points, faces = [], []
    for i, (r, z) in enumerate(profile):
        for j in range(around):
            a = 2.0 * np.pi * (j + 0.5 * (i % 2)) / around
            dr, dz = wave(i, a) if wave else (0.0, 0.0)
            points.append(((r + dr) * np.cos(a), (r + dr) * np.sin(a), z + dz))
    for i in range(len(profile) - 1):
        for j in range(around):
            a, b = i * around + j, i * around + (j + 1) % around
            c, d = a + around, b + around
            faces += [(a, c, b), (b, c, d)] if i % 2 == 0 else [(a, c, d), (a, d, b)]
    return Mesh(np.array(points), np.array(faces))


def hat(*, wide: bool = False, rings: int = 17, around: int = 50) -> Target:
    """A cap on a head, off it below, with a wavy brim; the wide brim is too soft to be stable."""
    radius, step, height = 0.1, 0.012 if wide else 0.004, 0.012 if wide else 0.003
    crown = rings // 2 + 1
    angles = np.radians(np.linspace(15.0, 75.0, crown))
    profile = []
    for k, a in enumerate(angles):
        off = 1.0 if k < (crown - 1) // 2 else 1.02 + 0.004 * (k - (crown - 1) // 2)
        profile.append((radius * np.sin(a) * off, radius * np.cos(a) * (1.0 if off == 1.0 else 1.02)))
    r, z = profile[-1]
    profile += [(r + step * k, z - 0.5 * step * k) for k in range(1, rings - crown + 1)]
    brim = rings - crown

    def wave(i: int, a: float) -> tuple[float, float]:
        return 0.0, height * max(i - crown + 1, 0) / brim * np.cos(5.0 * a)

    head = Sphere([0, 0, 0], radius - THICKNESS / 2, friction=0.6)
    name = "wide hat" if wide else "floppy hat"
    shell = DiscreteShell(stretch=5.0, bending=5e-4)
    return Target(name, revolved(profile, around, wave), cloth_of(2.5), shell, (head,), 50.0, wide)


def saroual() -> Target:
    """A wide trunk that hangs from the hips in folds."""
    radius, at = 0.16, np.radians(62.0)
    r, z = radius * np.sin(at), radius * np.cos(at)
    profile = [(r, z)]
    profile += [(r + 0.1 * np.sin(0.75 * np.pi * k / 49) + 0.004, z - 0.6 * k / 49) for k in range(1, 50)]

    def wave(i: int, a: float) -> tuple[float, float]:
        return 0.02 * np.sin(np.pi * i / 49) * np.cos(8.0 * a), 0.0

    hips = Sphere([0, 0, 0], radius - THICKNESS / 2, friction=0.2)
    shell = DiscreteShell(stretch=1.0, bending=1e-2)
    return Target("saroual", revolved(profile, 50, wave), cloth_of(0.05), shell, (hips,), 950.0)


def skirt() -> Target:
    """A short skirt with folds, of 200 vertices."""
    radius, at = 0.12, np.radians(55.0)
    r, z = radius * np.sin(at), radius * np.cos(at)
    profile = [(r, z), *[(r + 0.008 + 0.12 * k / 7, z - 0.3 * k / 7) for k in range(1, 8)]]

    def wave(i: int, a: float) -> tuple[float, float]:
        return 0.015 * max(i - 1, 0) / 6 * (1.0 + np.cos(5.0 * a)), 0.0

    waist = Sphere([0, 0, 0], radius - THICKNESS / 2, friction=0.6)
    shell = DiscreteShell(stretch=3.0, bending=5e-3)
    return Target("skirt", revolved(profile, 25, wave), cloth_of(0.1), shell, (waist,), 4.0)


def gored_skirt(*, rings: int = 25, around: int = 50) -> Target:
    """A skirt with folds, carried by its waist."""
    radius, at, last = 0.15, np.radians(55.0), rings - 1
    r, z = radius * np.sin(at), radius * np.cos(at)
    profile = [(r, z)]
    profile += [(r + 0.01 + 0.25 * k / last, z - 0.5 * k / last) for k in range(1, rings)]

    def wave(i: int, a: float) -> tuple[float, float]:
        return 0.04 * max(i / last - 1 / 12, 0.0) * 12 / 11 * (1.0 + np.cos(8.0 * a)), 0.0

    waist = Sphere([0, 0, 0], radius - THICKNESS / 2, friction=0.7)
    shell = DiscreteShell(stretch=0.8, bending=5e-3)
    return Target("gored skirt", revolved(profile, around, wave), cloth_of(0.05), shell, (waist,), 427.0)


def beret() -> Target:
    """A cap that bulges over the head and closes around it."""
    radius = 0.1
    profile = [(radius * np.sin(a), radius * np.cos(a)) for a in np.radians(np.linspace(12.0, 42.0, 6))]
    r, z = profile[-1]
    profile += [(r + 0.045 * np.sin(0.6 * np.pi * k / 11), z - 0.035 * k / 11) for k in range(1, 12)]
    head = Sphere([0, 0, 0], radius - THICKNESS / 2, friction=0.3)
    shell = DiscreteShell(stretch=5e-2, bending=5e-4)
    return Target("beret", revolved(profile, 50), cloth_of(0.25), shell, (head,), 97.0)


def sleeve() -> Target:
    """A wide tube that lies on an arm."""
    radius, around, rings = 0.05, 25, 17
    off = radius + THICKNESS / 2

    def place(i: int, j: int) -> tuple[float, float, float]:
        a = 2.0 * np.pi * (j + 0.5 * (i % 2)) / around
        puff = 0.03 * np.sin(np.pi * i / (rings - 1))
        # round about the arm above, where it touches it, and wider the further it is below
        low = 0.5 * (1.0 - np.cos(a))
        return 0.25 * i / (rings - 1), (off + puff * low) * np.sin(a), (off + (puff + 0.02) * low**2) * np.cos(a)

    points = np.array([place(i, j) for i in range(rings) for j in range(around)])
    tube = revolved([(1.0, float(-i)) for i in range(rings)], around)
    arm = Capsule([-0.1, 0, 0], [0.35, 0, 0], radius, friction=0.7)
    shell = DiscreteShell(stretch=0.1, bending=1e-3)
    return Target("puff sleeve", Mesh(points, tube.faces[:, ::-1].copy()), cloth_of(1.0), shell, (arm,), 14.0)


def book(*, along: int = 43, across: int = 19, density: float) -> Target:
    """A page that arches between two ends that lie on a table."""
    points, faces = [], []
    for i in range(along):
        s = i / (along - 1)
        z = 0.06 * np.sin(np.pi * np.clip((s - 0.1) / 0.8, 0.0, 1.0)) ** 2
        points += [(0.25 * s, 0.2 * j / (across - 1), z + THICKNESS / 2) for j in range(across)]
    for i in range(along - 1):
        for j in range(across - 1):
            a = i * across + j
            b, c, d = a + 1, a + across, a + across + 1
            faces += [(a, c, d), (a, d, b)] if (i + j) % 2 else [(a, c, b), (b, c, d)]
    shell = DiscreteShell(stretch=5.0, bending=2e-3)
    table = Floor(friction=0.4)
    return Target(
        f"book page, {density:g} kg/m^2", Mesh(np.array(points), np.array(faces)), cloth_of(density), shell, (table,),
        187.0, density > 5.0,
    )  # fmt: skip
