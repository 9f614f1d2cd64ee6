"""Which subcommand, and what happens to its errors."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from isocloth.base.errors import IsoclothError
from isocloth.cli.parser import make_parser
from isocloth.cli.repository_commands import REPOSITORY_COMMANDS
from isocloth.cli.wording import in_options

USAGE_ERROR = 2
INTERRUPTED = 130

#: what a user can mend; anything else is a defect of isocloth and shows its traceback
MENDABLE = (IsoclothError, ValueError, TypeError, KeyError, OSError, ImportError)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code: 0, 2 after an error, 130 after Ctrl-C."""
    words = list(sys.argv[1:] if argv is None else argv)
    traceback = "--traceback" in words
    words = [word for word in words if word != "--traceback"]
    options = argparse.Namespace()
    try:
        if words and words[0] in REPOSITORY_COMMANDS:
            # these read their own options
            return REPOSITORY_COMMANDS[words[0]](words[1:])
        options = make_parser().parse_args(words)
        code: int = options.command(options)
        return code
    except SystemExit as stop:  # argparse has printed its message
        return stop.code if isinstance(stop.code, int) else USAGE_ERROR
    except KeyboardInterrupt:
        print("isocloth: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # `isocloth info | head`: nobody reads on
        sys.stderr.close()
        return 0
    except MENDABLE as error:
        if traceback:
            raise
        print(f"isocloth: error: {in_options(_message(error), vars(options))}", file=sys.stderr)
        return USAGE_ERROR


def _message(error: BaseException) -> str:
    if isinstance(error, KeyError) and error.args:  # its str() is a repr, in quotes
        return str(error.args[0])
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}: {error.filename}; check the path" if error.filename else error.strerror
    return str(error) or type(error).__name__
