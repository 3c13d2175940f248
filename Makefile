# Everything a contributor does has a target here; `make help` lists them. Needs Python 3.11 to 3.13, make and git.
PYTHON ?= python3
BIN := .venv/bin

# The programs of the virtual environment, and the checkout under its collection's name, for all that runs below.
export PATH := $(CURDIR)/$(BIN):$(PATH)
export ANSIBLE_COLLECTIONS_PATH := $(CURDIR)/build

# Universal: one lock for every platform and Python from 3.11 on. No index in it: pip and uv use whichever is set up.
COMPILE = uv pip compile --quiet $(UPGRADE) --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-annotate --custom-compile-command "make lock"

.DEFAULT_GOAL := help
.PHONY: help venv lock lint lint-python lint-types lint-layers lint-ansible lint-image lint-sanity format test controlplane browser test-newest e2e mutation sweep conformance quickstart bench clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s  %s\n", $$1, $$2}'

venv: ## the virtual environment, from the pinned lock (made again only when the lock changes)
	@$(PYTHON) requirements/make_venv.py

# Two at a time: sanity, which keeps one core busy for as long as all the others keep another.
lint: venv ## every check that runs nothing of ours
	@$(MAKE) --no-print-directory --jobs=2 $(if $(filter output-sync,$(.FEATURES)),--output-sync=target) \
		lint-sanity lint-python lint-types lint-layers lint-ansible lint-image

lint-python: venv ## ruff: mistakes, style, format
	ruff check
	ruff format --check

lint-types: venv ## mypy, strict
	mypy

lint-layers: venv ## import-linter: who may import what
	lint-imports --no-logo

lint-ansible: venv ## ansible-lint (production profile) and the changelog's fragments
	ansible-lint --offline
	antsibull-changelog lint

lint-image: venv ## hadolint: the Containerfile of bcd's image, which needs no container engine for that
	hadolint agent/Containerfile

lint-sanity: venv ## ansible-test sanity, without ignore files
	.ci/sanity

format: venv ## let ruff put the code into its format
	ruff check --fix-only
	ruff format

test: venv ## every test, on as many cores as there are
	pytest -n auto $(PYTEST_ARGS)

# `make test` runs these too where the programs are built. KUBEBUILDER_ASSETS names a folder with others to run them on.
controlplane: venv ## the tests on a real Kubernetes API, which is built first: once, ten minutes and more (needs Go)
	$(PYTHON) tests/support/controlplane/program.py
	BC_CONTROLPLANE=required pytest -n auto -m "controlplane and not sweep and not e2e" $(PYTEST_ARGS)

# Debian's packages: nobody publishes a browser as a wheel. Where there is one already, it is used.
browser: ## a browser for the status page's tests, which are skipped without (needs apt-get, as root)
	command -v chromium chromedriver || { apt-get update --quiet=2 && \
		apt-get install --quiet=2 --yes --no-install-recommends chromium chromium-driver; }

e2e: venv ## the product as processes, with real Ansible runs, and every secret of it looked for in all they say
	pytest -n auto -m e2e tests

test-newest: venv ## the newest Python and ansible-core at hand: unit tests, modules, the installed collection, sanity
	.ci/newest

mutation: venv ## what guards the store is taken out of a copy, one at a time: do the tests notice?
	python -m ansible_collections.better_compute.fleet.tests.mutation

sweep: venv ## the crash sweep at every single place, a day without capacity, 1,000 machines (`make test` has a part of each)
	pytest -n auto -m sweep tests/e2e tests/integration/reconcile tests/integration/machines

# One provider with `PROVIDER=eks`; on one core with PYTEST_ARGS="-n 0". docs/check-your-provider.md is about it.
conformance: venv ## what is asked of every provider's driver: a table, and build/conformance.json
	pytest -q -rfE -n auto --conformance-report build/conformance.json $(PYTEST_ARGS) \
		tests/conformance$(if $(PROVIDER),/test_$(PROVIDER).py)

quickstart: venv ## the whole life of a fleet against the emulated cloud, as a short report
	python -m ansible_collections.better_compute.fleet.quickstart

# Exit status 1 where a bar is missed: docs/benchmarks.md. `make bench BENCH_ARGS="--only plan.growth"` runs one of them.
bench: venv ## how fast the product is, as ratios: a table, and build/bench.json
	python -m ansible_collections.better_compute.fleet.tests.benchmarks $(BENCH_ARGS)

lock: venv ## compile requirements/*.in and agent/pyproject.toml into the locks again (pins stay, unless UPGRADE=--upgrade)
	cd requirements && $(COMPILE) uv.in -o uv.txt && $(COMPILE) runtime.in emulators.in dev.in -o lock.txt
	cd agent && $(COMPILE) pyproject.toml --extra nvml -o requirements.lock

clean: ## remove all that the targets above made
	rm -rf .venv build .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .ansible .hypothesis
