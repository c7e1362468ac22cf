# Needs make and Python 3.11 or 3.12, nothing else. `make up` is all it takes to try Groundwork.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

PYTHON ?= $(shell command -v python3.11 || command -v python3.12 || echo python3)
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
TEST_HOME := $(or $(GROUNDWORK_TEST_HOME),$(HOME)/.cache/groundwork-test)
TEST_NPM := $(or $(GROUNDWORK_TEST_NPM),$(HOME)/.cache/groundwork-test/npm)

# Our packages have plain names (app, agents, tools); this folder must win over anything installed under them.
export PYTHONPATH := $(CURDIR)

.PHONY: help install up test test-servers test-vllm vllm vllm-cpu gate lint settings clean

help:
	@echo 'make up        install, then start everything: models, API and chat'
	@echo 'make install   make $(VENV) with the pinned dependencies'
	@echo 'make test      install, fetch the models for tests, run all tests; ARGS="tests/app -k cli" runs some'
	@echo 'make test-servers  fetch the MCP servers that tests run against; needs npm'
	@echo 'make vllm      make the environment of vLLM for GPUs, apart from the application; make vllm-cpu for a CPU'
	@echo 'make test-vllm start a real vLLM on this CPU and run the platform against it; takes both cores'
	@echo 'make gate      search over the sample handbook held against its baseline'
	@echo 'make lint      style, types and layers'
	@echo 'make settings  write .env.example, the table of docs/configuration.md and deploy/vllm anew'
	@echo 'make clean     remove $(VENV), caches and reports; data and models stay'

install: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt 'pip>=25.1'
	$(BIN)/python -m pip install --constraint constraints.txt --group dev --editable .
	touch $@

up: install
	@exec $(BIN)/python -m app up $(ARGS)

test: install test-servers
	$(BIN)/python -m app --home '$(TEST_HOME)' models pull
	GROUNDWORK_TEST_HOME='$(TEST_HOME)' GROUNDWORK_TEST_NPM='$(TEST_NPM)' $(BIN)/python -m pytest $(ARGS)

# Without npm the tests that need these servers are skipped.
test-servers: $(if $(shell command -v npm),$(TEST_NPM)/.installed)

$(TEST_NPM)/.installed: tests/npm/package.json
	mkdir -p '$(TEST_NPM)'
	cp $< '$(TEST_NPM)/package.json'
	cd '$(TEST_NPM)' && npm install --no-audit --no-fund --ignore-scripts
	touch '$@'

# vLLM has an environment of its own under the home; the application never imports it.
vllm: install
	$(BIN)/python -m app serve-model --profile gpu-24gb --prepare --force $(ARGS)

vllm-cpu: install
	$(BIN)/python -m app serve-model --profile cpu-small --prepare --force $(ARGS)

test-vllm: install
	$(BIN)/python -m app --home '$(TEST_HOME)' models pull
	$(BIN)/python -m app --home '$(TEST_HOME)' serve-model --profile cpu-small --prepare --force
	mkdir -p reports
	GROUNDWORK_TEST_VLLM='$(TEST_HOME)' GROUNDWORK_TEST_VLLM_REPORT=reports/vllm.json \
		$(BIN)/python -m pytest tests/vllm $(ARGS)

gate: install
	$(BIN)/python -m app --home '$(TEST_HOME)' models pull
	$(BIN)/python -m app --home '$(TEST_HOME)' eval gate

lint: install
	$(BIN)/python -m ruff check .
	$(BIN)/python -m ruff format --check .
	$(BIN)/python -m pyright
	$(BIN)/lint-imports --no-cache

settings: install
	$(BIN)/python -m app.settings_reference
	$(BIN)/python -m app.serving.compose_env

clean:
	rm -rf $(VENV) build dist reports .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
