"""Obstacles of recordings: each keeps its friction, tables and sticks come from the recording, or it is refused."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

import isocloth as ic
from calibration.made import FABRIC, recording
from isocloth.calibration import SearchOptions, prepare
from isocloth.recordings import StickMarkers, TableTop

QUICK = SearchOptions(points=3, rounds=1)


def with_stick(gap: tuple[int, int] = (0, 0), noise: float = 0.0) -> ic.Recording:
    """The hanging sheet with a stick that swings far below it, its first end not seen between two frames."""
    made = recording()
    turn = 0.5 * np.sin(4.0 * made.times)
    middle = np.stack([0.15 + 0.0 * turn, 0.5 * np.sin(2.0 * made.times), 0.0 * turn - 2.0], axis=1)
    along = 0.375 * np.stack([np.cos(turn), np.sin(turn), 0.0 * turn], axis=1)
    random = np.random.default_rng(5)
    ends = {
        label: middle + side * along + noise * random.standard_normal(middle.shape)
        for label, side in (("21", -1.0), ("22", 1.0))
    }
    ends["21"][gap[0] : gap[1]] = np.nan
    return made.with_(others=ends, bodies={"rod": StickMarkers(ends=("21", "22"), radius=0.01)})


def test_every_obstacle_keeps_its_own_friction() -> None:
    given = [ic.Floor(-3.0, friction=0.7, name="floor"), ic.Box([0, 0, -3], [1, 1, 0.1], friction=0.1, name="table")]
    experiment = prepare(recording(), obstacles=given)
    assert {o.name: o.friction for o in experiment.simulation(FABRIC).obstacles} == {"floor": 0.7, "table": 0.1}
    other = experiment.at({"friction:table": 0.45, "friction": 0.9, "damping": 0.3})
    assert {o.name: o.friction for o in other.simulation().obstacles} == {"floor": 0.7, "table": 0.45}
    assert (other.fabric.friction, other.fabric.damping) == (0.9, 0.3)
    assert experiment.obstacles == tuple(given)


def test_a_table_of_the_recording_is_simulated() -> None:
    table = TableTop(height=-1.5, extent=(-1.0, 2.0, -0.5, 0.5), friction=0.4)
    box = prepare(recording().with_(bodies={"table": table})).obstacles[0]
    assert isinstance(box, ic.Box)
    assert (box.name, box.friction) == ("table", 0.4)
    gaps, normals = box.gaps(np.array([[0.5, 0.0, -1.4], [2.5, 0.0, -1.6]]), 0.0)
    assert gaps == pytest.approx([0.1, 0.5])
    assert normals == pytest.approx(np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]))
    floor = prepare(recording().with_(bodies={"ground": TableTop(height=-1.5)})).obstacles[0]
    assert isinstance(floor, ic.Floor)
    assert floor.gaps(np.array([[50.0, 0.0, -1.0]]), 0.0)[0] == pytest.approx([0.5])


@pytest.mark.parametrize("smooth", [True, False])
def test_a_stick_follows_its_end_markers_over_a_gap(smooth: bool) -> None:
    gap = (60, 66)
    whole, holed = (
        prepare(with_stick(g), smooth=smooth).obstacles[0] for g in ((0, 0), gap)
    )  # fmt: skip
    assert isinstance(whole, ic.Stick)
    assert isinstance(holed, ic.Stick)
    assert (whole.name, whole.radius, whole.friction) == ("rod", 0.01, 0.0)
    times = recording().times
    truth = with_stick()
    for t in np.linspace(0.0, 2.9, 30):
        a, b = (
            np.array([np.interp(t + times[0], times, truth.others[x][:, c]) for c in range(3)]) for x in ["21", "22"]
        )
        assert whole.ends(t) == pytest.approx(np.array([a, b]), abs=2e-3)
        assert holed.ends(t) == pytest.approx(whole.ends(t), abs=8e-3)
        assert np.linalg.norm(np.diff(holed.ends(t), axis=0)) == pytest.approx(0.75, abs=1e-4)


def test_a_stick_that_is_lost_for_too_long_is_refused() -> None:
    with pytest.raises(
        ic.RecordingError, match=r"end marker of a stick '21' is not seen from 0\.98.* to 1\.6.*longest_gap"
    ):
        prepare(with_stick((60, 100)))
    assert len(prepare(with_stick((60, 100)), longest_gap=0.8).obstacles) == 1


def test_noise_of_the_end_markers_does_not_change_the_length_of_a_stick() -> None:
    stick = prepare(with_stick(noise=1e-3)).obstacles[0]
    assert isinstance(stick, ic.Stick)
    lengths = [np.linalg.norm(np.diff(stick.ends(t), axis=0)) for t in 0.01 * np.arange(290)]  # at steps
    assert np.ptp(lengths) < 1e-9
    assert lengths[0] == pytest.approx(0.75, abs=5e-4)


def test_a_recording_with_an_obstacle_that_it_does_not_know_is_refused() -> None:
    """It would be fitted as free-hanging cloth, and nobody would know."""
    laid = recording().with_(metadata={"motion": "tablecloth"})
    with pytest.raises(
        ic.RecordingError, match=r"where the table was.*TableTop\(height=...\).*lowest marker is seen at"
    ):
        prepare(laid)
    with pytest.raises(ic.RecordingError, match=r"where the stick was.*StickMarkers"):
        prepare(recording().with_(metadata={"motion": "hit"}))
    with pytest.raises(ic.RecordingError, match="simulation with 2 obstacles"):
        prepare(recording().with_(metadata={"obstacles": 2}))
    assert prepare(laid, obstacles=[]).obstacles == ()
    assert len(prepare(laid.with_(bodies={"table": TableTop(height=-2.0)})).obstacles) == 1
    assert len(prepare(laid, obstacles=[ic.Floor(-2.0)]).obstacles) == 1


def test_a_trajectory_with_obstacles_says_so(tmp_path: Path) -> None:
    flat = ic.meshes.rectangle(0.3, 0.3, (3, 3))
    sim = ic.Simulation(flat, ic.Fabric(density=0.2), obstacles=[ic.Floor(-0.5)])
    sim.grasp([0, 2])
    sim.run(0.05).save(tmp_path / "t.npz")
    assert ic.Recording.load(tmp_path / "t.npz").metadata["obstacles"] == 1


def test_a_given_obstacle_takes_the_place_of_one_with_its_name() -> None:
    known = recording().with_(bodies={"table": TableTop(height=-1.5, friction=0.4), "ground": TableTop(height=-2.0)})
    found = prepare(known, obstacles=[ic.Floor(-1.6, friction=0.2, name="table")]).obstacles
    assert {o.name: o.friction for o in found} == {"ground": 0.3, "table": 0.2}


def test_obstacles_of_the_wrong_kind_are_refused() -> None:
    with pytest.raises(TypeError, match="obstacles is one Floor: expected a list"):
        prepare(recording(), obstacles=ic.Floor(-2.0))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"obstacles hold str.*load_obstacles"):
        prepare(recording(), obstacles="table.toml")


def test_a_start_inside_an_obstacle_is_moved_out_or_refused() -> None:
    lowest = float(prepare(recording()).start[:, 2].min())
    experiment = prepare(recording(), obstacles=[ic.Floor(lowest + 3e-3, name="table")])
    assert experiment.start[:, 2].min() == pytest.approx(lowest + 3e-3 + 0.5 * experiment.fabric.thickness)
    with pytest.raises(ic.RecordingError, match=r"starts \d+ mm inside 'table', at .*height, units, axes"):
        prepare(recording(), obstacles=[ic.Floor(lowest + 0.1, name="table")])


# ------------------------------------------------------------------ fits


@cache
def slid() -> ic.calibration.Experiment:
    """A sheet on a table with mu 0.25, pulled by one edge: where it lies says little, how far it follows much."""
    flat = ic.meshes.rectangle(0.3, 0.4, (4, 5))
    cloth = ic.Fabric(density=0.2, damping=0.2, bending=1e-4)
    laid = flat.with_vertices(flat.vertices + np.array([0.0, 0.0, 0.5 * cloth.thickness]))
    table = ic.Floor(0.0, friction=0.25, name="table")
    sim = ic.Simulation(laid, cloth, rest=flat, obstacles=[table])
    held = laid.nearest([[0.0, 0.4, 0.0], [0.3, 0.4, 0.0]])
    start = laid.vertices[held]

    def path(t: float) -> np.ndarray:
        go = max(t - 0.2, 0.0)
        return start + np.array([0.0, -0.25 * min(go, 0.8), 0.12 * np.sin(np.pi * min(go, 0.8) / 0.8)])

    sim.grasp(held, path)
    seen = ic.recordings.from_trajectory(sim.run(1.2), noise=2e-4, held=held).with_(metadata={})
    return prepare(seen, fabric=cloth, obstacles=[table.replace(friction=1.0)], smooth=False)


def test_the_friction_of_a_table_is_found_again() -> None:
    found = ic.calibrate(
        slid(), {"friction:table": (0.05, 0.65)}, "sweep", workers=1, train=(0.0, 1.2), test=(0.0, 1.2),
        search=SearchOptions(points=7, rounds=1),
    )  # fmt: skip
    assert found.values["friction:table"] == pytest.approx(0.25, abs=0.051)
    assert found.obstacles[0].friction == found.values["friction:table"]
    assert found.fabric == slid().fabric
    assert "mu_table" in found.summary()


def test_friction_of_the_cloth_on_itself_without_self_collision_is_refused() -> None:
    with pytest.raises(
        ValueError, match=r"'friction' is that of the cloth on itself.*'friction:table'.*self_collision"
    ):
        ic.calibrate(slid(), ["friction"], workers=1)
    with pytest.raises(ValueError, match="that of no obstacle; choose one of 'friction:table'"):
        ic.calibrate(slid(), ["friction:tabel"], workers=1)
    twice = prepare(recording(), obstacles=[ic.Floor(-2.0), ic.Floor(-3.0)])
    with pytest.raises(ValueError, match="2 obstacles are called 'floor'; give them different names"):
        ic.calibrate(twice, ["friction:floor"], workers=1)


def test_a_parameter_without_effect_is_not_called_known() -> None:
    """The cloth hangs far above the floor: a pseudoinverse gave its friction a standard deviation of 0."""
    far = prepare(recording(), obstacles=[ic.Floor(-2.0)])
    found = ic.calibrate(far, {"friction:floor": (0.1, 0.9)}, "sweep", workers=1, train=(0.0, 0.5), search=QUICK)
    assert np.isinf(found.uncertainty["friction:floor"])


def test_another_obstacle_is_another_calibration(tmp_path: Path) -> None:
    def fit(size: float) -> ic.calibration.Calibration:
        table = ic.Box([0.0, 0.0, -3.0], [size, 1.0, 0.1], name="table")
        return ic.calibrate(
            prepare(recording(), obstacles=[table]), {"damping": (0.3, 0.6)}, "sweep", workers=1, train=(0.0, 0.3),
            search=SearchOptions(points=2, rounds=1), save=tmp_path / "e.json", resume=True,
        )  # fmt: skip

    whole = fit(1.0)
    again = fit(1.0)
    assert (again.simulations, again.asked) == (0, whole.simulations)
    assert f"{whole.simulations} simulations (0 now, the others resumed)" in again.summary()
    assert again.to_dict()["simulations"] == whole.simulations
    with pytest.raises(ValueError, match="another calibration"):
        fit(1.1)


# ------------------------------------------------------------------ models


def test_a_parameter_of_a_model_is_found_again() -> None:
    soft = ic.models.Elastic(stretch=60.0)
    base = prepare(recording(), fabric=FABRIC, model=soft)
    made = base.at({"model.stretch": 60.0}).simulate()
    experiment = prepare(
        base.recording.with_(positions=made.positions), fabric=FABRIC, model=ic.models.Elastic(), markers=base.markers,
        smooth=False,
    )  # fmt: skip
    found = ic.calibrate(
        experiment, {"model.stretch": (20.0, 140.0)}, "sweep", workers=1, train=(0.0, 0.6),
        search=SearchOptions(points=7, rounds=1),
    )  # fmt: skip
    assert found.values["model.stretch"] == pytest.approx(60.0)
    assert found.model == soft
    assert found.fabric == FABRIC
    assert "stretch" in found.summary()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (["model.colour"], "'model.colour' is unknown; the model 'elastic' has model.stretch, model.weft, model.shear"),
        ({"model.bending": (1.0, 2.0)}, "'model.bending' is unknown"),
        (["model.weft"], "model.weft = None has no range"),
        ({"model.": (1.0, 2.0)}, "'model.' is unknown"),
    ],
)
def test_a_parameter_that_the_model_does_not_have_is_refused(parameters, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ic.calibrate(recording(), parameters, model="elastic", fabric=FABRIC, workers=1)


def test_models_are_compared_by_parameters_that_all_of_them_have() -> None:
    with pytest.raises(ValueError, match=r"'model\.stretch' is unknown; the model 'isometric' has none"):
        ic.compare_models(recording(), ["model.stretch"], models=["elastic", "isometric"], fabric=FABRIC)


def test_a_comparison_does_not_take_a_mistake_for_a_model_that_cannot_be_simulated(monkeypatch) -> None:
    def mistaken(*_: object, **__: object) -> None:
        raise ValueError("a mistake")

    monkeypatch.setattr("isocloth.calibration.preparation.simulation_mesh", mistaken)
    with pytest.raises(ValueError, match="a mistake"):
        ic.compare_models(recording(), models=["elastic", "isometric"], fabric=FABRIC)
