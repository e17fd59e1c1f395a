"""``radoncdt register``."""

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

import radoncdt
from radoncdt._progress import track
from radoncdt._validation import ArgumentError
from radoncdt.cli.messages import CommandError, complain
from radoncdt.cli.options import (
    add_feature_options,
    add_ink_options,
    add_map_options,
    make_limits,
    read_ink_options,
)
from radoncdt.cli.outputs import ANY, FIGURE, check_outputs, write_bytes, write_figure
from radoncdt.ink import read_ink
from radoncdt.matching.alignment import find_registration
from radoncdt.matching.plausible import Plausible
from radoncdt.matching.settings import ROBUST, DescriptorSettings

__all__ = ["EPILOG", "add_options", "run"]

_NOT_CREDIBLE = 3  # the exit status for a map that is not credible

EPILOG = """\
The map is printed in words, in the order in which its parts act. Angles are counter-clockwise; shifts are in pixels
between the centres of the images, x to the right and y up. The 3 × 3 matrix after it is for other programs: it takes
(column, row, 1) of MOVING, counted from the upper left pixel, to those of FIXED. The .json file contains both, and
alternative maps that fit equally well. If the images differ by more than an affine map, such as drawings of the same
letter by different people, --refine may choose a better one of these maps.

The distance is near 0 for copies of a shape (at most 0.025 with 64 angles) and about 0.15 for unrelated shapes. The map
is not credible if the distance is above 0.1, if it stretches one direction more than ten times as much as another, or
if --angles is less than 16. The command prints and writes it nevertheless. The exit status is 0 for a credible map, 1
if an image is refused or no map is plausible, 2 for wrong arguments, and 3 for a map that is not credible.

examples:
  radoncdt register photograph.png anchor.png --out overlay.png
  radoncdt register tracing.png anchor.png --no-mirror --max-aspect 1.3 --json map.json
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("moving", type=Path, metavar="MOVING", help="the image that is moved")
    parser.add_argument("fixed", type=Path, metavar="FIXED", help="the image to which it is moved")
    add_ink_options(parser)
    add_map_options(parser, Plausible(), all_limits=True, with_prior=True)
    text = "choose among maps that fit equally well by comparing the images point by point, which tolerates distortions"
    parser.add_argument("--refine", action="store_true", help=text)
    add_feature_options(parser, DescriptorSettings, with_robust=True)
    output = parser.add_argument_group("output")
    output.add_argument("--out", type=Path, metavar="FILE.png", help="draw the moved image over the fixed one")
    output.add_argument("--json", type=Path, metavar="FILE.json", help="write the map and its alternatives")


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    ink, limits = read_ink_options(options), make_limits(options)
    settings = DescriptorSettings(options.angles, options.levels, **(ROBUST if options.robust else {}))
    paths = [options.moving, options.fixed]
    check_outputs(options, paths, out=FIGURE, json=ANY)
    moving, fixed = (read_ink(path, **ink) for path in track(paths, options.on_progress, "reading images"))
    try:
        found = find_registration(
            moving,
            fixed,
            limits,
            prior=options.prior,
            settings=settings,
            refine=options.refine,
            n_jobs=options.jobs,
        )
    except ArgumentError:
        raise
    except ValueError as error:  # no map is plausible
        raise CommandError(error, status=1) from error
    if options.json is not None:
        maps = [_describe(each) for each in (found, *found.alternatives)]
        record = {"moving": str(options.moving), "fixed": str(options.fixed), "maps": maps}
        write_bytes(options.json, json.dumps(record, indent=1, ensure_ascii=True) + "\n")
    if options.out is not None:
        write_figure(options.out, radoncdt.plot.overlay(moving, fixed, found).figure)
    print(found)
    with np.printoptions(precision=6, suppress=True):
        print(found.pixel_matrix)
    if found.credible:
        return 0
    reasons = "the images may show different shapes, or their ink was not found (see `radoncdt ink`)"
    complain(f"the map is not credible; {reasons}")
    return _NOT_CREDIBLE


def _describe(found: radoncdt.Registration) -> dict[str, Any]:
    """Return a map as a record of the .json file."""
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
