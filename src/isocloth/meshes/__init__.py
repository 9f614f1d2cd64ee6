"""Meshes: the value `Mesh`, its validation and files, and generators of common cloths."""

from isocloth.meshes.mesh import Mesh
from isocloth.meshes.rectangles import rectangle
from isocloth.meshes.rings import ring

__all__ = ["Mesh", "rectangle", "ring"]
