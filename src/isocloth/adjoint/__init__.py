"""Adjoints: how a shape at rest depends on its rest shape and parameters, by one solve whatever their number."""

from isocloth.adjoint.products import Products
from isocloth.adjoint.transposed import Transposed

__all__ = ["Products", "Transposed"]
