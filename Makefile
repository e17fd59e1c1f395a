# Every target makes the virtual environment it needs, below .venv/.
PYTHON ?= python3

.PHONY: test reproduce bench picture clean

test: .venv/test/ready
	.venv/test/bin/ruff check .
	.venv/test/bin/ruff format --check .
	.venv/test/bin/mypy
	.venv/test/bin/pytest --numprocesses 2

reproduce: .venv/run/ready
	.venv/run/bin/radoncdt reproduce --out reproduction

bench: .venv/bench/ready
	.venv/bench/bin/python benchmarks/core.py
	.venv/bench/bin/python benchmarks/toolbox.py
	.venv/bench/bin/python benchmarks/invariance.py
	.venv/bench/bin/python benchmarks/registration.py

picture: .venv/plot/ready
	.venv/plot/bin/python examples/recognise_shapes.py --picture docs/recognise_shapes.png
	.venv/plot/bin/python examples/pictures.py docs

.venv/test/ready: extras = [test]
.venv/run/ready: extras = [plot,mnist,rivals]
.venv/bench/ready: extras = [bench]
.venv/plot/ready: extras = [plot]
.venv/%/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet --constraint constraints.txt --editable '.$(extras)'
	touch $@

clean:
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
