"""Surfaces in words."""

from __future__ import annotations


def describe(components: int, euler: int, curves: int, orientable: bool) -> str:
    """A surface in words."""
    if components > 1:
        return f"{components} pieces, Euler characteristic {euler}, boundary curves: {curves}"
    known = {
        (2, 0, True): "sphere", (1, 1, True): "disc", (0, 2, True): "ring", (0, 0, True): "torus",
        (0, 1, False): "Moebius strip", (-1, 3, True): "pair of pants", (0, 0, False): "Klein bottle",
        (1, 0, False): "projective plane",
    }  # fmt: skip
    if (euler, curves, orientable) in known:
        return known[euler, curves, orientable]
    handles = 2 - euler - curves
    if orientable:
        body = "sphere" if handles == 0 else f"surface with {handles // 2} handle{'s' if handles > 2 else ''}"
    else:
        body = f"one-sided surface with {handles} crosscap{'s' if handles > 1 else ''}"
    return f"{body} with {curves} hole{'s' if curves != 1 else ''}" if curves else body
