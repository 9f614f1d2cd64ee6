"""Diagonals of the quads of a net: they keep the area, which edges and the angles at nodes do not.

The angle F of a net is a mean over the four elements around a node. Where lines of the net zigzag, it is blind:

- strips of elements that are sheared to and fro in turn (a herringbone) have F = 0 at every node, and keep all edges;
- nodes that are lifted in turn (an egg crate) do so too.

Both lose area, without bound, and only bending resists them. A cloth of little bending that is dragged about is worked
into them fold by fold.

The angles of a quad do not tell whether it is sheared or folded; its diagonals do. A chord of cloth that does not
stretch is never longer than at rest, whatever the folds; and a quad with its edges whose longer diagonal is as long as
at rest is two triangles of the right size, folded along it. So, with C = d^2 / d_0^2 - 1 of both diagonals,

    neither diagonal is stretched, C_1 <= s and C_2 <= s;  not both are short, max(C_1, C_2) >= -s.

The shorter one is free: quads fold along either diagonal. Which one that is, is decided where a step begins: the energy
of the longer alone is the smaller of two, its slope jumps where they are equal, and a step that may change its mind
finds no end. A step later the choice follows, to the smaller energy, so that it never adds any. In a smooth fold of
curvature 1/R whose crease is at an angle to the net, edges and F that are exact make C of one diagonal c (1 - 2 c) h^2
/ 8 R^2 with c = |sin cos|, at most h^2 / 64 R^2: this is what the slack s is for. The area of a right-angled triangle
changes with the square of s only, so the slack costs next to none. Beyond it the diagonals are soft: what they have to
resist is weight and friction, and where a fold turns sharper than the net can show they give way.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from isocloth.base.typing import IntArray
from isocloth.meshes import Mesh
from isocloth.terms.rows import Rows

#: by which the squared length of a diagonal may be off, relative; 0.01 was tried too and is much alike
SLACK = 0.02
#: stiffness of the diagonals relative to that of the isometry. From 0.0002 to 0.1 all keep the area (check `area`); the
#: stiffer, the more iterations where a net is pressed into pleats (check `edges`, sheet through a ring)
STIFFNESS = 0.0002


def diagonals(mesh: Mesh) -> IntArray:
    """Nodes (2 m, 2) of the diagonals of m quads, the two of a quad one after the other."""
    return mesh.faces[:, [0, 2, 1, 3]].reshape(-1, 2)


def partners(rows: Rows) -> Rows:
    """Rows of diagonals, each with the next or the last as its partner; an energy, not part of the isometry."""
    return replace(
        rows, enforced=np.zeros(len(rows), dtype=bool), slack=np.full(len(rows), SLACK),
        partner=np.tile(np.array([1, -1]), len(rows) // 2),
    )  # fmt: skip
