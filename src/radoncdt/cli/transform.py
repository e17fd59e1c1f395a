"""``radoncdt transform``."""

import argparse
import csv
import io
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

import radoncdt
from radoncdt._csv import guard_row
from radoncdt._files import write_atomically
from radoncdt._plan import DIRECTIONS
from radoncdt._pooling import N_COMPONENTS, POOLS, WHITENED_POOLS, check_pool
from radoncdt._validation import ArgumentValueError
from radoncdt.cli.inputs import Images, add_files_argument, list_files
from radoncdt.cli.messages import complain, say
from radoncdt.cli.options import (
    add_count_options,
    add_ink_options,
    add_jobs_option,
    add_robust_option,
    read_ink_options,
    whole_number,
)
from radoncdt.cli.outputs import check_output
from radoncdt.cli.progress import Bar
from radoncdt.matching.settings import ROBUST

BATCH = 64  # images that are transformed together

EPILOG = """\
The .npz file holds the arrays paths, features (n, …), angles (in radians) and levels, and the texts pool, directions
and moments; read it with numpy.load. The .csv file has one row per image: the file, then one column per feature, named
after its direction and level. Files that cannot be read are named and left out, and the exit status is then 1.

examples:
  radoncdt transform tracings/*.png --out features.npz
  radoncdt transform tracings/ --pool none --angles 32 --out features.csv
  radoncdt transform photographs/ --kind watermark --robust --out features.npz
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    add_files_argument(parser)
    add_ink_options(parser)
    group = parser.add_argument_group("features")
    add_count_options(group, n_angles=128, n_levels=64)
    group.add_argument(
        "--pool",
        choices=[*POOLS, *WHITENED_POOLS, "none"],
        default="max",
        metavar="POOL",
        help=f"how to pool over the circle: {', '.join([*POOLS, *WHITENED_POOLS])}, or none for the whole NR-CDT "
        "(default %(default)s)",
    )
    group.add_argument(
        "--components",
        type=whole_number,
        metavar="N",
        help=f"values per level of the pools {' and '.join(WHITENED_POOLS)} (default {N_COMPONENTS})",
    )
    group.add_argument(
        "--directions",
        choices=DIRECTIONS,
        default="auto",
        help="equispaced, as in the paper, or whitened, which affine maps change less; auto: equispaced for the pools "
        "mean, median and none, whitened for the others (default %(default)s)",
    )
    add_robust_option(group)
    add_jobs_option(group)
    output = parser.add_argument_group("output")
    output.add_argument("--out", type=Path, required=True, metavar="FILE", help="features.npz or features.csv")


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    ink = read_ink_options(options)
    transformer = _make_transformer(options)
    paths = list_files("files", options.files)
    check_output(options.out, "out", endings=[".npz", ".csv"], inputs=[*paths, options.mask])
    names: list[str] = []
    parts: list[NDArray[np.float64]] = []
    waiting: list[NDArray[np.float32]] = []
    with Bar() as bar:
        images = Images(paths, ink, bar, "transforming images")
        for path, image in images:
            names.append(str(path))
            waiting.append(image)
            if len(waiting) == BATCH:
                parts.append(transformer.transform(waiting))
                waiting.clear()
        if waiting:
            parts.append(transformer.transform(waiting))
    if not names:
        complain(f"none of {len(paths)} files could be read; {options.out} is not written")
        return 1
    features = np.concatenate(parts)
    _write(options, transformer, names, features)
    refused = f", {images.n_refused} refused" if images.n_refused else ""
    say(f"{options.out}: {features.shape[1]} features of {len(names)} images{refused}")
    return 1 if images.n_refused else 0


def _make_transformer(options: argparse.Namespace) -> radoncdt.NormalizedRadonCDT:
    """The transformer that the options describe, fitted so that wrong options are refused before images are read."""
    pool = None if options.pool == "none" else options.pool
    if pool is not None:
        check_pool(pool, options.components, options.angles)
    elif options.components is not None:
        raise ArgumentValueError("components", "is for the pools sorted and fourier, got it with 'none'")
    transformer = radoncdt.NormalizedRadonCDT(
        options.angles,
        options.levels,
        pool,
        n_components=options.components,
        directions=options.directions,
        n_jobs=options.jobs,
        **(ROBUST if options.robust else {}),
    )
    transformer.fit([[[1]]])
    return transformer


def _write(
    options: argparse.Namespace,
    transformer: radoncdt.NormalizedRadonCDT,
    names: list[str],
    features: NDArray[np.float64],
) -> None:
    """Write the features to a file of the format that its ending names."""

    def save(file: IO[bytes]) -> None:
        if options.out.suffix.lower() == ".csv":
            _save_csv(file, names, list(transformer.get_feature_names_out()), features)
            return
        angles, levels = transformer.angles_, transformer.levels_
        values = features if transformer.pool else features.reshape(len(features), angles.size, levels.size)
        how = {"pool": options.pool, "directions": transformer.directions_, "moments": transformer.moments}
        np.savez_compressed(file, paths=names, features=values, angles=angles, levels=levels, **how)

    write_atomically(options.out, save)


def _save_csv(file: IO[bytes], names: list[str], columns: list[str], features: NDArray[np.float64]) -> None:
    text = io.TextIOWrapper(file, "utf-8", "surrogateescape", newline="")  # file names may hold any bytes
    writer = csv.writer(text)
    writer.writerow(["file", *columns])
    writer.writerows(guard_row([name, *row]) for name, row in zip(names, features.tolist()))
    text.flush()
    text.detach()
