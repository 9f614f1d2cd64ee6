"""The page and the lines of an inversion say what was found, and the forces in it are those of the result."""

import base64
import json
import re
from pathlib import Path

import numpy as np
import pytest
from small_targets import bowl, strip

import isocloth as ic
from isocloth.inverse.report import cone_picture, lines, stretch_by_node

PAPER = ic.models.DiscreteShell(stretch=50.0, bending=5e-3)


@pytest.fixture(scope="module")
def worn():
    target, ball, fabric = bowl()
    return ic.invert(target, fabric, model=ic.models.DiscreteShell(stretch=5.0, bending=1e-3), obstacles=[ball])


@pytest.fixture(scope="module")
def page(worn, tmp_path_factory) -> str:
    path = tmp_path_factory.mktemp("report") / "page.html"
    worn.report(path, title="a <cap>", seconds=0.05)
    assert {file.name for file in path.parent.iterdir()} == {"page.html"}
    return path.read_text(encoding="utf-8")


def data(page: str) -> dict:
    return json.loads(re.search(r'<script id="data" type="application/json">(.*?)</script>', page, re.DOTALL)[1])


def test_the_page_needs_nothing_else(page: str) -> None:
    assert not re.search(r"(src|href)=.(?!data:)|https?://|url\(|@import|fetch\(", page)
    assert "a &lt;cap&gt;" in page
    assert "@" not in re.sub(r"@media", "", re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL))


def test_the_page_shows_the_numbers(page: str, worn) -> None:
    for name, value in lines(worn):
        assert f"<th>{name}</th>" in page
        assert value.replace("<", "&lt;") in page
    assert "yes: a stable equilibrium" in page


def test_the_four_shapes_are_those_of_the_result(page: str, worn) -> None:
    found = data(page)
    target, naive, designed, rest = found["panels"]
    assert found["times"] == pytest.approx(np.arange(6) * 0.01)
    assert [p["frames"] for p in (target, naive, designed, rest)] == [1, 6, 6, 1]

    def points(panel: dict) -> np.ndarray:
        packed = np.frombuffer(base64.b64decode(panel["positions"]), dtype="<u2").reshape(panel["frames"], -1, 3)
        return np.array(panel["low"]) + packed / 65535.0 * (np.array(panel["high"]) - panel["low"])

    size = np.ptp(worn.target.vertices, axis=0).max()
    np.testing.assert_allclose(points(target)[0], worn.target.vertices, atol=2e-5 * size)
    np.testing.assert_allclose(points(rest)[0], worn.rest.vertices, atol=2e-5 * size)
    moved = [np.abs(points(panel)[-1] - worn.target.vertices).max() for panel in (naive, designed)]
    assert moved[1] < 0.1 * moved[0]
    assert "colours" in rest
    assert len(base64.b64decode(target["arrowVertices"])) == 4 * 3 * 13 * len(worn.pushes.places)


def test_pushes_carry_the_weight_in_force_and_torque(worn) -> None:
    pushes = worn.pushes
    assert not pushes.by_hand.any()
    weight = 9.81 * 0.3 * worn.rest.area
    np.testing.assert_allclose(pushes.forces.sum(axis=0), [0, 0, weight], atol=1e-9 * weight)
    torque = np.cross(pushes.places, pushes.forces).sum(axis=0)
    assert np.abs(torque).max() < 1e-8 * weight
    assert pushes.used.max() <= 0.975 + 1e-9
    # by hand: normal and tangential part of each
    for place, normal, force, used in zip(pushes.places, pushes.normals, pushes.forces, pushes.used, strict=True):
        np.testing.assert_allclose(normal, place / np.linalg.norm(place), atol=1e-6)
        press = force @ normal
        assert used == pytest.approx(np.linalg.norm(force - press * normal) / (0.6 * press))


def test_the_stretch_of_nodes_is_that_of_their_edges() -> None:
    target, _ = strip()
    np.testing.assert_allclose(stretch_by_node(target, np.full(len(target.edges), 0.25)), 0.25)
    one = np.zeros(len(target.edges))
    one[0] = 1.0
    i, j = target.edges[0]
    by_node = stretch_by_node(target, one)
    assert by_node[i] == pytest.approx(1.0 / (target.edges == i).any(axis=1).sum())
    assert np.flatnonzero(by_node).tolist() == sorted([i, j])


def test_hands_have_no_cone_and_lines_say_what_is_wrong(tmp_path: Path) -> None:
    target, edge = strip(wave=0.04)
    found = ic.invert(
        target, ic.Fabric(density=1.0), model=ic.models.DiscreteShell(stretch=6.0, bending=1e-3), held=edge
    )
    assert not found.reached
    assert found.pushes.by_hand.all()
    assert np.all(found.pushes.used == 0.0)
    assert cone_picture(found.pushes, 0.8) is None
    said = dict(lines(found))
    assert said["reached"] == "no"
    assert said["load reached"].startswith(f"{found.load_reached:.3g} of")
    found.report(tmp_path / "page.html", seconds=0.02)
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "too soft" in page
    assert "cones of friction</h2>" not in page


@pytest.mark.parametrize(("path", "options", "match"), [
    ("page.pdf", {}, "page.pdf"), ("none/page.html", {}, "does not exist"), (3, {}, "report is 3"),
    ("page.html", {"seconds": 0.0}, "seconds = 0.0"), ("page.html", {"seconds": "x"}, "seconds = 'x'"),
    ("page.html", {"seconds": float("nan")}, "seconds = nan"), ("page.html", {"title": 3}, "title = 3"),
])  # fmt: skip
def test_a_page_that_cannot_be_written_is_refused(worn, path, options, match: str, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ic.IsoclothError, match=match):
        worn.report(path, **options)
    assert not list(tmp_path.iterdir())
