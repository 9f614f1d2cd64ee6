"""What isocloth raises. Every message says what was given, what was expected and what to do."""

from __future__ import annotations


class MeshError(ValueError):
    """A mesh that cannot be a cloth: degenerate, non-manifold, disconnected, mixed or malformed."""


class FabricError(ValueError):
    """A physical parameter outside its range."""


class SceneError(ValueError):
    """A scene file with a wrong, missing or unknown field; the message names the field."""


class ConvergenceError(ValueError):
    """A step that has no solution: an infeasible prescription, or a step far too large."""


class SamplingError(ValueError):
    """Points that do not determine a surface: too few, too noisy, or not near a surface at all."""


class RecordingError(ValueError):
    """A recording that cannot be used: empty, in wrong units, with markers that never appear or do not fit."""
