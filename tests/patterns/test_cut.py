"""A target is cut open along its seams: nothing else changes, and gluing gives it back."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import isocloth as ic
from isocloth.base.errors import InputError, InputTypeError
from isocloth.inverse.rest_coordinates import RestCoordinates
from isocloth.meshes.topology import component_labels, sides
from isocloth.patterns import cut_open, shortest_path
from patterns.targets import meridian, sphere, torus, tube, up_the_side

CLOTH = ic.meshes.rectangle(0.6, 0.5, (7, 6), element="triangle")
KINDS = {"cloth": CLOTH, "tube": tube(8, 4), "torus": torus((8, 6)), "sphere": sphere(5, 7)}


def check(mesh: ic.Mesh, cut, paths) -> None:
    """What holds of every cut, by counting and by gluing."""
    np.testing.assert_array_equal(cut.node[cut.corners], mesh.faces)
    assert cut.corners.min() == 0
    assert len(np.unique(cut.corners)) == len(cut.node)
    assert np.all(np.diff(cut.node) >= 0)
    # A node inside with d edges of seams becomes d points, one at the border d + 1.
    degree = np.zeros(mesh.n_vertices, dtype=int)
    for path in paths:
        np.add.at(degree, path[:-1], 1)
        np.add.at(degree, path[1:], 1)
    border = np.zeros(mesh.n_vertices, dtype=bool)
    border[mesh.boundary_nodes] = True
    np.testing.assert_array_equal(
        np.bincount(cut.node, minlength=mesh.n_vertices), np.where(border, degree + 1, np.maximum(degree, 1))
    )
    seamed = sum(len(path) - 1 for path in paths)
    assert len(cut.edges) == len(mesh.edges) + seamed
    assert sum(cut.euler(k) for k in range(cut.n_panels)) == len(cut.node) - len(cut.edges) + mesh.n_faces
    # Both sides of a seam: its nodes, edges of panels, and of opposite sense.
    directed = set(map(tuple, sides(cut.corners).tolist()))
    assert len(cut.pairs) == seamed
    for a0, a1, b0, b1 in cut.pairs.tolist():
        assert (a0, a1) in directed
        assert (b1, b0) in directed
        assert (a1, a0) not in directed
    for seam in cut.seams:
        np.testing.assert_array_equal(cut.node[seam.a], seam.nodes)
        np.testing.assert_array_equal(cut.node[seam.b], seam.nodes)
    # Gluing sides makes one point of every node again.
    links = np.concatenate([cut.pairs[:, [0, 2]], cut.pairs[:, [1, 3]]])
    number, glued = component_labels(len(cut.node), links)
    assert number == mesh.n_vertices
    assert all(len(set(cut.node[glued == k])) == 1 for k in range(number))
    for k, loops in enumerate(cut.loops):
        assert cut.euler(k) == 2 - len(loops)
        for loop in loops:
            assert all(pair in directed for pair in zip(loop.tolist(), np.roll(loop, -1).tolist(), strict=True))


@st.composite
def walks(draw) -> tuple[str, list[list[int]]]:
    """Random paths that run along no border and cross nowhere."""
    kind = draw(st.sampled_from(sorted(KINDS)))
    mesh = KINDS[kind]
    inner = mesh.edges[mesh.edge_faces[:, 1] >= 0]
    near: dict[int, list[int]] = {}
    for a, b in inner.tolist():
        near.setdefault(a, []).append(b)
        near.setdefault(b, []).append(a)
    passed: set[int] = set()
    taken: set[frozenset[int]] = set()
    paths = []
    for _ in range(draw(st.integers(1, 4))):
        path = [draw(st.sampled_from(sorted(near)))]
        for _ in range(draw(st.integers(1, 12))):
            # A node inside one path may be the end of others.
            if len(path) > 1 and path[-1] in passed:
                break
            free = [n for n in near[path[-1]] if n not in path[1:] and frozenset((n, path[-1])) not in taken
                    and not (n == path[0] and len(path) < 3)]  # fmt: skip
            if not free:
                break
            path.append(draw(st.sampled_from(free)))
            if path[-1] == path[0]:
                break
        if len(path) > 1:
            passed |= set(path[1:-1])
            taken |= {frozenset(pair) for pair in pairwise(path)}
            paths.append(path)
    return kind, paths


@given(walks())
@settings(max_examples=150, deadline=None)
def test_any_paths_cut_and_glue(case) -> None:
    kind, paths = case
    assume(paths)
    problem = ""
    try:
        check(KINDS[kind], cut_open(KINDS[kind], paths), paths)
    except InputError as error:
        problem = str(error)
    # a sphere or a torus that is not cut open, or a slit of one edge
    known = ("opens nothing", "cannot lie flat") if kind in ("sphere", "torus") else ("opens nothing",)
    assert not problem or any(text in problem for text in known)


def test_without_seams_points_are_nodes() -> None:
    cut = cut_open(CLOTH)
    np.testing.assert_array_equal(cut.corners, CLOTH.faces)
    np.testing.assert_array_equal(cut.node, np.arange(CLOTH.n_vertices))
    assert (cut.n_panels, cut.euler(0), len(cut.pairs)) == (1, 1, 0)


def test_a_tube_with_one_seam_is_a_disc_and_with_two_has_two_panels() -> None:
    mesh = tube()
    one = cut_open(mesh, [up_the_side()])
    assert (one.n_panels, one.euler(0), one.seams[0].name) == (1, 1, "A")
    two = cut_open(mesh, {"left": up_the_side(), "right": up_the_side(at=8)})
    assert [two.euler(k) for k in range(two.n_panels)] == [1, 1]
    for seam in two.seams:  # from one panel to the other
        assert set(two.panel[seam.a]) != set(two.panel[seam.b])
    check(mesh, two, [up_the_side(), up_the_side(at=8)])
    np.testing.assert_array_equal(two.face_panel, two.panel[two.corners[:, 1]])


def test_left_and_right_are_those_seen_from_outside() -> None:
    mesh = tube()
    seam = (cut := cut_open(mesh, [up_the_side()])).seams[0]
    for side, sign in ((seam.a, -1.0), (seam.b, 1.0)):  # going up at (r, 0, z), seen from +x, y > 0 is to the right
        faces = np.isin(cut.corners, side).sum(axis=1) == 2
        assert np.all(sign * mesh.vertices[mesh.faces[faces]].mean(axis=1)[:, 1] > 0.0)


def test_a_torus_needs_two_seams_that_meet() -> None:
    mesh = torus((16, 10))
    long, short = [10 * i for i in range(16)] + [0], [*range(10), 0]
    cut = cut_open(mesh, [long, short])
    assert (cut.n_panels, cut.euler(0), len(cut.loops[0])) == (1, 1, 1)
    check(mesh, cut, [long, short])
    assert len(cut_open(mesh, [long]).loops[0]) == 2
    # The other begins elsewhere: the first is in two parts, wherever it begins itself.
    moved = cut_open(mesh, {"long": [*long[3:-1], *long[:4]], "short": short})
    assert [seam.name for seam in moved.seams] == ["long", "short"]
    assert moved.seams[0].nodes[0] == 0
    half = cut_open(mesh, [long, short[:6], short[5:]])
    assert half.euler(0) == 1


def test_a_sphere_by_a_meridian_is_a_disc_with_a_slit() -> None:
    mesh = sphere()
    seam = (cut := cut_open(mesh, [meridian()])).seams[0]
    assert cut.euler(0) == 1
    assert seam.a[0] == seam.b[0]
    assert seam.a[-1] == seam.b[-1]
    check(mesh, cut, [meridian()])


def test_a_seam_that_another_meets_is_in_parts() -> None:
    mesh = tube()
    around = [7 * i + 3 for i in range(16)] + [3]
    cut = cut_open(mesh, {"side": up_the_side()[:4], "waist": around})
    assert [seam.name for seam in cut.seams] == ["side", "waist"]
    assert not cut.seams[1].closed or set(cut.seams[1].a) != set(cut.seams[1].b)
    check(mesh, cut, [up_the_side()[:4], around])
    opposite = cut_open(mesh, {"side": up_the_side()[:4], "waist": around, "back": up_the_side(at=5)[3:]})
    assert [seam.name for seam in opposite.seams] == ["side", "waist.1", "waist.2", "back"]
    ring = cut_open(mesh, [around])
    assert [len(loops) for loops in ring.loops] == [2, 2]
    assert ring.seams[0].closed


def test_a_dart_ends_inside() -> None:
    middle = CLOTH.nearest([0.3, 0.25, 0.0])
    path = shortest_path(CLOTH, 2, middle)
    assert not np.isin(path[1:], CLOTH.boundary_nodes).any()
    cut = cut_open(CLOTH, {"dart": path})
    assert (cut.n_panels, cut.euler(0)) == (1, 1)
    assert cut.seams[0].a[-1] == cut.seams[0].b[-1]
    assert cut.seams[0].a[0] != cut.seams[0].b[0]
    check(CLOTH, cut, [path])


def test_rest_coordinates_take_the_panels() -> None:
    mesh = tube()
    cut = cut_open(mesh, [up_the_side(), up_the_side(at=8)])
    start = np.random.default_rng(0).normal(size=(len(cut.node), 2))
    coordinates = RestCoordinates.of_panels(start, cut.corners, cut.panel, cut.pairs)
    assert len(coordinates.columns) == 2 * len(cut.node) - 6
    glued = np.concatenate([mesh.vertices[cut.node][:, :2], np.zeros((len(cut.node), 1))], axis=1)
    np.testing.assert_array_equal(coordinates.gaps(glued), 0.0)


@pytest.mark.parametrize(("kind", "seams", "match"), [
    ("tube", 3, "node paths"), ("tube", [0, 1, 2], "sequence of paths"), ("tube", "A", "node paths"),
    ("tube", [[0]], "at least two nodes"), ("tube", [[0, 1.5]], "1.5 is no number"),
    ("tube", [[0, 99]], "node 99 does not exist"), ("tube", [[0, -1]], "node -1"), ("tube", [[True, 1]], "True is no"),
    ("tube", [[0, 1, 3]], "nodes 1 and 3 follow each other"), ("tube", [[0, 5]], "border, from node 0 to 5"),
    ("tube", [[1, 2, 3], [3, 2]], "'A' and 'B' both run along the edge of nodes 2 and 3"),
    ("tube", [[1, 2, 1]], "edge of nodes 1 and 2 twice"),
    ("tube", [[1, 2, 3], [7, 2, 36]], "'A' and 'B' cross at node 2"),
    ("tube", [[6, 1, 2, 7, 1]], "passes node 1 twice"), ("tube", {"": [0, 1]}, "expected a name"),
    ("tube", {3: [0, 1]}, "seam 3"), ("tube", [[1, 2]], "opens nothing"), ("tube", {"A": None}, "seam 'A' is None"),
    ("sphere", [], "closed and cannot lie flat"), ("torus", [], "closed"), ("torus", [[0, 1, 2]], "1 handle"),
])  # fmt: skip
def test_what_cannot_be_cut_is_refused(kind: str, seams, match: str) -> None:
    with pytest.raises(ic.IsoclothError, match=match):
        cut_open(KINDS[kind], seams)


def test_a_target_that_is_no_mesh_of_triangles_is_refused() -> None:
    with pytest.raises(ic.MeshError, match="triangulated"):
        cut_open(ic.meshes.rectangle(1.0, 1.0, (3, 3)))
    with pytest.raises(InputTypeError, match="ndarray"):
        cut_open(np.zeros((3, 3)))  # type: ignore[arg-type]
