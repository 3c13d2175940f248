# Everything a contributor does has a target here; `make help` lists them. Needs Python 3.11 to 3.13, make and git.
PYTHON ?= python3
BIN := .venv/bin

.DEFAULT_GOAL := help
.PHONY: help venv

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

venv: ## the virtual environment from the pinned lock, and the collection link (made again only when the lock changes)
	@$(PYTHON) requirements/venv.py
