"""Files are written completely or not at all."""

import pytest

from radoncdt._files import write_atomically


def test_a_file_is_replaced_when_it_is_complete(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"before")

    def save(file):
        file.write(b"after")
        file.flush()
        assert path.read_bytes() == b"before"

    write_atomically(path, save)
    assert path.read_bytes() == b"after"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_failure_leaves_the_old_file_and_no_temporary_file(tmp_path, error):
    path = tmp_path / "a.txt"
    path.write_bytes(b"before")

    def save(file):
        file.write(b"after")
        raise error

    with pytest.raises(error):
        write_atomically(path, save)
    assert path.read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [path]


def test_names_may_be_as_long_as_the_system_allows(tmp_path):
    path = tmp_path / ("a" * 250)
    write_atomically(path, lambda file: file.write(b"x"))
    assert path.read_bytes() == b"x"
