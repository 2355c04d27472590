# SPDX-License-Identifier: Apache-2.0
# Everything from a fresh clone: needs Python 3.11+, a C++20 compiler, make and the package index.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
ORACLE := .venv-oracle
REFERENCE := nvidia-dali-cuda120==2.4.0
SOURCES := $(shell find src -name '*.py' -o -name '*.pyi' -o -name '*.cpp' -o -name '*.h') CMakeLists.txt pyproject.toml
NATIVE := $(shell find src/kernels tests/native -name '*.cpp' -o -name '*.h')

.PHONY: demo test oracle lint format stubs gallery sanitize fuzz clean

demo: $(VENV)/built
	$(BIN)/python examples/demo.py $(DATA)

test: $(VENV)/test
	$(BIN)/python -m pytest

oracle: $(ORACLE)/built
	$(ORACLE)/bin/python -m pytest tests/oracle

lint: $(VENV)/test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/clang-format --dry-run --Werror $(NATIVE)

format: $(VENV)/test
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(NATIVE)

stubs: $(VENV)/test
	$(BIN)/python tools/stubs.py

gallery: $(VENV)/built
	$(BIN)/python tools/gallery.py

fuzz: $(VENV)/test
	$(BIN)/python tools/fuzz_decoders.py

sanitize: $(VENV)/python
	$(BIN)/pip install --quiet cmake ninja
	$(BIN)/python tools/sanitize.py

# The environments; each stamp file says what is installed in it.
$(VENV)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade pip
	touch $@

$(VENV)/built: $(VENV)/python $(SOURCES)
	$(BIN)/pip install --quiet .
	touch $@

$(VENV)/test: $(VENV)/python $(SOURCES)
	$(BIN)/pip install --quiet ".[test,lint]"
	touch $@ $(VENV)/built

$(ORACLE)/python:
	$(PYTHON) -m venv $(ORACLE)
	$(ORACLE)/bin/pip install --quiet --upgrade pip
	$(ORACLE)/bin/pip install --quiet $(REFERENCE) pytest hypothesis opencv-python-headless lmdb
	touch $@

$(ORACLE)/built: $(ORACLE)/python $(SOURCES)
	$(ORACLE)/bin/pip install --quiet ".[audio,video,fits]"
	touch $@

clean:
	rm -rf $(VENV) $(ORACLE) build
