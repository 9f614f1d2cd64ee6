"""What the names of the published recordings say: fabric, size, motion, speed, and what held the cloth.

The set (Zenodo record 14644526) names its files like `cotton_A2_shake_fast_hands.csv`.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from isocloth.fabric import Fabric, fabrics

#: words of file names -> fabrics by name; "cotton" of this set is the stiff one
FABRIC = {
    "polyester": "polyester", "wool": "wool", "denim": "denim", "cotton": "stiff cotton", "stiffcotton": "stiff cotton",
    "lightcotton": "light cotton", "felt": "felt", "paper": "paper",
}  # fmt: skip
#: short and long side, m
SIZE = {"a2": (0.420, 0.594), "a3": (0.297, 0.420)}
MOTION = {
    "shake": "shake", "shaking": "shake", "twist": "twist", "twisting": "twist", "tablecloth": "tablecloth",
    "table": "tablecloth", "hit": "hit", "hitting": "hit", "hits": "hit", "fold": "self-collision",
    "selfcollision": "self-collision", "selfcollisions": "self-collision",
}  # fmt: skip
SPEED = {"slow": "slow", "fast": "fast"}
HOLDER = {"hands": "hands", "hand": "hands", "hanger": "hanger"}
SURFACE = {"low": "low", "high": "high"}


def from_name(path: str | Path) -> dict[str, Any]:
    """Whatever the name of a file says: fabric, sheet, motion, speed, holder, friction; empty for other names."""
    stem = Path(path).stem.lower().replace("stiff_cotton", "stiffcotton").replace("light_cotton", "lightcotton")
    words = [w for w in re.split(r"[^a-z0-9]+", stem.replace("self-collision", "selfcollision")) if w]
    folder = re.split(r"[^a-z0-9]+", Path(path).parent.name.lower().replace("self-collision", "selfcollision"))
    said: dict[str, Any] = {}
    for word in words:
        for key, table in (("fabric", FABRIC), ("motion", MOTION), ("speed", SPEED), ("holder", HOLDER)):
            if word in table:
                said[key] = table[word]
        if word in SIZE:
            said["sheet"] = word.upper()
        if word in SURFACE:
            said["friction"] = SURFACE[word]
    named = [MOTION[w] for w in folder if w in MOTION]
    if "fabric" in said and "motion" not in said and named:
        said["motion"] = named[0]
    return said


def fabric_of(said: dict[str, Any]) -> Fabric | None:
    """The fabric a name speaks of."""
    return fabrics[said["fabric"]] if "fabric" in said else None


def size_of(said: dict[str, Any], shape: tuple[int, int] | None, measured: tuple[float, float] | None) -> Any:
    """Width and height (m) of the sheet a name speaks of; which side is up is seen from the markers."""
    if "sheet" not in said:
        return None
    short, long = SIZE[said["sheet"].lower()]
    upright = measured[1] >= measured[0] if measured else shape is None or shape[0] >= shape[1]
    return (short, long) if upright else (long, short)
