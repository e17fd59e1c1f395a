"""Figures of the transforms. This module needs matplotlib: ``pip install 'radoncdt[plot]'``.

Every function draws on the given ``Axes``, or on a new figure, and returns the ``Axes``. No function uses pyplot, so no
window opens and no state is shared. ``ax.figure.savefig("picture.png")`` writes a figure. `save` adds the facts
that a figure shows, and `read_facts` reads them.
"""

from __future__ import annotations

import json
import textwrap
import warnings
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from radoncdt import _validation
from radoncdt._cdt import quantile_levels
from radoncdt._extras import require
from radoncdt._geometry import full_circle, ink_box
from radoncdt._pooling import max_nrcdt
from radoncdt._push_forward import push_forward
from radoncdt._radon import radon
from radoncdt._rcdt import nrcdt as nrcdt_of
from radoncdt._rcdt import rcdt as rcdt_of
from radoncdt._text import escape_unprintable
from radoncdt._validation import ArgumentTypeError, ArgumentValueError
from radoncdt.directions import equispaced_angles
from radoncdt.matching.registration import Registration
from radoncdt.measures import Batch, PointCloud

require("matplotlib", "radoncdt.plot")
from matplotlib import colormaps  # noqa: E402
from matplotlib.axes import Axes  # noqa: E402
from matplotlib.colors import to_rgb  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402

__all__ = [
    "confusion",
    "measure",
    "nrcdt",
    "overlay",
    "pipeline",
    "pooled",
    "rcdt",
    "read_facts",
    "save",
    "sinogram",
    "steps",
]

STYLES = ("image", "curves")
ANGLE_LABEL = "angle θ in degrees"
CYCLIC = colormaps["twilight"]
OVERLAY_COLOURS = {"moving, moved": "#ff8000", "fixed": "#1a73e6"}
MAX_OVERLAY_SIDE = 2048
"""Largest side of an overlay, in pixels."""
FACTS = "Facts"
"""Keyword of the PNG metadata that holds the facts of a figure."""


def measure(image: ArrayLike | PointCloud, *, ax: Axes | None = None) -> Axes:
    """Draw a measure: an image, dark where its mass is, or the points of a cloud, scaled by weight.

    The coordinates are in pixels from the centre of the image, x to the right and y up.

    Parameters
    ----------
    image : array (H, W) or PointCloud
        The measure.
    ax : Axes, optional
        The axes to draw on; by default those of a new figure.

    Returns
    -------
    Axes
        The axes.

    Raises
    ------
    TypeError, ValueError
        If `image` is not a measure, or `ax` is not Axes.

    See Also
    --------
    pipeline : Draw all steps of one image.

    Examples
    --------
    >>> plot.measure(np.eye(3)).get_title()
    'μ'
    """
    ax, item = _get_axes(ax), Batch.read_one(image, "image").items[0]
    if isinstance(item, PointCloud):
        sizes = min(100, 5000 / len(item)) * item.weights / item.weights.max()
        ax.scatter(item.points[:, 0], item.points[:, 1], s=sizes, color="black", linewidths=0)
        ax.set_aspect("equal")
    else:
        height, width = item.shape
        ax.imshow(item, cmap="gray_r", extent=(-width / 2, width / 2, -height / 2, height / 2), vmin=0)
    ax.set_title("μ")
    return ax


def sinogram(
    image: ArrayLike | PointCloud, *, n_angles: int = 180, n_jobs: int | None = -1, ax: Axes | None = None
) -> Axes:
    """Draw the Radon transform R_θ[μ]: densities of the projections on all directions of the half circle.

    Parameters
    ----------
    image : array (H, W) or PointCloud
        The measure.
    n_angles : int, default 180
        Number of directions θ_k = πk/n_angles on the half circle, from 1 to 65,536.
    n_jobs : int or None, default -1
        Number of threads, as in scikit-learn; −1 means all cores.
    ax : Axes, optional
        The axes to draw on; by default those of a new figure.

    Returns
    -------
    Axes
        The axes, with the angle from left to right and the place on the direction, ⟨x, θ⟩, from below to above.

    Raises
    ------
    TypeError, ValueError
        If `image` is not a measure, `ax` is not Axes, or a number is out of its range.

    See Also
    --------
    radoncdt.radon : Compute the transform.

    Examples
    --------
    >>> plot.sinogram(np.eye(3), n_angles=16).get_xlabel()
    'angle θ in degrees'
    """
    ax, item = _get_axes(ax), Batch.read_one(image, "image").items[0]
    masses, edges = radon(item, n_angles=n_angles, n_jobs=n_jobs)
    density = masses / np.diff(edges)
    low, high = _mass_extent(masses, edges)
    grid = np.linspace(low, high, 2 * masses.shape[-1])
    rows = [np.interp(grid, (e[1:] + e[:-1]) / 2, d, 0, 0) for e, d in zip(edges, density)]
    ax.imshow(
        np.transpose(rows), origin="lower", aspect="auto", cmap="magma", extent=(*_angle_extent(n_angles), low, high)
    )
    ax.set(xlabel=ANGLE_LABEL, ylabel="⟨x, θ⟩ in pixels", title="Radon transform  $R_θ[μ]$", xticks=[0, 45, 90, 135])
    return ax


def _angle_extent(n_angles: int) -> tuple[float, float]:
    """The horizontal extent of an image whose columns are centred at the angles 180° k/n."""
    return -90 / n_angles, 180 - 90 / n_angles


def _mass_extent(masses: NDArray[Any], edges: NDArray[Any]) -> tuple[float, float]:
    """The interval that holds the mass in all directions."""
    lows, highs = np.where(masses > 0, edges[:, :-1], np.inf), np.where(masses > 0, edges[:, 1:], -np.inf)
    return float(lows.min()), float(highs.max())


def rcdt(
    image: ArrayLike | PointCloud,
    *,
    kind: str = "image",
    n_angles: int = 64,
    n_levels: int = 64,
    n_jobs: int | None = -1,
    ax: Axes | None = None,
) -> Axes:
    """Draw the R-CDT of an image: quantiles as an image over angles and levels, or one curve per direction.

    Parameters
    ----------
    image : array (H, W) or PointCloud
        The measure.
    kind : {"image", "curves"}, default "image"
        Whether to draw an image over the half circle, or one curve per direction of the full circle. The colours of the
        curves are cyclic.
    n_angles : int, default 64
        Number of directions θ_k = πk/n_angles on the half circle, from 1 to 65,536.
    n_levels : int, default 64
        Number of levels t in (0, 1) of the quantile functions, at least 2.
    n_jobs : int or None, default -1
        Number of threads, as in scikit-learn; −1 means all cores.
    ax : Axes, optional
        The axes to draw on; by default those of a new figure.

    Returns
    -------
    Axes
        The axes.

    Raises
    ------
    TypeError, ValueError
        If `image` is not a measure, `ax` is not Axes, `kind` is unknown, or a number is out of its range.

    See Also
    --------
    radoncdt.rcdt : Compute the transform.
    nrcdt : Draw the normalised transform.

    Examples
    --------
    >>> plot.rcdt(np.eye(3), kind="curves", n_angles=8).get_xlabel()
    'level t'
    """
    item = Batch.read_one(image, "image").items[0]
    values = rcdt_of(item, n_angles=n_angles, n_levels=n_levels, n_jobs=n_jobs)
    return _quantiles(values, kind, ax, "R-CDT", "quantile in pixels")


def nrcdt(
    image: ArrayLike | PointCloud,
    *,
    kind: str = "image",
    n_angles: int = 64,
    n_levels: int = 64,
    n_jobs: int | None = -1,
    ax: Axes | None = None,
) -> Axes:
    """Draw the NR-CDT of an image: normalised quantiles as an image over angles and levels, or one curve per direction.

    Parameters
    ----------
    image : array (H, W) or PointCloud
        The measure.
    kind : {"image", "curves"}, default "image"
        Whether to draw an image over the half circle, or one curve per direction of the full circle. The colours of the
        curves are cyclic.
    n_angles : int, default 64
        Number of directions θ_k = πk/n_angles on the half circle, from 1 to 65,536.
    n_levels : int, default 64
        Number of levels t in (0, 1) of the quantile functions, at least 2.
    n_jobs : int or None, default -1
        Number of threads, as in scikit-learn; −1 means all cores.
    ax : Axes, optional
        The axes to draw on; by default those of a new figure.

    Returns
    -------
    Axes
        The axes.

    Raises
    ------
    TypeError, ValueError
        If `image` is not a measure, `ax` is not Axes, `kind` is unknown, or a number is out of its range.

    See Also
    --------
    radoncdt.nrcdt : Compute the transform.
    rcdt : Draw the transform before it is normalised.
    pooled : Draw pooled curves.

    Examples
    --------
    >>> plot.nrcdt(np.eye(3), n_angles=8).get_ylabel()
    'level t'
    """
    item = Batch.read_one(image, "image").items[0]
    values = nrcdt_of(item, n_angles=n_angles, n_levels=n_levels, n_jobs=n_jobs)
    return _quantiles(values, kind, ax, "NR-CDT", "normalised quantile")


def _quantiles(values: NDArray[np.float64], kind: str, ax: Axes | None, title: str, label: str) -> Axes:
    _validation.check_choice(kind, "kind", STYLES)
    ax = _get_axes(ax)
    n_angles, n_levels = values.shape
    if kind == "image":
        largest = np.abs(values).max()
        picture = ax.imshow(
            values.T,
            origin="lower",
            aspect="auto",
            cmap="RdBu_r",
            extent=(*_angle_extent(n_angles), 0, 1),
            vmin=-largest,
            vmax=largest,
        )
        ax.figure.colorbar(picture, ax=ax, label=label)
        ax.set(xlabel=ANGLE_LABEL, ylabel="level t", xticks=[0, 45, 90, 135])
    else:
        levels = quantile_levels(n_levels)
        for angle, curve in zip(equispaced_angles(2 * n_angles), full_circle(values)):
            ax.plot(levels, curve, color=CYCLIC(angle / np.pi), linewidth=0.8, alpha=0.8)
        ax.set(xlabel="level t", ylabel=label)
        ax.spines[["top", "right"]].set_visible(False)
    ax.set_title(title)
    return ax


def pooled(
    features: ArrayLike,
    labels: Sequence[Any] | NDArray[Any] | None = None,
    *,
    templates: ArrayLike | None = None,
    template_labels: Sequence[Any] | NDArray[Any] | None = None,
    pool: str = "max",
    level_grid: str = "midpoint",
    ax: Axes | None = None,
) -> Axes:
    """Draw pooled curves such as the mNR-CDT, coloured by class, with broad lines for templates.

    Fig. 4 of the paper [1]_ shows such curves.

    Parameters
    ----------
    features : array (n, n_levels)
        Pooled features, as `radoncdt.max_nrcdt` returns them.
    labels : sequence (n,), optional
        The classes of the curves, which the legend names. By default all curves have one colour.
    templates : array (k, n_levels), optional
        Curves that are drawn with broad lines, below the others.
    template_labels : sequence (k,), optional
        The classes of the templates; by default the sorted classes of `labels`, with one template each.
    pool : str, default "max"
        The pool, for the labels of the figure.
    level_grid : {"midpoint", "uniform"}, default "midpoint"
        The levels of the features: t = (k + ½)/n or t = (k + 1)/(n + 1).
    ax : Axes, optional
        The axes to draw on; by default those of a new figure.

    Returns
    -------
    Axes
        The axes.

    Raises
    ------
    TypeError, ValueError
        If the shapes of the arguments do not belong together, or `ax` is not Axes.

    See Also
    --------
    radoncdt.max_nrcdt : Compute such features.
    nrcdt : Draw the curves before they are pooled.

    References
    ----------
    .. [1] M. Beckmann, R. Beinert, J. Bresch, "Max-normalized Radon cumulative distribution transform for limited data
           classification", Scale Space and Variational Methods in Computer Vision (SSVM), 2025. arXiv:2411.16282.

    Examples
    --------
    >>> curves = max_nrcdt(np.random.default_rng(0).random((6, 9, 9)), n_angles=8)
    >>> ax = plot.pooled(curves, ["a", "b"] * 3, templates=curves[:2])
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['a', 'b']
    """
    curves = _curves(features, "features")
    names = np.zeros(len(curves), int) if labels is None else _labels(labels, "labels", len(curves))
    bold = np.empty((0, curves.shape[1])) if templates is None else _curves(templates, "templates")
    if bold.shape[1] != curves.shape[1]:
        raise ArgumentValueError(
            "templates", f"must have {curves.shape[1]} levels, as `features` have, got {bold.shape[1]}"
        )
    classes = np.unique(names)
    if template_labels is None and len(bold) not in (0, len(classes)):
        raise ArgumentValueError(
            "template_labels", f"must be given for {len(bold)} templates of {len(classes)} classes"
        )
    default = classes[: len(bold)]
    bold_names = default if template_labels is None else _labels(template_labels, "template_labels", len(bold))
    if names.dtype.kind != bold_names.dtype.kind:  # 1 and "1" are one class
        names, bold_names = names.astype(str), bold_names.astype(str)
    ax, levels = _get_axes(ax), quantile_levels(curves.shape[1], level_grid)
    classes = np.unique(np.concatenate([names, bold_names]))
    for k, name in enumerate(classes):
        colour = f"C{k}" if len(classes) <= 10 else colormaps["turbo"](k / (len(classes) - 1))
        ax.plot(levels, bold[bold_names == name].T, color=colour, linewidth=5, alpha=0.3)
        ax.plot(levels, curves[names == name].T, color=colour, linewidth=0.8, alpha=0.8)
        ax.plot([], [], color=colour, linewidth=2.5, label=str(name))
    if labels is not None:
        ax.legend(frameon=False)
    name = {"max": "mNR-CDT", "mean": "aNR-CDT"}.get(pool, f"NR-CDT, {pool}")
    ax.set(xlabel="level t", ylabel=f"{pool} over θ of $N_θ[μ](t)$", title=name)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def overlay(
    moving: ArrayLike | PointCloud,
    fixed: ArrayLike | PointCloud,
    registration: Registration,
    *,
    ax: Axes | None = None,
) -> Axes:
    """Draw a measure moved by a registration, in orange, over the fixed measure, in blue.

    Pixels of both are dark. The title describes the map in words.

    Parameters
    ----------
    moving : array (H, W) or PointCloud
        The measure that is moved.
    fixed : array (H, W) or PointCloud
        The measure that it was registered to.
    registration : Registration
        The result of ``register(moving, fixed)``.
    ax : Axes, optional
        The axes to draw on; by default those of a new figure.

    Returns
    -------
    Axes
        The axes.

    Raises
    ------
    TypeError, ValueError
        If an argument has the wrong type, or a measure is not valid.

    See Also
    --------
    radoncdt.register : Find the map.

    Examples
    --------
    >>> flag = np.zeros((50, 50))
    >>> flag[10:40, 10:14] = flag[10:20, 14:30] = 1
    >>> turned = np.rot90(flag)
    >>> ax = plot.overlay(flag, turned, register(flag, turned))
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['moving, moved', 'fixed']
    """
    _validation.check_instance(registration, "registration", Registration)
    items = [Batch.read_one(m, name).items[0] for m, name in ((moving, "moving"), (fixed, "fixed"))]
    matrix, shift = registration.matrix, registration.shift
    extents = [_corners(items[0]) @ matrix.T + shift, _corners(items[1])]
    halves = np.ceil(1.05 * np.abs(np.concatenate(extents)[:, ::-1]).max(axis=0).clip(1, MAX_OVERLAY_SIDE / 2 - 1))
    odd = (
        np.ones(2) if isinstance(items[1], PointCloud) else np.array(items[1].shape) % 2
    )  # an odd shift would blur the image
    rows, columns = (2 * halves + odd).astype(int).clip(max=MAX_OVERLAY_SIDE).tolist()
    ax = _get_axes(ax)
    darkness = np.zeros((rows, columns, 3))
    for item, colour, map_ in zip(items, OVERLAY_COLOURS.values(), ((matrix, shift), (np.eye(2), np.zeros(2)))):
        if isinstance(item, PointCloud):
            points = item.points @ map_[0].T + map_[1]
            sizes = min(100, 5000 / len(item)) * item.weights / item.weights.max()
            ax.scatter(points[:, 0], points[:, 1], s=sizes, color=colour, alpha=0.6, linewidths=0)
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about ink outside the overlay
            picture = push_forward(item / item.max(), *map_, shape=(rows, columns)) * abs(np.linalg.det(map_[0]))
        darkness += np.clip(picture, 0, 1)[:, :, None] * (1 - np.array(to_rgb(colour)))
    if not all(isinstance(item, PointCloud) for item in items):
        ax.imshow(np.clip(1 - darkness, 0, 1), extent=(-columns / 2, columns / 2, -rows / 2, rows / 2))
    ax.set_aspect("equal")
    for name, colour in OVERLAY_COLOURS.items():
        ax.plot([], [], color=colour, linewidth=5, label=name)
    ax.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.06), ncols=2)
    ax.set_title("\n".join(textwrap.wrap(str(registration), 50)), fontsize="small")
    return ax


def _corners(item: Any) -> NDArray[np.float64]:
    """The corners of the bounding box of the ink, or the points of a cloud."""
    if isinstance(item, PointCloud):
        return item.points
    rows, columns = ink_box(item)
    height, width = item.shape
    x = (columns.start - width / 2, columns.stop - width / 2)
    y = (height / 2 - rows.stop, height / 2 - rows.start)
    return np.array([(a, b) for a in x for b in y])


def pipeline(
    image: ArrayLike | PointCloud,
    *,
    n_angles: int = 128,
    n_levels: int = 64,
    n_jobs: int | None = -1,
    axes: Any = None,
) -> NDArray[np.object_]:
    """Draw all steps of one image: measure, Radon transform, R-CDT, NR-CDT, its curves, and the mNR-CDT above them.

    Parameters
    ----------
    image : array (H, W) or PointCloud
        The measure.
    n_angles : int, default 128
        Number of directions θ_k = πk/n_angles on the half circle, from 1 to 65,536.
    n_levels : int, default 64
        Number of levels t in (0, 1) of the quantile functions, at least 2.
    n_jobs : int or None, default -1
        Number of threads, as in scikit-learn; −1 means all cores.
    axes : array of six Axes, optional
        The axes to draw on; by default those of a new figure with two rows.

    Returns
    -------
    array (2, 3) of Axes
        The axes. If `axes` is given, the array has its shape.

    Raises
    ------
    TypeError, ValueError
        If `image` is not a measure, `axes` does not hold six Axes, or a number is out of its range.

    See Also
    --------
    measure : Draw the first step only.
    sinogram : Draw the Radon transform only.
    rcdt : Draw the R-CDT only.
    nrcdt : Draw the NR-CDT only.

    Examples
    --------
    >>> plot.pipeline(np.tri(9), n_angles=8, n_levels=8).shape
    (2, 3)
    """
    if axes is None:
        axes = Figure(figsize=(12, 7), layout="constrained").subplots(2, 3)
    panels = np.asarray(axes, dtype=object)
    if panels.size != 6:
        raise ArgumentValueError("axes", f"must hold six Axes, got {panels.size}")
    item = Batch.read_one(image, "image").items[0]
    first = panels.ravel()
    measure(item, ax=first[0])
    how: dict[str, Any] = {"n_angles": n_angles, "n_levels": n_levels, "n_jobs": n_jobs}
    sinogram(item, n_angles=n_angles, n_jobs=n_jobs, ax=first[1])
    rcdt(item, **how, ax=first[2])
    nrcdt(item, **how, ax=first[3])
    nrcdt(item, **how, kind="curves", ax=first[4])
    first[4].set_title("NR-CDT, one curve per direction")
    curve = max_nrcdt(item, **how, directions="equispaced")  # like the curves in the figure
    first[4].plot(quantile_levels(n_levels), curve, color="black", linewidth=2, label="mNR-CDT")
    first[4].legend(frameon=False)
    pooled(curve[None], templates=curve[None], ax=first[5])
    return panels


def steps(images: Sequence[tuple[str, NDArray[Any]]]) -> Figure:
    """Draw the steps of an ink extraction side by side.

    Parameters
    ----------
    images : sequence of (name, array)
        The steps, as `radoncdt.ink.ink_steps` returns them.

    Returns
    -------
    Figure
        A new figure with one picture per step.

    See Also
    --------
    radoncdt.ink.ink_steps : Compute the steps.

    Examples
    --------
    >>> len(plot.steps([("grey", np.eye(3)), ("ink", np.eye(3))]).axes)
    2
    """
    figure = Figure(figsize=(3.2 * len(images), 3.6), layout="constrained")
    for ax, (name, image) in zip(np.atleast_1d(figure.subplots(1, len(images))), images):
        ink = name in ("ink", "lines", "above the threshold")
        ax.imshow(image, cmap="gray_r" if ink else "gray")
        ax.set_title(name, fontsize="medium")
        ax.set_axis_off()
    return figure


def confusion(counts: ArrayLike, classes: Sequence[str], *, ax: Axes | None = None) -> Axes:
    """Draw a confusion matrix.

    The number of images is written into every cell that is not 0, if there are at most 60 classes.

    Parameters
    ----------
    counts : array (n, n)
        The number of images of each class (rows) that were predicted as each class (columns).
    classes : sequence of str (n,)
        The names of the classes.
    ax : Axes, optional
        The axes to draw on; by default those of a new figure, whose size depends on the number of classes.

    Returns
    -------
    Axes
        The axes.

    Raises
    ------
    ValueError
        If `counts` does not have one row and one column per class, or is not finite.

    See Also
    --------
    radoncdt.folders.Predictions : Predictions about image files, whose method `confusion` counts them.

    Examples
    --------
    >>> plot.confusion([[3, 1], [0, 4]], ["crown", "star"]).get_xlabel()
    'predicted'
    """
    table = _validation.check_finite_array(counts, "counts")
    n = len(classes)
    if table.shape != (n, n):
        raise ArgumentValueError("counts", f"must have the shape {(n, n)} for {n} classes, got {table.shape}")
    side = min(max(4.0, 0.35 * n + 2), 20.0)
    ax = Figure(figsize=(side, side), layout="constrained").subplots() if ax is None else ax
    ax.imshow(table, cmap="Blues", vmin=0)
    size = min(10.0, 250 / n)
    for row, column in np.argwhere(table > 0) if n <= 60 else ():
        dark = table[row, column] > table.max() / 2
        ax.text(
            column, row, f"{table[row, column]:g}", ha="center", va="center", fontsize=size, color="w" if dark else "k"
        )
    ticks, names = np.arange(n), [escape_unprintable(name) for name in classes]
    ax.set_xticks(ticks, names, rotation=90, fontsize=size, parse_math=False)
    ax.set_yticks(ticks, names, fontsize=size, parse_math=False)
    ax.set(xlabel="predicted", ylabel="class")
    return ax


def save(figure: Figure, path: str | PathLike[str], facts: Mapping[str, Any], *, dpi: float = 80) -> None:
    """Write a figure as a PNG file whose metadata hold the facts that it shows.

    The metadata contain neither a date nor a version, so they depend on the figure and the facts only.

    Parameters
    ----------
    figure : Figure
        The figure, such as ``ax.figure``.
    path : path
        The file. The format is PNG whatever the ending of its name.
    facts : mapping
        Facts that JSON can represent, such as labels and numbers.
    dpi : float, default 80
        Pixels per inch.

    Raises
    ------
    TypeError, ValueError
        If JSON cannot represent the facts, or one of them is NaN or infinite.
    OSError
        If the file cannot be written.

    See Also
    --------
    read_facts : Read the facts from the file.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> ax = plot.measure(np.eye(3))
    >>> with TemporaryDirectory() as folder:
    ...     plot.save(ax.figure, f"{folder}/measure.png", {"points": 3})
    ...     plot.read_facts(f"{folder}/measure.png")
    {'points': 3}
    """
    text = json.dumps(facts, ensure_ascii=False, allow_nan=False)
    figure.savefig(path, format="png", dpi=dpi, metadata={FACTS: text, "Software": None})


def read_facts(path: str | PathLike[str]) -> dict[str, Any]:
    """Read the facts that a figure shows from the metadata of a PNG file that `save` wrote.

    Parameters
    ----------
    path : path
        The file.

    Returns
    -------
    dict
        The facts, as JSON represents them. Keys are texts, and tuples have become lists.

    Raises
    ------
    ValueError
        If the file has no facts.
    OSError
        If the file cannot be read or is not an image.

    See Also
    --------
    save : Write a figure with its facts.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> ax = plot.measure(np.eye(3))
    >>> with TemporaryDirectory() as folder:
    ...     plot.save(ax.figure, f"{folder}/measure.png", {"title": ax.get_title()})
    ...     plot.read_facts(f"{folder}/measure.png")
    {'title': 'μ'}
    """
    image = require("PIL.Image", "reading a PNG file")
    with image.open(path) as picture:
        text = picture.info.get(FACTS)
    if text is None:
        raise ArgumentValueError("path", f"must be a PNG file with facts in its metadata, got {path}")
    facts: dict[str, Any] = json.loads(text)
    return facts


def _get_axes(ax: Axes | None) -> Axes:
    if ax is None:
        return Figure(layout="constrained").subplots()
    if not isinstance(ax, Axes):
        raise ArgumentTypeError("ax", f"must be matplotlib Axes, got {type(ax).__name__}")
    return ax


def _curves(values: ArrayLike, name: str) -> NDArray[np.float64]:
    curves = _validation.check_finite_array(values, name)
    if curves.ndim != 2 or curves.size == 0 or curves.shape[1] < 2:
        raise ArgumentValueError(name, f"must have shape (n, n_levels) with n_levels ≥ 2, got {curves.shape}")
    return curves


def _labels(labels: Any, name: str, n: int) -> NDArray[Any]:
    array = np.asarray(labels)
    if array.shape != (n,):
        raise ArgumentValueError(name, f"must have shape ({n},), one a curve, got {array.shape}")
    return array
