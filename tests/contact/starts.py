"""Starts that cannot be, for tests: a sheet at z = 0 about the origin, and bodies it is in."""

import numpy as np

import isocloth as ic
from isocloth.obstacles import shapes


def sheet(nodes=9, size=0.3, height=0.0):
    mesh = ic.meshes.rectangle(size, size, shape=(nodes, nodes))
    return mesh.with_vertices(mesh.vertices + np.array([-size / 2, -size / 2, height]))


def _square(p):
    return np.einsum("ij,ij->i", p, p) - 0.05**2


def _slope(p):
    return 2.0 * p


def cuboid(centre, size):
    vertices, faces = shapes.box(np.array(size))
    return ic.TriangleMesh(vertices, faces, centre=centre)


#: body -> depth of the sheet in it, m, and what an error says of it; no depth where walls cut or touch
BODIES = {
    "floor": (ic.Floor(0.02), 0.02, "is 20 mm below its surface"),
    "plane": (ic.Plane([0, 0, 0.01], [0, 0, 1]), 0.01, "is 10 mm below its surface"),
    "sphere": (ic.Sphere([0, 0, -0.02], 0.05), 0.03, "is 30 mm below its surface"),
    "sphere about the middle": (ic.Sphere([0, 0, 0], 0.05), 0.05, "is 50 mm below its surface"),
    "box": (ic.Box([0, 0, -0.03], [0.1, 0.1, 0.1]), 0.02, "is 20 mm below its surface"),
    "capsule": (ic.Capsule([-0.1, 0, -0.02], [0.1, 0, -0.02], 0.04), 0.02, "is 20 mm below its surface"),
    "cylinder": (ic.Cylinder([-0.1, 0, -0.02], [0.1, 0, -0.02], 0.04), 0.02, "is 20 mm below its surface"),
    "implicit": (ic.Implicit(_square, _slope, centre=[0, 0, -0.02]), None, "below its surface"),
    "mesh that cuts": (cuboid([0.1, 0, 0.02], [0.1, 0.1, 0.1]), None, "cuts the cloth at the start, in"),
    "mesh around": (cuboid([0, 0, 0], [1, 1, 0.4]), 0.2, "is 200 mm below its surface; all of the cloth is"),
    "mesh below": (cuboid([0, 0, -0.05], [0.6, 0.6, 0.1]), None, "on the very surface of"),
    "stick": (ic.Stick([-0.2, 0, -0.005], [0.2, 0, -0.005], 0.01), 0.005, "is 5 mm below its surface"),
    "stick through it": (ic.Stick([0.01, 0.01, -0.1], [0.01, 0.013, 0.1], 0.01), None, "cuts the cloth at the start"),
}
