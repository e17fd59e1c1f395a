"""The interface that both implementations of the kernels, ``_native`` and ``_numpy``, provide.

Coordinates, directions and levels are those of `radoncdt.measures` and `radoncdt.directions`. The caller has checked
the arguments. Images are an array (n, H, W) or a list of arrays (H, W), of real numbers of one precision.
"""

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import DTypeLike, NDArray

from radoncdt._typing import Floats

__all__ = [
    "EMPTY",
    "KEPT",
    "LANES",
    "NEGATIVE",
    "NOT_FINITE",
    "UNSETTLED",
    "Bending",
    "Images",
    "Kernels",
    "Limits",
    "Maps",
    "Prior",
    "Waves",
    "precision",
]

Images = NDArray[Any] | list[NDArray[Any]]

# Bits of the status of an image.
NOT_FINITE = 1  # some values are NaN or infinite
NEGATIVE = 2  # some values are negative
EMPTY = 4  # all values are 0
UNSETTLED = 8  # the robust moments did not converge

KEPT = 32  # highest frequency along the circle in the waves of descriptors; fewer would leave too many turns to try
LANES = 8  # frequencies, or turns, in one vector of float32


def precision(dtype: DTypeLike) -> type[np.float32] | type[np.float64]:
    """Return float64 for float64 and wider types, and float32 for all others."""
    dtype = np.dtype(dtype)
    return np.float64 if dtype.kind == "f" and dtype.itemsize >= 8 else np.float32


class Limits(NamedTuple):
    """Limits of plausible maps."""

    aspect: float
    """Largest ratio of the two scales."""
    shear: float
    """Largest deviation, in radians, of the angle between the images of the axes from a right angle."""
    scale: float
    """Largest change of size: the geometric mean of the two scales is between 1/scale and scale."""


class Prior(NamedTuple):
    """The penalty of a map, which is added to the squared distance."""

    aspect: float = 0.0
    """Penalty of the squared logarithm of the ratio of the two scales."""
    rotation: float = 0.0
    """Penalty of 1 − cos ψ; ψ is the angle of the rotation in the polar decomposition, after mirroring x, if any."""
    mirror: float = 0.0
    """Penalty of mirroring."""


class Maps(NamedTuple):
    """The maps that a comparison of descriptors admits."""

    reflections: bool = True
    limits: Limits | None = None
    """None if all maps are plausible."""
    prior: Prior | None = None
    """None if maps have no penalty."""


class Bending(NamedTuple):
    """How much an image may bend when it is compared with another."""

    window: int = 2
    """Largest displacement of a patch, in points of the frame along x and along y."""
    penalty: float = 3e-4
    """Penalty of a displacement per squared point; the gradients of an image have norm 1."""
    ridge: float = 0.02
    """Ridge > 0 of the affine map that is fitted to the displacements, as a share of the sum of the weights."""
    polish: bool = True
    """Whether the image is also compared after this map."""


class Waves(NamedTuple):
    """Descriptors in the form in which the kernels compare them."""

    values: NDArray[np.floating]
    """(n, n_angles, n_levels): NR-CDTs along whitened directions of the half circle."""
    waves: NDArray[np.float32]
    """(n, KEPT · 2 · ⌈n_levels/2⌉): Fourier coefficients along the circle, of the frequencies 1, 3, … and then 2, 4, …,
    in groups of LANES: for each level, LANES real and LANES imaginary parts. See `compute_spectrum`.
    """
    norms: Floats
    """(n, 2): the norm of the waves, and the norm of all higher frequencies."""
    covariances: Floats
    """(n, 3): the elements xx, xy, yy of the covariances of the measures."""


class Kernels(Protocol):
    """The kernels. ``_numpy`` shows what each of them computes, written as plainly as NumPy allows."""

    def image_moments(self, images: Images) -> tuple[Floats, NDArray[np.int64]]:
        """Mean (x, y) and covariance (xx, xy, yy), (n, 5), and the status (n,).

        The moments are undefined where the status is not 0.
        """

    def image_masses(
        self, images: Images, cosines: Floats, sines: Floats, n_bins: int
    ) -> tuple[NDArray[Any], Floats, NDArray[np.int64]]:
        """Masses of the strips, (n, n_angles, n_bins).

        Also returns the positions, in bins, of the centre of each image (n, n_angles), and the status (n,). Masses may
        be negative; only NOT_FINITE makes the result undefined. The bounding box of the ink is in the middle of the
        bins.
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
        robust ones of `student_moments`. With `extremes`, the result (n, 2, n_levels) has the largest and the smallest
        values over the directions and their opposites; the levels must then be symmetric around ½. Also returns the
        moments (n, 5) of the normalisation, and the status (n,).
        """

    def bin_quantiles(self, masses: Floats, levels: Floats) -> Floats:
        """Quantiles (n, n_levels), in bins, of rows of masses (n, n_bins)."""

    def back_project(
        self, values: NDArray[Any], centres: Floats, cosines: Floats, sines: Floats, shape: tuple[int, int]
    ) -> NDArray[Any]:
        """Adjoint of the projections: an image (H, W) of the given shape from values (n_angles, n_bins).

        `centres` (n_angles,) are the positions, in bins, of the centre of the image.
        """

    def student_moments(self, points: Floats, nu: float, extent: float, moments: Floats) -> tuple[Floats, bool]:
        """Location and scatter (5,) of a Student t distribution fitted to points, and whether that converged.

        `points` has the rows x, y and mass. Each point stands for a square with the variance `extent` in x and in y.
        The iteration starts from `moments`.
        """

    def quantile_masses(self, values: Floats, levels: Floats, edges: Floats) -> Floats:
        """Masses (n, n_edges − 1) between ascending edges (n, n_edges) of measures given by quantiles (n, n_levels)."""

    def transport(self, mass_a: Floats, places_a: Floats, mass_b: Floats, places_b: Floats, p: float) -> Floats:
        """Wasserstein-p distances (n,) of measures on the line, row by row.

        Piece i of a row has mass[i] on the point places[i]. If there is one place more than there are masses, the mass
        is spread evenly from places[i] to places[i + 1].
        """

    def least_distances(
        self,
        x: Waves,
        y: Waves,
        *,
        maps: Maps,
        ascending: bool,
        rows: tuple[int, int],
        columns: tuple[int, int],
        distances: Floats,
        turns: NDArray[np.int64] | None = None,
    ) -> None:
        """Root mean square distances, at the best turns, of descriptors of x in `rows` to those of y in `columns`.

        They are written into `distances` (len(x), len(y)), and the turns into `turns`, of the same shape: s steps of
        the circle, 2·n_angles + s if mirrored, or −1 if none is plausible. With a prior, the distance is the root of
        the mean square difference plus the penalty. With `ascending`, only pairs whose column is larger than their row
        are compared.
        """

    def plausible_turns(self, moving: Floats, fixed: Floats, limits: Limits, n_angles: int) -> Floats:
        """For each turn (4·n_angles,), an angle within half a step that has a plausible map, or NaN.

        Mirrored turns come last. `moving` and `fixed` are the elements xx, xy, yy of covariances.
        """

    def within(
        self,
        x: Waves,
        i: int,
        y: Waves,
        *,
        maps: Maps,
        bounds: Floats,
        left_out: int,
        radius: float,
    ) -> Floats:
        """Distances (len(y),) of descriptor i of x to those of y that may be within a radius; infinite for others.

        `bounds` are lower bounds of the distances. Descriptor `left_out` of y is omitted, unless it is negative.
        """

    def nearest(
        self,
        x: Waves,
        i: int,
        y: Waves,
        *,
        maps: Maps,
        bounds: Floats,
        order: NDArray[np.intp],
        left_out: int,
        distances: Floats,
        numbers: NDArray[np.intp],
    ) -> None:
        """Distances and numbers of the descriptors of y nearest to descriptor i of x.

        They are written into `distances` and `numbers`, as many as these arrays hold; unused elements keep their
        values. `bounds` are lower bounds of the distances, ascending in `order`. Equal distances are in the order of
        the numbers. Descriptors that no plausible turn reaches, and number `left_out`, are omitted.
        """

    def distortions(
        self,
        moving: Images,
        fixed: Images,
        pairs: NDArray[np.intp],
        moving_maps: Floats,
        fixed_maps: Floats,
        *,
        side: int,
        reach: float,
        bending: Bending,
    ) -> tuple[Floats, Floats]:
        """Distortion distances (n,) of pairs (n, 2) of images, and the maps (n, 2, 3) that attain them.

        A pair consists of the numbers of a moving and a fixed image. Both are sampled on a frame of side × side points
        over [−reach, reach]²; the maps lead from there to the pixels, in the coordinates of `radoncdt.measures`:
        `moving_maps` (n, 2, 3) for every pair, `fixed_maps` for every fixed image. After a binomial blur, every 3 × 3
        patch of the gradients of the moving image takes the best patch of the fixed one within the window. The distance
        is the sum of the squared differences and the penalties. With a polish, it is the smaller one of two distances.
        It is 18 if an image has no gradients on the frame.
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
        """Coefficients (k, 2) that bring the points base + terms · coefficients near the targets, and the misfit.

        Pairs are formed of the points numbered `some` and the target nearest to each, and of the targets numbered `few`
        and the point nearest to each. The coefficients minimise the sum of the squared distances d of all pairs,
        weighted by 1/(1 + (d/s)²)², plus `ridge` (k,) times their own squares times the number of pairs. The scale s is
        2.5 times the median of d, and at least 0.01 `size`. Then pairs are formed again, in each of the iterations. The
        misfit is the mean of the remaining distances, none of which counts more than `most`; both are shares of `size`.
        """

    def strokes(self, image: Floats, corners: Floats, width: float) -> None:
        """Draw a line: brighten each pixel of a contiguous image to the share of it that the line covers.

        The line goes through the corners (n, 2), given as (column, row), and has round ends.
        """
