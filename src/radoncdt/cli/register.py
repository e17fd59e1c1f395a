"""``radoncdt register``."""

import argparse
import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import radoncdt
from radoncdt._files import write_whole
from radoncdt.cli.messages import complain
from radoncdt.cli.options import (
    check_counts,
    check_jobs,
    check_matplotlib,
    check_output,
    drawable,
    in_words_of_the_command,
    ink_options,
    write,
)
from radoncdt.ink import InkError, read_ink
from radoncdt.matching.alignment import find_registration
from radoncdt.matching.descriptors import ROBUST, DescriptorSettings
from radoncdt.matching.plausible import Plausible

NOT_CREDIBLE = 3
"""The exit status when the map is not credible."""


def add_parser(commands: Any) -> None:
    register = commands.add_parser(
        "register",
        parents=[ink_options()],
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Find how one image has to be shifted, rotated, scaled, sheared or mirrored to become another.",
        epilog="""\
The map is printed in words, the first of which acts first: angles counter-clockwise, shifts in pixels between the
centres of the images, x to the right and y up. Then comes a 3 × 3 matrix, for other programs: it takes (column, row, 1)
of the first image, counted from its upper left, to those of the second. The .json has both, and the same for maps that
do as well. The distance is near 0 for copies (steps of the circle alone leave 0.025 at most), and about 0.15 for
unrelated shapes. The map is not credible if the distance is above 0.1, if the map stretches one direction more than
ten times as much as another, or if --angles is less than 16. The exit status is 0 for a credible map, 1 if an image is
refused or no map is plausible, 2 for wrong arguments, and 3 if the map is not credible; it is printed and written even
so.""",
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
    register.set_defaults(run=run, parser=register)


def run(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    for name in ("out", "json"):
        if getattr(options, name) is not None:
            check_output(getattr(options, name), parser, name, [options.moving, options.fixed])
    check_counts(options, parser)
    check_jobs(options, parser)
    if options.out is not None:
        check_matplotlib(parser)
        if not drawable(options.out):
            parser.error(f"--out must end in .png, .pdf or .svg, got {options.out}")
        if options.out == options.json:
            parser.error(f"--out and --json must be two files, got {options.out} twice")
    limits = {name: getattr(options, name) for name in ("max_aspect", "max_shear", "max_scale", "similarity")}
    try:
        plausible = Plausible(reflections=not options.no_reflections, **limits)
    except ValueError as error:
        parser.error(in_words_of_the_command(error))
    try:
        moving, fixed = (read_ink(path, ink=options.ink) for path in (options.moving, options.fixed))
        settings = DescriptorSettings(options.angles, options.levels, **(ROBUST if options.robust else {}))
        found = find_registration(moving, fixed, plausible, settings=settings, n_jobs=options.jobs)
    except InkError as error:
        complain(str(error))
        return 1
    except ValueError as error:  # no map is plausible
        complain(in_words_of_the_command(error))
        return 1
    if options.json is not None:
        maps = [_record(each) for each in (found, *found.alternatives)]
        names = {"moving": str(options.moving), "fixed": str(options.fixed)}
        text = json.dumps({**names, "maps": maps}, indent=1, ensure_ascii=True) + "\n"
        write_whole(options.json, partial(write, text))
    if options.out is not None:
        figure: Any = radoncdt.plot.overlay(moving, fixed, found).figure
        write_whole(options.out, partial(figure.savefig, format=options.out.suffix[1:], dpi=110))
    print(found)
    with np.printoptions(precision=6, suppress=True):
        print(found.pixel_matrix)
    if not found.credible:
        complain("the map is not credible; the images may show different shapes, or be read wrongly (--ink)")
        return NOT_CREDIBLE
    return 0


def _record(found: radoncdt.Registration) -> dict[str, Any]:
    return {
        "credible": found.credible,
        "distance": found.distance,
        "mirrored": found.mirrored,
        "scales": found.scales,
        "rotation_degrees": found.rotation,
        "shear_degrees": found.shear,
        "matrix": found.matrix.tolist(),
        "shift": found.shift.tolist(),
        "pixel_matrix": found.pixel_matrix.tolist(),
    }
