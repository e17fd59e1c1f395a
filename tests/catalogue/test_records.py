"""Records: names of files, ink options, settings and descriptors are read as they were written."""

import json
from dataclasses import asdict

import numpy as np
import pytest
from marks import MARKS
from numpy.testing import assert_array_equal

import radoncdt
from radoncdt.catalogue import records
from radoncdt.catalogue.store import DESCRIPTOR_SETTINGS
from radoncdt.ink import InkOptions


def test_names_of_files_below_the_folder_are_relative(tmp_path):
    for name in ("a.png", "below/b.png", "odd \\x41.png"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.touch()
        assert records.make_stored_name(path, tmp_path) == name
        assert records.find_file(name, tmp_path) == path
    outside = records.make_stored_name(tmp_path / "a.png", tmp_path / "below")
    assert records.find_file(outside, tmp_path / "below") == tmp_path / "a.png"


def test_only_readable_files_have_a_hash(tmp_path):
    (tmp_path / "a").write_bytes(b"")
    assert records.hash_file(tmp_path / "a").startswith("e3b0c44298fc1c14")
    assert records.hash_file(tmp_path / "missing") == records.hash_file(tmp_path) == ""


@pytest.mark.parametrize("options", [{}, {"kind": "watermark", "low": 2.0}, {"roi": (1, 2, 3, 4), "mask": "/m.png"}])
def test_ink_options_are_restored(options):
    ink = InkOptions(**options)
    assert records.parse_ink_options(records.format_ink_options(ink)) == ink


def test_the_former_kind_photo_is_the_kind_watermark():
    assert records.parse_ink_options('{"kind": "photo"}') == InkOptions(kind="watermark")


@pytest.mark.parametrize("text", ["", "[]", '{"mask": 1}', '{"colour": 1}', '{"kind": 1}', "[" * 100_000])
def test_other_ink_options_are_refused(text):
    with pytest.raises(ValueError, match=r"."):
        records.parse_ink_options(text)


def test_settings_are_restored_and_others_refused():
    record = asdict(DESCRIPTOR_SETTINGS)
    assert records.parse_settings(json.dumps(record)) == DESCRIPTOR_SETTINGS
    for name, value in {"n_angles": 0, "n_levels": 1e9, "nu": "ten", "more": 1}.items():
        with pytest.raises(ValueError, match="must"):
            records.parse_settings(json.dumps(record | {name: value}))


def test_descriptors_are_stored_in_half_precision():
    whole = radoncdt.describe([MARKS[k].image() for k in range(3)], **asdict(DESCRIPTOR_SETTINGS))
    rows = [records.pack_descriptor(whole[k]) for k in range(3)]
    again = records.unpack_descriptors(rows, whole.frames, DESCRIPTOR_SETTINGS)
    assert_array_equal(again.values, whole.values.astype(np.float16))
    assert_array_equal(again.means, whole.means)
    assert_array_equal(again.covariances, whole.covariances)
    (curves, moments), *others = rows
    for damaged in ((curves[2:], moments), (curves, moments[8:]), (b"\x00\x7c" * (len(curves) // 2), moments)):
        with pytest.raises(ValueError, match="finite and complete"):
            records.unpack_descriptors([*others, damaged], whole.frames, DESCRIPTOR_SETTINGS)
    with pytest.raises(ValueError, match="positive definite"):
        records.unpack_descriptors([(curves, bytes(48))], whole.frames[:1], DESCRIPTOR_SETTINGS)
