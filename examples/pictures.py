"""Draw the pictures of the documents into a folder: pipeline, morph, registration, ink_steps and search, all .png.

    python examples/pictures.py [FOLDER]

Needs matplotlib. By default the folder is docs.
"""

import argparse
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from PIL import Image
from recognise_shapes import draw
from scipy.ndimage import binary_fill_holes

import radoncdt
from radoncdt import datasets, ink, plot
from radoncdt.catalogue import Catalogue
from radoncdt.catalogue.report import overlaid

PHOTOGRAPH = 3
"""Which of some photographs is shown."""


def pipeline(path: Path) -> None:
    """Everything that the package computes of one drawing."""
    axes = plot.pipeline(draw("anchor"))
    axes[0, 0].figure.savefig(path, dpi=80)


def morph(path: Path) -> None:
    """A filled shape and a drawing, moved into others, and a cross-fade of the former for comparison."""
    times = np.linspace(0, 1, 7)
    crown, star = (binary_fill_holes(draw(name) > 0.5).astype(float) for name in ("crown", "star"))
    left, right = np.roll(crown, -22, axis=1), np.roll(star, 22, axis=1)
    rows: dict[str, Any] = {
        "interpolate": radoncdt.interpolate(left, right, times),
        "cross-fade": [(1 - t) * left + t * right for t in times],
        "interpolate ": radoncdt.interpolate(draw("house"), draw("star"), times),
    }
    figure = Figure(figsize=(11, 4.2), layout="constrained")
    grid = np.atleast_2d(figure.subplots(len(rows), len(times)))
    for (name, images), row in zip(rows.items(), grid):
        for ax, image in zip(row, images):
            plot.measure(image[16:-16], ax=ax).set(xticks=[], yticks=[], title="")
            ax.images[0].set_clim(0, 1)
            ax.spines[:].set_visible(False)
        row[0].set_ylabel(name)
    for ax, t in zip(grid[0], times):
        ax.set_title(f"t = {t:.2f}", fontsize=10)
    figure.savefig(path, dpi=80)


def registration(path: Path) -> None:
    """A drawing, what became of it, and one moved over the other: by an affine map, and bent and sprinkled besides."""
    moving = np.pad(draw("anchor"), 24)
    turned = datasets.AffineDistribution(
        scale=(0.6, 1.3), isotropic=False, mirror=True, rotation=180, shear=30, shift=20
    )
    fixed = datasets.random_affine(moving[None], turned, 5)[0]
    rows: list[tuple[Any, dict[str, Any]]] = [
        (fixed[0], {}),
        (datasets.salt(datasets.elastic(fixed, 3), 4, dots=(6, 6))[0], {"moments": "robust", "trim": 1 / 16}),
    ]
    figure = Figure(figsize=(11, 7.4), layout="constrained")
    for axes, (image, options) in zip(figure.subplots(2, 3), rows):
        plot.measure(moving, ax=axes[0]).set(title="moving")
        plot.measure(image, ax=axes[1]).set(title="fixed")
        plot.overlay(moving, image, radoncdt.register(moving, image, **options), ax=axes[2])
    figure.savefig(path, dpi=80)


def photograph(marks: datasets.Watermarks) -> Any:
    """One of the photographs of made-up marks, in bytes."""
    return np.rint(255 * marks.queries(12, kind="photograph", rng=8).images[PHOTOGRAPH]).astype(np.uint8)


def ink_steps(path: Path) -> None:
    """How the lines of a mark are found in a photograph."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "photograph.png"
        Image.fromarray(photograph(datasets.watermarks(60))).save(file)
        plot.steps(ink.ink_steps(file, kind="photo")).savefig(path, dpi=80)


def search(path: Path) -> None:
    """A photograph, its ink, and the first entries of a catalogue, each below with the photograph laid over it."""
    marks = datasets.watermarks(60)
    with TemporaryDirectory() as folder:
        for number, mark in enumerate(marks):
            Image.fromarray(np.rint(255 - 255 * mark.image()).astype(np.uint8)).save(Path(folder) / f"{number:03}.png")
        with Catalogue(Path(folder) / "marks.db", create=True) as catalogue:
            catalogue.add(folder)
            found = catalogue.search(photograph(marks), kind="photo", top=4, chances=False)
    figure = Figure(figsize=(11, 4.8), layout="constrained")
    axes = figure.subplots(2, 5)
    for ax in axes.flat:
        ax.set(xticks=[], yticks=[])
    axes[0, 0].imshow(photograph(marks), cmap="gray")
    axes[0, 0].set_title("photograph")
    axes[1, 0].imshow(found.query.ink, cmap="gray_r")
    axes[1, 0].set_title("its ink")
    for match, (above, below) in zip(found.matches, axes[:, 1:].T):
        picture = found.pictures[match.entry]
        above.imshow(Image.open(BytesIO(picture)), cmap="gray")
        above.set_title(f"{match.rank}: misfit {match.misfit:.3f}")
        below.imshow(overlaid(found.query.ink, picture, match))
    figure.savefig(path, dpi=80)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=Path("docs"), help="a folder that exists (docs)")
    folder = parser.parse_args().folder
    if not folder.is_dir():
        parser.error(f"FOLDER must exist, got {folder}")
    pipeline(folder / "pipeline.png")
    morph(folder / "morph.png")
    registration(folder / "registration.png")
    ink_steps(folder / "ink_steps.png")
    search(folder / "search.png")
