"""Starting processes from any program, and ending them with it."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any


@contextlib.contextmanager
def without_main() -> Iterator[None]:
    """Processes that start now do not run the caller's script again, which may have no `if __name__ == ...`."""
    main = sys.modules["__main__"]
    kept: dict[str, Any] = {name: main.__dict__.pop(name) for name in ("__file__", "__spec__") if name in main.__dict__}
    main.__dict__["__spec__"] = None
    try:
        yield
    finally:
        main.__dict__.pop("__spec__", None)
        main.__dict__.update(kept)


def end_with(parent: int, every: float = 1.0) -> None:
    """End this process soon after its parent, given by its id, is gone.

    A worker whose parent is killed waits for work for ever otherwise.
    """

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(every)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
