"""The page: self-contained, and its data decode to the trajectory."""

from __future__ import annotations

import base64
import html
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cloths import grid, waving

from isocloth.pictures import render
from isocloth.pictures.edges import vertex_strain
from isocloth.pictures.page import chart, chosen_frames, page
from isocloth.trajectory import Trajectory


def embedded(text: str) -> dict[str, Any]:
    found = re.search(r'<script id="data" type="application/json">(.*?)</script>', text, re.DOTALL)
    assert found
    return json.loads(found.group(1))


def decode(text: str, dtype: str) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), dtype=dtype)


def test_positions_decode_within_their_rounding() -> None:
    trajectory = waving()
    data = embedded(page(trajectory))
    low, high = np.array(data["low"]), np.array(data["high"])
    shape = (data["frames"], data["vertices"], 3)
    positions = low + decode(data["positions"], "<u2").reshape(shape) / 65535 * (high - low)
    error = np.abs(positions - trajectory.positions).reshape(-1, 3).max(axis=0)
    assert (error <= 0.5001 * (high - low) / 65535).all()
    np.testing.assert_array_equal(data["times"], trajectory.times)


def test_strain_faces_and_certificates_decode() -> None:
    trajectory = waving()
    data = embedded(page(trajectory, colour="strain", wireframe=False))
    strain = decode(data["strain"], "i1").reshape(data["frames"], -1) / 127 * data["strainLimit"]
    exact = vertex_strain(trajectory.positions, trajectory.rest, trajectory.faces)
    limit = data["strainLimit"]
    np.testing.assert_allclose(strain, np.clip(exact, -limit, limit), atol=0.51 * limit / 127)
    np.testing.assert_array_equal(decode(data["triangles"], "<u4").reshape(-1, 3), trajectory.triangles)
    lines = len(decode(data["inner"], "<u4")) // 2 + len(decode(data["border"], "<u4")) // 2
    assert lines == 2 * 9 * 8  # no diagonals
    assert data["reports"]["isometry_error"][0] is None  # NaN
    np.testing.assert_allclose(data["reports"]["isometry_error"][1:], trajectory.reports["isometry_error"][1:])
    assert data["reports"]["iterations"] == list(range(11))
    assert data["reports"]["converged"] == [True] * 11
    assert (data["colour"], data["wireframe"]) == ("strain", False)


def test_the_page_asks_nothing_from_elsewhere(tmp_path: Path) -> None:
    path = tmp_path / "cloth.html"
    render(waving(), path, title="Cloth </script><b> & co")
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"https?:|//[a-z]+\.[a-z]|\bimport\b|\bfetch\(|@import|url\(", re.sub(r"\s//.*", "", text))
    assert not re.search(r"<(link|img|iframe|script[^>]*\bsrc)\b", text)
    assert "@DATA@" not in text
    assert "<title>Cloth &lt;/script&gt;&lt;b&gt; &amp; co</title>" in text
    assert embedded(text)["title"] == "Cloth </script><b> & co"
    assert text.count("</script>") == 2
    assert "WebGL 2" in text


def test_obstacles_travel_with_the_page() -> None:
    vertices, faces = grid(3)
    trajectory = waving()
    moves = vertices + np.linspace(0, 1, len(trajectory))[:, None, None]
    data = embedded(page(trajectory, obstacles=[(vertices, faces), (moves, faces), (vertices + 1, faces)]))
    still = decode(data["obstacleVertices"], "<f4").reshape(-1, 3)
    np.testing.assert_allclose(still, np.concatenate([vertices, vertices + 1]), rtol=1e-6)
    low, high = np.array(data["movingLow"]), np.array(data["movingHigh"])
    moving = low + decode(data["moving"], "<u2").reshape(data["frames"], -1, 3) / 65535 * (high - low)
    np.testing.assert_allclose(moving, moves, atol=0.51 * (high - low).max() / 65535)
    triangles = decode(data["obstacleTriangles"], "<u4").reshape(-1, 3)
    assert len(triangles) == 24
    # what is drawn at the last frame, put together as the page does
    corners = np.concatenate([still, moving[-1]])[decode(data["obstacleCorners"], "<u4")][triangles]
    split = faces[:, [0, 1, 2, 0, 2, 3]].reshape(-1, 3)
    wanted = np.concatenate([vertices[split], moves[-1][split], (vertices + 1)[split]])
    np.testing.assert_allclose(corners, wanted, atol=1e-4)


def test_a_page_without_obstacles_has_none() -> None:
    data = embedded(page(waving()))
    assert {data[key] for key in ("obstacleVertices", "obstacleCorners", "obstacleTriangles", "moving")} == {""}
    assert not data["scene"]["solid"]


def test_long_recordings_are_thinned_out() -> None:
    rest, faces = grid(3)
    count = 1500
    trajectory = Trajectory(
        times=np.arange(count) / 100,
        positions=np.repeat(rest[None], count, axis=0),
        faces=faces,
        rest=rest,
        reports={"isometry_error": np.where(np.arange(count) == 777, 1.0, 0.1)},
    )
    frames = chosen_frames(trajectory)
    assert (len(frames), frames[0], frames[-1]) == (301, 0, count - 1)
    np.testing.assert_array_equal(chosen_frames(trajectory, every=500), [0, 500, 1000])
    with pytest.raises(ValueError, match="every must be 1 or more"):
        chosen_frames(trajectory, every=0)
    # A peak between the frames that are shown is still in the chart.
    plotted = chart(trajectory)
    assert plotted is not None
    assert max(plotted["values"]) == 1.0


def test_large_meshes_keep_the_page_small() -> None:
    rest, faces = grid(120)
    trajectory = Trajectory(times=np.arange(90.0), positions=np.repeat(rest[None], 90, axis=0), faces=faces, rest=rest)
    assert len(page(trajectory)) < 10_000_000


def test_one_frame_without_certificates_is_enough() -> None:
    rest, faces = grid(3)
    data = embedded(page(Trajectory(times=[0.0], positions=rest[None], faces=faces, rest=rest)))
    assert data["frames"] == 1
    assert data["chart"] is None


@pytest.mark.parametrize("title", ["<!--<script>", "</script>", "@DATA@", "a & b", "@TITLE@"])
def test_no_title_breaks_the_page(title: str) -> None:
    text = page(waving(), title=title)
    start = text.index('<script id="data" type="application/json">') + len('<script id="data" type="application/json">')
    data = text[start : text.index("</script>", start)]
    assert "<" not in data
    assert json.loads(data)["title"] == title
    assert f"<title>{html.escape(title)}</title>" in text
    assert text.count("</script>") == page(waving(), title="x").count("</script>")
