"""Shorts: two legs that join into a trunk, open at the waist and the two hems."""

from __future__ import annotations

import numpy as np

from isocloth.base.errors import InputError
from isocloth.meshes import arguments
from isocloth.meshes.mesh import Element, Mesh
from isocloth.meshes.panels import LEAST_TRIANGLES, Curve, garment, line, mirrored


def shorts(
    *,
    waist: float = 0.40,
    hem: float = 0.25,
    length: float = 0.45,
    rise: float = 0.27,
    gap: float = 0.06,
    depth: float = 0.12,
    triangles: int = 1500,
    element: Element = "triangle",
    seed: int = 0,
) -> Mesh:
    """Shorts hanging with the waist up (+z), front towards -y, the origin between the hems.

    Their surface is a sphere with three holes: waist and two legs. Normals point outwards. Front and back
    are sewn at the outer sides and along the inner legs and bulge apart with elliptic cross-sections.

    Parameters
    ----------
    waist : across the waist, laid flat, in m.
    hem : across each leg at its end, laid flat, in m.
    length : from the waist to the end of the legs, in m.
    rise : from the waist to the crotch, in m.
    gap : between the legs at their ends, in m.
    depth : largest distance between front and back, in m.
    triangles : number of triangles, at least 300; met within one.
    element : "triangle", or "quad" for about half as many quads, which needs triangles >= 1440.
    seed : chooses one of many such meshes.
    """
    waist, hem = arguments.length("waist", waist), arguments.length("hem", hem)
    length, rise = arguments.length("length", length), arguments.length("rise", rise)
    gap, depth = arguments.length("gap", gap), arguments.length("depth", depth)
    element_name = arguments.element(element)
    triangles = arguments.count("triangles", triangles, least=LEAST_TRIANGLES[element_name])
    seed = arguments.count("seed", seed, least=0, most=None)
    if rise >= length:
        raise InputError(f"rise is {rise:g} m, expected less than length = {length:g} m to leave room for legs")

    inner, outer, crotch = 0.5 * gap, 0.5 * gap + hem, length - rise
    t = np.linspace(0.0, 0.5 * np.pi, 65)
    inseam = np.stack([inner * np.sin(t), crotch * np.cos(t)], axis=1)
    inseam[-1] = inner, 0.0
    right = [
        Curve(inseam, seam=True),
        Curve(line((inner, 0.0), (outer, 0.0)), seam=False),
        Curve(line((outer, 0.0), (0.5 * waist, length)), seam=True),
        Curve(line((0.5 * waist, length), (0.0, length)), seam=False),
    ]
    panel = [*right, *mirrored(right)]
    vertices, faces = garment(panel, panel, triangles=triangles, element=element_name, depth=depth, seed=seed)
    # Its openings are round: no node stands out, even where few nodes make the round edges angular.
    return Mesh(vertices, faces, corners=[], name="shorts")
