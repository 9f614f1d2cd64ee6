"""Tables as pictures: colours follow values, classes have names and lines."""

from __future__ import annotations

import numpy as np
import pytest

from isocloth.pictures.matrix import table_colours, table_picture


def test_colours_brighten_with_the_value_and_unknown_is_grey():
    colours = table_colours(np.array([0.0, 0.25, 0.5, 0.75, 1.0, 2.0, np.nan]), 1.0).astype(int)
    light = colours[:6] @ [299, 587, 114]
    assert (np.diff(light)[:4] > 0).all()
    assert colours[4].tolist() == colours[5].tolist()
    assert colours[6].tolist() == [200, 200, 200]


def test_every_number_of_the_table_has_its_square():
    table = np.array([[0.0, 1.0], [0.5, 0.0]])
    picture = table_picture(table, size=200)
    square = picture[:, : picture.shape[1] - 60]
    expected = table_colours(table, 1.0)
    for i, j in ((0, 0), (0, 1), (1, 0), (1, 1)):
        y, x = 14 + 100 * i + 50, 14 + 100 * j + 50
        assert square[y, x].tolist() == expected[i, j].tolist()


def test_classes_have_names_and_lines():
    table = np.ones((6, 6))
    plain = table_picture(table, size=200)
    named = table_picture(table, groups=[("one", 2), ("another", 4)], title="distances", size=200)
    assert named.shape[1] > plain.shape[1]
    white = (named == 255).all(axis=2)
    assert white.sum(axis=1).max() > 200  # a line through the square, white on the bright
    assert not np.array_equal(named[:20], np.full_like(named[:20], 255))


def test_bad_tables_are_named():
    with pytest.raises(ValueError, match="table has shape"):
        table_picture(np.zeros((2, 3)))
    with pytest.raises(ValueError, match="groups have 3 rows"):
        table_picture(np.zeros((2, 2)), groups=[("a", 3)])
    assert table_picture(np.zeros((2, 2))).ndim == 3
