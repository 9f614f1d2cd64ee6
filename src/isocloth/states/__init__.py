"""States of a folded cloth: dGLI coordinates of its boundary, distances, databases, and names."""

from isocloth.states.boundary import Boundary, as_boundary, boundary_of, corner_segments
from isocloth.states.classify import Classification, Classifier, classify
from isocloth.states.clusters import davies_bouldin
from isocloth.states.coordinates import coordinates, of_segments
from isocloth.states.database import Database
from isocloth.states.dgli import dgli
from isocloth.states.distances import distance, distance_matrix
from isocloth.states.folds import Fold, fold, folded
from isocloth.states.gli import gli
from isocloth.states.napkin import ideal_sequence, ideal_states

__all__ = [
    "Boundary", "Classification", "Classifier", "Database", "Fold", "as_boundary", "boundary_of", "classify",
    "coordinates", "corner_segments", "davies_bouldin", "dgli", "distance", "distance_matrix", "fold", "folded", "gli",
    "ideal_sequence", "ideal_states", "of_segments",
]  # fmt: skip
