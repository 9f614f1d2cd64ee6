"""A body of capsules that wears a garment: it stands, then walks on the spot and turns about the vertical."""

from __future__ import annotations

from typing import Any

import numpy as np

from isocloth.base.typing import FloatArray
from isocloth.obstacles import Capsule

#: s: it stands for so long, then takes as long again to come to its full motion
STANDS = 0.6
#: rad/s of the turn to and fro, and its angle; rad and 1/s of the steps
TURN, TWIST = 2.5, 0.9
STRIDE, STEPS = 0.45, 1.0


def about_z(angle: float) -> FloatArray:
    """(3, 3): a turn about the vertical."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def about_x(angle: float) -> FloatArray:
    """(3, 3): a turn about the axis from hip to hip."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])


def share(t: float) -> float:
    """Of the motion, from 0 where the body stands to 1, without a jump in the speed."""
    s = min(max((t - STANDS) / STANDS, 0.0), 1.0)
    return s * s * (3.0 - 2.0 * s)


def facing(t: float) -> FloatArray:
    """(3, 3): where the body faces."""
    return about_z(share(t) * TWIST * np.sin(TURN * (t - STANDS)))


def stride(t: float, side: float) -> FloatArray:
    """(3, 3): a leg about its hip; those of the two sides, 1 and -1, are opposite."""
    return about_x(side * share(t) * STRIDE * np.sin(2.0 * np.pi * STEPS * (t - STANDS)))


def limb(
    a: tuple[float, ...], b: tuple[float, ...], radius: float, friction: float, *,
    hip: tuple[float, ...] | None = None, moves: bool = True, name: str = "limb",
) -> Capsule:  # fmt: skip
    """A capsule from a to b (3,) m, fixed to the trunk, or swinging about a hip (3,) m."""
    middle = 0.5 * (np.array(a) + np.array(b))
    if not moves:
        return Capsule(a, b, radius, friction=friction, name=name)
    side = 0.0 if hip is None else float(np.sign(hip[0]))
    joint = middle if hip is None else np.array(hip)

    def path(t: float) -> FloatArray:
        return np.asarray(facing(t) @ (joint + stride(t, side) @ (middle - joint)))

    def rotation(t: float) -> FloatArray:
        return np.asarray(facing(t) @ stride(t, side))

    return Capsule(a, b, radius, friction=friction, path=path, rotation=rotation, name=name)


def body(friction: float, *, moves: bool = True) -> list[Capsule]:
    """Trunk, shoulders, hips and legs that fit a dress of `isocloth.meshes.dress` whose hem is at the height 0."""
    parts: list[Capsule] = []

    def add(a: tuple[float, ...], b: tuple[float, ...], radius: float, name: str, **joint: Any) -> None:
        parts.append(limb(a, b, radius, friction, moves=moves, name=name, **joint))

    for side in (1.0, -1.0):
        add((0.075 * side, 0.0, 0.55), (0.085 * side, 0.0, 0.86), 0.09, "trunk")
        add((0.02 * side, 0.0, 0.985), (0.17 * side, 0.0, 0.965), 0.04, "shoulder")
        add((0.075 * side, 0.0, 0.45), (0.078 * side, 0.0, 0.52), 0.105, "hip")
        hip = (0.095 * side, 0.0, 0.46)
        add(hip, (0.10 * side, 0.0, -0.30), 0.075, "leg", hip=hip)
    return parts
