"""`isocloth protocol` and `isocloth measure`: models against master curves, and fabrics measured by them."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isocloth.base.errors import InputError, UnknownNameError
from isocloth.base.files import check_place
from isocloth.cli.columns import columns
from isocloth.models import BY_NAME

if TYPE_CHECKING:
    from isocloth.protocols import Measured, Verdict

#: a rival that is no model of isocloth
RIVAL = "mujoco_flex"
#: shells with other normals or another membrane than they have by themselves; see `protocols.BY_VARIANT`
VARIANTS = ("koiter-sin", "koiter-tan", "koiter-neo-hookean", "woven-tan")
NAMES = ("cantilever", "lateral_buckling", "rotation", "stick_slip")
MEASURED = ("cantilever", "stick_slip")


def protocol(options: argparse.Namespace) -> int:
    """Run models through a protocol, print tables and verdicts, draw the curves."""
    from isocloth import protocols

    known = tuple(protocols.BY_VARIANT)
    chosen = list(known) if options.model == ["all"] else options.model
    for name in chosen:
        if name not in (*known, RIVAL):
            raise UnknownNameError(f"model {name!r} is unknown; choose some of {', '.join((*known, RIVAL))}, or all")
    if options.output is not None:
        if Path(options.output).suffix.lower() != ".png":
            raise InputError(f"the plot is a .png file, but {options.output!r} was given; rename it")
        check_place(options.output)
    settings = _settings(options)
    verdicts: list[Verdict] = []
    for name in chosen:
        verdict = _run(options.name, name, settings)
        verdicts.append(verdict)
        print(verdict.table() if not options.quiet else verdict.line(), flush=True)
        print(flush=True)
    if len(verdicts) > 1 and not options.quiet:
        print("\n".join(verdict.line() for verdict in verdicts))
    if options.output is not None:
        protocols.plot(verdicts, options.output)
        print(f"wrote {options.output}")
    return 0


def _settings(options: argparse.Namespace) -> dict[str, Any]:
    """Keyword arguments of the protocol, of the options that were given; raises where one does not belong to it."""
    given = {
        "elements": options.elements, "element": options.element, "tolerance": options.tolerance,
        "contact": options.contact, "gammas": options.gammas, "widths": options.widths,
        "frictions": options.frictions, "solver": options.solver, "poisson": options.poisson,
        "thickness": options.thickness, "method": options.method,
    }  # fmt: skip
    known = {
        "cantilever": ("elements", "element", "tolerance", "gammas", "poisson", "thickness"),
        "lateral_buckling": ("elements", "element", "tolerance", "widths", "poisson", "thickness", "method"),
        "rotation": ("elements", "element"),
        "stick_slip": ("elements", "element", "tolerance", "contact", "frictions", "solver"),
    }[options.name]
    settings = {name: value for name, value in given.items() if value is not None}
    for name in settings:
        if name not in known:
            raise InputError(f"{name} does not belong to {options.name}; it takes {', '.join(known)}")
    if settings.get("contact") == "gauss_seidel":
        settings["contact_options"] = None  # the exact law needs nothing special
    return settings


def _run(name: str, model: str, settings: dict[str, Any]) -> Verdict:
    from isocloth import protocols

    if model != RIVAL:
        verdict: Verdict = getattr(protocols, name)(protocols.BY_VARIANT[model], **settings)
        return verdict
    if name == "stick_slip":
        raise InputError(
            "MuJoCo's flex is run on equilibria: cantilever, lateral_buckling, rotation; not on stick_slip"
        )
    rival: Verdict = getattr(protocols, name)(
        "isometric", **{**settings, "element": "triangle", "solver": protocols.settle_mujoco, "name": RIVAL}
    )
    return rival


def measure(options: argparse.Namespace) -> int:
    """Print what lengths or forces measured on a strip say of its fabric."""
    from isocloth import protocols

    if options.name == "cantilever":
        _need(options, "length", "density", "drop", "reach")
        found = protocols.measure_bending(
            options.length, options.density, options.drop, options.reach,
            **_given(options, "length_error", "density_error", "drop_error", "reach_error", "gravity"),
        )  # fmt: skip
        _print(found, "bending stiffness", f"Fabric(density={options.density:g}, bending={found.value:.4g})")
        return 0
    if (options.push is None or options.length is None) and (options.across is None or options.along is None):
        raise InputError("measure stick_slip needs --push and --length (m), or the forces --across and --along (N)")
    found = protocols.measure_friction(
        **_given(options, "push", "length", "across", "along", "push_error", "length_error", "force_error")
    )
    _print(found, "coefficient of friction", f"Floor(friction={found.value:.4g})")
    return 0


def _need(options: argparse.Namespace, *names: str) -> None:
    missing = [f"--{name}" for name in names if getattr(options, name) is None]
    if missing:
        raise InputError(f"measure {options.name} needs {', '.join(missing)}, in SI units")


def _given(options: argparse.Namespace, *names: str) -> dict[str, float]:
    return {name: getattr(options, name) for name in names if getattr(options, name) is not None}


def _print(found: Measured, what: str, use: str) -> None:
    rows = [(what, str(found))]
    rows += [(f"  of the {name}", f"{part:.2g} {found.unit}".rstrip()) for name, part in found.parts.items()]
    print(columns([*rows, ("use", f"ic.{use}")]))
    for note in found.notes:
        print(f"note: {note}")


def add_protocol(parser: argparse.ArgumentParser) -> None:
    """The options of `isocloth protocol`."""
    parser.description = "Run cloth models through a test with a known answer. See docs/protocols.md."
    parser.add_argument("name", choices=NAMES, metavar="PROTOCOL", help=", ".join(NAMES))
    parser.add_argument(
        "--model",
        nargs="+",
        default=["isometric"],
        metavar="NAME",
        help=f"some of {', '.join(BY_NAME)}, {', '.join(VARIANTS)}, {RIVAL}, or all",
    )
    parser.add_argument("-o", "--output", help="plot of the curves, .png")
    parser.add_argument("--elements", type=int, metavar="N", help="along the strip")
    parser.add_argument("--element", choices=("quad", "triangle", "alike"), help="default: what the model takes")
    parser.add_argument("--tolerance", type=float, metavar="E", help="largest relative error of an OK")
    parser.add_argument("--contact", choices=("coulomb", "gauss_seidel", "lagged"), help="of stick_slip")
    parser.add_argument("--solver", choices=("newton", "projective"), help="of stick_slip")
    parser.add_argument("--method", choices=("stability", "procedure"), help="of lateral_buckling")
    parser.add_argument("--poisson", type=float, metavar="NU", help="Poisson's ratio, of shells")
    parser.add_argument("--thickness", type=float, metavar="T", help="in lengths, of shells")
    parser.add_argument("--gammas", type=float, nargs="+", metavar="G", help="of cantilever")
    parser.add_argument("--widths", type=float, nargs="+", metavar="W", help="of lateral_buckling, in lengths")
    parser.add_argument("--frictions", type=float, nargs="+", metavar="MU", help="of stick_slip")
    parser.add_argument("--quiet", action="store_true", help="print verdicts only")
    parser.set_defaults(command=protocol)


def add_measure(parser: argparse.ArgumentParser) -> None:
    """The options of `isocloth measure`."""
    parser.description = "Measure a fabric with a ruler: stiffness from a hanging strip, friction from a pushed one."
    parser.add_argument("name", choices=MEASURED, metavar="PROTOCOL", help=", ".join(MEASURED))
    helps = {
        "length": "m, of the strip from its clamp on", "density": "kg/m^2", "drop": "m, of the tip below the clamp",
        "reach": "m, of the tip from the clamp", "push": "m, by which the clamp came nearer until the tip slipped",
        "across": "N, force across the strip (Q) when it slipped", "along": "N, force along the strip (P)",
        "length-error": "m (default: 0.001)", "density-error": "kg/m^2 (default: 1 %%)",
        "drop-error": "m (default: 0.001)", "reach-error": "m (default: 0.001)", "push-error": "m (default: 0.001)",
        "force-error": "relative (default: 0.02)", "gravity": "m/s^2 (default: 9.81)",
    }  # fmt: skip
    for name, text in helps.items():
        parser.add_argument(f"--{name}", type=float, metavar="X", help=text)
    parser.set_defaults(command=measure)
