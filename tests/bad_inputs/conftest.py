"""`make bad-inputs` looks longer than the suite does: more examples, and commands in processes of their own."""

from __future__ import annotations

import pytest
from hypothesis import settings

settings.register_profile("thorough", max_examples=2000, deadline=None)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--hypothesis-profile", default=None) == "thorough":
        return
    slow = [item for item in items if "bad_inputs" in str(item.path) and item.get_closest_marker("slow")]
    if slow:
        config.hook.pytest_deselected(items=slow)
        items[:] = [item for item in items if item not in slow]
