"""Scenes and oracles that tests of several rooms share; nothing here leans on validation or benchmarks."""
