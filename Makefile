# SPDX-License-Identifier: Apache-2.0
# Everything from a fresh clone: needs Python 3.11+, a C++20 compiler, make and the package index.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
ORACLE := .venv-oracle
REFERENCE := nvidia-dali-cuda120==2.4.0
# How long to feed damaged files to the decoders, and which ones.
FUZZ_SECONDS ?= 1200
FUZZ_SEED ?= 0
# How many calls of operators to make, and the tests to run, with the checked extension.
FUZZ_CALLS ?= 200000
ASAN_TESTS ?= tests/ops tests/engine tests/test_contract.py tests/test_hostile_arguments.py
SOURCES := $(shell find src -name '*.py' -o -name '*.pyi' -o -name '*.cpp' -o -name '*.h' \
	-o -name CMakeLists.txt) CMakeLists.txt pyproject.toml
NATIVE := $(shell find src/kernels tests/native -name '*.cpp' -o -name '*.h')
WHEEL := build/wheel/built

.PHONY: demo test oracle lint format stubs gallery sanitize fuzz asan fuzz-ops test-asan wheel clean

demo: $(VENV)/installed
	$(BIN)/python examples/demo.py $(DATA)

test: $(VENV)/installed $(VENV)/test
	$(BIN)/python -m pytest

oracle: $(ORACLE)/installed
	$(ORACLE)/bin/python -m pytest tests/oracle

# Reads the sources only; .pre-commit-config.yaml has the same checks.
lint: $(VENV)/test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/clang-format --dry-run --Werror $(NATIVE)
	$(BIN)/python tools/check_words.py

format: $(VENV)/test
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(NATIVE)

stubs: $(VENV)/installed $(VENV)/test
	$(BIN)/python tools/stubs.py

gallery: $(VENV)/installed
	$(BIN)/python tools/gallery.py

fuzz: $(VENV)/installed $(VENV)/test
	$(BIN)/python tools/fuzz_decoders.py --count 1000000000 --seconds $(FUZZ_SECONDS) \
		--seed $(FUZZ_SEED)

sanitize: $(VENV)/run
	$(BIN)/python tools/sanitize.py

# The whole extension with AddressSanitizer and UBSan, in a folder of its own; see tools/asan.py.
asan: $(VENV)/test
	$(BIN)/python tools/asan.py

fuzz-ops: $(VENV)/test
	$(BIN)/python tools/asan.py tools/fuzz_ops.py --count $(FUZZ_CALLS) --chunk 5000 \
		--seed $(FUZZ_SEED)

test-asan: $(VENV)/test
	$(BIN)/python tools/asan.py -m pytest $(ASAN_TESTS)

wheel: $(WHEEL)

# One wheel for all environments; built again when a source has changed.
$(WHEEL): $(SOURCES) | $(VENV)/run
	$(BIN)/python tools/build_wheel.py
	touch $@

# The environments. Each stamp says what is installed: the requirements of the package and of its
# build, those of the tests and of lint, the wheel.
$(VENV)/made:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade pip
	touch $@

$(VENV)/run: $(VENV)/made pyproject.toml tools/requirements.py
	$(BIN)/python tools/requirements.py build run | $(BIN)/pip install --quiet -r /dev/stdin
	touch $@

$(VENV)/test: $(VENV)/run
	@echo "Installing what tests and lint need; with torch that takes a few minutes."
	$(BIN)/python tools/requirements.py test lint | $(BIN)/pip install --quiet -r /dev/stdin
	touch $@

$(VENV)/installed: $(WHEEL)
	$(BIN)/pip install --quiet --no-deps --force-reinstall build/wheel/*.whl
	touch $@

$(ORACLE)/run: pyproject.toml tools/requirements.py
	$(PYTHON) -m venv $(ORACLE)
	$(ORACLE)/bin/pip install --quiet --upgrade pip
	$(ORACLE)/bin/python tools/requirements.py run audio video fits \
		| $(ORACLE)/bin/pip install --quiet -r /dev/stdin
	$(ORACLE)/bin/pip install --quiet $(REFERENCE) pytest hypothesis opencv-python-headless lmdb
	touch $@

$(ORACLE)/installed: $(WHEEL) $(ORACLE)/run
	$(ORACLE)/bin/pip install --quiet --no-deps --force-reinstall build/wheel/*.whl
	touch $@

clean:
	rm -rf $(VENV) $(ORACLE) build
