"""Optional dependencies: a missing one is an error that names its extra."""

import sys

import pytest

from radoncdt._extras import MissingExtraError, require


def test_an_installed_module_is_imported():
    assert require("json.decoder", "reading JSON") is sys.modules["json.decoder"]


@pytest.mark.parametrize(("extra", "named"), [(None, "watermarks"), ("reproduce", "reproduce")])
def test_a_missing_module_names_its_extra(monkeypatch, extra, named):
    monkeypatch.setitem(sys.modules, "PIL", None)
    monkeypatch.delitem(sys.modules, "PIL.Image", raising=False)
    with pytest.raises(MissingExtraError, match=rf"^reading images needs the package Pillow, .*'radoncdt\[{named}\]'$"):
        require("PIL.Image", "reading images", extra=extra)


def test_a_missing_dependency_of_an_installed_package_is_raised_unchanged(monkeypatch, tmp_path):
    (tmp_path / "broken_package.py").write_text("import a_module_that_does_not_exist", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="a_module_that_does_not_exist") as found:
        require("broken_package", "this test", extra="all")
    assert not isinstance(found.value, MissingExtraError)
