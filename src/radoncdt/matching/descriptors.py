"""Descriptors of measures, from which they are registered and compared however they were moved.

A descriptor consists of the NR-CDT along whitened directions, the mean and the scatter of a measure. An affine map
rotates the NR-CDT along the circle, or rotates and mirrors it. The rest of the map is in the means and the scatters.
"""

from __future__ import annotations

import contextlib
import json
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from radoncdt import _validation
from radoncdt._bright_paper import read_measures
from radoncdt._files import write_atomically
from radoncdt._geometry import full_circle
from radoncdt._interface import KEPT, LANES, Waves
from radoncdt._plan import Normalisation
from radoncdt._rcdt import whitened_nrcdt
from radoncdt._typing import Floats
from radoncdt._validation import ArgumentTypeError, ArgumentValueError
from radoncdt.matching.settings import NU, DescriptorSettings
from radoncdt.measures import Batch, Measures, PointCloud

__all__ = [
    "Descriptors",
    "check_settings",
    "compute_spectrum",
    "describe",
    "describe_batch",
    "join_descriptors",
    "read_descriptors",
]

FORMAT = "radoncdt descriptors, version 1"
"""The first array of every file of descriptors."""


class Descriptors:
    """Descriptors of measures, from which they are registered and compared.

    A descriptor consists of the NR-CDT ``N_η`` of a measure along whitened directions η, its mean m and its covariance
    Σ. An affine map rotates the NR-CDT along the circle, or rotates and mirrors it (Prop. 5 of the paper [1]_); the
    rest of the map is in m and Σ. Descriptors are computed by `describe` or read by `Descriptors.load`.
    ``descriptors[i]``, ``descriptors[2:5]`` and ``descriptors[mask]`` are descriptors of one or more measures.

    Parameters
    ----------
    values : float array (n, n_angles, n_levels)
        NR-CDTs along whitened directions of the half circle. The other half is −N_η(1 − t).
    means : float64 array (n, 2)
        Means of the measures, or their robust locations, in pixels from the centre of the image.
    covariances : float64 array (n, 2, 2)
        Covariances of the measures, or their robust scatters.
    frames : int64 array (n, 2)
        Shapes (H, W) of the images; (1, 1) for PointClouds, whose origin is then pixel (0, 0).
    settings : DescriptorSettings
        How the descriptors were computed.

    See Also
    --------
    describe : Computes descriptors.
    affine_distances : Compares descriptors.
    register : Finds the map from one measure to another.

    References
    ----------
    .. [1] M. Beckmann, R. Beinert, J. Bresch, "Max-normalized Radon cumulative distribution transform for limited data
           classification", Scale Space and Variational Methods in Computer Vision (SSVM), 2025. arXiv:2411.16282.

    Examples
    --------
    >>> descriptors = describe([np.ones((8, 8)), np.tri(9), np.tri(20)])
    >>> descriptors[1:]
    Descriptors(2 measures, n_angles=64, n_levels=64, moments='exact', nu=3.0, trim=0.0, float64)
    >>> descriptors.sizes.round(1)
    array([2.3, 2.1, 4.5])
    """

    values: NDArray[Any]
    means: Floats
    covariances: Floats
    frames: NDArray[np.int64]
    settings: DescriptorSettings

    def __init__(
        self,
        values: NDArray[Any],
        means: Floats,
        covariances: Floats,
        frames: NDArray[np.int64],
        settings: DescriptorSettings,
    ) -> None:
        self.values, self.means, self.covariances, self.frames = (
            values.view(),
            means.view(),
            covariances.view(),
            frames.view(),
        )
        self.settings = settings
        for array in (self.values, self.means, self.covariances, self.frames):
            array.setflags(write=False)

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Iterator[Descriptors]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, which: Any) -> Descriptors:
        if isinstance(which, (int, np.integer)) and not isinstance(which, (bool, np.bool_)):
            if not -len(self) <= which < len(self):
                raise IndexError(f"index {which} is out of range for {len(self)} descriptors")
            which = slice(which % len(self), which % len(self) + 1)
        arrays = self.values[which], self.means[which], self.covariances[which], self.frames[which]
        if arrays[0].ndim != 3:
            raise IndexError(f"descriptors have one axis, got the index {which!r}")
        return Descriptors(*arrays, self.settings)

    def __array__(self, *_: Any, **__: Any) -> NDArray[Any]:
        raise TypeError("Descriptors are not images; pass the images that they were computed from")

    def __repr__(self) -> str:
        options = ", ".join(f"{name}={value!r}" for name, value in asdict(self.settings).items())
        return f"Descriptors({len(self)} measures, {options}, {self.values.dtype})"

    def __reduce__(self) -> tuple[type[Descriptors], tuple[Any, ...]]:
        return Descriptors, (self.values, self.means, self.covariances, self.frames, self.settings)

    def astype(self, dtype: DTypeLike) -> Descriptors:
        """Convert the values to float32 or float64.

        Comparing float32 takes less time and half the memory.

        Parameters
        ----------
        dtype : dtype
            The type of the values of the result: float32 or float64.

        Returns
        -------
        Descriptors
            The same descriptors if they have this type already, and otherwise converted ones.

        Raises
        ------
        ValueError
            If `dtype` is neither float32 nor float64.
        """
        if np.dtype(dtype) not in (np.float32, np.float64):
            raise ArgumentValueError("dtype", f"must be float32 or float64, got {np.dtype(dtype)}")
        if self.values.dtype == dtype:
            return self
        return Descriptors(self.values.astype(dtype), self.means, self.covariances, self.frames, self.settings)

    @staticmethod
    def concatenate(parts: Sequence[Descriptors]) -> Descriptors:
        """Concatenate descriptors with the same settings.

        Parameters
        ----------
        parts : sequence of Descriptors
            At least one; all must have the same settings.

        Returns
        -------
        Descriptors
            The descriptors of all parts, in their order.

        Raises
        ------
        TypeError
            If `parts` is not a sequence of Descriptors.
        ValueError
            If there are no parts, or their settings differ.

        Examples
        --------
        >>> squares, triangles = describe(np.ones((3, 8, 8))), describe([np.tri(9)])
        >>> len(Descriptors.concatenate([squares, triangles]))
        4
        """
        parts = _validation.check_sequence(parts, "parts")
        for k, some in enumerate(parts):
            _validation.check_instance(some, f"parts[{k}]", Descriptors)
            check_settings(parts[0], "parts[0]", some, f"parts[{k}]")
        return Descriptors(
            np.concatenate([some.values for some in parts]),
            np.concatenate([some.means for some in parts]),
            np.concatenate([some.covariances for some in parts]),
            np.concatenate([some.frames for some in parts]),
            parts[0].settings,
        )

    def save(
        self, path: str | PathLike[str] | IO[bytes], *, dtype: DTypeLike = np.float32, **more: NDArray[Any]
    ) -> None:
        """Write an npz file that `Descriptors.load` reads.

        The file is written as a whole or not at all.

        Parameters
        ----------
        path : path, or file opened to write bytes
            Where to write. The ending .npz is appended to a path that lacks it.
        dtype : dtype, default float32
            The type of the values in the file: float16, float32 or float64. In float16 they have a relative error of up
            to 5e-4.
        **more : arrays
            Further arrays to be written to the same file.

        Raises
        ------
        FileNotFoundError
            If the folder of `path` does not exist.
        ValueError
            If `dtype` is another type, or cannot hold the values.

        See Also
        --------
        Descriptors.load : Reads the file.
        """
        if np.dtype(dtype) not in (np.float16, np.float32, np.float64):
            raise ArgumentValueError("dtype", f"must be float16, float32 or float64, got {np.dtype(dtype)}")
        largest = np.abs(self.values).max(initial=0)
        if largest > np.finfo(dtype).max:
            raise ArgumentValueError(
                "dtype", f"must hold the values, of which one is {largest:.3g}, got {np.dtype(dtype)}"
            )

        def write(file: IO[bytes]) -> None:
            own: dict[str, Any] = {
                "format": np.array(FORMAT),
                "settings": np.array(json.dumps(asdict(self.settings))),
                "values": self.values.astype(dtype),
                "means": self.means,
                "covariances": self.covariances,
                "frames": self.frames,
            }
            np.savez(file, **(more | own))

        if not isinstance(path, (str, PathLike)):
            write(path)
            return
        target = _append_ending(path)
        if not target.parent.is_dir():
            raise FileNotFoundError(f"`path` must be in a folder that exists, got {path}")
        write_atomically(target, write)

    @classmethod
    def load(cls, path: str | PathLike[str] | IO[bytes]) -> Descriptors:
        """Read a file that `Descriptors.save` wrote.

        Values of float16 become float32.

        Parameters
        ----------
        path : path, or file opened to read bytes
            What to read. The ending .npz may be omitted.

        Returns
        -------
        Descriptors
            The descriptors in the file.

        Raises
        ------
        OSError
            If there is no such file.
        TypeError
            If `path` is neither a path nor a file.
        ValueError
            If the file holds something else, or is damaged.

        See Also
        --------
        Descriptors.save : Writes the file.
        """
        if not isinstance(path, (str, PathLike)) and not hasattr(path, "read"):
            raise ArgumentTypeError("path", f"must be a path, or a file opened to read bytes, got {path!r}")
        if isinstance(path, (str, PathLike)) and not Path(path).exists():
            path = _append_ending(path)
        with contextlib.ExitStack() as stack:
            file = stack.enter_context(open(path, "rb")) if isinstance(path, (str, PathLike)) else path
            try:
                found = _read_arrays(file)
            except Exception as error:  # zipfile and NumPy raise errors of many kinds for damaged files
                raise ArgumentValueError(
                    "path", f"must be an undamaged npz file of descriptors, got {path}: {error}"
                ) from error
        if str(found.get("format")) != FORMAT:
            given = found.get("format", "an npz file without a format" if found else "no npz file, or one cut off")
            raise ArgumentValueError("path", f"must be a file of the format {FORMAT!r}, got {path}: {given}")
        try:
            return _build_from_arrays(found)
        except (KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
            raise ArgumentValueError(
                "path", f"must hold descriptors that belong together, got {path}: {error}"
            ) from error

    @property
    def sizes(self) -> Floats:
        """Sizes (n,) of the measures in pixels: the fourth root of the determinant of the covariance."""
        sizes: Floats = np.linalg.det(self.covariances) ** 0.25
        return sizes

    @cached_property
    def waves(self) -> Waves:
        """The form in which the kernels compare descriptors."""
        packed, norms = _pack(self.values)
        values = np.ascontiguousarray(self.values)
        values.setflags(write=False)
        return Waves(values, packed, norms, np.ascontiguousarray(self.covariances[:, [0, 0, 1], [0, 1, 1]]))


def _read_arrays(file: IO[bytes]) -> dict[str, NDArray[Any]]:
    """Read all arrays of an npz file; a file of another format has none."""
    if not zipfile.is_zipfile(file):
        return {}
    file.seek(0)
    with np.load(file, allow_pickle=False) as arrays:
        return {name: arrays[name] for name in arrays.files}


def _build_from_arrays(found: dict[str, NDArray[Any]]) -> Descriptors:
    """Build descriptors from the arrays of a file, which must belong together."""
    settings = DescriptorSettings.from_record(json.loads(str(found["settings"])))
    n, shape = len(found["values"]), (settings.n_angles, settings.levels.size)
    shapes = {"values": (n, *shape), "means": (n, 2), "covariances": (n, 2, 2), "frames": (n, 2)}
    for name, expected in shapes.items():
        if found[name].shape != expected:
            raise ValueError(f"{name} must have the shape {expected}, got {found[name].shape}")
        kind = "i" if name == "frames" else "f"
        if found[name].dtype.kind != kind or not np.isfinite(found[name]).all():
            raise ValueError(f"{name} must be finite numbers of kind {kind}, got {found[name].dtype}")
    if not (np.linalg.eigvalsh(found["covariances"]) > 0).all():
        raise ValueError("covariances must be positive definite")
    if n and not (found["frames"].min() >= 1 and found["frames"].max() < 2**31):
        raise ValueError("frames must be the heights and widths of images")
    values = found["values"].astype(np.float64 if found["values"].dtype.itemsize >= 8 else np.float32)
    means, covariances = (found[name].astype(np.float64) for name in ("means", "covariances"))
    return Descriptors(values, means, covariances, found["frames"].astype(np.int64), settings)


def _append_ending(path: str | PathLike[str]) -> Path:
    target = Path(path)
    return target if target.suffix == ".npz" else target.with_name(target.name + ".npz")


def compute_spectrum(values: NDArray[Any]) -> NDArray[np.complex128]:
    """Fourier coefficients along the circle, (n, n_angles + 1, half the levels), of values on half the circle.

    Each frequency also represents its negative, and each level t also represents 1 − t, where the coefficients are the
    same up to the sign. The coefficients are scaled so that their squared sizes sum to the mean square of the values.
    """
    from scipy.fft import rfft

    n, n_angles, n_levels = values.shape
    halves = (n_levels + 1) // 2
    circle = np.empty((n, halves, 2 * n_angles))
    circle[:] = full_circle(values)[:, :, :halves].swapaxes(1, 2)
    circle *= np.sqrt(4 / n_levels) / (2 * n_angles)
    if n_levels % 2:
        circle[:, -1] /= np.sqrt(2)  # the middle level represents only itself
    spectrum = rfft(circle, overwrite_x=True)
    spectrum[:, :, [0, n_angles]] /= np.sqrt(2)
    return spectrum.swapaxes(1, 2)


def _pack(values: NDArray[Any]) -> tuple[NDArray[np.float32], Floats]:
    """Pack the waves of descriptors as the kernels read them, with the norms of the waves and of the remainder."""
    n, _, n_levels = values.shape
    halves, groups = (n_levels + 1) // 2, KEPT // (2 * LANES)
    packed = np.zeros((n, 2, groups, halves, 2, LANES), np.float32)
    norms = np.empty((n, 2))
    for chunk in (slice(k, k + 64) for k in range(0, n, 64)):
        spectrum = compute_spectrum(values[chunk])
        for parity in (0, 1):
            waves = np.zeros((len(spectrum), KEPT // 2, halves), complex)
            some = spectrum[:, 1 + parity : KEPT + 1 : 2]
            waves[:, : some.shape[1]] = some
            waves = waves.reshape(-1, groups, LANES, halves).swapaxes(2, 3)
            packed[chunk, parity, :, :, 0], packed[chunk, parity, :, :, 1] = waves.real, waves.imag
        squares = (spectrum.real**2 + spectrum.imag**2).sum(axis=-1)
        norms[chunk] = np.sqrt([squares[:, 1 : KEPT + 1].sum(axis=1), squares[:, KEPT + 1 :].sum(axis=1)]).T
    return packed.reshape(n, packed[:1].size if n else 0), norms


def describe(
    images: Measures,
    /,
    *,
    n_angles: int = 64,
    n_levels: int = 64,
    moments: str = "exact",
    nu: float = NU,
    trim: float = 0.0,
    n_jobs: int | None = -1,
) -> Descriptors:
    """Compute the descriptors of measures.

    A descriptor consists of the NR-CDT ``N_θ[μ]`` (§3.2 of the paper [1]_) along the whitened directions
    ``θ = Σ^{-1/2}η/‖Σ^{-1/2}η‖`` with equispaced η, the mean m, and the covariance Σ. `register`, `affine_distances`
    and `AffineNeighbors` take descriptors instead of images, which saves time if measures are compared more than once.

    Parameters
    ----------
    images : array (H, W) or (…, H, W), PointCloud, or list of images and PointClouds
        Non-negative measures of type bool, integer or float: bright ink, and zeros elsewhere. The images of a list may
        have different sizes. Arrays that look like colour images are refused; a stack of images that are 3 or 4 pixels
        wide must therefore be a list of two-dimensional arrays. Leading axes become one.
    n_angles : int, default 64
        Number of directions of the descriptors on the half circle, from 1 to 65,536. Rotations are compared in steps of
        180°/n_angles.
    n_levels : int, default 64
        Number of levels t = (k + ½)/n_levels of the quantile functions, at least 2.
    moments : {"exact", "robust"}, default "exact"
        Mean m and covariance Σ of the normalisation. "exact": those of the measure. "robust": location and scatter of a
        Student t distribution fitted to the measure, which specks far from the shape hardly change.
    nu : float, default 3.0
        Degrees of freedom of the Student t distribution, above 0, for robust moments only. Smaller values give less
        weight to distant mass. For exact moments, it is set to the default.
    trim : float, default 0.0
        Omit the levels t < trim and t > 1 − trim, to which specks far from the shape belong. It is at least 0 and below
        0.5, and at least two levels must remain.
    n_jobs : int or None, default -1
        Number of threads, as in scikit-learn: −1 means all cores, and None usually means one. The result does not
        depend on it.

    Returns
    -------
    Descriptors
        The descriptors, in the order of the measures.

    Raises
    ------
    TypeError
        If `images` or an option has the wrong type.
    ValueError
        If a measure has negative mass, no mass or values that are not finite, if an array looks like a colour image, or
        if an option has an invalid value. It is also raised if the points of a cloud lie on one line, because their
        NR-CDT is undefined. The message names the argument and the value.

    Warns
    -----
    UserWarning
        If most of the mass of an image is bright paper around dark ink. `radoncdt.ink.find_ink` turns such an image
        into a measure.
    UserWarning
        If robust moments do not converge.

    See Also
    --------
    Descriptors : The result.
    affine_distances : Compares descriptors.
    nrcdt : The NR-CDT alone.

    References
    ----------
    .. [1] M. Beckmann, R. Beinert, J. Bresch, "Max-normalized Radon cumulative distribution transform for limited data
           classification", Scale Space and Variational Methods in Computer Vision (SSVM), 2025. arXiv:2411.16282.

    Examples
    --------
    >>> describe(np.ones((3, 8, 8)))
    Descriptors(3 measures, n_angles=64, n_levels=64, moments='exact', nu=3.0, trim=0.0, float64)
    """
    settings = DescriptorSettings(n_angles, n_levels, moments, nu, trim)
    return describe_batch(read_measures(images), settings, n_jobs)


def describe_batch(batch: Batch, settings: DescriptorSettings, n_jobs: int | None) -> Descriptors:
    """Compute the descriptors of measures that have been read."""
    normalisation = Normalisation.choose(settings.moments, "whitened", settings.nu)
    values, used = whitened_nrcdt(batch, settings.n_angles, settings.levels, normalisation, n_jobs)
    frames = [(1, 1) if isinstance(item, PointCloud) else item.shape for item in batch.items]
    covariances = used[:, [2, 3, 3, 4]].reshape(-1, 2, 2)
    return Descriptors(values, used[:, :2].copy(), covariances, np.array(frames, np.int64), settings)


def join_descriptors(measures: Any) -> Any:
    """Join a list of Descriptors, as scikit-learn makes by indexing; return anything else unchanged."""
    is_list = isinstance(measures, (list, tuple)) and len(measures) > 0
    return Descriptors.concatenate(measures) if is_list and isinstance(measures[0], Descriptors) else measures


def check_settings(first: Descriptors, first_name: str, second: Descriptors, second_name: str) -> None:
    """Refuse to compare descriptors with different settings."""
    ours, theirs = asdict(first.settings), asdict(second.settings)
    for name in ours:
        if ours[name] != theirs[name]:
            raise ArgumentValueError(
                second_name,
                f"must have the settings of `{first_name}` to be compared with it, which has {name}={ours[name]!r}, "
                f"got {name}={theirs[name]!r}",
            )


def read_descriptors(
    measures: object,
    name: str,
    settings: DescriptorSettings | None,
    like: Descriptors | None,
    n_jobs: int | None,
) -> Descriptors:
    """Return descriptors as they are, or describe measures with the given settings, or else with those of `like`."""
    if settings is not None:
        _validation.check_instance(settings, "settings", DescriptorSettings)
    measures = join_descriptors(measures)
    if isinstance(measures, Descriptors):
        if settings not in (None, measures.settings):
            raise ArgumentValueError(
                "settings", f"must be omitted or be those of `{name}`, which has {measures.settings}, got {settings}"
            )
        return measures
    default = DescriptorSettings() if like is None else like.settings
    return describe_batch(read_measures(measures, name), settings or default, n_jobs)
