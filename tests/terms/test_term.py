import numpy as np
import pytest

import isocloth as ic
from isocloth.terms.hinge import HingeBending
from isocloth.terms.term import (
    DampedTerm,
    Term,
    assembled_blocks,
    assembled_gradient,
    assembled_hessian,
    total_energy,
)


class Springs:
    """E = 1/2 |x_i - x_j|^2 with 1 N/m: the smallest term there is, with answers known by heart."""

    name = "springs"

    def __init__(self, stencils):
        self.stencils = np.array(stencils, dtype=np.int64)

    def energy(self, x, out):
        out[:] = 0.5 * np.sum(np.diff(x[self.stencils], axis=1) ** 2, axis=(1, 2))

    def gradient(self, x, out):
        ends = x[self.stencils]
        out[:, 0], out[:, 1] = ends[:, 0] - ends[:, 1], ends[:, 1] - ends[:, 0]

    def hessian(self, x, out, psd):
        out[:] = np.kron([[1.0, -1.0], [-1.0, 1.0]], np.eye(3))

    def rest_gradient(self, x):
        return np.zeros((len(self.stencils), 6, 6))

    def parameter_gradient(self, x):
        return {}


CHAIN = Springs([[0, 1], [1, 2], [2, 0], [3, 1]])
X = np.random.default_rng(4).standard_normal((5, 3))
LAPLACIAN = np.array([[2.0, -1, -1, 0, 0], [-1, 3, -1, -1, 0], [-1, -1, 2, 0, 0], [0, -1, 0, 1, 0], [0, 0, 0, 0, 0]])


def test_any_class_with_the_members_is_a_term():
    assert isinstance(CHAIN, Term)
    assert not isinstance(CHAIN, DampedTerm)
    hinges = HingeBending.of(ic.meshes.rectangle(1.0, 1.0, shape=(3, 3), element="triangle"), 1.0)
    assert isinstance(hinges, Term)
    assert isinstance(hinges, DampedTerm)


@pytest.mark.parametrize("psd", [False, True])
def test_the_parts_of_stencils_add_up_at_nodes_they_share(psd):
    assert total_energy(CHAIN, X) == pytest.approx(0.5 * np.sum(X * (LAPLACIAN @ X)), rel=1e-14)
    np.testing.assert_allclose(assembled_gradient(CHAIN, X, 5), LAPLACIAN @ X, atol=1e-14)
    matrix = assembled_hessian(CHAIN, X, 5, psd)
    assert matrix.shape == (15, 15)
    np.testing.assert_allclose(matrix.toarray(), np.kron(LAPLACIAN, np.eye(3)), atol=1e-14)


def test_blocks_need_not_be_symmetric():
    block = np.arange(36.0).reshape(1, 6, 6)
    whole = assembled_blocks(Springs([[3, 1]]), block, 4).toarray()
    places = [9, 10, 11, 3, 4, 5]
    np.testing.assert_array_equal(whole[np.ix_(places, places)], block[0])
    assert np.count_nonzero(whole) == 35


def test_no_stencils_are_no_energy():
    empty = Springs(np.empty((0, 2)))
    assert total_energy(empty, X) == 0.0
    assert not assembled_gradient(empty, X, 5).any()
    assert assembled_hessian(empty, X, 5, False).nnz == 0
