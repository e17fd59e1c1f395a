"""Rotations: how often registration finds that of shapes that are redrawn, bent, or drawn by another person.

    python -m benchmarks turns [digits] [symbols] [marks]

The rotation is right if the whitened shape is rotated within 30° of the true rotation, and mirrored if and only if the
true map mirrors. The refinement of the map cannot mend a wrong rotation; ``register(refine=True)`` chooses among the
peaks by their distortion distances. The standard error is that of the paired difference.
"""

import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import polar
from scipy.ndimage import zoom

import radoncdt
from benchmarks.registration import MIRROR, PLAIN, RESULTS, redraw
from benchmarks.report import Parts, Row, run_parts
from radoncdt import datasets
from radoncdt._geometry import inverse_square_root, square_root
from radoncdt.matching.alignment import find_registration
from radoncdt.matching.plausible import Plausible
from radoncdt.matching.settings import ROBUST

N_CASES = 400
RIGHT = 30.0  # degrees; largest deviation of a right rotation
SYMMETRIC_DIGITS = 0, 1, 8  # these look alike after half a turn


class Case(NamedTuple):
    """Two images, and the true map from one to the other."""

    moving: NDArray[Any]
    fixed: NDArray[Any]
    matrix: NDArray[np.float64]


def make_digits(*, other_person: bool) -> Iterator[Case]:
    """Enlarge and move digits of the same class by another person, or the same digits, bent and with specks."""
    mnist, rng = datasets.load_mnist(), np.random.default_rng(9)
    first = rng.permutation(np.flatnonzero(~np.isin(mnist.labels, SYMMETRIC_DIGITS)))[:N_CASES]
    same = [rng.choice(np.flatnonzero(mnist.labels == mnist.labels[i])) for i in first]
    moving, fixed = (np.stack([_enlarge(mnist.images[i]) for i in some]) for some in (first, same))
    copies, maps = datasets.random_affine(fixed if other_person else moving, PLAIN, 4)
    if not other_person:
        copies = datasets.salt(datasets.elastic(copies, 4), 5)
    yield from map(Case, moving, copies, maps.matrices)


def _enlarge(image: NDArray[Any]) -> NDArray[Any]:
    large = zoom(image.astype(np.float32) / 255, 4, order=1, grid_mode=True, mode="nearest")
    return np.pad(large, 60)


def make_symbols() -> Iterator[Case]:
    """Move and bend the twelve symbols of the paper, and add specks."""
    drawn = np.stack(list(datasets.templates(canvas=256).values()))
    images = drawn[np.arange(N_CASES) % len(drawn)]
    copies, maps = datasets.random_affine(images, PLAIN, 3)
    yield from map(Case, images, datasets.salt(datasets.elastic(copies, 4), 5), maps.matrices)


def make_marks(*, specks: bool) -> Iterator[Case]:
    """Draw moved marks again with the same pen; otherwise bend them too, with another pen and with specks."""
    if specks:
        marks = datasets.watermarks(N_CASES, seed=12)
        queries = marks.queries(N_CASES, kind="specks", rng=5)
        for image, k, matrix in zip(queries.images, queries.marks, queries.maps.matrices):
            yield Case(marks[k].image(), image, matrix)
        return
    marks = datasets.watermarks(N_CASES, seed=11)
    for mark, matrix, shift in zip(marks, *PLAIN.maps(N_CASES, 1)):
        yield Case(mark.image(), redraw(mark, matrix, shift), matrix)


def is_right(matrix: NDArray[Any], case: Case, symmetries: Sequence[NDArray[Any]]) -> bool:
    """Check the rotation and handedness of a map, once both shapes are whitened."""
    covariance = radoncdt.covariance(case.moving)
    root = square_root(covariance)

    def whiten(some: NDArray[Any]) -> NDArray[Any]:
        rotated: NDArray[Any] = polar(inverse_square_root(some @ covariance @ some.T) @ some @ root)[0]
        return rotated

    turns = [whiten(case.matrix @ symmetry).T @ whiten(matrix) for symmetry in symmetries]
    return any(np.linalg.det(turn) > 0 and np.trace(turn) / 2 >= np.cos(np.deg2rad(RIGHT)) for turn in turns)


def compare(name: str, cases: Iterable[Case], *, mirror: bool, robust: bool, symmetric: bool = False) -> Iterator[Row]:
    """Measure how many rotations are right with and without `refine`, and the time."""
    limits = Plausible(reflections=mirror)
    settings = radoncdt.DescriptorSettings(**(ROBUST if robust else {}))
    symmetries = (np.eye(2), MIRROR) if symmetric else (np.eye(2),)
    right: dict[bool, list[bool]] = {False: [], True: []}
    seconds: dict[bool, list[float]] = {False: [], True: []}
    for case in cases:
        for refine in (False, True):
            begin = time.perf_counter()
            found = find_registration(case.moving, case.fixed, limits, settings=settings, refine=refine, n_jobs=1)
            seconds[refine].append(time.perf_counter() - begin)
            right[refine].append(is_right(found.matrix, case, symmetries))
    plain, refined = (np.array(right[refine], float) for refine in (False, True))
    gain = refined - plain
    error = float(gain.std(ddof=1) / np.sqrt(len(gain)))
    name += f", {'robust' if robust else 'exact'}, {'with' if mirror else 'without'} reflections"
    yield f"{name}: right rotations, of {len(gain)}", float(plain.mean()), "≥", -np.inf
    yield f"{name}: right rotations, refined", float(refined.mean()), "≥", float(plain.mean() - 2 * error)
    yield f"{name}: standard error of the difference", error, "≤", np.inf
    yield f"{name}: milliseconds per pair, one thread", float(np.median(seconds[False])) * 1e3, "≤", np.inf
    yield f"{name}: milliseconds per pair, refined", float(np.median(seconds[True])) * 1e3, "≤", np.inf


def measure_digits() -> Iterator[Row]:
    """Measure digits by different people, and digits that are bent and have specks."""
    for mirror in (True, False):
        yield from compare("digits, another person", make_digits(other_person=True), mirror=mirror, robust=False)
    yield from compare("digits, bent, specks", make_digits(other_person=False), mirror=True, robust=True)


def measure_symbols() -> Iterator[Row]:
    """Measure symbols that are bent and have specks. They are their own mirror images."""
    yield from compare("symbols, bent, specks", make_symbols(), mirror=False, robust=True, symmetric=True)


def measure_marks() -> Iterator[Row]:
    """Measure marks that are redrawn, and bent ones with specks."""
    yield from compare("marks, redrawn", make_marks(specks=False), mirror=True, robust=False)
    yield from compare("marks, bent, specks", make_marks(specks=True), mirror=True, robust=True)


PARTS: Parts = {"digits": [measure_digits], "symbols": [measure_symbols], "marks": [measure_marks]}


def main(arguments: Sequence[str]) -> int:
    """Run the parts that the arguments name."""
    return run_parts(__name__, __doc__, PARTS, arguments, RESULTS, store_times=False)
