"""Folding a cloth by simulation: scripted hands on a table, and databases of folded states made by them."""

from isocloth.folding.library import Made, simulated_sequence, simulated_state
from isocloth.folding.make import simulated_states
from isocloth.folding.stage import Stage

__all__ = ["Made", "Stage", "simulated_sequence", "simulated_state", "simulated_states"]
