"""Seams are read from files, and found as shortest paths."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import isocloth as ic
from isocloth.base.errors import InputError, InputTypeError
from isocloth.patterns import load_seams, shortest_path
from isocloth.patterns.seams import default_names
from patterns.targets import tube

TUBE = tube(8, 4)


def written(tmp_path: Path, data) -> Path:
    path = tmp_path / "seams.json"
    path.write_text(data if isinstance(data, str) else json.dumps(data), encoding="utf-8")
    return path


@pytest.mark.parametrize(("seams", "expected"), [
    ({"side": [0, 1, 2]}, {"side": [0, 1, 2]}),
    ({"side": {"from": 0, "to": 4}}, {"side": [0, 1, 2, 3, 4]}),
    ([[0, 1], {"from": 5, "to": 7}], {"A": [0, 1], "B": [5, 6, 7]}),
    ([{"through": [1, 3, 2]}, {"name": "A", "nodes": [5, 6]}], {"B": [1, 2, 3, 2], "A": [5, 6]}),
    ([], {}),
])  # fmt: skip
def test_a_file_names_paths(tmp_path: Path, seams, expected) -> None:
    if any(len(nodes) != len(set(nodes)) for nodes in expected.values()):
        with pytest.raises(InputError, match="twice"):
            load_seams(written(tmp_path, {"seams": seams}), TUBE)
        return
    found = load_seams(written(tmp_path, {"seams": seams}), TUBE)
    assert {name: nodes.tolist() for name, nodes in found.items()} == expected


@pytest.mark.parametrize(("data", "match"), [
    ("{", "cannot be read"), ("[1]", "nothing else"), ({"seam": []}, "nothing else"), ({"seams": 3}, "seams are 3"),
    ({"seams": [3]}, "seam 'A' is 3"), ({"seams": [{"from": 0}]}, '"from": a, "to": b'),
    ({"seams": [{"from": 0, "to": 99}]}, "node 99"), ({"seams": [{"from": 0, "to": 0}]}, "to itself"),
    ({"seams": [{"from": 0.5, "to": 1}]}, "0.5 is no number"), ({"seams": [{"through": [1]}]}, "at least two"),
    ({"seams": [{"name": "x", "nodes": [0, 1]}, {"name": "x", "nodes": [1, 2]}]}, "names one seam"),
    ('{"seams": {"a": [0, 1], "a": [1, 2]}}', "'a' stands there twice"), ({"seams": {"a": [0, 2]}}, "no edge"),
    ({"seams": [{"name": 3, "nodes": [0, 1]}]}, "name 3"),
])  # fmt: skip
def test_a_bad_file_is_refused(tmp_path: Path, data, match: str) -> None:
    with pytest.raises((InputError, InputTypeError), match=match) as raised:
        load_seams(written(tmp_path, data), TUBE)
    assert "seams.json" in str(raised.value)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ic.IsoclothError, match="does not exist"):
        load_seams(tmp_path / "none.json", TUBE)


def test_the_shortest_path_is_the_shortest() -> None:
    path = shortest_path(TUBE, 2, 3 * 5 + 2)
    assert path.tolist() == [2, 7, 12, 17]
    back = shortest_path(TUBE, 17, 2)
    assert back[0] == 17
    assert back[-1] == 2
    two = ic.meshes.together([TUBE, TUBE.transformed(translation=[1.0, 0.0, 0.0])])
    with pytest.raises(InputError, match="separate pieces"):
        shortest_path(two, 0, TUBE.n_vertices)
    with pytest.raises(InputError, match="node 40 does not exist"):
        shortest_path(TUBE, 0, 40)


def test_the_shortest_path_keeps_off_the_border() -> None:
    sheet = ic.meshes.rectangle(0.3, 0.2, (4, 3), element="triangle")
    a, b = sheet.nearest([[0.0, 0.0, 0.0], [0.2, 0.0, 0.0]])
    path = shortest_path(sheet, int(a), int(b))
    sides = np.sort(np.stack([path[:-1], path[1:]], axis=1), axis=1)
    border = {tuple(edge) for edge in sheet.edges[sheet.edge_faces[:, 1] < 0].tolist()}
    assert not border & {tuple(edge) for edge in sides.tolist()}
    single = ic.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
    with pytest.raises(InputError, match="all ways run along the border"):
        shortest_path(single, 0, 1)


def test_default_names_go_on_after_the_alphabet() -> None:
    names = default_names(30)
    assert names[:2] == ["A", "B"]
    assert names[25:28] == ["Z", "AA", "AB"]
    assert len(np.unique(names)) == 30
