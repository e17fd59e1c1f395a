"""``radoncdt transform``."""

import argparse
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import radoncdt
from radoncdt._csv import encode_table
from radoncdt._files import write_atomically
from radoncdt._plan import DIRECTIONS
from radoncdt._pooling import N_COMPONENTS, POOLS, SAMPLED_POOLS, WHITENED_POOLS, check_pool
from radoncdt._validation import ArgumentValueError
from radoncdt.cli.inputs import add_files_argument, list_files, read_images
from radoncdt.cli.messages import complain, say
from radoncdt.cli.options import add_feature_options, add_ink_options, read_ink_options, whole_number
from radoncdt.cli.outputs import check_outputs, write_bytes
from radoncdt.matching.settings import ROBUST

__all__ = ["EPILOG", "add_options", "run"]

_BATCH = 64  # images that are transformed together

EPILOG = """\
The .npz file contains the arrays paths, features (n, …), angles (in radians) and levels, and the texts pool, directions
and moments; read it with numpy.load. The .csv file has one row per image: the file, then one column per feature, named
after its direction and level. If files cannot be read, the command names and omits them, and the exit status is 1.

examples:
  radoncdt transform tracings/*.png --out features.npz
  radoncdt transform tracings/ --pool none --angles 32 --out features.csv
  radoncdt transform photographs/ --kind watermark --robust --out features.npz
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    add_files_argument(parser)
    add_ink_options(parser)
    defaults = radoncdt.NormalizedRadonCDT()
    group = add_feature_options(parser, defaults, with_robust=True)
    pools = [*POOLS, *WHITENED_POOLS]
    text = f"how to pool over the circle: {', '.join(pools)}, or none for the whole NR-CDT (default %(default)s)"
    group.add_argument("--pool", choices=[*pools, "none"], default=defaults.pool, metavar="POOL", help=text)
    text = f"values per level of the pools {' and '.join(WHITENED_POOLS)} (default {N_COMPONENTS})"
    group.add_argument("--components", type=whole_number, metavar="N", help=text)
    group.add_argument(
        "--directions",
        choices=DIRECTIONS,
        default=defaults.directions,
        help="equispaced, as in the paper, or whitened, which affine maps change less; auto: equispaced for the pools "
        f"{', '.join(SAMPLED_POOLS)} and none, whitened for the others (default %(default)s)",
    )
    output = parser.add_argument_group("output")
    output.add_argument(
        "--out", type=Path, required=True, metavar="FILE", help="the file to write, which ends in .npz or .csv"
    )


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    ink = read_ink_options(options)
    transformer = _make_transformer(options)
    paths = list_files("files", options.files)
    check_outputs(options, paths, out=[".npz", ".csv"])
    names: list[str] = []
    parts: list[NDArray[np.float64]] = []
    images = read_images(paths, ink, options.on_progress, "transforming images")
    while batch := list(islice(images, _BATCH)):
        names += [str(path) for path, _ in batch]
        parts.append(transformer.transform([image for _, image in batch]))
    if not names:
        complain(f"none of {len(paths)} files could be read; {options.out} is not written")
        return 1
    features = np.concatenate(parts)
    _write(options, transformer, names, features)
    n_refused = len(paths) - len(names)
    refused = f", {n_refused} refused" if n_refused else ""
    say(f"{options.out}: {features.shape[1]} features of {len(names)} images{refused}")
    return 1 if n_refused else 0


def _make_transformer(options: argparse.Namespace) -> radoncdt.NormalizedRadonCDT:
    """Return the transformer that the options describe, fitted so that it refuses wrong ones before images are read."""
    pool = None if options.pool == "none" else options.pool
    if pool is not None:
        check_pool(pool, options.components, options.angles)
    elif options.components is not None:
        raise ArgumentValueError("components", "applies only to the pools sorted and fourier, got the pool 'none'")
    transformer = radoncdt.NormalizedRadonCDT(
        options.angles,
        options.levels,
        pool,
        n_components=options.components,
        directions=options.directions,
        n_jobs=options.jobs,
        **(ROBUST if options.robust else {}),
    )
    return transformer.fit([[[1]]])


def _write(
    options: argparse.Namespace,
    transformer: radoncdt.NormalizedRadonCDT,
    names: list[str],
    features: NDArray[np.float64],
) -> None:
    """Write the features to a file of the format that its ending names."""
    if options.out.suffix.lower() == ".csv":
        rows = ([name, *row] for name, row in zip(names, features.tolist()))
        write_bytes(options.out, encode_table(["file", *transformer.get_feature_names_out()], rows))
        return
    angles, levels = transformer.angles_, transformer.levels_
    values = features if transformer.pool else features.reshape(len(features), angles.size, levels.size)
    how = {"pool": options.pool, "directions": transformer.directions_, "moments": transformer.moments}
    save = partial(np.savez_compressed, paths=names, features=values, angles=angles, levels=levels, **how)
    write_atomically(options.out, save)
