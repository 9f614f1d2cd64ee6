"""Files can be read in one sitting, and functions called without counting their arguments."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "isocloth"
#: lines of a file, at most
LONGEST_FILE = 450
#: positional arguments of a function, at most; options by keyword and arguments of kernels do not count
MOST_ARGUMENTS = 10
#: decorators of compiled kernels, which take arrays one by one because they cannot take objects
COMPILED = {"kernel", "inlined", "embedded", "njit", "intrinsic"}


def is_kernel(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a function is compiled, by its decorators."""
    names = [d.func if isinstance(d, ast.Call) else d for d in function.decorator_list]
    return any(ast.unparse(name).rpartition(".")[2] in COMPILED for name in names)


def positional(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """How many arguments can be given by position, without self."""
    arguments = [*function.args.posonlyargs, *function.args.args]
    return len([a for a in arguments if a.arg not in ("self", "cls")])


def crowded(text: str) -> list[tuple[str, int]]:
    """Functions of a source, not compiled, with too many positional arguments, and their number."""
    nodes = list(ast.walk(ast.parse(text)))
    calls = [node for node in nodes if isinstance(node, ast.Call) and ast.unparse(node.func) in COMPILED]
    handed = {ast.unparse(argument) for call in calls for argument in call.args}  # strip = intrinsic(_strip)
    return [
        (node.name, positional(node))
        for node in nodes
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and not is_kernel(node)
        and node.name not in handed
        and positional(node) > MOST_ARGUMENTS
    ]


def test_no_file_is_too_long() -> None:
    lines = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in SOURCE.rglob("*.py")}
    assert len(lines) > 200
    found = [f"{path.relative_to(ROOT)}: {n}" for path, n in sorted(lines.items()) if n > LONGEST_FILE]
    assert not found, f"files of more than {LONGEST_FILE} lines: {', '.join(found)}"


def test_no_function_takes_too_many_arguments_by_position() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {name} takes {count}"
        for path in sorted(SOURCE.rglob("*.py"))
        for name, count in crowded(path.read_text(encoding="utf-8"))
    ]
    assert not found, f"functions with more than {MOST_ARGUMENTS} positional arguments: {', '.join(found)}"


def test_arguments_are_counted_without_self_options_and_kernels() -> None:
    eleven = ", ".join(f"a{k}" for k in range(11))
    ten = ", ".join(f"a{k}" for k in range(10))
    assert crowded(f"def f({eleven}): ...") == [("f", 11)]
    assert crowded(f"def f({ten}, *, b, c): ...") == []
    assert crowded(f"class A:\n    def f(self, {ten}): ...") == []
    assert crowded(f"@kernel\ndef f({eleven}): ...") == []
    assert crowded(f"@nb.njit(cache=True)\ndef f({eleven}): ...") == []


def test_no_private_name_is_imported_from_another_file() -> None:
    found = []
    for folder in ("src/isocloth", "validation", "benchmarks"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                ours = isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in (
                    "isocloth", "validation", "benchmarks",
                )  # fmt: skip
                if ours:
                    private = [a.name for a in node.names if a.name.startswith("_") and not a.name.startswith("__")]
                    found += [f"{path.relative_to(ROOT)}: {name}" for name in private]
    assert not found, f"private names that other files import: {', '.join(found)}"
