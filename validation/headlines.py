"""The few numbers that the README shows: a claim, the check, and the beginning of the line that measures it."""

from __future__ import annotations

from typing import NamedTuple


class Headline(NamedTuple):
    """One row of the README's table."""

    claim: str
    check: str
    what: str


HEADLINES = (
    Headline("drop over reach of a cantilever strip, heavy elastica", "cantilever", "quad 40 x 3, Gamma 10: H/W"),
    Headline("order in time of the default integrator", "order", "bdf2: order from 2.5 to 1.25 ms"),
    Headline("largest edge stretch in a swing of 14 s, %", "swing", "bdf2, 10 ms: largest edge stretch, %"),
    Headline("tip's half range at 10 ms against 1.25 ms, m", "swing", "bdf2, 10 ms: tip half range, m"),
    Headline(
        "the same cloth on other meshes, mean distance, mm", "remeshing", "default, 9x9 -> 17x17: mean distance, mm"
    ),
    Headline("depths of a folded square on eight meshes, within m", "locking", "all depths within, m"),
    Headline(
        "creep on a slope at 1.01 of the friction it needs, 10 s, mm", "tilted_plane",
        "quads, 20 degrees, mu = 1.01 tan: moved in 10 s, mm",
    ),
    Headline("tension over a cylinder, T2/T1 = exp(mu w)", "capstan", "wrap 180 degrees, mu 0.6: T2/T1"),
    Headline(
        "intersecting frames of a napkin folded twice and dropped", "napkin",
        "40 x 40: frames with intersections by ipctk",
    ),
    Headline("intersections in 500 random pushes", "pushes", "crumpled: frames with intersections by ipctk"),
    Headline(
        "known damping found again from a recording, off by %", "identifiability",
        "shake, rho 0.1042: damping, off by, %",
    ),
    Headline(
        "density from how a sheet hangs, seen with errors of 1 mm, 20 times, off by % at most", "patterns",
        "sheet of 529 vertices, discrete_shell, 1 mm of errors: density off at most, %",
    ),
    Headline("real cloth swung by a robot; target: damped pendulum, mm", "robot_runs", "tool: test runs, model, mm"),
    Headline(
        "surface from 30 000 points, distance to the truth, spacings", "reconstruction",
        "knotted torus, 30000 points, noise 0: mean distance of the mesh to the truth, spacings",
    ),
)  # fmt: skip
