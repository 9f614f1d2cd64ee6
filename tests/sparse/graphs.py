"""Random patterns and matrices for the tests of factors."""

import numpy as np
import scipy.sparse as sp


def random_graph(rng, n, neighbours=5):
    """Points in the plane, each coupled to its nearest ones."""
    points = rng.random((n, 2))
    distance = ((points[:, None] - points[None]) ** 2).sum(axis=2)
    near = np.argsort(distance, axis=1)[:, : min(neighbours + 1, n)]
    i, j = np.repeat(np.arange(n), near.shape[1]), near.ravel()
    return sp.csr_matrix((np.ones(2 * len(i)), (np.r_[i, j], np.r_[j, i])), shape=(n, n)), points


def grid_graph(n):
    """A square grid (n, n), each node coupled to its four neighbours, and where the nodes are."""
    index = np.arange(n * n).reshape(n, n)
    i, j = np.concatenate(
        [np.stack([index[:-1].ravel(), index[1:].ravel()]), np.stack([index[:, :-1].ravel(), index[:, 1:].ravel()])],
        axis=1,
    )
    graph = sp.csr_matrix((np.ones(2 * len(i)), (np.r_[i, j], np.r_[j, i])), shape=(n * n, n * n))
    points = np.stack(np.meshgrid(np.arange(n), np.arange(n), indexing="ij"), axis=-1).reshape(-1, 2).astype(float)
    return graph, points


def fill(rng, factor, graph, sizes, signs):
    """Write a random quasi-definite matrix into the factor; return it dense."""
    start = np.concatenate([[0], np.cumsum(sizes)])
    dense = np.zeros((start[-1], start[-1]))
    entries, symbolic, panel = graph.tocoo(), factor.symbolic, factor.fronts.panel
    panel[:] = 0.0
    for i, j in zip(entries.row, entries.col, strict=True):
        if symbolic.rank[i] > symbolic.rank[j]:
            continue
        block = rng.standard_normal((sizes[i], sizes[j]))
        if signs[i] != signs[j] or i != j:
            block *= 0.3
        if i == j:
            block = signs[i] * (block @ block.T + 8 * np.eye(sizes[i]))
        rows, cols = slice(start[i], start[i + 1]), slice(start[j], start[j + 1])
        dense[rows, cols] = block
        dense[cols, rows] = block.T
        place, stride = symbolic.find(np.array([i]), np.array([j]))
        for a in range(sizes[i]):
            at = place[0] + a * stride[0]
            panel[at : at + sizes[j]] = block[a]
    return dense
