"""Bad command lines: exit code 2 and a short message on standard error, in the words of the command line."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import numpy as np

import isocloth as ic
from isocloth.cli import main

from .clear import Case
from .geometry import SHEET, recording, trajectory

SCENE = "[cloth]\nwidth = 0.3\nheight = 0.3\nnodes = [4, 4]\n\n[simulation]\nduration = 0.05\n"

#: what only Python programs write
PYTHON = re.compile(r"\b\w+=(['\"\[(]|True|False|None)|\bic\.|Traceback|\bsim\.")


class CommandLineError(ic.IsoclothError):
    """What a command printed before it ended with exit code 2."""


def prepare(folder: Path) -> None:
    """Good and bad files that commands are given."""
    (folder / "good.toml").write_text(SCENE)
    (folder / "bad.toml").write_text(SCENE.replace("0.3", "'wide'"))
    (folder / "endless.toml").write_text(
        '[cloth]\nshape = "file"\npath = "/dev/zero.obj"\n[simulation]\nduration = 1\n'
    )
    if not (folder / "zero.obj").is_symlink():
        (folder / "zero.obj").symlink_to("/dev/zero")
    (folder / "device.toml").write_text('[cloth]\nshape = "file"\npath = "zero.obj"\n[simulation]\nduration = 1\n')
    (folder / "projected.toml").write_text(
        SCENE + 'solver = "projection"\n\n[[obstacle]]\nkind = "floor"\nheight = -1\n'
    )
    (folder / "empty.h5").write_text("")
    (folder / "folder.h5").mkdir(exist_ok=True)
    (folder / "nothing").mkdir(exist_ok=True)
    (folder / "text.csv").write_text("these are no numbers\n")
    trajectory().save(folder / "run.h5")
    recording().save(folder / "motion.npz")
    far = recording().positions * 30.0
    np.savez(folder / "mm.npz", times=recording().times, positions=1000 * far, held=[4, 19])
    np.savez(folder / "bare.npz", times=recording().times, positions=recording().positions)
    SHEET.save(folder / "mesh.obj")
    np.savetxt(folder / "few.xyz", np.eye(3))
    np.savetxt(folder / "cloud.xyz", np.random.default_rng(0).random((60, 3)) * [1, 1, 0])


def told(*words: str) -> str:
    """What a command that must fail prints; raises it as an error, so that it is looked at as those of functions."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(list(words))
    if code != 2:
        return f"exit code {code}: {out.getvalue()}{err.getvalue()}"
    message = err.getvalue()
    if out.getvalue() or not message:
        return f"on standard output: {out.getvalue()!r}, on standard error: {message!r}"
    if found := PYTHON.search(message):
        return f"{found[0]!r} of Python in {message!r}"
    raise CommandLineError(message)


#: words of a command line, and what the message must name
COMMANDS: list[tuple[str, str]] = [
    ("", "COMMAND"), ("fly", "fly"), ("run", "scene"), ("render", "trajectory"),
    ("info none.obj", "none.obj"), ("info none.h5", "none.h5"), ("info what.docx", "what.docx"), ("info swin", "swin"),
    ("info empty.h5", "empty.h5"), ("info folder.h5", "folder.h5"), ("info text.csv", "text.csv"),
    ("info bad.toml", "bad.toml"), ("info zero.obj", "zero.obj"), ("info device.toml", "zero.obj"),
    ("info mm.npz", "mm.npz"),
    ("run none.toml", "none.toml"), ("run swin", "swing"), ("run bad.toml", "cloth.width"), ("run nothing", "nothing"),
    ("run device.toml", "zero.obj"), ("run endless.toml", "/dev/zero"), ("run mesh.obj", "mesh.obj"),
    ("run projected.toml", "projection"),
    ("run good.toml -o out.txt", "out.txt"), ("run good.toml -o none/out.h5", "none/out.h5"),
    ("run good.toml -o folder.h5", "folder.h5"), ("run good.toml --duration -1", "--duration"),
    ("run good.toml --duration x", "--duration"), ("run good.toml --duration nan", "--duration"),
    ("run good.toml --duration 0", "--duration"), ("run good.toml --duration 0.001", "duration"),
    ("run good.toml --duration 1e15", "duration"), ("run good.toml --resume --restart", "--restart"),
    ("run good.toml --checkpoint-seconds -1", "--checkpoint-seconds"), ("run good.toml --speed 3", "--speed"),
    ("render none.h5 -o a.png", "none.h5"), ("render empty.h5 -o a.png", "empty.h5"), ("render run.h5", "-o"),
    ("render run.h5 -o a.bmp", "a.bmp"), ("render run.h5 -o none/a.png", "none"), ("render run.h5 -o a", "'a'"),
    ("render run.h5 -o folder.png --width 3", "3"), ("render run.h5 -o a.png --width 300.5", "--width"),
    ("render run.h5 -o a.png --width x", "--width"), ("render run.h5 -o a.png --height 0", "0"),
    ("render run.h5 -o a.gif --fps 0", "fps"), ("render run.h5 -o a.gif --fps nan", "fps"),
    ("render run.h5 -o a.gif --fps x", "--fps"), ("render run.h5 -o a.png --colour red", "--colour"),
    ("render motion.npz -o a.png", "motion.npz"), ("render mesh.obj -o a.png", "mesh.obj"),
    ("render folder.h5 -o a.png", "folder.h5"),
    ("reconstruct none.ply", "none.ply"), ("reconstruct few.xyz", "3 points"), ("reconstruct what.docx", "what.docx"),
    ("reconstruct cloud.xyz --detail -1", "--detail"), ("reconstruct cloud.xyz --edge x", "--edge"),
    ("reconstruct cloud.xyz --edge 0", "--edge"), ("reconstruct cloud.xyz --largest-gap 0", "--largest-gap"),
    ("reconstruct cloud.xyz --largest-gap nan", "--largest-gap"), ("reconstruct cloud.xyz --smooth -1", "--smooth"),
    ("reconstruct cloud.xyz --smooth x", "--smooth"), ("reconstruct cloud.xyz --direction 0 0 0", "--direction"),
    ("reconstruct cloud.xyz --direction 1 2", "--direction"), ("reconstruct cloud.xyz --element hexagon", "--element"),
    ("reconstruct cloud.xyz --frame 3", "frame"), ("reconstruct cloud.xyz --grid 0", "--grid"),
    ("reconstruct cloud.xyz --grid 9", "points"), ("reconstruct zero.obj", "zero.obj"),
    ("reconstruct cloud.xyz --meshing magic", "--meshing"),
    ("classify none.npz", "none.npz"), ("classify what.docx", "what.docx"), ("classify empty.h5", "empty.h5"),
    ("classify run.h5 --frame 99", "99"), ("classify run.h5 --frame x", "--frame"),
    ("classify run.h5 --threshold x", "--threshold"), ("classify run.h5 --threshold -1", "threshold"),
    ("classify run.h5 --threshold nan", "threshold"), ("classify run.h5 --database none.npz", "none.npz"),
    ("classify run.h5 --database run.h5", "run.h5"), ("classify motion.npz", "motion.npz"),
    ("fold", "output"), ("fold out.txt", "out.txt"), ("fold none/out.npz", "none/out.npz"),
    ("fold out.npz --seed x", "--seed"),
    ("fold out.npz --nodes x", "--nodes"), ("fold out.npz --nodes 1", "nodes"), ("fold out.npz --nodes -3", "nodes"),
    ("fold out.npz --per-class 0", "per-class"), ("fold out.npz --per-class -1", "per-class"),
    ("fold out.npz --classes origami", "origami"), ("fold out.npz --workers 0", "workers"),
    ("fold out.npz --seed -1", "seed"), ("fold out.npz --resume --restart", "--restart"),
    ("fold out.h5 --sequence origami", "origami"), ("fold out.txt --sequence half", "out.txt"),
    ("calibrate", "recordings"), ("calibrate none.csv", "none.csv"), ("calibrate nothing", "nothing"),
    ("calibrate text.csv", "text"), ("calibrate mm.npz", "--units"), ("calibrate bare.npz --units parsec", "parsec"),
    ("calibrate motion.npz --units mm", "--units"), ("calibrate motion.npz --up y", "--up"),
    ("calibrate motion.npz --held 1 2", "--held"), ("calibrate motion.npz --cloth 1 2", "--cloth"),
    ("calibrate motion.npz --grid 4 5", "--grid"), ("calibrate motion.npz --size 0.3 0.4", "--size"),
    ("sensitivity motion.npz --units mm", "--units"), ("forecast run.h5 --units mm", "--units"),
    ("calibrate text.csv --up w", "--up"), ("calibrate motion.npz --grid 3", "--grid"),
    ("calibrate motion.npz --size 0 1", "--size"), ("calibrate motion.npz --size x y", "--size"),
    ("calibrate motion.npz --fabric steel", "steel"), ("calibrate motion.npz --fabric -1", "-1"),
    ("calibrate motion.npz --model magic", "magic"), ("calibrate motion.npz --model elastic:stretch=x", "stretch"),
    ("calibrate motion.npz --model elastic:magic=1", "magic"), ("calibrate motion.npz --method magic", "--method"),
    ("calibrate motion.npz --timestep 0", "--timestep"), ("calibrate motion.npz --timestep x", "--timestep"),
    ("calibrate motion.npz --loss max", "--loss"), ("calibrate motion.npz --workers x", "--workers"),
    ("calibrate motion.npz -p damping=1", "damping=1"), ("calibrate motion.npz -p damping=a:b", "damping=a:b"),
    ("calibrate motion.npz --drive tool --fabric 0.2", "--drive"), ("calibrate bare.npz", "--fabric"),
    ("compare motion.npz --models magic", "magic"), ("compare none.csv", "none.csv"),
    ("sensitivity none.csv", "none.csv"), ("sensitivity motion.npz --window 1", "--window"),
    ("forecast none.csv", "none.csv"), ("forecast motion.npz --holder feet", "--holder"),
    ("forecast bare.npz --no-simulation", "--fabric"),
    ("demo --duration x", "--duration"), ("demo -o good.toml", "good.toml"),
    ("protocol", "protocol"), ("protocol magic", "magic"), ("protocol cantilever --model magic", "magic"),
    ("protocol cantilever --gammas x", "--gammas"), ("protocol cantilever --gammas -1", "--gammas"),
    ("protocol cantilever --gammas 0", "gammas"), ("protocol cantilever --elements 0", "elements"),
    ("protocol cantilever --elements x", "--elements"), ("protocol lateral_buckling --widths 3", "widths"),
    ("protocol lateral_buckling --widths nan", "widths"), ("protocol stick_slip --frictions -1", "frictions"),
    ("protocol stick_slip --contact magic", "--contact"), ("protocol cantilever --gammas 1 -o a.txt", "a.txt"),
    ("protocol cantilever --gammas 1 -o none/a.png", "none"),
    ("measure", "measure"), ("measure magic", "magic"), ("measure cantilever", "--length"),
    ("measure cantilever --length 0.2 --density x --drop 0.08 --reach 0.15", "--density"),
    ("measure cantilever --length 0.2 --density -1 --drop 0.08 --reach 0.15", "density"),
    ("measure cantilever --length 0.2 --density 0.15 --drop 0 --reach 0.15", "drop"),
    ("measure cantilever --length 0.2 --density 0.15 --drop 0.5 --reach 0.15", "drop"),
    ("measure cantilever --length 0.2 --density 0.15 --drop 0.08 --reach nan", "reach"),
    ("measure cantilever --length 0.2 --density 0.15 --drop 0.08 --reach 0.15 --drop-error -1", "drop-error"),
    ("measure stick_slip", "--push"), ("measure stick_slip --push 0.02", "length"),
    ("measure stick_slip --push 0.5 --length 0.2", "push"), ("measure stick_slip --across 0.1", "along"),
    ("measure stick_slip --across x --along 1", "--across"),
    ("reproduce magic", "magic"), ("bench magic", "magic"),
]  # fmt: skip

CASES = [
    Case(f"isocloth {line}", lambda _, line=line: told(*line.split()), ((name,),))  # type: ignore[misc]
    for line, name in COMMANDS
]

#: some of them in a process of their own, as users call them
ALONE = ["", "run none.toml", "run device.toml", "render empty.h5 -o a.png", "info what.docx", "fold out.npz --nodes 1"]
