"""What can be unrolled is unrolled exactly, nothing folds, and what is left over is least."""

from __future__ import annotations

import numpy as np
import pytest

import isocloth as ic
from isocloth.base.errors import InputError
from isocloth.patterns import cut_open
from isocloth.patterns.flatten import edge_stretch, flatten, laid_out
from isocloth.patterns.layout import in_rows
from isocloth.patterns.planar_start import conformal, embedding, local_frames, planar_frames, scaled
from isocloth.patterns.stretch_energy import MOST_STEPS, density, derivatives, least_distortion
from patterns.targets import meridian, sphere, torus, tube, up_the_side


def areas(cut, flat) -> np.ndarray:
    return 0.5 * np.linalg.det(planar_frames(flat.points, cut.corners))


def made(mesh: ic.Mesh, seams):
    cut = cut_open(mesh, seams)
    return cut, flatten(mesh, cut)


@pytest.mark.parametrize(("mesh", "seams"), [
    (tube(), [up_the_side()]), (tube(top=0.1), [up_the_side()]), (tube(top=0.1), [up_the_side(), up_the_side(at=5)]),
    (ic.meshes.ring(0.1, 0.5, (4, 30), element="triangle"), []),
    (ic.meshes.rectangle(0.6, 0.5, (7, 6), element="triangle"), []),
])  # fmt: skip
def test_what_can_be_unrolled_is_unrolled_exactly(mesh: ic.Mesh, seams) -> None:
    cut, flat = made(mesh, seams)
    assert np.abs(flat.stretch).max() < 1e-9
    assert flat.converged.all()
    np.testing.assert_allclose(areas(cut, flat), mesh.face_areas, rtol=1e-9)


def test_an_isometry_is_found_from_far_away() -> None:
    mesh = tube(top=0.1)
    cut = cut_open(mesh, [up_the_side()])
    points = mesh.vertices[cut.node]
    start = scaled(embedding(points, cut.corners, list(cut.loops[0])), cut.corners, mesh.area)
    assert np.abs(edge_stretch(mesh, cut, start)).max() > 0.1
    found = least_distortion(points, cut.corners, start)
    assert found.converged
    assert np.abs(edge_stretch(mesh, cut, found.points)).max() < 1e-9


@pytest.mark.parametrize(("mesh", "seams", "panels"), [
    (sphere(), [meridian()], 1), (sphere(), [[1 + 36 + j for j in range(12)] + [37]], 2), (tube(), [], 1),
    (torus((16, 10)), [[10 * i for i in range(16)] + [0], [*range(10), 0]], 1),
    (tube(radius=0.6, top=0.1, height=0.2), [], 1),
])  # fmt: skip
def test_what_cannot_be_unrolled_is_stretched_but_never_folded(mesh: ic.Mesh, seams, panels: int) -> None:
    cut, flat = made(mesh, seams)
    assert cut.n_panels == panels
    assert (areas(cut, flat) > 0.0).all()
    assert np.abs(flat.stretch).max() > 0.01
    assert flat.converged.all()

    def energy(points: np.ndarray) -> float:
        j = planar_frames(points, cut.corners) @ np.linalg.inv(local_frames(mesh.vertices, mesh.faces))
        return float(mesh.face_areas @ density(j))

    # A minimum: no small change is better.
    rng = np.random.default_rng(1)
    size = 1e-4 * float(np.ptp(flat.points))
    assert all(energy(flat.points + size * rng.normal(size=flat.points.shape)) > energy(flat.points) for _ in range(20))


def test_a_torus_as_a_ring_does_not_fold_though_it_is_far_from_flat() -> None:
    cut, flat = made(torus((16, 10)), [[*range(10), 0]])
    assert (areas(cut, flat) > 0.0).all()
    assert flat.stretch.max() > 1.0
    assert flat.converged.all() == (flat.steps.max() < MOST_STEPS)


def test_energy_and_its_derivatives() -> None:
    rng = np.random.default_rng(2)
    j = np.eye(2) + 0.3 * rng.normal(size=(6, 2, 2))
    assert (np.linalg.det(j) > 0.0).all()
    np.testing.assert_allclose(
        density(j), 0.5 * ((j**2).sum(axis=(1, 2)) + (np.linalg.inv(j) ** 2).sum(axis=(1, 2))), rtol=1e-12
    )
    first, second = derivatives(j)
    h = 1e-6
    for c in range(4):
        step = np.zeros(4)
        step[c] = h
        ahead, back = j + step.reshape(2, 2), j - step.reshape(2, 2)
        np.testing.assert_allclose(first[:, c], (density(ahead) - density(back)) / (2 * h), rtol=1e-6, atol=1e-8)
        slope = (derivatives(ahead)[0] - derivatives(back)[0]) / (2 * h)
        own = np.linalg.eigvalsh(second)
        assert own.min() > -1e-9
        convex = own.min(axis=1) > 1e-6  # where nothing was negative
        np.testing.assert_allclose(second[convex][:, c], slope[convex], rtol=1e-5, atol=1e-6)
    assert convex.any()
    assert np.isinf(density(np.diag([1.0, -1.0])[None]))[0]


def test_the_conformal_map_keeps_angles() -> None:
    mesh = sphere(24, 48)
    cap = ic.Mesh(mesh.vertices[: 1 + 48 * 6], mesh.faces[(mesh.faces < 1 + 48 * 6).all(axis=1)])
    flat = conformal(cap.vertices, cap.faces, cap.boundary_loops[0])
    assert flat is not None
    j = planar_frames(flat, cap.faces) @ np.linalg.inv(local_frames(cap.vertices, cap.faces))
    long, short = np.linalg.svd(j)[1].T
    assert (np.linalg.det(j) > 0.0).all()
    assert np.quantile(long / short, 0.9) < 1.05
    # Its energy is that of these singular values, and least for the two points that were held.
    border = cap.boundary_loops[0]
    far = border[np.argmax(np.linalg.norm(cap.vertices[border] - cap.vertices[border[0]], axis=1))]
    rng = np.random.default_rng(4)
    for _ in range(20):
        other = flat + 1e-4 * rng.normal(size=flat.shape)
        other[[border[0], far]] = flat[[border[0], far]]
        changed = planar_frames(other, cap.faces) @ np.linalg.inv(local_frames(cap.vertices, cap.faces))
        a, b = np.linalg.svd(changed)[1].T
        assert cap.face_areas @ (a - b) ** 2 > cap.face_areas @ (long - short) ** 2


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_panels_stand_upright_along_the_grain(axis: int) -> None:
    turn = np.roll(np.eye(3), axis, axis=0)  # the axis of the tube is another one
    mesh = tube().transformed(turn.T)
    cut = cut_open(mesh, [up_the_side(), up_the_side(at=8)])
    flat = flatten(mesh, cut, up=turn.T @ np.array([0.0, 0.0, 2.0]))
    for panel in range(2):
        own = cut.panel == panel
        low = flat.points[own & np.isin(cut.node, [7 * i for i in range(16)])]
        high = flat.points[own & np.isin(cut.node, [7 * i + 6 for i in range(16)])]
        np.testing.assert_allclose(np.ptp(low[:, 1]), 0.0, atol=1e-9)
        np.testing.assert_allclose(high[:, 1] - low[:, 1], 0.5, atol=1e-9)
    left, right = (flat.points[cut.panel == k] for k in range(2))
    np.testing.assert_allclose(left.min(axis=0), 0.0, atol=1e-12)
    assert left[:, 0].max() < right[:, 0].min() or left[:, 1].max() < right[:, 1].min()


def test_a_level_target_lies_along_its_longest_side() -> None:
    mesh = ic.meshes.rectangle(0.6, 0.2, (7, 4), element="triangle")
    _, flat = made(mesh, [])
    np.testing.assert_allclose(np.ptp(flat.points, axis=0), [0.2, 0.6], atol=1e-9)


def test_layout_keeps_panels_apart() -> None:
    rng = np.random.default_rng(3)
    sizes = rng.uniform(0.1, 1.0, size=(9, 2))
    corners = in_rows(sizes, 0.05)
    np.testing.assert_array_equal(corners[0], 0.0)
    for a in range(9):
        for b in range(a):
            apart = np.maximum(corners[a] - corners[b] - sizes[b], corners[b] - corners[a] - sizes[a])
            assert apart.max() >= 0.05 - 1e-12
    assert len(set(corners[:, 1])) > 1


def test_laid_out_moves_whole_panels() -> None:
    mesh = tube()
    cut, flat = made(mesh, [up_the_side(), up_the_side(at=8)])
    moved = laid_out(flat.points + cut.panel[:, None], cut, 0.5)
    np.testing.assert_allclose(edge_stretch(mesh, cut, moved), 0.0, atol=1e-9)


@pytest.mark.parametrize("up", [(0, 0, 0), (0, 1), "up", (0, 0, np.nan), None])
def test_no_direction_is_refused(up) -> None:
    mesh = tube()
    with pytest.raises((InputError, TypeError), match="up is"):
        flatten(mesh, cut_open(mesh, [up_the_side()]), up=up)
