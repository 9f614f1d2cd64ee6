"""Homology with integer coefficients from the attachments of cells."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from isocloth.base.typing import IntArray
from isocloth.reconstruction.morse.cells import CellComplex


@dataclass(frozen=True)
class Homology:
    """Betti numbers (b0, b1, b2), and the orders of the finite cyclic parts of H0, H1, H2."""

    betti: tuple[int, int, int]
    torsion: tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]

    def __str__(self) -> str:
        parts = []
        for k in range(3):
            names = ["Z" if self.betti[k] == 1 else f"Z^{self.betti[k]}"] if self.betti[k] else []
            names += [f"Z/{d}" for d in self.torsion[k]]
            parts.append(f"H{k} = {' + '.join(names) or '0'}")
        return ", ".join(parts)


def boundary_matrices(cells: CellComplex) -> tuple[IntArray, IntArray]:
    """d1 (0-cells, 1-cells) and d2 (1-cells, 2-cells): the boundary of each cell as a sum of cells."""
    d1 = np.zeros((len(cells.zero), len(cells.one)), dtype=np.int64)
    for j, cell in enumerate(cells.one):
        assert cell.ends is not None
        d1[cell.ends[1], j] += 1
        d1[cell.ends[0], j] -= 1
    d2 = np.zeros((len(cells.one), len(cells.two)), dtype=np.int64)
    for j, cell in enumerate(cells.two):
        for i, sign in cell.word:
            d2[i, j] += sign
    return d1, d2


def homology(cells: CellComplex) -> Homology:
    """H_k = ker d_k / im d_{k+1}: Betti numbers from ranks, torsion from the Smith normal form."""
    d1, d2 = boundary_matrices(cells)
    s1, s2 = smith(d1), smith(d2)
    b0 = len(cells.zero) - len(s1)
    b1 = len(cells.one) - len(s1) - len(s2)
    b2 = len(cells.two) - len(s2)
    return Homology((b0, b1, b2), (tuple(d for d in s1 if d > 1), tuple(d for d in s2 if d > 1), ()))


def smith(matrix: IntArray) -> list[int]:
    """The nonzero invariant factors d1 | d2 | ... of an integer matrix."""
    rows = [[int(x) for x in row] for row in matrix]
    factors: list[int] = []
    while True:
        entries = [(abs(x), i, j) for i, row in enumerate(rows) for j, x in enumerate(row) if x]
        if not entries:
            break
        _, i, j = min(entries)
        pivot_row = rows[i]
        pivot = pivot_row[j]
        clean = True
        for k, row in enumerate(rows):
            if k != i and row[j]:
                factor = row[j] // pivot
                rows[k] = [x - factor * y for x, y in zip(row, pivot_row, strict=True)]
                clean = clean and rows[k][j] == 0
        if not clean:
            continue
        if any(x % pivot for x in pivot_row):
            # columns now: only row i has an entry in column j
            for c, x in enumerate(pivot_row):
                if c != j:
                    pivot_row[c] = x % abs(pivot)
            continue
        offender = next((k for k, row in enumerate(rows) if k != i and any(x % pivot for x in row)), None)
        if offender is not None:  # the pivot must divide all that is left
            rows[i] = [x + y for x, y in zip(pivot_row, rows[offender], strict=True)]
            continue
        factors.append(abs(pivot))
        rows = [[x for c, x in enumerate(row) if c != j] for k, row in enumerate(rows) if k != i]
    return factors
