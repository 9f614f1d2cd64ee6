"""What a check returns: lines, verdicts, and which number is the worst."""

from __future__ import annotations

import json
import math

import pytest

from validation.result import TRUTH, Line, Result, summary, table, worst_text


def result() -> Result:
    made = Result("name", "title", seconds=3.4)
    made.below("small", 0.5, 1.0)
    made.near("near", 1.09, 1.0, 0.1)
    made.info("free", 3.0)
    made.holds("true", True)
    return made


def test_the_table_is_aligned_and_says_what_is_missed() -> None:
    made = result()
    made.above("too small", 1.0, 2.0)
    text = table(made).splitlines()
    assert len({len(line) for line in text[2:4]}) == 1
    assert text[-1].endswith("NO")
    assert not made.reached
    assert [line.what for line in made.missed] == ["too small"]
    assert made.targets == 4


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_number_that_is_not_finite_is_not_below_a_limit(value: float) -> None:
    made = Result("name", "title")
    made.below("not a number", value, 1.0)
    assert not made.reached
    assert made.lines[0].used == math.inf


def test_the_worst_line_uses_up_most_of_its_target() -> None:
    made = result()
    assert made.worst is not None
    assert made.worst.what == "near"
    assert made.worst.used == pytest.approx(0.9)
    made.above("gap", -0.095, -0.1)
    assert made.worst.what == "gap"
    made.holds("false", False)
    assert made.worst.what == "false"
    assert worst_text(made) == "false: no (yes)"
    assert Result("name", "title").worst is None


@pytest.mark.parametrize(("value", "limit"), [(0.0, 0.0), (100.0, 100.0)])
def test_a_count_that_is_met_exactly_is_not_the_worst(value: float, limit: float) -> None:
    made = Result("name", "title")
    made.above("count", value, limit)
    made.below("close", 0.01, 1.0)
    assert made.worst is not None
    assert made.worst.what == "close"


def test_a_share_grows_beyond_one_where_a_target_is_missed() -> None:
    made = Result("name", "title")
    made.below("a", 3.0, 2.0)
    made.above("b", 2.0, 3.0)
    made.between("c", 5.0, 0.0, 4.0)
    made.below("d", 1.0, 0.0)
    assert [line.used for line in made.lines] == [1.5, 1.5, 1.5, math.inf]
    assert all(line.reached is False for line in made.lines)


def test_the_summary_is_one_line_with_verdict_worst_number_and_time() -> None:
    text = summary(result())
    assert "\n" not in text
    assert text.startswith("name ")
    assert "3 of 3" in text
    assert "near: 1.09 (1 +- 10 %)" in text
    assert text.endswith("(3 s)")


def test_lines_come_back_from_plain_data() -> None:
    made = result()
    made.above("no contact", math.inf, 0.0)
    made.below("paper's", 1.0, 2.0, paper="1.5")
    text = json.dumps([line.to_dict() for line in made.lines], allow_nan=False)
    back = [Line.from_dict(data) for data in json.loads(text)]
    assert back == made.lines
    assert back[3].format == TRUTH
    assert back[3].shown == "yes"
