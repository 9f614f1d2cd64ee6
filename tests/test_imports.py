"""No module of the package imports itself by way of others, not even inside a function."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1] / "src"


def modules(root: Path) -> dict[str, Path]:
    """Module name -> file, of all packages under a folder; a package is a module, its `__init__`."""
    found = {}
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def for_types_only(node: ast.AST) -> bool:
    """Whether a node is `if TYPE_CHECKING:`, which never runs."""
    return isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")


def running(node: ast.AST) -> Iterator[ast.AST]:
    """All nodes of a syntax tree that can run, in whatever function or block."""
    yield node
    skipped = node.body if isinstance(node, ast.If) and for_types_only(node) else []
    for child in ast.iter_child_nodes(node):
        if child not in skipped:
            yield from running(child)


def imported(name: str, path: Path, known: dict[str, Path]) -> set[str]:
    """The modules that a module imports: of `from a import b` it is `a.b` where that is a module, else `a`."""
    package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    found: set[str] = set()
    for node in running(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            base = [*base, *(node.module.split(".") if node.module else [])]
            for alias in node.names:
                whole = ".".join([*base, alias.name])
                found.add(whole if whole in known else ".".join(base))
    return (found & set(known)) - {name}


def cycles(root: Path) -> list[list[str]]:
    """Sets of modules that import each other: strongly connected components of more than one (Tarjan)."""
    known = modules(root)
    graph = {name: sorted(imported(name, path, known)) for name, path in known.items()}
    number: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(name: str) -> None:
        number[name] = lowest[name] = len(number)
        stack.append(name)
        for other in graph[name]:
            if other not in number:
                visit(other)
                lowest[name] = min(lowest[name], lowest[other])
            elif other in stack:
                lowest[name] = min(lowest[name], number[other])
        if lowest[name] == number[name]:
            members = stack[stack.index(name) :]
            del stack[len(stack) - len(members) :]
            if len(members) > 1:
                found.append(sorted(members))

    for name in graph:
        if name not in number:
            visit(name)
    return found


def test_modules_import_each_other_in_no_cycle() -> None:
    assert len(modules(ROOT)) > 200
    found = cycles(ROOT)
    assert not found, "modules that import each other: " + "; ".join(", ".join(members) for members in found)


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("import p.b", "from p import a", [["p.a", "p.b"]]),
        ("from .b import x", "def f():\n    from p.a import y", [["p.a", "p.b"]]),
        ("from p import x", "", [["p", "p.a"]]),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import p.b", "import p.a", []),
        ("try:\n    import p.b\nexcept ImportError:\n    pass", "if True:\n    import p.a", [["p.a", "p.b"]]),
        ("import p.b", "import os", []),
    ],
)
def test_a_cycle_is_found_wherever_the_import_stands(tmp_path: Path, a: str, b: str, expected: list[list[str]]) -> None:
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "__init__.py").write_text("from p.a import z\n" if expected == [["p", "p.a"]] else "")
    (tmp_path / "p" / "a.py").write_text(a)
    (tmp_path / "p" / "b.py").write_text(b)
    assert cycles(tmp_path) == expected
