"""Following markers through lost, exchanged and new labels.

Motive gives a marker that it loses a new label, and now and then exchanges two. Here each marker of the cloth is
followed in time: a column that jumps away from where its marker must be is taken from it, and given to the marker that
must be there. Where a marker must be is known from its last sighting and from how its neighbours have moved since.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from isocloth.base.typing import FloatArray, IntArray

#: a column that is farther from where its marker must be than this many spacings has changed its marker
GATE = 0.35
#: an edge between neighbours longer than this, relative to the flat cloth, shows a false point
TORN = 1.3


class Tracks(NamedTuple):
    """The markers of a cloth, followed."""

    positions: FloatArray  # (T, k, 3) m
    used: frozenset[int]  # columns that a marker was found in
    notes: list[str]


def follow(
    times: FloatArray, columns: FloatArray, names: list[str], first: int, chosen: IntArray, spacing: float
) -> Tracks:
    """Follow the markers that columns `chosen` (k,) hold in frame `first` through all columns (T, c, 3)."""
    forward = _pass(times, columns, np.arange(first, len(times)), chosen, spacing)
    backward = _pass(times, columns, np.arange(first, -1, -1), chosen, spacing)
    source = np.full((len(times), len(chosen)), -1, dtype=np.int64)
    source[first:] = forward
    source[: first + 1] = backward[::-1]
    found = np.full((len(times), len(chosen), 3), np.nan)
    t, j = np.nonzero(source >= 0)
    found[t, j] = columns[t, source[t, j]]
    return Tracks(
        found, frozenset(int(c) for c in np.unique(source[source >= 0])), _story(times, names, source, chosen)
    )


def _pass(times: FloatArray, columns: FloatArray, frames: IntArray, chosen: IntArray, spacing: float) -> IntArray:
    """(len(frames), k) column of every marker in every frame, -1 where it is not seen."""
    k = len(chosen)
    seen_columns = np.isfinite(columns[:, :, 0])
    owner = {int(c): j for j, c in enumerate(chosen)}  # column -> marker
    last = columns[frames[0], chosen].copy()
    speed = np.zeros_like(last)
    when = np.full(k, times[frames[0]])
    start = last.copy()  # for the distances between markers
    near = np.argsort(np.linalg.norm(start[:, None] - start[None], axis=2), axis=1)[:, 1:5]
    around = start[near]  # (k, 4, 3) neighbours of every marker when it was last seen
    out = np.full((len(frames), k), -1, dtype=np.int64)
    out[0] = chosen
    gate = GATE * spacing
    for n, f in enumerate(frames[1:], 1):
        now = times[f]
        visible = np.flatnonzero(seen_columns[f])
        # where each marker must be: on along its path for a moment, then along with its neighbours
        held = {j: c for c, j in owner.items() if seen_columns[f, c]}
        recent = np.abs(now - when) < 0.05
        guess = last + np.where(recent, now - when, 0.0)[:, None] * speed
        taken = {j: c for j, c in held.items() if np.linalg.norm(columns[f, c] - guess[j]) <= gate or not recent[j]}
        lost = [j for j in range(k) if j not in taken]
        spare = [int(c) for c in visible if int(c) not in taken.values()]
        if lost and spare:
            for j in lost:
                beside = [(a, m) for a, m in enumerate(near[j]) if m in taken]
                if not recent[j] and beside:
                    guess[j] = last[j] + np.mean([columns[f, taken[m]] - around[j, a] for a, m in beside], axis=0)
            cost = np.linalg.norm(guess[lost][:, None] - columns[f, spare][None], axis=2)
            for a, b in zip(*linear_sum_assignment(cost), strict=True):
                j, c = lost[a], spare[b]
                own = owner.get(c) == j
                if cost[a, b] <= gate and (own or recent[j] or _fits(c, j, columns[f], taken, near, start)):
                    taken[j] = c
        for j, c in taken.items():
            if owner.get(c) != j:
                for other in [x for x, m in owner.items() if m == j]:
                    del owner[other]
                owner[c] = j
            step = now - when[j]
            if abs(step) < 0.05 and step != 0.0:
                speed[j] = (columns[f, c] - last[j]) / step
            else:
                speed[j] = 0.0
            last[j], when[j] = columns[f, c], now
            out[n, j] = c
        now_seen = list(taken)
        around[now_seen] = last[near[now_seen]]
    return out


def _fits(
    column: int, marker: int, frame: FloatArray, taken: dict[int, int], near: IntArray, start: FloatArray
) -> bool:
    """Whether a point is where the cloth lets this marker be: no farther from its neighbours than when flat."""
    beside = [m for m in near[marker] if m in taken]
    if not beside:
        return False
    ratio = [np.linalg.norm(frame[column] - frame[taken[m]]) / np.linalg.norm(start[marker] - start[m]) for m in beside]
    return bool(np.median(ratio) < TORN)


def _story(times: FloatArray, names: list[str], source: IntArray, chosen: IntArray) -> list[str]:
    """What was relabelled, in words."""
    notes = []
    for j, own in enumerate(chosen):
        seen = source[:, j][source[:, j] >= 0]
        frames = np.flatnonzero(source[:, j] >= 0)
        for a in np.flatnonzero(np.diff(seen)):
            f = int(frames[a + 1])
            notes.append(f"marker {names[own]!r} goes on as {names[int(seen[a + 1])]!r} from {times[f]:.3f} s on")
    return notes


def without_torn(positions: FloatArray, edges: IntArray, lengths: FloatArray) -> tuple[FloatArray, int]:
    """Points that are too far from most of their neighbours become missing; how many there were.

    positions (T, k, 3) m, edges (e, 2) between neighbours, lengths (e,) m on the flat cloth.
    """
    a, b = edges.T
    long = np.linalg.norm(positions[:, a] - positions[:, b], axis=2) > TORN * lengths
    known = np.isfinite(positions[:, a, 0]) & np.isfinite(positions[:, b, 0])
    k = positions.shape[1]
    ends = np.zeros((len(edges), k))  # which markers an edge ends at
    ends[np.arange(len(edges)), a] = 1.0
    ends[np.arange(len(edges)), b] = 1.0
    bad, whole = (long & known) @ ends, known @ ends
    wrong = (whole >= 2) & (bad > 0.5 * whole)
    out = positions.copy()
    out[wrong] = np.nan
    return out, int(wrong.sum())
