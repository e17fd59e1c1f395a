"""The command ``python -m benchmarks NAME [PART …]``."""

import sys
from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module

NAMES = {
    "compare": "compare radoncdt with other libraries: speed, memory, accuracy, invariance, recognition",
    "comparison_page": "write docs/results/benchmarks.md from the results of compare",
    "comparison_plots": "draw the pictures of docs/results/benchmarks.md from the results of compare",
    "kernels": "measure the compiled kernels, the NumPy kernels, and the time to start",
    "core": "measure accuracy, speed, memory and import time of the transforms",
    "toolbox": "measure inverses, distances and estimators",
    "pools": "measure the invariance of each pool, with equispaced and with whitened directions",
    "registration": "measure registration, distances and search, and compare with ORB and RANSAC",
    "turns": "measure how often registration finds the right rotation of shapes that are redrawn or bent",
    "catalogue": "measure recognition, p-values, speed and size of catalogues",
    "catalogue_page": "write the tables about catalogues in docs from the results of catalogue",
    "priors": "choose the penalties of the named priors on development data",
    "training": "compare the networks of the few-shot study with longer trained ones",
    "recognition_page": "write the tables of docs/results/recognition.md from stored results",
    "readme_page": "write the table of measured claims in README.md from all stored results",
    "reproduction_page": "write the tables of the paper's experiments in docs/results from stored results",
    "registration_page": "write the tables of docs/results/registration.md from stored results",
    "pixels": "measure variants of the protocol of Table 4 for the pixels, shown in docs/results/reproduction.md",
}
"""The modules that can be run, and what they do. Each has a function ``main(arguments)`` that returns an exit code."""

USAGE = "usage: python -m benchmarks NAME [PART …]"


def main(arguments: Sequence[str]) -> int:
    """Run the benchmark that the first argument names, with the other arguments; return its exit code."""
    if not arguments or arguments[0] in ("-h", "--help"):
        width = max(map(len, NAMES))
        print(USAGE, "", *(f"  {name:{width}}  {text}" for name, text in NAMES.items()), sep="\n")
        print("\nThe parts of a benchmark, and its options: python -m benchmarks NAME --help")
        return 0
    name, *others = arguments
    if name not in NAMES:
        similar = get_close_matches(name, NAMES, 1)
        hint = f"; did you mean {similar[0]!r}?" if similar else f"; choose from {', '.join(NAMES)}"
        print(f"{USAGE}\nerror: unknown benchmark {name!r}{hint}", file=sys.stderr)
        return 2
    code: int = import_module(f"benchmarks.{name}").main(others)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
