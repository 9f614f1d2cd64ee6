"""Small clouds, reconstructed once for all tests."""

from __future__ import annotations

from functools import cache

from isocloth.reconstruction import Reconstruction, reconstruct
from isocloth.reproduce.surfaces import surface

NAMES = ("sphere", "torus", "disk", "annulus", "Moebius strip", "Klein bottle", "pair of pants")


@cache
def found(name: str, count: int = 1500, seed: int = 0, noise: float = 0.0) -> Reconstruction:
    return reconstruct(surface(name).sample(count, seed=seed, noise=noise))
