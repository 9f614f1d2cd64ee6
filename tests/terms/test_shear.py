import numpy as np
import pytest

import isocloth as ic
from isocloth.terms.isometry import isometry
from isocloth.terms.shear import shear

MESHES = {
    "quads": ic.meshes.rectangle(0.4, 0.3, shape=(9, 7)),
    "cut triangles": ic.meshes.rectangle(0.4, 0.3, shape=(9, 7), element="triangle"),
    "irregular": ic.meshes.irregular_rectangle(0.4, 0.3, nodes=80, seed=0),
}


@pytest.mark.parametrize("vertical", [False, True])
@pytest.mark.parametrize("name", sorted(MESHES))
def test_a_uniform_shear_has_the_energy_of_its_angle_and_leaves_warp_and_weft_alone(name, vertical):
    mesh, angle, stiffness = MESHES[name], 0.01, 20.0
    v = mesh.vertices
    sheared = np.stack([v[:, 0] + angle * v[:, 1], v[:, 1], v[:, 2]], axis=1)
    if vertical:  # the same cloth in another plane has the same threads
        mesh = mesh.with_vertices(v[:, [2, 0, 1]])
        sheared = sheared[:, [2, 0, 1]]
    rows = shear(mesh, stiffness)
    energy = np.sum(rows.weight * rows.values(sheared) ** 2) / 2
    assert energy == pytest.approx(stiffness * angle**2 * mesh.area / 2, rel=1e-3)
    kind = "net" if mesh.element == "quad" else "nodal"
    metric = isometry(mesh, 1.0, kind, shear=False)
    inside = ~np.isin(metric.nodes, mesh.boundary_nodes)
    whole = np.add.reduceat(~inside, metric.ptr[:-1]) < metric.sizes  # edges of the border run along no thread
    assert np.abs(metric.values(sheared)[whole]).max() < 2 * angle**2


@pytest.mark.parametrize("name", sorted(MESHES))
def test_a_cloth_that_may_shear_freely_hangs_longer_than_one_that_may_not(name):
    mesh = MESHES[name]
    lengths = []
    for stiffness in (0.0, None):
        sim = ic.Simulation(mesh, ic.Fabric(density=0.2, damping=1.0, shear=stiffness))
        sim.grasp(mesh.nearest([0, 0, 0]))
        for _ in range(150):
            sim.step()
        far = mesh.nearest([0.4, 0.3, 0])
        lengths.append(np.linalg.norm(sim.positions[far] - sim.positions[mesh.nearest([0, 0, 0])]) / 0.5)
    assert lengths[1] < 1.01
    assert lengths[0] > 1.1
