import subprocess
import sys
import time
from pathlib import Path

import isocloth

PACKAGE = Path(isocloth.__file__).parent


def test_a_kernel_is_compiled_anew_when_a_kernel_it_calls_has_changed(tmp_path):
    """A copy of the package in which a called kernel is edited must not run the stale, inlined code of its caller."""
    import shutil

    copy = tmp_path / "isocloth"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__", "*.nbi", "*.nbc"))
    (copy / "terms" / "inner.py").write_text(_kernel("inner", "x + 1.0"))
    (copy / "solver" / "outer.py").write_text(
        "from isocloth.terms.inner import inner\n" + _kernel("outer", "inner(x) * 10.0")
    )
    command = [sys.executable, "-c", "from isocloth.solver.outer import outer; print(outer(1.0))"]
    assert _run(command, tmp_path) == "20.0"
    time.sleep(0.05)
    (copy / "terms" / "inner.py").write_text(_kernel("inner", "x + 2.0"))
    assert _run(command, tmp_path) == "30.0"


def _kernel(name, expression):
    return f"from isocloth.compiled import kernel\n\n\n@kernel\ndef {name}(x):\n    return {expression}\n"


def _run(command, folder):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()
