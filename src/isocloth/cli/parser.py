"""The options of every subcommand."""

from __future__ import annotations

import argparse
import math

from isocloth import __version__
from isocloth.cli.calibrate import calibrate, compare, forecast, sensitivity
from isocloth.cli.classify import classify
from isocloth.cli.demo import demo
from isocloth.cli.fold import fold
from isocloth.cli.info import info
from isocloth.cli.invert import add_invert
from isocloth.cli.pattern import add_pattern
from isocloth.cli.protocol import add_measure, add_protocol
from isocloth.cli.reconstruct import reconstruct
from isocloth.cli.render import render
from isocloth.cli.run import run

EPILOGUE = "Every command takes --help. Errors are short; --traceback shows where they come from."


def make_parser() -> argparse.ArgumentParser:
    """The parser of `isocloth`; the chosen subcommand's function is in `options.command`."""
    parser = argparse.ArgumentParser(
        prog="isocloth", description="Simulate cloth that does not stretch.", epilog=EPILOGUE
    )
    parser.add_argument("--version", action="version", version=f"isocloth {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _run(commands.add_parser("run", help="simulate a scene file"))
    _render(commands.add_parser("render", help="turn a simulated motion into pictures"))
    _info(commands.add_parser("info", help="show the installation, or what a file holds"))
    _reconstruct(commands.add_parser("reconstruct", help="make a mesh from a cloud of points"))
    add_invert(commands.add_parser("invert", help="find the rest shape with which a cloth hangs as it should"))
    add_pattern(commands.add_parser("pattern", help="find flat panels of a cloth that hangs as it should"))
    _demo(commands.add_parser("demo", help="simulate and picture a scene that shows what this is about"))
    _classify(commands.add_parser("classify", help="name the state of a folded cloth"))
    _fold(commands.add_parser("fold", help="fold napkins by simulation, to a database of states"))
    _calibrate(commands.add_parser("calibrate", help="fit parameters to recordings of real cloth"))
    _compare(commands.add_parser("compare", help="fit every cloth model to the same recordings, side by side"))
    _sensitivity(commands.add_parser("sensitivity", help="show how much two parameters matter for a recording"))
    _forecast(commands.add_parser("forecast", help="guess parameters from density, size and speed of a recording"))
    add_protocol(commands.add_parser("protocol", help="run cloth models against master curves of strips"))
    add_measure(commands.add_parser("measure", help="measure stiffness or friction of a fabric with a ruler"))
    # Listed for --help; they read their own options before this parser is asked.
    commands.add_parser("bench", help="measure speed (isocloth bench --help)", add_help=False)
    commands.add_parser("reproduce", help="repeat results of the papers (--list)", add_help=False)
    return parser


def _run(parser: argparse.ArgumentParser) -> None:
    parser.description = "Simulate a scene. See docs/scenes.md for the format of scene files."
    parser.add_argument("scene", help="a scene file, or the name of a shipped scene such as swing")
    parser.add_argument("-o", "--output", help="trajectory file, .h5 or .npz (default: the scene's name, .h5)")
    parser.add_argument("--duration", type=seconds, help="simulate so many seconds instead of the scene's")
    again = parser.add_mutually_exclusive_group()
    again.add_argument("--resume", action="store_true", help="continue an interrupted run from its checkpoint")
    again.add_argument("--restart", action="store_true", help="discard the checkpoint of an interrupted run")
    parser.add_argument("--quiet", action="store_true", help="print errors and warnings only")
    parser.add_argument(
        "--checkpoint-seconds", type=seconds, default=10.0, metavar="S", help="between checkpoints (default: 10)"
    )
    parser.set_defaults(command=run)


def _render(parser: argparse.ArgumentParser) -> None:
    parser.description = "Picture a trajectory. The suffix of the output chooses what is made."
    parser.add_argument("trajectory", help="trajectory file, .h5 or .npz")
    parser.add_argument(
        "-o",
        "--output",
        required=True,
        help=".mp4 or .gif (animation), .png (six instants), .html (turn it around)",
    )
    parser.add_argument("--width", type=int, default=960, help="pixels (default: 960)")
    parser.add_argument("--height", type=int, default=720, help="pixels (default: 720)")
    parser.add_argument("--fps", type=float, default=30.0, help="pictures per second (default: 30)")
    parser.add_argument("--colour", choices=("cloth", "strain"), default="cloth", help="default: cloth")
    parser.add_argument("--no-wireframe", dest="wireframe", action="store_false", help="hide the mesh lines")
    parser.add_argument("--quiet", action="store_true", help="print errors only")
    parser.set_defaults(command=render)


def _info(parser: argparse.ArgumentParser) -> None:
    parser.description = "Without a file: versions and settings. With one: what it holds."
    parser.add_argument("file", nargs="?", help="a scene (.toml or a shipped name), mesh or trajectory file")
    parser.set_defaults(command=info)


def _reconstruct(parser: argparse.ArgumentParser) -> None:
    parser.description = "Find the surface that a cloud of points samples, its topology, and a mesh for the simulator."
    parser.add_argument("cloud", help="points: .ply, .pcd, .xyz, .txt, .npz or .npy, in m")
    parser.add_argument("-o", "--output", help="mesh file: .obj, .ply, .stl, .gltf or .glb")
    parser.add_argument("--report", help="page (.html) that shows every stage")
    parser.add_argument("--edge", type=length, metavar="M", help="edges of the mesh (default: two spacings)")
    parser.add_argument("--element", choices=("triangle", "quad"), default="triangle", help="default: triangle")
    parser.add_argument(
        "--meshing",
        choices=("spread", "charts"),
        default="spread",
        help="nodes spread evenly over the surface, or charts of 2-cells glued together (default: spread)",
    )
    parser.add_argument("--direction", type=float, nargs=3, metavar="X", help="of the height (default: the best of 12)")
    parser.add_argument("--detail", type=length, metavar="M", help="features of less height are noise")
    parser.add_argument(
        "--largest-gap", type=float, default=4.0, metavar="R", help="larger gaps are holes, in spacings (default: 4)"
    )
    parser.add_argument(
        "--sheet", action="store_true", help="it is one sheet: close holes that folds hide, keep the largest piece"
    )
    parser.add_argument("--grid", type=length, metavar="M", help="first merge points in boxes of this size")
    parser.add_argument("--smooth", type=int, default=0, metavar="N", help="smooth the height N times (default: 0)")
    parser.add_argument("--keep-outliers", action="store_true", help="do not leave out points that lie apart")
    parser.add_argument("--frame", type=int, default=0, help="of an .npz file with several clouds (default: 0)")
    parser.add_argument("--quiet", action="store_true", help="print errors and doubts only")
    parser.set_defaults(command=reconstruct)


def _demo(parser: argparse.ArgumentParser) -> None:
    parser.description = "Simulate the scene `demo` and leave a film, a page, a picture and a table."
    parser.add_argument("-o", "--output", default="out", help="folder, made if needed (default: out)")
    parser.add_argument("--duration", type=seconds, help="simulate so many seconds instead of the scene's")
    parser.add_argument("--quiet", action="store_true", help="print the table only")
    parser.set_defaults(command=demo)


def _classify(parser: argparse.ArgumentParser) -> None:
    parser.description = "Name the state of a rectangular cloth on a table. See docs/states.md."
    parser.add_argument("state", help="trajectory (.h5, .npz), or .npz with positions, boundary or segments")
    parser.add_argument("--database", help=".npz file of labelled states (default: ideal folds of a napkin)")
    parser.add_argument("--frame", type=int, default=-1, help="of a trajectory (default: the last)")
    parser.add_argument("--threshold", type=float, help="distance beyond which a state is unknown")
    parser.set_defaults(command=classify)


def _fold(parser: argparse.ArgumentParser) -> None:
    parser.description = "Fold napkins on a table by simulation: a database of named states. See docs/states.md."
    parser.add_argument("output", help=".npz file of labelled states; with --sequence a trajectory, .h5 or .npz")
    parser.add_argument("--sequence", metavar="NAME", help="one folding sequence instead, e.g. 'in half'")
    parser.add_argument("--per-class", type=count, metavar="N", help="states of every class (default: 10)")
    parser.add_argument("--classes", nargs="+", metavar="NAME", help="default: all twelve")
    parser.add_argument("--nodes", type=int, default=20, metavar="N", help="along a side (default: 20)")
    parser.add_argument("--seed", type=int, default=0, help="of places and angles of folds (default: 0)")
    parser.add_argument("--workers", type=count, metavar="N", help="processes (default: 1)")
    again = parser.add_mutually_exclusive_group()
    again.add_argument("--resume", action="store_true", help="go on with an interrupted run")
    again.add_argument("--restart", action="store_true", help="discard the states of an interrupted run")
    parser.add_argument("--quiet", action="store_true", help="print errors only")
    parser.set_defaults(command=fold)


def _calibrate(parser: argparse.ArgumentParser) -> None:
    parser.description = "Fit parameters of the fabric to recordings. See docs/calibration.md."
    _recordings(parser)
    _fitted(parser)
    _searched(parser)
    parser.add_argument("--model", default="isometric", help="name or name:parameter=number (default: isometric)")
    parser.add_argument("--each", action="store_true", help="every recording for itself, and the papers' tables")
    parser.add_argument("-o", "--output", default="calibration", help="folder, made if needed (default: calibration)")
    parser.add_argument("--resume", action="store_true", help="go on from what the folder holds")
    parser.set_defaults(command=calibrate)


def _compare(parser: argparse.ArgumentParser) -> None:
    parser.description = "Fit every cloth model to the same recordings: the papers' table. See docs/calibration.md."
    _recordings(parser)
    _fitted(parser)
    _searched(parser)
    parser.add_argument(
        "--models", nargs="+", metavar="MODEL", help="names, or name:parameter=number,... (default: all five)"
    )
    parser.add_argument("-o", "--output", default="comparison", help="folder, made if needed (default: comparison)")
    parser.add_argument("--resume", action="store_true", help="go on from what the folder holds")
    parser.set_defaults(command=compare)


def _sensitivity(parser: argparse.ArgumentParser) -> None:
    parser.description = "The mean error of a recording over two parameters. See docs/calibration.md."
    _recordings(parser)
    _fitted(parser)
    parser.add_argument("--window", type=float, nargs=2, metavar="S", help="default: second half")
    parser.add_argument("-o", "--output", action="append", help="file: .csv or .svg; may be given twice")
    parser.set_defaults(command=sensitivity)


def _forecast(parser: argparse.ArgumentParser) -> None:
    parser.description = "delta and alpha from density, size and speed, by the papers' formula; and how well they do."
    _recordings(parser)
    parser.add_argument("--holder", choices=("hanger", "hands"), help="default: as the name of the file says")
    parser.add_argument("--no-simulation", action="store_true", help="do not try them")
    parser.set_defaults(command=forecast)


def _recordings(parser: argparse.ArgumentParser) -> None:
    """How recordings are read."""
    parser.add_argument("recordings", nargs="+", help="files (.csv, .npz, .h5), or folders with .csv files")
    parser.add_argument("--units", help="of lengths in the file (default: as its header says)")
    parser.add_argument("--up", choices=("x", "y", "z"), help="axis that points up (default: inferred)")
    parser.add_argument("--held", nargs="+", metavar="LABEL", help="markers that are held (default: upper corners)")
    parser.add_argument("--cloth", nargs="+", metavar="LABEL", help="markers on the cloth (default: inferred)")
    parser.add_argument("--grid", type=int, nargs=2, metavar="N", help="rows and columns of markers")
    parser.add_argument("--size", type=length, nargs=2, metavar="M", help="width and height between outermost markers")
    parser.add_argument("--fabric", help="name or density in kg/m^2 (default: as the file says)")
    parser.add_argument("--time-units", choices=("s", "ms"), default="s", help="of times in the file (default: s)")
    parser.add_argument("--scene", metavar="FILE", help="scene file (.toml) whose obstacles the cloth met")
    parser.add_argument(
        "--table", type=float, nargs="+", metavar="M",
        help="height of a table that the cloth met, and perhaps its extent: least and largest x, least and largest y",
    )  # fmt: skip
    parser.add_argument("--stick", nargs=2, metavar="LABEL", help="markers at the ends of a stick that met the cloth")
    parser.add_argument("--drive", choices=("camera", "tool"), default="camera", help="corners by (default: camera)")


def _fitted(parser: argparse.ArgumentParser) -> None:
    """What is fitted, and where that is computed."""
    parser.add_argument(
        "-p", "--parameters", nargs="+", default=["gravity_density", "damping"], metavar="NAME",
        help="name or name=low:high, e.g. friction:table or model.stretch=100:9000 (default: gravity_density damping)",
    )  # fmt: skip
    parser.add_argument("--points", type=int, help="values of each parameter, or places where the search begins")
    parser.add_argument("--shape", type=int, nargs=2, metavar="N", help="nodes along width and height")
    parser.add_argument("--timestep", type=seconds, metavar="S", help="default: 0.01, nonconforming 0.002")
    parser.add_argument(
        "--start", choices=("recorded", "hanging"), default="recorded",
        help="shape in which the cloth begins: as it was seen, or at rest below its corners (default: recorded)",
    )  # fmt: skip
    parser.add_argument("--keep-bias", action="store_true", help="add what markers show beside the start to all frames")
    parser.add_argument(
        "--apart", type=length, metavar="M", help="constant distance of two held corners (default: as it was seen)"
    )  # fmt: skip
    parser.add_argument("--longest-gap", type=seconds, metavar="S", help="of a held marker (default: 0.25)")
    parser.add_argument("--workers", type=count, help="processes (default: one per core)")
    parser.add_argument("--dask", metavar="ADDRESS", help="of the scheduler of a Dask cluster")
    parser.add_argument("--quiet", action="store_true", help="print the result only")


def _searched(parser: argparse.ArgumentParser) -> None:
    """How it is fitted."""
    parser.add_argument(
        "--method", choices=("multistart", "sweep", "nelder_mead", "cma"), default="multistart",
        help="default: multistart",
    )  # fmt: skip
    parser.add_argument("--train", type=float, nargs=2, metavar="S", help="window of the fit (default: first half)")
    parser.add_argument("--test", type=float, nargs=2, metavar="S", help="window of the errors (default: second half)")
    parser.add_argument("--loss", choices=("rms", "mean"), default="rms", help="over time (default: rms)")
    parser.add_argument("--seed", type=int, default=0, help="of random places (default: 0)")
    parser.add_argument("--starts", type=int, help="places from which multistart goes on (default: 2)")
    parser.add_argument("--rounds", type=int, help="of sweep and cma (default: 2)")
    parser.add_argument("--most", type=int, help="evaluations or iterations after which a search ends")


def length(text: str) -> float:
    """A positive finite number of metres."""
    return _positive(text, "positive length in m")


def seconds(text: str) -> float:
    """A positive finite number of seconds."""
    return _positive(text, "positive number of seconds")


def count(text: str) -> int:
    """A positive whole number."""
    try:
        value = int(text)
    except ValueError:
        value = 0
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no positive whole number")
    return value


def _positive(text: str, what: str) -> float:
    # argparse turns the error into its own
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0.0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is no {what}")
    return value
