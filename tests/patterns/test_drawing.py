"""The sheet in millimetres: SVG and DXF say the same, and nothing overlaps."""

from __future__ import annotations

import re
import sys
import xml.etree.ElementTree as ET
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import isocloth as ic
from isocloth.base.errors import InputError, MissingLibraryError
from isocloth.meshes.polygons import inside, polygon_area
from isocloth.patterns import cut_open
from isocloth.patterns.drawing import LAYERS, Drawing, Label, Stroke, draw
from isocloth.patterns.flatten import flatten
from isocloth.patterns.panels import Panels
from isocloth.patterns.svg import svg, write_svg
from patterns.targets import meridian, sphere, tube, up_the_side
from patterns.test_outline import bulge

SVG = "{http://www.w3.org/2000/svg}"
CASES = {
    "cone": (tube(top=0.1), {"left": up_the_side(), "<right> & side": up_the_side(at=8)}),
    "gores": (sphere(), [meridian(at=k) for k in range(0, 12, 2)]),
    "darts": bulge(),
}


@pytest.fixture(scope="module", params=[(name, width) for name in CASES for width in (0.0, 10.0)], ids=str)
def sheet(request) -> tuple[Drawing, object, np.ndarray, float]:
    name, width = request.param
    mesh, seams = CASES[name]
    cut = cut_open(mesh, seams)
    flat = flatten(mesh, cut).points
    return draw(cut, flat, allowance=width), cut, flat, width


def test_every_panel_is_on_the_sheet_in_its_size(sheet) -> None:
    drawing, cut, flat, width = sheet
    shapes = [s for s in drawing.strokes if s.layer == ("seam" if width else "cut")]
    assert len(shapes) == cut.n_panels
    for k, shape in enumerate(shapes):
        np.testing.assert_allclose(np.ptp(shape.points, axis=0), 1e3 * np.ptp(flat[cut.panel == k], axis=0), atol=1e-6)
        if width:
            outer = [s for s in drawing.strokes if s.layer == "cut"][k]
            assert polygon_area(outer.points) > polygon_area(shape.points)
            assert inside(outer.points, shape.points).all()
    square = next(s for s in drawing.strokes if s.layer == "scale")
    np.testing.assert_allclose(np.ptp(square.points, axis=0), 100.0)
    low, high = drawing.bounds()
    assert (low > 0.0).all()
    assert (high < drawing.size).all()


def test_nothing_overlaps(sheet) -> None:
    drawing, _, _, _ = sheet
    boxes = [label.corners for label in drawing.labels]
    for k, box in enumerate(boxes):
        grid = np.stack(np.meshgrid(np.linspace(0, 1, 9), np.linspace(0, 1, 5)), axis=-1).reshape(-1, 2)
        dots = box[0] + grid @ np.stack([box[1] - box[0], box[3] - box[0]])
        for other in boxes[:k]:
            assert not inside(other, dots).any()
        for stroke in drawing.strokes:
            points = np.vstack([stroke.points, stroke.points[:1]]) if stroke.closed else stroke.points
            fine = np.concatenate([np.linspace(p, q, 60) for p, q in pairwise(points)])
            assert not inside(box, fine).any()
    cuts = [s.points for s in drawing.strokes if s.layer in ("cut", "scale")]
    for k, loop in enumerate(cuts):
        for other in cuts[:k]:
            assert not inside(loop, other).any()
            assert not inside(other, loop).any()


def test_the_svg_is_in_millimetres_with_layers(sheet, tmp_path: Path) -> None:
    drawing, cut, flat, width = sheet
    path = tmp_path / "pattern.svg"
    Panels(tube(), cut, flat).save(path, allowance=width, title="skirt <1> & \x07")
    assert [file.name for file in tmp_path.iterdir()] == ["pattern.svg"]
    root = ET.parse(path).getroot()
    assert root.find(f"{SVG}title").text == "skirt <1> & �"
    wide, high = (float(x) for x in root.get("viewBox").split()[2:])
    assert (root.get("width"), root.get("height")) == tuple(f"{x}mm" for x in root.get("viewBox").split()[2:])
    np.testing.assert_allclose([wide, high], drawing.size, atol=1e-3)
    groups = {group.get("id"): group for group in root.iter(f"{SVG}g")}
    assert tuple(groups) == LAYERS
    for layer, group in groups.items():
        strokes = [s for s in drawing.strokes if s.layer == layer]
        paths = [p.get("d") for p in group.iter(f"{SVG}path")]
        assert len(paths) == len(strokes)
        for text, stroke in zip(paths, strokes, strict=True):
            read = np.array(re.findall(r"-?[\d.]+", text), dtype=float).reshape(-1, 2)
            np.testing.assert_allclose(read * [1, -1] + [0, drawing.size[1]], stroke.points, atol=1.1e-3)
            assert text.endswith(" Z") == stroke.closed
        assert [t.text for t in group.iter(f"{SVG}text")] == [x.text for x in drawing.labels if x.layer == layer]


def test_the_dxf_says_the_same(sheet, tmp_path: Path) -> None:
    ezdxf = pytest.importorskip("ezdxf")
    drawing, cut, flat, width = sheet
    path = tmp_path / "pattern.dxf"
    Panels(tube(), cut, flat).save(path, allowance=width)
    assert [file.name for file in tmp_path.iterdir()] == ["pattern.dxf"]
    read = ezdxf.readfile(path)
    assert (read.dxfversion, read.units) == ("AC1024", 4)
    assert not read.audit().errors
    assert set(LAYERS) <= {layer.dxf.name for layer in read.layers}
    lines = list(read.modelspace().query("LWPOLYLINE"))
    assert len(lines) == len(drawing.strokes)
    for line, stroke in zip(lines, drawing.strokes, strict=True):
        np.testing.assert_allclose(np.array(line.get_points("xy")), stroke.points, atol=1e-9)
        assert (line.dxf.layer, line.closed) == (stroke.layer, stroke.closed)
    texts = list(read.modelspace().query("TEXT"))
    assert [t.dxf.text for t in texts] == [label.text for label in drawing.labels]
    np.testing.assert_allclose([list(t.dxf.align_point)[:2] for t in texts], [x.at for x in drawing.labels])


def test_panels_as_a_mesh(tmp_path: Path) -> None:
    mesh, seams = CASES["cone"]
    cut = cut_open(mesh, seams)
    flat = flatten(mesh, cut).points
    Panels(tube(), cut, flat).save(tmp_path / "panels.obj")
    text = (tmp_path / "panels.obj").read_text()
    assert text.count("\nv ") + text.startswith("v ") == len(cut.node)
    with pytest.raises(InputError, match="which has none"):
        Panels(tube(), cut, flat).save(tmp_path / "panels.obj", allowance=10.0)


def test_without_ezdxf_it_is_said(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "ezdxf", None)
    cut = cut_open(tube(), [up_the_side()])
    with pytest.raises(MissingLibraryError, match=r"isocloth\[dxf\]"):
        Panels(tube(), cut, flatten(tube(), cut).points).save(tmp_path / "pattern.dxf")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("path", "allowance", "match"), [
    ("pattern.pdf", 0.0, "pattern.pdf"), ("none/pattern.svg", 0.0, "does not exist"), ("pattern.svg", -1.0, "-1.0"),
    ("pattern.svg", "x", "allowance = 'x'"), ("pattern.svg", np.nan, "nan"), ("pattern.svg", 1e3, "from 0 to 200"),
])  # fmt: skip
def test_what_cannot_be_written_is_refused(path: str, allowance, match: str, tmp_path: Path) -> None:
    cut = cut_open(tube(), [up_the_side()])
    with pytest.raises(ic.IsoclothError, match=match):
        Panels(tube(), cut, flatten(tube(), cut).points).save(tmp_path / path, allowance=allowance)
    assert not list(tmp_path.iterdir())


def test_texts_are_escaped_and_turned() -> None:
    drawing = Drawing(
        [Stroke("cut", np.array([[0, 0], [10.0, 0]]), False)],
        [Label("labels", "<b> & \x00", np.array([3.0, 4.0]), 5.0, np.pi / 2)], np.array([20.0, 10.0]),
    )  # fmt: skip
    text = svg(drawing, "x")
    assert "&lt;b&gt; &amp; �</text>" in text
    assert 'transform="rotate(-90 3 6)"' in text
    with pytest.raises(InputError, match=r"ends in \.svg"):
        write_svg("x.pdf", drawing)
