"""Random affine maps, and images moved by them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from radoncdt import _validation
from radoncdt._push_forward import move_picture
from radoncdt._typing import Floats, Seed
from radoncdt._validation import ArgumentTypeError, ArgumentValueError

__all__ = ["AffineDistribution", "AffineMaps", "check_images", "make_generator", "move", "random_affine"]

STEPS = ("scale", "rotate", "shear_x", "shear_y")
"""The steps of a linear map, in their default order."""

MAX_LOSS = 0.01
"""Largest share of its ink that an image may lose beyond the canvas without a warning."""


class AffineMaps(NamedTuple):
    """Affine maps x ↦ Ax + y in pixels from the centre of the image, x to the right and y up.

    Parameters
    ----------
    matrices : float64 array (n, 2, 2)
        The matrices A.
    shifts : float64 array (n, 2)
        The vectors y.

    See Also
    --------
    AffineDistribution : The distribution from which random maps are drawn.

    Examples
    --------
    >>> maps = datasets.AffineDistribution(shift=5, whole_pixels=True).maps(2, rng=0)
    >>> maps.matrices.shape, maps.shifts.shape
    ((2, 2, 2), (2, 2))
    """

    matrices: Floats
    shifts: Floats


def _from_0_to(most: float) -> Callable[[float], bool]:
    return lambda x: 0 <= x <= most


@dataclass(frozen=True, kw_only=True)
class AffineDistribution:
    """Distribution of maps x ↦ Ax + y about the centre of the image, with uniform and independent parameters.

    A is the product of the steps in ``order``, which act one after the other. The shift y comes last. By default, every
    map is the identity. `NARROW` and `WIDE` are the distributions of the paper.

    Parameters
    ----------
    scale : (low, high), default (1.0, 1.0)
        Bounds of the scale factors.
    isotropic : bool, default True
        Whether x and y share one scale factor. If not, each has its own.
    mirror : bool, default False
        Whether half of the maps begin with the reflection x ↦ −x.
    rotation : float, default 0.0
        Angles are between −rotation and +rotation, in degrees, counter-clockwise.
    shear : float, default 0.0
        The angles α of x ↦ x + y·tan α and of y ↦ y + x·tan α are between −shear and +shear, in degrees. They are
        drawn independently.
    whole_degrees : bool, default False
        Whether angles of shear are integers. All integers from −shear to +shear are equally likely.
    shift : float, default 0.0
        Both components of y are between −shift and +shift, in pixels.
    whole_pixels : bool, default False
        Whether shifts are integers. All integers from −shift to +shift are equally likely.
    circular : bool, default False
        Whether pixels that the shift moves off the canvas re-enter on the opposite side. Pixels that A moves off the
        canvas are lost.
    order : sequence of str, default ("scale", "rotate", "shear_x", "shear_y")
        The steps "scale", "rotate", "shear_x", "shear_y" in some order.
    fit_canvas : bool, default False
        Whether x and y shrink after a rotation or a shear, each by its own factor, so that the image of a square canvas
        fits into the canvas again. Image libraries that enlarge the canvas to hold the result, and then resize the
        result to the original size, do this.

    Raises
    ------
    TypeError, ValueError
        If a parameter has the wrong type or is out of its range.

    See Also
    --------
    random_affine : Move images by random maps.

    Examples
    --------
    >>> turned = datasets.AffineDistribution(scale=(0.5, 2), rotation=180)
    >>> matrices, shifts = turned.maps(1000, rng=0)
    >>> scales = np.sqrt(np.linalg.det(matrices))
    >>> bool(0.5 <= scales.min() < 0.6 < 1.9 < scales.max() <= 2)
    True
    """

    scale: tuple[float, float] = (1.0, 1.0)
    isotropic: bool = True
    mirror: bool = False
    rotation: float = 0.0
    shear: float = 0.0
    whole_degrees: bool = False
    shift: float = 0.0
    whole_pixels: bool = False
    circular: bool = False
    order: tuple[str, ...] = STEPS
    fit_canvas: bool = False

    def __repr__(self) -> str:
        """Leave out the values that are those of the identity, so that signatures with a distribution are short."""
        given = (
            f"{each.name}={value!r}" for each in fields(self) if (value := getattr(self, each.name)) != each.default
        )
        return f"{type(self).__name__}({', '.join(given)})"

    def __post_init__(self) -> None:
        scale = _validation.check_finite_array(self.scale, "scale")
        if scale.shape != (2,) or not 0 < scale[0] <= scale[1]:
            raise ArgumentValueError("scale", f"must be a pair 0 < low ≤ high, got {self.scale!r}")
        for name, most in (("rotation", 360), ("shear", 89), ("shift", 2**20)):
            _validation.check_number(getattr(self, name), name, f"a number from 0 to {most}", _from_0_to(most))
        for name in ("isotropic", "mirror", "whole_degrees", "whole_pixels", "circular", "fit_canvas"):
            _validation.check_instance(getattr(self, name), name, bool)
        for name, whole in (("shear", self.whole_degrees), ("shift", self.whole_pixels)):
            if whole and getattr(self, name) != int(getattr(self, name)):
                raise ArgumentValueError(name, f"must be a whole number if its values are, got {getattr(self, name)}")
        steps = _validation.check_sequence(self.order, "order")
        if len(steps) != len(STEPS) or set(steps) != set(STEPS):
            raise ArgumentValueError("order", f"must contain each of {', '.join(STEPS)} once, got {self.order!r}")

    def maps(self, n: int, rng: Seed) -> AffineMaps:
        """Draw random maps.

        Parameters
        ----------
        n : int
            Number of maps.
        rng : numpy Generator or int
            The random generator, or the seed of a new one.

        Returns
        -------
        AffineMaps
            The maps: `matrices` (n, 2, 2) and `shifts` (n, 2). The first maps from a generator in the same state do not
            depend on n.

        Raises
        ------
        TypeError
            If `n` is not an integer, or `rng` is neither a generator nor a seed.
        ValueError
            If `n` is negative or more than a million, or the seed is negative.

        Examples
        --------
        >>> matrices, shifts = datasets.AffineDistribution(rotation=90).maps(3, rng=0)
        >>> np.allclose(np.linalg.det(matrices), 1), shifts.shape
        (True, (3, 2))
        """
        n = _validation.check_count(n, "n", 0, _validation.MAX_IMAGES)
        scale_x, scale_y, turn, shear_x, shear_y, x, y, mirror = make_generator(rng).random((n, 8)).T
        low, high = self.scale
        scale_x = low + (high - low) * scale_x
        scale_y = scale_x if self.isotropic else low + (high - low) * scale_y
        turn = np.deg2rad(_spread(turn, self.rotation))
        tangent_x, tangent_y = (
            np.tan(np.deg2rad(_spread(u, self.shear, self.whole_degrees))) for u in (shear_x, shear_y)
        )
        one, zero = np.ones(n), np.zeros(n)
        steps = {
            "scale": _matrices(scale_x, zero, zero, scale_y),
            "rotate": _matrices(np.cos(turn), -np.sin(turn), np.sin(turn), np.cos(turn)),
            "shear_x": _matrices(one, tangent_x, zero, one),
            "shear_y": _matrices(one, zero, tangent_y, one),
        }
        matrices = _matrices(np.where((mirror < 0.5) & self.mirror, -1.0, 1.0), zero, zero, one)
        if self.fit_canvas:  # the absolute values of a row add up to half the width of the image of [−1, 1]²
            steps |= {name: s / np.abs(s).sum(axis=-1, keepdims=True) for name, s in steps.items() if name != "scale"}
        for name in self.order:
            matrices = steps[name] @ matrices
        shifts = np.stack([_spread(u, self.shift, self.whole_pixels) for u in (x, y)], axis=-1)
        return AffineMaps(matrices, shifts)


def make_generator(rng: Seed) -> np.random.Generator:
    """Return the generator itself, or a new one from a seed."""
    if isinstance(rng, np.random.Generator):
        return rng
    if not isinstance(rng, (int, np.integer)):
        raise ArgumentTypeError("rng", f"must be a numpy Generator or an integer seed, got {rng!r}")
    return np.random.default_rng(_validation.check_count(rng, "rng", 0))


def _spread(u: Floats, most: float, whole: bool = False) -> Floats:
    """Map numbers in [0, 1) to numbers, or to whole numbers, between −most and +most."""
    return np.floor(u * (2 * most + 1)) - most if whole else most * (2 * u - 1)


def _matrices(a: Floats, b: Floats, c: Floats, d: Floats) -> Floats:
    """The matrices (a b; c d), (n, 2, 2)."""
    return np.stack([a, b, c, d], axis=-1).reshape(-1, 2, 2)


def check_images(images: ArrayLike) -> NDArray[Any]:
    """Return a stack (n, H, W) of finite numbers: float64 if the images are float64, and float32 otherwise."""
    stack = _validation.check_array(images, "images")
    if not isinstance(images, (list, tuple)):
        _validation.check_not_colour(stack.shape, "images")
    if stack.ndim != 3 or 0 in stack.shape[1:]:
        raise ArgumentValueError("images", f"must have shape (n, H, W), got {stack.shape}")
    if stack.dtype.kind == "f" and not np.isfinite(stack).all():
        raise ArgumentValueError("images", f"must be finite, got {_validation.show_first(~np.isfinite(stack), stack)}")
    return stack.astype(np.float64 if stack.dtype == np.float64 else np.float32, copy=False)


def random_affine(images: ArrayLike, distribution: AffineDistribution, rng: Seed) -> tuple[NDArray[Any], AffineMaps]:
    """Move every image by its own random map.

    The result is x ↦ image(A⁻¹(x − y)) on the same canvas. It is sampled once, by bilinear interpolation, so grey
    values are preserved.

    Parameters
    ----------
    images : array (n, H, W)
        The images, with any finite values.
    distribution : AffineDistribution
        The distribution of the maps.
    rng : numpy Generator or int
        The random generator, or the seed of a new one.

    Returns
    -------
    images : float array (n, H, W)
        The moved images: float64 if the images are float64, and float32 otherwise.
    maps : AffineMaps
        The maps that were drawn: `maps.matrices` (n, 2, 2) and `maps.shifts` (n, 2).

    Raises
    ------
    TypeError, ValueError
        If `images` is not a stack of finite numbers, or another argument has the wrong type.

    Warns
    -----
    UserWarning
        If an image loses more than 1 % of its ink beyond the canvas.

    See Also
    --------
    academic : Random affine copies of the paper's symbols.
    lin_mnist : Random affine copies of digits.
    radoncdt.push_forward : Move one measure by a given map; the mass is preserved.

    Examples
    --------
    >>> crosses = np.stack(list(datasets.templates(["star4"], canvas=192).values()) * 3)
    >>> images, maps = datasets.random_affine(crosses, datasets.AffineDistribution(shift=20), rng=0)
    >>> np.allclose(mean(images), mean(crosses) + maps.shifts, atol=0.01)
    True
    """
    stack = check_images(images)
    _validation.check_instance(distribution, "distribution", AffineDistribution)
    maps = distribution.maps(len(stack), rng)
    return move(stack, maps, circular=distribution.circular, stacklevel=3), maps


def move(stack: NDArray[Any], maps: AffineMaps, *, circular: bool, stacklevel: int | None) -> NDArray[Any]:
    """Move every image of a stack by its map, as `random_affine` does. Warn of lost ink if there is a `stacklevel`."""
    moved = np.empty_like(stack)
    rolls = np.rint(maps.shifts).astype(int) if circular else np.zeros(maps.shifts.shape, int)
    rest = maps.shifts - rolls  # fractions of pixels, which are interpolated
    lost = 0
    for i, (image, matrix, shift, (right, up)) in enumerate(zip(stack, maps.matrices, rest, rolls)):
        margin = int(circular and shift.any())  # one pixel for the part that leaves the canvas
        picture, whole = move_picture(image, matrix, shift, margin)
        if margin:
            picture = _wrap_margin(picture)
        moved[i] = np.roll(picture, (-up, right), axis=(0, 1)) if circular else picture
        if not whole:
            expected = abs(np.linalg.det(matrix)) * np.abs(image).sum(dtype=np.float64)
            lost += np.abs(picture).sum(dtype=np.float64) < (1 - MAX_LOSS) * expected
    if lost and stacklevel is not None:
        warnings.warn(
            f"{lost} of {len(stack)} images lost more than {100 * MAX_LOSS:g} % of their ink beyond the canvas",
            stacklevel=stacklevel,
        )
    return moved


def _wrap_margin(picture: NDArray[Any]) -> NDArray[Any]:
    """Remove a margin of one pixel and add it to the opposite sides."""
    for _ in range(2):
        inside = picture[1:-1].copy()
        inside[-1] += picture[0]
        inside[0] += picture[-1]
        picture = inside.T
    return picture
