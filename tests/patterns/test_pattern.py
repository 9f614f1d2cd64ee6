"""Panels and densities from hanging shapes: exact, sewn, captured, split, refused, interrupted."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import isocloth as ic
from isocloth.base.errors import ConvergenceError
from isocloth.patterns import cut_open, flatten
from isocloth.patterns.checkpoint import Checkpoint
from isocloth.patterns.fit import Trial
from isocloth.patterns.fit import _chosen as chosen
from isocloth.patterns.fitted import ASTRAY
from isocloth.patterns.split import split
from validation.pattern_targets import skirt

from .targets import tube, up_the_side

SIDE, DENSITY = 7, 0.25
SHEET = ic.meshes.rectangle(1.0, 1.0, (SIDE, SIDE), element="triangle")
PINS = SHEET.nearest([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]])
SHELL = ic.models.DiscreteShell(stretch=5.0, bending=1e-2, area=2.0)
KOITER = ic.models.KoiterShell(young=1.5e5, poisson=0.4, thickness=2e-3)


def hung(mesh: ic.Mesh, model: ic.models.Model, density: float, held: object, rest: object = None) -> ic.Mesh:
    """Where a cloth hangs, stably."""
    start = mesh.vertices.copy()
    if rest is None:
        start[:, 2] -= 0.2 * np.sin(np.pi * start[:, 0]) * np.sin(np.pi * start[:, 1])
    found = ic.equilibrium(mesh, ic.Fabric(density=density), model=model, held=held, rest=rest, start=start)
    assert found.converged
    assert found.stable
    return mesh.with_vertices(found.positions)


@pytest.fixture(scope="module")
def sheet() -> ic.Mesh:
    return hung(SHEET, SHELL, DENSITY, PINS)


@pytest.fixture(scope="module")
def sewn() -> tuple[ic.Mesh, np.ndarray, list[int]]:
    """A tube that narrows downwards, sewn of one panel; the panel; its nodes that are held."""
    mesh = tube(around=12, up=5, radius=0.16, top=0.22, height=0.4)
    waist = [i * 6 + 5 for i in range(12)]
    cut = cut_open(mesh, [up_the_side(5)])
    flat = flatten(mesh, cut).points
    corners = np.concatenate([flat, np.zeros((len(flat), 1))], axis=1)[cut.corners]
    bent = mesh.vertices * [1.0, 1.0, 1.0]
    bent[:, 0] += 0.02 * (0.4 - bent[:, 2]) / 0.4
    start = mesh.with_vertices(np.where(np.isin(np.arange(72), waist)[:, None], mesh.vertices, bent))
    shell = ic.models.DiscreteShell(stretch=20.0, bending=2e-3)
    return hung(start, shell, 0.2, waist, corners), flat, waist


def lengths(flat: np.ndarray, edges: np.ndarray) -> np.ndarray:
    return np.asarray(np.linalg.norm(flat[edges[:, 0]] - flat[edges[:, 1]], axis=1))


@pytest.mark.parametrize("factor", [0.2, 3.0])
def test_density_and_panel_of_a_sheet_come_back_exactly(sheet: ic.Mesh, factor: float) -> None:
    found = ic.pattern(sheet, ic.Fabric(density=factor * DENSITY), model=SHELL, held=PINS, progress=False)
    assert found.reached
    assert found.exact
    assert found.problem == ""
    assert found.density == pytest.approx(DENSITY, rel=1e-8)
    np.testing.assert_allclose(lengths(found.flat, SHEET.edges), SHEET.edge_lengths, rtol=1e-7)
    assert found.deviations == {"density": 0.0}
    np.testing.assert_allclose(found.equilibrium.positions, sheet.vertices, atol=1e-9)


def test_the_sheet_does_not_unroll_to_its_panel(sheet: ic.Mesh) -> None:
    """What the search is for: without forces the panel is off by centimetres."""
    plain = flatten(sheet, cut_open(sheet)).points
    assert np.abs(lengths(plain, SHEET.edges) / SHEET.edge_lengths - 1.0).max() > 0.02


def test_bending_is_found_relative_to_the_density(sheet: ic.Mesh) -> None:
    wrong = ic.models.DiscreteShell(stretch=5.0, bending=3e-2, area=2.0)
    found = ic.pattern(sheet, ic.Fabric(density=DENSITY), model=wrong, held=PINS, unknown="bending", progress=False)
    assert found.reached
    assert found.values["bending"] == pytest.approx(1e-2, rel=1e-6)
    twice = ic.models.DiscreteShell(stretch=10.0, bending=6e-2, area=4.0)
    both = ic.pattern(sheet, ic.Fabric(density=2 * DENSITY), model=twice, held=PINS, unknown="bending", progress=False)
    assert both.values["bending"] == pytest.approx(2e-2, rel=1e-6)  # ratios are all that is told


def test_a_scale_is_refused(sheet: ic.Mesh) -> None:
    with pytest.raises(ValueError, match="only ratios"):
        ic.pattern(sheet, model=SHELL, held=PINS, unknown=("density", "stretch", "bending", "area"))
    with pytest.raises(ValueError, match="only ratios"):
        ic.pattern(sheet, model=KOITER, held=PINS, unknown=("density", "young"))


def test_a_sewn_tube_gets_its_panel_back(sewn: tuple[ic.Mesh, np.ndarray, list[int]]) -> None:
    target, flat, waist = sewn
    shell = ic.models.DiscreteShell(stretch=20.0, bending=2e-3)
    seams = {"back": up_the_side(5)}
    found = ic.pattern(target, ic.Fabric(density=0.1), model=shell, seams=seams, held=waist, progress=False)
    assert found.reached
    assert found.density == pytest.approx(0.2, rel=1e-5)
    one, other = found.seam_lengths["back"]
    assert one == pytest.approx(other, rel=1e-12)
    cut = cut_open(target, seams)
    # edges between hands are told by nothing: these bear what they ask for
    told = ~np.isin(cut.node[cut.edges], waist).all(axis=1)
    np.testing.assert_allclose(lengths(found.flat, cut.edges)[told], lengths(flat, cut.edges)[told], atol=1e-3)
    assert np.abs(found.equilibrium.positions - target.vertices).max() < 1e-5
    sim = found.simulation()
    sim.run(0.1)
    assert np.abs(sim.positions - target.vertices).max() < 1e-5


def test_captured_sheets_tell_density_and_errors(sheet: ic.Mesh) -> None:
    off, said, noises = [], [], []
    for seed in range(5):
        noise = 1e-3 * np.random.default_rng(seed).normal(size=sheet.vertices.shape)
        found = ic.pattern(
            sheet.with_vertices(sheet.vertices + noise), ic.Fabric(density=0.1), model=SHELL, held=PINS, noise=1e-3,
            progress=False,
        )  # fmt: skip
        assert found.reached
        off.append(found.density / DENSITY - 1.0)
        said.append(found.deviations["density"] / found.density)
        noises.append(found.noise)
    assert np.abs(off).max() < 0.15
    assert (np.abs(off) < 2.0 * np.array(said)).sum() >= 4
    assert 0.7e-3 < np.mean(noises) < 1.3e-3
    assert 0.3e-3 < found.flat_deviations.mean() < 10e-3


def test_a_wrong_noise_is_noticed(sheet: ic.Mesh) -> None:
    noise = 5e-3 * np.random.default_rng(0).normal(size=sheet.vertices.shape)
    found = ic.pattern(
        sheet.with_vertices(sheet.vertices + noise), ic.Fabric(density=0.1), model=SHELL, held=PINS, noise=1e-4,
        progress=False,
    )  # fmt: skip
    assert not found.reached
    assert "and not the 0.1 mm given" in found.problem
    assert found.noise > 3e-3


def test_a_noise_in_millimetres_is_refused(sheet: ic.Mesh) -> None:
    with pytest.raises(ValueError, match="less than a tenth of the size"):
        ic.pattern(sheet, ic.Fabric(density=0.1), model=SHELL, held=PINS, noise=1.0)


def test_values_are_doubted_where_the_best_fit_buckles() -> None:
    """A skirt to whose shape its weight does less than errors do: they are fitted by a cloth three times as heavy."""
    soft = ic.models.DiscreteShell(stretch=20.0, bending=2e-4, area=2.0)
    worn = skirt(6, 16, soft, 0.2)
    errors = 1e-3 * np.random.default_rng(2).normal(size=worn.target.vertices.shape)
    found = ic.pattern(
        worn.target.with_vertices(worn.target.vertices + errors), ic.Fabric(density=0.1), model=soft, seams=worn.seams,
        held=worn.held, noise=1e-3, progress=False,
    )  # fmt: skip
    assert not found.stable
    assert found.density > 0.4
    assert "density and the deviations are not to be relied on" in found.problem
    assert dict(found.lines())["density"].endswith("kg/m^2, not to be relied on")


def test_the_least_smooth_fit_is_taken_unless_another_is_clearly_better() -> None:
    def trial(jump: float, score: float, ended: bool = True) -> Trial:
        return Trial(jump, 1.0, 0.6, score, np.zeros(1), ended)

    alike = [trial(1.0, 1.0, ended=False), trial(0.3, 1.005), trial(0.1, 1.0), trial(0.03, 1.3)]
    assert chosen(alike) is alike[1]
    better = [trial(1.0, 1.2), trial(0.3, 1.0), trial(0.1, 0.995)]
    assert chosen(better) is better[1]
    assert chosen(alike[:1]) is None


def test_a_density_that_went_astray_is_named(sewn: tuple[ic.Mesh, np.ndarray, list[int]]) -> None:
    target, _, waist = sewn
    errors = 1e-3 * np.random.default_rng(0).normal(size=target.vertices.shape)
    found = ic.pattern(
        target.with_vertices(target.vertices + errors), ic.Fabric(density=0.1),
        model=ic.models.DiscreteShell(stretch=20.0, bending=2e-3), seams=[up_the_side(5)], held=waist, noise=1e-3,
        progress=False,
    )  # fmt: skip
    assert not found.reached
    assert np.isinf(found.deviations["density"])
    assert "no equilibrium of flat panels was found" in found.problem
    assert ("density went ever farther" in found.problem) == all(abs(t.logs[0]) > ASTRAY for t in found.trials)


def test_a_target_that_no_panel_has_says_how_far_it_is_off(sheet: ic.Mesh) -> None:
    """A dome on its corners: no flat sheet of this cloth stands like it."""
    x, y, _ = SHEET.vertices.T
    dome = SHEET.with_vertices(np.stack([x, y, 0.5 * np.sin(np.pi * x) * np.sin(np.pi * y)], axis=1))
    found = ic.pattern(dome, ic.Fabric(density=0.25), model=SHELL, held=PINS, progress=False)
    assert not found.reached
    assert "no flat panels hang exactly like this" in found.problem or "no end" in found.problem
    assert found.error > 1e-3


def test_faces_split_in_four_find_the_density_of_a_finer_cloth() -> None:
    """A cloth of 25 x 25 nodes, of which 7 x 7 are given: one that is computed as coarsely is too stiff."""
    fine = ic.meshes.rectangle(1.0, 1.0, (25, 25), element="triangle")
    pins = fine.nearest(SHEET.vertices[PINS])
    at = hung(fine, KOITER, 1.87, pins).vertices[fine.nearest(SHEET.vertices)]
    off = []
    for times in (0, 1):
        found = ic.pattern(
            SHEET.with_vertices(at), ic.Fabric(density=1.5), model=KOITER, held=PINS, refine=times, progress=False
        )
        off.append(abs(found.density / 1.87 - 1.0))
    assert off[1] < 0.7 * off[0]


def test_split_faces_fill_the_same_panels() -> None:
    mesh = tube(around=8, up=3)
    cut = cut_open(mesh, [up_the_side(3)])
    flat = flatten(mesh, cut).points
    finer = split(mesh, cut, 2)
    assert len(finer.mesh.faces) == 16 * len(mesh.faces)
    points = finer.between @ flat
    np.testing.assert_allclose(points[finer.place], flat)
    small, large = (
        np.linalg.det(np.stack([p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]], axis=1))
        for p in (points[finer.corners], flat[cut.corners])
    )
    np.testing.assert_allclose(small.reshape(-1, 16).sum(axis=1), large)
    np.testing.assert_array_equal(finer.mesh.vertices[finer.seen], mesh.vertices)


def test_cloth_that_does_not_stretch_unrolls() -> None:
    mesh = tube(around=24, up=8)
    found = ic.pattern(mesh, model="isometric", seams=[up_the_side(8)])
    assert found.reached
    assert found.error < 1e-9
    wide, high = sorted(found.boxes[0])
    assert (wide, high) == pytest.approx((0.5, 24 * 0.6 * np.sin(np.pi / 24)), rel=1e-9)
    with pytest.raises(ValueError, match="1 seams"):
        found.simulation()


def test_a_bent_sheet_that_does_not_stretch_is_simulated_from_its_panel() -> None:
    flat = ic.meshes.rectangle(0.4, 0.3, (9, 7), element="triangle")
    x, y, _ = flat.vertices.T
    roll = flat.with_vertices(np.stack([0.2 * np.sin(x / 0.2), y, 0.2 * np.cos(x / 0.2)], axis=1))
    found = ic.pattern(roll, ic.fabrics["denim"], model="isometric")
    assert found.reached
    sim = found.simulation()
    sim.grasp([0, 1])
    moved = sim.run(0.1)
    assert moved.reports["isometry_error"].max() < 1e-2
    assert np.abs(sim.positions - roll.vertices).max() > 1e-3


def test_a_ball_does_not_unroll() -> None:
    grid = ic.meshes.rectangle(1.0, 1.0, (9, 9), element="triangle")
    x, y, _ = grid.vertices.T
    dome = grid.with_vertices(np.stack([x, y, np.sqrt(1.0 - (x - 0.5) ** 2 - (y - 0.5) ** 2)], axis=1))
    found = ic.pattern(dome, model="isometric")
    assert not found.reached
    assert "does not unroll" in found.problem


def test_points_of_a_bent_cloth_give_its_rectangle() -> None:
    rng = np.random.default_rng(3)
    u, v = rng.random((2, 1500)) * [[0.5], [0.3]]
    points = np.stack([0.25 * np.sin(u / 0.25), v, 0.25 * np.cos(u / 0.25)], axis=1)
    found = ic.pattern(points + 5e-4 * rng.normal(size=points.shape), model="isometric")
    assert found.boxes[0] == pytest.approx((0.3, 0.5), abs=3e-3)
    assert 0.0 < found.unseen < 0.01
    assert ("points", "1500 of 1500") in found.lines()


def test_what_forces_do_is_not_asked_of_cloth_that_does_not_stretch(sheet: ic.Mesh) -> None:
    for options in ({"held": PINS}, {"unknown": ("density",)}, {"obstacles": [ic.Floor()]}, {"self_collision": True}):
        with pytest.raises(ValueError, match="unrolls to"):
            ic.pattern(sheet, model="isometric", **options)


def test_what_holds_nothing_is_refused(sheet: ic.Mesh) -> None:
    with pytest.raises(ConvergenceError, match="nothing holds"):
        ic.pattern(sheet, model=SHELL)
    with pytest.raises(TypeError, match="make a surface first"):
        ic.pattern(sheet.vertices, model=SHELL, held=PINS)
    with pytest.raises(ValueError, match="refine"):
        ic.pattern(sheet, model=SHELL, held=PINS, refine=1)


class Killed(BaseException):
    """What no code catches."""


@pytest.mark.parametrize("noise", [None, 1e-3])
@pytest.mark.parametrize("after", [1, 3])
def test_a_killed_search_ends_in_the_same_bits(
    sheet: ic.Mesh, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, noise: float | None, after: int
) -> None:
    errors = np.random.default_rng(0).normal(size=sheet.vertices.shape)
    target = sheet.with_vertices(sheet.vertices + (noise or 0.0) * errors)

    def search(**options: object) -> ic.Pattern:
        return ic.pattern(
            target, ic.Fabric(density=0.1), model=SHELL, held=PINS, noise=noise, progress=False, **options
        )

    whole, path, save, left = search(), tmp_path / "kept.npz", Checkpoint.save, [after]

    def save_and_die(self: Checkpoint, at: object) -> None:
        save(self, at)
        left[0] -= 1
        if left[0] < 0:
            raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(Checkpoint, "save", save_and_die)
        with pytest.raises(Killed):
            search(checkpoint=path)
    assert path.exists()
    with pytest.raises(ValueError, match="other noise"):
        ic.pattern(target, ic.Fabric(density=0.1), model=SHELL, held=PINS, noise=2e-3, checkpoint=path)
    resumed = search(checkpoint=path)
    assert not path.exists()
    np.testing.assert_array_equal(resumed.flat, whole.flat)
    assert resumed.density == whole.density
    assert resumed.iterations == whole.iterations
