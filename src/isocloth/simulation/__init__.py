"""Simulation: state, integrators, grasps, steps."""

from isocloth.simulation.grasp import Grasp
from isocloth.simulation.gripper import Gripper
from isocloth.simulation.report import ConvergenceWarning, Report
from isocloth.simulation.simulation import Simulation
from isocloth.simulation.state import State

__all__ = ["ConvergenceWarning", "Grasp", "Gripper", "Report", "Simulation", "State"]
