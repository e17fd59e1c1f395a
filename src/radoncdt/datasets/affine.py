"""Random affine maps of images, with the maps that were drawn."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from radoncdt import _validation
from radoncdt._push_forward import move_picture
from radoncdt._typing import Floats
from radoncdt._validation import ArgumentTypeError, ArgumentValueError

Seed = int | np.random.Generator

STEPS = ("scale", "rotate", "shear_x", "shear_y")


class AffineMaps(NamedTuple):
    """Maps x ↦ Ax + y in pixels from the centre of the image, x to the right and y up."""

    matrices: Floats
    """The matrices A, (n, 2, 2)."""
    shifts: Floats
    """The vectors y, (n, 2)."""


def _from_0_to(most: float) -> Callable[[float], bool]:
    return lambda x: 0 <= x <= most


@dataclass(frozen=True, kw_only=True)
class AffineDistribution:
    """A distribution of maps x ↦ Ax + y about the centre of the image, all parts uniform and independent.

    A is the product of the steps in `order`, the first acting first; the shift y comes last. By default nothing moves.

    Parameters
    ----------
    scale : (low, high)
        Factors, of x and y together or, if not `isotropic`, each its own.
    isotropic : bool
    mirror : bool
        Half of the maps turn x to −x before anything else.
    rotation : float
        Angles between −rotation and +rotation, in degrees, counter-clockwise.
    shear : float
        Angles α between −shear and +shear, in degrees, of x ↦ x + y·tan α and of y ↦ y + x·tan α, each its own.
    whole_degrees : bool
        Angles of shear are whole numbers, all those from −shear to +shear equally likely.
    shift : float
        Both parts of y between −shift and +shift, in pixels.
    whole_pixels : bool
        Shifts are whole numbers, all those from −shift to +shift equally likely.
    circular : bool
        What the shift moves off the canvas comes in on the other side. What A moves off the canvas is cut off.
    order : the steps "scale", "rotate", "shear_x", "shear_y" in some order
    fit_canvas : bool
        After a rotation or a shear, shrink x and y, each by its own factor, so that the image of a square canvas fits
        into the canvas again. Image libraries that enlarge the canvas to hold the result, and then resize the result
        to the old size, do this.

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
                raise ArgumentValueError(name, f"must be a whole number, as its values are, got {getattr(self, name)}")
        steps = _validation.check_sequence(self.order, "order")
        if len(steps) != len(STEPS) or set(steps) != set(STEPS):
            raise ArgumentValueError("order", f"must hold each of {', '.join(STEPS)} once, got {self.order!r}")

    def maps(self, n: int, rng: Seed) -> AffineMaps:
        """Draw n maps. A generator in the same state gives the same first maps, whatever n is."""
        n = _validation.check_count(n, "n", 0, _validation.MAX_IMAGES)
        scale_x, scale_y, turn, shear_x, shear_y, x, y, mirror = generator(rng).random((n, 8)).T
        low, high = self.scale
        scale_x = low + (high - low) * scale_x
        scale_y = scale_x if self.isotropic else low + (high - low) * scale_y
        turn = np.deg2rad(_between(turn, self.rotation))
        tangent_x, tangent_y = (
            np.tan(np.deg2rad(_between(u, self.shear, self.whole_degrees))) for u in (shear_x, shear_y)
        )
        one, zero = np.ones(n), np.zeros(n)
        steps = {
            "scale": _matrices(scale_x, zero, zero, scale_y),
            "rotate": _matrices(np.cos(turn), -np.sin(turn), np.sin(turn), np.cos(turn)),
            "shear_x": _matrices(one, tangent_x, zero, one),
            "shear_y": _matrices(one, zero, tangent_y, one),
        }
        matrices = _matrices(np.where((mirror < 0.5) & self.mirror, -1.0, 1.0), zero, zero, one)
        if self.fit_canvas:  # a row of absolute values adds up to the half-width of the image of [−1, 1]²
            steps |= {name: s / np.abs(s).sum(axis=-1, keepdims=True) for name, s in steps.items() if name != "scale"}
        for name in self.order:
            matrices = steps[name] @ matrices
        shifts = np.stack([_between(u, self.shift, self.whole_pixels) for u in (x, y)], axis=-1)
        return AffineMaps(matrices, shifts)


def generator(rng: Seed) -> np.random.Generator:
    """The generator itself, or a new one from a seed."""
    if isinstance(rng, np.random.Generator):
        return rng
    if not isinstance(rng, (int, np.integer)):
        raise ArgumentTypeError("rng", f"must be a numpy Generator, or a seed, an integer, got {rng!r}")
    return np.random.default_rng(_validation.check_count(rng, "rng", 0))


def _between(u: Floats, most: float, whole: bool = False) -> Floats:
    """From numbers in [0, 1) to numbers, or whole numbers, between −most and +most."""
    return np.floor(u * (2 * most + 1)) - most if whole else most * (2 * u - 1)


def _matrices(a: Floats, b: Floats, c: Floats, d: Floats) -> Floats:
    return np.stack([a, b, c, d], axis=-1).reshape(-1, 2, 2)


def pictures(images: ArrayLike) -> NDArray[Any]:
    """A stack (n, H, W) of floats, float64 where they came so and float32 otherwise."""
    stack = _validation.check_array(images, "images")
    if not isinstance(images, (list, tuple)):
        _validation.check_not_colour(stack.shape, "images")
    if stack.ndim != 3 or 0 in stack.shape[1:]:
        raise ArgumentValueError("images", f"must have shape (n, H, W), got {stack.shape}")
    if stack.dtype.kind == "f" and not np.isfinite(stack).all():
        raise ArgumentValueError("images", f"must be finite, got {_validation.show_first(~np.isfinite(stack), stack)}")
    return stack.astype(np.float64 if stack.dtype == np.float64 else np.float32, copy=False)


def random_affine(images: ArrayLike, distribution: AffineDistribution, rng: Seed) -> tuple[NDArray[Any], AffineMaps]:
    """Move every image by a random map of its own.

    Grey values are kept: the result is x ↦ image(A⁻¹(x − y)) on the same canvas, sampled once, by bilinear
    interpolation.

    Parameters
    ----------
    images : array (n, H, W)
    distribution : AffineDistribution
    rng : numpy Generator, or int
        A seed, if an int.

    Returns
    -------
    images : float array (n, H, W)
    maps : AffineMaps
        The maps that made them, `maps.matrices` (n, 2, 2) and `maps.shifts` (n, 2).

    Warns
    -----
    UserWarning
        When an image loses more than a hundredth of its ink beyond the canvas.

    Examples
    --------
    >>> crosses = np.stack(list(datasets.templates(["star4"], canvas=192).values()) * 3)
    >>> images, maps = datasets.random_affine(crosses, datasets.AffineDistribution(shift=20), rng=0)
    >>> np.allclose(mean(images), mean(crosses) + maps.shifts, atol=0.01)
    True
    """
    stack = pictures(images)
    _validation.check_instance(distribution, "distribution", AffineDistribution)
    maps = distribution.maps(len(stack), rng)
    return move(stack, maps, circular=distribution.circular, stacklevel=3), maps


def move(stack: NDArray[Any], maps: AffineMaps, *, circular: bool, stacklevel: int | None) -> NDArray[Any]:
    """Move every picture by its map; see `random_affine`. Without a `stacklevel` it does not warn."""
    moved = np.empty_like(stack)
    rolls = np.rint(maps.shifts).astype(int) if circular else np.zeros(maps.shifts.shape, int)
    rest = maps.shifts - rolls  # what is left to interpolate
    lost = 0
    for i, (image, matrix, shift, (right, up)) in enumerate(zip(stack, maps.matrices, rest, rolls)):
        margin = int(circular and shift.any())  # what a part of a pixel moves off the canvas is put back below
        picture, whole = move_picture(image, matrix, shift, margin)
        if margin:
            picture = _folded(picture)
        moved[i] = np.roll(picture, (-up, right), axis=(0, 1)) if circular else picture
        if not whole:
            expected = abs(np.linalg.det(matrix)) * np.abs(image).sum(dtype=np.float64)
            lost += np.abs(picture).sum(dtype=np.float64) < 0.99 * expected
    if lost and stacklevel is not None:
        warnings.warn(
            f"{lost} of {len(stack)} images lost more than 1 % of their ink beyond the canvas", stacklevel=stacklevel
        )
    return moved


def _folded(picture: NDArray[Any]) -> NDArray[Any]:
    """A picture without its margin of one pixel, which is added to the opposite sides."""
    for _ in range(2):
        inside = picture[1:-1].copy()
        inside[-1] += picture[0]
        inside[0] += picture[-1]
        picture = inside.T
    return picture
