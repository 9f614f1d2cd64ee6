"""From points to a surface: Morse reconstruction, in any ambient dimension, with and without boundary.

`reconstruct` is the whole of it. `triangulation` makes triangles of points, `morse` divides the surface into cells,
`remeshing` makes a mesh for the simulator. `filters` prepare clouds, `files` read them, `diagnostics` say what speaks
against a result, `draw` and `report` show what was found.
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
