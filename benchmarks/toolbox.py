"""Inverses, distances and estimators: every figure that the documentation states, with its limit.

    python -m benchmarks toolbox             everything, about a minute
    python -m benchmarks toolbox inverse     round trips, compared with torchcdt and PyTransKit if they are installed
    python -m benchmarks toolbox distance    sliced Wasserstein distances, compared with closed forms and POT
    python -m benchmarks toolbox estimator   the overhead of the estimator, and of lists of images of different sizes

The exit code is 1 if a figure misses its limit.
"""

import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

import radoncdt
from benchmarks.closed_forms import sample
from benchmarks.report import Parts, Row, run_parts
from benchmarks.timing import compute_speed_ratio, time_interleaved
from radoncdt import PointCloud

Array = NDArray[Any]
N, N_ANGLES = 128, 180  # side of the images, in pixels, and number of angles


# ---------------------------------------------------------------- inverses


def gaussian(x: Array, y: Array) -> Array:
    return np.exp(-((8 * x) ** 2 + (12 * y) ** 2) / 2)


def disc(x: Array, y: Array) -> Array:
    return x**2 + y**2 < 1 / 16


def invert_ours(image: Array) -> Array:
    return radoncdt.inverse_rcdt(radoncdt.rcdt(image, n_angles=N_ANGLES), (N, N))


def invert_torchcdt(image: Array) -> Array:
    import torch
    from torchcdt.functional import ircdt, rcdt

    theta = torch.arange(N_ANGLES, dtype=torch.float32)
    given = torch.as_tensor(image, dtype=torch.float32)[None, None]
    features = rcdt(given, theta=theta, circle=False)
    again = ircdt(features, theta=theta, circle=False, output_size=N)
    return np.asarray(again[0, 0].numpy(), float)


def invert_pytranskit(image: Array) -> Array:
    from pytranskit.optrans.continuous.radoncdt import RadonCDT

    reference = np.ones_like(image)
    transform = RadonCDT(np.arange(N_ANGLES))
    features = transform.forward([0, 1], reference / reference.sum(), [0, 1], image, False)
    return np.asarray(transform.inverse(features, reference / reference.sum(), [0, 1]), float)


def measure_round_trips() -> Iterator[Row]:
    """Measure relative L2 errors of a transform followed by its inverse. Images and results are scaled to mass 1."""
    peers: dict[str, Callable[[Array], Array]] = {"torchcdt": invert_torchcdt, "pytranskit": invert_pytranskit}
    for name, density, limit in (("Gaussian", gaussian, 0.06), ("disc", disc, 0.2)):
        image = sample(density, N)
        image /= image.sum()
        yield (
            f"round trip of a {name}, {N_ANGLES} angles, 64 levels",
            compute_relative_error(invert_ours(image), image),
            "≤",
            limit,
        )
        for peer, transform in peers.items():
            if find_spec(peer):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    again = transform(image)
                yield f"  the same with {peer}", compute_relative_error(again / again.sum(), image), "≤", np.inf


def compute_relative_error(image: Array, truth: Array) -> float:
    return float(np.linalg.norm(image - truth) / np.linalg.norm(truth))


# ---------------------------------------------------------------- distances


def measure_distances() -> Iterator[Row]:
    """Measure errors and speed of sliced Wasserstein distances."""
    rng = np.random.default_rng(0)
    a, b = (PointCloud(rng.normal(size=(200, 2)) * 9, rng.random(200)) for _ in range(2))
    moved = radoncdt.push_forward(a, np.eye(2), [3, 4])
    gap = abs(radoncdt.sliced_wasserstein(a, moved) / np.sqrt(12.5) - 1)
    yield "SW_2 between a cloud and its shift, relative error", gap, "≤", 1e-9
    image = np.zeros((N, N))
    image[30:70, 20:50] = rng.random((40, 30))
    gap = abs(radoncdt.sliced_wasserstein(image, np.roll(image, (-9, 31), (0, 1))) / np.sqrt((81 + 961) / 2) - 1)
    yield "SW_2 between an image and its shift, relative error", gap, "≤", 1e-3

    import ot

    x, y, u, v = a.points, b.points, a.weights / a.weights.sum(), b.weights / b.weights.sum()

    def run_pot() -> Any:
        return ot.sliced_wasserstein_distance(x, y, u, v, n_projections=128, seed=0)

    times = time_interleaved({"pot": run_pot, "ours": lambda: radoncdt.sliced_wasserstein(a, b, n_jobs=1)}, rounds=15)
    faster = compute_speed_ratio(times, "pot", "ours")
    yield "SW_2 of 200 points, 128 directions: time of POT / our time", faster, "≥", -np.inf
    n = 20_000
    _, log = ot.sliced_wasserstein_distance(x, y, u, v, n_projections=n, seed=0, log=True)
    squares = log["projected_emds"]
    standard_error = np.std(squares) / np.sqrt(n)
    gap = abs(radoncdt.sliced_wasserstein(a, b) ** 2 - np.mean(squares)) / standard_error
    yield f"SW_2² compared with POT, {n} random directions, in standard errors of POT", gap, "≤", 4


# ---------------------------------------------------------------- estimators


def measure_estimators() -> Iterator[Row]:
    """Measure the overhead of the estimator, and of lists of images of different sizes."""
    rng = np.random.default_rng(0)
    images = rng.random((1000, 64, 64)).astype(np.float32)
    sizes = rng.integers(48, 81, (1000, 2))
    mixed = [rng.random(size).astype(np.float32) for size in sizes]
    share = sum(image.size for image in mixed) / images.size
    for n_jobs, threads in ((1, "one thread"), (2, "two threads")):
        model = radoncdt.NormalizedRadonCDT(n_jobs=n_jobs).fit(images)
        function = partial(radoncdt.max_nrcdt, n_jobs=n_jobs)
        calls: dict[str, Callable[[], object]] = {
            "function": partial(function, images),
            "estimator": partial(model.transform, images),
            "list": partial(function, list(images)),
            "mixed": partial(function, mixed),
        }
        times = time_interleaved(calls, rounds=15)
        what = f"1,000 images, {threads}"
        over = compute_speed_ratio(times, "estimator", "function") - 1
        yield f"{what}: overhead of the estimator over the function", over, "≤", 0.05
        over = compute_speed_ratio(times, "mixed", "list") / share - 1
        yield f"{what}: overhead of different sizes over equal ones", over, "≤", 0.2


PARTS: Parts = {
    "inverse": [measure_round_trips],
    "distance": [measure_distances],
    "estimator": [measure_estimators],
}


def main(arguments: Sequence[str]) -> int:
    return run_parts(__name__, __doc__, PARTS, arguments)
