"""Lines of the cloth go straight on at every node, and end at its boundary."""

import numpy as np

from isocloth import meshes
from isocloth.contact.lines import build_lines


def lines_of(mesh):
    return build_lines(mesh.vertices, mesh.edges.astype(np.int64))


def test_a_grid_has_a_line_for_every_row_and_column():
    mesh = meshes.rectangle(0.3, 0.2, shape=(4, 3))
    lines = lines_of(mesh)
    assert len(lines.nodes) == len(mesh.edges)
    assert len(np.unique(lines.line)) == 4 + 3


def test_pieces_are_straight_at_rest_and_neighbours_are_told_apart_from_ends():
    mesh = meshes.rectangle(0.3, 0.2, shape=(4, 3))
    lines = lines_of(mesh)
    for (a, b, c, d), (before, after) in zip(lines.nodes, lines.beyond, strict=True):
        along = mesh.vertices[c] - mesh.vertices[b]
        for one, two in ((before, a), (a, b), (c, d), (d, after)):
            step = mesh.vertices[two] - mesh.vertices[one]
            assert one == two or np.allclose(step, along)


def test_every_edge_of_an_irregular_mesh_is_in_one_line():
    mesh = meshes.rectangle(0.3, 0.2, shape=(5, 4)).triangulated()
    lines = lines_of(mesh)
    assert np.array_equal(np.sort(lines.nodes[:, 1:3], axis=1), np.sort(mesh.edges, axis=1))
    assert (lines.line <= np.arange(len(mesh.edges))).all()
