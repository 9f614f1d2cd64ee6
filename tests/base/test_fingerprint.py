"""Fingerprints follow what code computes, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from isocloth.base.fingerprint import code_fingerprint, dependencies, meaning


@pytest.fixture
def package(tmp_path: Path) -> dict[str, Path]:
    files = {
        "__init__.py": "from pack.lonely import alone\n",
        "top.py": "from pack import low\n\n\ndef f():\n    from pack.room.inner import deep\n    return deep\n",
        "low.py": '"""Low."""\nimport json\n\nX = 1  # one\n',
        "room/__init__.py": "from .inner import deep\n",
        "room/inner.py": "from ..low import X\n\ndeep = X\n",
        "late.py": "import importlib\n\ndef f():\n    return importlib.import_module('pack.lonely')\n",
        "whole.py": "import pack\n",
        "lonely.py": "alone = 2\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return {"pack": tmp_path}


def test_comments_docstrings_and_layout_do_not_count_but_numbers_do() -> None:
    first = meaning('def f(x):\n    """Twice."""\n    return 2 * x  # why\n')
    assert meaning("def f(x):\n\n    return (2 * x)\n") == first
    assert meaning("def f(x):\n    return 3 * x\n") != first
    assert meaning('"""Only this."""\n') == meaning("")
    assert meaning("x = None\n") != meaning("x = 0\n")
    assert meaning("{None: 1}\n") != meaning("{**a}\n")


def test_imports_are_followed_wherever_they_stand(package: dict[str, Path]) -> None:
    assert dependencies("pack.top", package) == ["pack.low", "pack.room", "pack.room.inner", "pack.top"]
    assert dependencies("pack.late", package) == ["pack.late", "pack.lonely"]
    assert dependencies("pack.lonely", package) == ["pack.lonely"]


def test_a_package_imported_as_a_whole_counts_as_a_whole(package: dict[str, Path]) -> None:
    assert {"pack", "pack.lonely", "pack.room.inner"} <= set(dependencies("pack.whole", package))


def test_a_change_below_changes_the_fingerprint_and_one_elsewhere_does_not(package: dict[str, Path]) -> None:
    before = code_fingerprint("pack.top", package)
    (package["pack"] / "lonely.py").write_text("alone = 3\n")
    (package["pack"] / "low.py").write_text("import json\n\nX = 1\n")
    assert code_fingerprint("pack.top", package) == before
    (package["pack"] / "low.py").write_text("X = 2\n")
    assert code_fingerprint("pack.top", package) != before


def test_a_module_that_is_not_there_is_named(package: dict[str, Path]) -> None:
    with pytest.raises(FileNotFoundError, match=r"pack\.none"):
        code_fingerprint("pack.none", package)
