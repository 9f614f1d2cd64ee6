"""Every example runs in an empty folder, and its number is checked against what it must be."""

from __future__ import annotations

import importlib.util
import math
from pathlib import Path

import pytest
from scipy.integrate import quad

from isocloth import Trajectory

EXAMPLES = Path(__file__).parents[2] / "examples"

# name -> (expected number, tolerance), each from a derivation that the example does not use
EXPECTED = {
    "ten_lines": (0.0, 2e-3),
    # BDF2 is exact on a parabola, but its first step is implicit Euler's, g h^2 / 2 too low; the recursion
    # e[n+1] = (4 e[n] - e[n-1]) / 3 carries this to 3/2 of it
    "hang_and_release": (-0.75 * 9.81 * 0.005**2, 1e-6),
    "follow_a_path": (0.0, 1e-12),
    "forces": (0.25 * 0.5 * 0.3 * 9.81, 1e-3 * 0.25 * 0.5 * 0.3 * 9.81),
    "save_and_restore": (0.0, 0.0),
    "garment": (0.0, 1e-3),
    "which_model": (0.0, 1e-3),
    "compare_solvers": (0.0, 0.02 * 0.594),
    "drop_on_a_sphere": (0.2 * 0.4 * 0.4 * 9.81, 1e-3 * 0.2 * 0.4 * 0.4 * 9.81),
    "lay_a_tablecloth": (0.0, 1e-5),
    "name_a_fold": (1.0, 0.1),
    "hat": (0.0, 0.01),
    "skirt_pattern": (0.2, 1e-6),  # the density that it was hung with
    # twice the area of a parabolic cylinder over the unit disc
    "fill_a_boundary": (
        2.0 * quad(lambda x: 2.0 * math.sqrt((1.0 - x * x) * (1.0 + (1.6 * x) ** 2)), -1.0, 1.0)[0],
        2e-3,
    ),
}

# longer ones, with arguments: each has a file of tests beside this one
LONG = {"after_inversion"}


def test_no_example_is_forgotten() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.py")} == set(EXPECTED) | LONG
    for name in LONG:
        assert (Path(__file__).parent / f"test_{name}.py").is_file()


@pytest.mark.parametrize("name", EXPECTED)
def test_an_example_gives_its_number(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    path = EXAMPLES / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"example_{name}", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    value = module.main()
    expected, tolerance = EXPECTED[name]
    assert math.isfinite(value)
    assert abs(value - expected) <= tolerance
    assert len(capsys.readouterr().out.splitlines()) >= 1
    assert len(path.read_text().splitlines()) <= 40


def test_the_ten_lines_leave_a_trajectory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    code = (EXAMPLES / "ten_lines.py").read_text()
    exec(compile(code, "ten_lines.py", "exec"), {"__name__": "__main__"})
    assert len(Trajectory.load("ten_lines.npz")) == 101
