"""radoncdt beside other libraries: speed, accuracy, invariance and recognition, one thread each, in one run.

    python benchmarks/compare.py [speed] [accuracy] [invariance] [recognition] [--quick] [--out FILE.json]

Every library is used as shipped and tuned, see ``peers``; one that is not installed is named, with the reason. The
features are the mNR-CDT. Writes benchmarks/results.json; ``benchmarks/page.py`` makes docs/benchmarks.md of it.
--quick compares with scikit-image alone, at one size.
"""

import argparse
import json
import platform
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from closed_forms import CLOSED_FORMS, sampled
from core import dense, drawing
from numpy.typing import NDArray
from peers import Form, Peer, peers
from threadpoolctl import threadpool_limits

from radoncdt import datasets

Record = dict[str, Any]
Array = NDArray[Any]

SIDE, N_ANGLES = 256, 128
"""Where libraries are compared."""


def forms(found: list[Peer]) -> Iterator[tuple[Peer, str, Form]]:
    return ((peer, name, form) for peer in found for name, form in peer.forms.items())


def record(part: str, case: str, peer: Peer, form: str, **figures: Any) -> Record:
    return {"part": part, "case": case, "peer": peer.name, "form": form, **figures}


# ---------------------------------------------------------------- speed


def interleaved(calls: list[Callable[[], object]], rounds: int, least: float) -> list[list[float]]:
    """Seconds of each call, round by round, so that what disturbs the machine disturbs all.

    A turn is as many calls as take `least` seconds.
    """

    def turn(call: Callable[[], object], repeats: int) -> float:
        begin = time.perf_counter()
        for _ in range(repeats):
            call()
        return (time.perf_counter() - begin) / repeats

    for call in calls:
        call()
    repeats = [1 + int(least / turn(call, 1)) for call in calls]
    turns = [[turn(call, n) for call, n in zip(calls, repeats)] for _ in range(rounds)]
    return [list(seconds) for seconds in zip(*turns)]


def speed(found: list[Peer], quick: bool) -> Iterator[Record]:
    sizes = (SIDE,) if quick else (64, 128, 256, 512)
    angles = (N_ANGLES,) if quick else (16, 64, 128, 256)
    cases = [(n, N_ANGLES) for n in sizes] + [(SIDE, n) for n in angles if n != N_ANGLES]
    for kind, draw in (("dense", dense), ("drawing", drawing)):
        for side, n_angles in cases:
            image = draw(side)[None]
            chosen = list(forms(found))
            calls: list[Callable[[], object]] = [partial(form.features, image, n_angles) for _, _, form in chosen]
            for (peer, name, _), seconds in zip(chosen, interleaved(calls, rounds=3, least=0.1)):
                yield record(
                    "speed",
                    f"{kind}, {side} × {side}, {n_angles} angles",
                    peer,
                    name,
                    kind=kind,
                    side=side,
                    n_angles=n_angles,
                    milliseconds=1e3 * float(np.median(seconds)),
                    spread=[1e3 * min(seconds), 1e3 * max(seconds)],
                )


# ---------------------------------------------------------------- accuracy


def accuracy(found: list[Peer], quick: bool) -> Iterator[Record]:
    """Errors of the NR-CDT, at levels between .01 and .99, against closed forms; each at its own angles and levels."""
    for closed in CLOSED_FORMS:
        image = sampled(closed.density, 128)[None]
        for peer, name, form in forms(found):
            if name == "whitened directions":  # the same values, at other angles
                continue
            values, angles, levels = form.nrcdt(image, 32)
            inside = (levels > 0.01) & (levels < 0.99)
            errors = np.abs(values[0][:, inside] - closed.nrcdt(angles, levels[inside]))
            yield record("accuracy", closed.name, peer, name, largest=float(errors.max()), mean=float(errors.mean()))


# ---------------------------------------------------------------- invariance


def moved(images: Array, **options: Any) -> Array:
    return datasets.random_affine(images, datasets.AffineDistribution(**options), 0)[0]


CHANGES: dict[str, Callable[[Array], Array]] = {
    "rotation": lambda images: moved(images, rotation=180),
    "scale": lambda images: moved(images, scale=(0.6, 1.2)),
    "shear": lambda images: moved(images, shear=30),
    "translation": lambda images: moved(images, shift=20),
    "zero padding": lambda images: np.pad(images, ((0, 0), (0, images.shape[1]), (0, images.shape[2]))),
    "intensity": lambda images: images * np.float32(0.01),
}


def invariance(found: list[Peer], quick: bool) -> Iterator[Record]:
    """Largest change of a symbol's features over the distance to the features of the next symbol."""
    symbols = np.stack(list(datasets.templates(canvas=128, size=64, line_width=2).values()))[:: 3 if quick else 1]
    for peer, name, form in forms(found):
        still = form.features(symbols, 32)
        between = np.linalg.norm(still[:, None] - still, axis=2)
        np.fill_diagonal(between, np.inf)
        for change, make in CHANGES.items():
            features = form.features(make(symbols), 32)
            if features.shape != still.shape:  # as many levels as bins: compared at common levels
                old, new = (np.linspace(0, 1, f.shape[1]) for f in (features, still))
                features = np.array([np.interp(new, old, row) for row in features])
            within = np.linalg.norm(features - still, axis=1)
            yield record("invariance", change, peer, name, spread=float((within / between.min(axis=1)).max()))


# ---------------------------------------------------------------- recognition


def recognition(found: list[Peer], quick: bool) -> Iterator[Record]:
    """One template a class; the nearest template of random affine copies, in the Euclidean norm."""
    templates = np.stack(list(datasets.templates(canvas=128, size=64, line_width=2).values()))
    n_copies = 2 if quick else 5
    copies = moved(
        templates.repeat(n_copies, axis=0), scale=(0.6, 1.2), isotropic=False, rotation=180, shear=20, shift=10
    )
    truth = np.arange(len(templates)).repeat(n_copies)
    for peer, name, form in forms(found):
        begin = time.perf_counter()
        known, new = form.features(templates, 32), form.features(copies, 32)
        seconds = time.perf_counter() - begin
        nearest = np.linalg.norm(new[:, None] - known, axis=2).argmin(axis=1)
        yield record(
            "recognition",
            f"{len(templates)} symbols, {len(copies)} affine copies",
            peer,
            name,
            accuracy=float(np.mean(nearest == truth)),
            milliseconds=1e3 * seconds / (len(known) + len(new)),
        )


PARTS = {"speed": speed, "accuracy": accuracy, "invariance": invariance, "recognition": recognition}


def setup(found: list[Peer]) -> Record:
    def installed(package: str) -> str | None:
        try:
            return version(package)
        except PackageNotFoundError:
            return None

    packages = ["radoncdt", "numpy", "numba", "scipy", *(peer.package for peer in found if peer.package != "radoncdt")]
    return {
        "python": platform.python_version(),
        "machine": platform.machine(),
        "versions": {package: installed(package) for package in packages},
        "missing": {peer.name: peer.missing for peer in found if peer.missing},
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="part", help=f"one or more of {', '.join(PARTS)}; all by default")
    parser.add_argument("--quick", action="store_true", help="with scikit-image alone, at one size")
    parser.add_argument(
        "--out", type=Path, metavar="FILE.json", help="where to write (results.json beside this; not with --quick)"
    )
    options = parser.parse_args()
    if unknown := [part for part in options.parts if part not in PARTS]:
        parser.error(f"unknown part {unknown[0]!r}; choose from {', '.join(PARTS)}")
    warnings.simplefilter("ignore")  # of the peers
    found = [peer for peer in peers() if not options.quick or peer.name in ("radoncdt", "scikit-image")]
    for peer in found:
        if peer.missing:
            print(f"{peer.name} cannot be imported: {peer.missing}")
    out = options.out or (None if options.quick else Path(__file__).with_name("results.json"))
    old = json.loads(out.read_text(encoding="utf-8"))["records"] if out is not None and out.exists() else []
    for part in options.parts or PARTS:
        records = []
        with threadpool_limits(1):
            for each in PARTS[part](found, options.quick):
                records.append(each)
                shown = ", ".join(f"{key} {value:.4g}" for key, value in each.items() if isinstance(value, float))
                print(f"{part:12s} {each['case']:36s} {each['peer']:13s} {each['form']:19s} {shown}", flush=True)
        if out is not None:  # after each part; those that are not measured again are kept
            old = [record for record in old if record["part"] != part] + records
            old.sort(key=lambda record: list(PARTS).index(record["part"]))
            text = json.dumps({"setup": setup(found), "records": old}, indent=1, ensure_ascii=False) + "\n"
            out.write_text(text, encoding="utf-8")
            print(out)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
