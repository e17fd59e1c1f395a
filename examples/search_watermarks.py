"""Make a catalogue of 1,000 synthetic watermarks, and search it for drawings, drawings with specks, and photographs.

    python examples/search_watermarks.py --out demo

The script writes the marks, the queries, the catalogue, and one report and one table of matches per kind of query. It
then prints how often the right mark is ranked first, and among the first ten, and the same for the paper's mNR-CDT.
Except for the drawing of marks, it uses the commands that the documentation shows.
"""

import argparse
import csv
import sys
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

import radoncdt
from radoncdt import datasets
from radoncdt.cli import main as command
from radoncdt.ink import InkError, read_ink

KINDS = {"drawing": "drawing", "specks": "drawing", "photograph": "watermark"}
"""Kinds of queries, and the kind of ink to detect in them."""


def save(path: Path, grey: NDArray[np.floating]) -> None:
    """Write an image with grey values between 0 and 1."""
    Image.fromarray(np.rint(255 * grey).astype(np.uint8)).save(path)


def write_marks(marks: datasets.Watermarks, folder: Path) -> None:
    """Write image files of the marks, and a table of their metadata."""
    (folder / "marks").mkdir(parents=True, exist_ok=True)
    with (folder / "marks.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["file", "motif", "reference"])
        for number, mark in enumerate(marks):
            save(folder / "marks" / f"{number:05}.png", 1 - mark.image())
            table.writerow([f"{number:05}.png", mark.motif, f"W {number}"])


def write_queries(marks: datasets.Watermarks, folder: Path, kind: str, n: int) -> NDArray[np.intp]:
    """Write image files of queries; return the numbers of the marks that they show."""
    (folder / kind).mkdir(exist_ok=True)
    queries = marks.queries(n, kind=kind, rng=1)
    for number, image in enumerate(queries.images):
        save(folder / kind / f"{number:03}.png", image if kind == "photograph" else 1 - image)
    return queries.marks


def read_ranks(table: Path, truth: NDArray[np.intp]) -> NDArray[np.float64]:
    """Read the rank of the right mark for every query from the table of a search; infinity if it is missing."""
    found = np.full(len(truth), np.inf)
    with table.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            query = int(Path(row["query"]).stem)
            if int(Path(row["file"]).stem) == truth[query]:
                found[query] = int(row["rank"])
    return found


def rank_plainly(folder: Path, kind: str, truth: NDArray[np.intp], raw: bool) -> NDArray[np.float64]:
    """Rank by Euclidean distances of the paper's mNR-CDT, of the detected ink or, if `raw`, of the image itself."""
    ink_kind = "grey" if raw else KINDS[kind]
    paper = partial(radoncdt.max_nrcdt, directions="equispaced")
    entries = paper([read_ink(file, kind="drawing") for file in sorted((folder / "marks").iterdir())])
    found = np.full(len(truth), np.inf)
    for query, file in enumerate(sorted((folder / kind).iterdir())):
        try:
            features = paper(read_ink(file, kind=ink_kind))
        except InkError:
            continue
        distances = np.linalg.norm(entries - features, axis=1)
        found[query] = 1 + int((distances < distances[truth[query]]).sum())
    return found


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("demo"), metavar="DIR", help="folder (default: %(default)s)")
    parser.add_argument("--marks", type=int, default=1000, metavar="N", help="number of marks (default: %(default)s)")
    parser.add_argument("--queries", type=int, default=50, metavar="N", help="queries per kind (default: %(default)s)")
    options = parser.parse_args(arguments)
    folder, marks = options.out, datasets.watermarks(options.marks)
    folder.mkdir(parents=True, exist_ok=True)
    print(f"drawing {len(marks):,} marks")
    write_marks(marks, folder)
    catalogue = str(folder / "catalogue.db")
    if command(["catalogue", "add", catalogue, str(folder / "marks"), "--metadata", str(folder / "marks.csv")]):
        return 1
    lines = [f"{'queries':28}{'first':>8}{'first ten':>11}"]
    for kind, ink_kind in KINDS.items():
        truth = write_queries(marks, folder, kind, options.queries)
        report, table = folder / f"{kind}.html", folder / f"{kind}.csv"
        print(f"searching for {options.queries} queries of the kind {kind}")
        files = ["--report", str(report), "--csv", str(table)]
        command(["search", catalogue, str(folder / kind), "--kind", ink_kind, "--quiet", *files])
        results = {
            kind: read_ranks(table, truth),
            "  mNR-CDT, same ink": rank_plainly(folder, kind, truth, raw=False),
        }
        if kind != "photograph":
            results["  mNR-CDT, whole image"] = rank_plainly(folder, kind, truth, raw=True)
        for name, found in results.items():
            lines.append(f"{name:28}{np.mean(found == 1):8.3f}{np.mean(found <= 10):11.3f}")
    print("\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
