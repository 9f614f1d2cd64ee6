"""Sheets and obstacles for the tests of contact."""

import numpy as np

from isocloth.contact import Feature, build_surface

NO_EDGES = np.empty((0, 2), dtype=np.int64)
NO_FACES = np.empty((0, 3), dtype=np.int64)


def grid_triangles(rows, columns):
    i = np.arange(rows * columns).reshape(rows, columns)
    a, b, c, d = i[:-1, :-1].ravel(), i[1:, :-1].ravel(), i[1:, 1:].ravel(), i[:-1, 1:].ravel()
    return np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])


def flat(rows, columns, spacing=0.025):
    u, v = np.meshgrid(spacing * np.arange(rows), spacing * np.arange(columns), indexing="ij")
    return np.stack([u.ravel(), v.ravel(), 0.0 * u.ravel()], axis=1)


def folded_in_four(count, spacing=0.025, thickness=1e-3, at=0.493):
    """A square sheet (surface, positions, rest) with four layers one thickness apart, turned in space."""
    rest = flat(count, count, spacing)
    x, crease = rest.copy(), at * spacing * (count - 1)
    upper = x[:, 0] > crease
    x[upper, 0], x[upper, 2] = 2 * crease - x[upper, 0], thickness
    upper = x[:, 1] > crease
    x[upper, 1], x[upper, 2] = 2 * crease - x[upper, 1], 3 * thickness - x[upper, 2]
    turn, _ = np.linalg.qr(np.random.default_rng(3).standard_normal((3, 3)))
    surface = build_surface(count * count, grid_triangles(count, count), thickness)
    return surface, np.ascontiguousarray(x @ turn.T), rest


def stick(points, reach):
    """A polygonal line of `points` vertices."""
    return Feature(points, np.stack([np.arange(points - 1), np.arange(1, points)], axis=1), NO_FACES, reach)


def needles(points, reach):
    return Feature(points, NO_EDGES, NO_FACES, reach)


def tetrahedron(reach):
    edges = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]
    return Feature(4, np.array(edges), np.array([[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]]), reach)


def scene(kind, seed, rows=7, columns=6):
    """(surface, x0, x1, rest) of a small sheet that moves among obstacles."""
    rng = np.random.default_rng(seed)
    rest = flat(rows, columns)
    features = [stick(4, 7.5e-3), needles(3, 2e-3), tetrahedron(1e-3)]
    surface = build_surface(len(rest), grid_triangles(rows, columns), 1e-3, features)
    size = {"crumpled": 0.03, "fast": 0.01, "folded": 1e-4, "runaway": 1e-3}[kind]
    x = rest + size * rng.standard_normal(rest.shape)
    if kind == "folded":
        over = x[:, 0] > 0.07
        x[over, 0], x[over, 2] = 0.14 - x[over, 0], x[over, 2] + 1.2e-3
    line = np.linspace([-0.02, 0.05, 0.004], [0.2, 0.06, 0.008], 4)
    points = np.concatenate([line, rng.uniform(0, 0.15, (3, 3)), rng.uniform(-0.05, 0.15, (4, 3))])
    x0 = np.concatenate([x, points])
    speed = {"crumpled": 3e-3, "fast": 0.1, "folded": 1e-3, "runaway": 1e-3}[kind]
    x1 = x0 + speed * rng.standard_normal(x0.shape)
    if kind == "fast":
        x1[: len(rest)] += [0.5, -0.2, 1.0]  # the sheet as a whole
    if kind == "runaway":
        x1[5] += 3.0  # one node as in a bad iterate
    return surface, x0, x1, rest
