"""`isocloth classify`: the name of a folded state."""

from __future__ import annotations

import argparse
from pathlib import Path

from isocloth.cli.columns import columns


def classify(options: argparse.Namespace) -> int:
    """Print the class of a state, how near it is, and what else it could be."""
    from isocloth import states
    from isocloth.states.files import read_state

    stored = read_state(options.state, options.frame)
    ideal = options.database is None
    database = states.ideal_states() if ideal else states.Database.load(options.database)
    found = states.Classifier(database, threshold=options.threshold).classify(
        stored.state, mesh=stored.mesh, corners=stored.corners
    )
    nearest = "" if found.known else f"{found.nearest} (too far)"
    rows = [
        ("state", found.name),
        ("nearest", nearest),
        ("distance", f"{found.distance:.3f} (unknown beyond {found.threshold:.3f})"),
        ("runner-up", f"{found.runner_up}, {found.runner_up_distance:.3f}" if found.runner_up else ""),
        ("seen", f"{found.pairs} of 28 pairs of segments"),
        ("database", "ideal folds" if ideal else options.database),
        ("", f"{len(database)} states in {len(database.classes)} classes"),
    ]
    print(columns(rows, Path(options.state).name))
    return 0
