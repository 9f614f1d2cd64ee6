"""A tank top: a tube with straps, open at the hem, the neck and the two arms."""

from __future__ import annotations

from isocloth.base.errors import InputError
from isocloth.meshes import arguments
from isocloth.meshes.mesh import Element, Mesh
from isocloth.meshes.panels import LEAST_TRIANGLES, Curve, arc, garment, line, mirrored

SHOULDER_DROP = 0.2
"""Height lost from the neck to the arm end of the shoulder, per width of the strap."""


def tank_top(
    *,
    width: float = 0.45,
    height: float = 0.65,
    neck_width: float = 0.20,
    neck_depth: float = 0.14,
    back_neck_depth: float = 0.08,
    strap: float = 0.06,
    arm_depth: float = 0.24,
    depth: float = 0.10,
    triangles: int = 1676,
    element: Element = "triangle",
    seed: int = 0,
) -> Mesh:
    """Tank top hanging with the shoulders up (+z), front towards -y, the middle of its hem at the origin.

    Its surface is a sphere with four holes: hem, neck and two arms. Normals point outwards. Front and back
    are sewn at the sides and the shoulders and bulge apart with elliptic cross-sections.

    Parameters
    ----------
    width : across the chest, laid flat, in m.
    height : from the hem to the top of the shoulders, in m.
    neck_width, neck_depth, back_neck_depth : width of the neck opening and its depth below the shoulders on
        the front and on the back, in m.
    strap : width of each strap at the shoulder, in m.
    arm_depth : depth of the arm openings below the shoulders, in m.
    depth : largest distance between front and back, in m.
    triangles : number of triangles, at least 300; met within one.
    element : "triangle", or "quad" for about half as many quads, which needs triangles >= 1440.
    seed : chooses one of many such meshes.
    """
    width, height = arguments.length("width", width), arguments.length("height", height)
    neck_width = arguments.length("neck_width", neck_width)
    neck_depths = [
        arguments.length("neck_depth", neck_depth),
        arguments.length("back_neck_depth", back_neck_depth),
    ]
    strap, arm_depth = arguments.length("strap", strap), arguments.length("arm_depth", arm_depth)
    depth = arguments.length("depth", depth)
    element_name = arguments.element(element)
    triangles = arguments.count("triangles", triangles, least=LEAST_TRIANGLES[element_name])
    seed = arguments.count("seed", seed, least=0, most=None)
    if neck_width + 2.0 * strap >= width:
        raise InputError(
            f"neck_width + 2 strap is {neck_width + 2.0 * strap:g} m, expected less than width = {width:g} m"
        )
    if max(arm_depth, *neck_depths) >= height:
        raise InputError(
            f"the openings are {max(arm_depth, *neck_depths):g} m deep, expected less than height = {height:g} m"
        )
    if SHOULDER_DROP * strap >= arm_depth:
        raise InputError(
            f"arm_depth is {arm_depth:g} m, expected more than {SHOULDER_DROP * strap:g} m, "
            f"by which straps of {strap:g} m slope down"
        )

    half, underarm = 0.5 * width, (0.5 * width, height - arm_depth)
    shoulder = (0.5 * neck_width + strap, height - SHOULDER_DROP * strap)
    collar = (0.5 * neck_width, height)
    hem = Curve(line((-half, 0.0), (half, 0.0)), seam=False)
    right = [
        Curve(line((half, 0.0), underarm), seam=True),
        Curve(arc(underarm, shoulder, level_at_start=True), seam=False),
        Curve(line(shoulder, collar), seam=True),
    ]
    panels = []
    for lowest in neck_depths:
        neckline = Curve(arc(collar, (0.0, height - lowest), level_at_start=False), seam=False)
        panels.append([hem, *right, neckline, *mirrored([neckline]), *mirrored(right)])
    vertices, faces = garment(panels[0], panels[1], triangles=triangles, element=element_name, depth=depth, seed=seed)
    # Its openings are round: no node stands out, even where few nodes make the round edges angular.
    return Mesh(vertices, faces, corners=[], name="tank top")
