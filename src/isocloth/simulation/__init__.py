"""Simulation: state, integrators, grasps, steps."""

from isocloth.simulation.grasp import Grasp
from isocloth.simulation.gripper import Gripper
from isocloth.simulation.report import ConvergenceWarning, Report
from isocloth.simulation.simulation import Simulation
from isocloth.simulation.state import State
from isocloth.simulation.wrench import Forces, Wrench

__all__ = ["ConvergenceWarning", "Forces", "Grasp", "Gripper", "Report", "Simulation", "State", "Wrench"]
