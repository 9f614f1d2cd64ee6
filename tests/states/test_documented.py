"""What docs/states.md shows runs, and says what it says."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import numpy as np

from isocloth.cli import main
from isocloth.states import ideal_states

TEXT = (Path(__file__).parents[2] / "docs" / "states.md").read_text(encoding="utf-8")


def test_python_by_example_runs_from_top_to_bottom(capsys):
    names = {"__name__": "states"}
    for block in re.findall(r"```python\n(.*?)```", TEXT, flags=re.DOTALL):
        exec(compile(block, "docs/states.md", "exec"), names)
    assert names["found"].name == "corner in"
    assert len(names["surfaces"]) == 2
    assert capsys.readouterr().out.count("corner in") == 3


def test_the_commands_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    few = ideal_states(2)
    few.save("states.npz")
    np.savez("state.npz", positions=few.positions[0])
    from isocloth import Trajectory

    frames = np.repeat(few.positions[:1], 121, axis=0)
    Trajectory(times=np.arange(121.0), positions=frames, faces=few.mesh.faces, rest=few.mesh.vertices).save("run.h5")
    commands = [
        shlex.split(line)[2:]
        for block in re.findall(r"```console\n(.*?)```", TEXT, flags=re.DOTALL)
        for line in block.splitlines()
    ]
    classify, folds = ([w for w in commands if w[0] == name] for name in ("classify", "fold"))
    assert (len(classify), len(folds), len(commands)) == (2, 3, 5)
    for words in classify:
        assert main(words) == 0
        assert "flat" in capsys.readouterr().out
    for words in folds:  # few states of a small napkin by one process; options given later win
        few_states = [] if "--sequence" in words else ["--per-class", "1", "--classes", "flat", "--workers", "1"]
        assert main([*words, "--nodes", "6", *few_states]) == 0
        assert Path(words[1]).stat().st_size > 0
