"""Coulomb's law, and what solves it: semismooth Newton, conic and active-set methods, Gauss-Seidel."""
