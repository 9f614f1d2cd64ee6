"""Outlines are those of the panels, both sides of a seam match, and what is cut lies where it should."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import isocloth as ic
from isocloth.meshes.polygons import closed_reach, curve_length, inside, polygon_area
from isocloth.patterns import cut_open, shortest_path
from isocloth.patterns.allowance import with_allowance
from isocloth.patterns.flatten import flatten
from isocloth.patterns.outline import crossings, grain_line, outlines
from patterns.targets import meridian, sphere, tube, up_the_side


def pieces(mesh: ic.Mesh, seams):
    cut = cut_open(mesh, seams)
    return outlines(cut, flatten(mesh, cut).points)


def bulge():
    """A sheet with a bump and two darts towards it."""
    flat = ic.meshes.rectangle(0.4, 0.5, (9, 11), element="triangle")
    v = flat.vertices.copy()
    v[:, 2] = 0.1 * np.exp(-((v[:, 0] - 0.2) ** 2 + (v[:, 1] - 0.25) ** 2) / 0.015)
    mesh = flat.with_vertices(v)
    ends = [flat.nearest([x, y, 0.0]) for x, y in ((0.0, 0.25), (0.15, 0.25), (0.2, 0.0), (0.2, 0.2))]
    return mesh, {"left": shortest_path(mesh, *ends[:2]), "low": shortest_path(mesh, *ends[2:])}


def distance(points: np.ndarray, loops) -> np.ndarray:
    """(k,) of points from outlines, by every edge."""
    found = np.full(len(points), np.inf)
    for loop in loops:
        for p, q in zip(loop, np.roll(loop, -1, axis=0), strict=True):
            t = np.clip((points - p) @ (q - p) / ((q - p) @ (q - p)), 0.0, 1.0)
            found = np.minimum(found, np.linalg.norm(points - p - t[:, None] * (q - p), axis=1))
    return found


def test_a_tube_is_a_rectangle_with_four_sides() -> None:
    (piece,) = pieces(tube(), {"side": up_the_side()})
    around = 16 * 2 * 300.0 * np.sin(np.pi / 16)
    np.testing.assert_allclose(piece.size, [around, 500.0], atol=1e-6)
    assert piece.area == pytest.approx(around * 500.0)
    assert closed_reach(piece.loops[0])[-1] == pytest.approx(2 * (around + 500.0))
    assert sorted(side.seam + side.letter for side in piece.sides) == ["", "", "sidea", "sideb"]
    assert [crossings(piece.loops), len(piece.loops)] == [0, 1]
    x, y = piece.grain.T
    assert x[0] == x[1]
    assert y[1] - y[0] == pytest.approx(350.0)
    assert abs(x[0] - 0.5 * around) < 0.05 * around


@pytest.mark.parametrize("case", ["cone", "gores", "darts"])
def test_both_sides_of_a_seam_have_the_same_notches(case: str) -> None:
    if case == "cone":
        found = pieces(tube(top=0.1), [up_the_side(), up_the_side(at=7)])
    elif case == "gores":
        found = pieces(sphere(), [meridian(at=k) for k in range(0, 12, 3)])
    else:
        found = pieces(*bulge())
    sides = {(s.seam, s.letter): (p, s) for p in found for s in p.sides if s.seam}
    names = {name for name, _ in sides}
    assert len(sides) == 2 * len(names) > 0
    for name in names:
        (left, a), (right, b) = sides[name, "a"], sides[name, "b"]
        assert (a.other, b.other) == (right.number, left.number)
        assert [n.marks for n in a.notches] == [n.marks for n in b.notches]
        assert [n.marks for n in a.notches] == ([1] if case == "darts" else [1, 1, 2])
        for k, (m, n) in enumerate(zip(a.notches, b.notches, strict=True)):
            part = [0.5] if case == "darts" else [0.25, 0.5, 0.75]
            # as far along one side as along the other, whose points run the other way
            for side, notch, far in ((a, m, part[k]), (b, n, 1.0 - part[k])):
                assert distance(notch.at[None], [np.concatenate([side.points, side.points[-2:0:-1]])])[0] < 1e-6
                gone = [curve_length(np.vstack([side.points[: i + 1], notch.at])) for i in range(len(side.points))]
                straight = np.linalg.norm(side.points - notch.at, axis=1)
                i = int(np.argmin([g + s for g, s in zip(gone, straight, strict=True)]))
                assert min(abs(g / curve_length(side.points) - far) for g in gone[max(0, i - 1) : i + 2]) < 0.05
            for piece, notch in ((left, m), (right, n)):
                probe = notch.at + np.array([[1.0], [-1.0]]) * notch.outward
                within = sum(inside(loop, probe).astype(int) for loop in piece.loops) % 2
                assert within.tolist() == [0, 1]


def test_darts_end_in_the_panel() -> None:
    (piece,) = pieces(*bulge())
    assert len(piece.loops) == 1
    by_name = {(s.seam, s.letter): s.points for s in piece.sides}
    for name in ("left", "low"):
        a, b = by_name[name, "a"], by_name[name, "b"]
        np.testing.assert_array_equal(a[-1], b[0])
        assert np.linalg.norm(a[0] - b[-1]) > 10.0
    assert len(piece.sides) == 10  # four borders, two of them in two, and four sides of darts


def test_a_ring_has_a_hole() -> None:
    mesh = ic.meshes.ring(0.1, 0.5, (4, 40), element="triangle")
    (piece,) = pieces(mesh, [])
    outer, hole = piece.loops
    assert polygon_area(outer) > -polygon_area(hole) > 0.0
    wide = with_allowance(piece.loops, 20.0)
    np.testing.assert_allclose(np.ptp(wide[1], axis=0), 160.0, rtol=0.01)
    assert len(with_allowance(piece.loops, 120.0)) == 1  # the hole is filled


def test_the_grain_is_inside_of_a_panel_that_is_bent() -> None:
    bow = np.array([[0, 0], [100, 0], [100, 200], [80, 200], [80, 30], [20, 30], [20, 200], [0, 200.0]])
    line = grain_line((bow,))
    assert inside(bow, np.linspace(line[0], line[1], 9)).all()
    assert line[1, 1] - line[0, 1] > 100.0


def test_crossings_are_counted() -> None:
    eight = np.array([[0, 0], [1, 1], [1, 0], [0, 1.0]])
    assert crossings((eight,)) == 1
    assert crossings((eight[[0, 2, 1, 3]],)) == 0


def test_an_allowance_of_a_square_and_of_a_cross() -> None:
    square = 100.0 * np.array([[0, 0], [1, 0], [1, 1], [0, 1.0]])
    (wide,) = with_allowance((square,), 10.0)
    assert polygon_area(wide) == pytest.approx(120.0**2)
    assert with_allowance((square,), 0.0)[0] is square
    narrow = np.array([[0, 0], [100, 0], [100, 100], [54, 100], [50, 20], [46, 100], [0, 100.0]])
    (filled,) = with_allowance((narrow,), 10.0)  # the slit closes
    assert polygon_area(filled) == pytest.approx(120.0**2)


@given(st.integers(5, 40), st.integers(0, 10**6), st.floats(0.5, 30.0))
@settings(max_examples=60, deadline=None)
def test_an_allowance_holds_what_is_near_and_nothing_far(count: int, seed: int, width: float) -> None:
    rng = np.random.default_rng(seed)
    angle = 2 * np.pi * (np.arange(count) + rng.uniform(0.1, 0.9, count)) / count
    star = rng.uniform(20.0, 100.0, count)[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    if polygon_area(star) < 0 or crossings((star,)):
        return
    wide = with_allowance((star,), width)
    points = rng.uniform(-150.0, 150.0, (400, 2))
    within = sum(inside(loop, points).astype(int) for loop in wide) % 2 == 1
    near = inside(star, points) | (distance(points, [star]) < width * (1 - 1e-3))
    assert within[near].all()
    # a corner that is not rounded is as far away as 1 / cos of half its turn
    far = ~inside(star, points) & (distance(points, [star]) > width / np.cos(np.deg2rad(50.0)) * (1 + 1e-3))
    assert not within[far].any()
    assert crossings(wide) == 0
    assert polygon_area(wide[0]) > polygon_area(star)
