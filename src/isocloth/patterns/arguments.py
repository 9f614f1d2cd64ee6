"""What may be unknown of a cloth whose panels are sought."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from isocloth.base.errors import InputError, InputTypeError
from isocloth.base.numeric import as_float, shown
from isocloth.base.typing import FloatArray
from isocloth.inverse.arguments import as_stiffnesses
from isocloth.inverse.rest_forces import RestForces
from isocloth.meshes import Mesh
from isocloth.models import Shell
from isocloth.terms.term import assembled_gradient

DENSITY = "density"
#: of the size of the target: errors that leave nothing of its shape
LARGEST_NOISE = 0.1
#: of the elastic forces: what is left of them where those of the unknown stiffnesses are taken away, and all of them
#: count as unknown
SCALED = 1e-6


def as_unknown(unknown: Any, model: Shell) -> tuple[str, ...]:
    """Names of what is sought: the density, stiffnesses of the model."""
    named = [unknown] if isinstance(unknown, str) else unknown
    if not isinstance(named, Iterable):
        raise InputTypeError(f"unknown = {shown(unknown)}: expected names, unknown=('density',) say, or ()")
    names = tuple(named)
    if names.count(DENSITY) > 1:
        raise InputError(f"unknown = {shown(unknown)}: density is named twice; give each once")
    others = as_stiffnesses([name for name in names if name != DENSITY], model)
    return (DENSITY, *others) if DENSITY in names else others


def refuse_scale(names: tuple[str, ...], forces: RestForces, points: FloatArray) -> None:
    """Raise where density and stiffnesses may all be larger by the same factor, which no shape at rest can tell."""
    if DENSITY not in names or len(names) == 1:
        return
    elastic = np.zeros((forces.n, 3))
    for term in forces.model.energies(forces.shape(points)):
        elastic += assembled_gradient(term, forces.positions, forces.n)
    slopes = forces.parameter_derivative(points, [name for name in names if name != DENSITY])
    left = elastic.ravel() - slopes @ np.linalg.lstsq(slopes, elastic.ravel(), rcond=None)[0]
    if np.linalg.norm(left) <= SCALED * np.linalg.norm(elastic):
        raise InputError(
            f"unknown = {names}: a cloth that is twice as heavy and twice as stiff hangs alike, so that only ratios "
            "can be told; leave density out, or one of the stiffnesses, and give its value"
        )


def as_noise(noise: Any, target: Any) -> float | None:
    """m, the standard deviation of a coordinate of a target."""
    if noise is None:
        return None
    number = as_float(noise)
    size = float(np.ptp(target.vertices, axis=0).max()) if isinstance(target, Mesh) else np.inf
    if number is None or not 0.0 < number < LARGEST_NOISE * size:
        raise InputError(
            f"noise = {shown(noise)}: expected the standard deviation of a captured coordinate in m, less than a tenth "
            "of the size of the target, noise=0.001 for a millimetre; leave it out of a target that is exact"
        )
    return number
