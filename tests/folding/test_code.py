"""The fingerprint of the code that states depend on."""

from importlib.resources import files
from pathlib import Path

from isocloth.folding import make
from isocloth.folding.code import ROOMS, _meaning, code_fingerprint


def test_comments_docstrings_and_layout_do_not_count_but_numbers_do():
    first = _meaning('def f(x):\n    """Twice."""\n    return 2 * x  # why\n')
    assert _meaning("def f(x):\n\n    return (2 * x)\n") == first
    assert _meaning("def f(x):\n    return 3 * x\n") != first
    assert _meaning('"""Only this."""\n') == _meaning("")


def test_the_fingerprint_is_part_of_what_states_are_made_with():
    assert make.settings()["code"] == code_fingerprint()
    assert len(code_fingerprint()) == 16


def test_the_rooms_are_there():
    root = Path(str(files("isocloth")))
    assert all((root / room).exists() for room in ROOMS)
