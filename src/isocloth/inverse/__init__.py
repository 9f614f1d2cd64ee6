"""Inverse design: the rest shape with which a cloth hangs as it should."""

from isocloth.inverse.inversion import Inversion, invert
from isocloth.inverse.pose import Pose
from isocloth.inverse.poses import PosesInversion
from isocloth.inverse.thesis.two_step import TwoSteps

__all__ = ["Inversion", "Pose", "PosesInversion", "TwoSteps", "invert"]
