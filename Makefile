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
# Python before 3.13 reads where the package lies (a .pth file) in the encoding of the locale, and C's has no umlauts.
ifneq ($(filter C POSIX,$(LC_ALL)),)
export LC_ALL := C.UTF-8
endif

.DEFAULT_GOAL := help
.PHONY: help demo lock weights bare docs docs-serve test test-newest test-lowest test-interop test-ledger test-ledger-full test-browser test-site pictures check ci-figures house schema mechanisms transformations bench bench-history bench-peers fuzz mutants reproduce sources dist clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# What each environment installs, at the versions of its lock, locks/NAME.txt.
# The locks hold versions alone, so they serve with whatever index pip is set to; `make lock` resolves them anew.
PIP := -m pip install --quiet --disable-pip-version-check
REQUIRES_dev := --editable '.[dev]'
REQUIRES_interop := --editable . --requirement tests/interop/requirements.txt
REQUIRES_docs := --editable '.[explore,ledger,parquet,pdf,plot,sweep]' --requirement handbook/requirements.txt
REQUIRES_browser := --editable '.[explore,ledger]' --requirement tests/browser/requirements.txt
REQUIRES_mutants := --editable '.[dev]' --requirement benchmarks/mutants/requirements.txt
REQUIRES_dist := --requirement release/requirements.txt
REQUIRES_peers := --requirement benchmarks/peers/requirements.txt
REQUIRES_autodp := --requirement benchmarks/peers/requirements-autodp.txt
LOCKS := dev interop docs browser mutants dist peers autodp

define environment
$(1)/.stamp: locks/$(2).txt pyproject.toml $(lastword $(REQUIRES_$(2):'.%'=pyproject.toml))
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11, 2) and "Tightrope needs Python 3.11.2 or newer: make PYTHON=python3.12 ...")'
	@test -x $(1)/bin/python || $(PYTHON) -m venv $(1)
	$(1)/bin/python $(PIP) --constraint locks/$(2).txt $(REQUIRES_$(2))
	@touch $$@
endef
$(eval $(call environment,$(VENV),dev))
$(eval $(call environment,$(INTEROP),interop))
$(eval $(call environment,$(SITE),docs))
$(eval $(call environment,$(BROWSER),browser))
$(eval $(call environment,$(MUTANTS),mutants))
$(eval $(call environment,$(DIST),dist))
$(eval $(call environment,$(PEERS)-autodp,autodp))

# The demo needs the package and matplotlib; the rest of the environment is installed when a target asks for it.
$(VENV)/.demo: locks/dev.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11, 2) and "Tightrope needs Python 3.11.2 or newer: make PYTHON=python3.12 ...")'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing numpy, scipy, python-flint, click, rich and matplotlib into $(VENV)"
	@$(BIN)/python $(PIP) --no-compile --constraint locks/dev.txt --editable '.[plot]'
	@touch $@

lock: ## exact versions for every environment, into locks/ (with the oldest Python that is supported)
	@$(foreach name,$(LOCKS),$(PYTHON) -m release.locks $(name) $(REQUIRES_$(name)) &&) true

weights: ## what the environments weigh that are here, into docs/dependencies.md
	@$(PYTHON) -m release.weights dev=$(VENV)=test interop=$(INTEROP)=test-interop docs=$(SITE)=docs browser=$(BROWSER)=test-browser mutants=$(MUTANTS)=mutants dist=$(DIST)=dist peers=$(PEERS)=bench-peers autodp=$(PEERS)-autodp=bench-peers

# Work alone ends an answer, so that a machine that is busy, or loads the libraries for the first time, gives these.
demo: export TIGHTROPE_CLOCK = off
demo: $(VENV)/.demo ## three answers and one plot (build/demo.png)
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
# In a tree that is read only, all that is lost is which tests failed the last time. Python 3.13 and newer warn of a file of
# SQLite that is closed by the collector, as some tests of the ledger leave it: in whichever test runs by then.
test: $(STAMP) ## the test suite, warnings as errors
	env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m pytest -q -n $(WORKERS) -W error -W ignore::pytest.PytestCacheWarning -W 'ignore:unclosed database:ResourceWarning'

# Warnings are errors with the locked versions alone: what another version warns of is for us to read, not for a user.
test-newest: ## the suite with the newest versions that pyproject.toml allows, in an environment of its own
	$(PYTHON) -m venv --clear .venv-newest
	.venv-newest/bin/python $(PIP) --editable '.[dev]'
	.venv-newest/bin/python -m pytest -q -n $(WORKERS)

test-lowest: ## the suite with the oldest versions that pyproject.toml allows, in an environment of its own
	$(PYTHON) -m venv --clear .venv-lowest
	.venv-lowest/bin/python -m release.locks --lowest > .venv-lowest/lowest.txt
	.venv-lowest/bin/python $(PIP) --constraint .venv-lowest/lowest.txt --editable '.[dev]'
	.venv-lowest/bin/python -m pytest -q -n $(WORKERS)

test-interop: $(INTEROP)/.stamp ## the adapters to other libraries, in an environment of their own
	$(INTEROP)/bin/python -m pytest -q -W error tests/interop

# A cluster of PostgreSQL lives as long as the tests do, in a temporary folder, as a user that is not root.
BESIDE_POSTGRESQL = $(BIN)/python -m tests.ledger.cluster $(BIN)/python -m pytest -q -W error tests/ledger tests/explore/test_ledger.py
test-ledger: $(STAMP) ## the ledger on PostgreSQL (Debian's postgresql), killed for a short while; about 90 seconds
	env -u PYTHONDONTWRITEBYTECODE TIGHTROPE_LEDGER_TESTS=short $(BESIDE_POSTGRESQL) -m postgresql

test-ledger-full: $(STAMP) ## the ledger on SQLite and PostgreSQL, killed for as long as it takes: every night; about 10 minutes
	env -u PYTHONDONTWRITEBYTECODE TIGHTROPE_LEDGER_TESTS=full $(BESIDE_POSTGRESQL)

test-browser: $(BROWSER)/.stamp $(AXE) ## the explorer in a real browser (Debian's Chromium, or CHROMIUM=path), in an environment of its own
	@test -x "$(CHROMIUM)" || { echo "make test-browser needs a browser: apt-get install chromium, or CHROMIUM=path" >&2; exit 1; }
	CHROMIUM="$(CHROMIUM)" AXE="$(AXE)" $(BROWSER)/bin/python -m pytest -q -W error tests/browser --ignore tests/browser/test_site.py $(BROWSER_OPTIONS)

test-site: $(BROWSER)/.stamp $(AXE) ## each page that make docs built, in the browser: phone and desk, both themes
	@test -f build/site/index.html || { echo "make test-site looks at the site: make docs" >&2; exit 1; }
	CHROMIUM="$(CHROMIUM)" AXE="$(AXE)" $(BROWSER)/bin/python -m pytest -q -W error tests/browser/test_site.py

$(AXE):
	@command -v npm >/dev/null || { echo "make test-browser takes axe-core from npm: apt-get install npm" >&2; exit 1; }
	npm install --prefix build/axe --no-save --no-audit --no-fund --silent axe-core@4.14.0

docs: $(SITE)/.stamp ## the site, its blocks executed, into build/site; about 2 minutes
	env -u PYTHONDONTWRITEBYTECODE $(SITE)/bin/python -m handbook

docs-serve: $(SITE)/.stamp ## the site in a browser, on this machine alone (PORT=8000)
	@$(SITE)/bin/python -m handbook serve $(if $(PORT),--port $(PORT))

pictures: $(BROWSER)/.stamp ## the page as it is, into the figures of docs/explore.md
	CHROMIUM="$(CHROMIUM)" $(BROWSER)/bin/python -m benchmarks.explore_pictures

check: $(STAMP) ## ruff, mypy --strict, import-linter
	$(BIN)/ruff check src tests benchmarks studies handbook release
	$(BIN)/ruff format --check src tests benchmarks studies handbook release
	$(BIN)/mypy
	$(BIN)/lint-imports

ci-figures: ## what each stage of the last .ci/run took, into CONTRIBUTING.md
	@$(PYTHON) -m release.stages

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

bench-history: $(STAMP) ## instructions of standard questions, held against those recorded: a loss of 5 % fails (RECORD=1 adds these)
	@$(BIN)/python -m benchmarks.history $(if $(RECORD),record,compare)

# The comparisons take hours; one that was interrupted goes on from its journal in build/enumerated.
fuzz: $(STAMP) ## 2,000 random questions and 400 trees (CASES=n for fewer), the suite's searches in full, a million comparisons with data enumerated (CHECKS=n)
	$(BIN)/python -m benchmarks.fuzz $(CASES)
	TIGHTROPE_SEARCH=full $(BIN)/python -m pytest -q -n $(WORKERS) $$(grep -rl tests.search tests --include='test_*.py') tests/conformance/test_facets.py
	$(BIN)/python -m benchmarks.enumerated --processes 2 $(if $(CHECKS),--checks $(CHECKS))

mutants: $(MUTANTS)/.stamp ## small faults by Cosmic Ray, each given to the tests of its line (SAMPLE=n per file, ONLY=room)
	PYTHONPATH=src $(MUTANTS)/bin/python -m benchmarks.mutants $(if $(SAMPLE),--sample $(SAMPLE)) $(if $(ONLY),--only $(ONLY)) --deep
	PYTHONPATH=src $(MUTANTS)/bin/python -m benchmarks.mutants.page

# A run that was interrupted goes on; PEERS_OPTIONS=--fresh begins again, PEERS_OPTIONS='--only sgd-*' asks a part.
bench-peers: $(STAMP) $(PEERS)/.stamp ## other libraries on the same cases, into docs/benchmarks.md; about 25 minutes
	$(BIN)/python -m benchmarks.peers.run $(PEERS_OPTIONS)
	$(BIN)/python -m benchmarks.peers.faults
	$(BIN)/python -m benchmarks.peers.page
	$(PEERS)/bin/python benchmarks/autodp_examples.py

# Opacus without what it requires (torch): its accountants alone are asked.
$(PEERS)/.stamp: locks/peers.txt benchmarks/peers/requirements.txt $(PEERS)-autodp/.stamp
	@test -x $(PEERS)/bin/python || $(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/python $(PIP) --constraint locks/peers.txt $(REQUIRES_peers)
	$(PEERS)/bin/python $(PIP) --no-deps opacus==1.6.0
	@touch $@

reproduce: $(STAMP) ## every figure and claim of the papers, into docs/paper.md
	$(BIN)/python -m studies.reproduce --workers $(WORKERS)

sources: $(STAMP) ## every command of docs/from_paper_to_code.md, and what it gives
	$(BIN)/python -m studies.sources

bare: ## make demo and make test of this commit on a bare Debian (SUITE=trixie for a newer one; root and debootstrap)
	@release/bare $(or $(SUITE),bookworm) '$(or $(RUN),make demo && make test)'

dist: $(DIST)/.stamp ## what users install into dist/, built twice and tried on every Python that is here; uploads nothing
	$(DIST)/bin/python -m release

clean: ## remove what the other targets made
	rm -rf $(VENV) .venv-newest .venv-lowest $(INTEROP) $(SITE) $(BROWSER) $(PEERS) $(PEERS)-autodp $(MUTANTS) $(DIST) build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
