# Everything runs in an environment of its own, made from python3 alone; it is renewed when pyproject.toml changes.
PYTHON ?= python3
WORKERS ?= 2
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.stamp
PEERS := .venv-peers
INTEROP := .venv-interop
BROWSER := .venv-browser
AXE := build/axe/node_modules/axe-core/axe.min.js
CHROMIUM ?= $(firstword $(wildcard /usr/bin/chromium /usr/bin/chromium-browser /usr/bin/google-chrome))
MUTANTS := .venv-mutants
SITE := .venv-docs
DIST := .venv-dist
export OMP_NUM_THREADS ?= 1

.DEFAULT_GOAL := help
.PHONY: help demo docs docs-serve test test-interop test-ledger test-browser test-site pictures check house schema mechanisms transformations bench bench-peers fuzz mutants reproduce sources dist clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Tightrope needs Python 3.11 or newer: make PYTHON=python3.11 ...")'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

demo: $(STAMP) ## three answers and one plot (build/demo.png)
	@mkdir -p build
	@echo '$$ tightrope epsilon "Gaussian(sigma=5) * 3 + Gaussian(sigma=8) * 5 + PureDP(epsilon=0.1)" --delta 1e-6'
	@$(BIN)/tightrope epsilon "Gaussian(sigma=5) * 3 + Gaussian(sigma=8) * 5 + PureDP(epsilon=0.1)" --delta 1e-6
	@echo '$$ tightrope epsilon "RandomizedResponse(p=0.51) * 512" --delta 1e-4'
	@$(BIN)/tightrope epsilon "RandomizedResponse(p=0.51) * 512" --delta 1e-4
	@echo '$$ tightrope delta "Laplace(scale=2).poisson(rate=0.3)" --epsilon 0.06 --proof'
	@$(BIN)/tightrope delta "Laplace(scale=2).poisson(rate=0.3)" --epsilon 0.06 --proof
	@echo '$$ tightrope curve "Gaussian(sigma=1)" --from 0 --to 4 --plot build/demo.png'
	@$(BIN)/tightrope curve "Gaussian(sigma=1)" --from 0 --to 4 --plot build/demo.png

# Compiled modules are kept, whatever the shell says: workers and the processes of tests start twice as fast.
test: $(STAMP) ## the test suite, warnings as errors
	env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m pytest -q -n $(WORKERS)

test-interop: $(INTEROP)/.stamp ## the adapters to other libraries, in an environment of their own
	$(INTEROP)/bin/python -m pytest -q tests/interop

# A cluster of PostgreSQL lives as long as the tests do, in a temporary folder, as a user that is not root.
test-ledger: $(STAMP) ## the ledger on SQLite and PostgreSQL (Debian's postgresql), killed for as long as it takes; about 10 minutes
	env -u PYTHONDONTWRITEBYTECODE TIGHTROPE_LEDGER_TESTS=full $(BIN)/python -m tests.ledger.cluster $(BIN)/python -m pytest -q tests/ledger

$(INTEROP)/.stamp: pyproject.toml tests/interop/requirements.txt
	@test -x $(INTEROP)/bin/python || $(PYTHON) -m venv $(INTEROP)
	$(INTEROP)/bin/python -m pip install --quiet --disable-pip-version-check --editable . --requirement tests/interop/requirements.txt
	@touch $@

test-browser: $(BROWSER)/.stamp $(AXE) ## the explorer in a real browser (Debian's Chromium, or CHROMIUM=path), in an environment of its own
	@test -x "$(CHROMIUM)" || { echo "make test-browser needs a browser: apt-get install chromium, or CHROMIUM=path" >&2; exit 1; }
	CHROMIUM="$(CHROMIUM)" AXE="$(AXE)" $(BROWSER)/bin/python -m pytest -q tests/browser --ignore tests/browser/test_site.py $(BROWSER_OPTIONS)

test-site: $(BROWSER)/.stamp $(AXE) ## each page that make docs built, in the browser: phone and desk, both themes
	CHROMIUM="$(CHROMIUM)" AXE="$(AXE)" $(BROWSER)/bin/python -m pytest -q tests/browser/test_site.py

$(BROWSER)/.stamp: pyproject.toml tests/browser/requirements.txt
	@test -x $(BROWSER)/bin/python || $(PYTHON) -m venv $(BROWSER)
	$(BROWSER)/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[explore,ledger]' --requirement tests/browser/requirements.txt
	@touch $@

$(AXE):
	@command -v npm >/dev/null || { echo "make test-browser takes axe-core from npm: apt-get install npm" >&2; exit 1; }
	npm install --prefix build/axe --no-save --no-audit --no-fund --silent axe-core@4.14.0

docs: $(SITE)/.stamp $(INTEROP)/.stamp ## the site, every block of it executed, into build/site; about 3 minutes
	env -u PYTHONDONTWRITEBYTECODE $(SITE)/bin/python -m handbook --interop $(INTEROP)/bin/python

docs-serve: $(SITE)/.stamp ## the site in a browser, on this machine alone (PORT=8000)
	@$(SITE)/bin/python -m handbook serve $(if $(PORT),--port $(PORT))

$(SITE)/.stamp: pyproject.toml handbook/requirements.txt
	@test -x $(SITE)/bin/python || $(PYTHON) -m venv $(SITE)
	$(SITE)/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[explore,ledger,parquet,pdf,plot,sweep]' --requirement handbook/requirements.txt
	@touch $@

pictures: $(BROWSER)/.stamp ## the page as it is, into the figures of docs/explore.md
	CHROMIUM="$(CHROMIUM)" $(BROWSER)/bin/python -m benchmarks.explore_pictures

check: $(STAMP) ## ruff, mypy --strict, import-linter
	$(BIN)/ruff check src tests benchmarks studies handbook release
	$(BIN)/ruff format --check src tests benchmarks studies handbook release
	$(BIN)/mypy
	$(BIN)/lint-imports

house: $(STAMP) ## what a reader meets, counted on the tree, into docs/house.md
	@$(BIN)/python -m benchmarks.house write

schema: $(STAMP) ## the names that the package knows, into its JSON schemas
	@$(BIN)/python -m benchmarks.schema

mechanisms: $(STAMP) ## each mechanism with its pair, theorem, example and figure, into docs/mechanisms.md
	@$(BIN)/python -m benchmarks.mechanisms

transformations: $(STAMP) ## what each transformation does, with its theorem and figure, into docs/transformations.md
	@$(BIN)/python -m benchmarks.transformations

bench: $(STAMP) ## time, memory and width of standard questions and of the lattice, as JSON
	@$(BIN)/python benchmarks/run.py

fuzz: $(STAMP) ## 2,000 random questions and 400 trees (CASES=n for fewer), each answered in 5 s; then the suite's searches in full
	$(BIN)/python -m benchmarks.fuzz $(CASES)
	TIGHTROPE_SEARCH=full $(BIN)/python -m pytest -q -n $(WORKERS) $$(grep -rl tests.search tests --include='test_*.py') tests/conformance/test_facets.py

mutants: $(MUTANTS)/.stamp ## small faults by Cosmic Ray, each given to the tests of its line (SAMPLE=n per file, ONLY=room)
	PYTHONPATH=src $(MUTANTS)/bin/python -m benchmarks.mutants $(if $(SAMPLE),--sample $(SAMPLE)) $(if $(ONLY),--only $(ONLY)) --deep
	PYTHONPATH=src $(MUTANTS)/bin/python -m benchmarks.mutants.page

$(MUTANTS)/.stamp: pyproject.toml
	@test -x $(MUTANTS)/bin/python || $(PYTHON) -m venv $(MUTANTS)
	$(MUTANTS)/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]' cosmic-ray==8.7.0 coverage==7.17.2
	@touch $@

# A run that was interrupted goes on; PEERS_OPTIONS=--fresh begins again, PEERS_OPTIONS='--only sgd-*' asks a part.
bench-peers: $(STAMP) $(PEERS)/.stamp ## other libraries on the same cases, into docs/benchmarks.md; about 25 minutes
	$(BIN)/python -m benchmarks.peers.run $(PEERS_OPTIONS)
	$(BIN)/python -m benchmarks.peers.faults
	$(BIN)/python -m benchmarks.peers.page
	$(PEERS)/bin/python benchmarks/autodp_examples.py

$(PEERS)/.stamp: benchmarks/peers/requirements.txt benchmarks/peers/requirements-autodp.txt
	$(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check --requirement benchmarks/peers/requirements.txt
	$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps opacus==1.6.0
	$(PYTHON) -m venv $(PEERS)-autodp
	$(PEERS)-autodp/bin/python -m pip install --quiet --disable-pip-version-check --requirement benchmarks/peers/requirements-autodp.txt
	@touch $@

reproduce: $(STAMP) ## every figure and claim of the papers, into docs/paper.md
	$(BIN)/python -m studies.reproduce --workers $(WORKERS)

sources: $(STAMP) ## every command of docs/from_paper_to_code.md, and what it gives
	$(BIN)/python -m studies.sources

dist: $(DIST)/.stamp ## what users install into dist/, built twice and tried on every Python that is here; uploads nothing
	$(DIST)/bin/python -m release

$(DIST)/.stamp: release/requirements.txt
	@test -x $(DIST)/bin/python || $(PYTHON) -m venv $(DIST)
	$(DIST)/bin/python -m pip install --quiet --disable-pip-version-check --requirement release/requirements.txt
	@touch $@

clean: ## remove what the other targets made
	rm -rf $(VENV) $(INTEROP) $(SITE) $(BROWSER) $(PEERS) $(PEERS)-autodp $(MUTANTS) $(DIST) build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
