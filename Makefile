# Thin on purpose: the work is in Python.
#   make run     build the lab, serve it, open it       (PORT=8000 HOST=127.0.0.1)
#   make test    install what the tests need, run all   (ARGS="-k words" passes on to pytest)
#   make test-cuda  the GPU backend's tests, with PyTorch, in .venv-cuda: on a GPU if there is one, else on the CPU
#   make prove   on a machine with a GPU: those tests, then a measurement, into OUT_JSON=measurement.json
#   make bench   the core's speed in every Python there is, against its aims    (ARGS="--quick --json FILE")
#   make build   the static site, into OUT=build/site
#   make bench-site  how fast the site starts, beside plain `panel convert` (ARGS="--runs 3 --no-throttled")

PYTHON ?= python3
OUT ?= build/site
OUT_JSON ?= measurement.json
BIN := .venv/bin
# As many tests at a time as there are cores, a file a worker, in the order of tests/conftest.py; SIDE_BY_SIDE= runs
# them one after the other.
SIDE_BY_SIDE ?= -n auto --maxprocesses 4 --dist loadfile --no-loadscope-reorder

.PHONY: run test warm bench test-cuda prove build picture lint style bench-site
run:
	@$(PYTHON) app/setup/environment.py
	@$(BIN)/python -m app.setup.toolchain
	@$(BIN)/python -m lab serve $(if $(HOST),--host $(HOST)) $(if $(PORT),--port $(PORT)) $(ARGS)

test:
	@$(PYTHON) app/setup/environment.py test
	@$(MAKE) --no-print-directory -j2 style warm
	@$(BIN)/python -m pytest $(SIDE_BY_SIDE) $(ARGS)

# What the tests need besides .venv.
warm:
	@$(BIN)/python -m app.setup.browser
	@$(BIN)/python -m app.setup.toolchain
	@$(BIN)/python -m app.setup.warm

bench:
	@$(PYTHON) app/setup/environment.py test
	@$(BIN)/python -m app.setup.browser
	@$(BIN)/python -m app.setup.toolchain
	@$(BIN)/python -m app.bench.core_bench $(ARGS)

test-cuda:
	@$(PYTHON) app/setup/cuda.py
	@PYTHONPATH=. .venv-cuda/bin/python -m pytest tests/cuda $(ARGS)

prove:
	@$(PYTHON) app/setup/cuda.py
	@PYTHONPATH=. .venv-cuda/bin/python lab/cuda/prove.py --out "$(OUT_JSON)"

lint:
	@$(PYTHON) app/setup/environment.py test
	@$(MAKE) --no-print-directory style

style:
	@$(BIN)/python -m ruff check .
	@$(BIN)/python -m ruff format --check .
	@$(BIN)/python -m mypy

build:
	@$(PYTHON) app/setup/environment.py
	@$(BIN)/python -m app.setup.toolchain
	@$(BIN)/python -m lab build --out "$(OUT)" $(ARGS)

# The picture in the README, from the lab itself.
picture:
	@$(PYTHON) app/setup/environment.py
	@$(BIN)/python -m app.setup.picture

bench-site:
	@$(PYTHON) app/setup/environment.py test
	@$(BIN)/python -m app.setup.browser
	@$(BIN)/python -m app.setup.toolchain
	@$(BIN)/python -m app.bench $(ARGS)
