"""``radoncdt classify``."""

import argparse
from pathlib import Path

import radoncdt
from radoncdt._text import format_count
from radoncdt._validation import ArgumentValueError
from radoncdt.cli.messages import complain, say
from radoncdt.cli.options import (
    add_count,
    add_feature_options,
    add_ink_options,
    add_map_options,
    make_limits,
    read_ink_options,
)
from radoncdt.cli.outputs import ANY, FIGURE, check_outputs, write_bytes, write_figure
from radoncdt.folders import Predictions, classify_folders, copy_to_classes
from radoncdt.ink import image_files
from radoncdt.matching.plausible import Plausible
from radoncdt.matching.settings import ROBUST, DescriptorSettings

__all__ = ["EPILOG", "add_options", "run"]

EPILOG = """\
The folders in TRAIN_DIR are the classes, each with one or more images. Where images of a TEST folder are in folders
with the names of classes, their classes are known, and the accuracy is printed for each class.

The table has one row per image: the file, its class if that is known, the predicted class, the distance to the nearest
example of that class, the margin (the distance to the nearest example of any other class, divided by the first one),
and the nearest example of the predicted class.

examples:
  radoncdt classify examples/ unknown/ --out predictions.csv
  radoncdt classify examples/ a.png b.png --neighbors 3 --copy-to sorted/
  radoncdt classify examples/ known/ --no-mirror --confusion confusion.png
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("train", type=Path, metavar="TRAIN_DIR", help="a folder whose folders are the classes")
    parser.add_argument("test", type=Path, nargs="+", metavar="TEST", help="image files, or folders of them")
    add_count(parser, "--neighbors", 1, "number of nearest examples that vote for a class")
    add_ink_options(parser)
    add_map_options(parser, Plausible(), with_prior=True)
    add_feature_options(parser, DescriptorSettings)
    group = parser.add_argument_group("output")
    text = "write a table of the predictions (default %(default)s)"
    group.add_argument("--out", type=Path, default=Path("predictions.csv"), metavar="FILE.csv", help=text)
    group.add_argument("--copy-to", type=Path, metavar="DIR", help="copy each file into the folder DIR/CLASS")
    group.add_argument("--confusion", type=Path, metavar="FILE.png", help="draw the confusion matrix of known classes")


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    ink, limits = read_ink_options(options), make_limits(options)
    settings = DescriptorSettings(options.angles, options.levels, **ROBUST)
    check_outputs(options, image_files([options.train, *options.test]), out=ANY, confusion=FIGURE)
    if options.copy_to is not None and options.copy_to.exists() and not options.copy_to.is_dir():
        raise ArgumentValueError("copy_to", f"must be a folder, got the file {options.copy_to}")
    for folder in (options.train, *options.test) if options.copy_to is not None else ():
        if options.copy_to.resolve().is_relative_to(folder.resolve()):
            raise ArgumentValueError("copy_to", f"must not be inside a folder of images, got {options.copy_to}")
    found = classify_folders(
        options.train,
        options.test,
        n_neighbors=options.neighbors,
        limits=limits,
        prior=options.prior,
        settings=settings,
        n_jobs=options.jobs,
        on_progress=options.on_progress,
        **ink,
    )
    write_bytes(options.out, found.table())
    for message in found.refused:
        complain(message)
    _print_accuracies(found)
    if options.confusion is not None:
        _draw_confusion(options.confusion, found)
    if options.copy_to is not None:
        copies = copy_to_classes(found, options.copy_to, on_progress=options.on_progress)
        say(f"{options.copy_to}: {format_count(len(copies), 'file')} copied")
    counts = {"without a class": sum(row.predicted is None for row in found.rows), "refused": len(found.refused)}
    more = "".join(f", {count:,} {words}" for words, count in counts.items() if count)
    n_images, n_classes = format_count(len(found.rows), "image"), format_count(len(found.classes), "class", "classes")
    say(f"{options.out}: {n_images}, {n_classes}{more}")
    return 1 if found.refused else 0


def _print_accuracies(found: Predictions) -> None:
    """Print the accuracy for each class with known images, and for all together."""
    accuracies = found.accuracies
    if accuracies:
        n_right, n_known = map(sum, zip(*accuracies.values()))
        for name, (right, count) in [*accuracies.items(), ("all", (n_right, n_known))]:
            say(f"{name:30} {right:5} of {count:5} right, {right / count:.3f}")


def _draw_confusion(path: Path, found: Predictions) -> None:
    """Draw the confusion matrix, if the class of any image is known."""
    if found.accuracies:
        write_figure(path, radoncdt.plot.confusion(found.confusion(), found.classes).figure)
        say(str(path))
    else:
        complain("no image is in a folder with the name of a class; --confusion draws nothing")
