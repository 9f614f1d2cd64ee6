"""A chain of rigid links that slides off a table, without friction, integrated exactly in time: a second way.

Point masses in a plane, links that keep their length, nodes that touch the top or the wall of the table, and one more
constraint: the smooth curve through the chain, a cubic B-spline with the nodes for control points, keeps its distance
from the edge. What touches presses only, and what comes to touch stops across: no other energy is lost. Accelerations
follow from all constraints at once (index 1), by Runge and Kutta's method of fourth order; positions and velocities are
brought back to the constraints after every step. Nothing of the package is used.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from isocloth.base.typing import BoolArray, FloatArray

G = 9.81
#: N: pulls below rounding take nothing off the table
PULL = 1e-9
#: m: nodes as near as this to the table at the begin lie on it
NEAR = 1e-4

BASIS = np.array([[1.0, 4.0, 1.0, 0.0], [-3.0, 0.0, 3.0, 0.0], [3.0, -6.0, 3.0, 0.0], [-1.0, 3.0, -3.0, 1.0]]) / 6.0


class Chain:
    """Masses (n,) kg in a plane, links of a length in m, and the stiffness against bending of a node, N m^2 per length.

    edge: (2,) m, of the table that fills all to the left and below. off: distance that is kept from it, m.
    """

    def __init__(self, mass: FloatArray, length: float, bending: float, edge: FloatArray, off: float) -> None:
        self.mass, self.length, self.edge, self.off = mass, length, edge, off
        bend = np.zeros((len(mass) - 2, len(mass)))
        for i in range(len(bend)):
            bend[i, i : i + 3] = 1.0, -2.0, 1.0
        self._stiff = bending / length**3 * bend.T @ bend

    def curve(self, x: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        """Distance of the curve from the edge, m, its normal there (2,), and the weights of the nodes (n,)."""
        long = np.concatenate([[2 * x[0] - x[1]], x, [2 * x[-1] - x[-2]]]) - self.edge
        first = int(np.argmin((long[1:-1] ** 2).sum(axis=1)))
        best = (np.inf, 0, 0.0)
        for piece in range(max(first - 2, 0), min(first + 2, len(x) - 1)):
            x4 = BASIS @ long[piece : piece + 4]
            for v in np.linspace(0.0, 1.0, 5):
                p = np.array([1.0, v, v * v, v**3]) @ x4
                best = min(best, (float(p @ p), piece, float(v)))
        _, piece, v = best
        for _ in range(20):
            x4 = BASIS @ long[piece : piece + 4]
            p, t = np.array([1.0, v, v * v, v**3]) @ x4, np.array([0.0, 1.0, 2 * v, 3 * v * v]) @ x4
            bend = np.array([0.0, 0.0, 2.0, 6.0 * v]) @ x4
            move = -(p @ t) / max(t @ t + p @ bend, 0.3 * (t @ t))
            v += move
            if v > 1.0 and piece < len(x) - 2:
                piece, v = piece + 1, v - 1.0
            elif v < 0.0 and piece > 0:
                piece, v = piece - 1, v + 1.0
            if abs(move) < 1e-13:
                break
        weights = np.zeros(len(x) + 2)
        weights[piece : piece + 4] = np.array([1.0, v, v * v, v**3]) @ BASIS
        p = weights @ long
        weights[1] += 2 * weights[0]
        weights[2] -= weights[0]
        weights[-2] += 2 * weights[-1]
        weights[-3] -= weights[-1]
        normal = np.array([-t[1], t[0]]) / np.hypot(*t)  # to the left of the way: out of the table, over its edge
        return float(p @ normal), normal, weights[1:-1]

    def constraints(self, x: FloatArray, held: BoolArray, over: bool) -> tuple[FloatArray, FloatArray]:
        """Values (c,) and gradients (c, 2 n): links, coordinates of nodes that touch (n, 2), the curve."""
        links = x[1:] - x[:-1]
        n, number = len(x), np.arange(len(links))
        rows = np.zeros((len(links), n, 2))
        rows[number, number], rows[number, number + 1] = -links, links
        value = [0.5 * ((links**2).sum(axis=1) - self.length**2), (x - self.edge - self.off)[held]]
        gradient = [rows.reshape(len(rows), -1), np.eye(2 * n)[held.reshape(-1)]]
        if over:
            distance, normal, weights = self.curve(x)
            value.append(np.array([distance - self.off]))
            gradient.append(np.outer(weights, normal).reshape(1, -1))
        return np.concatenate(value), np.concatenate(gradient)

    def acceleration(self, x: FloatArray, v: FloatArray, held: BoolArray, over: bool) -> tuple[FloatArray, FloatArray]:
        """Of the nodes (n, 2), m/s^2, and the forces of the constraints."""
        force = -self._stiff @ x
        force[:, 1] -= G * self.mass
        inverse = 1.0 / np.repeat(self.mass, 2)
        _, rows = self.constraints(x, held, over)
        step = 1e-5 / max(1.0, float(np.abs(v).max()))
        ahead = self.constraints(x + step * v, held, over)[1] @ v.reshape(-1)
        behind = self.constraints(x - step * v, held, over)[1] @ v.reshape(-1)
        free = inverse * force.reshape(-1)
        pressure = np.linalg.solve((rows * inverse) @ rows.T, -(rows @ free + (ahead - behind) / (2 * step)))
        return (free + inverse * (rows.T @ pressure)).reshape(-1, 2), np.asarray(pressure, dtype=np.float64)

    def settle(self, x: FloatArray, v: FloatArray, held: BoolArray, over: bool) -> tuple[FloatArray, FloatArray]:
        """Nearest positions and velocities, by mass, that the constraints allow."""
        inverse = 1.0 / np.repeat(self.mass, 2)
        for _ in range(20):
            value, rows = self.constraints(x, held, over)
            if np.abs(value).max() < 1e-12:
                break
            x = x - (inverse * (rows.T @ np.linalg.solve((rows * inverse) @ rows.T, value))).reshape(-1, 2)
        rows = self.constraints(x, held, over)[1]
        v = v - (inverse * (rows.T @ np.linalg.solve((rows * inverse) @ rows.T, rows @ v.reshape(-1)))).reshape(-1, 2)
        return x, v

    def touching(self, x: FloatArray, off: float) -> BoolArray:
        """Which coordinates (n, 2) of nodes are within `off`, m, of the wall (x) or of the top (z), or beyond it."""
        over = x - self.edge - self.off
        top = over[:, 0] < over[:, 1]  # of what is beyond both, the nearer
        return np.stack([~top & (over[:, 0] < off), top & (over[:, 1] < off)], axis=1)

    def slide(self, x: FloatArray, step: float, watch: Callable[[float, FloatArray], bool]) -> None:
        """Let go at rest from x (n, 2), until `watch`, which sees the time and the positions, says no. step: s."""
        held = self.touching(x, NEAR)
        v, time, over = np.zeros_like(x), 0.0, True
        x, v = self.settle(x, v, held, over)
        while watch(time, x):
            while True:  # what would be pulled on is not held
                pressure = self.acceleration(x, v, held, over)[1][len(x) - 1 :]
                if pressure.min() >= -PULL:
                    break
                worst = int(pressure.argmin())
                if worst < int(held.sum()):
                    held.reshape(-1)[np.flatnonzero(held)[worst]] = False
                else:
                    over = False
            stages: list[tuple[FloatArray, FloatArray]] = []
            for part in (0.0, 0.5, 0.5, 1.0):
                xs, vs = (x, v) if not stages else (x + part * step * stages[-1][0], v + part * step * stages[-1][1])
                stages.append((vs, self.acceleration(xs, vs, held, over)[0]))
            mean = [(a + 2 * b + 2 * c + d) / 6 for a, b, c, d in zip(*stages, strict=True)]
            x, v, time = x + step * mean[0], v + step * mean[1], time + step
            held |= self.touching(x, 0.0)
            over = over or self.curve(x)[0] < self.off
            x, v = self.settle(x, v, held, over)
