"""Rayleigh damping D = alpha M + beta K (section 6): alpha slows the whole motion, beta the bending."""

from __future__ import annotations

from isocloth.fabric import Fabric


def damping_coefficients(fabric: Fabric) -> tuple[float, float]:
    """(alpha in kg/(m^2 s), beta in N m s); a free sheet loses speed at the rate alpha / density."""
    return fabric.damping, fabric.bending_damping
