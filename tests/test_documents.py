"""What the documents say is true: code runs, commands parse, links lead somewhere, rooms import only downwards."""

from __future__ import annotations

import argparse
import ast
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

import isocloth as ic
import validation
from isocloth.cli import main
from isocloth.cloth.cloth import Cloth
from isocloth.cloth.step import Past, Scheme, Step, StepArrays
from isocloth.contact.options import ContactOptions
from isocloth.simulation.memory import NewtonMemory, ParticleMemory
from isocloth.solvers import Outcome
from isocloth.terms.rows import Rows

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "isocloth"
README = (ROOT / "README.md").read_text(encoding="utf-8")
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])

#: what makes a documented command short enough to be run here, without changing what it does
QUICK = {
    "run": ["--duration", "0.04", "--quiet"],
    "render": ["--width", "240", "--height", "180", "--quiet"],
    "info": [],
    "classify": [],
    "reproduce": ["--quick"],
}


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", text, flags=re.DOTALL)


def console_lines(program: str) -> list[list[str]]:
    """Words after `program` of the README's console lines, comments taken off."""
    lines = [line for block in blocks(README, "console") for line in block.splitlines()]
    assert all(line.startswith("$ ") for line in lines), "a console block holds commands only, each after '$ '"
    words = [shlex.split(line[2:], comments=True) for line in lines]
    return [w[1:] for w in words if w[0] == program]


def inline_commands() -> list[list[str]]:
    """Commands between backticks, as in the tables; `<name>` is not one."""
    prose = re.sub(r"```.*?```", "", README, flags=re.DOTALL)
    return [shlex.split(c) for c in re.findall(r"`isocloth ([^`<]+)`", prose)]


# ----------------------------------------------------------------- the README


@pytest.mark.parametrize("number", range(len(blocks(README, "python"))))
def test_python_in_the_readme_runs(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile(blocks(README, "python")[number], f"README.md, block {number}", "exec"), {"__name__": "readme"})
    assert capsys.readouterr().out.strip()


def test_python_by_example_runs_from_top_to_bottom(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "guide"}
    for number, block in enumerate(blocks((ROOT / "docs" / "python.md").read_text(encoding="utf-8"), "python")):
        exec(compile(block, f"docs/python.md, block {number}", "exec"), names)
    assert not names["second"].active  # type: ignore[attr-defined]
    assert all(r.converged for r in names["trajectory"].reports)  # type: ignore[attr-defined]
    weight = names["held"].force.sum(axis=0)[2]  # type: ignore[attr-defined]
    assert 0.0 < weight < 10 * 0.18 * 9.81 * 0.35
    assert {p.name for p in tmp_path.iterdir()} == {"problem.npz", "towel.h5", "towel.png"}


def test_the_ten_lines_are_those_of_the_example() -> None:
    """The body of the example's `main`, without its return: what a newcomer reads is what is tested for its number."""
    example = ast.parse((ROOT / "examples" / "ten_lines.py").read_text())
    body = next(node for node in example.body if isinstance(node, ast.FunctionDef)).body
    wanted = [ast.unparse(node) for node in body if not isinstance(node, ast.Return)]
    shown = [ast.unparse(node) for node in ast.parse(blocks(README, "python")[0]).body]
    assert shown == ["import isocloth as ic", *wanted]
    assert len([line for line in blocks(README, "python")[0].splitlines() if line]) <= 10


def test_the_two_commands_are_on_the_first_screen_and_in_the_makefile() -> None:
    first_screen = "\n".join(README.splitlines()[:25])
    makefile = (ROOT / "Makefile").read_text()
    named = {target for target in re.findall(r"\bmake (\w+)", README) if target != "nothing"}
    assert {"demo", "test"} <= set(re.findall(r"\$ make (\w+)", first_screen))
    for target in named:
        assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE), f"the Makefile has no target {target!r}"


class _Parsed(Exception):
    """Raised in place of doing what was parsed."""


@pytest.mark.parametrize(
    "words", [*console_lines("isocloth"), *inline_commands()], ids=lambda words: " ".join(words) or "isocloth"
)
def test_a_command_in_the_readme_is_understood(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    parse = argparse.ArgumentParser.parse_args

    def only_parse(self: argparse.ArgumentParser, *args: object, **kwargs: object) -> None:
        parse(self, *args, **kwargs)  # type: ignore[arg-type]
        raise _Parsed

    monkeypatch.setattr(argparse.ArgumentParser, "parse_args", only_parse)
    with pytest.raises(_Parsed):
        main(words)
    if words[0] == "reproduce":
        assert {w for w in words[1:] if not w.startswith("-")} <= {*validation.CHECKS, "all"}


def test_the_short_commands_of_the_readme_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    commands = [w for w in console_lines("isocloth") if w[0] in QUICK]
    assert {w[0] for w in commands} == set(QUICK)
    for words in [*commands, ["reproduce", "rigid"]]:
        assert main([*words, *QUICK[words[0]]]) == 0, capsys.readouterr().err
        if "-o" in words:
            assert Path(words[words.index("-o") + 1]).stat().st_size > 0


def test_every_check_has_its_line_in_the_overview() -> None:
    overview = (ROOT / "docs" / "validation.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| \[(\w+)\]\(validation/\1\.md\)", overview, re.MULTILINE) == list(validation.CHECKS)


def test_the_pictures_are_small() -> None:
    pictures = list((ROOT / "docs" / "images").iterdir())
    assert pictures
    for picture in pictures:
        assert picture.stat().st_size < 200_000, f"{picture.name} is too large for a repository"


# ---------------------------------------------------------------- all of them


def slug(heading: str) -> str:
    """The anchor of a heading, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def links(document: Path) -> Iterator[str]:
    text = re.sub(r"```.*?```", "", document.read_text(encoding="utf-8"), flags=re.DOTALL)
    yield from re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`]*`", "", text))


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_relative_links_lead_somewhere(document: Path) -> None:
    for link in links(document):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (document.parent / path).resolve() if path else document
        assert target.exists(), f"{document.name} links to {link!r}, which does not exist"
        if anchor:
            headings = re.findall(r"^#+ (.*)$", target.read_text(encoding="utf-8"), flags=re.MULTILINE)
            assert anchor in {slug(h) for h in headings}, f"{document.name} links to {link!r}: no such heading"


def test_the_version_is_the_same_everywhere() -> None:
    versions = {
        "pyproject.toml": re.search(r'^version = "(.*)"$', (ROOT / "pyproject.toml").read_text(), re.MULTILINE),
        "CITATION.cff": re.search(r"^version: (.*)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE),
        "CHANGELOG.md": re.search(r"^## \[(\d.*?)\]", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE),
    }
    for name, found in versions.items():
        assert found, f"{name} names no version"
        assert found[1] == ic.__version__, f"{name} says {found[1]}, the package {ic.__version__}"


def test_the_notation_names_every_quantity() -> None:
    """Fields of the public and of the discrete quantities; a new one is explained where readers look for it."""
    text = (ROOT / "docs" / "notation.md").read_text(encoding="utf-8")
    named = {word for span in re.findall(r"`([^`\n]+)`", text) for word in re.findall(r"\w+", span)}
    options = (ic.NewtonOptions, ic.ProjectionOptions, ContactOptions)
    steps = (Cloth, Step, StepArrays, Scheme, Past, Rows, Outcome, NewtonMemory, ParticleMemory)
    kinds = (ic.Fabric, ic.Report, ic.State, ic.Wrench, *options, *steps)
    wanted = {name for kind in kinds for name in kind.__annotations__}  # of data classes and named tuples alike
    missing = sorted(name for name in wanted if not name.startswith("_") and name not in named)
    assert not missing, f"docs/notation.md does not name {', '.join(missing)}"


# ------------------------------------------------------------------ the rooms


def room_table() -> dict[str, set[str]]:
    """Room -> what it may import, from the table of ARCHITECTURE.md, in its order."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    lines = text.split("| room | holds | may import |", 1)[1].splitlines()[2:]
    table: dict[str, set[str]] = {}
    for line in lines:
        if not line.startswith("|"):
            break
        room, _, allowed = [cell.strip() for cell in line.strip("|").split("|")]
        table[room.strip("`")] = set(re.findall(r"`(\w+)`", allowed))
    return table


def rooms() -> set[str]:
    return {p.stem for p in SOURCE.iterdir() if p.suffix == ".py" or (p / "__init__.py").exists()}


def imports() -> Iterator[tuple[str, str, Path]]:
    """(room, imported room, file) for every import of the package, wherever it stands in a file."""
    known = rooms()
    for file in sorted(SOURCE.rglob("*.py")):
        room = file.relative_to(SOURCE).with_suffix("").parts[0]
        package = ("isocloth", *file.relative_to(SOURCE).parts[:-1])
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            modules: list[tuple[str, ...]] = []
            if isinstance(node, ast.Import):
                modules = [tuple(alias.name.split(".")) for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                base = package[: len(package) - node.level + 1] if node.level else ()
                base = (*base, *(node.module.split(".") if node.module else ()))
                modules = [(*base, alias.name) for alias in node.names]
            for module in modules:
                if module[0] == "isocloth":
                    target = module[1] if len(module) > 1 and module[1] in known else "__init__"
                    if target != room:
                        yield room, target, file


def test_rooms_import_only_downwards() -> None:
    table = room_table()
    assert set(table) == rooms(), "the table of ARCHITECTURE.md names other rooms than there are"
    above: set[str] = set()
    for room, allowed in table.items():
        assert allowed <= above, f"{room} may import {sorted(allowed - above)}, not above it in the table"
        above.add(room)
    found = list(imports())
    assert len(found) > 100
    for room, target, file in found:
        assert target in table[room], f"{file.relative_to(ROOT)} imports {target}; ARCHITECTURE.md does not allow it"
