"""Invariance of the features under affine maps, for each pool, each number of angles, and both kinds of directions.

    python -m benchmarks pools

The error is the root mean square difference between the features of an image and those of its affine copies, relative
to the difference between the features of different images. 0 is perfect invariance. From 1 on, classes cannot be told
apart. The images are the twelve symbols of the paper at 256 pixels, and one image of each digit except 1, which is a
single line, at 56 pixels with softened edges.
"""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter

import radoncdt
from benchmarks.report import make_parser
from radoncdt import datasets
from radoncdt._pooling import POOLS, WHITENED_POOLS

ANGLES = (4, 8, 16, 32, 64, 128)  # numbers of angles
N_COPIES = 8  # affine copies per image
MAPS = datasets.AffineDistribution(scale=(0.6, 1.3), isotropic=False, mirror=True, rotation=180, shear=30, shift=10)


def draw_symbols() -> NDArray[Any]:
    """Draw the twelve symbols."""
    return np.stack(list(datasets.templates(canvas=256).values()))


def load_digits() -> NDArray[Any]:
    """Load one image of each digit except 1, enlarged, padded and softened."""
    mnist = datasets.load_mnist()
    first = np.stack([mnist.first(digit, 1)[0] for digit in range(10) if digit != 1])
    large = first.repeat(2, axis=1).repeat(2, axis=2).astype(np.float32)
    return gaussian_filter(np.pad(large, ((0, 0), (36, 36), (36, 36))), (0, 1, 1))


def measure_error(images: NDArray[Any], copies: NDArray[Any], pool: str, n_angles: int, directions: str) -> float:
    """Measure the change of the features, with all components, relative to the difference between images."""
    options: dict[str, Any] = {"pool": pool, "n_angles": n_angles, "directions": directions}
    options["n_components"] = {"sorted": 2 * n_angles, "fourier": n_angles + 1}.get(pool)
    still, moved = (radoncdt.pooled_nrcdt(some, **options) for some in (images, copies))
    different = ~np.eye(len(still), dtype=bool)
    between = np.mean((still[:, None] - still)[different] ** 2)
    return float(np.sqrt(np.mean((moved - still.repeat(N_COPIES, axis=0)) ** 2) / between))


def main(arguments: Sequence[str]) -> int:
    make_parser(__name__, __doc__).parse_args(arguments)
    warnings.simplefilter("error")
    better = compared = 0
    for name, images in (("symbols", draw_symbols()), ("digits", load_digits())):
        copies, _ = datasets.random_affine(images.repeat(N_COPIES, axis=0), MAPS, 0)
        print(f"{name:16s} {'angles':>12s}" + "".join(f"{n:10d}" for n in ANGLES))
        for pool in (*POOLS, *WHITENED_POOLS):
            errors = {
                directions: [measure_error(images, copies, pool, n, directions) for n in ANGLES]
                for directions in ("equispaced", "whitened")
                if pool in POOLS or directions == "whitened"
            }
            for directions, row in errors.items():
                print(f"{pool:16s} {directions:>12s}" + "".join(f"{value:10.3f}" for value in row), flush=True)
            if pool in POOLS:
                better += sum(w < e for e, w in zip(*errors.values()))
                compared += len(ANGLES)
        print()
    print(f"whitened directions have the smaller error in {better} of {compared} cases")
    return 0
