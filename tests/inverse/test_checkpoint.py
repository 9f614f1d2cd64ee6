"""A search that is interrupted ends in the same bits as one that is not; a checkpoint of another problem is refused."""

from pathlib import Path

import numpy as np
import pytest
from small_targets import strip

import isocloth as ic
from isocloth.inverse.checkpoint import Checkpoint

TARGET, EDGE = strip(wave=0.04)
#: too soft: many steps of the load are taken and refused, in both loops
SOFT = ic.models.DiscreteShell(stretch=6.0, bending=1e-3)
FABRIC = ic.Fabric(density=1.0)


class Killed(BaseException):
    """What no code catches."""


def search(checkpoint=None, **options):
    options = {"model": SOFT, "held": EDGE, "progress": False} | options
    return ic.invert(TARGET, options.pop("fabric", FABRIC), checkpoint=checkpoint, **options)


def killed(patch: pytest.MonkeyPatch, path: Path, after: int, **options) -> None:
    """A search that ends right after it has saved its state for the given time."""
    save, left = Checkpoint.save, [after]

    def save_and_die(self, at):
        save(self, at)
        left[0] -= 1
        if left[0] < 0:
            raise Killed

    with patch.context() as patched:
        patched.setattr(Checkpoint, "save", save_and_die)
        with pytest.raises(Killed):
            search(path, **options)
    assert path.exists()


@pytest.fixture(scope="module")
def whole():
    return search()


def test_an_interrupted_search_ends_in_the_same_bits(whole, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not whole.reached
    assert 0.0 < whole.load_reached < 1.0
    saved = 0
    for after in (0, 7, 11, 16):  # at the start, in the first loop, in the second
        path = tmp_path / f"{after}.npz"
        killed(monkeypatch, path, after)
        saved = max(saved, path.stat().st_size)
        found = search(path)
        assert found.rest.vertices.tobytes() == whole.rest.vertices.tobytes()
        assert found.load_reached == whole.load_reached
        assert found.contact_forces.tobytes() == whole.contact_forces.tobytes()
        assert found.iterations == whole.iterations
        assert not list(tmp_path.iterdir())
    assert saved > 0


def test_a_search_may_be_killed_again_and_again(whole, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "often.npz"
    for _ in range(6):
        killed(monkeypatch, path, 2)
    found = search(path)
    assert found.rest.vertices.tobytes() == whole.rest.vertices.tobytes()
    assert found.iterations == whole.iterations


def test_what_is_resumed_does_not_begin_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from isocloth.inverse.force_first import ForceFirst

    path = tmp_path / "part.npz"
    killed(monkeypatch, path, 5)
    loads = []
    at = ForceFirst._at
    monkeypatch.setattr(ForceFirst, "_at", lambda self, *args: (loads.append(args[2]), at(self, *args))[1])
    search(path)
    first = loads.copy()
    loads.clear()
    search()
    assert loads[5:] == first


@pytest.mark.parametrize(("what", "options"), [
    ("margin", {"margin": 0.5}),
    ("gravity", {"gravity": 9.0}),
    ("fabric", {"fabric": ic.Fabric(density=1.1)}),
    ("model", {"model": ic.models.DiscreteShell(stretch=6.0, bending=1.1e-3)}),
    ("held nodes", {"held": EDGE[:-1]}),
    ("obstacles", {"obstacles": [ic.Floor(-3.0)]}),
])  # fmt: skip
def test_a_checkpoint_of_another_problem_is_refused(
    what: str, options: dict[str, object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "part.npz"
    killed(monkeypatch, path, 0)
    before = path.read_bytes()
    with pytest.raises(ic.IsoclothError, match=rf"another problem \(other {what}\).*delete it"):
        search(path, **options)
    assert path.read_bytes() == before


def test_a_damaged_checkpoint_and_another_file_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "part.npz"
    killed(monkeypatch, path, 1)
    content = path.read_bytes()
    for spoilt in (content[:500], b"", b"no archive", content[: len(content) // 2]):
        path.write_bytes(spoilt)
        with pytest.raises(ic.IsoclothError, match="is no checkpoint of an inversion"):
            search(path)
        assert path.read_bytes() == spoilt
    np.savez(path, positions=np.zeros(3))
    with pytest.raises(ic.IsoclothError, match="is no checkpoint of an inversion"):
        search(path)


def test_a_terminal_sees_progress_and_a_log_file_does_not(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import sys

    search(progress=True)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    search(progress=True)
    err = capsys.readouterr().err
    assert "invert: load 1.000: not reached" in err
    assert err.endswith("\n")
    search(progress=False)
    assert capsys.readouterr().err == ""
