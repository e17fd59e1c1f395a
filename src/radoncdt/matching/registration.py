"""Registration: the affine map that takes one measure to another, and the distance that remains.

Whitened, two measures that differ by an affine map differ by a rotation or a reflection R, found where the correlation
of their NR-CDTs along the circle is largest. The map is x ↦ Ax + y with A = Σ_ν^{1/2} R Σ_μ^{-1/2}, y = m_ν − A m_μ.

The distance is the root mean square difference of the NR-CDTs at the best rotation by whole steps, with a reflection
or without: a sliced Wasserstein distance of the whitened measures, modulo rotations. It is symmetric and has the
triangle inequality, unless maps are limited.
"""

import itertools
import warnings
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from radoncdt import _kernels, _threads, _validation
from radoncdt._geometry import full_circle, inverse_square_root, rotation, square_root
from radoncdt._interface import Limits, precision
from radoncdt._typing import Floats
from radoncdt._validation import ArgumentValueError
from radoncdt.directions import equispaced_angles
from radoncdt.matching.descriptors import Descriptors, check_settings, joined, read_descriptors, spectrum_of
from radoncdt.matching.refinement import refine
from radoncdt.measures import Batch, Measure, Measures, PointCloud

SIMILAR = 1.1
"""The aspect up to which a map counts as a similarity."""

CREDIBLE_DISTANCE = 0.1
"""Most pairs of unrelated shapes are further apart; see "How large a distance is" in docs/beyond.md."""

CREDIBLE_ASPECT = 10.0
"""The largest aspect κ of a credible map. Its shear is then at most arcsin((κ² − 1)/(κ² + 1)), which is 78.6°."""

EQUIVALENT = 0.002
"""Maps fit equally well if their misfits differ by no more than this, as those of moved symmetric symbols do."""

ROWS, COLUMNS = 32, 16
"""Descriptors that are compared with each other before the next are loaded: as many as a core's cache holds."""

WORK = 4
"""What comparing a pair costs, a value of a descriptor, in the units of `_threads`."""


def _between(least: float, most: float, value: float) -> bool:
    return least <= value <= most


@dataclass(frozen=True)
class Plausible:
    """Which maps are plausible, see `register`; all are by default."""

    max_aspect: float | None = None
    max_shear: float | None = None
    max_scale: float | None = None
    similarity: bool = False

    def __post_init__(self) -> None:
        for name, least, most in (("max_aspect", 1, np.inf), ("max_shear", 0, 90), ("max_scale", 1, np.inf)):
            value = getattr(self, name)
            if value is None:
                continue
            limits = f"at least {least}" if most == np.inf else f"from {least} to {most}"
            within = partial(_between, least, most)
            _validation.check_number(value, name, f"a number {limits}, or None", within, may_be_infinite=True)
        _validation.check_instance(self.similarity, "similarity", bool)

    @property
    def limited(self) -> bool:
        return self.similarity or any(v is not None for v in (self.max_aspect, self.max_shear, self.max_scale))

    @property
    def limits(self) -> Limits:
        """As the kernels read them."""
        aspect = (SIMILAR if self.similarity else np.inf) if self.max_aspect is None else self.max_aspect
        shear = 90.0 if self.max_shear is None else self.max_shear
        return Limits(float(aspect), float(np.deg2rad(shear)), float(self.max_scale or np.inf))

    def admits(self, registration: "Registration") -> bool:
        """Whether a map is within the limits, up to rounding."""
        if not self.limited:
            return bool(np.isfinite(registration.matrix).all())
        aspect, shear, scale = self.limits
        return bool(
            registration.aspect <= aspect * (1 + 1e-6)
            and abs(np.deg2rad(registration.shear)) <= shear + 1e-6
            and 1 / scale <= registration.scale * (1 + 1e-6)
            and registration.scale <= scale * (1 + 1e-6)
        )

    def __str__(self) -> str:
        given = {"max_aspect": self.max_aspect, "max_shear": self.max_shear, "max_scale": self.max_scale}
        words = [f"{name}={float(value):g}" for name, value in given.items() if value is not None]
        return ", ".join(words + ["similarity=True"] * self.similarity)


@dataclass(frozen=True, eq=False)
class Registration:
    """An affine map x ↦ Ax + y that takes one measure to another, in pixels from the centres of the images, y up.

    ``print(registration)`` says it in words, and notebooks show it with its matrix.
    """

    matrix: Floats
    """The matrix A (2, 2)."""
    shift: Floats
    """The vector y (2,)."""
    distance: float
    """How different the two measures are, as in `affine_distances`; of an alternative, at the step next to its map."""
    mirrored: bool
    """Whether the map turns left into right: det A < 0."""
    alternatives: tuple["Registration", ...] = field(default=(), repr=False)
    """Other maps that do as well, up to the tolerance, the best first; a symmetric shape has several."""
    frames: tuple[tuple[int, int], tuple[int, int]] = field(default=((1, 1), (1, 1)), repr=False)
    """Shapes (H, W) of the moving and the fixed image; (1, 1) for PointClouds."""
    grid_distance: float = field(default=0.0, repr=False)
    """The largest distance of two copies that the steps of the circle alone can cause: 2 sin(π/(4 n_angles))."""

    @property
    def credible(self) -> bool:
        """Whether the two measures can be copies of one shape.

        A map is not credible if the distance is more than 0.1, which most unrelated shapes exceed and drawings of one
        shape hardly ever do. It is not credible either if its aspect is more than 10, so that one direction is nearly
        lost; a map with a smaller aspect shears by 78.6° at most. With fewer than 16 angles no map is credible, because
        the steps of the circle alone can make a distance of more than 0.1, and the map may be off by several pixels.
        """
        return not self._doubts

    @property
    def _doubts(self) -> str:
        """Why the map is not credible, in words; empty if it is."""
        doubts = []
        if not self.distance <= CREDIBLE_DISTANCE:
            doubts.append(f"the distance is above {CREDIBLE_DISTANCE:g}, as between unrelated shapes")
        if not self.aspect <= CREDIBLE_ASPECT:
            doubts.append(f"it stretches one direction {self.aspect:.3g} times as much as another")
        if not self.grid_distance <= CREDIBLE_DISTANCE:
            doubts.append(f"there are so few angles that copies can have a distance of {self.grid_distance:.2g}")
        return " and ".join(doubts)

    def inverse(self) -> "Registration":
        """The map from the fixed measure to the moving one.

        >>> moved = push_forward(np.tri(30), [[1, 0.5], [0, 1]], shape=(60, 60))
        >>> there = register(np.tri(30), moved)
        >>> np.allclose(there.inverse().apply(there.apply([(3, 4)])), [(3, 4)])
        True
        """
        matrix = np.linalg.inv(self.matrix).astype(np.float64)
        alternatives = tuple(each.inverse() for each in self.alternatives)
        return replace(
            self,
            matrix=matrix,
            shift=-matrix @ self.shift,
            alternatives=alternatives,
            frames=(self.frames[1], self.frames[0]),
        )

    @overload
    def apply(self, moving: PointCloud) -> PointCloud: ...
    @overload
    def apply(self, moving: ArrayLike) -> NDArray[Any]: ...
    def apply(self, moving: ArrayLike | PointCloud) -> NDArray[Any] | PointCloud:
        """Move points or an image.

        An array of the shape of the moving image is an image, and any other array holds points. If the moving image
        is two pixels wide, and there are as many points as it has rows, pass the points as a PointCloud.

        Parameters
        ----------
        moving : PointCloud, array (…, 2), or image (H, W)
            Points (x, y) in pixels from the centre, y up; or an image in the frame of the moving one.

        Returns
        -------
        PointCloud
            The points moved, with the same weights.
        float array (…, 2)
            The points moved.
        float array (H, W) of the shape of the fixed image
            The picture moved by bilinear interpolation, with its grey values kept and 0 beyond its edges. Unlike
            this, `push_forward` keeps the mass.

        Examples
        --------
        >>> flag = np.zeros((100, 100)); flag[20:80, 40:44] = flag[20:50, 44:70] = 1
        >>> found = register(flag, np.rot90(flag))
        >>> np.allclose(found.apply([(10, 0), (0, 10)]), [(0, 10), (-10, 0)])
        True
        >>> np.allclose(found.apply(flag), np.rot90(flag))
        True
        """
        if isinstance(moving, PointCloud):
            return PointCloud(self.apply(moving.points), moving.weights)
        array = _validation.check_array(moving, "moving")
        if array.shape == self.frames[0]:
            return self._moved_picture(array)
        if array.ndim == 0 or array.shape[-1] != 2:
            raise ArgumentValueError(
                "moving",
                "must be a PointCloud, points of shape (…, 2), or an image of the shape that was registered, "
                f"{self.frames[0]}, got shape {array.shape}",
            )
        points: Floats = _validation.check_coordinates(array, "moving") @ self.matrix.T + self.shift
        return points

    def _moved_picture(self, image: NDArray[Any]) -> NDArray[Any]:
        from scipy.ndimage import affine_transform

        if self.frames[1] == (1, 1) != self.frames[0]:
            raise ArgumentValueError(
                "moving", "must hold points, because the fixed measure is not an image, got an image"
            )
        values = _validation.check_finite_array(image, "moving").astype(precision(image.dtype))
        swap = [1, 0, 2]  # SciPy counts rows, then columns
        back = np.linalg.inv(self.pixel_matrix)[np.ix_(swap, swap)]
        moved: NDArray[Any] = affine_transform(
            values, back[:2, :2], back[:2, 2], self.frames[1], order=1, mode="grid-constant"
        )
        return moved

    @property
    def pixel_matrix(self) -> Floats:
        """The map as a 3×3 array from (column, row, 1) of the moving image to (column, row, 1) of the fixed one.

        ``skimage.transform.warp(moving, np.linalg.inv(r.pixel_matrix), output_shape=fixed.shape)`` moves the picture.
        """
        to_pixels, from_pixels = np.diag([1.0, -1.0, 1.0]), np.diag([1.0, -1.0, 1.0])
        (height, width), (fixed_height, fixed_width) = self.frames
        from_pixels[:2, 2] = -(width - 1) / 2, (height - 1) / 2
        to_pixels[:2, 2] = (fixed_width - 1) / 2, (fixed_height - 1) / 2
        whole = np.eye(3)
        whole[:2, :2], whole[:2, 2] = self.matrix, self.shift
        product: Floats = to_pixels @ whole @ from_pixels
        return product

    # A = (turn)(shear)(scales)(mirror): what acts first stands last

    @property
    def _upper(self) -> tuple[float, float, float, float]:
        """Angle of the turn, and x scale, y scale and what the shear adds to x."""
        (a, b), (c, d) = self.matrix @ np.diag([-1 if self.mirrored else 1, 1])
        turn, along = np.arctan2(c, a), np.hypot(a, c)
        cos, sin = a / along, c / along
        return float(turn), float(along), float(cos * d - sin * b), float(cos * b + sin * d)

    @property
    def scales(self) -> tuple[float, float]:
        """Factors by which x and y are stretched, before the shear and the turn."""
        return self._upper[1], self._upper[2]

    @property
    def rotation(self) -> float:
        """Degrees, counter-clockwise, of the turn, after mirroring (x to −x), stretching and shearing."""
        return float(np.rad2deg(self._upper[0]))

    @property
    def shear(self) -> float:
        """Degrees by which the image of the y axis leans from the perpendicular to that of the x axis."""
        _, _, height, lean = self._upper
        return float(np.rad2deg(np.arctan2(lean, height)))

    @property
    def aspect(self) -> float:
        """Ratio of the largest to the smallest factor by which any length changes."""
        large, small = np.linalg.svd(self.matrix, compute_uv=False)
        return float(large / small)

    @property
    def scale(self) -> float:
        """The change of size: √|det A|."""
        large, small = np.linalg.svd(self.matrix, compute_uv=False)
        return float(np.sqrt(large) * np.sqrt(small))  # the determinant of a tiny matrix would vanish

    def __str__(self) -> str:
        along, up = self.scales
        x, y = self.shift
        words = ["mirrored"] if self.mirrored else []
        words += [f"scaled by {along:z.2f} in x and {up:z.2f} in y", f"sheared by {self.shear:z.1f}°"]
        words += [f"rotated by {self.rotation:z.1f}°", f"shifted by ({x:z.1f}, {y:z.1f})"]
        others = len(self.alternatives)
        more = f"; {others} other map{'s fit' if others > 1 else ' fits'} as well" if others else ""
        doubts = "" if self.credible else f"; not credible: {self._doubts}"
        return f"{', '.join(words)}: distance {self.distance:.3f}{more}{doubts}"

    def _repr_html_(self) -> str:
        """The words, and the matrix and the shift as a table."""
        (a, b), (c, d) = self.matrix
        x, y = self.shift
        rows = ((("x", a, b, x)), (("y", c, d, y)))
        cells = "".join(
            f"<tr><th>{name}</th>" + "".join(f"<td>{value:z.4f}</td>" for value in values) + "</tr>"
            for name, *values in rows
        )
        verdict = "credible" if self.credible else "<strong>not credible</strong>"
        return (
            f"<p>Registration, {verdict}: {self}</p>"
            f"<table><tr><th></th><th>x</th><th>y</th><th>shift</th></tr>{cells}</table>"
        )


def register(
    moving: ArrayLike | PointCloud | Descriptors,
    fixed: ArrayLike | PointCloud | Descriptors,
    *,
    reflections: bool = True,
    n_angles: int | None = None,
    n_levels: int | None = None,
    moments: str | None = None,
    nu: float | None = None,
    trim: float | None = None,
    max_aspect: float | None = None,
    max_shear: float | None = None,
    max_scale: float | None = None,
    similarity: bool = False,
    tolerance: float | None = None,
    n_jobs: int | None = -1,
) -> Registration:
    """The affine map that takes one measure to another, without any correspondence of points.

    ``r.apply(moving)`` is like `fixed`, if they are copies of one shape. The rotation of the whitened measures is the
    peak of their correlation, interpolated between the steps of the circle. For two images, and for two PointClouds,
    the map is then refined: Gauss–Newton steps minimise the squared difference of the grey values, up to a factor and a
    small difference in blur, or of the quantiles of the projections. Descriptors have no pixels, and their map is not
    refined; nor is that of PointClouds with robust moments, because far points would matter again.

    Where several maps fit equally well, because the shape is symmetric, one that does not mirror is returned; of
    these one whose aspect is within 2 % of the smallest; and of these the one with the smallest rotation. Maps fit
    equally well if their distances, taken between the steps of the circle, differ by no more than 0.002.

    Parameters
    ----------
    moving, fixed : image (H, W), PointCloud, or Descriptors of one measure
    reflections : bool
        Whether the map may mirror. If not, a mirror image gets the best map that does not, and a larger distance.
    n_angles, n_levels, moments, nu, trim
        As in `describe`, whose defaults they have, or the settings of descriptors that are given.
    max_aspect : float, optional
        The largest ratio of the two scales (singular values) of the map; 1 would admit no stretching at all.
    max_shear : float, optional
        The largest angle, in degrees, by which the images of the axes of x and y depart from being perpendicular.
    max_scale : float, optional
        The largest change of size: the geometric mean of the scales must be between 1/max_scale and max_scale.
    similarity : bool
        Only rotations, reflections and changes of size: maps whose aspect is at most 1.1, or `max_aspect` if that is
        given, each replaced by the similarity that is nearest to it. Of all these limits: rotations of the whitened
        measures are tried in steps, and a step counts if a map within half a step of it is plausible.
    tolerance : float, optional
        Other peaks whose distance is larger than the best by no more than this are `alternatives`. By default what the
        steps of the circle alone can do to a distance, 2 sin(π/(4 n_angles)).
    n_jobs
        As in `nrcdt`.

    Returns
    -------
    Registration
        The alternatives are not refined.

    Raises
    ------
    ValueError
        When no map is plausible, and for measures or settings that do not fit.

    Warns
    -----
    UserWarning
        When the map is not credible, see `Registration.credible`.

    Examples
    --------
    >>> flag = np.zeros((100, 100)); flag[20:80, 40:44] = flag[20:50, 44:70] = 1
    >>> print(register(flag, push_forward(flag, [[0, -1], [1, 0]], [5, 0])))
    scaled by 1.00 in x and 1.00 in y, sheared by 0.0°, rotated by 90.0°, shifted by (5.0, 0.0): distance 0.000
    """
    found = best_registration(
        moving,
        fixed,
        Plausible(max_aspect, max_shear, max_scale, similarity),
        reflections=reflections,
        tolerance=tolerance,
        n_jobs=n_jobs,
        n_angles=n_angles,
        n_levels=n_levels,
        moments=moments,
        nu=nu,
        trim=trim,
    )
    if not found.credible:
        warnings.warn(f"the map from `moving` to `fixed` is not credible: {found._doubts}", stacklevel=2)
    return found


def best_registration(
    moving: ArrayLike | PointCloud | Descriptors,
    fixed: ArrayLike | PointCloud | Descriptors,
    plausible: Plausible,
    *,
    reflections: bool = True,
    tolerance: float | None = None,
    n_jobs: int | None = -1,
    **options: Any,
) -> Registration:
    """What `register` returns, without a warning if it is not credible."""
    _validation.check_instance(reflections, "reflections", bool)
    first, second = read_pair(moving, "moving", fixed, "fixed", options, n_jobs)
    for name, some in (("moving", first), ("fixed", second)):
        if len(some) != 1:
            raise ArgumentValueError(name, f"must be one measure, got {len(some)}; `affine_distances` compares many")
    allowance = first.settings.grid_distance
    if tolerance is not None:
        allowance = _validation.check_number(tolerance, "tolerance", "a number that is not negative", lambda x: x >= 0)
    peaks = _peaks(first, second, reflections, plausible, allowance)
    if not peaks:
        every = _peaks(first, second, reflections, Plausible(), 0.0)
        best, _ = _registrations(first, second, every[:1], Plausible())[0]
        raise ValueError(
            f"no map from `moving` to `fixed` is plausible: none within {plausible}; the best of all has an aspect of "
            f"{best.aspect:.3f}, a shear of {best.shear:.1f}° and a scale of {best.scale:.3f}"
        )
    found, misfits = (list(some) for some in zip(*_registrations(first, second, peaks, plausible)))
    best = replace(found.pop(_simplest(found, misfits)), distance=peaks[0].distance)
    if not any(isinstance(joined(measure), Descriptors) for measure in (moving, fixed)):
        pair = Batch.read(moving, "moving").items[0], Batch.read(fixed, "fixed").items[0]
        clouds = any(isinstance(measure, PointCloud) for measure in pair)
        if not (clouds and first.settings.moments == "robust"):  # far points would matter again
            best = _refined_map(*pair, best, second, plausible)
    return replace(best, alternatives=tuple(found))


def _simplest(found: list[Registration], misfits: list[float]) -> int:
    """Which of the maps that fit best is returned: a plain one, of little distortion and little rotation."""
    if len(found) == 1:
        return 0
    equals = [k for k, misfit in enumerate(misfits) if misfit <= min(misfits) + EQUIVALENT]
    plain = [k for k in equals if not found[k].mirrored] or equals
    least = min(found[k].aspect for k in plain)
    straight = [k for k in plain if found[k].aspect <= 1.02 * least]
    return min(straight, key=lambda k: (round(abs(found[k].rotation), 1), found[k].rotation < 0))


def _refined_map(
    moving: Measure, fixed: Measure, start: Registration, described: Descriptors, plausible: Plausible
) -> Registration:
    """The map refined, as far as it stays plausible."""
    angles = equispaced_angles(described.settings.n_angles)
    whitening = inverse_square_root(described.covariances[0])
    matrix, shift = refine(
        moving,
        fixed,
        start.matrix,
        start.shift,
        directions=np.stack([np.cos(angles), np.sin(angles)], axis=-1) @ whitening,
        levels=described.settings.levels,
        similarity=plausible.similarity,
    )

    def at(share: float) -> Registration:
        mixed = (1 - share) * start.matrix + share * matrix
        return replace(start, matrix=mixed, shift=(1 - share) * start.shift + share * shift)

    if plausible.admits(at(1)):
        return at(1)
    good, bad = 0.0, 1.0
    for _ in range(20):
        middle = (good + bad) / 2
        good, bad = (middle, bad) if plausible.admits(at(middle)) else (good, middle)
    return at(good)


class _Peak(NamedTuple):
    """A turn of the whitened measures at which they fit better than a little before and a little behind."""

    distance: float
    """At the nearest step of the circle."""
    mirrored: bool
    angle: float
    """Of the peak itself, between the steps."""
    plausible: float
    """An angle next to it whose map is plausible."""
    misfit: float
    """The distance at the peak itself, by trigonometric interpolation."""


def _peaks(
    moving: Descriptors, fixed: Descriptors, reflections: bool, plausible: Plausible, tolerance: float
) -> list[_Peak]:
    """The peaks of the correlation at plausible steps whose distance is near the best, the best first."""
    n_angles = moving.settings.n_angles
    n = 2 * n_angles
    target, spectrum = (spectrum_of(some.values)[0] for some in (fixed, moving))
    # of G_k with F_{k−s} and with F_{s−k}
    products = [(target * spectrum.conj()).sum(axis=-1), (target * spectrum).sum(axis=-1)][: 1 + reflections]
    correlations = np.array([np.fft.irfft(_halved(product), n, norm="forward") for product in products])
    allowed = np.tile(np.arange(n) * np.pi / n_angles, (2, 1))  # a plausible angle near each step
    if plausible.limited:
        allowed = (
            _kernels.current()
            .plausible_turns(moving.waves.covariances[0], fixed.waves.covariances[0], plausible.limits, n_angles)
            .reshape(2, n)
        )
        correlations[np.isnan(allowed)[: len(products)]] = -np.inf
    around = np.maximum(np.roll(correlations, 1, axis=1), np.roll(correlations, -1, axis=1))
    peaks = (correlations >= around) & (correlations > -np.inf)
    # approximate distances, subject to cancellation: those that cannot be near the best are left out
    norms = np.sum(np.abs(target) ** 2) + np.sum(np.abs(spectrum) ** 2)
    squares = norms - 2 * correlations
    rough = np.sqrt(np.maximum(squares, 0))
    peaks &= rough <= rough.min() + tolerance + 1e-6
    circle = full_circle(moving.values[0])
    steps = np.arange(n_angles)
    found = []
    for mirrored, step in np.argwhere(peaks):
        turned = circle[step - steps if mirrored else steps - step]  # negative indices count from the end
        distance = float(np.sqrt(np.mean((fixed.values[0] - turned) ** 2, dtype=np.float64)))
        angle = _refined(products[mirrored], np.pi * int(step) / n_angles, n_angles)
        correlation = (products[mirrored] * np.exp(1j * np.arange(n_angles + 1) * angle)).real.sum()
        misfit = float(np.sqrt(max(norms - 2 * correlation, 0)))
        found.append(_Peak(distance, bool(mirrored), angle, float(allowed[mirrored, step]), misfit))
    found.sort(key=lambda peak: (round(peak.distance, 9), peak.mirrored, peak.angle))  # plain ones first, of equals
    near: list[_Peak] = []
    for peak in found:
        alike = (other.angle - peak.angle for other in near if other.mirrored == peak.mirrored)
        twice = any(abs(np.angle(np.exp(1j * turn))) < np.pi / n for turn in alike)  # two steps of one peak
        if peak.distance <= found[0].distance + tolerance and not twice:
            near.append(peak)
    return near


def _halved(product: NDArray[np.complex128]) -> NDArray[np.complex128]:
    """Coefficients for `irfft`, which adds up those of positive and negative frequencies."""
    coefficients = product.copy()
    coefficients[1:-1] /= 2
    return coefficients


def _refined(product: NDArray[np.complex128], angle: float, n_angles: int) -> float:
    """The maximum of Re Σ_q product_q e^{iqφ} next to an angle of the circle's grid, by Newton's method.

    It is the angle itself where that leads nowhere higher, or further than a step away.
    """
    frequencies = np.arange(n_angles + 1)
    step = np.pi / n_angles

    def derivatives(phi: float) -> tuple[float, float, float]:
        terms = product * np.exp(1j * frequencies * phi)
        return terms.real.sum(), -(frequencies @ terms.imag), -(frequencies**2 @ terms.real)

    before, here, behind = (derivatives(angle + k * step)[0] for k in (-1, 0, 1))
    bend = before - 2 * here + behind
    phi = angle + step * (before - behind) / (2 * bend) if bend < 0 else angle  # the top of a parabola, to begin with
    for _ in range(8):
        _, slope, bend = derivatives(phi)
        move = slope / bend if bend < 0 else np.inf
        if not abs(phi - move - angle) <= step:
            break
        phi -= move
        if abs(move) < 1e-14:
            break
    return float(phi) if abs(phi - angle) <= step and derivatives(phi)[0] >= here else angle


def _registrations(
    moving: Descriptors, fixed: Descriptors, peaks: list[_Peak], plausible: Plausible
) -> list[tuple[Registration, float]]:
    """The maps that belong to turns of the whitened measures, and their misfits."""
    (height, width), (fixed_height, fixed_width) = moving.frames[0].tolist(), fixed.frames[0].tolist()
    frames = (height, width), (fixed_height, fixed_width)
    root, inverse = square_root(fixed.covariances[0]), inverse_square_root(moving.covariances[0])
    found = []

    def at(angle: float, peak: _Peak) -> Registration:
        mirror = np.array([1.0, -1.0 if peak.mirrored else 1.0])
        matrix = root @ (rotation(angle) * mirror) @ inverse
        shift = fixed.means[0] - matrix @ moving.means[0]
        grid_distance = moving.settings.grid_distance
        return Registration(matrix, shift, peak.distance, peak.mirrored, frames=frames, grid_distance=grid_distance)

    for peak in peaks:
        registration, misfit = at(peak.angle, peak), peak.misfit
        if not plausible.admits(registration):  # as near to the peak as is plausible, by bisection
            good, bad = peak.plausible, peak.angle
            for _ in range(30):
                middle = (good + bad) / 2
                good, bad = (middle, bad) if plausible.admits(at(middle, peak)) else (good, middle)
            registration, misfit = at(good, peak), peak.distance
        if plausible.similarity:
            left, scales, right = np.linalg.svd(registration.matrix)
            matrix = np.sqrt(scales).prod() * left @ right
            registration = replace(registration, matrix=matrix, shift=fixed.means[0] - matrix @ moving.means[0])
        found.append((registration, misfit))
    return found


def affine_distances(
    A: Measures | Descriptors,  # noqa: N803
    B: Measures | Descriptors | None = None,  # noqa: N803
    *,
    reflections: bool = True,
    n_angles: int | None = None,
    n_levels: int | None = None,
    moments: str | None = None,
    nu: float | None = None,
    trim: float | None = None,
    max_aspect: float | None = None,
    max_shear: float | None = None,
    max_scale: float | None = None,
    similarity: bool = False,
    n_jobs: int | None = -1,
) -> Floats:
    """Distances, however they were moved, of every measure of A to every measure of B, or of A.

    The root mean square difference of the NR-CDTs along whitened directions, at the best rotation by whole steps of
    the circle, with or without a reflection. For copies of one shape it is 0, except for errors of discretisation: the
    steps alone make it 2 sin(π/(4 n_angles)) at most.

    Parameters
    ----------
    A, B : array (n, H, W), list of images and PointClouds, or Descriptors
        As `describe` takes them; leading axes become one.
    reflections, n_angles, n_levels, moments, nu, trim, max_aspect, max_shear, max_scale, similarity, n_jobs
        As in `register`. The plausible maps are those from A to B; if no map is, the distance is infinite.

    Returns
    -------
    float64 array (n, m)
        Symmetric with zeros on the diagonal where B is None and all maps are plausible. Values of A are rounded to
        float32 if those of B are.

    Examples
    --------
    >>> square, triangle = np.ones((40, 40)), np.tri(60)
    >>> moved = push_forward(triangle, [[0.2, -0.9], [1.1, 0.4]], [3, 5], shape=(120, 120))
    >>> affine_distances([square, triangle], [moved]).round(2)
    array([[0.14],
           [0.  ]])
    """
    plausible = Plausible(max_aspect, max_shear, max_scale, similarity)
    _validation.check_instance(reflections, "reflections", bool)
    options = {"n_angles": n_angles, "n_levels": n_levels, "moments": moments, "nu": nu, "trim": trim}
    if B is None:
        first = read_descriptors(A, "A", options, None, n_jobs)
        second = first
    else:
        first, second = read_pair(A, "A", B, "B", options, n_jobs)
    return turned_distances(first, second, reflections, plausible, n_jobs, symmetric=B is None)


def read_pair(
    a: object, a_name: str, b: object, b_name: str, options: dict[str, Any], n_jobs: int | None
) -> tuple[Descriptors, Descriptors]:
    """Descriptors of two sets of measures, with the same settings."""
    if isinstance(b, Descriptors):
        first = read_descriptors(a, a_name, options, b, n_jobs)
        second = read_descriptors(b, b_name, options, None, n_jobs)
    else:
        first = read_descriptors(a, a_name, options, None, n_jobs)
        second = read_descriptors(b, b_name, options, first, n_jobs)
    check_settings(first, a_name, second, b_name)
    return first, second


def turned_distances(
    first: Descriptors,
    second: Descriptors,
    reflections: bool,
    plausible: Plausible,
    n_jobs: int | None,
    *,
    symmetric: bool = False,
) -> Floats:
    """Distances of all pairs; blocks of them in threads."""
    symmetric = symmetric and not plausible.limited
    x, y = first.astype(second.values.dtype).waves, second.waves
    limits, kernels = plausible.limits if plausible.limited else None, _kernels.current()
    distances = np.zeros((len(first), len(second)))

    def fill(block: tuple[int, int]) -> None:
        rows, columns = ((k, min(k + size, n)) for k, size, n in zip(block, (ROWS, COLUMNS), distances.shape))
        kernels.least_distances(
            x,
            y,
            reflections=reflections,
            limits=limits,
            ascending=symmetric,
            rows=rows,
            columns=columns,
            distances=distances,
        )

    blocks = itertools.product(range(0, len(first), ROWS), range(0, len(second), COLUMNS))
    work = WORK * distances.size * first.settings.n_angles * first.settings.n_levels
    _threads.for_each(
        fill, (b for b in blocks if not symmetric or b[1] + COLUMNS > b[0]), _threads.count_workers(n_jobs, work)
    )
    return distances + np.triu(distances, 1).T if symmetric else distances
