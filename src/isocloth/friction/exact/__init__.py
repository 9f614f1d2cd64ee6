"""An exact solver of Coulomb's law that shares nothing with the default one: the law of Signorini and Coulomb for hard
contacts (M v + f = H^T r, u = H v + w), by Gauss-Seidel over contacts, a file per part: the problem in the space of
contacts, the law of one contact, sweeps over all, Newton on all at once, and the error of Alart and Curnier.
"""
