"""Registration: find the affine map that takes one measure to another.

Two measures that differ by an affine map differ, once whitened, by a rotation or a reflection R. It is found where the
correlation of their NR-CDTs along the circle is largest. The map is x ↦ Ax + y with A = Σ_ν^{1/2} R Σ_μ^{-1/2} and
y = m_ν − A m_μ.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from radoncdt import _kernels, _validation
from radoncdt._geometry import full_circle, inverse_square_root, rotation, square_root
from radoncdt._typing import Floats
from radoncdt._validation import ArgumentTypeError, ArgumentValueError
from radoncdt.directions import equispaced_angles
from radoncdt.matching.affine_distance import read_pair
from radoncdt.matching.descriptors import Descriptors, compute_spectrum, join_descriptors
from radoncdt.matching.distorted_distance import compare_turns
from radoncdt.matching.plausible import Plausible
from radoncdt.matching.prior import PRIORS, MapPrior, read_prior
from radoncdt.matching.refinement import refine
from radoncdt.matching.registration import Registration
from radoncdt.matching.settings import DescriptorSettings
from radoncdt.matching.turns import compute_map_features
from radoncdt.measures import Batch, Measure, PointCloud

__all__ = ["find_registration", "register"]

EQUIVALENT = 0.002
"""Maps fit equally well if their misfits differ by at most this much, as those of moved symmetric symbols do."""

CLEARLY_CLOSER, LEAST_GAIN = 0.9, 0.15
"""Another map is chosen if its distortion distance is at most this share of that of the first map, and smaller by at
least this amount. The distances of copies of symmetric shapes differ by less. Digits by two hands are about 3 apart."""

UNLIMITED = Plausible()


def register(
    moving: ArrayLike | PointCloud | Descriptors,
    fixed: ArrayLike | PointCloud | Descriptors,
    /,
    *,
    limits: Plausible | None = None,
    prior: str | MapPrior | Sequence[float] = "any",
    settings: DescriptorSettings | None = None,
    tolerance: float | None = None,
    refine: bool = False,
    n_jobs: int | None = -1,
) -> Registration:
    """Find the affine map that takes one measure to another, without any correspondence of points.

    If the two are copies of one shape, ``register(moving, fixed).apply(moving)`` looks like `fixed`. Two measures μ and
    ν that differ by an affine map differ, once whitened, by a rotation or a reflection R (Prop. 5 of the paper [1]_,
    along whitened directions). R is the peak of the correlation of their NR-CDTs along the circle, interpolated between
    the steps. The map is x ↦ Ax + y with ``A = Σ_ν^{1/2} R Σ_μ^{-1/2}`` and ``y = m_ν − A m_μ``, where m and Σ are
    means and covariances.

    The map is then refined, for two images and for two PointClouds: Gauss–Newton steps minimise the squared difference
    of the grey values, up to a factor and a small difference in blur, or of the quantiles of the projections.
    Descriptors have no pixels, so their map is not refined. The map of PointClouds with robust moments is not refined
    either, because far points would matter again.

    If several maps fit equally well, because the shape is symmetric, a map that does not mirror is returned. Among
    these, it is one whose aspect is within 2 % of the smallest, and of these the one with the smallest rotation. Maps
    fit equally well if their distances, taken between the steps of the circle, differ by at most 0.002.

    If two images differ by more than an affine map, such as drawings of one letter by two hands, the peak with the
    smallest distance may have the wrong rotation, and the refinement of the map cannot mend it. With ``refine=True``,
    the map and its alternatives are compared once more, by the distances of `distortion_distances`, which see details
    and allow small distortions.

    Parameters
    ----------
    moving : array (H, W), PointCloud, or Descriptors
        The measure to move: bright ink on zeros, or Descriptors of one measure.
    fixed : array (H, W), PointCloud, or Descriptors
        The measure to which it is moved; Descriptors of one measure.
    limits : Plausible, optional
        Limits on the maps from `moving` to `fixed`, such as ``Plausible(max_aspect=1.5)``. By default, every affine map
        is plausible. It is an error if no map is plausible.
    prior : {"any", "upright", "photograph"}, MapPrior, or (aspect, rotation), default "any"
        Which maps are likely. The penalty of a map is added to its squared distance. "any": no map has a penalty.
        "upright": rotating, stretching and mirroring have penalties, which suits characters and symbols that are hardly
        rotated. "photograph": rotating is free, and stretching has a penalty. Two numbers are the penalties of the
        squared logarithm of the ratio of the two scales, and of 1 − cos ψ for a rotation by ψ; `MapPrior` has further
        penalties. The penalty decides between maps; the distance in the result is without it.
    settings : DescriptorSettings, optional
        How images and PointClouds are described: directions, levels, moments and trim. By default, the settings are
        those of given Descriptors, or else ``DescriptorSettings()``.
    tolerance : float, optional
        Other peaks whose distance exceeds the best one by at most this much become `alternatives` of the result. The
        default is the largest distance that the steps of the circle alone can cause, 2 sin(π/(4 n_angles)).
    refine : bool, default False
        Whether to choose among the map and its alternatives by their distortion distances, with points on a frame of 56
        × 56. Another map is chosen if its distortion distance is at most 0.9 times that of the first map, and smaller
        by at least 0.15. The measures must not be Descriptors.
    n_jobs : int or None, default -1
        Number of threads, as in scikit-learn: −1 means all cores, and None usually means one. The result does not
        depend on it.

    Returns
    -------
    Registration
        The map, its distance, and its alternatives, which are not refined.

    Raises
    ------
    TypeError
        If an argument has the wrong type, or ``refine=True`` is given for Descriptors.
    ValueError
        If no map is plausible, if a measure has negative mass, no mass or values that are not finite, or if measures,
        settings or options do not fit.

    Warns
    -----
    UserWarning
        If the map is not credible: its distance is more than 0.1, its aspect is more than 10, or there are fewer than
        16 angles.
    UserWarning
        If most of the mass of an image is bright paper around dark ink. `radoncdt.ink.find_ink` turns such an image
        into a measure.
    UserWarning
        If robust moments do not converge.

    See Also
    --------
    Registration : The result.
    push_forward : Moves a measure by a given map.
    affine_distances : The distances of many measures.
    Plausible : Limits on the maps.

    References
    ----------
    .. [1] M. Beckmann, R. Beinert, J. Bresch, "Max-normalized Radon cumulative distribution transform for limited data
           classification", Scale Space and Variational Methods in Computer Vision (SSVM), 2025. arXiv:2411.16282.

    Examples
    --------
    >>> flag = np.zeros((100, 100)); flag[20:80, 40:44] = flag[20:50, 44:70] = 1
    >>> print(register(flag, push_forward(flag, [[0, -1], [1, 0]], [5, 0])))
    scaled by 1.00 in x and 1.00 in y, sheared by 0.0°, rotated by 90.0°, shifted by (5.0, 0.0): distance 0.000
    """
    _validation.check_instance(refine, "refine", bool)
    found = find_registration(
        moving,
        fixed,
        limits or UNLIMITED,
        prior=read_prior(prior),
        settings=settings,
        tolerance=tolerance,
        refine=refine,
        n_jobs=n_jobs,
    )
    if not found.credible:
        warnings.warn(f"the map from `moving` to `fixed` is not credible: {found.warning}", stacklevel=2)
    return found


def find_registration(
    moving: ArrayLike | PointCloud | Descriptors,
    fixed: ArrayLike | PointCloud | Descriptors,
    limits: Plausible,
    *,
    prior: MapPrior = PRIORS["any"],
    settings: DescriptorSettings | None = None,
    tolerance: float | None = None,
    refine: bool = False,
    n_jobs: int | None = -1,
) -> Registration:
    """Do what `register` does, without a warning if the map is not credible."""
    _validation.check_instance(limits, "limits", Plausible)
    have_pixels = not any(isinstance(join_descriptors(measure), Descriptors) for measure in (moving, fixed))
    if refine and not have_pixels:
        raise ArgumentTypeError("refine", "must be False for Descriptors, because they have no pixels")
    first, second = read_pair(moving, "moving", fixed, "fixed", settings, n_jobs)
    for name, some in (("moving", first), ("fixed", second)):
        if len(some) != 1:
            raise ArgumentValueError(name, f"must be one measure, got {len(some)}; `affine_distances` compares many")
    allowance = first.settings.grid_distance
    if tolerance is not None:
        allowance = _validation.check_number(tolerance, "tolerance", "a number that is not negative", lambda x: x >= 0)
    peaks = _find_peaks(first, second, limits, prior, allowance)
    if not peaks:
        every = _find_peaks(first, second, Plausible(reflections=limits.reflections), prior, 0.0)
        best, _ = _compute_maps(first, second, every[:1], UNLIMITED)[0]
        raise ValueError(
            f"no map from `moving` to `fixed` is plausible: none within {limits}; the best of all has an aspect of "
            f"{best.aspect:.3f}, a shear of {best.shear:.1f}° and a scale of {best.scale:.3f}"
        )
    found, misfits = (list(some) for some in zip(*_compute_maps(first, second, peaks, limits)))
    simplest = _choose_simplest(found, misfits)
    nearest = peaks[simplest if prior.penalties else 0]  # without penalties, maps that fit equally well count as one
    best = replace(found.pop(simplest), distance=nearest.distance)
    if have_pixels:
        batches = Batch.read(moving, "moving"), Batch.read(fixed, "fixed")
        if refine and found:
            peaks.insert(0, peaks.pop(simplest))
            found.insert(0, best)
            best = found.pop(_choose_closest(*batches, (first, second), peaks, prior, n_jobs))
        pair = batches[0].items[0], batches[1].items[0]
        has_cloud = any(isinstance(measure, PointCloud) for measure in pair)
        if not (has_cloud and first.settings.moments == "robust"):  # far points would matter again
            best = _refine_map(*pair, best, second, limits)
    if prior.penalties:  # a map may come near the best one only because it costs less
        found = [each for each in found if each.distance <= best.distance + allowance]
    return replace(best, alternatives=tuple(found))


def _choose_simplest(found: list[Registration], misfits: list[float]) -> int:
    """The index of the simplest of the maps that fit best: no mirroring, little distortion, little rotation."""
    if len(found) == 1:
        return 0
    equals = [k for k, misfit in enumerate(misfits) if misfit <= min(misfits) + EQUIVALENT]
    plain = [k for k in equals if not found[k].mirrored] or equals
    least = min(found[k].aspect for k in plain)
    straight = [k for k in plain if found[k].aspect <= 1.02 * least]
    return min(straight, key=lambda k: (round(abs(found[k].rotation), 1), found[k].rotation < 0))


def _refine_map(
    moving: Measure, fixed: Measure, start: Registration, target: Descriptors, limits: Plausible
) -> Registration:
    """Refine a map, as far as it stays plausible. `target` describes the fixed measure."""
    angles = equispaced_angles(target.settings.n_angles)
    whitening = inverse_square_root(target.covariances[0])
    matrix, shift = refine(
        moving,
        fixed,
        start.matrix,
        start.shift,
        directions=np.stack([np.cos(angles), np.sin(angles)], axis=-1) @ whitening,
        levels=target.settings.levels,
        similarity=limits.similarity,
    )

    def at(share: float) -> Registration:
        mixed = (1 - share) * start.matrix + share * matrix
        return replace(start, matrix=mixed, shift=(1 - share) * start.shift + share * shift)

    return at(1) if limits.admits(at(1)) else at(_bisect(lambda share: limits.admits(at(share)), 0.0, 1.0, 20))


def _bisect(is_good: Callable[[float], bool], good: float, bad: float, n_steps: int) -> float:
    """A good value as near as possible to a bad one, between the two."""
    for _ in range(n_steps):
        middle = (good + bad) / 2
        good, bad = (middle, bad) if is_good(middle) else (good, middle)
    return good


class _Peak(NamedTuple):
    """A rotation of the whitened measures at which they fit better than at the rotations next to it."""

    distance: float
    """The distance at the nearest step of the circle."""
    mirrored: bool
    angle: float
    """The angle of the peak itself, between the steps."""
    plausible: float
    """An angle next to the peak whose map is plausible."""
    misfit: float
    """The distance at the peak itself, by trigonometric interpolation, and the penalty of the map."""
    penalised: float
    """The distance at the nearest step, and the penalty of the map."""


def _find_peaks(
    moving: Descriptors, fixed: Descriptors, limits: Plausible, prior: MapPrior, tolerance: float
) -> list[_Peak]:
    """The peaks of the correlation at plausible steps whose distance is near the best, the best first."""
    n_angles = moving.settings.n_angles
    n = 2 * n_angles
    target, spectrum = (compute_spectrum(some.values)[0] for some in (fixed, moving))
    # correlations of G_k with F_{k−s} and with F_{s−k}
    products = [(target * spectrum.conj()).sum(axis=-1), (target * spectrum).sum(axis=-1)][: 1 + limits.reflections]
    correlations = np.array([np.fft.irfft(_halve(product), n, norm="forward") for product in products])
    allowed = np.tile(np.arange(n) * np.pi / n_angles, (2, 1))  # a plausible angle near each step
    if limits.kernel_limits is not None:
        kernels, pair = _kernels.current(), (moving.waves.covariances[0], fixed.waves.covariances[0])
        allowed = kernels.plausible_turns(*pair, limits.kernel_limits, n_angles).reshape(2, n)
        correlations[np.isnan(allowed)[: len(products)]] = -np.inf
    penalties = _penalise_steps(moving, fixed, prior)[: len(products)]
    scores = correlations - penalties / 2
    neighbours = np.maximum(np.roll(scores, 1, axis=1), np.roll(scores, -1, axis=1))
    peaks = (scores >= neighbours) & (scores > -np.inf)
    # These distances suffer from cancellation, so they only exclude peaks that cannot be near the best.
    norms = np.sum(np.abs(target) ** 2) + np.sum(np.abs(spectrum) ** 2)
    squares = norms - 2 * scores
    rough = np.sqrt(np.maximum(squares, 0))
    peaks &= rough <= rough.min() + tolerance + 1e-6
    circle = full_circle(moving.values[0])
    steps = np.arange(n_angles)
    found = []
    for mirrored, step in np.argwhere(peaks):
        turned = circle[step - steps if mirrored else steps - step]  # negative indices count from the end
        distance = float(np.sqrt(np.mean((fixed.values[0] - turned) ** 2, dtype=np.float64)))
        angle = _maximise(products[mirrored], np.pi * int(step) / n_angles, n_angles)
        correlation = (products[mirrored] * np.exp(1j * np.arange(n_angles + 1) * angle)).real.sum()
        penalty = float(penalties[mirrored, step])
        misfit = float(np.sqrt(max(norms - 2 * correlation, 0) + penalty))
        penalised = float(np.hypot(distance, np.sqrt(penalty)))
        found.append(_Peak(distance, bool(mirrored), angle, float(allowed[mirrored, step]), misfit, penalised))
    found.sort(key=lambda peak: (round(peak.penalised, 9), peak.mirrored, peak.angle))  # among equals, unmirrored first
    near: list[_Peak] = []
    for peak in found:
        same_side = (other.angle - peak.angle for other in near if other.mirrored == peak.mirrored)
        is_known = any(abs(np.angle(np.exp(1j * turn))) < np.pi / n for turn in same_side)  # two steps of one peak
        if peak.penalised <= found[0].penalised + tolerance and not is_known:
            near.append(peak)
    return near


def _choose_closest(
    moving: Batch,
    fixed: Batch,
    descriptors: tuple[Descriptors, Descriptors],
    peaks: list[_Peak],
    prior: MapPrior,
    n_jobs: int | None,
) -> int:
    """The index of the peak with the smallest distortion distance; 0 if it is not clearly smaller than the first."""
    n_angles = descriptors[0].settings.n_angles
    steps = [round(peak.angle * n_angles / np.pi) % (2 * n_angles) + 2 * n_angles * peak.mirrored for peak in peaks]
    distances = compare_turns(moving, fixed, descriptors, np.array(steps), prior, n_jobs)
    closest = int(np.argmin(distances))
    return closest if distances[closest] <= min(CLEARLY_CLOSER * distances[0], distances[0] - LEAST_GAIN) else 0


def _penalise_steps(moving: Descriptors, fixed: Descriptors, prior: MapPrior) -> Floats:
    """The penalties (2, 2·n_angles) of the maps at all steps of the circle, plain and mirrored."""
    n = 2 * moving.settings.n_angles
    if prior.penalties is None:
        return np.zeros((2, n))
    turns = np.arange(2 * n)
    features = compute_map_features(moving, fixed, np.zeros((2 * n, 2), np.intp), turns)
    penalties: Floats = np.array(prior.penalties) @ np.array(features)
    return penalties.reshape(2, n)


def _halve(product: NDArray[np.complex128]) -> NDArray[np.complex128]:
    """Coefficients for `irfft`, which adds those of positive and negative frequencies."""
    coefficients = product.copy()
    coefficients[1:-1] /= 2
    return coefficients


def _maximise(product: NDArray[np.complex128], angle: float, n_angles: int) -> float:
    """The maximum of Re Σ_q product_q e^{iqφ} next to an angle of the circle's grid, by Newton's method.

    The angle itself is returned if no step leads higher, or if the steps lead more than one grid step away.
    """
    frequencies = np.arange(n_angles + 1)
    step = np.pi / n_angles

    def derivatives(phi: float) -> tuple[float, float, float]:
        terms = product * np.exp(1j * frequencies * phi)
        return terms.real.sum(), -(frequencies @ terms.imag), -(frequencies**2 @ terms.real)

    before, here, behind = (derivatives(angle + k * step)[0] for k in (-1, 0, 1))
    bend = before - 2 * here + behind
    phi = angle + step * (before - behind) / (2 * bend) if bend < 0 else angle  # start at the top of a parabola
    for _ in range(8):
        _, slope, bend = derivatives(phi)
        move = slope / bend if bend < 0 else np.inf
        if not abs(phi - move - angle) <= step:
            break
        phi -= move
        if abs(move) < 1e-14:
            break
    return float(phi) if abs(phi - angle) <= step and derivatives(phi)[0] >= here else angle


def _compute_maps(
    moving: Descriptors, fixed: Descriptors, peaks: list[_Peak], limits: Plausible
) -> list[tuple[Registration, float]]:
    """The maps that belong to rotations of the whitened measures, with their misfits."""
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
        if not limits.admits(registration):  # take the plausible map nearest to the peak
            good = _bisect(lambda angle, peak=peak: limits.admits(at(angle, peak)), peak.plausible, peak.angle, 30)  # type: ignore[misc]
            registration, misfit = at(good, peak), peak.penalised
        if limits.similarity:
            left, scales, right = np.linalg.svd(registration.matrix)
            matrix = np.sqrt(scales).prod() * left @ right
            registration = replace(registration, matrix=matrix, shift=fixed.means[0] - matrix @ moving.means[0])
        found.append((registration, misfit))
    return found
