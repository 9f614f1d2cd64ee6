# make demo   set up everything, run a real scene, leave pictures and a table in out/
# make test   set up everything, lint, type-check and run the test suite
# make bad-inputs  thousands of bad inputs, each of which must end in a clear error: longer than make test does
# make render write docs/validation* and the tables of docs/speed.md and the README from kept results
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: demo test bad-inputs bench reproduce render setup lint clean

setup: $(STAMP)

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(STAMP): pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[video,dev]"
	touch $@

demo: setup
	$(BIN)/isocloth demo -o out

lint: setup
	$(BIN)/ruff check src tests examples validation benchmarks
	$(BIN)/ruff format --check src tests examples validation benchmarks
	$(BIN)/mypy

test: setup lint
	$(BIN)/python -m pytest

bad-inputs: setup
	$(BIN)/python -m pytest tests/bad_inputs --hypothesis-profile=thorough

bench: setup
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[bench]"
	$(BIN)/isocloth bench

reproduce: setup
	$(BIN)/isocloth reproduce all

render: setup
	$(BIN)/isocloth reproduce --render
	$(BIN)/isocloth bench --render

clean:
	rm -rf $(VENV) out build dist src/*.egg-info
	find src tests examples validation benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +
