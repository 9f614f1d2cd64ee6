"""The public names: complete, typed, loaded when they are needed; and one root of all errors."""

from __future__ import annotations

import ast
import builtins
import os
import pickle
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import isocloth as ic
from isocloth.base import errors

ROOT = Path(__file__).parents[1]
SOURCE = Path(ic.__file__).parent

#: rooms whose errors all derive from IsoclothError
ROOMS = [
    "base", "calibration", "cli", "cloth", "contact", "developable", "fabric.py", "folding", "friction", "inverse",
    "measure", "meshes", "models", "obstacles", "patterns", "pictures", "reconstruction", "recordings", "reports.py",
    "scenes", "simulation", "solvers", "sparse", "states", "statics", "terms", "trajectory.py",
]  # fmt: skip

PLAIN = (ValueError, TypeError, KeyError, OSError, ImportError, RuntimeError)


def run(*words: str, **more: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(SOURCE.parent), **more}
    return subprocess.run([sys.executable, *words], capture_output=True, text=True, env=environment, check=False)


# ---------------------------------------------------------------------- names


def tree() -> ast.Module:
    return ast.parse((SOURCE / "__init__.py").read_text(encoding="utf-8"))


def checked_imports() -> dict[str, str]:
    """Name and module of what only type checkers import."""
    (block,) = [node for node in tree().body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    found: dict[str, str] = {}
    for node in block.body:
        assert isinstance(node, ast.ImportFrom)
        found.update((alias.asname or alias.name, str(node.module)) for alias in node.names)
    return found


def test_lazy_names_are_those_that_type_checkers_import():
    assert checked_imports() == ic._LAZY


def test_all_names_are_listed_once_and_nothing_else_is():
    eager = {
        alias.asname or alias.name
        for node in tree().body
        if isinstance(node, ast.ImportFrom) and node.module != "typing"
        for alias in node.names
    }
    assert len(ic.__all__) == len(set(ic.__all__))
    assert set(ic.__all__) == eager | set(ic._LAZY)
    public = [name for name in dir(ic) if not (name.startswith("__") and name.endswith("__"))]
    assert public == sorted(ic.__all__)


@pytest.mark.parametrize("name", ic.__all__)
def test_every_name_is_there(name):
    found = getattr(ic, name)
    if name in ic._LAZY:
        assert found is getattr(sys.modules[ic._LAZY[name]], name)


def test_a_star_import_brings_all_names():
    space: dict[str, object] = {}
    exec("from isocloth import *", space)
    assert set(ic.__all__) <= set(space)


def test_names_that_docs_and_messages_advise_are_there():
    told = re.compile(r"\bic((?:\.[A-Za-z_]\w*)+)")
    texts = [*SOURCE.rglob("*.py"), *(ROOT / "docs").glob("*.md"), ROOT / "README.md", ROOT / "ARCHITECTURE.md"]
    names = {name for path in texts for name in told.findall(path.read_text(encoding="utf-8"))}
    assert len(names) > 50
    missing = []
    for name in sorted(names):
        found: object = ic
        for part in name.split(".")[1:]:
            found = getattr(found, part, None)
        if found is None:
            missing.append(f"ic{name}")
    assert not missing


def test_unknown_names_are_refused():
    with pytest.raises(AttributeError, match="module 'isocloth' has no attribute 'Simulatoin'"):
        ic.Simulatoin  # noqa: B018


def test_what_a_simulation_does_not_need_is_not_imported():
    rooms = sorted(name for name, module in ic._LAZY.items() if module == "isocloth")
    assert len(rooms) == 11
    code = (
        "import sys, isocloth; dir(isocloth); isocloth.Simulation\n"
        f"print([room for room in {rooms} if 'isocloth.' + room in sys.modules])\n"
        "isocloth.Recording\n"
        "print('isocloth.recordings' in sys.modules, 'isocloth.folding' in sys.modules)"
    )
    found = run("-c", code)
    assert found.stdout.splitlines() == ["[]", "True False"], found.stderr


SCRIPT = """
import isocloth as ic
from isocloth import Recording, calibrate

mesh = ic.meshes.rectangle(1.0, 1.0, (3, 3))
ball = ic.Sphere([0, 0, 0], 0.1, friction=0.2)
sim = ic.Simulation(mesh, ic.fabrics["light cotton"], model=ic.models.Elastic(), obstacles=[ball.replace(friction=0.1)])
reveal_type(mesh)
reveal_type(ball.replace(friction=0.1))
reveal_type(sim)
reveal_type(sim.step())
reveal_type(sim.step().iterations)
reveal_type(ic.models.Elastic())
reveal_type(ic.Recording)
reveal_type(Recording.load)
reveal_type(ic.calibrate)
reveal_type(calibrate)
reveal_type(ic.compare_models)
reveal_type(ic.sensitivity)
reveal_type(ic.forecast)
reveal_type(ic.reconstruct)
reveal_type(ic.Reconstruction)
reveal_type(ic.developables)
reveal_type(ic.states.Database)
reveal_type(ic.scenes.load_scene)
reveal_type(ic.IsoclothError)
"""
WRONG = """ic.Simulatoin
ic.recordings.Recordnig
sim.stepp()
ball.replace(radius=0.2)
"""


def test_type_checkers_know_all_names(tmp_path):
    """mypy on a user's script: real types, and an error for whatever is misspelt."""
    pytest.importorskip("mypy")
    script = tmp_path / "script.py"
    script.write_text(SCRIPT + WRONG, encoding="utf-8")
    kept = ROOT / ".mypy_cache" / "user"
    words = ["--strict", "--follow-imports=silent", "--no-error-summary", "--config-file=", f"--cache-dir={kept}"]
    found = run("-m", "mypy", *words, str(script), MYPYPATH=str(SOURCE.parent))
    lines = [line.split(": ", 1) for line in found.stdout.splitlines()]
    source = script.read_text(encoding="utf-8").splitlines()
    said: dict[str, str] = {}
    for place, message in lines:
        said.setdefault(source[int(place.rsplit(":", 1)[1]) - 1], message)
    for line in SCRIPT.splitlines():
        if line.startswith("reveal_type"):
            shown = said.pop(line)
            assert shown.startswith("note: Revealed type is"), (line, shown)
            assert "isocloth" in shown or "int" in shown, (line, shown)
            assert not re.search(r'is "(Any|types.ModuleType|def \(\*args: Any)', shown), (line, shown)
    assert set(said) == set(WRONG.splitlines()), found.stdout
    assert all(message.startswith("error: ") for message in said.values())


# ---------------------------------------------------------------------- errors

OURS = [e for e in vars(errors).values() if isinstance(e, type) and issubclass(e, Exception)]


@pytest.mark.parametrize("error", OURS)
def test_errors_have_one_root_and_a_built_in_base(error):
    assert issubclass(error, ic.IsoclothError)
    if error is not ic.IsoclothError:
        assert issubclass(error, PLAIN)
    found = pickle.loads(pickle.dumps(error("what was given: what was expected")))
    assert type(found) is error
    assert str(found) == "what was given: what was expected"


def plain_errors(file: Path) -> Iterator[tuple[int, str]]:
    """Line and name of every plain built-in error that a source constructs or raises."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        found = node.func if isinstance(node, ast.Call) else node.exc if isinstance(node, ast.Raise) else None
        error = getattr(builtins, found.id, None) if isinstance(found, ast.Name) else None
        if isinstance(error, type) and issubclass(error, PLAIN) and not issubclass(error, NotImplementedError):
            yield node.lineno, error.__name__


@pytest.mark.parametrize("room", ROOMS)
def test_no_plain_error_is_raised(room):
    place = SOURCE / room
    for file in [place] if place.suffix else sorted(place.rglob("*.py")):
        for line, name in plain_errors(file):
            pytest.fail(f"{file.relative_to(ROOT)}:{line} raises {name}: expected one of isocloth.base.errors")


def test_the_search_for_plain_errors_finds_them(tmp_path):
    file = tmp_path / "file.py"
    file.write_text("def f():\n    raise ValueError('x')\n    raise KeyError\n    raise InputError('x')\n")
    assert sorted(plain_errors(file)) == [(2, "ValueError"), (3, "KeyError")]


def test_users_may_catch_either_root():
    for make, kind in (
        (lambda: ic.Sphere([0, 0, 0], -1.0), ValueError),
        (lambda: ic.Sphere("here", 1.0), TypeError),
        (lambda: ic.fabrics["steel"], KeyError),
        (lambda: ic.Mesh.load("nowhere.obj"), FileNotFoundError),
        (lambda: ic.Mesh([[0, 0, 0]], [[0, 1, 2]]), ValueError),
    ):
        with pytest.raises(kind) as caught:
            make()
        assert isinstance(caught.value, ic.IsoclothError)
        assert not str(caught.value).startswith(("'", '"'))
