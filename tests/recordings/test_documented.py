"""The Python of docs/recordings.md runs."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import isocloth as ic
from recordings.motive_files import export

TEXT = (Path(__file__).parents[2] / "docs" / "recordings.md").read_text(encoding="utf-8")


def test_python_in_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    export("relabelled").write(Path("denim_A2_shake_fast_hanger.csv"))
    mesh = ic.meshes.rectangle(0.42, 0.594, (7, 9))
    times = np.array([0.0, 0.5])
    ic.Trajectory(
        times=times, positions=np.stack([mesh.vertices] * 2), faces=mesh.faces, rest=mesh.vertices
    ).save("swing.h5")  # fmt: skip
    random = np.random.default_rng(0)
    sheet = np.column_stack([random.random(800) * 0.3, np.zeros(800), 1.0 + random.random(800) * 0.4])
    names: dict[str, object] = {"times": [0.0, 0.1], "clouds": [sheet, sheet]}
    for block in re.findall(r"```python\n(.*?)```", TEXT, flags=re.DOTALL):
        exec(compile(block, "docs/recordings.md", "exec"), names)
    assert names["made"].positions.shape == (61, 20, 3)  # type: ignore[attr-defined]
