"""Hatchling build hook that compiles the kernels for wheels and for editable installations.

Environment variables control the build:

RADONCDT_BUILD
    ``native``: compile the kernels, and fail if that is impossible. CI=true has the same effect.
    ``numpy``: do not compile; the package uses its NumPy kernels, which are slow.
    Unset: compile; if no compiler is available, the package uses its NumPy kernels.
CXX
    The C++20 compiler, with options if needed; the build fails if it does not work. Default: c++, g++ or clang++. If
    none of them works, pip installs the package ziglang, which contains clang, for the build.
RADONCDT_TARGET
    Compile for another platform, such as linux-arm64, with ziglang; see src/radoncdt/_native/build.py.
"""

import importlib.util
import os
import sys
import tempfile
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class NativeBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """Compile the kernels; see the docstring of the module."""

    def dependencies(self) -> list[str]:
        """Return the requirements of the build: ziglang if there is no compiler and PyPI has it for this machine."""
        mode, target = self._read_settings()
        native = _load_build()
        if mode == "numpy":
            return []
        if target:
            return [native.ZIGLANG]
        try:
            if not native.native_target().triple:  # pip would abort, because PyPI has no ziglang for it
                return []
        except native.NoCompilerError:
            return []
        try:
            native.find_compiler()
        except native.NoCompilerError:
            return [native.ZIGLANG]
        except native.BuildError:  # `initialize` reports it
            pass
        return []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile the kernels, in place for an editable installation."""
        mode, target = self._read_settings()
        native = _load_build()
        self.folder = tempfile.TemporaryDirectory()
        libraries = native.LIBRARIES if version == "editable" else Path(self.folder.name)
        try:
            if mode == "numpy":
                self._leave_out(libraries, "RADONCDT_BUILD=numpy was set when it was installed", build_data)
                return
            if version == "editable":
                native.remove_reason(libraries)
                native.ensure_current()
                return
            built = native.build(libraries, target=target)
        except native.NoCompilerError as error:
            if mode == "native":
                self._fail(error)
            self._leave_out(libraries, f"there was no compiler when it was installed ({error})", build_data)
            return
        except native.BuildError as error:
            self._fail(error)
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{built['tag']}"
        self._include(libraries, [*built["files"], "build.json"], build_data)

    def _fail(self, error: Exception) -> None:
        self.folder.cleanup()
        self.app.abort(
            f"the kernels of radoncdt could not be compiled: {error}\n"
            "Set RADONCDT_BUILD=numpy to install radoncdt without compiled kernels, which is slower."
        )

    def _leave_out(self, libraries: Path, reason: str, build_data: dict[str, Any]) -> None:
        """Install without compiled kernels, and record why."""
        self.app.display_warning(f"radoncdt will use its NumPy kernels, which are slow: {reason}")
        _load_build().write_reason(libraries, reason)
        self._include(libraries, ["build.json"], build_data)

    def _include(self, libraries: Path, names: list[str], build_data: dict[str, Any]) -> None:
        if str(libraries) == self.folder.name:
            for name in names:
                build_data["force_include"][str(libraries / name)] = f"radoncdt/_native/lib/{name}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the libraries, which are now in the wheel."""
        self.folder.cleanup()

    def _read_settings(self) -> tuple[str, Any]:
        """Read the mode (native, numpy, or an empty string for either) and the target (None for this machine)."""
        is_ci = os.environ.get("CI", "").lower() in ("1", "true")
        name = os.environ.get("RADONCDT_TARGET")
        mode = os.environ.get("RADONCDT_BUILD") or ("native" if is_ci or name else "")
        if mode not in ("native", "numpy", ""):
            self.app.abort(f"RADONCDT_BUILD must be native or numpy, got {mode!r}")
        targets = _load_build().TARGETS
        if name and name not in targets:
            self.app.abort(f"RADONCDT_TARGET must be one of {', '.join(targets)}, got {name!r}")
        return mode, targets[name] if name else None


def _load_build() -> ModuleType:
    """Load radoncdt._native.build without importing radoncdt, whose dependencies are not installed."""
    name = "radoncdt_native_build"
    if name not in sys.modules:
        path = Path(__file__).resolve().parent / "src" / "radoncdt" / "_native" / "build.py"
        spec = importlib.util.spec_from_file_location(name, path)
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]
