"""Tests with known answers: strips that hang, buckle and are pushed, against master curves; in reverse, measuring."""

from __future__ import annotations

from isocloth.protocols.cantilever import bracket, cantilever
from isocloth.protocols.follow import Follower
from isocloth.protocols.lateral_buckling import lateral_buckling
from isocloth.protocols.master_curves import (
    Hanging,
    Pushed,
    buckling_threshold,
    cantilever_curve,
    gamma_of,
    hanging,
    push_of,
    pushed,
    stick_slip_curve,
)
from isocloth.protocols.measure import Measured, measure_bending, measure_friction
from isocloth.protocols.mujoco_flex import settle_mujoco
from isocloth.protocols.rotation import rotation
from isocloth.protocols.stick_slip import STRICT, stick_slip
from isocloth.protocols.strip import Problem, Settled, settle
from isocloth.protocols.verdict import BY_VARIANT, THESIS, Verdict, plot

__all__ = [
    "BY_VARIANT", "PROTOCOLS", "STRICT", "THESIS", "Follower", "Hanging", "Measured", "Problem", "Pushed", "Settled",
    "Verdict", "bracket", "buckling_threshold", "cantilever", "cantilever_curve", "gamma_of", "hanging",
    "lateral_buckling", "measure_bending", "measure_friction", "plot", "push_of", "pushed", "rotation", "settle",
    "settle_mujoco", "stick_slip", "stick_slip_curve",
]  # fmt: skip

PROTOCOLS = ("cantilever", "lateral_buckling", "rotation", "stick_slip")
