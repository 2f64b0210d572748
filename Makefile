# Every command of the project. `make` alone lists them.
PYTHON ?= python3
VENV ?= .venv
# Requirements that pin JAX, such as JAX="jax==0.8.0 jaxlib==0.8.0"; empty for the newest that Python takes.
JAX ?=
EXTRAS ?= test,frameworks,tpu,cuda
# Of the tests that need no browser; with another JAX, "not slow" leaves out those that would only say the same again.
WHICH ?= slow or not slow
BIN = $(VENV)/bin
export JAX_PLATFORMS = cpu

.DEFAULT_GOAL := help
.PHONY: help install bundle lint test test-python test-js test-ui test-lab pictures test-notebooks test-wheel bench goldens notebooks clean

help: ## list the commands
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 18

install: $(VENV)/.installed ## make the virtual environment and install the project for development

$(VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[$(EXTRAS)]' $(JAX)
	touch $@

js/node_modules/.installed: js/package-lock.json
	cd js && npm ci --no-audit --no-fund --silent
	touch $@

bundle: js/node_modules/.installed ## build the front end into jaxscope/static
	cd js && npm run --silent build

lint: install js/node_modules/.installed ## check style and types
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	cd js && npm run --silent check

test: lint test-js test-python test-ui test-notebooks test-wheel ## everything that must hold

test-js: bundle ## tests of the front end that need no browser
	cd js && npm test --silent

test-python: install bundle ## tests that need no browser
	$(BIN)/python -m pytest --ignore tests/ui --ignore tests/test_wheel.py -m "$(WHICH)" -n 2 --dist loadfile

test-ui: install bundle ## tests in headless Chromium
	$(BIN)/python -m pytest tests/ui -n 2 --dist loadfile

test-lab: install bundle ## the part of test-ui that runs jaxscope.show in JupyterLab
	$(BIN)/python -m pytest tests/ui/test_show.py

pictures: install bundle ## take pictures of what test-ui opens, to look at, into tests/ui/screenshots
	$(BIN)/python -m pytest tests/ui -n 2 --dist loadfile --pictures

test-notebooks: install bundle ## run every notebook and compare the cells that are marked for it
	$(BIN)/python -m pytest --nbval-lax --nbval-cell-timeout=120 notebooks -p no:cacheprovider

test-wheel: install bundle ## build the wheel and look inside
	$(BIN)/python -m pytest tests/test_wheel.py

bench: install bundle ## speed as ratios to JAX's own work, and reading 48 layers in Chromium
	$(BIN)/python -m tests.bench --browser 12

goldens: install bundle ## rewrite the golden files; look at the difference before you commit it
	$(BIN)/python -m pytest -q --ignore tests/ui --ignore tests/test_wheel.py --update-goldens

notebooks: install bundle ## run every notebook and write its outputs
	$(BIN)/python -m tests.notebooks

clean: ## remove what was built
	rm -rf $(VENV) js/node_modules jaxscope/static/widget.js dist build
