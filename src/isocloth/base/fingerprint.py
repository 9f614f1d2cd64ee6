"""Fingerprints of code: a short hash of what a module, and all that it imports, computes.

A number that was computed is as old as the code it depends on. The fingerprint names that code: the module itself and
every module of the given packages that it imports, directly or through others, wherever in a file the import stands.
Comments, docstrings and the layout of lines do not count. Data files and other packages do not count either.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from isocloth.base.errors import MissingFileError

#: digits of a fingerprint
LENGTH = 16


def code_fingerprint(module: str, packages: Mapping[str, Path]) -> str:
    """SHA-256, in short, of a module and its dependencies; packages: name -> folder of those that count."""
    total = hashlib.sha256()
    for name in dependencies(module, packages):
        total.update(f"{name}\n{meaning(_text(name, packages))}\n".encode())
    return total.hexdigest()[:LENGTH]


def dependencies(module: str, packages: Mapping[str, Path]) -> list[str]:
    """The module and all modules of these packages that it imports, directly or through others, in order."""
    found: set[str] = set()
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += _imports(name, packages)
    return sorted(found)


@cache
def meaning(text: str) -> str:
    """The syntax tree of a source as text, without docstrings.

    Fields that are empty are left out: they are what versions of Python add, in which `ast.dump` differs.
    """
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                node.body = node.body[1:]
    return _written(tree)


def _written(part: Any) -> str:
    if isinstance(part, list):
        return f"[{' '.join(_written(p) for p in part)}]"
    if not isinstance(part, ast.AST):
        return repr(part)
    fields = (f"{name}={_written(v)}" for name, v in ast.iter_fields(part) if v is not None and v != [])
    return f"({type(part).__name__} {' '.join(fields)})"


@cache
def _statements(text: str) -> tuple[tuple[int, str, str], ...]:
    """(level, module, name) of everything that a source imports; the name is empty for `import module`."""

    def found() -> Iterator[tuple[int, str, str]]:
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Import):
                yield from ((0, alias.name, "") for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                yield from ((node.level, node.module or "", alias.name) for alias in node.names)
            elif isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] == "import_module":
                yield from ((0, str(a.value), "") for a in node.args if isinstance(a, ast.Constant))

    return tuple(found())


def _imports(module: str, packages: Mapping[str, Path]) -> list[str]:
    """What a module imports itself. A package that is named as a whole may hand out any of its modules: all count."""
    at, _ = _file(module, packages)
    here = module.split(".") if at.name == "__init__.py" else module.split(".")[:-1]
    found: list[str] = []
    for level, base, name in _statements(_text(module, packages)):
        parts = [*(here[: len(here) - level + 1] if level else []), *(base.split(".") if base else [])]
        if not parts or parts[0] not in packages:
            continue
        if name and _file(".".join([*parts, name]), packages)[1]:
            parts.append(name)
        if len(parts) == 1 and module != parts[0]:
            found += _all(parts[0], packages[parts[0]])
        # parents are run, too; the outermost only hands names on
        found += [".".join(parts[:k]) for k in range(2, len(parts) + 1)]
    return found


def _all(package: str, folder: Path) -> list[str]:
    files = (file.relative_to(folder).with_suffix("").parts for file in sorted(folder.rglob("*.py")))
    return [".".join([package, *(parts[:-1] if parts[-1] == "__init__" else parts)]) for parts in files]


def _file(module: str, packages: Mapping[str, Path]) -> tuple[Path, bool]:
    """Where a module is, and whether it is there."""
    package, *parts = module.split(".")
    place = packages[package].joinpath(*parts)
    inside = place / "__init__.py"
    file = inside if inside.is_file() else place.with_name(f"{place.name}.py")
    return file, file.is_file()


def _text(module: str, packages: Mapping[str, Path]) -> str:
    file, there = _file(module, packages)
    if not there:
        raise MissingFileError(f"module {module!r} is imported but is not at {file}: mend the import or its name")
    return file.read_text(encoding="utf-8")
