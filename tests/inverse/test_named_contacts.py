"""`contacts=` of `ic.invert`: nodes of a rough target that are laid on an obstacle; and where a simulation begins."""

import numpy as np
import pytest

import isocloth as ic
from validation.targets import skirt


def test_a_noisy_skirt_is_laid_on_where_its_contacts_are_named():
    target = skirt()
    waist = np.arange(25)
    clean = ic.invert(target.mesh, target.fabric, model=target.model, obstacles=target.obstacles)
    points = clean.target.vertices.copy()
    away = points[waist] / np.linalg.norm(points[waist], axis=1)[:, None]
    points[waist] += 2e-3 * np.linspace(-0.5, 1.0, 25)[:, None] * away  # more than a twentieth of 1 mm
    rough = target.mesh.with_vertices(points)
    found = ic.invert(rough, target.fabric, model=target.model, obstacles=target.obstacles, contacts=waist)
    # round the ball again, off it by what the chords between them ask for: centres of faces touch it
    gaps = target.obstacles[0].gaps(found.target.vertices[waist], 0.0)[0] - target.fabric.thickness / 2
    assert np.ptp(gaps) < 1e-9
    assert 0.0 <= gaps.min() < 1e-3
    assert np.abs(found._carried.supports.gap).max() < 1e-4 * target.fabric.thickness
    assert np.abs(found.target.vertices - points).max() < 2.1e-3
    assert found.reached
    with pytest.raises(ic.IsoclothError, match="within 10 thicknesses"):
        ic.invert(rough, target.fabric, model=target.model, obstacles=target.obstacles, contacts=[0, 150])


@pytest.mark.parametrize("law", ["coulomb", "gauss_seidel"])
def test_a_garment_stands_still_by_either_law(law):
    target = skirt()
    found = ic.invert(target.mesh, target.fabric, model=target.model, obstacles=target.obstacles)
    sim = found.simulation(contact=law)
    begin = sim.positions.copy()
    assert (np.abs(begin - found.target.vertices).max() == 0.0) == (law == "gauss_seidel")
    for _ in range(20):
        assert sim.step().converged
    assert np.abs(sim.positions - begin).max() < 1e-6
