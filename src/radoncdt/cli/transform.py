"""``radoncdt transform``."""

import argparse
import csv
import io
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

import radoncdt
from radoncdt._csv import guard_row
from radoncdt._files import write_atomically
from radoncdt._plan import DIRECTIONS
from radoncdt._pooling import N_COMPONENTS, POOLS, WHITENED_POOLS, check_pool, choose_directions
from radoncdt._progress import track
from radoncdt._text import escape_unprintable
from radoncdt.cli.messages import complain, say
from radoncdt.cli.options import (
    check_counts,
    check_jobs,
    check_output,
    common_options,
    files,
    in_words_of_the_command,
    inks,
)
from radoncdt.cli.progress import Bar
from radoncdt.matching.descriptors import ROBUST

BATCH = 64
"""Images read before they are transformed together."""


def add_parser(commands: Any) -> None:
    transform = commands.add_parser(
        "transform",
        parents=[common_options()],
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Compute the features of image files and write them to one file, one row per image.",
        epilog="""\
The .npz holds the arrays paths, features (n, …), angles (in radians) and levels, and pool, directions and moments;
read it with numpy.load.
The .csv has a column for the file and one for each feature, named after its direction and level.
Files that cannot be read are named, left out, and make the exit status 1; the rest is written.""",
    )
    transform.add_argument("--out", type=Path, required=True, metavar="FILE", help="features.npz or features.csv")
    transform.add_argument(
        "--pool",
        choices=[*POOLS, *WHITENED_POOLS, "none"],
        default="max",
        metavar="POOL",
        help=f"how to pool over the circle: {', '.join([*POOLS, *WHITENED_POOLS])}, or none for the whole NR-CDT "
        "(default max)",
    )
    transform.add_argument(
        "--components",
        type=int,
        metavar="N",
        help=f"values per level of {' and '.join(WHITENED_POOLS)} (default {N_COMPONENTS})",
    )
    transform.add_argument(
        "--directions",
        choices=DIRECTIONS,
        default="auto",
        help="equispaced, as in the paper, or whitened, which affine maps change less; auto (the default): equispaced "
        "for mean, median and none, and whitened for the other pools",
    )
    transform.add_argument(
        "--robust",
        action="store_true",
        help="robust normalisation, against specks: robust moments, outer levels left out",
    )
    transform.add_argument("--jobs", type=int, default=-1, metavar="N", help="threads (default -1, all cores)")
    transform.set_defaults(run=run, parser=transform)


def run(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    check_counts(options, parser)
    check_jobs(options, parser)
    if options.out.suffix.lower() not in (".npz", ".csv"):
        parser.error(f"--out must end in .npz or .csv, got {options.out}")
    paths = files(options, parser)
    check_output(options.out, parser, inputs=paths)
    pool = None if options.pool == "none" else options.pool
    try:
        if pool:
            check_pool(pool, options.components, options.angles)
            choose_directions(options.directions, pool, None, "exact")
        elif options.components is not None:
            parser.error("--components is for the pools sorted and fourier, got it with 'none'")
    except ValueError as error:
        parser.error(in_words_of_the_command(error))
    transformer = radoncdt.NormalizedRadonCDT(
        options.angles,
        options.levels,
        pool,
        n_components=options.components,
        directions=options.directions,
        n_jobs=options.jobs,
        **(ROBUST if options.robust else {}),
    )
    names: list[str] = []
    parts: list[NDArray[np.float64]] = []
    refused: list[str] = []
    with Bar() as bar:

        def refuse(message: str) -> None:
            refused.append(message)
            bar.write(f"radoncdt: {escape_unprintable(message)}")

        waiting: list[NDArray[np.float32]] = []
        for path, image in inks(track(paths, bar, "reading images"), options.ink, refuse):
            names.append(str(path))
            waiting.append(image)
            if len(waiting) == BATCH:
                parts.append(transformer.fit_transform(waiting))
                waiting = []
        if waiting:
            parts.append(transformer.fit_transform(waiting))
    if not names:
        complain(f"none of {len(paths)} files could be read; {options.out} is not written")
        return 1
    features = np.concatenate(parts)

    def save(file: IO[bytes]) -> None:
        if options.out.suffix.lower() == ".npz":
            angles, levels = transformer.angles_, transformer.levels_
            values = features if pool else features.reshape(len(features), options.angles, levels.size)
            how = {"pool": options.pool, "directions": transformer.directions_, "moments": transformer.moments}
            np.savez_compressed(file, paths=names, features=values, angles=angles, levels=levels, **how)
        else:
            _save_csv(file, names, list(transformer.get_feature_names_out()), features)

    write_atomically(options.out, save)
    left_out = f", {len(refused)} refused" if refused else ""
    say(f"{options.out}: {features.shape[1]} features of {len(names)} images{left_out}")
    return 1 if refused else 0


def _save_csv(file: IO[bytes], names: list[str], columns: list[str], features: NDArray[np.float64]) -> None:
    text = io.TextIOWrapper(file, "utf-8", "surrogateescape", newline="")  # file names may be any bytes
    writer = csv.writer(text)
    writer.writerow(["file", *columns])
    writer.writerows(guard_row([name, *row]) for name, row in zip(names, features.tolist()))
    text.flush()
    text.detach()
