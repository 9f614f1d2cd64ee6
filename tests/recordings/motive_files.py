"""Motive exports of an exactly isometric motion, with the defects of real ones, and their truth.

A sheet of 0.42 x 0.594 m with 5 x 4 markers, held by its upper edge, stands still and is then shaken. It is straight
across and has unit speed along its height, so it does not stretch. White noise of 0.2 mm.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

WIDTH, HEIGHT, ROWS, COLUMNS, RATE = 0.42, 0.594, 5, 4, 120.0
LABELS = [str(i + 1) for i in range(ROWS * COLUMNS)]
NOISE = 2e-4


def motion(times: np.ndarray) -> np.ndarray:
    """(T, 20, 3) m, z up."""
    s = np.linspace(0.0, HEIGHT, 401)
    rows = np.rint(np.linspace(0, 400, ROWS)).astype(int)
    out = np.zeros((len(times), ROWS, COLUMNS, 3))
    for f, t in enumerate(times):
        go = np.clip((t - 0.2) / 0.3, 0.0, 1.0) if t > 0.2 else 0.0
        angle = 0.35 * go * np.sin(2 * np.pi * 1.2 * (t - 0.2) - 4.0 * s + 0.6) * (s / HEIGHT)
        y = np.concatenate([[0.0], np.cumsum(0.5 * (np.sin(angle[1:]) + np.sin(angle[:-1])) * np.diff(s))])
        z = np.concatenate([[0.0], np.cumsum(0.5 * (np.cos(angle[1:]) + np.cos(angle[:-1])) * np.diff(s))])
        shift = 0.08 * go * np.sin(2 * np.pi * 1.2 * (t - 0.2))
        out[f, :, :, 0] = np.linspace(-WIDTH / 2, WIDTH / 2, COLUMNS)
        out[f, :, :, 1] = (0.3 + shift + y[rows])[:, None]
        out[f, :, :, 2] = (1.6 - z[rows])[:, None]
    return out.reshape(len(times), -1, 3)


@dataclass
class Export:
    """A file to be written, and what a reader should find in it."""

    times: np.ndarray
    truth: np.ndarray  # (T, 20, 3), noiseless
    seen: np.ndarray  # (T, 20, 3), with noise, NaN where missing
    columns: list[tuple[str, np.ndarray]]  # as they stand in the file: label, (T, 3) m, z up
    labels: list[str] = field(default_factory=lambda: list(LABELS))
    units: str = "Meters"
    up: str = "z"
    unnumbered: int = 0
    parent: bool = False
    european: bool = False

    def write(self, path: Path) -> Path:
        cut, scale = (";" if self.european else ","), {"Meters": 1.0, "Centimeters": 100.0, "Millimeters": 1000.0}
        text = [
            cut.join(
                ["Format Version", "1.25" if self.parent else "1.23", "Take Name", path.stem, "Export Frame Rate",
                 "120.000000", "Length Units", self.units, "Coordinate Space", "Global"]
            ), "",
        ]  # fmt: skip
        names = [label for label, _ in self.columns]

        def row(title: str, cells: list[str]) -> str:
            return cut.join(["", "" if self.european else title, *[c for c in cells for _ in range(3)]])

        text += [row("Type", ["Marker"] * len(names)), row("Name", names), row("ID", [f"ID{n}" for n in names])]
        if self.parent:
            text.append(row("Parent", [""] * len(names)))
        text += [
            row("", ["Position"] * len(names)),
            cut.join(["Frame", "Time (Seconds)", *["X", "Y", "Z"] * len(names)]),
        ]
        for f, t in enumerate(self.times):
            cells = ["" if f < self.unnumbered else str(round(t * RATE)), f"{t:.6f}"]
            for _, x in self.columns:
                p = x[f] if self.up == "z" else np.array([x[f, 0], x[f, 2], -x[f, 1]])
                cells += ["" if np.isnan(c) else f"{c * scale[self.units]:.6f}" for c in p]
            text.append(cut.join(c.replace(".", ",") if self.european else c for c in cells))
        data = "\r\n".join(text) + "\r\n"
        path.write_bytes((b"\xef\xbb\xbf" if self.european else b"") + data.encode())
        return path


def export(kind: str, frames: int = 120, seed: int = 0) -> Export:
    """One of the eight kinds: clean, missing, relabelled, extra, gap, unnumbered, unlabelled, european."""
    random = np.random.default_rng(seed)
    times = np.arange(frames) / RATE
    truth = motion(times)
    if kind in ("gap", "unnumbered"):
        times, truth = np.concatenate([[1.2], 20.0 + times]), np.concatenate([motion(np.zeros(1)), truth])
    seen = truth + NOISE * random.standard_normal(truth.shape)
    if kind == "missing":
        seen[random.random(seen.shape[:2]) < 0.01] = np.nan
        seen[40:70, 9] = np.nan
        seen[0, 13] = np.nan
        seen[1, :] = truth[1] + NOISE
        seen[85:90, 0] = np.nan
        seen[100:, 18] = np.nan
    if kind == "gap":
        seen[1, 4] = np.nan
    if kind == "unnumbered":
        seen[0, 10:] = np.nan
        seen[1, 4] = np.nan
    columns = [(label, seen[:, j].copy()) for j, label in enumerate(LABELS)]
    made = Export(times, truth, seen, columns)
    if kind == "missing":  # a triple with one empty cell is missing as a whole
        columns[5][1][50, 1] = np.nan
        seen[50, 5] = np.nan
    if kind == "relabelled":
        made.units = "Millimeters"
        a, b = columns[6][1], columns[7][1]
        a[60:], b[60:] = b[60:].copy(), a[60:].copy()
        further = np.full((frames, 3), np.nan)
        further[80:] = columns[11][1][80:]
        columns[11][1][80:] = np.nan
        columns.append(("Unlabeled 1043", further))
    if kind == "extra":
        still = np.array([0.9, -0.4, 0.02]) + NOISE * random.standard_normal((frames, 3))
        rod = [np.array([x, 0.55, 1.0]) + 0.3 * np.sin(3 * times)[:, None] for x in (-0.3, 0.3)]
        ghost = np.full((frames, 3), np.nan)
        ghost[20:45] = seen[20:45, 2] + np.array([0.02, 0.05, -0.02])
        columns += [("21", rod[0]), ("22", rod[1]), ("Unlabeled 1100", ghost), ("Unlabeled 1200", still)]
        made.columns = [columns[i] for i in random.permutation(len(columns))]
    if kind == "unnumbered":
        made.unnumbered = 1
    if kind == "unlabelled":
        made.parent, made.up = True, "y"
        order = random.permutation(20)
        made.labels = [f"Unlabeled {1001 + int(np.flatnonzero(order == j)[0])}" for j in range(20)]
        made.columns = [(made.labels[j], columns[j][1]) for j in order]
    if kind == "european":
        made.units, made.european = "Centimeters", True
    return made


KINDS = ("clean", "missing", "relabelled", "extra", "gap", "unnumbered", "unlabelled", "european")
