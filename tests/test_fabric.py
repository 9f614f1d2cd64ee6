import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import isocloth as ic


def test_the_papers_fabrics_have_their_measured_densities():
    measured = {
        "paper": 0.0802, "polyester": 0.1042, "light cotton": 0.1604, "felt": 0.1764, "wool": 0.1804, "denim": 0.3046,
        "stiff cotton": 0.3046,
    }  # fmt: skip
    assert {name: ic.fabrics[name].density for name in ic.fabrics} == measured


@pytest.mark.parametrize("name", ["light cotton", "Light-Cotton", "light_cotton"])
def test_names_are_found_however_they_are_written(name):
    assert ic.fabrics[name].density == 0.1604
    assert name in ic.fabrics


def test_an_unknown_fabric_names_the_known_ones():
    with pytest.raises(KeyError, match="denim"):
        ic.fabrics["chainmail"]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("density", -1.0),
        ("density", 0.0),
        ("bending", math.nan),
        ("damping", -0.1),
        ("thickness", 0.0),
        ("shear", -1.0),
        ("friction", -0.1),
        ("friction", math.inf),
    ],
)
def test_a_parameter_out_of_range_is_named(field, value):
    with pytest.raises(ic.FabricError, match=field):
        ic.Fabric(**{field: value})


def test_a_density_in_grams_is_recognised():
    with pytest.raises(ic.FabricError, match=r"kg/m\^2, not g/m\^2"):
        ic.Fabric(density=300)


def test_a_word_is_not_a_number():
    with pytest.raises(TypeError, match="expected a number"):
        ic.Fabric(density="heavy")  # type: ignore[arg-type]


@given(st.floats(1e-3, 10), st.one_of(st.none(), st.floats(0, 10)))
def test_the_weight_density_defaults_to_the_density(density, gravity_density):
    fabric = ic.Fabric(density=density, gravity_density=gravity_density)
    assert fabric.weight_density == (density if gravity_density is None else gravity_density)
    assert fabric.membrane_stiffness >= 3e5 * density
