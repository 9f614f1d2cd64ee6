"""Sewing patterns: flat panels, cut from the target along seams, and what is printed of them."""

from isocloth.patterns.cut import Cut, Seam, cut_open
from isocloth.patterns.seams import load_seams, shortest_path

__all__ = ["Cut", "Seam", "cut_open", "load_seams", "shortest_path"]
