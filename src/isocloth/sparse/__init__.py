"""Sparse symmetric factorisation: orderings, fronts, Cholesky by register tiles. It knows no cloth."""
