# `make demo` shows dehusk at work, `make check` is quick, `make test` checks everything, `make docs` builds
# the documentation, `make packages` a release.
# `demo` makes the environment .venv-demo with dehusk alone, the others .venv with all that
# development needs, with the Python named by PYTHON. WORKERS is how many processes run tests:
# four keep two cores busy, for tests often wait for browsers, servers, disks and clocks.

PYTHON ?= python3
WORKERS ?= 4
BIN := .venv/bin
PYTEST := $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder
PIP_INSTALL := python -m pip install --quiet --disable-pip-version-check
KERNEL := setup.py $(wildcard src/kernel/* src/kernel/*/*)

# Tests start Python hundreds of times, so what is compiled once is kept, whatever the environment says.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo docs lint check test format packages clean node-peers

demo: .venv-demo/.installed
	.venv-demo/bin/dehusk demo -o demo

# Material says at every build that it will be replaced one day.
docs: .venv/.installed
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build

lint: .venv/.installed
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

check: lint
	$(PYTEST) -m 'not slow'

test: lint
	$(PYTEST)
	$(BIN)/dehusk bench speed --gate

format: .venv/.installed
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# What a release uploads, as far as this machine can build it, in dist/.
packages:
	$(PYTHON) -m venv --clear .venv-packages
	.venv-packages/bin/$(PIP_INSTALL) build 'twine>=6'
	rm -rf dist
	.venv-packages/bin/python -m build --outdir dist
	.venv-packages/bin/python -m build --outdir dist bench
	.venv-packages/bin/python tests/packages.py dist/dehusk-*
	.venv-packages/bin/twine check --strict dist/*
	.venv-packages/bin/$(PIP_INSTALL) dist/dehusk-*.whl
	.venv-packages/bin/python tests/installed.py

# Peers of `dehusk bench quality --peers` that run in Node; they are looked for in this folder.
DEHUSK_NODE_PEERS ?= $(HOME)/.cache/dehusk/node-peers
node-peers:
	npm install --no-audit --no-fund --prefix $(DEHUSK_NODE_PEERS) @mozilla/readability@0.6 defuddle@0.19 linkedom@0.18.14

clean:
	rm -rf .venv .venv-demo .venv-packages demo build dist site src/dehusk/_kernel.*so

.venv/.installed: pyproject.toml bench/pyproject.toml $(KERNEL)
	$(PYTHON) -c 'import sys; sys.exit("dehusk needs Python 3.11 or later" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv .venv
	# Older pips trip over an extra that two of the bench's peers name.
	$(BIN)/$(PIP_INSTALL) --upgrade 'pip>=23.3'
	$(BIN)/$(PIP_INSTALL) --editable '.[dev]' --editable 'bench[peers,train]'
	touch $@

.venv-demo/.installed: pyproject.toml $(KERNEL) $(shell find src/dehusk -name '*.py')
	$(PYTHON) -m venv .venv-demo
	.venv-demo/bin/$(PIP_INSTALL) .
	touch $@
