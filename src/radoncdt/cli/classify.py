"""``radoncdt classify``."""

import argparse
from pathlib import Path
from typing import Any

import radoncdt
from radoncdt import _threads
from radoncdt._extras import require
from radoncdt._text import format_count, shorten
from radoncdt._validation import ArgumentValueError
from radoncdt.cli.messages import complain, say
from radoncdt.cli.options import (
    add_feature_options,
    add_ink_options,
    add_map_options,
    add_prior_option,
    make_limits,
    read_ink_options,
    whole_number,
)
from radoncdt.cli.outputs import ANY, FIGURE, check_outputs, write_bytes, write_figure
from radoncdt.folders import Prediction, Predictions, classify_folders, copy_to_classes, report
from radoncdt.folders.decisions import Classifier
from radoncdt.ink import INK_KINDS, image_files
from radoncdt.matching.plausible import Plausible
from radoncdt.matching.prior import PRIORS
from radoncdt.matching.settings import ROBUST, DescriptorSettings

__all__ = ["EPILOG", "add_options", "run"]

EPILOG = """\
The folders in TRAIN_DIR are the classes, each with one or more images. If images of a TEST folder are in folders with
the names of classes, their classes are known, and the command prints the accuracy for each class.

methods:
  few-shot   An image is registered with the examples and compared point by point with the nearest ones, which allows
             for small distortions. The nearest examples vote. If classes have two or more examples, the classifier
             chooses the penalties of maps and whether mirror images count as the same shape. With one example per
             class it cannot choose, so pass the options that apply: --prior upright for characters and symbols that
             are hardly rotated, --prior photograph if they may be rotated but are hardly stretched, --mirror yes for
             shapes seen from both sides.
  neighbors  The nearest registered examples vote. This method is fast and suits rigid shapes. It can reject maps by
             --max-aspect and --max-shear.

The command prints the least certain predictions: the image, the predicted class with its probability p, the second
class, and the example that decided. The table and the report contain all predictions. p only compares the classes with
each other: an image that belongs to none of them may have a large p, but its distance to the deciding example is large,
too. With --method neighbors, p is the share of the votes, and the margin measures the certainty: it is the distance to
the nearest example of another class, divided by the distance to the nearest example of the predicted class.

examples:
  radoncdt classify examples/ unknown/ --report predictions.html
  radoncdt classify symbols/ photographs/ --prior photograph --mirror yes --copy-to sorted/
  radoncdt classify tracings/ photographs/ --example-kind drawing --kind watermark --report predictions.html
  radoncdt classify letters/ page1.png page2.png --prior upright --frame-size 56 --out predictions.csv
  radoncdt classify examples/ known/ --method neighbors --neighbors 3 --max-aspect 1.5 --confusion confusion.png
"""

_METHODS = ("few-shot", "neighbors")
_ONLY = {
    "few-shot": {"frame_size": None},
    "neighbors": {"neighbors": None, "max_aspect": None, "max_shear": None},
}
"""The options of one method only, with the values that mean that they are not given."""

_N_SHOWN = 10  # predictions that are printed


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("train", type=Path, metavar="TRAIN_DIR", help="a folder whose folders are the classes")
    parser.add_argument("test", type=Path, nargs="+", metavar="TEST", help="image files, or folders of them")
    text = "how to classify, see below (default %(default)s)"
    parser.add_argument("--method", choices=_METHODS, default="few-shot", help=text)
    text = "neighbors: number of nearest examples that vote for a class (default 1)"
    parser.add_argument("--neighbors", type=whole_number, metavar="N", help=text)
    text = "few-shot: points along each side of the frame on which images are compared; complex shapes need more, such "
    parser.add_argument("--frame-size", type=whole_number, metavar="N", help=f"{text}as 56 (default 28)")
    add_ink_options(parser)
    text = "kind of the examples, if it is another one: they are then read without the other options of ink"
    parser.add_argument("--example-kind", choices=INK_KINDS, help=text)
    group = add_map_options(parser, Plausible())
    text = "whether a mirror image counts as the same shape (default auto for few-shot, yes for neighbors)"
    group.add_argument("--mirror", choices=("auto", "yes", "no"), help=text)
    text = "auto chooses penalties from the examples (default auto for few-shot, any for neighbors)"
    add_prior_option(group, auto=text)
    features = add_feature_options(parser, DescriptorSettings)
    text = "robust: specks hardly matter; exact: every pixel counts; auto: chosen from the examples, which helps only "
    text += "if they have as many specks as the images (default %(default)s)"
    features.add_argument("--moments", choices=("auto", "exact", "robust"), default="robust", help=text)
    group = parser.add_argument_group("output")
    text = "write a table of the predictions (default %(default)s)"
    group.add_argument("--out", type=Path, default=Path("predictions.csv"), metavar="FILE.csv", help=text)
    text = "write a page with every image and its deciding example, the least certain first"
    group.add_argument("--report", type=Path, metavar="FILE.html", help=text)
    text = "copy each file into the folder DIR/CLASS; files that are already there stay"
    group.add_argument("--copy-to", type=Path, metavar="DIR", help=text)
    group.add_argument("--confusion", type=Path, metavar="FILE.png", help="draw the confusion matrix of known classes")


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    ink, classifier = read_ink_options(options), _make_classifier(options)
    files = image_files([options.train, *options.test])
    check_outputs(options, files, out=ANY, report=[".html", ".htm"], confusion=FIGURE)
    if options.copy_to is not None and options.copy_to.exists() and not options.copy_to.is_dir():
        raise ArgumentValueError("copy_to", f"must be a folder, got the file {options.copy_to}")
    for folder in (options.train, *options.test) if options.copy_to is not None else ():
        if options.copy_to.resolve().is_relative_to(folder.resolve()):
            raise ArgumentValueError("copy_to", f"must not be inside a folder of images, got {options.copy_to}")
    if options.report is not None:
        require("jinja2", "writing a report")
    found = classify_folders(
        options.train,
        options.test,
        classifier=classifier,
        example_kind=options.example_kind,
        on_progress=options.on_progress,
        **ink,
    )
    write_bytes(options.out, found.table())
    for message in found.refused:
        complain(message)
    _print_settings(found)
    _print_predictions(found)
    _print_accuracies(found)
    if options.report is not None:
        write_bytes(options.report, report.html(found, on_progress=options.on_progress))
        say(str(options.report))
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


def _make_classifier(options: argparse.Namespace) -> Classifier:
    """Return the classifier of the method, and refuse options that it does not have."""
    for method, names in _ONLY.items():
        for name, default in names.items():
            if method != options.method and getattr(options, name) != default:
                raise ArgumentValueError(
                    name, f"applies only to the method '{method}', got the method '{options.method}'"
                )
    if options.no_mirror and options.mirror not in (None, "no"):
        raise ArgumentValueError("mirror", f"must be no with --no-mirror, got {options.mirror}")
    _threads.check_n_jobs(options.jobs)
    DescriptorSettings(options.angles, options.levels)
    mirror = "no" if options.no_mirror else options.mirror
    settings: dict[str, Any] = {"n_angles": options.angles, "n_levels": options.levels, "n_jobs": options.jobs}
    if options.method == "few-shot":
        return radoncdt.FewShotClassifier(
            prior="auto" if options.prior is None else options.prior,
            reflections={"yes": True, "no": False}.get(mirror, "auto"),
            moments=options.moments,
            **({} if options.frame_size is None else {"frame_size": options.frame_size}),
            **settings,
        )
    for name in ("prior", "mirror", "moments"):
        if getattr(options, name) == "auto":
            raise ArgumentValueError(name, "must not be auto with the method 'neighbors', which chooses nothing")
    limits = make_limits(options)
    return radoncdt.AffineNeighborsClassifier(
        1 if options.neighbors is None else options.neighbors,
        prior=PRIORS["any"] if options.prior is None else options.prior,
        reflections=mirror != "no",
        max_aspect=limits.max_aspect,
        max_shear=limits.max_shear,
        **(ROBUST if options.moments == "robust" else {}),
        **settings,
    )


def _print_settings(found: Predictions) -> None:
    """Print how the classifier is set, and what to do if nothing could be chosen."""
    n_examples = format_count(sum(found.n_examples.values()), "example")
    settings = "; ".join(f"{name}: {value}" for name, value in found.settings.items())
    say(f"{n_examples}; {settings}")
    if "(default)" in settings:
        say("too few examples per class to choose from; --prior and --mirror say what you know")


def _print_predictions(found: Predictions) -> None:
    """Print the least certain predictions."""
    rows = found.sort_by_certainty()
    if len(rows) > _N_SHOWN:
        say(f"the {_N_SHOWN} least certain of {len(rows):,} predictions:")
    for row in rows[:_N_SHOWN]:
        say(f"{row.file}: {_describe(row)}")


def _describe(row: Prediction) -> str:
    """Return a prediction in words."""
    if row.predicted is None:
        return "no plausible map reaches an example"
    words = [row.predicted if row.p is None else f"{row.predicted}, p {row.p:.3f}"]
    if row.margin is not None:
        words.append(f"margin {row.margin:.3g}")
    if row.second is not None:
        words.append(f"second {row.second}" if row.second_p is None else f"second {row.second}, p {row.second_p:.3f}")
    return f"{'; '.join(words)}; like {row.example}"


def _print_accuracies(found: Predictions) -> None:
    """Print the accuracy of each class with known images and of all together, and name folders that are left out."""
    accuracies = found.accuracies
    if accuracies:
        n_right, n_known = map(sum, zip(*accuracies.values()))
        for name, (right, count) in [*accuracies.items(), ("all", (n_right, n_known))]:
            say(f"{name:30} {right:5} of {count:5} right, {right / count:.3f}")
    if found.uncounted:
        n_images = format_count(sum(found.uncounted.values()), "image")
        names = shorten(", ".join(found.uncounted))
        say(f"{n_images} not counted, because no class has the name of the folder: {names}")


def _draw_confusion(path: Path, found: Predictions) -> None:
    """Draw the confusion matrix, if the class of any image is known."""
    if found.accuracies:
        write_figure(path, radoncdt.plot.confusion(found.confusion(), found.classes).figure)
        say(str(path))
    else:
        complain("no image is in a folder with the name of a class; --confusion draws nothing")
