"""Values that are wrong for a kind of argument, whatever takes it."""

from __future__ import annotations

import math

import numpy as np

NAN, INF = math.nan, math.inf

NOT_NUMBERS = [None, "x", "0.1", [1.0, 2.0], {}, 1j, b"1"]
NOT_FINITE = [NAN, INF, -INF]

#: of a positive number
POSITIVE = [*NOT_NUMBERS, *NOT_FINITE, 0, -1.0]
#: of a number that may be zero
NOT_NEGATIVE = [*NOT_NUMBERS, *NOT_FINITE, -1.0]
#: the same, where None stands for a default
OR_NONE = [value for value in NOT_NEGATIVE if value is not None]
#: of a count
COUNTS = [None, "3", 2.5, [4], NAN, -1, True]
#: of a point (3,)
POINTS = [None, "here", 1.0, [0, 0], [0, 0, 0, 0], [[0, 0, 0]], [0, NAN, 0], [0, 0, INF], ["a", "b", "c"], {}]
#: of a rotation matrix
ROTATIONS = ["x", np.zeros((3, 3)), np.diag([1.0, 1.0, -1.0]), np.eye(2), 2 * np.eye(3), np.full((3, 3), NAN)]
#: of one of some names
NAMES = ["magic", 3, [], "NEWTON "]
#: of a function
FUNCTIONS = [3, "f", [1.0]]
#: of a truth value
FLAGS = ["yes", "no", 2, None, []]
