"""Sewing patterns: flat panels, cut from the target along seams, and what is printed of them."""

from isocloth.patterns.cut import Cut, Seam, cut_open
from isocloth.patterns.find import pattern
from isocloth.patterns.fitted import Pattern
from isocloth.patterns.flatten import Flat, flatten, laid_out
from isocloth.patterns.inextensible import UnrolledPattern
from isocloth.patterns.panels import Panels
from isocloth.patterns.seams import load_seams, shortest_path

__all__ = [
    "Cut", "Flat", "Panels", "Pattern", "Seam", "UnrolledPattern", "cut_open", "flatten", "laid_out", "load_seams",
    "pattern", "shortest_path",
]  # fmt: skip
