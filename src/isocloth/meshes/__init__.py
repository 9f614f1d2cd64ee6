"""Meshes: the value `Mesh`, its validation and files, and generators of common cloths."""

from isocloth.meshes.dresses import dress
from isocloth.meshes.irregular import irregular_rectangle
from isocloth.meshes.mesh import Mesh
from isocloth.meshes.pants import shorts
from isocloth.meshes.pieces import together
from isocloth.meshes.rectangles import rectangle
from isocloth.meshes.rings import ring
from isocloth.meshes.tank_tops import tank_top

__all__ = ["Mesh", "dress", "irregular_rectangle", "rectangle", "ring", "shorts", "tank_top", "together"]
