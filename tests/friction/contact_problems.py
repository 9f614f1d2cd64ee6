"""Contact problems of a sheet that falls onto a plane or a sphere, with isocloth's own matrix."""

import numpy as np
import scipy.sparse as sp

import isocloth as ic
from isocloth.cloth.cloth import discretise
from isocloth.cloth.step import Past, Scheme, build_step
from isocloth.friction.contact_qp import ContactQP


def step_matrix(problem, step, y, multipliers):
    """A of the step at y, as in solver/system.py with no multiplier kept; held nodes become identity."""
    rows, n = problem.rows, problem.n
    c = rows.values(y)
    entries = rows.jacobian(y)
    base = sp.diags_array(step.inertia) + sp.diags_array(step.arrays.bending) @ problem.stiffness
    geometric = sp.lil_matrix((n, n))
    for k in range(len(rows)):
        nodes = rows.nodes[rows.ptr[k] : rows.ptr[k + 1]]
        lam = multipliers[k]
        s = (rows.plus if lam > 0 else rows.minus)[rows.square[k] : rows.square[k + 1]].reshape(len(nodes), -1)
        geometric[np.ix_(nodes, nodes)] += 2 * abs(lam) * s
    jacobian = sp.csr_matrix(entries)
    matrix = sp.kron(base + geometric, sp.eye_array(3)) + jacobian.T @ sp.diags_array(rows.weight) @ jacobian
    force = step.inertia[:, None] * y + step.arrays.bending[:, None] * (problem.stiffness @ y) - step.load
    gradient = force.ravel() + jacobian.T @ (rows.weight * c)
    free = np.repeat(~step.held, 3).astype(float)
    matrix = sp.diags_array(free) @ matrix @ sp.diags_array(free) + sp.diags_array(1.0 - free)
    return sp.csc_matrix(matrix), gradient * free


def sheet(shape, obstacle, *, steps=0, drop=0.0, speed=-1.0, reach=None, seed=0, size=0.6, fabric=None, held=0):
    """(ContactQP, points): a sheet that fell freely for some steps, and the first linearisation of its step now.

    obstacle: "plane" z = 0, "bumps" on it, "sphere" below the middle, or "corner" of three planes.
    drop: height over the obstacle, m; reach: gap above which a node is no candidate, m.
    """
    mesh = ic.meshes.rectangle(size, size * (shape[1] - 1) / (shape[0] - 1), shape=shape)
    fabric = fabric or ic.Fabric(density=0.2, bending=1e-4, bending_damping=1e-6)
    rng = np.random.default_rng(seed)
    problem = discretise(mesh, fabric, gravity=9.81)
    h = 0.01
    x = mesh.vertices - mesh.vertices.mean(axis=0)
    # a slight smooth wave, so that nothing is exactly symmetric
    x[:, 2] += 0.004 * np.sin(7 * x[:, 0] + rng.uniform(0, 6)) * np.cos(9 * x[:, 1] + rng.uniform(0, 6))
    x[:, 2] += drop - (x[:, 2].min() if obstacle != "sphere" else 0.0)
    v = np.zeros_like(x) + [0, 0, speed] + 0.02 * rng.standard_normal(x.shape)
    hold = np.zeros(problem.n, dtype=bool)
    hold[mesh.corners[:held]] = True
    start = x + h * v
    start[hold] = x[hold]
    step = build_step(problem, Scheme(h, 1.0, 0.0), Past(x, v, x, v), start, hold)
    lam = 1e-3 * rng.standard_normal(len(problem.rows)) * problem.rows.weight
    matrix, gradient = step_matrix(problem, step, x, lam)
    # linearised at x: a free sheet moves by about h v
    n = problem.n
    if obstacle == "plane":
        normals, gaps, nodes = np.tile([0.0, 0, 1], (n, 1)), x[:, 2].copy(), np.arange(n)
    elif obstacle == "sphere":
        centre, radius = np.array([0.02, 0.01, -0.25]), 0.25
        away = x - centre
        length = np.linalg.norm(away, axis=1)
        normals, gaps, nodes = away / length[:, None], length - radius, np.arange(n)
    elif obstacle == "corner":
        normals = np.concatenate([np.tile(row, (n, 1)) for row in np.eye(3)])
        low = x.min(axis=0)
        gaps, nodes = (x - low).T.ravel(), np.tile(np.arange(n), 3)
    else:
        raise ValueError(obstacle)
    near = gaps < (np.inf if reach is None else reach)
    near &= ~hold[nodes]
    normals, gaps, nodes = normals[near], gaps[near], nodes[near]
    rows = np.repeat(np.arange(len(gaps)), 3)
    cols = (3 * nodes[:, None] + np.arange(3)).ravel()
    jacobian = sp.csr_matrix((normals.ravel(), (rows, cols)), shape=(len(gaps), 3 * n))
    jacobian.eliminate_zeros()
    return ContactQP(matrix, gradient, jacobian, gaps), mesh.vertices
