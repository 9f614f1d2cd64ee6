"""A sleeveless dress: a tank top whose sides draw in at the waist and widen towards the hem."""

from __future__ import annotations

import numpy as np

from isocloth.base.errors import InputError
from isocloth.meshes import arguments
from isocloth.meshes.mesh import Mesh
from isocloth.meshes.panels import LEAST_TRIANGLES, Curve, garment
from isocloth.meshes.tank_tops import sleeveless


def dress(
    *,
    width: float = 0.44,
    waist: float = 0.38,
    hem: float = 0.90,
    height: float = 1.05,
    waist_height: float = 0.65,
    neck_width: float = 0.22,
    neck_depth: float = 0.16,
    back_neck_depth: float = 0.10,
    strap: float = 0.06,
    arm_depth: float = 0.22,
    depth: float = 0.50,
    triangles: int = 3000,
    seed: int = 0,
) -> Mesh:
    """Sleeveless dress of triangles with the shoulders up (+z), front towards -y, the middle of its hem at the origin.

    Its surface is a sphere with four holes: hem, neck and two arms. Normals point outwards. Front and back
    are sewn at the sides and the shoulders and bulge apart with elliptic cross-sections, most where it is widest.

    Parameters
    ----------
    width, waist, hem : across the chest, the waist and the hem, laid flat, in m.
    height : from the hem to the top of the shoulders, in m.
    waist_height : from the hem to the waist, in m.
    neck_width, neck_depth, back_neck_depth : width of the neck opening and its depth below the shoulders on
        the front and on the back, in m.
    strap : width of each strap at the shoulder, in m.
    arm_depth : depth of the arm openings below the shoulders, in m.
    depth : largest distance between front and back, in m.
    triangles : number of triangles, at least 300; met within one.
    seed : chooses one of many such meshes.
    """
    width, waist = arguments.length("width", width), arguments.length("waist", waist)
    hem, height = arguments.length("hem", hem), arguments.length("height", height)
    waist_height, depth = arguments.length("waist_height", waist_height), arguments.length("depth", depth)
    arm_depth = arguments.length("arm_depth", arm_depth)
    triangles = arguments.count("triangles", triangles, least=LEAST_TRIANGLES["triangle"])
    seed = arguments.count("seed", seed, least=0, most=None)
    if waist_height >= height - arm_depth:
        raise InputError(
            f"waist_height is {waist_height:g} m, expected less than {height - arm_depth:g} m, where the arm openings "
            "begin: a waist between these and the hem"
        )
    t = np.linspace(0.0, 1.0, 65)
    skirt = np.stack([0.5 * (hem + (waist - hem) * np.sin(0.5 * np.pi * t)), waist_height * t], axis=1)
    across, along = 0.5 * (waist + (width - waist) * (3.0 - 2.0 * t) * t**2), height - arm_depth - waist_height
    bodice = np.stack([across, waist_height + along * t], axis=1)
    side = Curve(np.concatenate([skirt, bodice[1:]]), seam=True)
    panels = sleeveless(
        side, width=width, height=height, neck_width=neck_width, neck_depths=(neck_depth, back_neck_depth),
        strap=strap, arm_depth=arm_depth,
    )  # fmt: skip
    vertices, faces = garment(*panels, triangles=triangles, element="triangle", depth=depth, seed=seed)
    # Its openings are round: no node stands out, even where few nodes make the round edges angular.
    return Mesh(vertices, faces, corners=[], name="dress")
