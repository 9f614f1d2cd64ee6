"""Discrete Morse theory of a triangulated surface: heights, flows, level sets, cells, homology."""
