"""Measurements on disk, so that a second run continues where the first one stopped.

The file `runs.jsonl` has one line per set-up, one line per measurement, and one line per method of a study that is
measured as a whole. Lines are only ever appended, and lines of other set-ups stay as they are. Neither an interrupted
run nor another seed therefore loses measurements.

A set-up is everything that decides a figure: the seed, the digits, the versions of the libraries, and the code that
measures. The code is that of the modules that measure and of all modules of the package that they import.
"""

import ast
import hashlib
import json
import platform
import sys
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import cache
from importlib.metadata import version
from math import isfinite
from pathlib import Path
from typing import Any, TypeAlias, get_type_hints

import radoncdt
from radoncdt import _kernels, datasets
from radoncdt._validation import ArgumentValueError
from radoncdt.reproduction import baselines
from radoncdt.reproduction.measurement import Measurand, Measurement
from radoncdt.reproduction.protocol import Cell
from radoncdt.reproduction.recognition import glyph_study, networks, omniglot
from radoncdt.reproduction.recognition.few_shot import Recognition
from radoncdt.reproduction.recognition.glyph_study import GlyphFigures
from radoncdt.reproduction.recognition.omniglot import OneShotFigures
from radoncdt.reproduction.robustness import Trial

__all__ = [
    "FILE_NAME",
    "Figures",
    "RunStore",
    "describe_setup",
    "digest_fonts",
    "find_modules",
    "hash_code",
    "hash_module",
]

FILE_NAME = "runs.jsonl"  # in the folder of the report

_KINDS: dict[str, type[Measurand]] = {
    "cell": Cell,
    "trial": Trial,
    "recognition": Recognition,
}  # types of measurands by the key of a line
Figures: TypeAlias = GlyphFigures | OneShotFigures
"""The figures of one method in a study that is measured as a whole, without random draws."""
_FIGURES: dict[str, tuple[type[Figures], Sequence[str]]] = {
    "glyphs": (GlyphFigures, glyph_study.REQUIREMENTS),
    "omniglot": (OneShotFigures, omniglot.REQUIREMENTS),
}  # types of figures by the key of a line, and the entries of the set-up on which they depend
_SHARES = {"first", "ten", "accuracy"}  # fields of figures that lie between 0 and 1
_LIBRARIES = ("numpy", "scipy", "scikit-learn")
_OPTIONAL = {
    *("digits", "fonts", *baselines.LIBRARIES.values()),
    *(*networks.REQUIREMENTS, *glyph_study.REQUIREMENTS, *omniglot.REQUIREMENTS),
}
"""Entries of a set-up that only some measurements depend on."""
_MEASURING = tuple(
    f"radoncdt.reproduction.{name}" for name in ("protocol", "robustness", "recognition.few_shot")
)  # the modules that measure

# ---------------------------------------------------------------- what decides a figure


def describe_setup(seed: int, mnist: datasets.Mnist | None) -> dict[str, Any]:
    """Describe everything that decides a figure. Equal set-ups have equal figures."""
    return {
        "seed": seed,
        "radoncdt": radoncdt.__version__,
        "sources": _hash_measuring_code(),
        "kernels": _kernels.identify(),
        "digits": mnist.digest()[:16] if mnist else None,
        "python": platform.python_version(),
        **{name: version(name) for name in _LIBRARIES},
    }


def digest_fonts(fonts: Sequence[datasets.Font]) -> str:
    """Describe fonts by their number and a hash of their files and of the version of FreeType, which draws them."""
    from PIL import features

    digest = hashlib.sha256(f"FreeType {features.version('freetype2')} ".encode())
    for font in fonts:
        digest.update(f"{font.name} {font.index} ".encode() + font.path.read_bytes())
    return f"{len(fonts)} fonts, SHA-256 {digest.hexdigest()[:16]}"


@cache
def _hash_measuring_code() -> str:
    return hash_code(_MEASURING, Path(radoncdt.__file__).parent, without=[networks.__name__])[:16]


@cache
def hash_module(name: str) -> str:
    """Hash the code of a module on which few measurements depend, and of what it imports."""
    return hash_code([name], Path(radoncdt.__file__).parent)[:16]


def hash_code(modules: Sequence[str], package: Path, without: Collection[str] = ()) -> str:
    """Hash modules and all modules of the package that they import, without comments and docstrings.

    The modules in `without`, and what only they import, are left out.
    """
    digest = hashlib.sha256()
    for name, code in sorted(find_modules(modules, package, without).items()):
        digest.update(f"{name} {ast.dump(code)}\n".encode())
    return digest.hexdigest()


def find_modules(modules: Sequence[str], package: Path, without: Collection[str] = ()) -> dict[str, ast.Module]:
    """Find modules and all modules in the folder of the package that they import, directly or indirectly.

    Imports are read from the source, including those inside functions. Importing a module does not count as importing
    the packages that contain it.
    """
    found: dict[str, ast.Module] = {}
    missing = list(modules)
    while missing:
        name = missing.pop()
        path = _find_file(name, package)
        if path is not None and name not in found and name not in without:
            found[name] = _CodeOnly().visit(ast.parse(path.read_bytes()))
            missing += _list_imports(found[name], package)
    return found


def _list_imports(code: ast.Module, package: Path) -> Iterator[str]:
    for node in ast.walk(code):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                submodule = f"{node.module}.{alias.name}"
                yield submodule if _find_file(submodule, package) else str(node.module)


def _find_file(module: str, package: Path) -> Path | None:
    """Find the source file of a module; None outside the package and for the package itself, which only loads names."""
    root, _, rest = module.partition(".")
    if root != "radoncdt" or not rest:
        return None
    path = package.joinpath(*rest.split("."))
    candidates = (path.with_suffix(".py"), path / "__init__.py")
    return next((file for file in candidates if file.is_file()), None)


class _CodeOnly(ast.NodeTransformer):
    """Removes docstrings, also those of constants, and imports for type checkers."""

    def visit_Expr(self, node: ast.Expr) -> ast.Expr | None:
        is_text = isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        return None if is_text else node

    def visit_If(self, node: ast.If) -> ast.AST:
        if isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            node.body = []
        return self.generic_visit(node)


# ---------------------------------------------------------------- the file


class RunStore:
    """The measurements of one set-up, by measurand and number of the random draw."""

    def __init__(self, folder: Path, setup: Mapping[str, Any]) -> None:
        self.path = folder / FILE_NAME
        self._setup = dict(setup)
        self._lock = threading.Lock()
        self._runs: dict[tuple[Measurand, int], tuple[Measurement, float]] = {}
        self._figures: dict[tuple[str, str], tuple[Figures, float]] = {}
        self._known: set[str] = set()
        text = self.path.read_text(encoding="utf-8", errors="replace") if self.path.exists() else ""
        self._read(text)
        if text and not text.endswith("\n"):  # an interruption cut off the last line
            self._append("\n")

    def _read(self, text: str) -> None:
        """Read all lines. A line that is damaged is skipped, and its measurement is repeated."""
        for line in text.splitlines():
            try:
                record = json.loads(line)
                self._known.add(record["setup"])
                for kind in _KINDS.keys() & record.keys():
                    measurand, draw = _KINDS[kind](**record[kind]), int(record["draw"])
                    found = _read_measurement(measurand, record)
                    if found and record["setup"] == self._hash_setup(measurand.requirements)[0]:
                        self._runs[measurand, draw] = found, _read_seconds(record)
                for part in _FIGURES.keys() & record.keys():
                    kind, requirements = _FIGURES[part]
                    figures = kind(**record[part])
                    if _are_valid(figures) and record["setup"] == self._hash_setup(requirements)[0]:
                        self._figures[part, figures.method] = figures, _read_seconds(record)
            except (ValueError, TypeError, KeyError):
                continue
        if text.strip() and not self._known and not '{"setup": '.startswith(text[:10]):
            problem = f"must not contain a file {FILE_NAME} from another program, got {self.path}"
            raise ArgumentValueError("out", f"{problem}; move that file away, or choose another folder")

    def _hash_setup(self, requirements: Collection[str]) -> tuple[str, dict[str, Any]]:
        """Return the hash of the part of the set-up that a measurement depends on, and that part."""
        unneeded = _OPTIONAL.difference(requirements)
        setup = {name: value for name, value in self._setup.items() if name not in unneeded}
        setup.setdefault("digits", None)
        return hashlib.sha256(json.dumps(setup, sort_keys=True).encode()).hexdigest()[:16], setup

    def _append(self, text: str) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            file.write(text)

    def __contains__(self, place: tuple[Measurand, int]) -> bool:
        return place in self._runs

    def add(self, measurand: Measurand, draw: int, measurement: Measurement, seconds: float) -> None:
        """Keep a measurement, and the time that it took."""
        (kind,) = (name for name, type_ in _KINDS.items() if isinstance(measurand, type_))
        record = {kind: asdict(measurand), "draw": draw, **measurement._asdict()}
        with self._lock:
            self._write(record, measurand.requirements, seconds)
            self._runs[measurand, draw] = measurement, seconds

    def add_figures(self, part: str, figures: Figures, seconds: float) -> None:
        """Keep the figures of one method in a study, and the time that they took."""
        with self._lock:
            self._write({part: asdict(figures)}, _FIGURES[part][1], seconds)
            self._figures[part, figures.method] = figures, seconds

    def _write(self, record: Mapping[str, Any], requirements: Collection[str], seconds: float) -> None:
        """Append a record to the file, below its set-up; the caller holds the lock."""
        key, setup = self._hash_setup(requirements)
        lines = [json.dumps({"setup": key, **record, "seconds": round(seconds, 4)})]
        if key not in self._known:
            lines.insert(0, json.dumps({"setup": key, "is": setup}))
        self._append("".join(f"{line}\n" for line in lines))
        self._known.add(key)

    def read_figures(self, part: str, methods: Sequence[str]) -> dict[str, tuple[Figures, float]]:
        """Return the figures of those methods that are done, with the time that each took."""
        return {method: self._figures[part, method] for method in methods if (part, method) in self._figures}

    def read_draws(self, measurand: Measurand, n: int) -> dict[int, Measurement]:
        """Return the measurements in those of the first n draws that are done."""
        return {draw: self._runs[measurand, draw][0] for draw in range(n) if (measurand, draw) in self._runs}

    def read_seconds(self, measurand: Measurand, draw: int) -> float:
        """Return the time that a measurement took; 0 if it is not done."""
        return self._runs[measurand, draw][1] if (measurand, draw) in self._runs else 0.0


def _read_measurement(measurand: Measurand, record: Mapping[str, Any]) -> Measurement | None:
    """Read the measurement of a line; None if it cannot be one of the measurand.

    A support vector machine has a share of ties. Lines without it were written when ties counted as errors.
    """
    accuracies = [float(value) for value in record["accuracies"]]
    ties = float(record["ties"]) if measurand.has_ties else None
    shares = accuracies if ties is None else [*accuracies, ties]
    is_valid = len(accuracies) == measurand.n_accuracies and all(0 <= share <= 1 for share in shares)
    return Measurement(accuracies, ties) if is_valid else None


def _are_valid(figures: Figures) -> bool:
    """Return whether the fields of figures have the right types, and numbers are in range."""
    for name, kind in get_type_hints(type(figures)).items():
        value = getattr(figures, name)
        if isinstance(value, bool) or not isinstance(value, (int, float) if kind is float else kind):
            return False
        if isinstance(value, (int, float)):
            largest = 1 if name in _SHARES else sys.float_info.max
            if not 0 <= value <= largest:
                return False
    return True


def _read_seconds(record: Mapping[str, Any]) -> float:
    """Read the time of a line; raise ValueError if it cannot be one."""
    seconds = float(record["seconds"])
    if not (isfinite(seconds) and seconds >= 0):
        raise ValueError(f"a measurement took {seconds} seconds")
    return seconds
