"""Catalogues: recognition of marks, uniformity of p-values, speed of adding images, and search of a large catalogue.

    python -m benchmarks catalogue [recognition] [ranking] [p_value] [addition] [bounds] [large]

recognition, ranking and p_value use 1,000 synthetic marks. ranking compares two ways to rank the nearest entries: line
fits, which the search uses, and distortion distances on frames of several sizes and with several windows. large uses
100,000 marks, which takes several minutes; the environment variable RADONCDT_LARGE sets another number. The figures are
stored in catalogue.json, from which ``python -m benchmarks catalogue_page`` makes the tables in the documents.
"""

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from scipy import stats

import radoncdt
from benchmarks.report import Parts, Row, run_parts
from radoncdt import datasets
from radoncdt._geometry import ink_box
from radoncdt._thumbnails import make_thumbnail, read_thumbnail
from radoncdt.catalogue import Catalogue
from radoncdt.catalogue.index import StoredIndex, store_summaries
from radoncdt.catalogue.records import Entry, NewEntry, pack_descriptor
from radoncdt.catalogue.search import DEFAULT_LIMITS, MIN_FITTED, Query, read_query, score_entries
from radoncdt.catalogue.snapshot import Snapshot
from radoncdt.catalogue.store import DESCRIPTOR_SETTINGS
from radoncdt.datasets import draw
from radoncdt.ink import find_ink
from radoncdt.matching.descriptors import Descriptors
from radoncdt.matching.distorted_distance import rank_again
from radoncdt.matching.framed import Frame, Framed
from radoncdt.matching.frames import make_canvases
from radoncdt.matching.index import lower_bounds
from radoncdt.matching.prior import PRIORS
from radoncdt.measures import Batch

N_QUERIES = 200  # queries of each kind
N_LARGE_QUERIES = 60  # of each kind, to the large catalogue
N_LARGE = int(os.environ.get("RADONCDT_LARGE", "100000"))  # entries of the large catalogue
LEVELS = (0.01, 0.05, 0.1, 0.2, 0.5)  # p-values up to these are counted
FRAMES = ((28, 2), (56, 2), (56, 3))  # sizes of frames and largest displacements of the compared distortion distances
RESULTS = Path(__file__).parent / "catalogue.json"
LIMITS = {"drawing": (0.98, -np.inf), "specks": (0.95, -np.inf), "photograph": (0.7, 0.85)}
"""Least shares of queries, by kind, whose mark must be ranked first, and among the first ten."""


def make_page(kind: str, image: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Convert ink to grey values: dark on bright paper, except for photographs, which are bright where the mark is."""
    grey: NDArray[np.uint8] = np.rint(255 * (image if kind == "photograph" else 1 - image)).astype(np.uint8)
    return grey


def save_marks(marks: datasets.Watermarks, folder: Path, size: int = 256, pen: float = 4.0) -> None:
    """Write the drawings of marks to a new folder, as PNG files."""
    folder.mkdir()
    for number, mark in enumerate(marks):
        image = draw(mark.lines, size=size, line_width=pen)
        Image.fromarray(make_page("drawing", image)).save(folder / f"{number:06}.png")


@contextmanager
def make_catalogue(marks: datasets.Watermarks) -> Iterator[Catalogue]:
    """Make a temporary catalogue of marks."""
    with tempfile.TemporaryDirectory() as name:
        save_marks(marks, Path(name) / "marks")
        with Catalogue(Path(name) / "marks.db", create=True) as catalogue:
            catalogue.add(Path(name) / "marks")
            yield catalogue


def choose_ink_kind(kind: str) -> str:
    """Return the kind of ink to detect in queries of a kind."""
    return "watermark" if kind == "photograph" else "drawing"


def measure_recognition() -> Iterator[Row]:
    """Measure how often a search ranks the right mark first, and how often the paper's mNR-CDT does so.

    Features of the mNR-CDT are compared by Euclidean distances.
    """
    marks = datasets.watermarks(1000)
    pages = [make_page("drawing", mark.image()) for mark in marks]
    paper = partial(radoncdt.max_nrcdt, directions="equispaced")
    plain = paper([find_ink(image, kind="drawing") for image in pages])
    with make_catalogue(marks) as catalogue:
        for kind, (first, ten) in LIMITS.items():
            queries, twins = marks.queries(N_QUERIES, kind=kind, rng=100), 0
            ranks: dict[str, list[int]] = {"search": [], "mNR-CDT of the same ink": []}
            if kind != "photograph":
                ranks["mNR-CDT of the image"] = []
            for image, mark in zip(queries.images, queries.marks):
                query = make_page(kind, image)
                numbers = [match.entry - 1 for match in catalogue.search(query, kind=choose_ink_kind(kind)).matches]
                ranks["search"].append(numbers.index(mark) if mark in numbers else len(marks))
                twins += int(numbers[0] == marks.twins[mark])
                for method in list(ranks)[1:]:
                    ink = find_ink(query, kind="grey" if method == "mNR-CDT of the image" else choose_ink_kind(kind))
                    distances = np.linalg.norm(plain - paper(ink), axis=1)
                    ranks[method].append(int((distances < distances[mark]).sum()))
            for method, found in ranks.items():
                shares = [float(np.mean(np.array(found) < most)) for most in (1, 10)]
                limits = (first, ten) if method == "search" else (-np.inf, -np.inf)
                yield f"{kind}, {method}: the right mark is ranked first, of {N_QUERIES}", shares[0], "≥", limits[0]
                yield f"{kind}, {method}: it is among the first ten", shares[1], "≥", limits[1]
            yield f"{kind}, search: its near-twin is ranked first instead", twins / N_QUERIES, "≤", np.inf


def measure_ranking() -> Iterator[Row]:
    """Measure how the nearest entries are ranked by line fits and by distortion distances, and the time on one thread.

    The queries are others than those of `measure_recognition`.
    """
    marks = datasets.watermarks(1000, seed=7)
    with make_catalogue(marks) as catalogue, catalogue._open_index() as (snapshot, index):
        for kind in LIMITS:
            first: dict[str, list[bool]] = {}
            ten: dict[str, list[bool]] = {}
            seconds: dict[str, list[float]] = {}
            queries = marks.queries(2 * N_QUERIES, kind=kind, rng=307)
            for image, mark in zip(queries.images, queries.marks):
                ink = {"kind": choose_ink_kind(kind)}
                query = read_query(make_page(kind, image), ink, index.settings, 1)
                for name, (ranked, time_) in _rank_nearest(snapshot, index, query).items():
                    rank = ranked.index(mark + 1) if mark + 1 in ranked else len(marks)
                    first.setdefault(name, []).append(rank < 1)
                    ten.setdefault(name, []).append(rank < 10)
                    seconds.setdefault(name, []).append(time_)
            for name in first:
                title = f"{kind}, ranked by {name}"
                gain = np.subtract(first[name], first["line fits"], dtype=float)
                yield f"{title}: the right mark is first, of {len(gain)}", float(np.mean(first[name])), "≥", -np.inf
                yield f"{title}: it is among the first ten", float(np.mean(ten[name])), "≥", -np.inf
                error = float(gain.std(ddof=1) / np.sqrt(len(gain)))
                yield f"{title}: standard error of the difference from line fits", error, "≤", np.inf
                yield f"{title}: milliseconds per query", 1000 * float(np.median(seconds[name])), "≤", np.inf


def _rank_nearest(snapshot: Snapshot, index: StoredIndex, query: Query) -> dict[str, tuple[list[int], float]]:
    """Return the numbers of the nearest entries in each ranking, and the seconds that it takes."""
    descriptor = query.shape.descriptor.astype(np.float32)
    distances, numbers, _ = index.find_nearest(snapshot, descriptor, MIN_FITTED, limits=DEFAULT_LIMITS, n_jobs=1)
    begin = time.perf_counter()
    scores = score_entries(snapshot, query.shape, DEFAULT_LIMITS, distances, numbers, 1)[2]
    ranked = numbers[np.argsort(scores, kind="stable")].tolist()
    found = {"line fits": (ranked, time.perf_counter() - begin)}
    for side, window in FRAMES:
        begin, frame = time.perf_counter(), Frame.read(side, window)
        numbers = np.sort(numbers)
        thumbnails = snapshot.thumbnails(numbers.tolist())
        inks = [read_thumbnail(thumbnails[number]) for number in numbers.tolist()]
        moving = _frame([query.ink], descriptor, frame)
        fixed = _frame(inks, snapshot.descriptors(numbers).astype(np.float32), frame)
        everything = np.arange(len(numbers))[None]
        order = rank_again(moving, fixed, everything, limits=DEFAULT_LIMITS, prior=PRIORS["any"], n_jobs=1)[1][0]
        name = f"distortion distances, {side} × {side}, ±{window}"
        found[name] = numbers[order].tolist(), time.perf_counter() - begin
    return found


def _frame(inks: list[NDArray[np.float32]], descriptors: Descriptors, frame: Frame) -> Framed:
    return Framed(descriptors, make_canvases(Batch.read(inks), descriptors, frame.side, 1), frame)


def measure_p_values() -> Iterator[Row]:
    """Measure p-values of the best match, which are uniform for marks that the catalogue does not contain.

    The limit of the Kolmogorov distance is that of the two-sample test at the 5 % level, for the marks of the
    calibration and the queries.
    """
    marks = datasets.watermarks(1000)
    with make_catalogue(marks) as catalogue:
        begin = time.perf_counter()
        n_marks = catalogue.calibrate(n_marks=500)
        yield "seconds to calibrate, per mark", (time.perf_counter() - begin) / n_marks, "≤", np.inf
        for kind, seeds in (("drawing", (101, 102, 103)), ("specks", (104,)), ("photograph", (105,))):
            images = [
                image
                for seed in seeds
                for image in datasets.watermarks(1000, seed=seed).queries(N_QUERIES, kind=kind, rng=seed).images
            ]
            found = _compute_p_values(catalogue, kind, images)
            title = f"{kind} of a mark that is absent"
            yield from _count_shares(title, found)
            steps = np.arange(1, n_marks + 2) / (n_marks + 1)
            distance = float(stats.ks_2samp(found, steps).statistic)
            limit = float(stats.kstwobign.ppf(0.95)) * np.sqrt(1 / n_marks + 1 / len(found))
            yield f"{title}: Kolmogorov distance from the uniform distribution, of {len(found)}", distance, "≤", limit
        for kind in LIMITS:
            images = list(marks.queries(N_QUERIES, kind=kind, rng=100).images)
            yield from _count_shares(f"{kind} of a mark that is present", _compute_p_values(catalogue, kind, images))


def _compute_p_values(catalogue: Catalogue, kind: str, images: list[NDArray[np.float32]]) -> NDArray[np.float64]:
    """Return the p-values of the best matches."""
    found = [
        catalogue.search(make_page(kind, image), kind=choose_ink_kind(kind)).matches[0].p_value for image in images
    ]
    return np.array([np.nan if each is None else each for each in found])


def _count_shares(title: str, found: NDArray[np.float64]) -> Iterator[Row]:
    """Return the share of p-values up to each level."""
    for level in LEVELS:
        yield f"{title}: p-value up to {level:g}", float(np.mean(found <= level)), "≤", np.inf


def measure_addition() -> Iterator[Row]:
    """Measure how fast two processes add drawings of 512 × 512 pixels, including decoding."""
    with tempfile.TemporaryDirectory() as name:
        save_marks(datasets.watermarks(2000, seed=2), Path(name) / "marks", 512, 8.0)
        with Catalogue(Path(name) / "marks.db", create=True) as catalogue:
            begin = time.perf_counter()
            done = catalogue.add(Path(name) / "marks", n_jobs=2)
            seconds = time.perf_counter() - begin
        yield "drawings of 512 × 512 pixels added per second, two processes", done.added / seconds, "≥", 100
        size = (Path(name) / "marks.db").stat().st_size / done.added
        yield "kilobytes of the catalogue per entry", size / 1000, "≤", np.inf


def measure_large() -> Iterator[Row]:
    """Measure a large catalogue of marks drawn at 128 × 128 pixels, which a separate process searches."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "large.db"
        begin = time.perf_counter()
        _make_large(path)
        yield f"{N_LARGE:,} entries: seconds to make the catalogue", time.perf_counter() - begin, "≤", np.inf
        yield f"{N_LARGE:,} entries: gigabytes of the file", path.stat().st_size / 1e9, "≤", np.inf
        code = f"from benchmarks.catalogue import search_large; search_large({str(path)!r})"
        command, root = [sys.executable, "-c", code], Path(__file__).parents[1]
        lines = subprocess.run(command, capture_output=True, text=True, check=True, cwd=root).stdout
        for line in lines.splitlines():
            title, figure, sign, limit = line.split("\t")
            yield f"{N_LARGE:,} entries: {title}", float(figure), sign, float(limit)


def _make_large(path: Path) -> None:
    """Make the large catalogue. Image files are left out: descriptors and thumbnails are stored directly."""
    marks = datasets.watermarks(N_LARGE, seed=5)
    with Catalogue(path, create=True) as catalogue:
        store = catalogue._store
        for start in range(0, N_LARGE, 500):
            images = [draw(mark.lines, size=128, line_width=2) for mark in marks[start : start + 500]]
            found = radoncdt.describe(images, **asdict(DESCRIPTOR_SETTINGS))
            entries = []
            for k, image in enumerate(images):
                number, (height, width) = start + k, image[ink_box(image)].shape
                entry = Entry(0, f"{number:064x}", f"{number}.png", "{}", 128, 128, width, height, "")
                entries.append(NewEntry(entry, make_thumbnail(image), *pack_descriptor(found[k])))
            with store.transaction() as transaction:
                transaction.put([(entry, {"motif": marks[start + k].motif}) for k, entry in enumerate(entries)])
        store_summaries(store)


def measure_bounds() -> Iterator[Row]:
    """Measure the part of a search that grows with the catalogue: bounds of all entries, and their order.

    The summaries are random.
    """
    for count in (100_000, 1_000_000):
        summaries = np.random.default_rng(0).normal(size=(33, count)).astype(np.float32)
        norms = np.linalg.norm(summaries, axis=0)
        seconds = []
        for _ in range(5):
            begin = time.perf_counter()
            np.argsort(lower_bounds(summaries[:, 0].astype(float), summaries, norms), kind="stable")
            seconds.append(time.perf_counter() - begin)
        yield f"seconds for bounds and order of {count:,} entries", min(seconds), "≤", np.inf
        yield f"gigabytes of the summaries of {count:,} entries", summaries.nbytes / 1e9, "≤", np.inf


def search_large(path: str) -> None:
    """Search the large catalogue and print its rows of figures, separated by tabs."""
    marks = datasets.watermarks(2000, seed=5)
    radoncdt.describe(marks[0].image())  # loads the kernels before the measurement
    begin = time.perf_counter()
    catalogue = Catalogue(path)
    catalogue.open()
    print("seconds to open", time.perf_counter() - begin, "≤", 1, sep="\t")
    begin = time.perf_counter()
    catalogue.calibrate()
    print("seconds to calibrate", time.perf_counter() - begin, "≤", np.inf, sep="\t")
    for kind, limit in (("drawing", 0.2), ("photograph", np.inf)):
        seconds, ranks, compared = [], [], []
        queries = marks.queries(N_LARGE_QUERIES, kind=kind, rng=0)
        for number, (image, mark) in enumerate(zip(queries.images, queries.marks)):
            query = make_page(kind, image)
            begin = time.perf_counter()
            found = catalogue.search(query, kind=choose_ink_kind(kind))
            if number >= 10:  # the first queries load modules and fill caches
                seconds.append(time.perf_counter() - begin)
            compared.append(found.compared)
            ranks.append(int(mark) + 1 in [match.entry for match in found.matches[:1]])
        if kind == "drawing":
            _print_growth(catalogue, [make_page(kind, image) for image in queries.images[10:]])
        print(f"seconds per search, {kind}, including ink detection, median", np.median(seconds), "≤", limit, sep="\t")
        print(f"seconds per search, {kind}, including ink detection, mean", np.mean(seconds), "≤", np.inf, sep="\t")
        tail = np.quantile(seconds, 0.9)
        print(f"seconds per search, {kind}, including ink detection, 90 % quantile", tail, "≤", np.inf, sep="\t")
        print(f"entries compared, {kind}, median", np.median(compared), "≤", np.inf, sep="\t")
        print(f"the right mark is ranked first, {kind}, of {len(ranks)}", np.mean(ranks), "≥", -np.inf, sep="\t")
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print("peak memory of the process, GB", memory, "≤", 1.5, sep="\t")
    catalogue.close()


def _print_growth(catalogue: Catalogue, pages: list[NDArray[np.uint8]]) -> None:
    """Print how many entries are compared per drawing, of the first tenth and of all, and how long that takes."""
    counts, seconds = [], []
    with catalogue._open_index() as (snapshot, index):
        some = index.numbers[: len(index.numbers) // 10]
        for image in pages:
            query = radoncdt.describe(find_ink(image, kind="drawing"), **asdict(DESCRIPTOR_SETTINGS))
            few = index.find_nearest(snapshot, query, MIN_FITTED, among=some, limits=DEFAULT_LIMITS).n_compared
            begin = time.perf_counter()
            all_ = index.find_nearest(snapshot, query, MIN_FITTED, limits=DEFAULT_LIMITS).n_compared
            seconds.append(time.perf_counter() - begin)
            counts.append((few, all_))
    few, all_ = np.sum(counts, axis=0)
    print("entries compared in a tenth of the catalogue, drawing, mean", few / len(pages), "≤", np.inf, sep="\t")
    print("entries compared in all of the catalogue, drawing, mean", all_ / len(pages), "≤", np.inf, sep="\t")
    print("seconds to find the nearest, drawing, mean", np.mean(seconds), "≤", np.inf, sep="\t")


PARTS: Parts = {
    "recognition": [measure_recognition],
    "ranking": [measure_ranking],
    "p_value": [measure_p_values],
    "addition": [measure_addition],
    "bounds": [measure_bounds],
    "large": [measure_large],
}


def main(arguments: Sequence[str]) -> int:
    return run_parts(__name__, __doc__, PARTS, arguments, RESULTS)
