"""From points to a surface: Morse reconstruction, in any ambient dimension, with and without boundary.

`reconstruct` is the whole of it; the files of this room are its stages: `neighbours`, `normals`, `net`, `ribbon`,
`boundary`, `fill`, `handles`, `mend`, `sheet`, `complex`, then `height`, `flows`, `levels`, `morse`, `cells`,
`homology`, then `parametrise`, `remesh`, `fitting`, `distance`, and for meshes glued from charts `patches`, `flatter`,
`seams`, `flat_meshes`, `grids`, `balance`, `flips`, `glue`. `filters` prepare clouds, `files` read them, `draw` and
`report` show what was found.
"""

from isocloth.reconstruction.filters import box_grid, curvature_filter, evened, largest_cluster, outliers
from isocloth.reconstruction.reconstruct import Reconstruction, reconstruct

__all__ = [
    "Reconstruction",
    "box_grid",
    "curvature_filter",
    "evened",
    "largest_cluster",
    "outliers",
    "reconstruct",
]
