"""Warnings as a line for people who read a terminal and not the source."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def short_warnings() -> Iterator[None]:
    """Print warnings without the file and line they come from."""
    before = warnings.showwarning

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        print(f"\nisocloth: warning: {message}", file=sys.stderr, flush=True)

    warnings.showwarning = show
    try:
        yield
    finally:
        warnings.showwarning = before
