"""A page about an inversion, and its numbers as lines: the target, what a naive cloth does, and what this one does."""

from __future__ import annotations

import base64
import html
import io
import os
import warnings
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from PIL import Image

from isocloth.base.errors import InputError, IsoclothError
from isocloth.base.files import as_path, atomic_path, check_place
from isocloth.base.numeric import as_float, shown
from isocloth.base.typing import FloatArray
from isocloth.inverse.pushes import Pushes
from isocloth.meshes import Mesh
from isocloth.pictures.colour import strain_limit, strain_unit
from isocloth.pictures.curves import Curve, curves_picture
from isocloth.pictures.panels import Arrows, Panel, bar, level_colours, panels_page, strain_shades

if TYPE_CHECKING:
    from isocloth.inverse.inversion import Inversion
    from isocloth.simulation import Simulation

#: s, of a step, and frames of a film
TIMESTEP, FRAMES = 0.01, 51
#: s, of a film at most
LONGEST = 60.0
#: of the size of the cloth: the longest arrow
ARROW = 0.18


class Film(NamedTuple):
    """What a simulation does from the target. moved: m, the farthest that a node goes. trouble: why it ended early."""

    positions: FloatArray  # (k, n, 3) m
    moved: float
    unconverged: int
    trouble: str


def lines(found: Inversion) -> list[tuple[str, str]]:
    """What was found, as names and values."""
    pushes = found.pushes
    hands, touching = int(pushes.by_hand.sum()), ~pushes.by_hand
    rows = [
        ("target", f"{found.target.n_vertices} nodes, {found.target.n_faces} triangles"),
        ("reached", "yes: a stable equilibrium, with forces in the cones of friction" if found.reached else "no"),
        (
            "load reached",
            "all of the weight" if found.load_reached == 1.0 else f"{found.load_reached:.3g} of the weight",
        ),
        ("target error J", _error(found)),
        ("friction error G", f"{found.friction_error:.2e} N^2"),
        ("carried by", f"{int(touching.sum())} contacts, {hands} held nodes"),
        ("weight", f"{found.forces[:, 2].sum():.4g} N"),
    ]
    if touching.any():
        pressing, used = pushes.pressing[touching], pushes.used[touching]
        most = f"{100.0 * used.max():.3g} %" if np.isfinite(used.max()) else "more than all"
        rows.append(("contact forces", f"{pressing.min():.2e} to {pressing.max():.2e} N; {most} of the friction used"))
    if hands:
        largest = np.linalg.norm(pushes.forces[pushes.by_hand], axis=1).max()
        rows.append(("forces of hands", f"up to {largest:.2e} N"))
    rows += [
        ("stretch at rest", f"{100 * found.stretch.min():.3g} to {100 * found.stretch.max():.3g} %"),
        ("bend at rest", f"{np.degrees(found.bend.min()):.3g} to {np.degrees(found.bend.max()):.3g} degrees"),
        ("iterations of BFGS" if found.passes else "linear systems", str(found.iterations)),
    ]
    return rows


def _error(found: Inversion) -> str:
    try:
        return f"{found.target_error:.2e} m^2"
    except IsoclothError:  # it falls
        return "none: the cloth comes to rest nowhere near"


def save_report(
    found: Inversion, path: str | os.PathLike[str], *, title: str = "Inverse design", seconds: float = 1.0
) -> None:
    """Write the page; seconds: of the two films."""
    if as_path(path, "report").suffix.lower() != ".html":
        raise InputError(f"a report ends in .html, but {str(path)!r} was given; rename it")
    check_place(path)
    length = as_float(seconds)
    if length is None or not TIMESTEP <= length <= LONGEST:
        raise InputError(f"seconds = {shown(seconds)}: expected a number from {TIMESTEP:g} to {LONGEST:g}")
    if not isinstance(title, str):
        raise InputError(f"title = {shown(title)}: expected a text")
    text = page(found, title, length)
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def page(found: Inversion, title: str, seconds: float) -> str:
    """The text of the page."""
    steps = round(seconds / TIMESTEP)
    frames = np.unique(np.linspace(0, steps, min(FRAMES, steps + 1)).round().astype(int))
    naive, designed = (
        _film(sim, frames) for sim in (found.naive(timestep=TIMESTEP), found.simulation(timestep=TIMESTEP))
    )
    target, faces = found.target, found.target.faces
    stretch = stretch_by_node(target, found.stretch)
    limit = strain_limit(stretch)
    weight = "its weight" if found.load_reached == 1.0 else f"{found.load_reached:.3g} of its weight"
    shown, place = f"target, and the forces that carry {weight}", target.vertices
    if found.nearest is not None:
        off = float(np.linalg.norm(found.positions - target.vertices, axis=1).max())
        weight, place = "the nearest shape", found.positions
        shown = f"nearest shape, off by {_length(off)} at most, and the forces that carry it"
    panels = [
        Panel(shown, place[None], faces, None, _arrows(found)),
        Panel(f"naive: the target is the rest shape. It moves by {_length(naive.moved)}", naive.positions, faces),
        Panel(f"designed for {weight}: it moves by {_length(designed.moved)}", designed.positions, faces),
        Panel("rest shape, by stretch", found.rest.vertices[None], faces, strain_shades(stretch, limit), bodies=False),
    ]
    bodies = [drawn for body in found.obstacles if (drawn := body.surface(0.0)) is not None]
    return panels_page(title, _above(found), _below(found, naive, designed, limit), panels, TIMESTEP * frames, bodies)


def stretch_by_node(mesh: Mesh, stretch: FloatArray) -> FloatArray:
    """(n,) the mean over the edges at every node of their stretch (e,)."""
    total, count = np.zeros(mesh.n_vertices), np.zeros(mesh.n_vertices)
    for end in mesh.edges.T:
        np.add.at(total, end, stretch)
        np.add.at(count, end, 1.0)
    return total / np.maximum(count, 1.0)


def _film(sim: Simulation, frames: np.ndarray) -> Film:
    """Some steps of a simulation, until it cannot go on."""
    start = sim.positions.copy()
    kept, unconverged, moved, trouble = [], 0, 0.0, ""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for step in range(frames[-1] + 1):
            if step > 0 and not trouble:
                try:
                    unconverged += not sim.step().converged
                except IsoclothError as error:
                    trouble = f"it ends at {(step - 1) * TIMESTEP:.2f} s: {error}"
                moved = max(moved, float(np.linalg.norm(sim.positions - start, axis=1).max()))
            if step in frames:
                kept.append(sim.positions.copy())
    return Film(np.stack(kept), moved, unconverged, trouble)


def _arrows(found: Inversion) -> Arrows:
    """Forces on the cloth, by the part of the friction that they use; those of hands are blue."""
    pushes = found.pushes
    size = float(np.linalg.norm(np.ptp(found.target.vertices, axis=0)))
    largest = float(np.linalg.norm(pushes.forces, axis=1).max(initial=0.0)) or 1.0
    shades = level_colours(np.where(np.isfinite(pushes.used), pushes.used, 1.0))
    shades[pushes.by_hand] = (0.15, 0.3, 0.75)
    return Arrows(pushes.places, ARROW * size / largest * pushes.forces, shades)


def _above(found: Inversion) -> str:
    rows = "".join(f"<tr><th>{html.escape(n)}</th><td>{html.escape(v)}</td></tr>" for n, v in lines(found))
    problem = f'<p class="doubt">{html.escape(found.problem)}</p>' if found.problem else ""
    return f"{problem}<table>{rows}</table>"


def _below(found: Inversion, naive: Film, designed: Film, limit: float) -> str:
    factor, unit = strain_unit(limit)
    stops = np.linspace(-1.0, 1.0, 17)
    marks = [f"{x * limit * factor:+.3g} {unit}" if x else "0" for x in (-1.0, -0.5, 0.0, 0.5, 1.0)]
    parts = [
        bar(strain_shades(stops, 1.0), marks, "stretch at rest: longer (+) or shorter (-) than in the target"),
    ]
    pushes = found.pushes
    if not pushes.by_hand.all():
        shades = level_colours(np.linspace(0.0, 1.0, 9))
        parts.append(bar(shades, ["0", "50 %", "100 %"], "part of the friction that a force uses"))
    if pushes.by_hand.any():
        parts.append('<p class="faint">Forces of hands are blue.</p>')
    for name, film in (("naive", naive), ("designed", designed)):
        if film.unconverged or film.trouble:
            told = f"{name} cloth: {film.unconverged} steps did not converge. {film.trouble}"
            parts.append(f'<p class="doubt">{html.escape(told)}</p>')
    if (picture := cone_picture(pushes, found.margin)) is not None:
        parts.append("<h2>Contact forces in their cones of friction</h2>")
        with io.BytesIO() as file:
            Image.fromarray(picture).save(file, format="PNG", optimize=True)
            data = base64.b64encode(file.getvalue()).decode("ascii")
        parts.append(
            f'<img alt="forces along the surface over forces along the normal" src="data:image/png;base64,{data}">'
        )
    return "\n".join(parts)


def cone_picture(pushes: Pushes, margin: float) -> np.ndarray | None:
    """|r_T| over r_N of what touches, with the borders of the cones, mu r_N and margin mu r_N; None if nothing does."""
    touching = ~pushes.by_hand
    if not touching.any():
        return None
    pressing, pulling, friction = pushes.pressing[touching], pushes.pulling[touching], pushes.friction[touching]
    end = np.array([0.0, 1.05 * float(pressing.max(initial=0.0)) or 1.0])
    curves = [Curve("contacts", pressing, pulling, line=False)]
    for mu in np.unique(friction):
        curves.append(Curve(f"mu = {mu:g}", end, mu * end))
        curves.append(Curve(f"margin {margin:g} mu", end, margin * mu * end))
    return curves_picture(curves, x_label="r_N, N", y_label="|r_T|, N", width=760, height=480)


def _length(metres: float) -> str:
    return f"{1e3 * metres:.3g} mm" if metres >= 1e-4 else f"{metres:.1e} m"
