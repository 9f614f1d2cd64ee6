"""`python -m isocloth` is the command `isocloth`."""

import sys

from isocloth.cli import main

if __name__ == "__main__":
    sys.exit(main())
