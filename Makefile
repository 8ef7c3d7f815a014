# Two commands on a fresh machine: `make demo` and `make test`. `make` alone lists them all.

PYTHON ?= python3
WORKERS ?= 2
SECONDS ?= 60
SEED ?= 1
CASES ?=
VENV := .venv
BIN := $(VENV)/bin
STAMPS := $(VENV)/stamps

# The distributions in plugins/, by their folders.
PLUGINS := $(patsubst %/pyproject.toml,%,$(wildcard plugins/*/pyproject.toml))

# Bytecode is left to the first import: of most modules there is none. It is kept even where the
# environment says otherwise, as images for containers do: a second for each start of Python, and
# twenty for each collection of tests.
unexport PYTHONDONTWRITEBYTECODE
PIP := $(BIN)/python -m pip install --disable-pip-version-check --root-user-action=ignore --quiet \
	--no-compile

# Each process takes tests side by side in files, which share what they make, and steals at the end.
PYTEST := $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: help demo test long fuzz peers plugins bench studies docs lint format warmup requirements clean

help: ## list the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /  make \1\t/' | expand -t 22

demo: $(STAMPS)/demo ## simulate a seven-joint arm; writes a plot and a result file to results/
	@$(BIN)/mbkit warmup --trees
	$(BIN)/python examples/seven_joint_arm.py

test: $(STAMPS)/test $(STAMPS)/kernels ## run the tests, without the long ones and those against other programs
	$(PYTEST) -m "not long" --ignore=tests/peers

long: $(STAMPS)/test $(STAMPS)/kernels ## run the long tests, which `make test` leaves out
	$(PYTEST) $(CASES) -m long --ignore=tests/peers

fuzz: $(STAMPS)/test $(STAMPS)/kernels ## call everything with odd arguments, break callbacks and files; SECONDS=3600
	$(BIN)/python -m tests.robustness.one_by_one
	$(BIN)/python -m tests.robustness.fuzz --seconds $(SECONDS) --seed $(SEED)

peers: $(STAMPS)/dev $(STAMPS)/kernels ## compare with Pinocchio and other programs (installs them)
	$(PYTEST) $(CASES) tests/peers

plugins: $(STAMPS)/test ## install the distributions in plugins/, check them, run their tests and examples
	@$(PIP) --no-deps --no-build-isolation --force-reinstall $(addprefix ./,$(PLUGINS))
	$(BIN)/mbkit plugins
	$(BIN)/mbkit plugins --check
	$(BIN)/python -m pytest $(addsuffix /tests,$(PLUGINS)) $(addsuffix /src,$(PLUGINS))

bench: $(STAMPS)/dev $(STAMPS)/kernels ## measure against other programs; nothing else should be running
	$(BIN)/python benchmarks/run.py

studies: $(STAMPS)/demo $(STAMPS)/kernels ## run the studies of docs/studies, and write their pages
	$(BIN)/python tools/write_studies.py

docs: $(STAMPS)/dev $(STAMPS)/kernels ## build the pages of documentation to build/docs, and check their links
	$(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet -d build/doctrees -c docs . build/docs
	$(BIN)/python -m tools.pages.check build/docs
	$(BIN)/python -m tools.pages.requests build/docs

lint: $(STAMPS)/dev ## check format, style, types and imports between packages
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(STAMPS)/dev ## put files into shape
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix-only .

warmup: $(STAMPS)/demo ## compile all kernels and keep them
	$(BIN)/mbkit warmup

requirements: ## pin anew (needs uv); `make requirements UPGRADE=--upgrade` for newer versions
	$(call pin,dev,--extra dev)
	$(call pin,test,--extra test -c requirements/dev.txt)
	$(call pin,demo,--extra plot -c requirements/dev.txt)

# No index address is written, so that the files serve whatever index pip is set up with.
pin = uv pip compile --quiet --universal --fork-strategy fewest --python-version 3.11 \
	--generate-hashes --no-emit-index-url --no-header --group build $(2) $(UPGRADE) \
	--output-file requirements/$(1).txt pyproject.toml >/dev/null

clean: ## remove the environment, results and all caches
	rm -rf $(VENV) results build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis \
		.import_linter_cache
	find mbkit tests tools examples benchmarks plugins docs -name __pycache__ -type d -prune \
		-exec rm -rf {} + 2>/dev/null || true

$(STAMPS)/venv: tools/make_venv
	@tools/ticking "Making the environment" tools/make_venv $(VENV) $(PYTHON)
	@mkdir -p $(STAMPS) && touch $@

# Pins with hashes; each file holds the one before it (see `requirements` below). pip checks hashes of
# what it downloads; mbkit itself is a folder, which has none, hence two calls.
$(STAMPS)/%: requirements/%.txt pyproject.toml $(STAMPS)/venv
	@tools/ticking "Installing requirements/$*.txt into $(VENV), once" $(PIP) --require-hashes -r $<
	@tools/ticking "Installing mbkit" $(PIP) --no-deps --no-build-isolation --editable .
	@touch $@

# All kernels compiled, after what installs mbkit; looking whether they are takes ten seconds.
$(STAMPS)/kernels: requirements/demo.txt $(shell find mbkit -name '*.py')
	@$(BIN)/mbkit warmup
	@touch $@
