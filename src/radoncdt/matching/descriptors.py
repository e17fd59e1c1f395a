"""Descriptors: what two measures need to be registered, or compared however they were moved, computed once.

A descriptor is the NR-CDT along whitened directions, the mean and the scatter of the measure. An affine map turns
the NR-CDT along the circle, or turns and mirrors it, and changes nothing else of it; the rest of the map is in the
means and the scatters.
"""

import contextlib
import json
import zipfile
from collections.abc import Iterator, Sequence
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from radoncdt import _validation
from radoncdt._bright_paper import read_measures
from radoncdt._files import write_atomically
from radoncdt._geometry import full_circle
from radoncdt._interface import KEPT, LANES, Waves
from radoncdt._plan import Normalisation
from radoncdt._rcdt import choose_levels, whitened_nrcdt
from radoncdt._typing import Floats
from radoncdt._validation import ArgumentTypeError, ArgumentValueError
from radoncdt.measures import Batch, Measures, PointCloud

MOMENTS = ("exact", "robust")

ROBUST: dict[str, Any] = {"moments": "robust", "trim": 1 / 16}
"""Options with which specks hardly matter: what --robust stands for, and how folders are classified."""

FORMAT = "radoncdt descriptors, version 1"


class Settings(NamedTuple):
    """How descriptors were computed. Only those with equal settings can be compared."""

    n_angles: int = 64
    n_levels: int = 64
    moments: str = "exact"
    nu: float = 0.0
    """Degrees of freedom of robust moments; 0 where they are exact."""
    trim: float = 0.0

    @classmethod
    def choose(cls, n_angles: int, n_levels: int, moments: str, nu: float, trim: float) -> "Settings":
        """Check the options of `describe`."""
        normalisation = Normalisation.choose(_validation.check_choice(moments, "moments", MOMENTS), "whitened", nu)
        choose_levels(n_levels, "midpoint", trim)
        n_angles = _validation.check_count(n_angles, "n_angles", 1, _validation.MAX_ANGLES)
        return cls(n_angles, int(n_levels), moments, normalisation.nu, float(trim))

    @property
    def levels(self) -> Floats:
        return choose_levels(self.n_levels, "midpoint", self.trim)

    @property
    def grid_distance(self) -> float:
        """How far apart, at most, two copies of one shape are because rotations are tried in steps: 2 sin(π/4n)."""
        return float(2 * np.sin(np.pi / (4 * self.n_angles)))


class Descriptors:
    """Descriptors of measures, made by `describe`, or read by `Descriptors.load`.

    ``descriptors[i]``, ``descriptors[2:5]`` and ``descriptors[mask]`` are descriptors again, of one or more measures.

    Attributes
    ----------
    values : float array (n, n_angles, n_levels)
        NR-CDTs along whitened directions of the half circle; the other half is −N_η(1 − t).
    means : float64 array (n, 2)
        Of the measures, or their robust location, in pixels from the centre of the image.
    covariances : float64 array (n, 2, 2)
        Of the measures, or their robust scatter.
    frames : int array (n, 2)
        Shapes (H, W) of the images; (1, 1) for PointClouds, whose origin is pixel (0, 0) then.
    settings : Settings
    """

    values: NDArray[Any]
    means: Floats
    covariances: Floats
    frames: NDArray[np.int64]
    settings: Settings

    def __init__(
        self, values: NDArray[Any], means: Floats, covariances: Floats, frames: NDArray[np.int64], settings: Settings
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

    def __iter__(self) -> Iterator["Descriptors"]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, which: Any) -> "Descriptors":
        if isinstance(which, (int, np.integer)) and not isinstance(which, (bool, np.bool_)):
            if not -len(self) <= which < len(self):
                raise IndexError(f"there are {len(self)} descriptors, and no number {which}")
            which = slice(which % len(self), which % len(self) + 1)
        arrays = self.values[which], self.means[which], self.covariances[which], self.frames[which]
        if arrays[0].ndim != 3:
            raise IndexError(f"descriptors have one axis, got the index {which!r}")
        return Descriptors(*arrays, self.settings)

    def __array__(self, *_: Any, **__: Any) -> NDArray[Any]:
        raise TypeError("Descriptors are no images; what takes images needs those that they were made of")

    def __repr__(self) -> str:
        options = ", ".join(f"{name}={value!r}" for name, value in self.settings._asdict().items())
        return f"Descriptors({len(self)} measures, {options}, {self.values.dtype})"

    def __reduce__(self) -> tuple[type["Descriptors"], tuple[Any, ...]]:
        return Descriptors, (self.values, self.means, self.covariances, self.frames, self.settings)

    def astype(self, dtype: DTypeLike) -> "Descriptors":
        """The same with values in float32 or float64. Comparing float32 takes less time and half the memory."""
        if np.dtype(dtype) not in (np.float32, np.float64):
            raise ArgumentValueError("dtype", f"must be float32 or float64, got {np.dtype(dtype)}")
        if self.values.dtype == dtype:
            return self
        return Descriptors(self.values.astype(dtype), self.means, self.covariances, self.frames, self.settings)

    @staticmethod
    def concatenate(parts: Sequence["Descriptors"]) -> "Descriptors":
        """One after the other; all must have the same settings.

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
        """Write them to an npz file that `Descriptors.load` reads, as a whole or not at all.

        Parameters
        ----------
        path : path, or file opened to write bytes
            A path gets the ending .npz if it has not.
        dtype : float16, float32 or float64
            Of the values. In float16 they are wrong by 5e-4 of their size.
        **more
            Arrays to be written to the same file, for others to read.
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
                "settings": np.array(json.dumps(self.settings._asdict())),
                "values": self.values.astype(dtype),
                "means": self.means,
                "covariances": self.covariances,
                "frames": self.frames,
            }
            np.savez(file, **(more | own))

        if not isinstance(path, (str, PathLike)):
            write(path)
            return
        target = _with_ending(path)
        if not target.parent.is_dir():
            raise FileNotFoundError(f"`path` must be in a folder that exists, got {path}")
        write_atomically(target, write)

    @classmethod
    def load(cls, path: str | PathLike[str] | IO[bytes]) -> "Descriptors":
        """Read a file that `save` wrote, its ending .npz included or not; values of float16 become float32.

        Raises
        ------
        OSError
            When there is no such file.
        ValueError
            When it holds something else, or is damaged.
        """
        if not isinstance(path, (str, PathLike)) and not hasattr(path, "read"):
            raise ArgumentTypeError("path", f"must be a path, or a file opened to read bytes, got {path!r}")
        if isinstance(path, (str, PathLike)) and not Path(path).exists():
            path = _with_ending(path)
        with contextlib.ExitStack() as stack:
            file = stack.enter_context(open(path, "rb")) if isinstance(path, (str, PathLike)) else path
            try:
                found = _arrays_in(file)
            except Exception as error:  # zipfile and NumPy raise errors of many kinds for damaged files
                raise ArgumentValueError(
                    "path", f"must be an undamaged npz file of descriptors, got {path}: {error}"
                ) from error
        if str(found.get("format")) != FORMAT:
            given = found.get("format", "an npz file without a format" if found else "no npz file, or one cut off")
            raise ArgumentValueError("path", f"must be a file of the format {FORMAT!r}, got {path}: {given}")
        try:
            return _from_arrays(found)
        except (KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
            raise ArgumentValueError(
                "path", f"must hold descriptors that belong together, got {path}: {error}"
            ) from error

    @cached_property
    def waves(self) -> Waves:
        """What the kernels need to compare them."""
        packed, norms = _packed(self.values)
        values = np.ascontiguousarray(self.values)
        values.setflags(write=False)
        return Waves(values, packed, norms, np.ascontiguousarray(self.covariances[:, [0, 0, 1], [0, 1, 1]]))


def _arrays_in(file: IO[bytes]) -> dict[str, NDArray[Any]]:
    """All arrays of an npz file; none of any other file."""
    if not zipfile.is_zipfile(file):
        return {}
    file.seek(0)
    with np.load(file, allow_pickle=False) as arrays:
        return {name: arrays[name] for name in arrays.files}


def _from_arrays(found: dict[str, NDArray[Any]]) -> Descriptors:
    """Descriptors from the arrays of a file, if these belong together."""
    stored = json.loads(str(found["settings"]))
    settings = Settings.choose(**{**stored, "nu": stored["nu"] or 1.0})
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


def _with_ending(path: str | PathLike[str]) -> Path:
    target = Path(path)
    return target if target.suffix == ".npz" else target.with_name(target.name + ".npz")


def spectrum_of(values: NDArray[Any]) -> NDArray[np.complex128]:
    """Fourier coefficients along the circle, (n, n_angles + 1, half the levels), of values on half of it.

    A frequency stands for its negative one, too, and a level t for 1 − t, where the coefficients are the same up to the
    sign. Scaled so that squared sizes sum up to the mean square of the values.
    """
    from scipy.fft import rfft

    n, n_angles, n_levels = values.shape
    halves = (n_levels + 1) // 2
    circle = np.empty((n, halves, 2 * n_angles))
    circle[:] = full_circle(values)[:, :, :halves].swapaxes(1, 2)
    circle *= np.sqrt(4 / n_levels) / (2 * n_angles)
    if n_levels % 2:
        circle[:, -1] /= np.sqrt(2)  # the middle level is its own mirror image
    spectrum = rfft(circle, overwrite_x=True)
    spectrum[:, :, [0, n_angles]] /= np.sqrt(2)
    return spectrum.swapaxes(1, 2)


def _packed(values: NDArray[Any]) -> tuple[NDArray[np.float32], Floats]:
    """The waves of descriptors as the kernels read them, and the norms of the waves, and of what they leave out."""
    n, _, n_levels = values.shape
    halves, groups = (n_levels + 1) // 2, KEPT // (2 * LANES)
    packed = np.zeros((n, 2, groups, halves, 2, LANES), np.float32)
    norms = np.empty((n, 2))
    for chunk in (slice(k, k + 64) for k in range(0, n, 64)):
        spectrum = spectrum_of(values[chunk])
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
    *,
    n_angles: int = 64,
    n_levels: int = 64,
    moments: str = "exact",
    nu: float = 3.0,
    trim: float = 0.0,
    n_jobs: int | None = -1,
) -> Descriptors:
    """Descriptors of measures, for `register`, `affine_distances` and `AffineNeighbors`.

    Parameters
    ----------
    images : array (H, W) or (…, H, W), PointCloud, or list of images and PointClouds
        Leading axes become one.
    n_angles : int
        Directions on half the circle. Rotations are compared in steps of 180°/n_angles.
    n_levels, moments, nu, trim, n_jobs
        As in `nrcdt`; moments "exact" or "robust".

    Returns
    -------
    Descriptors

    Examples
    --------
    >>> describe(np.ones((3, 8, 8)))
    Descriptors(3 measures, n_angles=64, n_levels=64, moments='exact', nu=0.0, trim=0.0, float64)
    """
    settings = Settings.choose(n_angles, n_levels, moments, nu, trim)
    return described(read_measures(images), settings, n_jobs)


def described(batch: Batch, settings: Settings, n_jobs: int | None) -> Descriptors:
    """Descriptors of measures that have been read."""
    normalisation = Normalisation(settings.moments, whitened=True, nu=settings.nu)
    values, used = whitened_nrcdt(batch, settings.n_angles, settings.levels, normalisation, n_jobs)
    frames = [(1, 1) if isinstance(item, PointCloud) else item.shape for item in batch.items]
    covariances = used[:, [2, 3, 3, 4]].reshape(-1, 2, 2)
    return Descriptors(values, used[:, :2].copy(), covariances, np.array(frames, np.int64), settings)


def joined(measures: Any) -> Any:
    """Descriptors in place of a list of them, as scikit-learn chooses some; anything else as it is."""
    several = isinstance(measures, (list, tuple)) and len(measures) > 0
    return Descriptors.concatenate(measures) if several and isinstance(measures[0], Descriptors) else measures


def check_settings(first: Descriptors, first_name: str, second: Descriptors, second_name: str) -> None:
    """Refuse to compare descriptors of different settings."""
    for name, a, b in zip(Settings._fields, first.settings, second.settings):
        if a != b:
            raise ArgumentValueError(
                second_name,
                f"must have the settings of `{first_name}` to be compared with it, which has "
                f"{name}={a!r}, got {name}={b!r}",
            )


def read_descriptors(
    measures: object, name: str, options: dict[str, Any], like: Descriptors | None, n_jobs: int | None
) -> Descriptors:
    """Descriptors as they are, or those of measures: by the options given, or else by the settings of `like`.

    `options` are those of `describe`, None where not given. Refuses options that descriptors do not have.
    """
    options = {key: value for key, value in options.items() if value is not None}
    measures = joined(measures)
    given = measures if isinstance(measures, Descriptors) else None
    settings = next((known.settings for known in (given, like) if known is not None), Settings())
    asked = settings._asdict() | {"nu": settings.nu or 3.0} | options  # 3 is what `describe` takes
    chosen = Settings.choose(**asked)
    found = described(read_measures(measures, name), chosen, n_jobs) if given is None else given
    for key, value in options.items():
        has = getattr(found.settings, key)
        if getattr(chosen, key) != has and not (key == "nu" and found.settings.moments != "robust"):
            raise ArgumentValueError(
                key, f"must be left out or be {has!r}, as `{name}` has been described, got {value!r}"
            )
    return found
