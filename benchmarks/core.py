"""Accuracy and speed of the core: every figure that the documentation states, with its limit.

    python -m benchmarks core             everything, about two minutes
    python -m benchmarks core accuracy    mass, adjoint, closed forms, invariances
    python -m benchmarks core speed       scikit-image in the same run, drawings, threads
    python -m benchmarks core memory      10,000 images from a memory-mapped array
    python -m benchmarks core import      the time that the import takes

The exit code is 1 if a figure misses its limit.
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import radoncdt
from benchmarks.closed_forms import CLOSED_FORMS, sample
from benchmarks.images import dense, drawing, silhouette
from benchmarks.report import Parts, Row, run_parts
from benchmarks.timing import compute_speed_ratio, time_interleaved

Array = NDArray[Any]
ROOT = Path(__file__).parents[1]  # the folder in which Python finds this package


# ---------------------------------------------------------------- accuracy


def measure_mass_and_adjoint() -> Iterator[Row]:
    """Measure how exactly projections keep the mass, and whether the back projection is their adjoint."""
    rng = np.random.default_rng(1)
    angles = np.concatenate([radoncdt.equispaced_angles(16), rng.uniform(-7, 7, 8), [1e-9, np.pi / 4 + 1e-9]])
    for dtype, limit in ((np.float32, 1e-5), (np.float64, 1e-12)):
        worst_mass = worst_adjoint = 0.0
        pixel = np.zeros((1024, 1024))
        pixel[3, 1000] = 0.7
        shapes = [(1024, 1024), (1, 1024), (700, 3), (1, 1), (255, 129)]
        images = [pixel, np.full((1024, 1024), 1 / 3), np.full((1024, 300), 0.1), *(rng.random(s) for s in shapes)]
        for image in (each.astype(dtype) for each in images):
            masses, edges = radoncdt.radon(image, angles=angles)
            total = image.sum(dtype=float)
            worst_mass = max(worst_mass, np.abs(masses.sum(-1, dtype=float) / total - 1).max())
            g = rng.normal(size=masses.shape).astype(dtype)
            back = radoncdt.back_projection(g, edges, angles, image.shape)
            gap = np.vdot(masses.astype(float), g) - np.vdot(image.astype(float), back)
            scale = np.linalg.norm(masses.astype(float)) * np.linalg.norm(g.astype(float))
            worst_adjoint = max(worst_adjoint, abs(gap) / scale)
        yield f"mass of a projection, relative error, {dtype.__name__}", worst_mass, "≤", limit
        yield f"adjoint, error relative to the product of the norms, {dtype.__name__}", worst_adjoint, "≤", limit


def measure_closed_forms() -> Iterator[Row]:
    """Measure errors of NR-CDTs that are known in closed form."""
    n = 128
    angles, levels = radoncdt.equispaced_angles(32), radoncdt.quantile_levels(64)
    inside = (levels > 0.01) & (levels < 0.99)
    limits = {"disc": 0.005, "square rotated by 20°": 0.010, "Gaussian rotated by 35°": 0.010}
    for form in CLOSED_FORMS:
        truth = form.nrcdt(angles, levels)
        for dtype in (np.float32, np.float64):
            values = radoncdt.nrcdt(sample(form.density, n).astype(dtype), n_angles=32, n_levels=64)
            error = np.abs(values - truth)[:, inside].max()
            yield f"NR-CDT of a {form.name}, largest error, {dtype.__name__}", error, "≤", limits.get(form.name, np.inf)


def measure_invariances() -> Iterator[Row]:
    """Measure how features change with padding, intensity, threads, batches and affine maps."""
    rng = np.random.default_rng(2)
    images = [drawing(256), silhouette(400), dense(60), dense(33, np.float64), np.eye(1)]
    different = 0.0
    for image in images:
        features = [radoncdt.nrcdt(image), radoncdt.max_nrcdt(image)]
        for _ in range(20):
            padded = np.pad(image, rng.integers(0, 40, (2, 2)))
            different += sum(
                np.count_nonzero(f != g) for f, g in zip(features, [radoncdt.nrcdt(padded), radoncdt.max_nrcdt(padded)])
            )
    yield "features in which zero padding changes a bit", float(different), "≤", 0

    change = 0.0
    for image in images[:4]:
        for scale in (3, 1e-4, 0.7, 255, 1e20):
            scaled = (image * scale).astype(image.dtype)
            change = max(change, np.abs(radoncdt.nrcdt(scaled) - radoncdt.nrcdt(image)).max())
    yield "features, largest change when the intensity is scaled", change, "≤", 1e-6

    stack = np.stack([dense(64), drawing(64)] * 10)
    one = radoncdt.nrcdt(stack, n_jobs=1)
    others = [
        radoncdt.nrcdt(stack, n_jobs=2),
        radoncdt.nrcdt(list(stack)),
        np.stack([radoncdt.nrcdt(x) for x in stack]),
    ]
    yield (
        "features in which threads or batches change a bit",
        float(sum(np.count_nonzero(o != one) for o in others)),
        "≤",
        0,
    )

    worst = 0.0
    levels = radoncdt.quantile_levels(64)
    for _ in range(200):
        weights = rng.random(37) + 0.1
        cloud = radoncdt.PointCloud(rng.normal(size=(37, 2)), weights)
        turn, other = (np.linalg.qr(rng.normal(size=(2, 2)))[0] for _ in range(2))
        matrix = turn @ np.diag([1, 1 / rng.uniform(1, 100)]) @ other * rng.uniform(0.1, 10)
        moved = radoncdt.push_forward(cloud, matrix, rng.uniform(-10, 10, 2))
        angles = rng.uniform(0, 2 * np.pi, 16)
        theta = np.stack([np.cos(angles), np.sin(angles)], axis=1) @ matrix
        turned = np.arctan2(theta[:, 1], theta[:, 0])
        gap = np.abs(radoncdt.nrcdt(moved, angles=angles) - radoncdt.nrcdt(cloud, angles=turned))
        order = np.argsort(cloud.points @ np.stack([np.cos(turned), np.sin(turned)]), axis=0)
        cumulated = np.cumsum(weights[order], axis=0) / weights.sum()
        clear = np.abs(cumulated.T[:, :, None] - levels).min(axis=1) > 1e-9
        worst = max(worst, gap[clear].max())
    yield "Prop. 5 for points, cond(A) ≤ 100, largest error", worst, "≤", 1e-9


# ---------------------------------------------------------------- speed, memory, import


def measure_speed() -> Iterator[Row]:
    """Measure the speed of the mNR-CDT, and compare it with the Radon transform of scikit-image."""
    from skimage.transform import radon

    full, sparse = dense(256), drawing(256)
    stacks = np.stack([full] * 32), np.stack([sparse] * 32)
    degrees = np.linspace(0, 180, 128, endpoint=False)
    transform = partial(radoncdt.max_nrcdt, n_angles=128, n_levels=64, directions="equispaced")
    times = time_interleaved(
        {
            "scikit-image, Radon transform alone": lambda: radon(full, degrees, circle=False),
            "dense image": lambda: transform(full, n_jobs=1),
            "drawing": lambda: transform(sparse, n_jobs=1),
            "32 dense images": lambda: transform(stacks[0], n_jobs=1),
            "32 drawings": lambda: transform(stacks[1], n_jobs=1),
            "32 dense images, two threads": lambda: transform(stacks[0], n_jobs=2),
        },
        rounds=15,
    )
    print(f"\nmNR-CDT, 256 × 256, float32, 128 angles, 64 levels; {sparse.mean():.1%} ink in the drawing. Medians:")
    for name, seconds in times.items():
        print(f"  {name:40s} {np.median(seconds) * 1e3:9.3f} ms   (fastest {seconds.min() * 1e3:.3f})")

    skimage = compute_speed_ratio(times, "scikit-image, Radon transform alone", "dense image")
    yield "time of scikit-image's Radon transform alone / time of the mNR-CDT", skimage, "≥", 100
    yield "time of a dense image / time of a drawing", compute_speed_ratio(times, "dense image", "drawing"), "≥", 3
    yield (
        "time of 32 dense images / time of 32 drawings",
        compute_speed_ratio(times, "32 dense images", "32 drawings"),
        "≥",
        3,
    )
    yield (
        "time of one thread / time of two threads",
        compute_speed_ratio(times, "32 dense images", "32 dense images, two threads"),
        "≥",
        1.7,
    )


def measure_memory() -> Iterator[Row]:
    """Measure the memory of a transform in a separate process; see memory_of_features.py."""
    n = 10_000
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "images.npy"
        images = np.lib.format.open_memmap(path, "w+", np.uint8, (n, 256, 256))
        rng = np.random.default_rng(0)
        for start in range(0, n, 500):
            images[start : start + 500] = rng.integers(0, 255, (500, 256, 256), np.uint8)
        del images
        command = [sys.executable, "-m", "benchmarks.memory_of_features", str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    yield "memory for features of 10,000 images beyond input and output, MB", float(done.stdout), "≤", 300


def measure_import_time() -> Iterator[Row]:
    """Measure the time that the import takes beyond that of NumPy."""

    def measure_seconds(code: str) -> float:
        times = []
        for _ in range(7):
            begin = time.perf_counter()
            subprocess.run([sys.executable, "-c", code], check=True)
            times.append(time.perf_counter() - begin)
        return float(np.median(times))

    beyond = measure_seconds("import radoncdt") - measure_seconds("import numpy")
    yield "import radoncdt beyond import numpy, s", beyond, "≤", 0.3


PARTS: Parts = {
    "accuracy": [measure_mass_and_adjoint, measure_closed_forms, measure_invariances],
    "speed": [measure_speed],
    "memory": [measure_memory],
    "import": [measure_import_time],
}


def main(arguments: Sequence[str]) -> int:
    return run_parts(__name__, __doc__, PARTS, arguments)
