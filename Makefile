# Every target creates the virtual environment that it needs, in .venv/.
PYTHON ?= python3

.PHONY: docs lint test test-all test-deep sdist-test stress reproduce demo bench bench-quick picture wheel wheels sanitize sanitize-arm64 clean

# style, spelling, types and layers
lint: .venv/test/ready
	.venv/test/bin/ruff check .
	.venv/test/bin/ruff format --check .
	.venv/test/bin/codespell
	.venv/test/bin/mypy
	.venv/test/bin/lint-imports

# the above, and all quick tests
test: lint
	.venv/test/bin/pytest --numprocesses 2 -m "not slow"

# the above, the slow tests, which re-measure documented figures, and the property tests with many more examples
test-all: test
	.venv/test/bin/pytest --numprocesses 2 -m "slow or hypothesis" --hypothesis-profile thorough

# the tests of the networks in `radoncdt reproduce few-shot`, which need PyTorch
test-deep: .venv/deep/ready
	.venv/deep/bin/pytest tests/reproduction/recognition/test_networks.py

# stress tests: catalogues used by many processes, damaged, or interrupted; STRESS takes options such as "--part b,c --seed 1"
stress: .venv/test/ready
	PYTHONPATH=tests .venv/test/bin/python -m stress $(STRESS)

reproduce: .venv/run/ready
	.venv/run/bin/radoncdt reproduce --out reproduction

# the comparison with other libraries, then our own figures; the target fails at the end if a figure misses its limit
bench: .venv/bench/ready
	.venv/bench/bin/pytest --quiet tests/benchmarks/test_peers.py
	.venv/bench/bin/python -m benchmarks compare
	.venv/bench/bin/python -m benchmarks comparison_page
	.venv/bench/bin/python -m benchmarks comparison_plots
	missed=0; for name in kernels core toolbox pools registration turns catalogue; do \
		.venv/bench/bin/python -m benchmarks $$name || missed=1; done; \
		for page in catalogue_page registration_page readme_page; do .venv/bench/bin/python -m benchmarks $$page || exit; \
		done; exit $$missed

bench-quick: .venv/quick/ready
	.venv/quick/bin/python -m benchmarks compare --quick

demo: .venv/plot/ready
	.venv/plot/bin/python examples/search_watermarks.py --out demo

picture: .venv/plot/ready
	.venv/plot/bin/python examples/recognise_shapes.py --picture docs/pictures/recognise_shapes.png
	.venv/plot/bin/python examples/pictures.py docs/pictures

# the documentation, in docs/_build/html; Sphinx repeats no warnings about unchanged pages, so a failed build starts again
docs: .venv/docs/ready
	test -e docs/_build/passed || rm -rf docs/_build docs/gallery docs/reference/api
	rm -f docs/_build/passed
	.venv/docs/bin/sphinx-build --fail-on-warning --keep-going docs docs/_build/html
	.venv/docs/bin/python tools/check_site.py docs/_build/html
	touch docs/_build/passed

# the wheel for this machine, or the wheels for all platforms, in dist/; ziglang compiles them, also for older systems
wheel: .venv/build/ready
	.venv/build/bin/python tools/wheels.py --here

wheels: .venv/build/ready
	.venv/build/bin/python tools/wheels.py
	.venv/build/bin/hatchling build --target sdist

# the source distribution: build it, unpack it in an empty folder, install it there, and run its quick tests
sdist-test: .venv/build/ready
	set -e; folder=$$(mktemp -d); trap 'rm -rf "$$folder"' EXIT; \
	.venv/build/bin/hatchling build --target sdist --directory "$$folder"; \
	cd "$$folder"; tar -xzf radoncdt-*.tar.gz --strip-components 1; \
	$(PYTHON) -m venv .venv; \
	.venv/bin/python -m pip install --quiet --constraint constraints.txt --editable '.[test]'; \
	.venv/bin/python -m pytest --numprocesses 2 -m "not slow" $(SDIST_TEST)

# the kernels under sanitizers, and for arm64 in an emulator; SANITIZE takes options such as "--seed 2 --rounds 1000"
sanitize:
	$(PYTHON) tests/native/run.py $(SANITIZE)

sanitize-arm64: .venv/build/ready
	.venv/build/bin/python tests/native/run.py --qemu-arm64 $(SANITIZE)

.venv/build/ready: constraints.txt
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet --constraint constraints.txt hatchling ziglang lief
	touch $@

# The installation compiles the sources, so it depends on them. Without a compiler, pip installs one temporarily.
NATIVE = hatch_build.py $(wildcard src/radoncdt/_native/*.cpp src/radoncdt/_native/*.h src/radoncdt/_native/build.py)

.venv/test/ready: extras = [test]
.venv/run/ready: extras = [reproduce]
.venv/bench/ready: extras = [bench,test]
.venv/quick/ready: extras = [bench]
.venv/plot/ready: extras = [watermarks,plot]
.venv/docs/ready: extras = [docs]
.venv/deep/ready: extras = [deep,test]
.venv/%/ready: pyproject.toml constraints.txt $(NATIVE)
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet --constraint constraints.txt --editable '.$(extras)'
	touch $@

# libraries for the comparison; if one cannot be installed, the benchmark reports that and measures the others
PEERS = torch pytranskit six torchcdt torchskradon adrt astra-toolbox
.venv/bench/ready: pyproject.toml constraints.txt $(NATIVE)
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet --constraint constraints.txt --editable '.$(extras)'
	-for peer in $(PEERS); do $(@D)/bin/python -m pip install --quiet --constraint constraints.txt $$peer; done
	touch $@

clean:
	rm -rf dist docs/_build docs/gallery docs/reference/api src/radoncdt/_native/lib .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
