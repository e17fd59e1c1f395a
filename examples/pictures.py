"""Draw the pictures of the documentation: pipeline.png, morph.png, registration.png, ink_steps.png and search.png.

    python examples/pictures.py [FOLDER]

The default folder is docs/pictures. The script needs matplotlib. The metadata of every picture contain the facts that
it shows; see `radoncdt.plot.read_facts`.
"""

import argparse
from collections.abc import Callable
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
from radoncdt.catalogue.report import draw_overlay

Picture = tuple[dict[str, Any], Callable[[], Figure]]
"""The facts that a picture shows, and the function that draws it."""

N_MARKS = 60  # entries of the catalogue
PHOTOGRAPH = 8  # index of the photograph that is shown


def draw_pipeline() -> Picture:
    """Draw all steps from a drawing to its mNR-CDT."""
    shape = "anchor"
    image, size = draw(shape), dict[str, Any](n_angles=128, n_levels=64)
    curve = radoncdt.max_nrcdt(image, **size, directions="equispaced")
    facts: dict[str, Any] = {
        "shape": shape,
        **size,
        "largest quantile in pixels": f"{np.abs(radoncdt.rcdt(image, **size)).max():.1f}",
        "largest normalised quantile": f"{np.abs(radoncdt.nrcdt(image, **size)).max():.2f}",
        "ends of the mNR-CDT": [f"{curve[0]:.2f}", f"{curve[-1]:.2f}"],
    }
    return facts, lambda: plot.pipeline(image, **size)[0, 0].figure


def draw_morph() -> Picture:
    """Draw interpolations between filled shapes and between drawings, and a cross-fade for comparison."""
    times = np.linspace(0, 1, 7)
    crown, star = (binary_fill_holes(draw(name) > 0.5).astype(float) for name in ("crown", "star"))
    left, right = np.roll(crown, -22, axis=1), np.roll(star, 22, axis=1)
    rows: list[tuple[str, str, Any]] = [
        ("interpolate", "crown to star, filled", radoncdt.interpolate(left, right, times)),
        ("cross-fade", "crown to star, filled", [(1 - t) * left + t * right for t in times]),
        ("interpolate", "house to star, drawn", radoncdt.interpolate(draw("house"), draw("star"), times)),
    ]
    facts: dict[str, Any] = {
        "times": [f"{t:.2f}" for t in times],
        "rows": [
            {
                "label": label,
                "shapes": shapes,
                "mass in dark pixels": [f"{image[image > 0.5].sum() / image.sum():.2f}" for image in images],
            }
            for label, shapes, images in rows
        ],
    }

    def draw_figure() -> Figure:
        figure = Figure(figsize=(11, 4.2), layout="constrained")
        grid = figure.subplots(len(rows), len(times))
        for (label, _, images), row in zip(rows, grid):
            for ax, image in zip(row, images):
                plot.measure(image[16:-16], ax=ax).set(xticks=[], yticks=[], title="")
                ax.images[0].set_clim(0, 1)
                ax.spines[:].set_visible(False)
            row[0].set_ylabel(label)
        for ax, time in zip(grid[0], facts["times"]):
            ax.set_title(f"t = {time}", fontsize=10)
        return figure

    return facts, draw_figure


def draw_registration() -> Picture:
    """Draw a shape, an affine copy, and the overlay of both; in the second row, the copy is bent and has specks."""
    shape = "letter P"
    moving = np.pad(draw(shape), 24)
    turned = datasets.AffineDistribution(
        scale=(0.6, 1.3), isotropic=False, mirror=True, rotation=180, shear=30, shift=20
    )
    fixed, _ = datasets.random_affine(moving[None], turned, 5)
    bent = datasets.salt(datasets.elastic(fixed, 3), 4, dots=(6, 6))
    rows = [
        ("fixed", fixed[0], radoncdt.register(moving, fixed[0])),
        (
            "fixed, bent, with specks",
            bent[0],
            radoncdt.register(moving, bent[0], settings=radoncdt.DescriptorSettings(moments="robust", trim=1 / 16)),
        ),
    ]
    facts = {"shape": shape, "maps": {title: str(found) for title, _, found in rows}}

    def draw_figure() -> Figure:
        figure = Figure(figsize=(11, 7.4), layout="constrained")
        for axes, (title, image, found) in zip(figure.subplots(2, 3), rows):
            plot.measure(moving, ax=axes[0]).set(title="moving")
            plot.measure(image, ax=axes[1]).set(title=title)
            plot.overlay(moving, image, found, ax=axes[2])
        return figure

    return facts, draw_figure


def take_photograph(marks: datasets.Watermarks) -> tuple[Any, int]:
    """Return a photograph of one of the synthetic marks, in bytes, and the number of the mark."""
    queries = marks.queries(12, kind="photograph", rng=8)
    return np.rint(255 * queries.images[PHOTOGRAPH]).astype(np.uint8), int(queries.marks[PHOTOGRAPH])


def draw_ink_steps() -> Picture:
    """Draw the steps that detect the lines of a mark in a photograph."""
    image, number = take_photograph(datasets.watermarks(N_MARKS))
    steps = ink.ink_steps(image, kind="watermark")
    facts: dict[str, Any] = {
        "mark": number,
        "kind": "watermark",
        "steps": [step.name for step in steps],
        "share of ink": f"{100 * steps[-1].image.mean():.1f} %",
    }

    def draw_figure() -> Figure:
        figure = plot.steps(steps)
        figure.set_size_inches(13, 2.7)  # small, because noise makes large files
        return figure

    return facts, draw_figure


def draw_search() -> Picture:
    """Draw a photograph, its ink, the best matches in a catalogue, and below each the overlay with the photograph."""
    marks = datasets.watermarks(N_MARKS)
    image, number = take_photograph(marks)
    with TemporaryDirectory() as folder:
        for k, mark in enumerate(marks):
            Image.fromarray(np.rint(255 - 255 * mark.image()).astype(np.uint8)).save(Path(folder) / f"{k:03}.png")
        with Catalogue(Path(folder) / "marks.db", create=True) as catalogue:
            catalogue.add(folder)
            found = catalogue.search(image, kind="watermark", top=4)
    facts: dict[str, Any] = {
        "entries": found.searched,
        "right": f"{number:03}.png",
        "found": [
            {"rank": match.rank, "file": Path(match.file).name, "score": f"{match.score:.3f}"}
            for match in found.matches
        ],
    }

    def draw_figure() -> Figure:
        figure = Figure(figsize=(11, 4.8), layout="constrained")
        axes = figure.subplots(2, 5)
        for ax in axes.flat:
            ax.set(xticks=[], yticks=[])
        axes[0, 0].imshow(image, cmap="gray")
        axes[0, 0].set_title("photograph")
        axes[1, 0].imshow(found.query.ink, cmap="gray_r")
        axes[1, 0].set_title("its ink")
        for match, fact, (above, below) in zip(found.matches, facts["found"], axes[:, 1:].T):
            thumbnail = found.thumbnails[match.entry]
            above.imshow(Image.open(BytesIO(thumbnail)), cmap="gray")
            right = ", right" if fact["file"] == facts["right"] else ""
            above.set_title(f"{fact['rank']}{right}: score {fact['score']}")
            below.imshow(draw_overlay(found.query.ink, thumbnail, match))
        return figure

    return facts, draw_figure


PICTURES: dict[str, Callable[[], Picture]] = {
    "pipeline": draw_pipeline,
    "morph": draw_morph,
    "registration": draw_registration,
    "ink_steps": draw_ink_steps,
    "search": draw_search,
}
"""The functions that make the pictures, by the names of their files."""

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    text = "an existing folder (default: docs/pictures)"
    parser.add_argument("folder", nargs="?", type=Path, default=Path("docs/pictures"), help=text)
    folder = parser.parse_args().folder
    if not folder.is_dir():
        parser.error(f"FOLDER must be an existing folder, got {folder}")
    for name, make in PICTURES.items():
        facts, draw_figure = make()
        plot.save(draw_figure(), folder / f"{name}.png", facts)
