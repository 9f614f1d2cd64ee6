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
    arm_depth, depth = arguments.length("arm_depth", arm_depth), arguments.length("depth", depth)
    element_name = arguments.element(element)
    triangles = arguments.count("triangles", triangles, least=LEAST_TRIANGLES[element_name])
    seed = arguments.count("seed", seed, least=0, most=None)
    side = Curve(line((0.5 * width, 0.0), (0.5 * width, height - arm_depth)), seam=True)
    panels = sleeveless(
        side, width=width, height=height, neck_width=neck_width, neck_depths=(neck_depth, back_neck_depth),
        strap=strap, arm_depth=arm_depth,
    )  # fmt: skip
    vertices, faces = garment(*panels, triangles=triangles, element=element_name, depth=depth, seed=seed)
    # Its openings are round: no node stands out, even where few nodes make the round edges angular.
    return Mesh(vertices, faces, corners=[], name="tank top")


def sleeveless(
    side: Curve, *, width: float, height: float, neck_width: float, neck_depths: tuple[float, float], strap: float,
    arm_depth: float,
) -> tuple[list[Curve], list[Curve]]:  # fmt: skip
    """Outlines of the front and the back of a garment with straps; `side` is its right seam from the hem to the arm.

    neck_depths: of the front and of the back. Others as in `tank_top`, all in m.
    """
    neck_width = arguments.length("neck_width", neck_width)
    depths = [
        arguments.length("neck_depth", neck_depths[0]),
        arguments.length("back_neck_depth", neck_depths[1]),
    ]
    strap = arguments.length("strap", strap)
    if neck_width + 2.0 * strap >= width:
        raise InputError(
            f"neck_width + 2 strap is {neck_width + 2.0 * strap:g} m, expected less than width = {width:g} m"
        )
    if max(arm_depth, *depths) >= height:
        raise InputError(
            f"the openings are {max(arm_depth, *depths):g} m deep, expected less than height = {height:g} m"
        )
    if SHOULDER_DROP * strap >= arm_depth:
        raise InputError(
            f"arm_depth is {arm_depth:g} m, expected more than {SHOULDER_DROP * strap:g} m, "
            f"by which straps of {strap:g} m slope down"
        )
    half, underarm = float(side.points[0, 0]), (0.5 * width, height - arm_depth)
    shoulder = (0.5 * neck_width + strap, height - SHOULDER_DROP * strap)
    collar = (0.5 * neck_width, height)
    hem = Curve(line((-half, 0.0), (half, 0.0)), seam=False)
    right = [
        side,
        Curve(arc(underarm, shoulder, level_at_start=True), seam=False),
        Curve(line(shoulder, collar), seam=True),
    ]
    necklines = [Curve(arc(collar, (0.0, height - lowest), level_at_start=False), seam=False) for lowest in depths]
    front, back = ([hem, *right, neck, *mirrored([neck]), *mirrored(right)] for neck in necklines)
    return front, back
