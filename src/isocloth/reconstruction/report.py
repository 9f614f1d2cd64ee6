"""A page that shows every stage of a reconstruction; one file, nothing else needed."""

from __future__ import annotations

import base64
import html
import io
import os

import numpy as np
from PIL import Image

from isocloth.base.files import atomic_path
from isocloth.meshes.geometry import corner_angles
from isocloth.reconstruction import draw
from isocloth.reconstruction.morse.levels import level_counts, regular_levels
from isocloth.reconstruction.reconstruct import Reconstruction

STYLE = """
body { font: 16px/1.5 sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em; color: #222; }
table { border-collapse: collapse; } td, th { padding: 0.15em 0.9em 0.15em 0; text-align: left; vertical-align: top; }
th { white-space: nowrap; }
img { max-width: 100%; border: 1px solid #ddd; } .doubt { color: #a03010; }
"""


def lines(found: Reconstruction) -> list[tuple[str, str]]:
    """What was found, as names and values."""
    h = found.homology
    counts = ", ".join(f"{n} x {kind}" for kind, n in sorted(found.critical_counts.items()))
    cells = found.cell_complex
    rows = [
        ("points", f"{len(found.points)} of {len(found.given)} on the surface"),
        ("spacing", f"{_length(found.spacing)}; area {found.surface.area:.6g} m^2"),
        ("surface", found.description),
        ("components", str(found.components)),
        ("Euler characteristic", str(found.euler_characteristic)),
        ("boundary curves", str(len(found.boundary_curves))),
        ("orientable", "yes" if found.orientable else "no"),
        ("homology", str(h)),
        ("cells", f"{len(found.cells)}: {len(cells.zero)} + {len(cells.one)} + {len(cells.two)}"),
        ("critical points", counts),
        ("direction", " ".join(f"{x:.4f}" for x in found.direction)),
        ("features from", _length(found.detail)),
    ]
    if found.points.shape[1] == 3 and found.components == 1 and found.orientable:
        mesh, away = found.mesh, found.distance_to_points
        smallest = np.degrees(corner_angles(mesh.vertices, mesh.faces).min())
        rows += [
            ("mesh", f"{mesh.n_vertices} nodes, {mesh.n_faces} {mesh.element}s; smallest angle {smallest:.0f} degrees"),
            (
                "distance to points",
                f"mean {_length(float(away.mean()))}, rms {_length(float(np.sqrt((away**2).mean())))}, "
                f"largest {_length(float(away.max()))}",
            ),
        ]
    if found.sure:
        rows.append(("sure", "yes: nothing speaks against it"))
    else:
        rows.append(
            ("sure", f"no; {100 * found.certainty:.0f} % of random selections of the points give the same surface")
        )
        rows += [("doubt", str(doubt)) for doubt in found.doubts]
    return rows


def save_report(found: Reconstruction, path: str | os.PathLike[str], title: str = "Reconstruction") -> None:
    """Write the page."""
    with atomic_path(path) as temporary:
        temporary.write_text(page(found, title), encoding="utf-8")


def page(found: Reconstruction, title: str) -> str:
    """The text of the page."""
    parts = [
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{html.escape(title)}</title>',
        f"<style>{STYLE}</style><h1>{html.escape(title)}</h1><table>",
    ]
    for name, value in lines(found):
        css = ' class="doubt"' if name == "doubt" else ""
        parts.append(f"<tr{css}><th>{html.escape(name)}</th><td>{html.escape(value)}</td></tr>")
    parts.append("</table>")
    parts.append(_figure(draw.points_picture(found), "Points: boundary black, not used red."))
    legend = (
        "2-cells in colours, 1-cells blue, boundary black. Maxima red, saddles blue, minima black; rings are hidden."
    )
    parts.append(_figure(draw.cells_picture(found), legend))
    parts.append(_figure(draw.levels_picture(found), "Level sets: closed curves blue, open ones orange."))
    parts.append(_level_table(found))
    parts += [
        _figure(draw.chart_picture(found.chart(k)), f"2-cell {k} laid out flat: {_word(found, k)}")
        for k in range(min(len(found.cell_complex.two), 4))
    ]
    if found.points.shape[1] == 3 and found.components == 1 and found.orientable:
        if found.meshing == "charts":
            picture = draw.mesh_picture(found, found.mesh, glued=found.made)
            parts.append(_figure(picture, "Mesh for the simulator, glued from the charts: 2-cells in colours."))
        else:
            parts.append(_figure(draw.mesh_picture(found, found.mesh), "Mesh for the simulator."))
    return "\n".join([*parts, "</html>"]) + "\n"


def _word(found: Reconstruction, number: int) -> str:
    word = found.cell_complex.two[number].word
    if not word:
        return "attached to a point, slit open along a flow line"
    return "attached to 1-cells " + " ".join(f"{i}" if sign > 0 else f"-{i}" for i, sign in word)


def _level_table(found: Reconstruction, count: int = 12) -> str:
    h = found.height
    rows = []
    for level in regular_levels(h, count)[::-1]:
        circles, intervals = level_counts(found.surface, h, float(level))
        rows.append(f"<tr><td>{level:.5g} m</td><td>{circles}</td><td>{intervals}</td></tr>")
    return "<table><tr><th>height</th><th>circles</th><th>intervals</th></tr>" + "".join(rows) + "</table>"


def _figure(picture: np.ndarray, caption: str) -> str:
    buffer = io.BytesIO()
    Image.fromarray(picture).save(buffer, format="PNG", optimize=True)
    data = base64.b64encode(buffer.getvalue()).decode("ascii")
    text = html.escape(caption)
    return f'<figure><img alt="" src="data:image/png;base64,{data}"><figcaption>{text}</figcaption></figure>'


def _length(value: float) -> str:
    return f"{1000 * value:.3g} mm" if value < 1.0 else f"{value:.4g} m"
