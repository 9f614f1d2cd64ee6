"""Every constant of contact has a unit and a range that was tried, and reaches the kernels in its own type."""

from dataclasses import fields, replace

import numpy as np
import pytest

import isocloth as ic
from isocloth.contact.options import ContactNumbers, ContactOptions


def test_every_constant_has_a_meaning_a_unit_and_a_range_that_was_tried():
    text = ContactOptions.__doc__
    for option in fields(ContactOptions):
        assert f"{option.name}:" in text, option.name
        assert option.metadata["unit"]
        low, high = option.metadata["tried"]
        for value in (low, high):
            assert value != option.default
            assert getattr(replace(ContactOptions(), **{option.name: value}), option.name) == value
        if isinstance(option.default, float | int) and not isinstance(low, tuple):
            assert low < option.default < high, option.name


def test_the_friction_tolerance_loosens_after_three_and_five_linearisations():
    options = ContactOptions()
    assert [options.friction_tolerance(k) for k in range(7)] == [1e-4, 1e-4, 1e-4, 1e-3, 1e-3, 1e-2, 1e-2]
    assert replace(options, friction_loosened=()).friction_tolerance(20) == 1e-4


def test_numbers_have_one_type_whatever_was_given():
    """Others would compile all kernels anew."""
    given = ContactOptions(stiffness=1000, correctable=25.0, corrections=(12.0, 1), full=np.float32(0.5)).numbers
    for name, value in ContactOptions().numbers._asdict().items():
        assert type(getattr(given, name)) is type(value), name
    assert set(ContactNumbers._fields) == set(given._fields)


@pytest.mark.parametrize(
    ("name", "value"),
    [("found", np.nan), ("proximity", -1.0), ("thoroughness", ()), ("thoroughness", ((1e-1, 0),)),
     ("corrections", (3,)), ("penetration", 0.0), ("stiffest", 1.0), ("reordered", 1.0), ("calmed", np.inf)],
)  # fmt: skip
def test_what_cannot_be_is_refused_by_name(name, value):
    with pytest.raises(ic.IsoclothError, match=name):
        ContactOptions(**{name: value})


def test_options_of_version_0_1_reach_the_contact_solver():
    mesh = ic.meshes.rectangle(0.1, 0.1, shape=(3, 3))
    old = ic.NewtonOptions(penetration=0.05, friction=1e-5)
    sim = ic.Simulation(
        mesh, obstacles=[ic.Floor(-1.0)], solver_options=old, contact_options=ContactOptions(patience=1)
    )
    assert sim.stepper.contact.contact == ContactOptions(penetration=0.05, friction=1e-5, patience=1)
    assert sim.stepper.contact.deepest == 0.05 * sim.fabric.thickness


def test_options_of_another_kind_are_named():
    mesh = ic.meshes.rectangle(0.1, 0.1, shape=(3, 3))
    for obstacles in ([], [ic.Floor(-1.0)]):
        with pytest.raises(TypeError, match="ContactOptions"):
            ic.Simulation(mesh, obstacles=obstacles, contact_options={"penetration": 1})
        with pytest.raises(TypeError, match="NewtonOptions"):
            ic.Simulation(mesh, obstacles=obstacles, solver_options=ic.ProjectionOptions())
