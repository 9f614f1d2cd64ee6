"""`isocloth calibrate`, `compare`, `sensitivity` and `forecast`: parameters from recordings."""

from __future__ import annotations

import argparse
import sys
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isocloth.base.errors import InputError
from isocloth.cli.columns import columns
from isocloth.fabric import Fabric, fabrics
from isocloth.models import MODELS, Model, as_model

if TYPE_CHECKING:
    from isocloth.calibration import Calibration, Comparison


def calibrate(options: argparse.Namespace) -> int:
    """Fit parameters to recordings and write numbers and a page."""
    from isocloth import calibration

    folder = Path(options.output)
    files = _files(options.recordings)
    common = _common(options) | _searched(options)
    common["model"] = _model(options.model)
    if options.each:
        return _each(options, files, folder, common)
    recordings = [_load(file, options) for file in files]
    folder.mkdir(parents=True, exist_ok=True)
    found = calibration.calibrate(
        recordings, _parameters(options), save=folder / "evaluations.json", resume=options.resume, **common
    )
    return _written(found, folder / "calibration.json", files, options)


def compare(options: argparse.Namespace) -> int:
    """Fit every model to the same recordings and put them side by side."""
    from isocloth import calibration

    folder = Path(options.output)
    files = _files(options.recordings)
    models = [_model(text) for text in options.models] if options.models else MODELS
    recordings = [_load(file, options) for file in files]
    found = calibration.compare_models(
        recordings, _parameters(options), models=models, folder=folder, resume=options.resume,
        **_common(options), **_searched(options),
    )  # fmt: skip
    return _written(found, folder / "comparison.json", files, options)


def _written(found: Calibration | Comparison, file: Path, recordings: list[Path], options: argparse.Namespace) -> int:
    """Write numbers to a file and a page beside it, and print the summary."""
    page = file.with_name("report.html")
    found.save(file)
    found.report(page, title=", ".join(recording.stem for recording in recordings[:3]))
    print(found.summary())
    if not options.quiet:
        print(f"\nwritten: {file}, {page}")
    return 0


def _each(options: argparse.Namespace, files: list[Path], folder: Path, common: dict[str, Any]) -> int:
    """Every recording for itself: the papers' tables."""
    from isocloth.calibration.collection import calibrate_each, papers_table

    fabric = common.pop("fabric", None)
    load = _load_options(options)
    if fabric is not None:
        load["fabric"] = fabric
    say = (lambda _: None) if options.quiet else (lambda name: print(f"isocloth: {name}", file=sys.stderr))
    common["progress"] = False
    entries, refused = calibrate_each(files, folder, load=load, say=say, parameters=_parameters(options), **common)
    print(papers_table(entries))
    for line in refused:
        print(f"isocloth: not used: {line}", file=sys.stderr)
    return 0 if entries else 2


def sensitivity(options: argparse.Namespace) -> int:
    """The mean error over two parameters."""
    from isocloth import calibration

    recordings = [_load(file, options) for file in _files(options.recordings)]
    common = _common(options)
    if options.window is not None:
        common["window"] = tuple(options.window)
    found = calibration.sensitivity(recordings, _parameters(options), points=options.points or 10, **common)
    for path in options.output or ():
        found.save(path)
    if not options.quiet:
        a, b = found.parameters
        print(f"mean error in cm, {a.name} to the right, {b.name} upwards")
        for j in reversed(range(len(found.values[1]))):
            cells = " ".join(f"{1e2 * x:7.3f}" for x in found.errors[:, j])
            print(f"{found.values[1][j]:9.4g} {cells}")
        print(f"{'':9s} " + " ".join(f"{x:7.4g}" for x in found.values[0]))
    print("least at " + ", ".join(f"{name} {value:.4g}" for name, value in found.best.items()))
    return 0


def forecast(options: argparse.Namespace) -> int:
    """delta and alpha from density, size and speed, and how well they do."""
    from isocloth import calibration

    for file in _files(options.recordings):
        recording = _load(file, options)
        cloth = _fabric(options.fabric) or recording.fabric
        holder = options.holder or recording.metadata.get("holder", "hanger")
        guess = calibration.forecast(recording, holder=holder, fabric=cloth)
        rows = [
            ("size", "" if recording.size is None else f"{recording.size[0]:.3f} x {recording.size[1]:.3f} m"),
            ("density", f"{guess.density:g} kg/m^2"),
            ("speed measure V", f"{calibration.speed_measure(recording):.4f} m^2/s^2"),
            ("coefficients", f"the papers', {holder}"),
            ("gravity_density", f"{guess.weight_density:.4f} kg/m^2"),
            ("damping", f"{guess.damping:.4f} kg/(m^2 s)"),
        ]
        if not options.no_simulation:
            experiment = calibration.prepare(recording, fabric=guess, drive=options.drive, **_obstacles(options))
            error = experiment.errors(experiment.simulate(guess))
            rows.append(("mean error", f"{1e2 * error.mean:.3f} cm, deviation {1e2 * error.deviation:.3f} cm"))
        print(columns(rows, recording.name))
    return 0


def _files(names: list[str]) -> list[Path]:
    """Files; of a folder all CSV files in it and below."""
    found: list[Path] = []
    for name in names:
        path = Path(name)
        found += sorted(path.rglob("*.csv")) if path.is_dir() else [path]
    if not found:
        raise InputError(f"there is no .csv file in {', '.join(names)}: expected one at least; give files")
    return found


def _load_options(options: argparse.Namespace) -> dict[str, Any]:
    named: dict[str, Any] = {"units": options.units, "up": options.up, "held": options.held, "cloth": options.cloth}
    if options.size is not None:
        named["size"] = tuple(options.size)
    if options.grid is not None:
        named["grid"] = tuple(options.grid)
    if options.time_units != "s":
        named["time_units"] = options.time_units
    if bodies := _bodies(options):
        named["bodies"] = bodies
    return {k: v for k, v in named.items() if v is not None}


def _bodies(options: argparse.Namespace) -> dict[str, Any]:
    """What the cloth met, as far as the command says."""
    from isocloth.recordings import StickMarkers, TableTop

    found: dict[str, Any] = {}
    if options.table is not None:
        if len(options.table) not in (1, 5):
            raise InputError(f"--table has {len(options.table)} numbers: expected the height, or height and extent: 5")
        height, *extent = options.table
        found["table"] = TableTop(height=height, extent=tuple(extent) or None)
    if options.stick is not None:
        found["stick"] = StickMarkers(ends=tuple(options.stick))
    return found


def _obstacles(options: argparse.Namespace) -> dict[str, Any]:
    """The argument `obstacles`, if a scene file is named."""
    from isocloth.scenes import load_obstacles

    return {} if options.scene is None else {"obstacles": load_obstacles(options.scene)}


def _load(file: Path, options: argparse.Namespace) -> Any:
    from isocloth.recordings import Recording

    return Recording.load(file, **_load_options(options))


def _common(options: argparse.Namespace) -> dict[str, Any]:
    """Arguments that fits and maps share."""
    common: dict[str, Any] = {
        "workers": options.workers, "dask": options.dask, "progress": not options.quiet, "drive": options.drive,
        "timestep": options.timestep, "start": options.start, "keep_bias": options.keep_bias, **_obstacles(options),
    }  # fmt: skip
    if options.apart is not None:
        common["apart"] = options.apart
    if options.longest_gap is not None:
        common["longest_gap"] = options.longest_gap
    if options.fabric is not None:
        common["fabric"] = _fabric(options.fabric)
    if options.shape is not None:
        common["shape"] = tuple(options.shape)
    return common


def _searched(options: argparse.Namespace) -> dict[str, Any]:
    """Arguments of a fit: windows and search."""
    from isocloth.calibration import SearchOptions

    found: dict[str, Any] = {"method": options.method, "loss": options.loss}
    for name in ("train", "test"):
        if getattr(options, name) is not None:
            found[name] = tuple(getattr(options, name))
    # what is not given is left to the search
    given = {name: getattr(options, name) for name in ("points", "starts", "rounds", "most")}
    found["search"] = SearchOptions(seed=options.seed, **{k: v for k, v in given.items() if v is not None})
    return found


def _model(text: str) -> Model:
    """`elastic` or `elastic:stretch=2000,shear=10`."""
    name, _, given = text.partition(":")
    model = as_model(name)
    parameters: dict[str, Any] = {}
    known = [f.name for f in fields(model) if not isinstance(f.default, str)]
    for part in filter(None, given.split(",")):
        key, _, value = part.partition("=")
        try:
            parameters[key] = float(value)
        except ValueError:
            raise InputError(
                f"model {text!r}: expected name or name:parameter=number, e.g. elastic:stretch=2000"
            ) from None
        if key not in known:
            raise InputError(f"model {text!r}: parameter {key!r} is unknown; known are {', '.join(known) or 'none'}")
    return type(model)(**parameters)


def _fabric(text: str | None) -> Fabric | None:
    """A fabric by name, or a density in kg/m^2."""
    if text is None:
        return None
    try:
        density = float(text)
    except ValueError:
        return fabrics[text]
    return Fabric(density=density)


def _parameters(options: argparse.Namespace) -> list[Any]:
    """`damping` or `damping=0:1.2`."""
    out: list[Any] = []
    for text in options.parameters:
        name, given, bounds = text.partition("=")
        if not given:
            out.append(name)
            continue
        low, _, high = bounds.partition(":")
        try:
            out.append((name, (float(low), float(high))))
        except ValueError:
            raise InputError(f"parameter {text!r}: expected name or name=low:high, e.g. damping=0:1.2") from None
    return out
