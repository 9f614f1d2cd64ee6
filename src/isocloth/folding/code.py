"""The code that a simulated state depends on, in short: states of another version are not taken for present ones."""

from __future__ import annotations

import ast
import hashlib
from functools import cache
from importlib.resources import files
from pathlib import Path

#: rooms of the package that a state depends on
ROOMS = (
    "compiled.py", "tables.py", "meshes", "obstacles", "fabric.py", "terms", "models", "contact", "problem.py",
    "solver", "simulation", "states", "folding",
)  # fmt: skip


@cache
def code_fingerprint() -> str:
    """SHA-256, in short, of what these rooms compute: comments, docstrings and the layout of lines do not count."""
    root = Path(str(files("isocloth")))
    total = hashlib.sha256()
    for room in ROOMS:
        place = root / room
        for file in [place] if place.suffix else sorted(place.glob("*.py")):
            total.update(f"{file.relative_to(root).as_posix()}\n{_meaning(file.read_text(encoding='utf-8'))}".encode())
    return total.hexdigest()[:16]


def _meaning(text: str) -> str:
    """The syntax tree of a source, without docstrings."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                node.body = node.body[1:]
    return ast.unparse(tree)  # `dump` differs between versions of Python
