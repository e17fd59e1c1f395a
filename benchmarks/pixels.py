"""Accuracy of the pixels in Table 4 under the published protocol with one change at a time.

    python -m benchmarks pixels

This benchmark searches for an explanation of the paper's figures. It prints a table of docs/results/reproduction.md and
stores it in reproduction.json: the mean accuracy over ten draws of seed 0 and, in brackets, the difference from the
paper in standard errors, as `radoncdt reproduce` computes them. The last rows use a single draw: the ten maps of the
authors. ``python -m benchmarks reproduction_page`` then writes it into the page.
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import affine_transform
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

from benchmarks.report import make_parser, make_table, write_json
from benchmarks.reproduction_page import RESULTS
from radoncdt import datasets
from radoncdt.datasets.affine import AffineMaps, move
from radoncdt.reproduction import Cell, Measurement, Summary
from radoncdt.reproduction.labels import format_printed_mean
from radoncdt.reproduction.measurement import summarise
from radoncdt.reproduction.protocol import N_SHARED_MAPS, SOURCES, fit_linear_svm, measure_folds
from radoncdt.reproduction.tables import find_printed

SOURCE = SOURCES["table4"]
SIZES = (10, 50, 250, 500)  # images per class
N_DRAWS = 10
WORD = 2**64  # modulus of the words of Julia's generator
AUTHORS = -1  # number of the draw with the authors' maps
Images = NDArray[np.float64]


def pad_digits(mnist: datasets.Mnist) -> Images:
    """Put the digits on their canvas, before any map."""
    first = [mnist.first(digit, max(SIZES)) for digit in SOURCE.classes["linmnist"]]
    return np.pad(np.concatenate(first) / 255.0, ((0, 0), (14, 14), (14, 14)))


class AuthorsGenerator(np.random.Generator):
    """The random numbers of the authors' maps.

    Their code seeds Julia's generator with i mod 10 before it moves image i, counted from 1. It then draws the scale,
    rounded to hundredths, the angle, clockwise, both shears, and the shifts down and to the right. The direction in
    which a shear acts is not certain.
    """

    def __init__(self) -> None:
        super().__init__(np.random.PCG64(0))

    def random(self, size: Any = None, *_: Any, **__: Any) -> Any:
        """Return numbers in [0, 1), (10, 8), in the order in which `AffineDistribution.maps` uses them."""
        low, high = SOURCE.distribution.scale
        rows = []
        for i in range(1, N_SHARED_MAPS + 1):
            scale, angle, shear_x, shear_y, down, right = draw_julia_numbers(i % N_SHARED_MAPS, 6)
            rounded = (round(low + (high - low) * scale, 2) - low) / (high - low)
            rows.append([rounded, 0, 1 - angle, shear_x, shear_y, right, 1 - down, 0])
        return np.array(rows)


def draw_julia_numbers(seed: int, n: int) -> list[float]:
    """Draw the first n numbers in [0, 1) of Julia's default generator, xoshiro256++ seeded with a SHA-256 digest."""

    def rotate(word: int, by: int) -> int:
        return (word << by | word >> 64 - by) % WORD

    digest = hashlib.sha256(seed.to_bytes(4, "little")).digest()
    a, b, c, d = (int.from_bytes(digest[k : k + 8], "little") for k in range(0, 32, 8))
    numbers = []
    for _ in range(n):
        numbers.append(((rotate((a + d) % WORD, 23) + a) % WORD >> 11) / 2**53)
        c, d = c ^ a, d ^ b
        a, b, c, d = a ^ d, b ^ c, c ^ (b << 17) % WORD, rotate(d, 45)
    return numbers


def draw_maps(distribution: datasets.AffineDistribution, draw: int) -> AffineMaps:
    """Draw one map per image, as `radoncdt.reproduction.protocol.draw_images` does."""
    rng = AuthorsGenerator() if draw == AUTHORS else np.random.default_rng([0, 4, 1, 0, draw])
    few = distribution.maps(N_SHARED_MAPS, rng)
    index = np.arange(2 * max(SIZES)) % N_SHARED_MAPS
    return AffineMaps(*(part[index] for part in few))


def move_once(images: Images, draw: int, distribution: datasets.AffineDistribution = SOURCE.distribution) -> Images:
    """Move every digit by its map, sampled once."""
    return _scale(move(images, draw_maps(distribution, draw), circular=True, stacklevel=None))


def move_and_fit(images: Images, draw: int) -> Images:
    """Move every digit by its map, on a canvas that rotations and shears enlarge, and that is then resized."""
    return move_once(images, draw, replace(SOURCE.distribution, fit_canvas=True))


def move_in_steps(images: Images, draw: int, *, fit_canvas: bool = False) -> Images:
    """Move every digit in three steps, and sample it after each step."""
    still = replace(SOURCE.distribution, scale=(1.0, 1.0), rotation=0.0, shear=0.0, shift=0.0, fit_canvas=fit_canvas)
    whole = SOURCE.distribution
    for step in (
        replace(still, scale=whole.scale),
        replace(still, rotation=whole.rotation),
        replace(still, shear=whole.shear, shift=whole.shift),
    ):
        images = move(images, draw_maps(step, draw), circular=True, stacklevel=None)
    return _scale(images)


def move_to_nearest(images: Images, draw: int) -> Images:
    """Move every digit by its map, and use the value of the nearest pixel."""
    drawn, centre = draw_maps(SOURCE.distribution, draw), np.array(images.shape[1:]) / 2 - 0.5
    flip = np.array([[0, -1], [1, 0]])  # from (x, y), y up, to (row, column)
    moved = []
    for image, matrix, (right, up) in zip(images, drawn.matrices, drawn.shifts.astype(int)):
        back = flip @ np.linalg.inv(matrix) @ flip.T
        picture = affine_transform(image, back, centre - back @ centre, order=0)
        moved.append(np.roll(picture, (-up, right), axis=(0, 1)))
    return _scale(np.stack(moved))


def _scale(images: Images) -> Images:
    """Divide every image by its largest value."""
    return images / images.max(axis=(1, 2), keepdims=True)


def solve_by_liblinear(features: Images, signs: Images) -> Images:
    """Compute the weights by LIBLINEAR's primal solver with its default tolerance, as the authors do."""
    model = LinearSVC(C=1.0, loss="squared_hinge", dual=False, fit_intercept=False, tol=0.01)
    return np.asarray(model.fit(features, signs).coef_[0])


def make_solver(c: float) -> Callable[..., Images]:
    """Make a solver of the linear SVM with the given parameter C."""
    return lambda features, signs: fit_linear_svm(features, signs, c=c)


def list_authors_features(images: Images) -> dict[str, tuple[Images, Callable[..., Images]]]:
    """List the features for the authors' maps, with the solver."""
    return {
        "the authors' ten maps": (move_once(images, AUTHORS), fit_linear_svm),
        "the authors' ten maps, canvas enlarged and resized, sampled after each step": (
            move_in_steps(images, AUTHORS, fit_canvas=True),
            fit_linear_svm,
        ),
    }


def list_changes(images: Images, draw: int) -> dict[str, tuple[Images, Callable[..., Images]]]:
    """List the features for each change in one draw, with the solver."""
    pixels = move_once(images, draw).reshape(len(images), -1)
    ones = np.ones((len(images), 1))
    return {
        "as published": (pixels, fit_linear_svm),
        "intercept, as a constant feature of 1": (np.hstack([pixels, ones]), fit_linear_svm),
        "grey values from 0 to 255": (255 * pixels, fit_linear_svm),
        "C = 0.01": (pixels, make_solver(0.01)),
        "C = 100": (pixels, make_solver(100.0)),
        "LIBLINEAR, primal, tolerance 0.01": (pixels, solve_by_liblinear),
        "digits transposed before the maps": (move_once(images.transpose(0, 2, 1), draw), fit_linear_svm),
        "nearest pixel instead of bilinear": (move_to_nearest(images, draw), fit_linear_svm),
        "sampled after each of three steps": (move_in_steps(images, draw), fit_linear_svm),
        "canvas enlarged and resized": (move_and_fit(images, draw), fit_linear_svm),
        "canvas enlarged and resized, sampled after each step": (
            move_in_steps(images, draw, fit_canvas=True),
            fit_linear_svm,
        ),
    }


def measure_rows(mnist: datasets.Mnist) -> list[list[str]]:
    """Measure all changes; return the header and the rows of the table."""
    images = pad_digits(mnist)
    found: dict[str, dict[int, dict[int, Measurement]]] = {}
    with threadpool_limits(1):  # rounding of matrix products may depend on the number of threads
        for draw in (*range(N_DRAWS), AUTHORS):
            features = list_authors_features(images) if draw == AUTHORS else list_changes(images, draw)
            for name, (values, solver) in features.items():
                for size in SIZES:
                    measurement = measure_folds(values.reshape(len(images), -1), size, solver=solver)
                    found.setdefault(name, {}).setdefault(size, {})[draw] = measurement
    cells = [Cell("table4", "published", "linmnist", "euclidean", None, "svm", None, size) for size in SIZES]
    printed = [find_printed(cell) for cell in cells]
    rows = [["change", *(f"class size {size}" for size in SIZES)], ["paper", *map(format_printed_mean, printed)]]
    for name, sizes in found.items():
        results = [summarise(cell, figure, sizes[cell.class_size]) for cell, figure in zip(cells, printed)]
        rows.append([name, *map(format_result, results)])
    return rows


def format_result(result: Summary[Cell]) -> str:
    """Format the mean and, if there are several draws, the difference from the paper in standard errors."""
    errors = result.standard_errors
    return f"{result.mean:.3f}" + (f" ({errors:+.1f})" if errors is not None else "")


def main(arguments: Sequence[str]) -> int:
    make_parser(__name__, __doc__).parse_args(arguments)
    header, *rows = measure_rows(datasets.load_mnist())
    write_json(RESULTS, json.loads(RESULTS.read_text(encoding="utf-8")) | {"pixels": [header, *rows]})
    print(make_table(header, rows))
    return 0
