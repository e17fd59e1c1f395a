"""Registration, distances and search: accuracy and speed, compared with ORB and RANSAC of scikit-image.

    python -m benchmarks registration [maps] [accuracy] [unrelated] [speed]

maps
    Images are moved by random affine maps (rotation ±180°, scales 0.6 to 1.3, shear ±30°, shift ±20 pixels, half of
    them mirrored) and registered. A case is solved if the matrix is within 1 % of the true one (Frobenius norm) and the
    shift within 0.3 pixels. The symbols are their own mirror images, and both maps count. ORB cannot handle mirror
    images and strong shears. For comparison, easier cases and ten times the tolerance are also measured.
accuracy
    The largest error of the map, in pixels, at a pixel with ink, before and after refinement, for drawings of about 200
    pixels. "Sampled": the copy is interpolated at the centres of its pixels. "Moved": its pixels contain the mass that
    the map moves there. "Stretched": lines are drawn with a pen that the map stretches, and the value of a pixel is the
    covered share of 8 × 8 points, in the drawing and in the copy. "Redrawn": the moved lines are drawn with the same
    pen.
unrelated
    The distances between unrelated shapes, and how many of them are credible.
speed
    Pairs per second, milliseconds per query among 10,000 digits, whether the result is that of the full search, and the
    processor time of the few-shot classifier for 1,000 digits among 100 examples.

All figures except times are stored in registration.json, with those of ``python -m benchmarks turns``. ``python -m
benchmarks registration_page`` makes the tables of docs/results/registration.md from them.
"""

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter, zoom
from scipy.spatial.distance import cdist
from skimage.feature import ORB, match_descriptors
from skimage.measure import ransac
from skimage.transform import AffineTransform

import radoncdt
from benchmarks.images import draw_stretched
from benchmarks.report import Parts, Row, run_parts
from benchmarks.timing import time_interleaved
from radoncdt import datasets
from radoncdt.matching.affine_distance import compute_distances
from radoncdt.matching.alignment import find_registration
from radoncdt.matching.descriptors import compute_spectrum
from radoncdt.matching.plausible import Plausible
from radoncdt.matching.registration import CREDIBLE_DISTANCE
from radoncdt.matching.settings import ROBUST
from radoncdt.reproduction.recognition.sets import draw_set
from radoncdt.reproduction.recognition.stopwatch import Stopwatch

RESULTS = Path(__file__).parent / "registration.json"

# distributions of maps: all maps of the cases, and easy ones without scale, shear and mirroring
MAPS = datasets.AffineDistribution(scale=(0.6, 1.3), isotropic=False, mirror=True, rotation=180, shear=30, shift=20)
EASY = datasets.AffineDistribution(rotation=20, shift=20)
MIRROR = np.diag([-1.0, 1.0])  # the symmetry of all symbols
N_CASES, N_BY_ORB = 408, 96  # pairs of images that are registered, and those that ORB registers

Found = tuple[NDArray[Any], NDArray[Any]]
"""Matrix and shift of a map."""


class Cases(NamedTuple):
    """Images, their copies, the maps between them, and the symmetries that all of the images have."""

    images: NDArray[Any]
    copies: NDArray[Any]
    maps: datasets.AffineMaps
    symmetries: tuple[NDArray[Any], ...]


def make_symbols(maps: datasets.AffineDistribution = MAPS) -> Cases:
    """Draw the twelve symbols of the paper, and move them."""
    drawn = np.stack(list(datasets.templates(canvas=256).values()))
    images = np.tile(drawn, (N_CASES // len(drawn), 1, 1))
    return Cases(images, *datasets.random_affine(images, maps, 0), (np.eye(2), MIRROR))


def make_digits(ones: bool, factor: int, seed: int) -> Cases:
    """Enlarge digits by bilinear interpolation, pad them, and move them."""
    mnist = datasets.load_mnist()
    chosen = np.flatnonzero((mnist.labels == 1) == ones)
    chosen = np.random.default_rng(seed).permutation(chosen)[:N_CASES]
    large = [zoom(mnist.images[i].astype(np.float32), factor, order=1, grid_mode=True, mode="nearest") for i in chosen]
    images = np.pad(np.stack(large), ((0, 0), (50, 50), (50, 50)))
    return Cases(images, *datasets.random_affine(images, MAPS, seed), (np.eye(2),))


def make_finder(reflections: bool = True, **settings: Any) -> Callable[[NDArray[Any], NDArray[Any]], Found]:
    """Make a function that registers two images."""

    def find(moving: NDArray[Any], fixed: NDArray[Any]) -> Found:
        plausible, chosen = Plausible(reflections=reflections), radoncdt.DescriptorSettings(**settings)
        found = find_registration(moving, fixed, plausible, n_jobs=1, settings=chosen)
        return found.matrix, found.shift

    return find


def find_by_orb(moving: NDArray[Any], fixed: NDArray[Any]) -> Found | None:
    """Find the map by ORB and RANSAC; return None if there are too few matches that agree."""
    corners: list[Any] = []
    descriptors: list[Any] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for image in (moving, fixed):
            orb = ORB(n_keypoints=500, fast_threshold=0.05)
            try:
                orb.detect_and_extract(image / image.max())
            except RuntimeError:  # there are no corners
                return None
            corners.append(np.asarray(orb.keypoints)[:, ::-1])  # (column, row)
            descriptors.append(orb.descriptors)
        matches = match_descriptors(descriptors[0], descriptors[1], cross_check=True)
        if len(matches) < 4:
            return None
        pairs = corners[0][matches[:, 0]], corners[1][matches[:, 1]]
        model, inliers = ransac(pairs, AffineTransform, min_samples=3, residual_threshold=2, max_trials=1000, rng=0)
    if not model or inliers is None or inliers.sum() < 4:
        return None
    flip = np.diag([1.0, -1.0])
    centre = (np.array(moving.shape[::-1]) - 1) / 2
    matrix = flip @ model.params[:2, :2] @ flip
    shift = flip @ (model.params[:2, :2] @ centre + model.params[:2, 2] - (np.array(fixed.shape[::-1]) - 1) / 2)
    return matrix, shift


def is_solved(found: Found | None, matrix: NDArray[Any], shift: NDArray[Any], symmetries: Any, easing: float) -> bool:
    """Check a map against the true one, up to a symmetry of the image and within `easing` times the tolerance."""
    if found is None:
        return False
    errors = [np.linalg.norm(found[0] - matrix @ s) / np.linalg.norm(matrix) for s in symmetries]
    return bool(min(errors) <= 0.01 * easing and np.linalg.norm(found[1] - shift) <= 0.3 * easing)


def run_cases(find: Callable[..., Any], what: Cases, count: int) -> tuple[NDArray[np.float64], float]:
    """Measure the shares of solved cases, with the tolerance and with ten times the tolerance, and the milliseconds."""
    find(what.images[0], what.copies[0])
    begin = time.perf_counter()
    found = [find(what.images[i], what.copies[i]) for i in range(count)]
    each = (time.perf_counter() - begin) / count * 1e3
    good = [
        [is_solved(f, what.maps.matrices[i], what.maps.shifts[i], what.symmetries, easing) for easing in (1, 10)]
        for i, f in enumerate(found)
    ]
    return np.mean(good, axis=0), each


def measure_maps() -> Iterator[Row]:
    """Measure how many maps are found, and how fast."""
    for name, what, least in (
        ("symbols, 256 px", make_symbols(), 0.99),
        ("digits except 1, 56 px", make_digits(False, 2, 1), 0.99),
        ("ones, 56 px", make_digits(True, 2, 2), -np.inf),
        ("digits except 1, 28 px", make_digits(False, 1, 3), -np.inf),
        ("symbols, rotation ±20° and shift only", make_symbols(EASY), 0.99),
    ):
        (ours, _), milliseconds = run_cases(make_finder(), what, N_CASES)
        yield f"{name}: solved, of {N_CASES}", ours, "≥", least
        yield f"{name}: milliseconds per pair, one thread", milliseconds, "≤", 8 if "256" in name else np.inf
        (robust, _), milliseconds = run_cases(make_finder(moments="robust", trim=1 / 16), what, N_CASES)
        yield f"{name}: solved with robust moments and trim 1/16", robust, "≥", -np.inf
        yield f"{name}: milliseconds per pair with robust moments", milliseconds, "≤", np.inf
        (orb, eased), milliseconds = run_cases(find_by_orb, what, N_BY_ORB)
        yield f"{name}: solved by ORB and RANSAC, of {N_BY_ORB}", orb, "≥", -np.inf
        yield f"{name}: solved by ORB and RANSAC, with ten times the tolerance", eased, "≥", -np.inf
        yield f"{name}: milliseconds per pair by ORB and RANSAC", milliseconds, "≤", np.inf


# ---------------------------------------------------------------- accuracy

# wide, moderate and similarity maps, none of which mirrors
PLAIN = datasets.AffineDistribution(scale=(0.6, 1.3), isotropic=False, rotation=180, shear=30, shift=20)
MILD = datasets.AffineDistribution(scale=(0.8, 1.2), isotropic=False, rotation=180, shear=10, shift=20)
SIMILAR = datasets.AffineDistribution(scale=(0.6, 1.3), rotation=180, shift=20)
CANVAS, PEN = 560, 4.0
"""Side of the copies, which have room for every map, and width of the lines, in pixels."""
NEAR, WORSE = 0.1, 0.02
"""Error of a good map, and growth of an error that counts as a loss, in pixels."""


def sample(image: NDArray[Any], matrix: NDArray[Any], shift: NDArray[Any]) -> NDArray[Any]:
    """Move an image by interpolation at the centres of the pixels of its copy."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # sampling changes the mass
        return radoncdt.push_forward(image, matrix, shift, shape=(CANVAS, CANVAS))


def move_mass(image: NDArray[Any], matrix: NDArray[Any], shift: NDArray[Any], parts: int = 6) -> NDArray[Any]:
    """Divide every pixel into parts × parts points, move them, and add up their masses."""
    fine = np.kron(image, np.ones((parts, parts)))
    points = list_ink_centres(fine) / parts @ matrix.T + shift
    bins = np.arange(CANVAS + 1) - CANVAS / 2
    return np.histogram2d(-points[:, 1], points[:, 0], bins=(bins, bins), weights=fine[fine > 0])[0]


def list_ink_centres(image: NDArray[Any]) -> NDArray[Any]:
    """Return the centres (n, 2) of the pixels with ink."""
    rows, columns = np.nonzero(image > 0)
    height, width = image.shape
    return np.stack([columns - (width - 1) / 2, (height - 1) / 2 - rows], axis=-1)


def redraw(mark: datasets.Mark, matrix: NDArray[Any], shift: NDArray[Any]) -> NDArray[Any]:
    """Draw the moved lines of a mark with the same pen."""
    lines = [(line * len(mark.image()) / 2 @ matrix.T + shift) / (CANVAS / 2) for line in mark.lines]
    return datasets.draw(lines, size=CANVAS, line_width=PEN)


def make_stretched_pairs(drawings: list[list[NDArray[Any]]], size: int) -> list[tuple[Any, ...]]:
    """Draw lines and stretched copies of them; return both with the maps."""
    pairs = []
    for lines, matrix, shift in zip(drawings, *PLAIN.maps(len(drawings), 0)):
        image = draw_stretched(lines, np.eye(2), np.zeros(2), size, pen=PEN)
        pairs.append((image, draw_stretched(lines, matrix, shift, CANVAS, pen=PEN), matrix, shift))
    return pairs


def draw_polylines(count: int) -> list[list[NDArray[Any]]]:
    """Draw random polylines with four to eight corners in a frame of 200 pixels. None is close to a straight line."""
    rng = np.random.default_rng(0)
    found: list[list[NDArray[Any]]] = []
    while len(found) < count:
        corners = rng.uniform(-92, 92, (rng.integers(4, 9), 2))
        if np.linalg.svd(corners - corners.mean(axis=0), compute_uv=False)[1] > 80:
            found.append([corners])
    return found


def measure_accuracy() -> Iterator[Row]:
    """Measure the errors of maps of drawings before and after refinement."""
    drawings = list(datasets.templates(size=200, line_width=PEN).values())
    marks = datasets.watermarks(60).marks
    pairs: dict[str, list[tuple[Any, ...]]] = {}
    for name, images, make in (
        ("symbols, sampled", drawings * 5, sample),
        ("symbols, moved", drawings * 5, move_mass),
        ("motifs, sampled", [mark.image() for mark in marks], sample),
        ("motifs, moved", [mark.image() for mark in marks], move_mass),
    ):
        pairs[name] = [(image, make(image, *map_), *map_) for image, map_ in zip(images, zip(*PLAIN.maps(60, 0)))]
    side = len(marks[0].image())
    pairs["motifs, stretched"] = make_stretched_pairs(
        [[line * side / 2 for line in mark.lines] for mark in marks], side
    )
    pairs["polylines, stretched"] = make_stretched_pairs(draw_polylines(60), 200)
    for name, maps_ in (("by similarities", SIMILAR), ("by moderate maps", MILD), ("by wide maps", PLAIN)):
        pairs[f"motifs, redrawn, {name}"] = [
            (mark.image(), redraw(mark, *map_), *map_) for mark, map_ in zip(marks, zip(*maps_.maps(60, 1)))
        ]
    for name, cases in pairs.items():
        errors = {}
        for when, find in (("before", find_coarsely), ("after", find_refined)):
            off = np.array([measure_largest_error(find(a, b), a, matrix, shift) for a, b, matrix, shift in cases])
            least = 0.99 if when == "after" and "redrawn" not in name else -np.inf
            yield f"{name}: error in pixels {when} refinement, median", float(np.median(off)), "≤", np.inf
            yield f"{name}: error in pixels {when} refinement, 90 % quantile", float(np.quantile(off, 0.9)), "≤", np.inf
            yield f"{name}: error in pixels {when} refinement, largest", float(off.max()), "≤", np.inf
            share = float(np.mean(off <= NEAR))
            yield f"{name}: share within {NEAR} pixel {when} refinement, of {len(cases)}", share, "≥", least
            errors[when] = off
        worse = float(np.mean(errors["after"] > errors["before"] + WORSE))
        yield f"{name}: share whose error grows by more than {WORSE} pixels", worse, "≤", 0.05
    image, copy = (some[:256, :256] for some in (drawings[0], np.rot90(drawings[0])))
    image, copy = np.pad(image, 28), np.pad(copy, 28).copy()
    times = time_interleaved(
        {"before": lambda: find_coarsely(image, copy), "after": lambda: find_refined(image, copy)}, rounds=10
    )
    yield "a drawing, 256 × 256: milliseconds per pair before refinement", times["before"].min() * 1e3, "≤", 3
    yield "a drawing, 256 × 256: milliseconds per pair after it", times["after"].min() * 1e3, "≤", 8


def find_coarsely(moving: NDArray[Any], fixed: NDArray[Any]) -> Found:
    """Find the map without refinement. Without reflections, shapes that are their own mirror images have one map."""
    first, second = (radoncdt.describe(image, n_jobs=1) for image in (moving, fixed))
    found = find_registration(first, second, Plausible(reflections=False), n_jobs=1)
    return found.matrix, found.shift


find_refined = make_finder(reflections=False)


def measure_largest_error(found: Found, image: NDArray[Any], matrix: NDArray[Any], shift: NDArray[Any]) -> float:
    """Measure the largest error of the map at a pixel with ink, in pixels of the copy."""
    off = list_ink_centres(image) @ (found[0] - matrix).T + found[1] - shift
    return float(np.linalg.norm(off, axis=1).max())


# ---------------------------------------------------------------- unrelated shapes


def measure_unrelated() -> Iterator[Row]:
    """Measure distances between unrelated shapes, and between marks and their copies."""
    symbols = radoncdt.describe(list(datasets.templates().values()))
    marks = datasets.watermarks(200)
    motifs = radoncdt.describe([mark.image() for mark in marks])
    kinds = np.array([mark.motif for mark in marks])
    mnist = datasets.load_mnist()
    chosen = np.random.default_rng(0).permutation(len(mnist.labels))[:200]
    digits, labels = radoncdt.describe(mnist.images[chosen].astype(np.float32)), mnist.labels[chosen]
    distances = radoncdt.affine_distances
    for name, values in (
        ("two symbols", distances(symbols)[np.triu_indices(len(symbols), 1)]),
        ("motifs of two kinds", distances(motifs)[kinds[:, None] < kinds]),
        ("two digits", distances(digits)[labels[:, None] < labels]),
        ("a symbol and a motif", distances(symbols, motifs)),
        ("a motif and a digit", distances(motifs, digits)),
    ):
        yield f"{name}: distance, median", float(np.median(values)), "≤", np.inf
        yield f"{name}: share beyond {CREDIBLE_DISTANCE}", float(np.mean(values > CREDIBLE_DISTANCE)), "≥", -np.inf
    for kind, options in (("drawing", {}), ("drawing", ROBUST), ("specks", ROBUST)):
        queries = marks.queries(200, kind=kind, rng=1)
        entries = motifs if not options else radoncdt.describe([mark.image() for mark in marks], **options)
        found = distances(radoncdt.describe(queries.images, **options), entries)
        own = found[np.arange(len(found)), queries.marks]
        name = f"a mark and its {kind}" + (", robust" if options else "")
        yield f"{name}: distance, median", float(np.median(own)), "≤", np.inf
        yield f"{name}: share beyond {CREDIBLE_DISTANCE}", float(np.mean(own > CREDIBLE_DISTANCE)), "≤", np.inf


def measure_dense() -> Iterator[Row]:
    """Measure the speed of the registration of dense images."""
    grey = gaussian_filter(np.random.default_rng(0).random((256, 256), np.float32), 20)
    grey = (grey - grey.min()) / np.ptp(grey) + 0.01
    turned = np.rot90(grey).copy()
    times = time_interleaved(
        {
            "exact": lambda: radoncdt.register(grey, turned, n_jobs=1),
            "robust": lambda: radoncdt.register(
                grey, turned, n_jobs=1, settings=radoncdt.DescriptorSettings(moments="robust")
            ),
        },
        rounds=10,
    )
    yield "dense images, 256 × 256: milliseconds per pair, one thread", times["exact"].min() * 1e3, "≤", 10
    yield "dense images, 256 × 256: milliseconds per pair with robust moments", times["robust"].min() * 1e3, "≤", np.inf


def measure_speed() -> Iterator[Row]:
    """Measure the speed of distances and of the search, and compare its results with those of the full search."""
    mnist = datasets.load_mnist()
    large = mnist.images.repeat(2, axis=1).repeat(2, axis=2).astype(np.float32)
    padded = np.pad(large, ((0, 0), (36, 36), (36, 36)))
    turned = datasets.AffineDistribution(scale=(0.75, 1), isotropic=False, rotation=180, shift=20)
    sets = [datasets.random_affine(padded, turned, seed)[0] for seed in (0, 1)]
    entries = radoncdt.Descriptors.concatenate([radoncdt.describe(some) for some in sets])
    chosen = np.random.default_rng(0).permutation(len(entries))[:50]
    queries = radoncdt.describe(datasets.random_affine(np.concatenate(sets)[chosen], turned, 2)[0])
    for precision in ("float32", "float64"):
        x, y = queries.astype(precision), entries[:2000].astype(precision)
        times = time_interleaved({"all": lambda x=x, y=y: compute_distances(x, y, Plausible(), 1)}, rounds=5)  # type: ignore[misc]
        per_second = len(x) * len(y) / times["all"].min()
        yield f"thousands of pairs per second, 64 × 64, {precision}, one thread", per_second / 1e3, "≥", 300
        model = radoncdt.AffineNeighbors(10).fit(entries.astype(precision))
        times = time_interleaved({"search": lambda x=x, model=model: model.kneighbors(x)}, rounds=5)  # type: ignore[misc]
        each = times["search"].min() / len(x) * 1e3
        yield f"milliseconds per query, ten of {len(entries)}, {precision}, one thread", each, "≤", 15
        one = time_interleaved({"search": lambda x=x, model=model: model.kneighbors(x[:1])}, rounds=5)["search"].min()  # type: ignore[misc]
        yield f"milliseconds per query, {precision}, one query per call", one * 1e3, "≤", 15
        distances, indices = model.kneighbors(x)
        every = compute_distances(x, entries.astype(precision), Plausible(), 1)
        order = np.argsort(every, axis=1, kind="stable")[:, :10]
        different = (indices != order).sum() + (distances != np.take_along_axis(every, order, axis=1)).sum()
        yield f"neighbours or distances that differ from the full search, {precision}", float(different), "≤", 0

    own = every[np.arange(len(chosen)), chosen]
    yield "distance between a digit and its copy, median", float(np.median(own)), "≤", np.inf
    yield "distance between two digits, median", float(np.median(every)), "≤", np.inf
    yield from measure_bounds(queries, entries, every)


def measure_classification() -> Iterator[Row]:
    """Measure the processor time in which the few-shot classifier learns 100 digits and classifies 1,000."""
    draws = [draw_set("digits", 99, number, datasets.load_mnist(), []) for number in (0, 1)]
    queries = np.concatenate([draw.tested[0] for draw in draws])
    for moments in ("auto", "exact"):
        model = radoncdt.FewShotClassifier(moments=moments, n_jobs=1)
        with Stopwatch() as learning:
            model.fit(*draws[0].choose(10))
        model.predict(queries[:10])
        watches = [Stopwatch() for _ in range(3)]
        for watch in watches:
            with watch:
                model.predict(queries)
        name = f"processor seconds of FewShotClassifier, moments {moments!r}"
        yield f"{name}: {len(queries)} digits among 100 examples", min(each.cpu_seconds for each in watches), "≤", 2
        yield f"{name}: fit", learning.cpu_seconds, "≤", np.inf


def measure_bounds(queries: radoncdt.Descriptors, entries: radoncdt.Descriptors, every: NDArray[Any]) -> Iterator[Row]:
    """Measure how many entries must be compared to find the ten nearest of a query, for each lower bound."""
    tenth = np.sort(every, axis=1)[:, 9:10]

    def circle(some: radoncdt.Descriptors) -> NDArray[Any]:
        return np.concatenate([some.values, -some.values[:, :, ::-1]], axis=1).astype(np.float32)

    def magnitudes(some: radoncdt.Descriptors) -> NDArray[Any]:
        return np.abs(compute_spectrum(some.values)).reshape(len(some), -1)

    def order_statistics(some: radoncdt.Descriptors) -> NDArray[Any]:
        values = np.sort(circle(some), axis=1)
        return values.reshape(len(some), -1) / np.sqrt(values[0].size)

    found = [cdist(features(queries), features(entries)) for features in (magnitudes, order_statistics)]
    for name, bound in (("magnitudes", found[0]), ("sorted values", found[1]), ("both", np.maximum(*found))):
        yield (
            f"entries left by bounds from {name}, of {len(entries)}",
            (bound <= tenth).sum(axis=1).mean(),
            "≤",
            np.inf,
        )


PARTS: Parts = {
    "maps": [measure_maps, measure_dense],
    "accuracy": [measure_accuracy],
    "unrelated": [measure_unrelated],
    "speed": [measure_speed, measure_classification],
}


def main(arguments: Sequence[str]) -> int:
    return run_parts(__name__, __doc__, PARTS, arguments, RESULTS, store_times=False)
