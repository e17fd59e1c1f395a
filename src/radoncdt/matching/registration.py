"""The result of a registration: an affine map from one measure to another, and how well it fits."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from radoncdt import _validation
from radoncdt._interface import precision
from radoncdt._typing import Floats
from radoncdt._validation import ArgumentValueError
from radoncdt.measures import PointCloud

__all__ = ["Registration"]

CREDIBLE_DISTANCE = 0.1
"""Largest distance of a credible map. Most pairs of unrelated shapes are further apart."""

CREDIBLE_ASPECT = 10.0
"""Largest aspect κ of a credible map. Its shear is then at most arcsin((κ² − 1)/(κ² + 1)), which is 78.6°."""


@dataclass(frozen=True, eq=False)
class Registration:
    """An affine map x ↦ Ax + y that takes one measure to another, and how well it fits.

    `register` returns it. Coordinates are pixels from the centres of the images, x to the right and y upwards. A is the
    product (rotation)(shear)(scales)(mirror), of which the rightmost factor acts first. ``print(registration)``
    describes the map in words, and notebooks show it with its matrix.

    Parameters
    ----------
    matrix : float64 array (2, 2)
        The matrix A.
    shift : float64 array (2,)
        The vector y, in pixels.
    distance : float
        The distance of the two measures: that of `affine_distances`. For an alternative, it is the distance at the step
        of the circle that is nearest to its map.
    mirrored : bool
        Whether the map mirrors: det A < 0.
    alternatives : tuple of Registration, default ()
        Other maps that fit as well, up to the tolerance, the best first. A symmetric shape has several.
    frames : ((int, int), (int, int)), default ((1, 1), (1, 1))
        Shapes (H, W) of the moving and the fixed image; (1, 1) for PointClouds.
    grid_distance : float, default 0.0
        The largest distance of two copies that the steps of the circle alone can cause: 2 sin(π/(4 n_angles)).

    See Also
    --------
    register : Finds the map.
    push_forward : Moves a measure by a matrix and a shift.
    radoncdt.plot.overlay : Shows one image over the other.

    Examples
    --------
    >>> flag = np.zeros((100, 100)); flag[20:80, 40:44] = flag[20:50, 44:70] = 1
    >>> found = register(flag, np.rot90(flag))
    >>> found.credible, round(found.rotation), found.matrix.round(2).tolist()
    (True, 90, [[0.0, -1.0], [1.0, 0.0]])
    """

    matrix: Floats
    shift: Floats
    distance: float
    mirrored: bool
    alternatives: tuple[Registration, ...] = field(default=(), repr=False)
    frames: tuple[tuple[int, int], tuple[int, int]] = field(default=((1, 1), (1, 1)), repr=False)
    grid_distance: float = field(default=0.0, repr=False)

    @property
    def credible(self) -> bool:
        """Whether the two measures can be copies of one shape.

        A map is not credible if the distance is more than 0.1, which most unrelated shapes exceed and drawings of one
        shape hardly ever do. It is not credible either if its aspect is more than 10, because one direction is then
        nearly lost. A map with a smaller aspect shears by at most 78.6°. With fewer than 16 angles no map is credible,
        because the steps of the circle alone can cause a distance of more than 0.1, and the map may be off by several
        pixels.
        """
        return not self.warning

    @property
    def warning(self) -> str:
        """Why the map is not credible, in words; empty if it is."""
        reasons = []
        if not self.distance <= CREDIBLE_DISTANCE:
            reasons.append(f"the distance is above {CREDIBLE_DISTANCE:g}, as between unrelated shapes")
        if not self.aspect <= CREDIBLE_ASPECT:
            reasons.append(f"it stretches one direction {self.aspect:.3g} times as much as another")
        if not self.grid_distance <= CREDIBLE_DISTANCE:
            reasons.append(f"with so few angles, copies can have a distance of {self.grid_distance:.2g}")
        return " and ".join(reasons)

    def inverse(self) -> Registration:
        """Return the map from the fixed measure to the moving one.

        Its alternatives are the inverses of the alternatives.

        Returns
        -------
        Registration
            The inverse map.

        Examples
        --------
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

        An array with the shape of the moving image is taken for an image, and any other array holds points. If the
        moving image is two pixels wide, and there are as many points as it has rows, pass the points as a PointCloud.

        Parameters
        ----------
        moving : PointCloud, array (…, 2), or array (H, W)
            Points (x, y) in pixels from the centre, y up, or an image in the frame of the moving image.

        Returns
        -------
        PointCloud or float array
            For a PointCloud, the points moved, with the same weights. For points, the points moved, (…, 2).

            For an image, the image moved by bilinear interpolation, with the shape of the fixed image. Its grey values
            are kept, and pixels beyond its edges are 0. In contrast, `push_forward` keeps the mass.

        Raises
        ------
        TypeError
            If `moving` does not hold numbers.
        ValueError
            If `moving` has another shape or values that are not finite, or if it is an image and the fixed measure is
            not.

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
            return self._move_image(array)
        if array.ndim == 0 or array.shape[-1] != 2:
            raise ArgumentValueError(
                "moving",
                "must be a PointCloud, points of shape (…, 2), or an image of the shape that was registered, "
                f"{self.frames[0]}, got shape {array.shape}",
            )
        points: Floats = _validation.check_coordinates(array, "moving") @ self.matrix.T + self.shift
        return points

    def _move_image(self, image: NDArray[Any]) -> NDArray[Any]:
        from scipy.ndimage import affine_transform

        if self.frames[1] == (1, 1) != self.frames[0]:
            raise ArgumentValueError(
                "moving", "must hold points, because the fixed measure is not an image, got an image"
            )
        values = _validation.check_finite_array(image, "moving").astype(precision(image.dtype))
        swap = [1, 0, 2]  # SciPy takes rows before columns
        back = np.linalg.inv(self.pixel_matrix)[np.ix_(swap, swap)]
        moved: NDArray[Any] = affine_transform(
            values, back[:2, :2], back[:2, 2], self.frames[1], order=1, mode="grid-constant"
        )
        return moved

    @property
    def pixel_matrix(self) -> Floats:
        """The map as a 3×3 array from (column, row, 1) of the moving image to (column, row, 1) of the fixed one.

        ``skimage.transform.warp(moving, np.linalg.inv(r.pixel_matrix), output_shape=fixed.shape)`` moves the image.
        """
        to_pixels, from_pixels = np.diag([1.0, -1.0, 1.0]), np.diag([1.0, -1.0, 1.0])
        (height, width), (fixed_height, fixed_width) = self.frames
        from_pixels[:2, 2] = -(width - 1) / 2, (height - 1) / 2
        to_pixels[:2, 2] = (fixed_width - 1) / 2, (fixed_height - 1) / 2
        whole = np.eye(3)
        whole[:2, :2], whole[:2, 2] = self.matrix, self.shift
        product: Floats = to_pixels @ whole @ from_pixels
        return product

    # A = (rotation)(shear)(scales)(mirror): the rightmost factor acts first

    @property
    def _upper(self) -> tuple[float, float, float, float]:
        """The angle of the rotation, the x scale, the y scale, and the offset that the shear adds to x."""
        (a, b), (c, d) = self.matrix @ np.diag([-1 if self.mirrored else 1, 1])
        turn, along = np.arctan2(c, a), np.hypot(a, c)
        cos, sin = a / along, c / along
        return float(turn), float(along), float(cos * d - sin * b), float(cos * b + sin * d)

    @property
    def scales(self) -> tuple[float, float]:
        """Factors by which x and y are stretched, before the shear and the rotation."""
        return self._upper[1], self._upper[2]

    @property
    def rotation(self) -> float:
        """The rotation in degrees, counter-clockwise. It acts after mirroring (x to −x), scaling and shear."""
        return float(np.rad2deg(self._upper[0]))

    @property
    def shear(self) -> float:
        """The angle in degrees between the image of the y axis and the perpendicular to the image of the x axis."""
        _, _, height, lean = self._upper
        return float(np.rad2deg(np.arctan2(lean, height)))

    @property
    def aspect(self) -> float:
        """The ratio of the largest to the smallest factor by which a length changes."""
        large, small = np.linalg.svd(self.matrix, compute_uv=False)
        return float(large / small)

    @property
    def scale(self) -> float:
        """The change of size: √|det A|."""
        large, small = np.linalg.svd(self.matrix, compute_uv=False)
        return float(np.sqrt(large) * np.sqrt(small))  # the determinant of a tiny matrix would vanish

    @property
    def words(self) -> str:
        """The steps of the map in words, in the order in which they act."""
        along, up = self.scales
        x, y = self.shift
        words = ["mirrored"] if self.mirrored else []
        words += [f"scaled by {along:z.2f} in x and {up:z.2f} in y", f"sheared by {self.shear:z.1f}°"]
        words += [f"rotated by {self.rotation:z.1f}°", f"shifted by ({x:z.1f}, {y:z.1f})"]
        return ", ".join(words)

    def __str__(self) -> str:
        others = len(self.alternatives)
        more = f"; {others} other map{'s fit' if others > 1 else ' fits'} as well" if others else ""
        warning = "" if self.credible else f"; not credible: {self.warning}"
        return f"{self.words}: distance {self.distance:.3f}{more}{warning}"

    def _repr_html_(self) -> str:
        """The words, with the matrix and the shift as a table."""
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
