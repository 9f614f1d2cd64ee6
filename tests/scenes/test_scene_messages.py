"""What is wrong with a scene is said by the field's full name, with what was given and what was expected."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from isocloth.base.errors import SceneError
from isocloth.scenes import build, load_scene
from isocloth.scenes.load import read_scene

from .scene_texts import good, good_with_obstacles

BIG = 10**5000

# (where, the wrong value, parts of the message); a value of ... removes the field
WRONG: list[tuple[tuple[Any, ...], Any, list[str]]] = [
    (("titel",), "x", ["titel", "unknown", "did you mean 'title'"]),
    (("title",), 3, ["title = 3", "text in quotes"]),
    (("cloth",), ..., ["cloth: is missing", "[cloth]"]),
    (("cloth",), 3, ["cloth = 3", "expected a table that starts with [cloth]"]),
    (("simulation",), ..., ["simulation: is missing"]),
    (("cloth", "shape"), "rectangel", ["cloth.shape = 'rectangel'", "did you mean 'rectangle'?"]),
    (("cloth", "shape"), 3, ["cloth.shape = 3", "expected one of rectangle,"]),
    (("cloth", "width"), ..., ["cloth.width: is missing", "number in m"]),
    (("cloth", "width"), "0.3", ["cloth.width = '0.3'", "finite number in m"]),
    (("cloth", "width"), True, ["cloth.width = True", "finite number in m"]),
    (("cloth", "width"), float("nan"), ["cloth.width = nan", "finite number in m"]),
    (("cloth", "width"), BIG, ["cloth.width = ", "finite number in m"]),
    (("cloth", "width"), -1, ["cloth.width = -1", "more than 0 m"]),
    (("cloth", "width"), 42, ["cloth.width = 42", "in cm?", "write 0.42"]),
    (("cloth", "nodes"), 9, ["cloth.nodes = 9", "[17, 17]"]),
    (("cloth", "nodes"), [1, 9], ["cloth.nodes = [1, 9]", "at least 2"]),
    (("cloth", "nodes"), [9000, 9000], ["cloth.nodes", "at most 1000000"]),
    (("cloth", "element"), "hexagon", ["cloth.element = 'hexagon'", "quad, triangle"]),
    (("cloth", "inner_radius"), 0.1, ["cloth.inner_radius = 0.1", "belongs to shape 'ring'"]),
    (("cloth", "heigth"), 0.1, ["cloth.heigth = 0.1", "did you mean 'height'?"]),
    (("cloth", "position"), [0, 0], ["cloth.position = [0, 0]", "[x, y, z] in m"]),
    (("cloth", "rotation"), 90, ["cloth.rotation = 90", "degrees"]),
    (("cloth", "rotation"), {"axis": [0, 0, 0], "angle": 3}, ["cloth.rotation", "not zero"]),
    (("cloth", "noise"), 1.0, ["cloth.noise = 1.0", "at most 0.1 m"]),
    (("cloth", "seed"), -1, ["cloth.seed = -1", "whole number"]),
    (("fabric", "name"), "demin", ["fabric.name = 'demin'", "did you mean 'denim'?"]),
    (("fabric", "name"), 3, ["fabric.name = 3", "expected one of paper,"]),
    (("fabric", "density"), -1, ["fabric.density = -1.0 kg/m^2", "positive"]),
    (("fabric", "density"), 160, ["fabric.density = 160.0 kg/m^2", "not g/m^2"]),
    (("fabric", "density"), "x", ["fabric.density = 'x'", "SI units"]),
    (("fabric", "stretch"), 1, ["fabric.stretch = 1", "unknown"]),
    (("simulation", "duration"), ..., ["simulation.duration: is missing"]),
    (("simulation", "duration"), 0, ["simulation.duration = 0", "more than 0 s"]),
    (("simulation", "duration"), 0.001, ["simulation.duration = 0.001", "shorter than one timestep"]),
    (("simulation", "duration"), 1e9, ["simulation.duration", "is it in seconds?"]),
    (("simulation", "timestep"), 10, ["simulation.timestep = 10", "at most 0.1 s", "not milliseconds"]),
    (("simulation", "every"), 0.015, ["simulation.every = 0.015", "no multiple of the timestep", "0.02"]),
    (("simulation", "gravity"), -9.81, ["simulation.gravity = -9.81", "along -z"]),
    (("simulation", "solver"), "Newton", ["simulation.solver = 'Newton'", "did you mean 'newton'?"]),
    (("simulation", "model"), "elastc", ["simulation.model = 'elastc'", "did you mean 'elastic'?"]),
    (("simulation", "model"), {"stretch": 3.0}, ["simulation.model.name: is missing; choose one of isometric,"]),
    (("simulation", "model"), {"name": "elastic", "strech": 3.0}, ["model.strech = 3.0", "did you mean 'stretch'?"]),
    (("simulation", "model"), {"name": "elastic", "stretch": -3.0}, ["model.stretch = -3.0", "zero or positive"]),
    (("simulation", "model"), {"name": "elastic", "stretch": "stiff"}, ["model.stretch = 'stiff'", "finite number"]),
    (("simulation", "model"), {"name": "nonconforming", "max_solves": 2.5}, ["model.max_solves = 2.5", "whole number"]),
    (("simulation", "model"), 3, ["simulation.model = 3", "expected one of isometric,"]),
    (("simulation", "integrator"), "rk4", ["simulation.integrator = 'rk4'", "bdf2"]),
    (("simulation", "discretisation"), "nett", ["simulation.discretisation = 'nett'", "'net'"]),
    (("simulation", "bending_model"), 1, ["simulation.bending_model = 1", "hessian"]),
    (("simulation", "discretization"), "net", ["did you mean 'discretisation'?"]),
    (("simulation", "self_collision"), 1, ["simulation.self_collision = 1", "true or false"]),
    (("simulation", "resolve_start"), 1, ["simulation.resolve_start = 1", "true or false"]),
    (("simulation", "contact"), "laged", ["simulation.contact = 'laged'", "did you mean 'lagged'?"]),
    (("fabric", "friction"), -0.1, ["fabric.friction = -0.1", "zero or positive"]),
    (("obstacle",), {"kind": "floor"}, ["obstacle = ", "[[obstacle]] with double brackets"]),
    (("obstacle",), [3], ["obstacle = [3]", "[[obstacle]]"]),
    (("obstacle", 0, "kind"), ..., ["obstacle[0].kind: is missing", "floor, plane, sphere"]),
    (("obstacle", 0, "kind"), "ball", ["obstacle[0].kind = 'ball'", "known are floor, plane"]),
    (("obstacle", 0, "kind"), "spheer", ["obstacle[0].kind = 'spheer'", "did you mean 'sphere'?"]),
    (("obstacle", 0, "height"), "low", ["obstacle[0].height = 'low'", "finite number in m"]),
    (("obstacle", 0, "height"), -75, ["obstacle[0].height = -75", "at least -20 m"]),
    (("obstacle", 0, "friction"), -0.1, ["obstacle[0].friction = -0.1", "at least 0", "slippery"]),
    (("obstacle", 0, "friction"), float("inf"), ["obstacle[0].friction = inf", "finite"]),
    (("obstacle", 0, "radius"), 0.1, ["obstacle[0].radius = 0.1", "belongs to kind 'sphere' or 'cylinder'"]),
    (("obstacle", 0, "frction"), 0.1, ["obstacle[0].frction = 0.1", "did you mean 'friction'?"]),
    (("obstacle", 0, "name"), 3, ["obstacle[0].name = 3", "text in quotes"]),
    (("obstacle", 1, "centre"), ..., ["obstacle[1].centre: is missing", "[x, y, z] in m"]),
    (("obstacle", 1, "centre"), [0, 0], ["obstacle[1].centre = [0, 0]", "three finite numbers"]),
    (("obstacle", 1, "centre"), [0, 0, 35], ["obstacle[1].centre = [0, 0, 35]", "is it in cm?"]),
    (("obstacle", 1, "radius"), -1, ["obstacle[1].radius = -1", "more than 0 m"]),
    (("obstacle", 1, "radius"), 35, ["obstacle[1].radius = 35", "in cm?", "write 0.35"]),
    (("obstacle", 1, "spin"), 90, ["obstacle[1].spin = 90", "degrees/s"]),
    (("obstacle", 1, "velocity"), [0, 0, 1], ["obstacle[1].velocity = [0, 0, 1]", "a motion is given already"]),
    (("obstacle", 1, "rotation"), 90, ["obstacle[1].rotation = 90", "degrees"]),
    (("obstacle", 1, "frequency"), 80, ["obstacle[1].frequency = 80", "belongs to motion 'oscillate', not 'line'"]),
    (("obstacle", 2, "size"), [1, 1, 0], ["obstacle[2].size = [1, 1, 0]", "three positive lengths"]),
    (("obstacle", 3, "normal"), [0, 0, 0], ["obstacle[3].normal = [0, 0, 0]", "not zero"]),
    (("obstacle", 4, "points"), [[0, 0]], ["obstacle[4].points = [[0, 0]]", "[[0, 0, 1], [0.5, 0, 1]]"]),
    (("obstacle", 5, "path"), ..., ["obstacle[5].path: is missing", "text in quotes"]),
    (("obstacle", 5, "scale"), 0, ["obstacle[5].scale = 0", "more than 0"]),
    (("obstacle", 6, "pieces"), 0, ["obstacle[6].pieces = 0", "at least 1"]),
    (("grasp",), {"where": "corners"}, ["grasp = ", "[[grasp]] with double brackets"]),
    (("grasp",), [3], ["grasp = [3]", "[[grasp]]"]),
    (("grasp", 0, "where"), ..., ["grasp[0]: exactly one of nodes, at and where", "none is given"]),
    (("grasp", 0, "nodes"), [1], ["grasp[0]: exactly one of", "nodes and where are given"]),
    (("grasp", 0, "where"), "corner", ["grasp[0].where = 'corner'", "place is unknown"]),
    (("grasp", 0, "where"), [1], ["grasp[0].where = [1]", "names of places"]),
    (("grasp", 0, "radius"), 0.1, ["grasp[0].radius = 0.1", "belongs to `at`"]),
    (("grasp", 0, "max_force"), -1, ["grasp[0].max_force = -1", "more than 0 N"]),
    (("grasp", 0, "release"), -1, ["grasp[0].release = -1", "more than 0 s"]),
    (("grasp", 0, "motion"), "wobble", ["grasp[0].motion = 'wobble'", "known are hold, oscillate"]),
    (("grasp", 0, "frequency"), 1, ["grasp[0].frequency = 1", "belongs to motion 'oscillate', not 'hold'"]),
    (("grasp", 1, "nodes"), [-1], ["grasp[1].nodes = [-1]", "counted from 0"]),
    (("grasp", 1, "nodes"), [3, 3], ["grasp[1].nodes = [3, 3]", "twice"]),
    (("grasp", 1, "frequency"), ..., ["grasp[1].frequency: is missing", "Hz"]),
    (("grasp", 1, "frequency"), 80, ["grasp[1].frequency = 80", "at most 50 Hz", "smaller timestep"]),
    (("grasp", 1, "frequncy"), 1, ["grasp[1].frequncy = 1", "did you mean 'frequency'?"]),
    (("grasp", 1, "axis"), ..., ["grasp[1].axis: is missing"]),
    (("grasp", 1, "axis"), "w", ["grasp[1].axis = 'w'", "that is not zero"]),
    (("grasp", 1, "amplitude"), [0, 0, 1], ["grasp[1].axis = 'x'", "a vector already"]),
    (("grasp", 1, "amplitude"), 30, ["grasp[1].amplitude = 30", "cm?"]),
    (("grasp", 1, "stop"), 0, ["grasp[1].stop = 0", "later than start, 0 s"]),
    (("grasp", 1, "ramp"), -1, ["grasp[1].ramp = -1", "at least 0 s"]),
]  # fmt: skip


def spoil(where: tuple[Any, ...], value: Any) -> dict[str, Any]:
    data = good_with_obstacles()
    target: Any = data
    for key in where[:-1]:
        target = target[key]
    if value is ...:
        del target[where[-1]]
    else:
        target[where[-1]] = value
    return data


@pytest.mark.parametrize(("where", "value", "parts"), WRONG, ids=[case[2][0] for case in WRONG])
def test_a_wrong_field_is_named(where: tuple[Any, ...], value: Any, parts: list[str]) -> None:
    with pytest.raises(SceneError) as caught:
        read_scene(spoil(where, value), Path("folder/scene.toml"))
    message = str(caught.value)
    assert message.startswith("folder/scene.toml: ")
    for part in parts:
        assert part in message
    assert "problems" not in message, "one mistake, one message"


GRASPS: list[tuple[dict[str, Any], list[str]]] = [
    ({"at": "x"}, ["grasp[0].at = 'x'", "points in m"]),
    ({"at": [[0, 0]]}, ["grasp[0].at", "points in m"]),
    ({"nodes": [0], "motion": "line", "stop": 1.0}, ["grasp[0].to", "one of `to` and `by`", "none is"]),
    ({"nodes": [0], "motion": "line", "to": [0, 0, 1], "by": [0, 0, 1], "stop": 1.0}, ["both are given"]),
    ({"nodes": [0], "motion": "line", "to": [0, 0, 1]}, ["grasp[0].stop: is missing"]),
    ({"nodes": [0], "motion": "line", "by": [0, 0, 1], "stop": 1, "smooth": 1}, ["grasp[0].smooth = 1"]),
    ({"nodes": [0], "motion": "path"}, ["grasp[0].positions", "none is given"]),
    ({"nodes": [0], "motion": "path", "file": "x.csv"}, ["grasp[0].file = 'x.csv'", "does not exist"]),
    ({"nodes": [0], "motion": "path", "file": 3}, ["grasp[0].file = 3"]),
    ({"nodes": [0], "motion": "path", "times": [0, 1], "file": "x.csv"}, ["both are given"]),
    (
        {"nodes": [0], "motion": "path", "times": [1, 0], "positions": [[0, 0, 0], [0, 0, 1]]},
        ["grasp[0].times = [1, 0]", "increasing"],
    ),
    (
        {"nodes": [0], "motion": "path", "times": [0, 1], "positions": [[0, 0, 0]]},
        ["grasp[0].positions", "1 positions for 2 times"],
    ),
    (
        {"nodes": [0], "motion": "path", "times": [0, 1], "positions": [[0, 0, 0], [[0, 0, 0], [0, 0, 1]]]},
        ["grasp[0].positions", "one point [x, y, z]"],
    ),
]


@pytest.mark.parametrize(("grasp", "parts"), GRASPS)
def test_a_wrong_motion_is_named(grasp: dict[str, Any], parts: list[str]) -> None:
    with pytest.raises(SceneError) as caught:
        read_scene({**good(), "grasp": [grasp]})
    for part in parts:
        assert part in str(caught.value)
    assert "problems" not in str(caught.value)


STICK = {"kind": "stick", "a": [0, 0, -1], "b": [0, 0, -1], "radius": 0.1}
BALL = {"kind": "sphere", "centre": [0, 0, -1], "radius": 0.1, "motion": "path", "times": [0, 1]}

BUILDS: list[tuple[dict[str, Any], list[str]]] = [
    ({"obstacle": [{"kind": "floor", "height": -1}, STICK]}, ["obstacle[1]", "a and b are the same point"]),
    ({"obstacle": [{"kind": "mesh", "path": "absent.obj"}]}, ["obstacle[0]", "absent.obj", "does not exist"]),
    (
        {"obstacle": [BALL | {"positions": [[0, 0, 0], [0, 0, 1]]}]},
        ["obstacle[0]", "the path starts at [0.0, 0.0, 0.0]", "[0.0, 0.0, -1.0]", "relative = true"],
    ),
    (
        {"obstacle": [BALL | {"positions": [[[0, 0, 0], [0, 0, 1]], [[0, 0, 0], [0, 0, 1]]]}]},
        ["obstacle[0]", "2 points per time", "give one, the centre"],
    ),
    ({"grasp": [{"nodes": [99]}]}, ["grasp[0]", "node 99 does not exist", "0 to 15"]),
    ({"grasp": [{"nodes": [0]}, {"at": [0, 0, 0]}]}, ["grasp[1]", "node 0 is held already"]),
    ({"grasp": [{"where": "corner 7"}]}, ["grasp[0]", "4 corners", "number 7"]),
    ({"grasp": [{"where": "boundary loop 1"}]}, ["grasp[0]", "1 boundary loops"]),
    ({"grasp": [{"at": [9, 9, 9], "radius": 0.1}]}, ["grasp[0]", "no node lies within radius = 0.1 m"]),
    (
        {"cloth": {"width": 0.3, "height": 0.3}, "grasp": [{"where": "top corners"}]},
        ["grasp[0]", "same height", 'where = ["corner 0", "corner 3"]'],
    ),
    (
        {
            "cloth": {"shape": "ring", "inner_radius": 0.1, "outer_radius": 0.2},
            "grasp": [{"where": "corners"}],
        },
        ["grasp[0]", "no corners"],
    ),
    ({"cloth": {"shape": "ring", "inner_radius": 0.3, "outer_radius": 0.2}}, ["cloth: outer_radius is 0.2"]),
    ({"cloth": {"shape": "file", "path": "none.obj"}}, ["cloth.path: mesh file", "does not exist"]),
    (
        {"grasp": [{"nodes": [0], "motion": "path", "times": [0, 1], "positions": [[1, 0, 0], [2, 0, 0]]}]},
        ["grasp[0]", "starts 1 m away", "relative = true"],
    ),
    (
        {
            "grasp": [
                {
                    "nodes": [0, 1, 2],
                    "motion": "path",
                    "times": [0, 1],
                    "positions": [[[0, 0, 0], [0, 0, 0]], [[0, 0, 0], [0, 0, 1]]],
                }
            ]
        },
        ["grasp[0]", "2 points per time, but 3 nodes"],
    ),
]


@pytest.mark.parametrize(("change", "parts"), BUILDS)
def test_what_only_the_mesh_shows_is_named_too(change: dict[str, Any], parts: list[str]) -> None:
    scene = read_scene({**good(), **change}, Path("folder/scene.toml"))
    with pytest.raises(SceneError) as caught:
        build(scene)
    assert str(caught.value).startswith("folder/scene.toml: ")
    for part in parts:
        assert part in str(caught.value)


def test_all_problems_are_listed_at_once() -> None:
    data = good()
    data["cloth"]["width"] = -1
    data["grasp"][1]["frequncy"] = data["grasp"][1].pop("frequency")
    data["fabric"]["name"] = "silk?"
    with pytest.raises(SceneError) as caught:
        read_scene(data, Path("scene.toml"))
    lines = str(caught.value).splitlines()
    assert lines[0] == "scene.toml: 4 problems"
    assert [line.split(":")[0].split(" =")[0].strip() for line in lines[1:]] == [
        "fabric.name",
        "cloth.width",
        "grasp[1].frequency",
        "grasp[1].frequncy",
    ]


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        (b"[cloth]\nwidth = \n", ["no valid TOML", "line 2"]),
        (b"\xff\xfe", ["no UTF-8"]),
        (b"a = " + b"[" * 5000, ["TOML"]),
        (b"a = " + b"9" * 5000, ["TOML"]),
    ],
)
def test_a_damaged_file_is_refused(content: bytes, parts: list[str], tmp_path: Path) -> None:
    path = tmp_path / "scene.toml"
    path.write_bytes(content)
    with pytest.raises(SceneError) as caught:
        load_scene(path)
    for part in [str(path), *parts]:
        assert part in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="does not exist"):
        load_scene(tmp_path / "none.toml")
    with pytest.raises(FileNotFoundError, match="is a folder"):
        load_scene(tmp_path)
