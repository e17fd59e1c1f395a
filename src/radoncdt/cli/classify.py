"""``radoncdt classify``."""

import argparse
from pathlib import Path

import radoncdt
from radoncdt._validation import ArgumentValueError
from radoncdt.cli.messages import complain, say
from radoncdt.cli.options import (
    add_count_options,
    add_ink_options,
    add_jobs_option,
    add_map_options,
    make_limits,
    read_ink_options,
    whole_number,
)
from radoncdt.cli.outputs import check_different, check_figure, check_output, write_bytes, write_figure
from radoncdt.cli.progress import Bar
from radoncdt.folders import Predictions, classify_folders, copy_to_classes
from radoncdt.ink import image_files
from radoncdt.matching.plausible import Plausible
from radoncdt.matching.settings import ROBUST, DescriptorSettings

EPILOG = """\
The folders in TRAIN_DIR are the classes, each with one or more images. Where images of a TEST folder are in folders
with the names of classes, their classes are known, and the accuracy is printed for each class.

examples:
  radoncdt classify examples/ unknown/ --out predictions.csv
  radoncdt classify examples/ a.png b.png --neighbors 3 --copy-to sorted/
  radoncdt classify examples/ known/ --no-mirror --confusion confusion.png
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("train", type=Path, metavar="TRAIN_DIR", help="a folder whose folders are the classes")
    parser.add_argument("test", type=Path, nargs="+", metavar="TEST", help="image files, or folders of them")
    parser.add_argument(
        "--neighbors",
        type=whole_number,
        default=1,
        metavar="N",
        help="number of nearest examples that vote for a class (default %(default)s)",
    )
    add_ink_options(parser)
    add_map_options(parser, Plausible())
    features = parser.add_argument_group("features")
    add_count_options(features, n_angles=DescriptorSettings.n_angles, n_levels=DescriptorSettings.n_levels)
    add_jobs_option(features)
    group = parser.add_argument_group("output")
    group.add_argument(
        "--out",
        type=Path,
        default=Path("predictions.csv"),
        metavar="FILE.csv",
        help="write a table of the predictions (default %(default)s)",
    )
    group.add_argument("--copy-to", type=Path, metavar="DIR", help="copy each file into the folder DIR/CLASS")
    group.add_argument("--confusion", type=Path, metavar="FILE.png", help="draw the confusion matrix of known classes")


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    ink, limits = read_ink_options(options), make_limits(options)
    settings = DescriptorSettings(options.angles, options.levels, **ROBUST)
    inputs = [*image_files([options.train, *options.test]), options.mask]
    check_output(options.out, "out", inputs=inputs)
    check_figure(options.confusion, "confusion", inputs=inputs)
    check_different(out=options.out, confusion=options.confusion)
    if options.copy_to is not None and options.copy_to.exists() and not options.copy_to.is_dir():
        raise ArgumentValueError("copy_to", f"must be a folder, got the file {options.copy_to}")
    with Bar() as bar:
        found = classify_folders(
            options.train,
            options.test,
            n_neighbors=options.neighbors,
            limits=limits,
            settings=settings,
            n_jobs=options.jobs,
            on_progress=bar,
            **ink,
        )
        write_bytes(options.out, found.table())
        if options.copy_to is not None:
            copies = copy_to_classes(found, options.copy_to, on_progress=bar)
    for message in found.refused:
        complain(message)
    _print_accuracies(found)
    if options.confusion is not None:
        _draw_confusion(options.confusion, found)
    if options.copy_to is not None:
        say(f"{options.copy_to}: {len(copies):,} files copied")
    _print_counts(options.out, found)
    return 1 if found.refused else 0


def _print_counts(out: Path, found: Predictions) -> None:
    n_without = sum(row.predicted is None for row in found.rows)
    without = f", {n_without:,} without a class" if n_without else ""
    refused = f", {len(found.refused):,} refused" if found.refused else ""
    say(f"{out}: {len(found.rows):,} images, {len(found.classes):,} classes{without}{refused}")


def _print_accuracies(found: Predictions) -> None:
    accuracies = found.accuracies
    if accuracies:
        n_right, n_known = map(sum, zip(*accuracies.values()))
        for name, (right, count) in [*accuracies.items(), ("all", (n_right, n_known))]:
            say(f"{name:30} {right:5} of {count:5} right, {right / count:.3f}")


def _draw_confusion(path: Path, found: Predictions) -> None:
    if found.accuracies:
        write_figure(path, radoncdt.plot.confusion(found.confusion(), found.classes).figure)
        say(str(path))
    else:
        complain("no image is in a folder with the name of a class; --confusion draws nothing")
