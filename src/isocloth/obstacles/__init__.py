"""Obstacles: what the cloth cannot pass, where it is at any time, and how rough it is."""

from isocloth.obstacles.box import Box
from isocloth.obstacles.cylinders import Capsule, Cylinder
from isocloth.obstacles.implicit import Implicit
from isocloth.obstacles.obstacle import Features, Obstacle, Solid
from isocloth.obstacles.planes import Floor, Plane
from isocloth.obstacles.points import Points
from isocloth.obstacles.recorded import recorded
from isocloth.obstacles.sphere import Sphere
from isocloth.obstacles.stick import Stick
from isocloth.obstacles.triangle_mesh import TriangleMesh

__all__ = [
    "Box", "Capsule", "Cylinder", "Features", "Floor", "Implicit", "Obstacle", "Plane", "Points", "Solid", "Sphere",
    "Stick", "TriangleMesh", "recorded",
]  # fmt: skip
