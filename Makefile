# Everything a contributor does has a target here; `make help` lists them. Needs Python 3.11 to 3.13, make and git.
PYTHON ?= python3
BIN := .venv/bin

.DEFAULT_GOAL := help
# Universal: one lock for every platform and Python from 3.11 on. No index in it: pip and uv use whichever is set up.
COMPILE = ../$(BIN)/uv pip compile --quiet $(UPGRADE) --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-annotate --custom-compile-command "make lock"
.PHONY: help venv lock

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

venv: ## the virtual environment from the pinned lock, and the collection link (made again only when the lock changes)
	@$(PYTHON) requirements/make_venv.py

lock: venv ## compile requirements/*.in into the locks again (pins stay, unless UPGRADE=--upgrade)
	cd requirements && $(COMPILE) uv.in -o uv.txt && $(COMPILE) runtime.in emulators.in dev.in -o lock.txt
