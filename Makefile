# SPDX-License-Identifier: Apache-2.0
# Everything from a fresh clone: needs Python 3.11+, a C++20 compiler, make and the package index.

# A pipe fails if any of its commands does.
SHELL := bash
.SHELLFLAGS := -o pipefail -c
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
ORACLE := .venv-oracle
FLOORS := .venv-floors
# For each of these there is a dependency group `frameworks-NAME` and a folder tests/frameworks/NAME.
FRAMEWORKS := torch jax ray
# The pages whose programs need them.
PAGES_torch := docs/train/lightning.md docs/train/accelerate.md docs/train/huggingface.md
PAGES_jax := docs/train/jax.md
# States of tests/support/torch_states.py.
TORCH_STATES := all autocast-bfloat16 autocast-float16 inference no-grad float64 bfloat16 \
	another-device deterministic
PEERS := .venv-peers
REFERENCE := nvidia-dali-cuda120==2.4.0
# How long to feed damaged files to the decoders, and which ones.
FUZZ_SECONDS ?= 1200
FUZZ_SEED ?= 0
# How many processes run the tests, file by file.
WORKERS ?= 2
# How many training processes to kill.
KILLS ?= 200
# Samples to read under load, and how long to look whether memory grows.
SAMPLES ?= 1000000
HOURS ?= 1
# How many calls of operators to make, and the tests to run, with the checked extension.
FUZZ_CALLS ?= 200000
TSAN_TESTS ?= tests/engine/test_threads.py tests/engine/test_context.py tests/engine/test_modes.py \
	tests/engine/test_rng.py tests/loops/test_map_threads.py tests/loops/test_prefetch_threads.py
ASAN_TESTS ?= tests/ops tests/engine tests/test_contract.py tests/test_hostile_arguments.py
SOURCES := $(shell find src -name '*.py' -o -name '*.pyi' -o -name '*.cpp' -o -name '*.h' \
	-o -name CMakeLists.txt) CMakeLists.txt pyproject.toml
NATIVE := $(shell find src/kernels tests/native -name '*.cpp' -o -name '*.h')
WHEEL := build/wheel/built

.PHONY: demo test oracle lint format stubs gallery sanitize fuzz asan fuzz-ops test-asan \
	test-tsan wheel clean docs test-floors kill-test stress soak test-interruptions \
	test-frameworks $(FRAMEWORKS:%=test-frameworks-%) peers check-exceptions \
	test-gpu-states $(TORCH_STATES:%=test-gpu-state-%) test-triton test-openreg

demo: $(VENV)/installed
	$(BIN)/python examples/demo.py $(DATA)

test: $(VENV)/installed $(VENV)/test
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile

# The tests of tests/gpu in each state that programs may put torch into, and in all at once.
test-gpu-states: $(TORCH_STATES:%=test-gpu-state-%)

$(TORCH_STATES:%=test-gpu-state-%): test-gpu-state-%: $(VENV)/installed $(VENV)/test
	DALIESQUE_TORCH_STATE=$* $(BIN)/python -m pytest tests/gpu -n $(WORKERS) --dist loadfile

# The kernels in Triton, by its interpreter, and compiled for several devices.
test-triton: $(VENV)/installed .venv-triton/run
	.venv-triton/bin/python -m pytest tests/gpu_triton

# The contract of all operators on torch's own simulated accelerator, whose sources are fetched from
# torch's repository; OPENREG_SOURCE names a copy of them instead.
test-openreg: $(VENV)/installed .venv-openreg/run
	DALIESQUE_OPENREG=1 .venv-openreg/bin/python -m pytest tests/gpu/test_contract.py -k stand-in \
		-n $(WORKERS)

# With the lowest versions of all requirements that pyproject.toml admits.
test-floors: $(FLOORS)/installed
	$(FLOORS)/bin/python -m pytest -n $(WORKERS) --dist loadfile

# The real frameworks, each group in an environment of its own on top of that of the tests.
test-frameworks: $(FRAMEWORKS:%=test-frameworks-%)

$(FRAMEWORKS:%=test-frameworks-%): test-frameworks-%: $(VENV)/installed .venv-frameworks-%/run
	.venv-frameworks-$*/bin/python -m pytest tests/frameworks/$* $(PAGES_$*)

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
	$(BIN)/python tools/assistant_pages.py

gallery: $(VENV)/installed
	$(BIN)/python tools/gallery.py

# The site, in docs/_build/html; needs no network.
docs: $(VENV)/installed $(VENV)/docs
	$(BIN)/python -m sphinx -W -n --keep-going -q -b html docs docs/_build/html

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

# Destructors, functions that are noexcept and entries of threads, from which no exception may come.
check-exceptions: $(VENV)/run
	$(BIN)/pip install --quiet clang-tidy==23.1.4
	$(BIN)/python tools/check_exceptions.py

# Interrupts before every bytecode, and fails every allocation in turn.
test-interruptions: $(VENV)/test
	INTERRUPTION_STRIDE=1 ALLOCATION_STRIDE=1 $(BIN)/python -m pytest \
		tests/engine/test_interruptions.py tests/engine/test_allocations.py

# Without the tests of what the checked build replaces: the pool of buffers.
test-asan: $(VENV)/test
	$(BIN)/python tools/asan.py -m pytest -m "not pool" $(ASAN_TESTS)

# Likewise with ThreadSanitizer, the tests in which many threads call the library.
# ThreadSanitizer does not follow threads of a forked child: these tests run without it.
test-tsan: $(VENV)/test
	$(BIN)/python tools/asan.py --thread -m pytest $(TSAN_TESTS) -k "not fork"

# Training processes that are killed at random moments must resume exactly.
kill-test: $(VENV)/installed $(VENV)/test
	$(BIN)/python tests/support/kill_training.py $(KILLS) $(FUZZ_SEED)

# A million samples from storage that fails, accounted for one by one.
stress: $(VENV)/installed $(VENV)/test
	$(BIN)/python tests/support/stress_load.py --samples $(SAMPLES)

soak: $(VENV)/installed
	$(BIN)/python benchmarks/soak.py --hours $(HOURS)

# Operators against other libraries, in an environment that has them; NAMES chooses rows.
peers: $(PEERS)/installed
	$(PEERS)/bin/python benchmarks/peers.py --chart docs/peers.png $(NAMES)

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

$(VENV)/docs: $(VENV)/run
	$(BIN)/python tools/requirements.py docs | $(BIN)/pip install --quiet -r /dev/stdin
	touch $@

$(VENV)/installed: $(WHEEL)
	$(BIN)/pip install --quiet --no-deps --force-reinstall build/wheel/*.whl
	touch $@

$(ORACLE)/run: pyproject.toml tools/requirements.py
	$(PYTHON) -m venv $(ORACLE)
	$(ORACLE)/bin/pip install --quiet --upgrade pip
	$(ORACLE)/bin/python tools/requirements.py run audio video fits \
		| $(ORACLE)/bin/pip install --quiet -r /dev/stdin
	$(ORACLE)/bin/pip install --quiet $(REFERENCE) pytest hypothesis opencv-python-headless lmdb \
		sybil==10.1.0
	touch $@

$(ORACLE)/installed: $(WHEEL) $(ORACLE)/run
	$(ORACLE)/bin/pip install --quiet --no-deps --force-reinstall build/wheel/*.whl
	touch $@

$(FLOORS)/run: pyproject.toml tools/requirements.py
	$(PYTHON) -m venv $(FLOORS)
	$(FLOORS)/bin/pip install --quiet --upgrade pip
	$(FLOORS)/bin/python tools/requirements.py --floors run test \
		| $(FLOORS)/bin/pip install --quiet -r /dev/stdin
	$(BIN)/python tools/requirements.py lint | $(FLOORS)/bin/pip install --quiet -r /dev/stdin
	touch $@

$(FLOORS)/installed: $(WHEEL) $(FLOORS)/run
	$(FLOORS)/bin/pip install --quiet --no-deps --force-reinstall build/wheel/*.whl
	touch $@

# Finds the packages of the first environment as well, torch and the wheel among them.
.venv-frameworks-%/run: $(VENV)/test
	$(PYTHON) -m venv .venv-frameworks-$*
	.venv-frameworks-$*/bin/python tools/share_packages.py $(VENV)
	$(BIN)/python tools/requirements.py frameworks-$* \
		| .venv-frameworks-$*/bin/pip install --quiet -r /dev/stdin
	touch $@

.venv-openreg/run: $(VENV)/test tools/build_openreg.py
	$(PYTHON) -m venv .venv-openreg
	.venv-openreg/bin/python tools/share_packages.py $(VENV)
	.venv-openreg/bin/python tools/build_openreg.py build/openreg \
		$(if $(OPENREG_SOURCE),--source $(OPENREG_SOURCE))
	touch $@

# Without dependencies, as the shared torch must stay.
.venv-triton/run: $(VENV)/test
	$(PYTHON) -m venv .venv-triton
	.venv-triton/bin/python tools/share_packages.py $(VENV)
	$(BIN)/python tools/requirements.py triton \
		| .venv-triton/bin/pip install --quiet --no-deps -r /dev/stdin
	touch $@

$(PEERS)/run: pyproject.toml tools/requirements.py
	$(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/pip install --quiet --upgrade pip
	$(PEERS)/bin/python tools/requirements.py run audio video torch parquet \
		| $(PEERS)/bin/pip install --quiet -r /dev/stdin
	$(PEERS)/bin/pip install --quiet opencv-python-headless torchvision albumentations kornia \
		matplotlib
	touch $@

$(PEERS)/installed: $(WHEEL) $(PEERS)/run
	$(PEERS)/bin/pip install --quiet --no-deps --force-reinstall build/wheel/*.whl
	touch $@

clean:
	rm -rf $(VENV) $(ORACLE) $(FLOORS) $(PEERS) $(FRAMEWORKS:%=.venv-frameworks-%) .venv-triton .venv-openreg build
