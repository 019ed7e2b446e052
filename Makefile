# Groundlab. Needs Python 3.11 or newer, make and git; everything else is installed into .venv from the lock files.

SHELL := /bin/bash
VENV := .venv
BIN := $(VENV)/bin
# The first that runs and is of a version our packages have wheels for (a pyenv shim may exist and not run).
PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3; do $$p -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null && echo $$p && break; done)
WORKERS ?= 2
PORT ?= 8000
export MUJOCO_GL ?= egl
export PYTHONUNBUFFERED := 1

# What `manage.py check --deploy` is to find in the environment of a server.
PRODUCTION := DJANGO_SETTINGS_MODULE=labapp.settings.production SECRET_KEY=$(shell head -c 48 /dev/urandom | base64 | tr -d '+/=\n') \
	ALLOWED_HOSTS=lab.example.org DATABASE_URL=postgresql://u:p@db/groundlab REDIS_URL=redis://redis/0 \
	S3_ENDPOINT=https://s3.example.org S3_ACCESS_KEY=a S3_SECRET_KEY=b S3_BUCKET=groundlab

.DEFAULT_GOAL := help
.PHONY: help setup demo test check check-slow bench lock clean distclean \
	check-code check-types check-rooms check-templates check-django

help:  ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):[^#]*## /\1\t/' | awk -F'\t' '{printf "  make %-12s %s\n", $$1, $$2}'

setup:  ## .venv with everything from the lock files; does nothing when they are unchanged
	@sum=$$(cat requirements.lock requirements-nodeps.lock | sha256sum | cut -d' ' -f1); \
	if [ "$$sum" != "$$(cat $(VENV)/.locks 2>/dev/null)" ]; then \
		set -e; \
		[ -n "$(PYTHON)" ] || { echo "Python 3.11, 3.12 or 3.13 is needed and was not found; say where: make setup PYTHON=/path/to/python"; exit 1; }; \
		[ -x $(BIN)/python ] || $(PYTHON) -m venv $(VENV) || { echo "python -m venv failed; on Debian: apt-get install python3-venv"; exit 1; }; \
		echo "Installing the locked packages into $(VENV)"; \
		$(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check -r requirements.lock; \
		$(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check --no-deps -r requirements-nodeps.lock; \
		echo "$$sum" > $(VENV)/.locks; \
	fi
	@$(BIN)/python -m labapp.services.machine

demo: setup  ## the whole lab with the quick study, until Ctrl-C (PORT=8000)
	@exec $(BIN)/python manage.py demo --port $(PORT)

test: setup  ## the default suite on PostgreSQL, Redis and an object store of its own (WORKERS=2)
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile

check: setup check-code check-types check-rooms check-templates check-django  ## style, types, room borders, templates, Django

check-code:
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

check-types:
	$(BIN)/mypy

check-rooms:
	$(BIN)/lint-imports

check-templates:
	$(BIN)/djlint frontend/templates --lint --quiet

check-django:
	$(PRODUCTION) $(BIN)/python manage.py check --deploy --fail-level WARNING
	$(PRODUCTION) $(BIN)/python -W ignore::RuntimeWarning manage.py makemigrations --check --dry-run
	$(PRODUCTION) $(BIN)/python manage.py spectacular --validate --fail-on-warn --file /dev/null

check-slow: setup  ## the long tests as well
	$(BIN)/python -m pytest -m "slow and not gpu and not isaac and not hardware" --timeout 1800

bench: setup  ## speed as ratios, into build/bench.json
	$(BIN)/python -m tests.benchmarks

lock:  ## resolve pyproject.toml anew into requirements.lock
	rm -rf build/lock && $(PYTHON) -m venv build/lock && build/lock/bin/pip install --quiet --upgrade pip
	build/lock/bin/pip install --quiet --group dev \
		$$($(PYTHON) -c 'import shlex, tomllib; print(shlex.join(tomllib.load(open("pyproject.toml", "rb"))["project"]["dependencies"]))' | xargs printf '%q ')
	build/lock/bin/pip freeze --exclude pip | sed 's/+cpu$$//' > requirements.lock
	rm -rf build/lock

clean:  ## caches and build outputs; the lab's data under var/ stays
	rm -rf build .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find . -path ./$(VENV) -prune -o -name __pycache__ -type d -print | xargs rm -rf

distclean: clean  ## also .venv and all data under var/
	-[ -x $(BIN)/python ] && $(BIN)/python manage.py services down
	rm -rf var $(VENV)
