"""A file that somebody writes for minutes is written by nobody else, and a dead owner does not matter."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from isocloth.base.errors import BusyError
from isocloth.base.locks import locked

OWNER = """
import sys, time
from pathlib import Path
from isocloth.base.locks import locked
with locked(Path(sys.argv[1]), "writing"):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_second_owner_is_refused_and_told_who_the_first_is(tmp_path: Path) -> None:
    file = tmp_path / "out.h5"
    with locked(file, "writing"):
        with pytest.raises(BusyError, match=rf"process {os.getpid()} is writing now"), locked(file, "writing"):
            pass
        assert (tmp_path / "out.h5.lock").exists()
    assert list(tmp_path.iterdir()) == []
    with locked(file, "writing"):
        pass


def test_a_killed_owner_leaves_no_lock(tmp_path: Path) -> None:
    file = tmp_path / "out.h5"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    owner = subprocess.Popen([sys.executable, "-c", OWNER, str(file)], stdout=subprocess.PIPE, env=environment)
    assert owner.stdout is not None
    assert owner.stdout.readline() == b"held\n"
    with pytest.raises(BusyError, match=f"process {owner.pid} "), locked(file, "writing"):
        pass
    owner.send_signal(signal.SIGKILL)
    owner.wait()
    owner.stdout.close()
    assert (tmp_path / "out.h5.lock").exists()
    with locked(file, "writing"):
        pass
    assert list(tmp_path.iterdir()) == []
