"""The page of the protocols: its Python runs, its commands are understood."""

import re
import shlex
from pathlib import Path

from isocloth.cli.parser import make_parser

PAGE = (Path(__file__).parents[2] / "docs" / "protocols.md").read_text(encoding="utf-8")


def test_its_python_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL):
        exec(compile(block, "docs/protocols.md", "exec"), names)
    assert names["verdict"].ok
    assert names["friction"].value > 0.1


def test_its_commands_are_understood():
    lines = [
        line[2:]
        for block in re.findall(r"```console\n(.*?)```", PAGE, flags=re.DOTALL)
        for line in block.split("\n")
        if line
    ]
    assert len(lines) == 7
    for line in lines:
        make_parser().parse_args(shlex.split(line)[1:])
