"""A sheet on a slope: the same scene for every law of friction."""

import numpy as np

import isocloth as ic

TILT = np.deg2rad(20.0)
NORMAL = np.array([-np.sin(TILT), 0.0, np.cos(TILT)])
UPHILL = np.array([np.cos(TILT), 0.0, np.sin(TILT)])


def sheet_on_slope(contact, friction, **options):
    mesh = ic.meshes.rectangle(0.2, 0.2, shape=(5, 5))
    fabric = ic.Fabric(density=0.2)
    lay = np.stack([UPHILL, [0.0, 1.0, 0.0], NORMAL], axis=1)
    start = (mesh.vertices - mesh.vertices.mean(axis=0)) @ lay.T + NORMAL * fabric.thickness / 2
    plane = ic.Plane([0, 0, 0], NORMAL, friction=friction)
    return ic.Simulation(mesh.with_vertices(start), fabric, obstacles=[plane], contact=contact, **options), plane
