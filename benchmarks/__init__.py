"""The benchmark behind `isocloth bench`: speed, accuracy and start-up, beside a rival measured in the same run."""

from benchmarks.command import main

__all__ = ["main"]
