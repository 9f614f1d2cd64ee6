"""Whatever is given is taken or refused with an error of isocloth, soon; values and damages are drawn at random."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import isocloth as ic
from isocloth.base.errors import IsoclothError

from . import files
from .clear import time_limit, warm_up
from .geometry import SHEET

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.complex_numbers()
    | st.text(max_size=6)
    | st.binary(max_size=4)
    | st.sampled_from([ic.Floor, SHEET, ic.Fabric(), object()])
)
arrays = st.lists(st.integers(0, 4), max_size=3).map(np.zeros) | st.just(np.array([None, "x"], dtype=object))
values = st.recursive(
    scalars | arrays,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=8,
)

#: everything that takes one value of any kind
TAKERS: dict[str, Any] = {
    "density": lambda v: ic.Fabric(density=v),
    "bending": lambda v: ic.Fabric(bending=v),
    "centre": lambda v: ic.Sphere(v, 0.1),
    "radius": lambda v: ic.Sphere([0, 0, 0], v),
    "size": lambda v: ic.Box([0, 0, 0], v),
    "rotation": lambda v: ic.Box([0, 0, 0], [1, 1, 1], rotation=v),
    "points": ic.Points,
    "vertices": lambda v: ic.Mesh(v, [[0, 1, 2]]),
    "faces": lambda v: ic.Mesh(SHEET.vertices, v),
    "corners": lambda v: ic.Mesh(SHEET.vertices, SHEET.faces, corners=v),
    "width": lambda v: ic.meshes.rectangle(v, 1, (3, 3)),
    "shape": lambda v: ic.meshes.rectangle(1, 1, v),
    "nearest": SHEET.nearest,
    "translation": lambda v: SHEET.transformed(translation=v),
    "times": lambda v: ic.Trajectory(times=v, positions=SHEET.vertices[None], faces=SHEET.faces, rest=SHEET.vertices),
    "positions": lambda v: ic.Trajectory(times=[0.0], positions=v, faces=SHEET.faces, rest=SHEET.vertices),
    "frame": lambda v: ic.Recording(times=v, positions=np.zeros((2, 3, 3))),
    "markers": lambda v: ic.Recording(times=[0.0, 1.0], positions=v),
    "cloud": lambda v: ic.reconstruction.box_grid(v, 0.1),
    "stretch": lambda v: ic.models.Elastic(stretch=v),
    "penetration": lambda v: ic.ContactOptions(penetration=v),
    "mesh file": ic.Mesh.load,
    **{
        name: (lambda v, name=name: ic.Simulation(SHEET, **{name: v}))  # type: ignore[misc]
        for name in ("timestep", "gravity", "rest", "units", "integrator", "solver", "model", "obstacles",
                     "self_collision", "extra_force", "contact", "fabric")
    },
    "nodes": lambda v: ic.Simulation(SHEET).grasp(v),
    "path": lambda v: ic.Simulation(SHEET).grasp([0], v),
    "duration": lambda v: _planned(duration=v),
    "every": lambda v: _planned(duration=0.1, every=v),
}  # fmt: skip


def _planned(duration: Any, every: Any = None) -> None:
    """A run that ends before its first step."""
    sim = ic.Simulation(SHEET)
    sim.step = lambda: (_ for _ in ()).throw(StopRun)  # type: ignore[method-assign]
    with contextlib.suppress(StopRun):
        sim.run(duration, every=every)


class StopRun(Exception):
    """The arguments were taken."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("any_input")
    warm_up()
    files.prepare(made)
    return made


def taken_or_refused(run: Any, *given: Any) -> None:
    with time_limit(), contextlib.suppress(IsoclothError):
        run(*given)


@pytest.mark.filterwarnings("ignore")
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=st.sampled_from(sorted(TAKERS)), value=values)
def test_any_value_is_taken_or_refused(folder: Path, name: str, value: Any) -> None:
    taken_or_refused(TAKERS[name], value)


READ = [(kind, name) for kind, (_, names) in files.READERS.items() for name in names]


@pytest.mark.filterwarnings("ignore")
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(spot=st.sampled_from(READ), data=st.data())
def test_any_damaged_file_is_read_or_refused(folder: Path, spot: tuple[str, str], data: st.DataObject) -> None:
    kind, name = spot
    good = folder / name
    content = bytearray(good.read_bytes() if good.exists() else b"0 0 0\n1 0 0\n0 1 0\n")
    for _ in range(data.draw(st.integers(0, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(content)))
    bad = folder / f"any.{name}"
    bad.write_bytes(bytes(content[cut:] if data.draw(st.booleans()) else content))
    taken_or_refused(files.READERS[kind][0], bad)
    bad.unlink(missing_ok=True)
