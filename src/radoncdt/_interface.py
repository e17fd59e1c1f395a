"""What an implementation of the kernels provides: the same functions in ``_native`` and in ``_numpy``.

Coordinates, directions and levels are those of `radoncdt.measures` and `radoncdt.directions`. Arguments have been
checked by the caller. Images are an array (n, H, W) or a list of arrays (H, W), of real numbers of one precision.
"""

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import DTypeLike, NDArray

from radoncdt._typing import Floats

Images = NDArray[Any] | list[NDArray[Any]]

NOT_FINITE, NEGATIVE, EMPTY, UNSETTLED = 1, 2, 4, 8
"""What can be wrong with an image: the bits of its status. UNSETTLED: its robust moments did not converge."""

KEPT = 32
"""Highest frequency along the circle in the waves of descriptors; with fewer, too many turns remain to be tried."""

LANES = 8
"""Frequencies, or turns, in one vector of float32."""


def precision(dtype: DTypeLike) -> type[np.float32] | type[np.float64]:
    """float64 for float64 and wider, else float32."""
    dtype = np.dtype(dtype)
    return np.float64 if dtype.kind == "f" and dtype.itemsize >= 8 else np.float32


class Limits(NamedTuple):
    """Which maps are plausible."""

    aspect: float
    """Largest ratio of the two scales."""
    shear: float
    """Largest angle, in radians, by which the images of the axes depart from being perpendicular."""
    scale: float
    """Largest change of size, the mean of the two scales: between 1/scale and scale."""


class Waves(NamedTuple):
    """Descriptors as the kernels compare them."""

    values: NDArray[np.floating]
    """(n, n_angles, n_levels): NR-CDTs along whitened directions of the half circle."""
    waves: NDArray[np.float32]
    """(n, KEPT · 2 · ⌈n_levels/2⌉): Fourier coefficients along the circle, see `matching.descriptors.spectrum_of`, of
    the frequencies 1, 3, … and then 2, 4, …, in groups of LANES: for each level LANES real and LANES imaginary parts.
    """
    norms: Floats
    """(n, 2): the norm of the waves, and of what they leave out except for the frequency 0."""
    covariances: Floats
    """(n, 3): xx, xy, yy of the measures."""


class Kernels(Protocol):
    """The kernels. See ``_numpy`` for what each computes, written as plainly as NumPy allows."""

    def image_moments(self, images: Images) -> tuple[Floats, NDArray[np.int64]]:
        """Mean (x, y) and covariance (xx, xy, yy), (n, 5), and the status (n,); undefined where that is not 0."""

    def image_masses(
        self, images: Images, cosines: Floats, sines: Floats, n_bins: int
    ) -> tuple[NDArray[Any], Floats, NDArray[np.int64]]:
        """Masses of the strips, (n, n_angles, n_bins).

        Also returns the positions, in bins, of the centre of each image (n, n_angles), and the status (n,). The masses
        may be signed; only NOT_FINITE makes the result undefined. The bins of the pixels of the rows (or columns) of
        the bounding box of the ink are in the middle.
        """

    def image_quantiles(
        self,
        images: Images,
        cosines: Floats,
        sines: Floats,
        levels: Floats,
        *,
        normalise: bool = False,
        whiten: bool = False,
        nu: float = 0.0,
        extremes: bool = False,
    ) -> tuple[Floats, Floats, NDArray[np.int64]]:
        """Quantiles of all projections (n, n_angles, n_levels), in pixels from the centre of the image, or normalised.

        With `whiten`, the directions are those of the measure after whitening. With ν > 0, mean and covariance are the
        robust ones of `student_moments`. With `extremes`, (n, 2, n_levels): the largest and the smallest values over
        the directions and their opposites; the levels must then be symmetric. Also returns the moments (n, 5) that the
        quantiles were normalised by, and the status (n,).
        """

    def bin_quantiles(self, masses: Floats, levels: Floats) -> Floats:
        """Quantiles (n, n_levels), in bins, of rows of masses (n, n_bins)."""

    def back_project(
        self, values: NDArray[Any], centres: Floats, cosines: Floats, sines: Floats, shape: tuple[int, int]
    ) -> NDArray[Any]:
        """The adjoint of the projections, an image of a shape, from values (n_angles, n_bins).

        `centres` (n_angles,) are the positions, in bins, of the centre of the image.
        """

    def student_moments(self, points: Floats, nu: float, extent: float, moments: Floats) -> tuple[Floats, bool]:
        """Location and scatter (5,) of a Student t distribution fitted to points, and whether that converged.

        `points` has rows x, y, mass; each point stands for a square of variance `extent` in x and y. The iteration
        starts from `moments`.
        """

    def quantile_masses(self, values: Floats, levels: Floats, edges: Floats) -> Floats:
        """Masses (n, n_edges − 1) between ascending edges (n, n_edges) of measures given by quantiles (n, n_levels)."""

    def transport(self, mass_a: Floats, places_a: Floats, mass_b: Floats, places_b: Floats, p: float) -> Floats:
        """Wasserstein-p distances (n,) of measures on the line, row by row.

        Piece i of a row has mass[i], on the point places[i], or evenly on places[i] to places[i + 1] where there is one
        place more than there are masses.
        """

    def least_distances(
        self,
        x: Waves,
        y: Waves,
        *,
        reflections: bool,
        limits: Limits | None,
        ascending: bool,
        rows: tuple[int, int],
        columns: tuple[int, int],
        distances: Floats,
    ) -> None:
        """Root mean square distances, at the best turns, of descriptors of x in `rows` to those of y in `columns`.

        They are written into `distances` (len(x), len(y)). With `ascending`, only of pairs whose column is larger than
        the row. Without limits all maps are plausible.
        """

    def plausible_turns(self, moving: Floats, fixed: Floats, limits: Limits, n_angles: int) -> Floats:
        """An angle (4·n_angles,) with a plausible map within half a step of each turn, or NaN; mirrored turns last.

        `moving` and `fixed` are covariances xx, xy, yy.
        """

    def within(
        self,
        x: Waves,
        i: int,
        y: Waves,
        *,
        reflections: bool,
        limits: Limits | None,
        bounds: Floats,
        left_out: int,
        radius: float,
    ) -> Floats:
        """Distances (len(y),) of descriptor i of x to those of y that may be within a radius; infinite for others.

        `bounds` are lower bounds of the distances. Number `left_out` is left out, unless it is negative.
        """

    def nearest(
        self,
        x: Waves,
        i: int,
        y: Waves,
        *,
        reflections: bool,
        limits: Limits | None,
        bounds: Floats,
        order: NDArray[np.intp],
        left_out: int,
        distances: Floats,
        numbers: NDArray[np.intp],
    ) -> None:
        """Distances and numbers of the descriptors of y nearest to descriptor i of x, as many as there is room for.

        `bounds` are lower bounds of the distances, ascending in `order`. Equal distances are in the order of the
        numbers. What is not reached by a plausible turn, and number `left_out`, are not among them. Places that are
        left keep what they held.
        """

    def fit(
        self,
        base: Floats,
        terms: Floats,
        some: NDArray[np.intp],
        targets: Floats,
        few: NDArray[np.intp],
        *,
        ridge: Floats,
        coefficients: Floats,
        size: float,
        most: float,
        iterations: int,
    ) -> tuple[Floats, float]:
        """Coefficients (k, 2) that bring the points base + terms · coefficients near targets, and how near they are.

        The points numbered `some`, each with the target nearest to it, and the targets numbered `few`, each with the
        point nearest to it, are pairs. The coefficients minimise the squares over all pairs, weighted by
        1/(1 + (d/s)²)², s being 2.5 times the median of the distances d (at least 0.01 `size`), plus `ridge` (k,) times
        their own squares times the number of pairs; then pairs are formed again. The result is the mean of the
        distances that are left, none of which counts more than `most`; both are shares of `size`.
        """

    def strokes(self, image: Floats, corners: Floats, width: float) -> None:
        """Brighten pixels of a contiguous image to the part of them that a line covers.

        The line goes through corners (n, 2), given as (column, row), and its ends are round.
        """
