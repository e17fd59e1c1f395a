"""Make a catalogue of 1,000 made-up watermarks; search it for drawings, soiled ones, and photographs of some of them.

    python examples/search_watermarks.py --out demo

writes the marks, the queries, the catalogue, and a report and a table of what was found for each kind of query; then
says how often the right mark was the first, and among the first ten, and how the paper's mNR-CDT does on the same ink.
All but the drawing of marks is done by the commands that the documentation shows.
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
"""Kinds of queries, and how their ink is found."""


def save(path: Path, grey: NDArray[np.floating]) -> None:
    Image.fromarray(np.rint(255 * grey).astype(np.uint8)).save(path)


def write_marks(marks: datasets.Watermarks, folder: Path) -> None:
    """Image files, and a table of what is known of them."""
    (folder / "marks").mkdir(parents=True, exist_ok=True)
    with (folder / "marks.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["file", "motif", "reference"])
        for number, mark in enumerate(marks):
            save(folder / "marks" / f"{number:05}.png", 1 - mark.image())
            table.writerow([f"{number:05}.png", mark.motif, f"W {number}"])


def write_queries(marks: datasets.Watermarks, folder: Path, kind: str, n: int) -> NDArray[np.intp]:
    """Image files; the numbers of the marks that they show."""
    (folder / kind).mkdir(exist_ok=True)
    queries = marks.queries(n, kind=kind, rng=1)
    for number, image in enumerate(queries.images):
        save(folder / kind / f"{number:03}.png", image if kind == "photograph" else 1 - image)
    return queries.marks


def ranks(table: Path, truth: NDArray[np.intp]) -> NDArray[np.float64]:
    """The rank of the right mark for every query, from the table of a search; infinite if it is not there."""
    found = np.full(len(truth), np.inf)
    with table.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            query = int(Path(row["query"]).stem)
            if int(Path(row["file"]).stem) == truth[query]:
                found[query] = int(row["rank"])
    return found


def plain_ranks(folder: Path, kind: str, truth: NDArray[np.intp], raw: bool) -> NDArray[np.float64]:
    """The same for the paper's mNR-CDT and Euclidean distances, of the ink that a search finds, or of the image."""
    how = "grey" if raw else KINDS[kind]
    paper = partial(radoncdt.max_nrcdt, directions="equispaced")
    entries = paper([read_ink(file, kind="drawing") for file in sorted((folder / "marks").iterdir())])
    found = np.full(len(truth), np.inf)
    for query, file in enumerate(sorted((folder / kind).iterdir())):
        try:
            features = paper(read_ink(file, kind=how))
        except InkError:
            continue
        distances = np.linalg.norm(entries - features, axis=1)
        found[query] = 1 + int((distances < distances[truth[query]]).sum())
    return found


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("demo"), metavar="DIR", help="folder (default %(default)s)")
    parser.add_argument("--marks", type=int, default=1000, metavar="N", help="marks (default %(default)s)")
    parser.add_argument("--queries", type=int, default=50, metavar="N", help="queries a kind (default %(default)s)")
    options = parser.parse_args(arguments)
    folder, marks = options.out, datasets.watermarks(options.marks)
    folder.mkdir(parents=True, exist_ok=True)
    print(f"drawing {len(marks):,} marks")
    write_marks(marks, folder)
    catalogue = str(folder / "catalogue.db")
    if command(["catalogue", "add", catalogue, str(folder / "marks"), "--metadata", str(folder / "marks.csv")]):
        return 1
    lines = [f"{'queries':28}{'first':>8}{'first ten':>11}"]
    for kind, how in KINDS.items():
        truth = write_queries(marks, folder, kind, options.queries)
        report, table = folder / f"{kind}.html", folder / f"{kind}.csv"
        print(f"searching for {options.queries} queries: {kind}")
        files = ["--report", str(report), "--csv", str(table)]
        command(["search", catalogue, str(folder / kind), "--kind", how, "--quiet", *files])
        results = {kind: ranks(table, truth), "  mNR-CDT, same ink": plain_ranks(folder, kind, truth, raw=False)}
        if kind != "photograph":
            results["  mNR-CDT, no ink found"] = plain_ranks(folder, kind, truth, raw=True)
        for name, found in results.items():
            lines.append(f"{name:28}{np.mean(found == 1):8.3f}{np.mean(found <= 10):11.3f}")
    print("\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
