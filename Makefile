# Two commands: `make demo` shows dehusk at work, `make test` checks all of it.
# Both make the virtual environment .venv first, with the Python named by PYTHON.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
.PHONY: demo test check format clean

demo: $(INSTALLED)
	$(BIN)/dehusk demo -o demo

test: $(INSTALLED)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m pytest
	$(BIN)/dehusk bench speed --gate

format: $(INSTALLED)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	rm -rf $(VENV) demo build dist src/dehusk/_kernel.*so

$(INSTALLED): pyproject.toml setup.py $(wildcard src/kernel/*)
	$(PYTHON) -c 'import sys; sys.exit("dehusk needs Python 3.11 or later" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
	# Older pips trip over an extra that two of the bench peers name.
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=23.3'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]' --editable 'bench[peers]'
	touch $(INSTALLED)
