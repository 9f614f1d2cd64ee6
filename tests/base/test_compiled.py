import ast
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

import isocloth
from isocloth.base.compiled import _imported, sources

PACKAGE = Path(isocloth.__file__).parent


@pytest.fixture
def copy(tmp_path):
    """A copy of the package, in which sources may be edited."""
    target = tmp_path / "isocloth"
    shutil.copytree(PACKAGE, target, ignore=shutil.ignore_patterns("__pycache__", "*.nbi", "*.nbc"))
    return target


def test_a_kernel_is_compiled_anew_when_a_kernel_it_calls_has_changed(copy):
    inner, outer = copy / "terms" / "inner.py", copy / "solvers" / "outer.py"
    inner.write_text(_kernel("inner", "x + 1.0"))
    outer.write_text("from isocloth.terms.inner import inner\n" + _kernel("outer", "inner(x) * 10.0"))
    command = [sys.executable, "-c", "from isocloth.solvers.outer import outer; print(outer(1.0))"]
    assert _run(command, copy.parent) == "20.0"
    time.sleep(0.05)
    inner.write_text(_kernel("inner", "x + 2.0"))
    assert _run(command, copy.parent) == "30.0"


def test_a_package_that_is_only_newer_by_date_compiles_nothing(copy):
    """As after an installation: the same content with other modification times."""
    file = copy / "terms" / "inner.py"
    file.write_text(_kernel("inner", "x + 1.0"))
    command = [sys.executable, "-c", "from isocloth.terms.inner import inner; print(inner(1.0))"]
    assert _run(command, copy.parent) == "2.0"
    before = {p: p.stat().st_mtime_ns for p in copy.rglob("*.nbc")}
    assert before
    for path in copy.rglob("*.py"):
        os.utime(path, (path.stat().st_atime + 1000.0, path.stat().st_mtime + 1000.0))
    assert _run(command, copy.parent) == "2.0"
    assert {p: p.stat().st_mtime_ns for p in copy.rglob("*.nbc")} == before


def test_an_edit_compiles_what_may_depend_on_it_and_nothing_else(copy):
    constant, inner, other = copy / "terms" / "constant.py", copy / "terms" / "inner.py", copy / "terms" / "other.py"
    constant.write_text("SIZE = 1.0\n")
    inner.write_text("from isocloth.terms.constant import (\n    SIZE,\n)\n" + _kernel("inner", "x + SIZE"))
    other.write_text(_kernel("other", "x + 3.0"))
    code = (
        "from isocloth.terms.inner import inner; from isocloth.terms.other import other; print(inner(1.0), other(1.0))"
    )
    command = [sys.executable, "-c", code]
    assert _run(command, copy.parent) == "2.0 4.0"
    (kept,) = copy.rglob("other.other-*.nbc")
    before = kept.stat().st_mtime_ns
    time.sleep(0.05)
    constant.write_text("SIZE = 2.0\n")
    assert _run(command, copy.parent) == "3.0 4.0"
    (kept,) = copy.rglob("other.other-*.nbc")
    assert kept.stat().st_mtime_ns == before


def test_the_imports_that_a_stamp_counts_are_those_that_python_sees():
    """Counted by a regular expression; beside them the syntax tree."""
    for path in sources():
        seen = {p for p in _by_syntax(path) if p.is_file()}
        assert seen <= _imported(path), path


def _by_syntax(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, path
            base = (node.module or "").split(".")
            names = [[*base, alias.name] for alias in node.names]
        elif isinstance(node, ast.Import):
            base, names = [], [alias.name.split(".") for alias in node.names]
        else:
            continue
        for parts in [base, *names]:
            if len(parts) > 1 and parts[0] == "isocloth":
                place = PACKAGE.joinpath(*parts[1:])
                yield place / "__init__.py" if place.is_dir() else place.with_suffix(".py")


def test_a_kernel_outside_the_package_watches_its_own_folder(copy, tmp_path):
    folder = tmp_path / "beside"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "inner.py").write_text(_kernel("inner", "x + 1.0"))
    (folder / "outer.py").write_text("from beside.inner import inner\n" + _kernel("outer", "inner(x) * 10.0"))
    command = [sys.executable, "-c", "from beside.outer import outer; print(outer(1.0))"]
    assert _run(command, tmp_path) == "20.0"
    (folder / "inner.py").write_text(_kernel("inner", "x + 2.0"))
    assert _run(command, tmp_path) == "30.0"


def test_every_file_with_kernels_is_watched():
    using = {p for p in PACKAGE.rglob("*.py") if "isocloth.base.compiled import" in p.read_text(encoding="utf-8")}
    assert len(using) > 30
    assert using <= set(sources())


def test_a_cache_that_mentions_a_class_which_is_no_more_is_compiled_anew(copy):
    file = copy / "terms" / "inner.py"
    text = (
        "from typing import NamedTuple\n\nfrom isocloth.base.compiled import kernel\n\n\nclass {0}(NamedTuple):\n"
        "    x: float\n"
        "\n\n@kernel\ndef inner(p):\n    return p.x + {1}\n\n\ndef value():\n    return inner({0}(1.0))\n"
    )
    command = [sys.executable, "-c", "from isocloth.terms.inner import value; print(value())"]
    file.write_text(text.format("Old", "1.0"))
    assert _run(command, copy.parent) == "2.0"
    time.sleep(0.05)
    file.write_text(text.format("New", "2.0"))
    assert _run(command, copy.parent) == "3.0"


def test_a_cold_and_a_warm_cache_give_the_same_bits(tmp_path):
    code = (
        "import hashlib, isocloth as ic\n"
        "m = ic.meshes.rectangle(0.3, 0.3, shape=(5, 5))\n"
        "s = ic.Simulation(m, ic.Fabric(bending=1e-5)); s.grasp(m.corners[:2])\n"
        "for _ in range(20): s.step()\n"
        "print(hashlib.sha256(s.positions.tobytes()).hexdigest())"
    )
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    command = [sys.executable, "-c", code]
    cold = _run(command, tmp_path, environment)
    assert any((tmp_path / "cache").rglob("*.nbi"))
    assert _run(command, tmp_path, environment) == cold


def _kernel(name, expression):
    return f"from isocloth.base.compiled import kernel\n\n\n@kernel\ndef {name}(x):\n    return {expression}\n"


def _run(command, folder, environment=None):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True, env=environment)
    return done.stdout.strip()
