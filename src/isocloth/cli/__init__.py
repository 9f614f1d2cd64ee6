"""The command `isocloth`."""

from isocloth.cli.main import main

__all__ = ["main"]
