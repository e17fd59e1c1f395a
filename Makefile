# Every target makes the virtual environment it needs, below .venv/.
PYTHON ?= python3

.PHONY: test stress reproduce demo bench bench-quick picture wheel wheels sanitize sanitize-arm64 clean

test: .venv/test/ready
	.venv/test/bin/ruff check .
	.venv/test/bin/ruff format --check .
	.venv/test/bin/mypy
	.venv/test/bin/lint-imports
	.venv/test/bin/pytest --numprocesses 2

# catalogues used by many processes, damaged, killed; STRESS takes options such as "--part b,c --seed 1"
stress: .venv/test/ready
	PYTHONPATH=tests .venv/test/bin/python -m stress $(STRESS)

reproduce: .venv/run/ready
	.venv/run/bin/radoncdt reproduce --out reproduction

# beside other libraries, then our own limits; one that is missed stops nothing, and fails the target in the end
bench: .venv/bench/ready
	.venv/bench/bin/pytest --quiet tests/test_benchmarks.py -k rightly
	.venv/bench/bin/python benchmarks/compare.py
	.venv/bench/bin/python benchmarks/page.py
	.venv/bench/bin/python benchmarks/plots.py
	missed=0; for script in kernels core toolbox pools registration catalogue; do \
		.venv/bench/bin/python benchmarks/$$script.py || missed=1; done; \
		.venv/bench/bin/python benchmarks/catalogue_page.py && exit $$missed

bench-quick: .venv/quick/ready
	.venv/quick/bin/python benchmarks/compare.py --quick

demo: .venv/plot/ready
	.venv/plot/bin/python examples/search_watermarks.py --out demo

picture: .venv/plot/ready
	.venv/plot/bin/python examples/recognise_shapes.py --picture docs/recognise_shapes.png
	.venv/plot/bin/python examples/pictures.py docs

# the wheel for this machine, and those for all platforms, in dist/; both are compiled by ziglang for old systems
wheel: .venv/build/ready
	.venv/build/bin/python tools/wheels.py --here

wheels: .venv/build/ready
	.venv/build/bin/python tools/wheels.py
	.venv/build/bin/hatchling build --target sdist

# the kernels under sanitizers, and for arm64 in an emulator; SANITIZE takes options such as "--seed 2 --rounds 1000"
sanitize:
	$(PYTHON) tests/native/run.py $(SANITIZE)

sanitize-arm64: .venv/build/ready
	.venv/build/bin/python tests/native/run.py --qemu-arm64 $(SANITIZE)

.venv/build/ready: constraints.txt
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet --constraint constraints.txt hatchling ziglang lief
	touch $@

# Where there is no compiler, pip fetches one for the installation only, so it has to be repeated for new sources.
NATIVE = hatch_build.py $(wildcard src/radoncdt/_native/*.cpp src/radoncdt/_native/*.h src/radoncdt/_native/build.py)

.venv/test/ready: extras = [test]
.venv/run/ready: extras = [reproduce]
.venv/bench/ready: extras = [bench,test]
.venv/quick/ready: extras = [bench]
.venv/plot/ready: extras = [watermarks,plot]
.venv/%/ready: pyproject.toml constraints.txt $(NATIVE)
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet --constraint constraints.txt --editable '.$(extras)'
	touch $@

# libraries to compare with: one that cannot be installed is named by the benchmark, and the others are measured
PEERS = pytranskit six torchcdt torchskradon adrt astra-toolbox
.venv/bench/ready: pyproject.toml constraints.txt $(NATIVE)
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet --constraint constraints.txt --editable '.$(extras)'
	-$(@D)/bin/python -m pip install --quiet torch==2.13.0
	-for peer in $(PEERS); do $(@D)/bin/python -m pip install --quiet --constraint constraints.txt $$peer; done
	touch $@

clean:
	rm -rf dist src/radoncdt/_native/lib .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
