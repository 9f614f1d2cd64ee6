"""Two columns of text."""

from __future__ import annotations

from collections.abc import Iterable


def columns(rows: Iterable[tuple[str, str]], title: str = "") -> str:
    """Names and values, aligned, under an underlined title."""
    listed = [(name, value) for name, value in rows if value]
    width = max((len(name) for name, _ in listed), default=0)
    head = [title, "-" * len(title)] if title else []
    return "\n".join([*head, *(f"{name:<{width}}  {value}" for name, value in listed)])
