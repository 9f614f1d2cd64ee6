"""The page of a pattern shows what was found, and needs nothing else."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import isocloth as ic
from isocloth.patterns import cut_open
from isocloth.patterns.flatten import flatten
from isocloth.patterns.report import SEAMS, save_report, stretch_by_point, with_seams
from patterns.targets import tube, up_the_side

MESH = tube(12, 5, top=0.1)
SEAMS_OF = {"left": up_the_side(5), "right": up_the_side(5, at=6)}


@pytest.fixture(scope="module")
def found() -> SimpleNamespace:
    cut = cut_open(MESH, SEAMS_OF)
    positions = MESH.vertices * [1.0, 1.0, 1.02]
    return SimpleNamespace(
        target=MESH, cut=cut, flat=flatten(MESH, cut).points, positions=positions, problem="far <off>",
        distances=np.linalg.norm(positions - MESH.vertices, axis=1), obstacles=[ic.Sphere((0, 0, 1), 0.1)],
        lines=lambda: [("density", "0.2 +- 0.01 kg/m^2"), ("a <name>", "& a value")],
    )  # fmt: skip


@pytest.fixture(scope="module")
def page(found, tmp_path_factory) -> str:
    path = tmp_path_factory.mktemp("report") / "page.html"
    save_report(found, path, "a <skirt>")
    assert [file.name for file in path.parent.iterdir()] == ["page.html"]
    return path.read_text(encoding="utf-8")


def data(page: str) -> dict:
    return json.loads(re.search(r'<script id="data" type="application/json">(.*?)</script>', page, re.DOTALL)[1])


def points(panel: dict) -> np.ndarray:
    packed = np.frombuffer(base64.b64decode(panel["positions"]), dtype="<u2").reshape(-1, 3)
    return np.array(panel["low"]) + packed / 65535.0 * (np.array(panel["high"]) - panel["low"])


def test_the_page_needs_nothing_else(page: str) -> None:
    assert not re.search(r"(src|href)=.(?!data:)|https?://|url\(|@import|fetch\(", page)
    for text in ("a &lt;skirt&gt;", "far &lt;off&gt;", "a &lt;name&gt;", "&amp; a value", "0.2 +- 0.01 kg/m^2"):
        assert text in page


def test_the_shapes_are_those_that_were_found(page: str, found) -> None:
    shown = data(page)["panels"]
    assert len(shown) == 3
    size = np.ptp(MESH.vertices, axis=0).max()
    np.testing.assert_allclose(points(shown[0])[: MESH.n_vertices], MESH.vertices, atol=2e-5 * size)
    np.testing.assert_allclose(points(shown[2]), found.positions, atol=2e-5 * size)
    flat = points(shown[1])
    ratio = np.linalg.norm(np.diff(flat, axis=0), axis=1) / np.linalg.norm(np.diff(found.flat, axis=0), axis=1)
    np.testing.assert_allclose(ratio, ratio.mean(), rtol=1e-2)  # the same but for its size
    assert ratio.mean() <= 1.0
    assert f"{1e3 * found.distances.max():.3g} mm at most" in shown[2]["name"]
    assert len(base64.b64decode(data(page)["bodyVertices"])) > 0


def test_the_sheet_is_in_the_page(page: str) -> None:
    assert page.count("<svg") == 1
    assert "left a to " in page
    assert "right b to " in page


def test_seams_are_bars_along_their_edges(found) -> None:
    positions, faces, colours = with_seams(MESH, found.cut)
    bars = positions[0][MESH.n_vertices :].reshape(-1, 8, 3)
    assert len(bars) == len(found.cut.pairs) == 10
    edges = np.concatenate([np.stack([s.nodes[:-1], s.nodes[1:]], axis=1) for s in found.cut.seams])
    np.testing.assert_allclose(bars[:, :4].mean(axis=1), MESH.vertices[edges[:, 0]], atol=1e-12)
    np.testing.assert_allclose(bars[:, 4:].mean(axis=1), MESH.vertices[edges[:, 1]], atol=1e-12)
    assert faces.max() == len(positions[0]) - 1
    assert len(colours) == len(positions[0])
    np.testing.assert_array_equal(np.unique(colours[MESH.n_vertices :], axis=0), np.unique(SEAMS[:2], axis=0))


def test_stretch_is_of_the_edges_at_a_point(found) -> None:
    np.testing.assert_allclose(stretch_by_point(found.cut, found.flat, MESH.vertices), 0.0, atol=1e-9)
    np.testing.assert_allclose(stretch_by_point(found.cut, found.flat, 1.1 * MESH.vertices), 0.1, atol=1e-9)


@pytest.mark.parametrize(("path", "title", "match"), [
    ("page.pdf", "x", r"page\.pdf"), ("none/page.html", "x", "does not exist"), ("page.html", 3, "title = 3"),
])  # fmt: skip
def test_a_page_that_cannot_be_written_is_refused(found, path: str, title, match: str, tmp_path: Path) -> None:
    with pytest.raises(ic.IsoclothError, match=match):
        save_report(found, tmp_path / path, title)
    assert not list(tmp_path.iterdir())
