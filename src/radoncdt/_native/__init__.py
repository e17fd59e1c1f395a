"""The compiled kernels: a plain C interface (kernels.h), loaded with ctypes, which releases the GIL during each call.

There is one library per instruction set: "baseline", which runs on every processor of the platform, and, for x86-64,
"avx2" and "avx512". They are separate files, so that nothing compiled for AVX2 can end up in the baseline.
"""

import ctypes
import sys
from ctypes import byref, c_char_p, c_double, c_int, c_int64, c_void_p
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from radoncdt._interface import Bending, Images, Limits, Maps, Waves, precision
from radoncdt._native.structs import BendingStruct, LimitsStruct, address, make_matching, make_waves
from radoncdt._typing import Floats

__all__ = ["FOLDER", "ImageTable", "Library", "address", "load", "path_of", "suffix"]

FOLDER = Path(__file__).parent / "lib"
"""The folder of the libraries and of ``build.json``, which describes how they were compiled."""

OK, NO_MEMORY, SINGULAR = 0, 1, 2
"""The enumeration `Result` of kernels.h."""

NORMALISE, WHITEN, EXTREMES = 1, 2, 4
"""The enumeration `Options` of kernels.h."""


# one letter per parameter in kernels.h: i for an index, o for options or a truth value, d for a double, p for a pointer
_TYPES = {"i": c_int64, "o": c_int, "d": c_double, "p": c_void_p}
_SIGNATURES = {
    "image_moments_f32": "ippp",
    "image_moments_f64": "ippp",
    "image_masses_f32": "ipippippp",
    "image_masses_f64": "ipippippp",
    "image_quantiles_f32": "ipippipodppp",
    "image_quantiles_f64": "ipippipodppp",
    "back_project_f32": "ppippiiip",
    "back_project_f64": "ppippiiip",
    "bin_quantiles": "iipipp",
    "student_moments": "ipddpp",
    "quantile_masses": "iippipp",
    "transport": "iippoippodp",
    "least_distances_f32": "pppoiiiiipp",
    "least_distances_f64": "pppoiiiiipp",
    "within_f32": "pipippidp",
    "within_f64": "pipippidp",
    "nearest_f32": "pipipppiipp",
    "nearest_f64": "pipipppiipp",
    "plausible_turns": "pppip",
    "distortions": "ppipppidpp",
    "fit": "iippipipippddipp",
    "strokes": "piiipd",
}


def suffix(dtype: Any) -> str:
    """The suffix of the functions for a precision."""
    return "f32" if dtype == np.float32 else "f64"


class ImageTable:
    """Images for the kernels: an array of the struct `Image` with address, height, width and row stride."""

    def __init__(self, images: Images) -> None:
        self.real = np.dtype(precision(images[0].dtype))
        if isinstance(images, np.ndarray):
            stack = self._make_readable(images)
            n, height, width = stack.shape
            self.rows = np.array([(address(stack), height, width, stack.strides[1] // stack.itemsize)] * n, np.int64)
            if n > 1:
                self.rows[:, 0] += np.arange(n) * stack.strides[0]
            self.kept: Any = stack  # keeps the pixels alive
        else:
            self.kept = [self._make_readable(image) for image in images]
            self.rows = np.array([(address(a), *a.shape, a.strides[0] // a.itemsize) for a in self.kept], np.int64)

    def _make_readable(self, array: NDArray[Any]) -> NDArray[Any]:
        """Return the array, or a copy that has the right precision and contiguous rows."""
        size = self.real.itemsize
        if (
            array.dtype == self.real
            and array.strides[-1] == size
            and array.strides[-2] % size == 0
            and array.flags.aligned
        ):
            return array
        with np.errstate(over="ignore"):  # long doubles may overflow; the kernels detect it
            return np.ascontiguousarray(array, self.real)

    def __len__(self) -> int:
        return len(self.rows)


class Library:
    """The kernels of one compiled library; see `radoncdt._interface.Kernels`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._library = ctypes.CDLL(str(path))
        for name, letters in _SIGNATURES.items():
            function = getattr(self._library, f"radoncdt_{name}")
            function.argtypes = [_TYPES[letter] for letter in letters]
            function.restype = c_int
            setattr(self, f"_{name}", function)
        self._library.radoncdt_source_hash.restype = c_char_p

    @property
    def source_hash(self) -> str:
        """The hash of the sources that the library was compiled from."""
        return str(self._library.radoncdt_source_hash().decode())

    def can_run(self, instruction_set: str) -> bool:
        """Whether this processor, and its operating system, can run the library for "avx2" or "avx512"."""
        return bool(getattr(self._library, f"radoncdt_has_{instruction_set}")())

    def _call(self, name: str, *arguments: object) -> None:
        result = getattr(self, f"_{name}")(*arguments)
        if result == NO_MEMORY:
            raise MemoryError(f"not enough memory for the kernel {name}")
        if result == SINGULAR:
            raise np.linalg.LinAlgError("Singular matrix")

    # ------------------------------------------------------------ images

    def image_moments(self, images: Images) -> tuple[Floats, NDArray[np.int64]]:
        table = ImageTable(images)
        moments, status = np.empty((len(table), 5)), np.empty(len(table), np.int64)
        name = f"image_moments_{suffix(table.real)}"
        self._call(name, len(table), address(table.rows), address(moments), address(status))
        return moments, status

    def image_masses(
        self, images: Images, cosines: Floats, sines: Floats, n_bins: int
    ) -> tuple[NDArray[Any], Floats, NDArray[np.int64]]:
        table = ImageTable(images)
        n, n_angles = len(table), cosines.size
        cosines, sines = np.ascontiguousarray(cosines), np.ascontiguousarray(sines)
        masses, origins = np.empty((n, n_angles, n_bins), table.real), np.empty((n, n_angles))
        status = np.empty(n, np.int64)
        self._call(
            f"image_masses_{suffix(table.real)}",
            *(n, address(table.rows), n_angles, address(cosines), address(sines), n_bins),
            *(address(masses), address(origins), address(status)),
        )
        return masses, origins, status

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
        table = ImageTable(images)
        n, n_angles, n_levels = len(table), cosines.size, levels.size
        cosines, sines = np.ascontiguousarray(cosines), np.ascontiguousarray(sines)
        levels = np.ascontiguousarray(levels)
        values = np.empty((n, 2 if extremes else n_angles, n_levels))
        moments, status = np.empty((n, 5)), np.empty(n, np.int64)
        options = NORMALISE * normalise | WHITEN * whiten | EXTREMES * extremes
        self._call(
            f"image_quantiles_{suffix(table.real)}",
            *(n, address(table.rows), n_angles, address(cosines), address(sines), n_levels, address(levels)),
            *(options, nu, address(values), address(moments), address(status)),
        )
        return values, moments, status

    def back_project(
        self, values: NDArray[Any], centres: Floats, cosines: Floats, sines: Floats, shape: tuple[int, int]
    ) -> NDArray[Any]:
        values, centres = np.ascontiguousarray(values), np.ascontiguousarray(centres)
        cosines, sines = np.ascontiguousarray(cosines), np.ascontiguousarray(sines)
        image = np.empty(shape, values.dtype)
        self._call(
            f"back_project_{suffix(values.dtype)}",
            *(address(values), address(centres), len(values), address(cosines), address(sines)),
            *(values.shape[1], *shape, address(image)),
        )
        return image

    def bin_quantiles(self, masses: Floats, levels: Floats) -> Floats:
        masses, levels = np.ascontiguousarray(masses), np.ascontiguousarray(levels)
        out = np.empty((len(masses), levels.size))
        self._call("bin_quantiles", *masses.shape, address(masses), levels.size, address(levels), address(out))
        return out

    def student_moments(self, points: Floats, nu: float, extent: float, moments: Floats) -> tuple[Floats, bool]:
        points, moments, settled = np.ascontiguousarray(points), np.array(moments, np.float64), c_int()
        self._call(
            "student_moments",
            *(points.shape[1], address(points), nu, extent, address(moments), ctypes.addressof(settled)),
        )
        return moments, bool(settled.value)

    # ------------------------------------------------------------ measures on the line

    def quantile_masses(self, values: Floats, levels: Floats, edges: Floats) -> Floats:
        values, levels, edges = np.ascontiguousarray(values), np.ascontiguousarray(levels), np.ascontiguousarray(edges)
        masses = np.empty((len(values), edges.shape[1] - 1))
        self._call(
            "quantile_masses",
            *(*values.shape, address(values), address(levels), edges.shape[1], address(edges), address(masses)),
        )
        return masses

    def transport(self, mass_a: Floats, places_a: Floats, mass_b: Floats, places_b: Floats, p: float) -> Floats:
        distances = np.empty(len(mass_a))
        mass_a, places_a = np.ascontiguousarray(mass_a), np.ascontiguousarray(places_a)
        mass_b, places_b = np.ascontiguousarray(mass_b), np.ascontiguousarray(places_b)
        pairs = ((mass_a, places_a), (mass_b, places_b))
        measures = ((m.shape[1], address(m), address(q), q.shape[1] > m.shape[1]) for m, q in pairs)
        first, second = measures
        self._call("transport", len(mass_a), *first, *second, p, address(distances))
        return distances

    # ------------------------------------------------------------ matching

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
        matching = make_matching(y, maps)
        self._call(
            f"least_distances_{suffix(y.values.dtype)}",
            *(byref(make_waves(x)), byref(make_waves(y)), byref(matching), ascending, *rows, *columns),
            *(distances.shape[1], address(distances), None if turns is None else address(turns)),
        )

    def plausible_turns(self, moving: Floats, fixed: Floats, limits: Limits, n_angles: int) -> Floats:
        moving, fixed = np.ascontiguousarray(moving), np.ascontiguousarray(fixed)
        angles = np.empty(4 * n_angles)
        arguments = address(moving), address(fixed), byref(LimitsStruct(*limits)), n_angles, address(angles)
        self._call("plausible_turns", *arguments)
        return angles

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
        matching, bounds = make_matching(y, maps), np.ascontiguousarray(bounds)
        distances = np.empty(len(y.values))
        self._call(
            f"within_{suffix(y.values.dtype)}",
            *(byref(make_waves(x)), i, byref(make_waves(y)), len(y.values), byref(matching), address(bounds)),
            *(left_out, radius, address(distances)),
        )
        return distances

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
        matching, bounds = make_matching(y, maps), np.ascontiguousarray(bounds)
        order = np.ascontiguousarray(order)
        self._call(
            f"nearest_{suffix(y.values.dtype)}",
            *(byref(make_waves(x)), i, byref(make_waves(y)), len(order), byref(matching), address(bounds)),
            *(address(order), left_out, distances.size, address(distances), address(numbers)),
        )

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
        tables = [ImageTable([np.asarray(image, np.float32) for image in images]) for images in (moving, fixed)]
        pairs, fixed_maps = np.ascontiguousarray(pairs), np.ascontiguousarray(fixed_maps)
        maps, distances = np.array(moving_maps, np.float64, order="C"), np.empty(len(pairs))
        self._call(
            "distortions",
            *(address(tables[0].rows), address(tables[1].rows), len(pairs), address(pairs)),
            *(address(maps), address(fixed_maps), side, reach, byref(BendingStruct(*bending)), address(distances)),
        )
        return distances, maps

    # ------------------------------------------------------------ drawings

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
        base, terms, targets = np.ascontiguousarray(base), np.ascontiguousarray(terms), np.ascontiguousarray(targets)
        some, few, ridge = np.ascontiguousarray(some), np.ascontiguousarray(few), np.ascontiguousarray(ridge)
        coefficients, misfit = np.array(coefficients, np.float64, order="C"), c_double()
        self._call(
            "fit",
            *(*terms.shape, address(base), address(terms), len(targets), address(targets)),
            *(some.size, address(some), few.size, address(few), address(ridge), size, most, iterations),
            *(address(coefficients), ctypes.addressof(misfit)),
        )
        return coefficients, misfit.value

    def strokes(self, image: Floats, corners: Floats, width: float) -> None:
        corners = np.ascontiguousarray(corners, np.float64)
        self._call("strokes", address(image), *image.shape, len(corners), address(corners), width)


def path_of(instruction_set: str) -> Path:
    """The path of the library for an instruction set, which need not exist."""
    ending = {"win32": "dll", "darwin": "dylib"}.get(sys.platform, "so")
    return FOLDER / f"libradoncdt-{instruction_set}.{ending}"


def load(instruction_set: str) -> Library:
    """Load the library for an instruction set; raise OSError if there is none, or if the system cannot load it."""
    return Library(path_of(instruction_set))
