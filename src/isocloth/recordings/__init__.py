"""Recordings of real cloth: files of motion capture systems and robots, mended and in one form."""

from isocloth.recordings.axes import infer_up
from isocloth.recordings.bodies import StickMarkers, TableTop
from isocloth.recordings.clouds import cloth_points, from_clouds
from isocloth.recordings.lag import lag
from isocloth.recordings.names import from_name
from isocloth.recordings.recording import Recording
from isocloth.recordings.synthetic import from_trajectory

__all__ = ["Recording", "StickMarkers", "TableTop", "cloth_points", "from_clouds", "from_name", "from_trajectory",
           "infer_up", "lag"]  # fmt: skip
