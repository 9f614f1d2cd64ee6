"""Paths in CSV files: time, then x, y, z of the centre or of every held node."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import numpy as np

from isocloth.base.errors import InputError
from isocloth.base.files import existing_file
from isocloth.base.typing import FloatArray


def read_path_file(path: Path) -> tuple[FloatArray, FloatArray]:
    """Times (T,) in s and positions (T, k, 3) in m. A first line that is no numbers is a header."""
    existing_file(path, "path file (its name is relative to the scene file)")
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            lines = [(reader.line_num, row) for reader in [csv.reader(file)] for row in reader if any(row)]
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{str(path)!r} is no text with commas ({error})") from None
    if lines and not _is_number(lines[0][1][0]):
        lines = lines[1:]
    rows = []
    for number, row in lines:
        if len(row) != len(lines[0][1]) or len(row) < 4 or len(row) % 3 != 1:
            raise InputError(
                f"line {number} of {str(path)!r} has {len(row)} columns, expected t, x, y, z (and x, y, z for "
                "every further node) in each line"
            )
        if not all(map(_is_number, row)):
            raise InputError(f"line {number} of {str(path)!r} holds {','.join(row)!r}, expected finite numbers")
        rows.append([float(cell) for cell in row])
    if len(rows) < 2:
        raise InputError(f"{str(path)!r} holds {len(rows)} lines of numbers, expected two or more")
    table = np.array(rows)
    if not (np.diff(table[:, 0]) > 0).all():
        late = int(np.argmin(np.diff(table[:, 0]))) + 1
        raise InputError(f"line {lines[late][0]} of {str(path)!r}: times must increase")
    return table[:, 0], table[:, 1:].reshape(len(table), -1, 3)


def _is_number(cell: str) -> bool:
    try:
        return math.isfinite(float(cell))
    except ValueError:
        return False
