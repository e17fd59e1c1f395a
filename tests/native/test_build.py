"""The build of the compiled kernels: when it is repeated, what it requires, and how it fails."""

import importlib.util
import json
import shutil
import sys
import types
from pathlib import Path

import pytest

import radoncdt

ROOT = Path(__file__).parents[2]
SOURCES = Path(radoncdt.__file__).parent / "_native"

pytestmark = pytest.mark.skipif(not (SOURCES / "build.py").exists(), reason="an installed package has no sources")


def load_module(path, name):
    """Load the module at a path."""
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look for it there
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def copied(tmp_path, monkeypatch):
    """Load build.py from a copy of the sources and of their libraries."""
    folder = tmp_path / "_native"
    shutil.copytree(SOURCES, folder, ignore=shutil.ignore_patterns("__pycache__", ".lock", ".build-*"))
    monkeypatch.delenv("CXX", raising=False)
    yield load_module(folder / "build.py", "copied_build")
    del sys.modules["copied_build"]


def hide_compilers(monkeypatch):
    """Make all compilers unavailable, including ziglang."""
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)


def test_libraries_of_other_sources_are_stale(copied):
    assert copied.is_current(copied.LIBRARIES)
    header = copied.HERE / "vectors.h"
    header.write_bytes(header.read_bytes() + b"\n")
    assert not copied.is_current(copied.LIBRARIES)


def test_libraries_of_another_platform_or_with_a_missing_file_are_stale(copied):
    description = copied.LIBRARIES / "build.json"
    built = json.loads(description.read_text(encoding="utf-8"))
    description.write_text(json.dumps(built | {"target": "windows-x86_64"}), encoding="utf-8")
    assert not copied.is_current(copied.LIBRARIES)
    description.write_text(json.dumps(built), encoding="utf-8")
    (copied.LIBRARIES / built["files"][0]).unlink()
    assert not copied.is_current(copied.LIBRARIES)


def test_stale_libraries_are_not_used_without_a_compiler(copied, monkeypatch):
    (copied.HERE / "cpu.cpp").write_text("// nothing\n", encoding="utf-8")
    hide_compilers(monkeypatch)
    with pytest.raises(copied.NoCompilerError, match=r"no C\+\+20 compiler; install one, or: pip install 'ziglang"):
        copied.ensure_current()


@pytest.mark.parametrize("command", ["false", "no-such-compiler", "  "])
def test_compilers_that_do_not_work_are_named(copied, monkeypatch, command):
    hide_compilers(monkeypatch)
    monkeypatch.setenv("CXX", command)
    with pytest.raises(copied.BuildError, match=command.strip() or "g\\+\\+: not found"):
        copied.find_compiler()


# ---------------------------------------------------------------- the build hook


class AbortedError(Exception):
    """Raised when a hook aborts, where hatchling would exit."""


@pytest.fixture
def hook(monkeypatch):
    """Make the build hook, with the parts of hatchling that it needs."""
    interface = types.ModuleType("hatchling.builders.hooks.plugin.interface")
    interface.BuildHookInterface = object
    monkeypatch.setitem(sys.modules, interface.__name__, interface)
    for variable in ("CI", "CXX", "RADONCDT_BUILD", "RADONCDT_TARGET"):
        monkeypatch.delenv(variable, raising=False)
    made = load_module(ROOT / "hatch_build.py", "hook_of_the_build").NativeBuildHook()
    made.warnings = []

    def abort(message):
        raise AbortedError(message)

    made.app = types.SimpleNamespace(display_warning=made.warnings.append, abort=abort)
    yield made
    for name in ("hook_of_the_build", "radoncdt_native_build"):
        sys.modules.pop(name, None)


def test_a_compiler_is_required_only_if_there_is_none(hook, monkeypatch):
    hide_compilers(monkeypatch)
    (wanted,) = hook.dependencies()
    assert wanted.startswith("ziglang")
    monkeypatch.setenv("RADONCDT_BUILD", "numpy")
    assert hook.dependencies() == []


def test_a_build_without_a_compiler_falls_back_to_numpy(hook, monkeypatch):
    hide_compilers(monkeypatch)
    data = {"force_include": {}}
    hook.initialize("standard", data)
    ((note, place),) = data["force_include"].items()
    assert place == "radoncdt/_native/lib/build.json"
    assert "there was no compiler" in json.loads(Path(note).read_text(encoding="utf-8"))["missing"]
    assert "radoncdt will use its NumPy kernels" in hook.warnings[0]
    hook.finalize("standard", data, "")
    assert not Path(note).exists()


def test_a_chosen_compiler_that_does_not_work_is_an_error(hook, monkeypatch):
    monkeypatch.setenv("CXX", "no-such-compiler")
    assert hook.dependencies() == []
    with pytest.raises(AbortedError, match="no-such-compiler: not found"):
        hook.initialize("standard", {"force_include": {}})


@pytest.mark.parametrize(("variable", "value"), [("CI", "true"), ("RADONCDT_BUILD", "native")])
def test_a_build_that_must_compile_fails_without_a_compiler(hook, monkeypatch, variable, value):
    hide_compilers(monkeypatch)
    monkeypatch.setenv(variable, value)
    with pytest.raises(AbortedError, match="could not be compiled"):
        hook.initialize("standard", {"force_include": {}})


@pytest.mark.parametrize(("variable", "value"), [("RADONCDT_BUILD", "fast"), ("RADONCDT_TARGET", "amiga")])
def test_invalid_environment_variables_are_refused(hook, monkeypatch, variable, value):
    monkeypatch.setenv(variable, value)
    with pytest.raises(AbortedError, match=f"{variable} must be .*, got '{value}'"):
        hook.dependencies()
