"""Targets that are small: a wavy strip that is held, and a cap on a ball."""

import numpy as np

import isocloth as ic


def strip(nodes=9, wave=0.02):
    flat = ic.meshes.rectangle(0.4, 0.15, (nodes, 4), element="triangle")
    x = flat.vertices.copy()
    x[:, 2] = 0.3 + wave * np.sin(2 * np.pi * x[:, 0] / 0.4)
    return flat.with_vertices(x), np.flatnonzero(x[:, 0] < 0.41 / (nodes - 1))


def bowl(rings=5, around=16, radius=0.1, thickness=2e-3):
    """A cap on a ball, laid on it, with a brim that is off it."""
    angle = np.radians(np.linspace(20, 40, 3))
    profile = [((radius + thickness / 2) * np.sin(a), (radius + thickness / 2) * np.cos(a)) for a in angle]
    for k in range(1, rings):
        profile.append((profile[2][0] + 0.008 * k, profile[2][1] - 0.002 * k))
    points, faces = [], []
    for i, (r, z) in enumerate(profile):
        a = 2 * np.pi * (np.arange(around) + 0.5 * (i % 2)) / around
        points += np.stack([r * np.cos(a), r * np.sin(a), np.full(around, z)], axis=1).tolist()
    for i in range(len(profile) - 1):
        for j in range(around):
            a, b = i * around + j, i * around + (j + 1) % around
            c, d = a + around, b + around
            faces += [(a, c, b), (b, c, d)] if i % 2 == 0 else [(a, c, d), (a, d, b)]
    return (
        ic.Mesh(points, faces),
        ic.Sphere([0, 0, 0], radius, friction=0.6),
        ic.Fabric(density=0.3, thickness=thickness),
    )
