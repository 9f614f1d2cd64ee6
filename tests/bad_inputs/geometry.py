"""Bad arguments of meshes, trajectories, pictures, clouds, recordings, states and calibrations."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

import isocloth as ic

from .clear import Case, each
from .values import COUNTS, FLAGS, NAMES, NAN, NOT_NEGATIVE, POINTS, POSITIVE, ROTATIONS

SQUARE = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])
SHEET = ic.meshes.rectangle(0.3, 0.4, (4, 5))


def generators() -> list[Case]:
    """Arguments of `ic.meshes`."""
    make = ic.meshes
    shapes = [None, 3, "x", [3], [3, 3, 3], [1, 5], [5, 1], [2.5, 3], [10**5, 10**5], [-3, 3], [NAN, 3]]
    counts = [*COUNTS, 0, 10**9]
    return [
        *each("rectangle", "width", lambda v: make.rectangle(v, 1), POSITIVE),
        *each("rectangle", "height", lambda v: make.rectangle(1, v), POSITIVE),
        *each("rectangle", "shape", lambda v: make.rectangle(1, 1, v), shapes),
        *each("rectangle", "element", lambda v: make.rectangle(1, 1, (3, 3), v), [*NAMES, None]),
        *each("ring", "inner_radius", lambda v: make.ring(v, 1), POSITIVE),
        *each("ring", "outer_radius", lambda v: make.ring(0.5, v), [*POSITIVE, 0.4]),
        *each("ring", "shape", lambda v: make.ring(0.5, 1, v), [*shapes, [2, 2]]),
        *each("irregular_rectangle", "nodes", lambda v: make.irregular_rectangle(1, 1, v), counts),
        *each("irregular_rectangle", "seed", lambda v: make.irregular_rectangle(1, 1, 9, v), COUNTS),
        *each("tank_top", "triangles", lambda v: make.tank_top(triangles=v), counts),
        *each("tank_top", "strap", lambda v: make.tank_top(strap=v), [*POSITIVE, 5.0]),
        *each("shorts", "triangles", lambda v: make.shorts(triangles=v), counts),
        *each("shorts", "waist", lambda v: make.shorts(waist=v), POSITIVE),
    ]


def meshes() -> list[Case]:
    """Arguments of `Mesh`."""
    quad = [[0, 1, 2, 3]]
    bad_vertices = [None, 3, "x", [], SQUARE[:, :2], np.full((4, 3), NAN), [[0, 0], [0, 0, 0]], SQUARE[None]]
    bad_faces = [None, 3, "x", [], [[0, 1]], [[0, 1, 2, 9]], [[0, 1, 2, -1]], [[0, 1, 1, 2]], [[0.5, 1, 2, 3]],
                 [[0, 1, 2], [0, 1, 2, 3]], [["a", "b", "c"]], [[0, 1, 2, 3, 0]], [[0, NAN, 2, 3]]]  # fmt: skip
    bow_tie = [[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [-1, 0, 0], [0, -1, 0]]
    return [
        *each("Mesh", "vert", lambda v: ic.Mesh(v, quad), bad_vertices),
        *each("Mesh", "face", lambda v: ic.Mesh(SQUARE, v), bad_faces, also=("node",)),
        *each("Mesh", "corner", lambda v: ic.Mesh(SQUARE, quad, corners=v), [[9], [0, 0], "x", [0.5], [[0]], -1]),
        *each("with_vertices", "vert", SHEET.with_vertices, [*bad_vertices, SQUARE]),
        *each("nearest", "point", SHEET.nearest, [*POINTS[:5], POINTS[6], [[[0, 0, 0]]]]),
        *each("transformed", "rotation", lambda v: SHEET.transformed(rotation=v), ROTATIONS),
        *each("transformed", "translation", lambda v: SHEET.transformed(translation=v), POINTS[1:]),
        Case("Mesh, two pieces", lambda _: ic.Mesh([*SQUARE, *(SQUARE + 5)], [[0, 1, 2, 3], [4, 5, 6, 7]]), (("2",),)),
        Case("Mesh, crossed quad", lambda _: ic.Mesh(SQUARE, [[0, 2, 1, 3]]), (("quad 0",),)),
        Case("Mesh, unused vertex", lambda _: ic.Mesh(SQUARE, [[0, 1, 2]]), (("vertex 3",),)),
        Case("Mesh, no area", lambda _: ic.Mesh([[0, 0, 0], [1, 0, 0], [2, 0, 0]], [[0, 1, 2]]), (("face 0", "0"),)),
        Case("Mesh, coincident", lambda _: ic.Mesh([*SQUARE[:3], SQUARE[0]], [[0, 1, 2], [1, 2, 3]]), (("3",),)),
        Case("Mesh, a face twice", lambda _: ic.Mesh(SQUARE[:3], [[0, 1, 2], [0, 1, 2]]), (("faces 0 and 1",),)),
        Case("Mesh, bow-tie", lambda _: ic.Mesh(bow_tie, [[0, 1, 2], [0, 3, 4]]), (("node 0",),)),
        Case("Mesh, inverted", lambda _: ic.Mesh(SQUARE, [[0, 1, 2], [0, 3, 2]]), (("faces 0 and 1",),)),
        *each("Mesh.load", "scale", lambda v: ic.Mesh.load("mesh.obj", scale=v), POSITIVE),
        *each("Mesh.load", "up", lambda v: ic.Mesh.load("mesh.obj", up=v), ["w", None, 3, "xy", ""]),
        *each("Mesh.load", "merge", lambda v: ic.Mesh.load("mesh.obj", merge=v), [v for v in FLAGS if v is not None]),
        *each("Mesh", "orient", lambda v: ic.Mesh(SQUARE, [[0, 1, 2], [0, 2, 3]], orient=v), FLAGS),
        *each("Mesh.load", "mesh file", ic.Mesh.load, [None, 3, b"x", "", "a\0.obj", "none.obj", 1.5, []]),
        *each("Mesh.save", "mesh file", SHEET.save, [None, 3, "", "mesh.docx"]),
        Case("Mesh.load of a long name", lambda _: ic.Mesh.load("x" * 5000 + ".obj"), (("mesh file",),)),
        Case("Mesh.save, no folder", lambda _: SHEET.save("no/such/mesh.obj"), (("no/such",),)),
    ]


@cache
def trajectory() -> ic.Trajectory:
    """Three frames."""
    return ic.Trajectory(
        times=[0.0, 0.1, 0.2], positions=np.stack([SHEET.vertices] * 3), faces=SHEET.faces, rest=SHEET.vertices
    )


def trajectories() -> list[Case]:
    """Fields of a trajectory, and pictures of it."""

    def changed(name: str) -> Any:
        good = trajectory()
        fields = {"times": good.times, "positions": good.positions, "faces": good.faces, "rest": good.rest}
        return lambda value: ic.Trajectory(**(fields | {name: value}))

    def rendered(suffix: str = ".png", **options: Any) -> object:
        return ic.pictures.render(trajectory(), f"out{suffix}", **options)

    return [
        *each("Trajectory", "times", changed("times"), [None, "x", [], [0, 1], [0, 0, 1], [0, NAN, 1], 3, [2, 1, 0]]),
        *each("Trajectory", "positions", changed("positions"), [None, "x", 3, SQUARE, np.full((3, 20, 3), NAN)]),
        *each("Trajectory", "faces", changed("faces"), [None, "x", 3, [[0, 1, 99]], [[0.5, 1, 2]], []]),
        *each("Trajectory", "rest", changed("rest"), [None, "x", 3, np.zeros((0, 3)), np.full((20, 3), NAN)]),
        *each("Trajectory", "velocities", changed("velocities"), ["x", 3, SHEET.vertices]),
        *each("Trajectory", "report", changed("reports"), [{"a": [1, 2]}, {"": [1, 2, 3]}, {"a": ["x"] * 3}, 3, [1]]),
        *each("Trajectory", "obstacle", changed("obstacles"), [3, [3], [(1, 2)], [(SQUARE, [[0, 1, 9]])]]),
        *each("Trajectory", "metadata", changed("metadata"), [3, {"a": SQUARE}, [1]]),
        *each("Trajectory.at", "time", trajectory().at, [None, "x", NAN, -1.0, 5.0]),
        *each("Trajectory[]", "traj", lambda v: trajectory()[v], [0, "x", None, 1.5]),
        *each("Trajectory.save", "trajectory", trajectory().save, [None, 3, "a.txt", "", "a"]),
        *each("Trajectory.load", "trajectory", ic.Trajectory.load, [None, 3, "a.txt", "", "none.h5", "none.npz"]),
        *each("render", "width", lambda v: rendered(width=v), [300.5, None, "x", 3, -1, 10**6, True, NAN]),
        *each("render", "height", lambda v: rendered(height=v), [300.5, None, "x", 3, -1, 10**6]),
        *each("render", "fps", lambda v: rendered(".gif", fps=v), [*POSITIVE, 1e6]),
        *each("render", "colour", lambda v: rendered(colour=v), [*NAMES, None]),
        *each("render", "every", lambda v: rendered(".gif", every=v), [0, -1, 1.5, "x", True]),
        *each("render", "title", lambda v: rendered(title=v), [3, ["a"], b"x"]),
        *each("render", "progress", lambda v: rendered(progress=v), [3, "x"]),
        *each("render", "wireframe", lambda v: rendered(wireframe=v), FLAGS),
        *each("frame", "wireframe", lambda v: ic.pictures.frame(trajectory(), 0, wireframe=v), FLAGS),
        *each("render", "obstacle", lambda v: rendered(obstacles=v), [3, [3], [(1, 2)], [(SQUARE, [[0, 1, 9]])]]),
        *each("render", "picture", lambda v: ic.pictures.render(trajectory(), v), [None, 3, "", "a.bmp", "a"]),
        *each("render", "trajectory", lambda v: ic.pictures.render(v, "a.png"), [None, 3, "a.h5"]),
        *each("frame", "frame", lambda v: ic.pictures.frame(trajectory(), v, width=64, height=64), [9, -9]),
        *each("frame", "when", lambda v: ic.pictures.frame(trajectory(), v, width=64, height=64), [None, "x"]),
        *each("contact_sheet", "count", lambda v: ic.pictures.contact_sheet(trajectory(), count=v), [0, -1, 1.5, "x"]),
    ]


def clouds() -> list[Case]:
    """Arguments of `reconstruct`."""
    plane = np.random.default_rng(0).random((60, 3)) * [1, 1, 0]
    points = [None, 3, "x", [], plane[:5], plane[:, :2], np.full((60, 3), NAN), np.zeros((60, 3)), [[1, 2], [3]]]

    def option(name: str) -> Any:
        return lambda value: ic.reconstruct(plane, **{name: value})

    return [
        *each("reconstruct", "point", ic.reconstruct, points),
        *each("reconstruct", "direction", option("direction"), [*POINTS[1:], [0, 0, 0]]),
        *each("reconstruct", "detail", option("detail"), NOT_NEGATIVE[1:]),
        *each("reconstruct", "largest_gap", option("largest_gap"), [*POSITIVE, 0.5]),
        *each("reconstruct", "smooth", option("smooth"), COUNTS),
        *each("reconstruct", "edge", option("edge"), POSITIVE[1:]),
        *each("reconstruct", "element", option("element"), [*NAMES, None]),
        *each("reconstruct", "meshing", option("meshing"), [*NAMES, None]),
        *each("reconstruct", "seed", option("seed"), COUNTS),
        *each("reconstruct", "outliers", option("outliers"), FLAGS),
        *each("reconstruct", "sheet", option("sheet"), FLAGS),
        *each("box_grid", "size", lambda v: ic.reconstruction.box_grid(plane, v), POSITIVE),
        Case("reconstruct a line", lambda _: ic.reconstruct(np.linspace([0, 0, 0], [1, 0, 0], 50)), (("point",),)),
        Case("reconstruct noise", lambda _: ic.reconstruct(np.random.default_rng(0).random((60, 3))), (("points",),)),
    ]


@cache
def recording() -> ic.Recording:
    """Two seconds of a sheet that moves a little."""
    times = np.linspace(0.0, 2.0, 41)
    swing = 0.05 * np.sin(3.0 * times)[:, None, None] * np.array([1.0, 0, 0])
    upright = SHEET.vertices[:, [0, 2, 1]]
    return ic.Recording(times=times, positions=upright + swing, mesh=SHEET, held=[4, 19], fabric=ic.Fabric())


def recordings() -> list[Case]:
    """Fields and methods of a recording."""

    def changed(name: str) -> Any:
        return lambda value: recording().with_(**{name: value})

    good = recording().positions
    return [
        *each("Recording", "time", changed("times"), [None, "x", 3, [], [0.0], [NAN] * 41, np.zeros(41)],
              also=("frame", "recording")),
        *each("Recording", "position", changed("positions"), [None, "x", 3, good[:3], good[:, :, :2],
                                                              np.full_like(good, NAN)], also=("marker",)),
        Case("Recording in mm", lambda _: recording().with_(positions=1000 * good), (("units",), ("m wide",))),
        Case("Recording in km", lambda _: recording().with_(positions=1e-3 * good), (("units",), ("mm",))),
        *each("Recording", "label", changed("labels"), [["a"], ["a"] * 20, 3]),
        *each("Recording", "mesh", changed("mesh"), [3, "x", ic.meshes.rectangle(1, 1, (3, 3))]),
        *each("Recording", "held", changed("held"), [[99], [-1], [0, 0], "x", [0.5], None]),
        *each("Recording", "held_path", changed("held_path"), ["x", 3, np.zeros((2, 2, 3))]),
        *each("Recording", "fabric", changed("fabric"), ["denim", 3]),
        *each("Recording", "other", changed("others"), [{"stick": 3}, {"stick": [1]}, 3]),
        *each("Recording", "metadata", changed("metadata"), [{"a": SQUARE}, 3]),
        Case("with_ of no field", lambda _: recording().with_(wrong=3), (("'wrong'",),)),
        *each("marker", "marker", recording().marker, ["none", 3, None]),
        *each("without", "marker", recording().without, [["none"], [3]]),
        *each("window", "between", lambda v: recording().window(v, 1.0), [NAN, 1.5, "a", None], also=("window",)),
        *each("resampled", "timestep", recording().resampled, [*POSITIVE, 100.0]),
        *each("Recording.load", "recording", ic.Recording.load, [None, 3, "", "none.csv", "none.h5"]),
        *each("Recording.load", "units", lambda v: ic.Recording.load("motion.npz", units=v), ["mm", "cm", "parsec", 3]),
        *each("Recording.load", "up", lambda v: ic.Recording.load("motion.npz", up=v), ["y", "x", "w", 3]),
        *each("Recording.load", "held", lambda v: ic.Recording.load("motion.npz", held=v), [["1"], [], "1"]),
        *each("Recording.load", "size", lambda v: ic.Recording.load("motion.npz", size=v), [(1, 2), 3]),
        *each("Recording.load", "grid", lambda v: ic.Recording.load("motion.npz", grid=v), [(4, 5), 3]),
        *each("Recording.load", "cloth", lambda v: ic.Recording.load("motion.npz", cloth=v), [["1"], "1"]),
        *each("Recording.load", "clean", lambda v: ic.Recording.load("motion.npz", clean=v), FLAGS),
        *each("Recording.load of a run", "units", lambda v: ic.Recording.load("run.h5", units=v), ["mm", "inches"]),
        *each("Recording.save", "recording", recording().save, [None, 3, "", "a.csv", "a"]),
    ]  # fmt: skip


def fits() -> list[Case]:
    """Arguments of calibrations: all are found before anything is simulated."""

    def fit(**options: Any) -> object:
        return ic.calibrate(recording(), workers=1, **options)

    return [
        *each("calibrate", "recording", lambda v: ic.calibrate(v, workers=1), [None, 3, "x.csv", []]),
        *each("calibrate", "parameter", lambda v: fit(parameters=v), [["magic"], [3], [("damping", (1, 0))],
                                                                      [("damping", "x")], [], "magic", [None]]),
        *each("calibrate", "method", lambda v: fit(method=v), [*NAMES, None]),
        *each("calibrate", "loss", lambda v: fit(loss=v), [*NAMES, None]),
        *each("calibrate", "train", lambda v: fit(train=v), [3, "x", (5, 6), (1, 0), (NAN, 1), (1, 2, 3)],
              also=("window", "between")),
        *each("calibrate", "drive", lambda v: fit(drive=v), [*NAMES, None]),
        *each("calibrate", "start", lambda v: fit(start=v), [*NAMES, None]),
        *each("calibrate", "timestep", lambda v: fit(timestep=v), POSITIVE[1:]),
        *each("calibrate", "workers", lambda v: ic.calibrate(recording(), workers=v), [0, -1, "x", 1.5]),
        *each("calibrate", "model", lambda v: fit(model=v), [*NAMES, None]),
        *each("calibrate", "smooth", lambda v: fit(smooth=v), FLAGS),
        *each("calibrate", "keep_bias", lambda v: fit(keep_bias=v), FLAGS),
        *each("calibrate", "resume", lambda v: fit(resume=v), FLAGS),
        *each("calibrate", "progress", lambda v: fit(progress=v), FLAGS),
        *each("calibrate", "resolve_start", lambda v: fit(resolve_start=v), FLAGS),
        *each("Parameter", "log", lambda v: ic.calibration.Parameter("damping", 0.1, 1.0, log=v), FLAGS),
        *each("compare_models", "resume", lambda v: ic.compare_models(recording(), resume=v, workers=1), FLAGS),
        *each("compare_models", "progress", lambda v: ic.compare_models(recording(), progress=v, workers=1), FLAGS),
        *each("sensitivity", "resume", lambda v: ic.sensitivity(recording(), resume=v, workers=1), FLAGS),
        *each("sensitivity", "progress", lambda v: ic.sensitivity(recording(), progress=v, workers=1), FLAGS),
        *each("Fold", "under", lambda v: ic.states.Fold((0, 0), (1, 0), under=v), FLAGS),
        *each("calibrate", "fabric", lambda v: fit(fabric=v), ["denim", 3]),
        *each("sensitivity", "points", lambda v: ic.sensitivity(recording(), points=v, workers=1), [0, -1, "x", 1.5]),
        *each("forecast", "holder", lambda v: ic.forecast(recording(), holder=v), NAMES),
        *each("forecast", "recording", ic.forecast, [None, 3, "x"]),
    ]  # fmt: skip


CASES = [*generators(), *meshes(), *trajectories(), *clouds(), *recordings(), *fits()]
