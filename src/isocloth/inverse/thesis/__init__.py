"""The thesis' inversion in two steps (M. Ly, Static inverse modelling of cloth, 2021, chapter 5)."""
