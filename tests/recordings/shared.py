"""Data that may not be shipped: beside the repository, or where the environment says; tests without it are skipped."""

import os
from pathlib import Path

SHARED = Path(os.environ.get("ISOCLOTH_SHARED_DATA", Path(__file__).parents[2].parent / "shared" / "data"))
