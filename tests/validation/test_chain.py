"""The chain that stands beside strips that slide off: its energy, its links, and its curve."""

import numpy as np
import pytest

from validation.chain import Chain, G

LENGTH = 0.1


def chain_of(hanging, nodes=11, bending=0.0):
    mass = np.full(nodes, 0.01)
    mass[[0, -1]] *= 0.5
    x = np.zeros((nodes, 2))
    beyond = np.arange(nodes) - (nodes - 1 - hanging)
    above = LENGTH / np.sqrt(26.0)
    x[:, 0] = np.where(beyond < 0, -4.0 * above + (beyond + 1) * LENGTH, np.where(beyond == 0, above, 0.0))
    x[:, 1] = np.where(beyond > 0, -4.0 * above - (beyond - 1) * LENGTH, np.where(beyond == 0, above, 0.0))
    return Chain(mass, LENGTH, bending, np.array([-1e-3, -1e-3]), 1e-3), x


def test_the_curve_touches_where_a_dense_one_is_nearest():
    chain, x = chain_of(4)
    distance, normal, weights = chain.curve(x)
    dense = []
    for i in range(len(x) - 3):
        for v in np.linspace(0.0, 1.0, 2001):
            w = np.array([(1 - v) ** 3, 3 * v**3 - 6 * v**2 + 4, 1 + 3 * v + 3 * v**2 - 3 * v**3, v**3]) / 6
            dense.append(w @ x[i : i + 4])
    assert distance == pytest.approx(np.linalg.norm(np.array(dense) + 1e-3, axis=1).min(), abs=1e-7)
    assert weights.sum() == pytest.approx(1.0)
    assert weights @ x == pytest.approx(chain.edge + distance * normal, abs=1e-9)


def test_a_chain_keeps_its_links_and_gains_no_energy_and_slides_about_as_a_rope():
    chain, x = chain_of(4)
    seen = []
    chain.slide(x, 1e-3, lambda t, now: seen.append((t, now.copy())) or t < 0.3)
    time, way = np.array([t for t, _ in seen]), np.array([now for _, now in seen])
    links = np.linalg.norm(np.diff(way, axis=1), axis=2)
    assert links == pytest.approx(LENGTH, abs=1e-9)
    speed = (way[2:] - way[:-2]) / (time[2:] - time[:-2])[:, None, None]
    energy = 0.5 * np.einsum("n,tnd->t", chain.mass, speed**2) + G * way[1:-1, :, 1] @ chain.mass
    lost = (energy[0] - energy) / (G * chain.mass.sum() * 10 * LENGTH)
    assert lost.min() > -1e-4
    assert lost.max() < 0.02
    hangs = -way[0, -1, 1]
    assert hangs + way[-1, 0, 0] - way[0, 0, 0] == pytest.approx(hangs * np.cosh(time[-1] * np.sqrt(G / 1.0)), rel=0.1)
