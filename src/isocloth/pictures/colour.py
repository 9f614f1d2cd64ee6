"""Colours of the cloth, and the colour map of strain."""

from __future__ import annotations

import numpy as np

from isocloth.base.typing import FloatArray

# sRGB, 0 to 1.
FRONT = (0.20, 0.45, 0.70)
BACK = (0.93, 0.65, 0.36)
OBSTACLE = (0.66, 0.66, 0.68)

# Strain from compressed (-1) over none (0) to stretched (+1), as lightness, green-red and blue-yellow of
# the Oklab space. Lightness falls evenly to both sides, so the map also reads without hue.
_STRAIN_STOPS = np.array([-1.0, -0.5, 0.0, 0.5, 1.0])
_STRAIN_OKLAB = np.array(
    [
        [0.42, -0.020, -0.150],
        [0.68, -0.045, -0.095],
        [0.94, 0.000, 0.008],
        [0.68, 0.120, 0.075],
        [0.42, 0.155, 0.070],
    ]
)


def to_linear(srgb: FloatArray) -> FloatArray:
    """sRGB values 0 to 1 -> amounts of light 0 to 1."""
    return np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)


def to_srgb(linear: FloatArray) -> FloatArray:
    """Amounts of light 0 to 1 -> sRGB values 0 to 1; the inverse of `to_linear`."""
    light = np.clip(linear, 0.0, 1.0)
    return np.where(light <= 0.0031308, light * 12.92, 1.055 * light ** (1 / 2.4) - 0.055)


def oklab_to_linear(lab: FloatArray) -> FloatArray:
    """(..., 3) Oklab (Ottosson 2020) -> (..., 3) linear sRGB, not clipped."""
    to_cones = np.array(
        [
            [1.0, 0.3963377774, 0.2158037573],
            [1.0, -0.1055613458, -0.0638541728],
            [1.0, -0.0894841775, -1.2914855480],
        ]
    )
    to_rgb = np.array(
        [
            [4.0767416621, -3.3077115913, 0.2309699292],
            [-1.2684380046, 2.6097574011, -0.3413193965],
            [-0.0041960863, -0.7034186147, 1.7076147010],
        ]
    )
    return (lab @ to_cones.T) ** 3 @ to_rgb.T


def strain_colours(strain: FloatArray, limit: float) -> FloatArray:
    """(...) strain -> (..., 3) linear colours; `limit` is the strain of the darkest colours."""
    level = np.clip(strain / limit, -1.0, 1.0)
    lab = np.stack([np.interp(level, _STRAIN_STOPS, channel) for channel in _STRAIN_OKLAB.T], axis=-1)
    return np.clip(oklab_to_linear(lab), 0.0, 1.0)


def strain_limit(strain: FloatArray) -> float:
    """The end of the colour map: nearly the largest strain, rounded up to 1, 2 or 5 times a power of ten."""
    # Not the very largest, so that one bad vertex does not wash out the rest.
    largest = float(np.quantile(np.abs(strain), 0.999))
    if largest <= 1e-12:
        return 1e-12
    power = 10.0 ** np.floor(np.log10(largest))
    return float(next(step * power for step in (1.0, 2.0, 5.0, 10.0) if step * power >= 0.999 * largest))


def strain_unit(limit: float) -> tuple[float, str]:
    """A factor and a unit in which strains up to `limit` read well."""
    if limit >= 1e-3:
        return 1e2, "%"
    if limit >= 1e-6:
        return 1e6, "ppm"  # the small Greek mu is not in the font of the pictures
    return 1e9, "ppb"
