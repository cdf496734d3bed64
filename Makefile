# One command for each thing; every one sets up .venv first when it is missing or out of date.
PYTHON ?= python3
PORT ?= 8420
PGBOUNCER ?= pgbouncer
BIN := .venv/bin
# A process that crashes ends the tests at once: started anew, xdist may wait for it for ever.
PYTEST := $(BIN)/pytest -n 2 --dist loadgroup --max-worker-restart 0
LOCK := $(BIN)/uv pip compile --quiet --universal --python-version 3.10 --generate-hashes \
	--no-emit-index-url --no-header --exclude-newer "1 week" $(foreach extra,local client server postgres traces,--extra $(extra)) --group dev --group bench --group model

.DEFAULT_GOAL := help
MODEL := src/holdfast/embed/data/manifest.json

.PHONY: help serve demo fuzz pooled clients frameworks test test-matrix quick lint bench faults generate model lock clean

help: ## Say what each target does.
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | while IFS="$$(printf '\t')" read -r name words; \
		do printf '  make %-11s %s\n' "$$name" "$$words"; done

serve: $(MODEL) ## Start a server and its console on this machine: http://127.0.0.1:8420.
	@$(BIN)/holdfast serve --port $(PORT)

demo: $(MODEL) ## Start a short interactive demo of the library.
	@$(BIN)/holdfast demo

test: lint $(MODEL) ## Check everything: lint, then every test.
	@$(PYTEST)

test-matrix: $(MODEL) ## Check every flavour of AutoGen on every Python there is.
	@HOLDFAST_MATRIX=1 $(BIN)/pytest tests/test_frameworks.py

quick: lint $(MODEL) ## Check what a person can wait for: lint, then the tests that are not slow.
	@$(PYTEST) -m "not slow"

lint: .venv/.ready ## Check format, style, types, budgets and the generated twin.
	@$(BIN)/ruff format --quiet --check .
	@$(BIN)/ruff check --quiet .
	@$(BIN)/mypy --no-error-summary
	@$(BIN)/python tools/unasync.py --check
	@$(BIN)/python tools/budgets.py

bench: $(MODEL) ## Measure speed and size, beside the floors of this machine.
	@$(BIN)/python -m benchmarks
	@$(BIN)/python -m benchmarks.served
	@$(BIN)/python -m benchmarks.postgres

faults: .venv/.ready ## Kill writers, fill disks, turn clocks; count what is lost.
	@$(BIN)/python benchmarks/faults.py
	@$(BIN)/python benchmarks/faults.py --postgres --kills 200 --json benchmarks/results/faults_postgres.json
	@$(BIN)/python -m benchmarks.learning_faults
	@$(BIN)/python -m benchmarks.outages
	@$(BIN)/python -m benchmarks.outages --postgres --servers 4 --kills 250

pooled: .venv/.ready ## Check the contract behind pgbouncer, 1.21 or newer: PGBOUNCER=path.
	@PGBOUNCER=$(PGBOUNCER) $(BIN)/python -m tools.pooled

fuzz: .venv/.ready ## Call every path of the server with 20,000 requests made of its own description.
	@HOLDFAST_FUZZ=20000 $(BIN)/pytest tests/test_server_fuzz.py -q

clients: .venv/.ready ## Install the published clients of other services, each into its own place.
	@$(BIN)/python tests/clients/environments.py

frameworks: .venv/.ready ## Install the real frameworks that the tests drive, each into its own place.
	@$(BIN)/python tests/frameworks/environments.py

generate: .venv/.ready ## Write the synchronous twin of the API from its asynchronous source.
	@$(BIN)/python tools/unasync.py

model: $(MODEL) ## Build the embedding model into the package, out of its published weights.

$(MODEL): tools/build_model.py tools/taught.npz | .venv/.ready
	@$(BIN)/python tools/build_model.py

lock: .venv/.ready ## Choose the versions of everything anew, none younger than a week.
	@$(LOCK) --upgrade pyproject.toml --output-file constraints.txt

clean: ## Remove what can be made again, .venv included.
	@rm -rf .venv .hypothesis .mypy_cache .pytest_cache .ruff_cache build dist
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/.ready: pyproject.toml constraints.txt tools/venv.sh
	@sh tools/venv.sh "$(PYTHON)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r constraints.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@
