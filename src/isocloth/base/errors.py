"""What isocloth raises. Every message says what was given, what was expected and what to do.

All derive from `IsoclothError`, and each from the built-in error of its kind, so that `except ValueError` works as well
as `except IsoclothError`.
"""

from __future__ import annotations


class IsoclothError(Exception):
    """The root of all errors that isocloth raises on purpose."""


class InputError(IsoclothError, ValueError):
    """A value outside of what is possible, or values that do not fit together."""


class InputTypeError(IsoclothError, TypeError):
    """Something of another type than expected."""


class UnknownNameError(IsoclothError, KeyError):
    """A name that is not among those that there are; the message lists them."""

    def __str__(self) -> str:
        """The message as it is: that of a KeyError is in quotes."""
        return str(self.args[0]) if len(self.args) == 1 else super().__str__()


class FileError(IsoclothError, OSError):
    """A file, folder or connection that cannot be used."""


class MissingFileError(FileError, FileNotFoundError):
    """A file or folder that does not exist."""


class IsFolderError(FileError, IsADirectoryError):
    """A folder where a file was expected."""


class MissingLibraryError(IsoclothError, ImportError):
    """An optional library that is not installed; the message says how to install it."""


class FailedRunError(IsoclothError, RuntimeError):
    """A computation that did not reach what it was made for, though nothing is wrong with its input."""


class BusyError(IsoclothError, RuntimeError):
    """Something that another thread or process is using now."""


class MeshError(InputError):
    """A mesh that cannot be a cloth: degenerate, non-manifold, disconnected, mixed or malformed."""


class FabricError(InputError):
    """A physical parameter outside its range."""


class SceneError(InputError):
    """A scene file with a wrong, missing or unknown field; the message names the field."""


class ConvergenceError(IsoclothError, ValueError):
    """A step that has no solution: an infeasible prescription, or a step far too large."""


class SamplingError(InputError):
    """Points that do not determine a surface: too few, too noisy, or not near a surface at all."""


class RecordingError(InputError):
    """A recording that cannot be used: empty, in wrong units, with markers that never appear or do not fit."""
