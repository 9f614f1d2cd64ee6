"""Whatever a scene file holds, it is read or refused with a SceneError."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from isocloth.base.errors import SceneError
from isocloth.scenes import Scene
from isocloth.scenes.load import read_scene
from isocloth.scenes.read_cloth import SHAPES
from isocloth.scenes.read_motion import FIELDS
from isocloth.scenes.read_obstacle import KINDS

from .scene_texts import good, good_with_obstacles

KEYS = sorted(
    {key for sizes in SHAPES.values() for key in sizes}
    | {key for keys in FIELDS.values() for key in keys}
    | {key for keys in KINDS.values() for key in keys}
    | {"kind", "friction", "velocity", "spin"}
    | {"shape", "position", "rotation", "noise", "seed", "name", "density", "bending", "duration", "timestep", "every"}
    | {"gravity", "solver", "nodes", "at", "where", "motion", "release", "radius", "force", "max_force"}
    | {"resolve_start"}
)  # fmt: skip
WORDS = sorted({*SHAPES, *FIELDS, *KINDS, "corners", "corner 0", "boundary loop 3", "newton", "x"})

scalars = (
    st.none().map(lambda _: 10**400)
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(WORDS)
    | st.dates()
)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=3)
)
keys = st.sampled_from(KEYS) | st.text(max_size=8)
tables = st.dictionaries(keys, values, max_size=6)
points = st.lists(st.floats(-1, 1) | st.integers(-1, 1), min_size=3, max_size=3)


def outcome(data: Any) -> Scene | SceneError:
    try:
        return read_scene(data)
    except SceneError as error:
        return error


@settings(max_examples=60, deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(["cloth", "fabric", "simulation", "grasp", "pinch", "obstacle", "title"]) | keys,
        values | tables,
    )
)
def test_any_file_is_read_or_refused(data: dict[str, Any]) -> None:
    outcome(data)


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(["cloth", "fabric", "simulation", 0, 1]), keys, values)
def test_any_value_in_any_field_is_read_or_refused(table: str | int, key: str, value: Any) -> None:
    data = good()
    target = data["grasp"][table] if isinstance(table, int) else data[table]
    target[key] = value
    result = outcome(data)
    if isinstance(result, SceneError):
        name = f"grasp[{table}]" if isinstance(table, int) else table
        assert str(result)
        assert name in str(result)


@settings(max_examples=200, deadline=None)
@given(st.integers(0, len(KINDS) - 1), keys, values)
def test_any_value_in_any_obstacle_is_read_or_refused(number: int, key: str, value: Any) -> None:
    data = good_with_obstacles()
    data["obstacle"][number][key] = value
    result = outcome(data)
    if isinstance(result, SceneError):
        assert f"obstacle[{number}]" in str(result)


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(["cloth", "fabric", "simulation", "grasp"]), st.text(min_size=1, max_size=12))
def test_unknown_keys_are_refused(table: str, key: str) -> None:
    data = good()
    target = data["grasp"][1] if table == "grasp" else data[table]
    if key in target or key in KEYS or key in {"thickness", "shear", "membrane", "self_collision", "contact"}:
        return
    target[key] = 1
    result = outcome(data)
    assert isinstance(result, SceneError)
    assert key in str(result)


@settings(max_examples=50, deadline=None)
@given(points, points, st.integers(0, 3))
def test_placing_a_cloth_keeps_its_shape(angles: list[float], position: list[float], seed: int) -> None:
    from isocloth.scenes import cloth_mesh

    data = good()
    degrees = [180.0 * angle for angle in angles]
    data["cloth"] |= {"rotation": degrees, "position": position, "seed": seed}
    mesh = cloth_mesh(read_scene(data))
    assert abs(mesh.area - 0.09) < 1e-9
    assert abs(mesh.edge_lengths.max() - 0.1) < 1e-9
