"""The fingerprint of the code that states depend on."""

from importlib.resources import files
from pathlib import Path

from isocloth.base.fingerprint import dependencies
from isocloth.folding import make
from isocloth.folding.code import MAKER, code_of_states


def test_the_fingerprint_is_part_of_what_states_are_made_with():
    assert make.settings()["code"] == code_of_states()
    assert len(code_of_states()) == 16


def test_every_room_that_moves_a_state_counts():
    found = dependencies(MAKER, {"isocloth": Path(str(files("isocloth")))})
    rooms = {name.split(".")[1] for name in found}
    assert {"base", "meshes", "terms", "cloth", "contact", "friction", "solvers", "simulation", "states"} <= rooms
    assert "isocloth.folding.stage" in found
    assert not rooms & {"cli", "reconstruction", "calibration"}  # what makes no state
