"""Subcommands that the repository provides beside the package: its checks and its benchmarks."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path

import isocloth
from isocloth.base.errors import MissingFileError

#: subcommand -> folder of the repository
FOLDERS = {"bench": "benchmarks", "reproduce": "validation"}

REPOSITORY = Path(isocloth.__file__).parents[2]


def _from_repository(name: str) -> Callable[[list[str]], int]:
    folder = FOLDERS[name]

    def command(argv: list[str]) -> int:
        if not (REPOSITORY / folder / "__init__.py").is_file():
            raise MissingFileError(
                f"isocloth {name} runs what is in the folder {folder!r} of isocloth's repository, which is not part of "
                f"an installed package: run it from a copy of the repository, installed with pip install -e ."
            )
        if str(REPOSITORY) not in sys.path:
            sys.path.insert(0, str(REPOSITORY))
        code: int = importlib.import_module(folder).main(argv)
        return code

    return command


REPOSITORY_COMMANDS = {name: _from_repository(name) for name in FOLDERS}
