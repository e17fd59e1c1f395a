"""``radoncdt classify``."""

import argparse
from functools import partial
from pathlib import Path
from typing import Any

from radoncdt._files import write_whole
from radoncdt.cli.messages import complain, say
from radoncdt.cli.options import (
    check_jobs,
    check_matplotlib,
    check_output,
    drawable,
    in_words_of_the_command,
    ink_kind_options,
    ink_settings,
    write,
)
from radoncdt.cli.progress import Bar
from radoncdt.ink import image_files


def add_parser(commands: Any) -> None:
    parser = commands.add_parser(
        "classify",
        parents=[ink_kind_options("drawing")],
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Give each image the class of the example that is nearest to it, however it was moved.",
        epilog="""\
The folders in TRAIN_DIR are the classes, each with one or more images. If TEST_DIR has folders of the same names, the
images in them are known to belong there, and the share that is right is printed for each class.

examples:
  radoncdt classify examples/ unknown/ --out predictions.csv
  radoncdt classify examples/ known/ --out predictions.csv --confusion confusion.png""",
    )
    parser.add_argument("train", type=Path, metavar="TRAIN_DIR", help="a folder of folders, which are the classes")
    parser.add_argument("test", type=Path, metavar="TEST_DIR", help="a folder of images")
    parser.add_argument(
        "--out", type=Path, default=Path("predictions.csv"), metavar="FILE.csv", help="the table (default %(default)s)"
    )
    parser.add_argument("--confusion", type=Path, metavar="FILE.png", help="draw which classes are taken for which")
    parser.add_argument("--no-mirror", action="store_true", help="a mirror image is something else")
    parser.add_argument("--jobs", type=int, default=-1, metavar="N", help="threads (default -1, all cores)")
    parser.set_defaults(run=run, parser=parser)


def run(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    check_jobs(options, parser)
    inputs = image_files([folder for folder in (options.train, options.test) if folder.is_dir()])
    check_output(options.out, parser, inputs=inputs)
    if options.confusion is not None:
        check_output(options.confusion, parser, "confusion", inputs)
        check_matplotlib(parser)
        if not drawable(options.confusion):
            parser.error(f"--confusion must end in .png, .pdf or .svg, got {options.confusion}")
    import radoncdt
    from radoncdt.folders import classify_folders

    try:
        with Bar() as bar:
            found = classify_folders(
                options.train,
                options.test,
                limits=radoncdt.Plausible(reflections=not options.no_mirror),
                n_jobs=options.jobs,
                on_progress=bar,
                **ink_settings(options),
            )
    except ValueError as error:
        parser.error(in_words_of_the_command(error))
    for message in found.refused:
        complain(message)
    write_whole(options.out, partial(write, found.table()))
    accuracies = found.accuracies
    for name, (right, count) in accuracies.items():
        say(f"{name:30} {right:5} of {count:5} right, {right / count:.3f}")
    if accuracies:
        right, count = (sum(pair[k] for pair in accuracies.values()) for k in (0, 1))
        print(f"{'all':30} {right:5} of {count:5} right, {right / count:.3f}")
    if options.confusion is not None:
        if accuracies:
            figure: Any = radoncdt.plot.confusion(found.confusion(), found.classes).figure
            write_whole(options.confusion, partial(figure.savefig, format=options.confusion.suffix[1:], dpi=110))
            say(str(options.confusion))
        else:
            complain("no image is in a folder named as a class; --confusion draws nothing")
    left_out = f", {len(found.refused)} refused" if found.refused else ""
    say(f"{options.out}: {len(found.rows):,} images, {len(found.classes):,} classes{left_out}")
    return 1 if found.refused else 0
