"""Descriptors: contents, indexing, concatenation, files, and settings."""

import io
import pickle

import numpy as np
import pytest
import reference
from hypothesis import given
from numpy.testing import assert_allclose, assert_array_equal
from strategies import clouds, images

import radoncdt
from radoncdt import Descriptors, PointCloud, describe
from radoncdt.matching.descriptors import compute_spectrum

RNG = np.random.default_rng(0)
STACK = RNG.random((5, 12, 15)) * (RNG.random((5, 12, 15)) < 0.5)
MIXED = [STACK[0], PointCloud(RNG.normal(size=(9, 2))), STACK[1, :9]]
OPTIONS = {"n_angles": 6, "n_levels": 8}


def assert_same(a, b):
    assert a.settings == b.settings
    for name in ("values", "means", "covariances", "frames"):
        assert_array_equal(getattr(a, name), getattr(b, name))


@given(images())
def test_descriptors_contain_the_whitened_nrcdt_and_the_moments(image):
    found = describe(image, **OPTIONS)
    assert_array_equal(found.values[0], radoncdt.nrcdt(image, directions="whitened", **OPTIONS))
    assert_allclose(found.means[0], radoncdt.mean(image), atol=1e-9)
    assert_allclose(found.covariances[0], radoncdt.covariance(image), rtol=1e-9, atol=1e-9)
    assert_array_equal(found.frames, [image.shape])


@given(clouds(least=4))
def test_descriptors_of_clouds_contain_the_same_if_no_level_meets_a_jump(cloud):
    found = describe(cloud, **OPTIONS)
    assert_allclose(found.values[0], radoncdt.nrcdt(cloud, directions="whitened", **OPTIONS), atol=1e-9)
    assert_allclose(found.means[0], radoncdt.mean(cloud), atol=1e-9)
    assert_allclose(found.covariances[0], radoncdt.covariance(cloud), rtol=1e-9)


def test_opposite_directions_agree_where_a_level_meets_a_jump():
    """With two levels, 1/4 and 3/4, every level meets a jump of four equal points."""
    cloud = PointCloud([(0, 0), (5, 1), (2, 7), (-3, 3)])
    white = (cloud.points - cloud.points.mean(axis=0)) @ reference.root(radoncdt.covariance(cloud), -0.5)
    places = np.sort(white @ [[1, 0], [0, 1]], axis=0)  # on the directions 0° and 90°
    found = describe(cloud, n_angles=2, n_levels=2).values[0]
    assert_allclose(found.T, (places[[0, 2]] + places[[1, 3]]) / 2, atol=1e-12)
    turned = describe(PointCloud(-cloud.points), n_angles=2, n_levels=2).values[0]
    assert_allclose(turned, -found[:, ::-1], atol=1e-12)


def test_robust_descriptors_contain_robust_moments():
    shape = np.pad(np.tri(40), 40)
    specks = shape.copy()
    specks[2:5, 2:5] = specks[110:113, 5:8] = 1
    exact, robust = (describe([shape, specks], moments=moments, trim=1 / 16) for moments in ("exact", "robust"))
    assert np.abs(np.diff(exact.means, axis=0)).max() > 2 * np.abs(np.diff(robust.means, axis=0)).max()
    assert robust.settings.nu == 3
    assert exact.settings == describe(shape, trim=1 / 16, nu=7).settings  # exact moments do not use them
    assert robust.values.shape == (2, 64, 56)


def test_descriptors_do_not_depend_on_the_batch_or_threads():
    for some in (STACK, MIXED):
        every = describe(some, n_jobs=2, **OPTIONS)
        for i, one in enumerate(every):
            assert_same(one, describe(some[i], n_jobs=1, **OPTIONS))


def test_indexing_returns_descriptors():
    every = describe(STACK, **OPTIONS)
    assert len(every) == 5
    for index, expected in (
        (2, [2]),
        (-1, [4]),
        (slice(1, 4), [1, 2, 3]),
        ([3, 0], [3, 0]),
        (np.arange(5) < 2, [0, 1]),
    ):
        assert_array_equal(every[index].values, every.values[expected])
        assert every[index].settings == every.settings
    assert len(every[:0]) == 0
    for bad in (5, -6):
        with pytest.raises(IndexError, match=f"index {bad} is out of range for 5 descriptors"):
            every[bad]
    with pytest.raises(IndexError, match="descriptors have one axis"):
        every[None]
    with pytest.raises(ValueError, match="read-only"):
        every.values[0] = 1


def test_concatenated_descriptors_equal_descriptors_of_all_images():
    parts = [describe(STACK[:2], **OPTIONS), describe(STACK[2:], **OPTIONS)]
    assert_same(Descriptors.concatenate(parts), describe(STACK, **OPTIONS))
    with pytest.raises(
        ValueError, match=r"`parts\[1\]` must have the settings of `parts\[0\]`.*n_levels=8, got n_levels=9"
    ):
        Descriptors.concatenate([parts[0], describe(STACK, n_angles=6, n_levels=9)])
    with pytest.raises(TypeError, match=r"`parts\[1\]` must be of the type Descriptors"):
        Descriptors.concatenate([parts[0], STACK])
    with pytest.raises(ValueError, match="`parts` must not be empty"):
        Descriptors.concatenate([])


# ---------------------------------------------------------------- files


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float16, 2e-3), (np.float32, 1e-6), (np.float64, 0)])
def test_descriptors_are_saved_and_loaded(tmp_path, dtype, tolerance):
    every = describe(MIXED, moments="robust", trim=1 / 8, **OPTIONS)
    every.save(tmp_path / "some", dtype=dtype)
    again = Descriptors.load(tmp_path / "some.npz")
    assert again.settings == every.settings
    assert again.values.dtype == (np.float64 if dtype == np.float64 else np.float32)
    assert_allclose(again.values, every.values, atol=tolerance)
    assert_array_equal(again.means, every.means)
    assert_array_equal(again.covariances, every.covariances)
    assert_array_equal(again.frames, every.frames)
    assert [path.name for path in tmp_path.iterdir()] == ["some.npz"]
    distances = radoncdt.affine_distances(every, again)
    assert distances.diagonal().max() <= max(tolerance, 1e-7)


def test_descriptors_are_written_to_open_files_and_pickled():
    every = describe(MIXED, **OPTIONS)
    file = io.BytesIO()
    every.save(file, dtype=np.float64)
    file.seek(0)
    assert_same(Descriptors.load(file), every)
    assert_same(pickle.loads(pickle.dumps(every)), every)


def test_the_precision_can_be_chosen():
    every = describe(STACK, **OPTIONS)
    assert every.astype(np.float32).values.dtype == np.float32
    assert every.astype(np.float64) is every
    with pytest.raises(ValueError, match="`dtype` must be float32 or float64, got int64"):
        every.astype(int)
    with pytest.raises(ValueError, match="`dtype` must be float16, float32 or float64, got int64"):
        every.save("never", dtype=int)


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    every = describe(STACK, **OPTIONS)
    every.save(tmp_path / "some.npz")
    before = (tmp_path / "some.npz").read_bytes()
    monkeypatch.setattr(np, "savez", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        every.save(tmp_path / "some.npz")
    assert (tmp_path / "some.npz").read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 1


def test_flipped_bits_are_refused_or_do_not_matter(tmp_path):
    path, every, rng = tmp_path / "some.npz", describe(STACK, **OPTIONS), np.random.default_rng(0)
    every.save(path, dtype=np.float64)
    good = path.read_bytes()
    heads = [k for k in range(len(good)) if good[k : k + 2] == b"PK" or good[k : k + 5] == b"NUMPY"]
    places = [*rng.integers(len(good), size=300), *(head + k for head in heads for k in range(0, 120, 3))]
    for place in places:
        changed = bytearray(good)
        changed[min(place, len(good) - 1)] ^= 1 << int(rng.integers(8))
        path.write_bytes(changed)
        try:
            found = Descriptors.load(path)
        except ValueError:
            continue
        assert_same(found, every)


def test_files_with_other_contents_are_refused(tmp_path):
    path = tmp_path / "some.npz"
    describe(STACK, **OPTIONS).save(path)
    good = path.read_bytes()

    def load():
        return Descriptors.load(path)

    for damaged in (b"", b"nonsense", good[:-200], good[: len(good) // 2]):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match=r"`path` must be a file of the format .*: no npz file, or one cut off"):
            load()
    changed = bytearray(good)
    changed[len(good) // 2] ^= 255  # in the middle of the values
    path.write_bytes(changed)
    with pytest.raises(ValueError, match="`path` must be an undamaged npz file of descriptors"):
        load()
    np.savez(path, values=STACK)
    with pytest.raises(
        ValueError,
        match=r"`path` must be a file of the format .*, got .*: an npz file without a format",
    ):
        load()
    with path.open("wb") as file:
        np.save(file, STACK)
    with pytest.raises(ValueError, match="no npz file"):
        load()
    content = dict(np.load(io.BytesIO(good)))
    for name, value in (
        ("values", content["values"][:, :2]),
        ("means", content["means"][:3]),
        ("values", content["values"] * np.nan),
        ("values", content["values"].astype(complex)),
        ("values", content["values"].astype(int)),
        ("covariances", -content["covariances"]),
        ("frames", content["frames"] / 2),
        ("settings", np.array("{}")),
        ("settings", np.array("[")),
        ("settings", np.array('{"moments": "none", "nu": 0, "trim": 0, "n_angles": 6, "n_levels": 8}')),
        ("settings", np.array('{"moments": "exact", "nu": 0, "trim": 0, "n_angles": 6.0, "n_levels": 8}')),
    ):
        np.savez(path, **(content | {name: value}))
        with pytest.raises(ValueError, match="`path` must hold descriptors that belong together"):
            load()
    with pytest.raises(FileNotFoundError):
        Descriptors.load(tmp_path / "nothing.npz")
    with pytest.raises(TypeError, match="`path` must be a path, or a file opened to read bytes, got None"):
        Descriptors.load(None)


def test_paths_may_lack_the_extension_but_not_the_folder(tmp_path):
    every = describe(STACK, **OPTIONS)
    every.save(tmp_path / "some")
    assert len(Descriptors.load(tmp_path / "some")) == 5
    with pytest.raises(FileNotFoundError, match=r"`path` must be in a folder that exists, got .*nowhere"):
        every.save(tmp_path / "nowhere" / "some.npz")


def test_other_byte_orders_are_read(tmp_path):
    every = describe(STACK, **OPTIONS)
    every.save(tmp_path / "some.npz")
    content = dict(np.load(tmp_path / "some.npz"))
    np.savez(tmp_path / "some.npz", **(content | {"values": content["values"].astype(">f4")}))
    assert radoncdt.affine_distances(Descriptors.load(tmp_path / "some.npz"), every).diagonal().max() < 1e-6


def test_values_that_float16_cannot_represent_are_not_written(tmp_path):
    every = describe(STACK, **OPTIONS)
    large = Descriptors(every.values * 1e5, every.means, every.covariances, every.frames, every.settings)
    with pytest.raises(ValueError, match=r"`dtype` must hold the values, of which one is .*, got float16"):
        large.save(tmp_path / "some.npz", dtype=np.float16)
    assert not list(tmp_path.iterdir())


def test_the_arrays_of_the_caller_stay_writable():
    every = describe(STACK, **OPTIONS)
    own = every.values.copy()
    Descriptors(own, every.means, every.covariances, every.frames, every.settings)
    own[0] = 1


def test_descriptors_are_not_images():
    with pytest.raises(TypeError, match="Descriptors are not images"):
        radoncdt.max_nrcdt(describe(STACK, **OPTIONS))


# ---------------------------------------------------------------- spectra


@pytest.mark.parametrize("shape", [(1, 2), (2, 3), (5, 8), (6, 7), (33, 4), (40, 9)])
def test_spectra_have_the_norm_and_the_correlations_of_the_values(shape):
    values = RNG.normal(size=(2, *shape))
    first, second = compute_spectrum(values)
    circles = [reference.full_circle(some) for some in values]
    assert_allclose((np.abs(first) ** 2).sum(), np.mean(circles[0] ** 2))
    n = len(circles[0])
    for shift in range(n):
        turned = np.roll(circles[0], shift, axis=0)
        phases = np.exp(2j * np.pi * np.arange(shape[0] + 1) * shift / n)[:, None]
        assert_allclose((second * first.conj() * phases).sum().real, np.mean(turned * circles[1]), atol=1e-12)


# ---------------------------------------------------------------- invalid input


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"moments": "levels"}, "`moments` must be one of 'exact', 'robust', got 'levels'"),
        ({"n_angles": 0}, "`n_angles` must be at least 1, got 0"),
        ({"trim": 0.5}, "`trim` must be a number from 0 to below 0.5"),
        ({"moments": "robust", "nu": 0}, "`nu` must be a positive number, got 0"),
    ],
)
def test_invalid_options_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        describe(STACK, **options)


@pytest.mark.parametrize(
    ("measures", "message"),
    [
        ([np.zeros((3, 3))], r"`images\[0\]` must have mass"),
        (PointCloud([(0, 0), (1, 1), (2, 2)]), "must not lie on one line"),
        (np.full((3, 3), np.nan), "`images` must be finite"),
        ([], "`images` must hold at least one image"),
    ],
)
def test_measures_that_cannot_be_described_are_refused(measures, message):
    with pytest.raises(ValueError, match=message):
        describe(measures)


def test_robust_moments_that_do_not_converge_cause_a_warning():
    line = [(k, 0.0) for k in range(20)]
    with pytest.warns(UserWarning, match="did not converge"):
        found = describe(PointCloud([*line, (3, 1)]), moments="robust")
    assert np.isfinite(found.values).all()
