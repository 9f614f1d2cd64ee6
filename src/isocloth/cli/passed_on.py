"""Subcommands that other rooms provide, imported when asked for."""

from __future__ import annotations

import importlib
from collections.abc import Callable


def _room(name: str) -> Callable[[list[str]], int]:
    def command(argv: list[str]) -> int:
        code: int = importlib.import_module(f"isocloth.{name}").main(argv)
        return code

    return command


PASSED_ON = {name: _room(name) for name in ("bench", "reproduce")}
